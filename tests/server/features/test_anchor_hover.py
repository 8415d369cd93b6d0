"""Hover of aliases, anchors and merge keys: what stands for what, which keys come from where."""

import pytest

from tests.server.features.test_hover import drawn, explained

TEXT = """\
x-base: &base
  timeout_seconds: 60
  model: &model gpt-4o
x-own: &own
  <<: *base
  executor: mock
config:
  <<: [*own, *base]
  trials_per_task: 1
  judge_model: *model
"""


def told_at(place: str, text: str = TEXT) -> str | None:
    """Return the hover behind the first character of a place."""
    return explained(text[: text.index(place) + 1] + "<CURSOR>" + text[text.index(place) + 1 :])


def test_an_alias_shows_what_it_stands_for_and_where_that_is() -> None:
    told = (
        "**Alias `*base`** stands for the value of line 2\n\n"
        "```yaml\ntimeout_seconds: 60\nmodel: &model gpt-4o\n```"
    )
    assert told_at("*base\n") == told
    assert told_at("*base]") == told


def test_an_alias_of_a_model_says_what_it_stands_for_too() -> None:
    told = told_at("*model")
    assert told is not None
    assert told.startswith("**Alias `*model`** stands for the value of line 3\n\n```yaml\ngpt-4o\n```")


def test_the_characters_that_are_explained_are_those_of_the_alias() -> None:
    assert drawn("x: &a [1]\ny: *<CURSOR>a # b\n") == (
        "⋯\ny: *a # b\n   ^^ **Alias `*a`** stands for the value of line 1\n"
    )


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("x: &a 1\ny: [*a, *a]\n", "**Anchor `&a`**: 2 aliases repeat it"),
        ("x: &a 1\ny: *a\n", "**Anchor `&a`**: 1 alias repeats it"),
        ("x: &a 1\ny: '*a'\n", "**Anchor `&a`**: no alias repeats it"),
        ("x: &a 1\ny: &a 2\nz: *a\n", "**Anchor `&a`**: no alias repeats it"),
    ],
)
def test_an_anchor_tells_how_often_it_is_repeated(text: str, told: str) -> None:
    assert told_at("&a", text) == told


def test_a_merge_key_tells_which_keys_come_from_where() -> None:
    assert told_at("<<: [") == (
        "**Merge key**: takes over the keys that are not written here\n\n"
        "- from `*own` (line 5): `executor`, `timeout_seconds`, `model`\n"
        "- from `*base` (line 2): nothing; not `timeout_seconds`, `model`, said by `*own`"
    )
    own = TEXT.replace("  trials_per_task: 1\n", "  model: x\n")
    assert told_at("<<: [", own) == (
        "**Merge key**: takes over the keys that are not written here\n\n"
        "- from `*own` (line 5): `executor`, `timeout_seconds`; not `model`, said here\n"
        "- from `*base` (line 2): nothing; not `timeout_seconds`, said by `*own`; not `model`, said here"
    )


@pytest.mark.parametrize(
    "text", ["<<: *gone\n", "<<: [1]\n", "a: &a\n  b: 1\n  <<: *a\n", '"<<": {a: 1}\n', "<<:\n"]
)
def test_a_merge_key_that_takes_over_nothing_says_nothing_wrong(text: str) -> None:
    told = told_at("<<", text)
    assert told is None or "from" not in told or "`*a` (line 2): nothing" in told


def test_a_long_value_is_cut_and_moved_to_the_left() -> None:
    lines = "".join(f"      line{number}: {number}\n" for number in range(40))
    told = told_at("*long", f"graders:\n  - config: &long\n{lines}  - config: *long\n")
    assert told is not None
    shown = told.split("\n")[3:-1]
    assert shown[0] == "line0: 0"
    assert shown[-1] == "…"
    assert len(shown) == 16
