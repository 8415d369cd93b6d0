"""Hover of aliases shows the value that they repeat."""

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


def test_an_alias_shows_its_value_and_line() -> None:
    told = (
        "**Alias `*base`** repeats the value of line 2\n\n"
        "```yaml\ntimeout_seconds: 60\nmodel: &model gpt-4o\n```"
    )
    assert told_at("*base\n") == told
    assert told_at("*base]") == told


def test_an_alias_of_a_model_shows_its_value_too() -> None:
    told = told_at("*model")
    assert told is not None
    assert told.startswith("**Alias `*model`** repeats the value of line 3\n\n```yaml\ngpt-4o\n```")


def test_the_span_of_a_hover_is_that_of_the_alias() -> None:
    assert drawn("x: &a [1]\ny: *<CURSOR>a # b\n") == (
        "⋯\ny: *a # b\n   ^^ **Alias `*a`** repeats the value of line 1\n"
    )


def test_a_long_value_is_cut_and_moved_to_the_left() -> None:
    lines = "".join(f"      line{number}: {number}\n" for number in range(40))
    told = told_at("*long", f"graders:\n  - config: &long\n{lines}  - config: *long\n")
    assert told is not None
    shown = told.split("\n")[3:-1]
    assert shown[0] == "line0: 0"
    assert shown[-1] == "…"
    assert len(shown) == 16
