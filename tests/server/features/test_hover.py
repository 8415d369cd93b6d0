"""What hover explains: keys, grader types, names in assertions, the last score."""

from pathlib import Path

import pytest

from tests.server.features.completing import CURSOR
from tests.server.features.results import NOW, grade, write_results
from tests.server.project.files import opened, put, small_suite, workspace_with
from waza_language_server.features.annotated_source import Caret, annotate_source
from waza_language_server.features.hover.hover import hover
from waza_language_server.project.document import Document, DocumentKind
from waza_language_server.project.uris import uri_of
from waza_language_server.schema.catalog import default_catalog
from waza_language_server.syntax.tree import parse

BEHAVIOR = "graders:\n  - type: behavior\n    config:\n      max_tool<CURSOR>_calls: 3\n"


def explained(
    source: str,
    kind: DocumentKind = "eval",
    path: Path = Path("/nowhere/eval.yaml"),
    documentation: str = "docs/",
) -> str:
    """Return the explanation at the cursor, empty when there is none."""
    offset = source.index(CURSOR)
    document = Document(uri_of(path), 1, source.replace(CURSOR, ""), kind)
    found = hover(document, workspace_with(), offset, documentation=documentation, now=NOW)
    return found.text if found else ""


def drawn(source: str) -> str:
    """Return the lines that are explained, with carets under what is meant."""
    offset = source.index(CURSOR)
    document = Document(uri_of(Path("/nowhere/eval.yaml")), 1, source.replace(CURSOR, ""), "eval")
    found = hover(document, workspace_with(), offset, documentation="docs/")
    return annotate_source(
        document.text, [Caret(found.span, found.text.split("\n")[0])] if found else [], context=0
    )


def test_a_key_tells_its_signature_meaning_default_example_and_where_to_read_on() -> None:
    assert explained(BEHAVIOR) == (
        """\
```yaml
max_tool_calls: integer ≥ 0 = 0 (no limit)
```

The most tool calls allowed; `0` means no limit.

**Default:** `0`

```yaml
max_tool_calls: 20
```

[All about behavior](docs/graders.md#behavior)"""
    )


def test_the_address_of_the_documentation_can_be_set() -> None:
    text = explained(BEHAVIOR, documentation="https://example.org/waza/")
    assert text.endswith("[All about behavior](https://example.org/waza/graders.md#behavior)")


@pytest.mark.parametrize("name", default_catalog().grader_types)
def test_every_grader_type_has_a_description_options_and_an_example(name: str) -> None:
    text = explained(f"graders:\n  - type: {name[0]}<CURSOR>{name[1:]}\n")
    shape = default_catalog().grader(name)
    assert shape is not None
    assert shape.description in text
    assert f"graders.md#{name}" in text
    options = shape.properties["config"].shape.properties
    for option in (option for option, known in options.items() if not known.shape.deprecated):
        assert f"| `{option}`" in text
    tree = parse(text[text.index("```yaml\n") + 8 : text.rindex("\n```")])
    assert tree.errors == ()
    assert tree.root is not None
    assert tree.root.get(0, "type") is not None


def test_allowed_values_are_listed() -> None:
    text = explained("config:\n  exec<CURSOR>utor: mock\n")
    assert text is not None
    assert "**Allowed:** `mock`, `copilot-sdk`, `openai`, `command`, `replay`" in text


def test_a_deprecated_type_says_what_to_write_instead() -> None:
    text = explained("graders:\n  - type: reg<CURSOR>ex\n")
    assert text is not None
    assert "**Deprecated**; write `text` instead." in text


def test_the_range_is_the_key() -> None:
    assert drawn(BEHAVIOR) == (
        """\
⋯
      max_tool_calls: 3
      ^^^^^^^^^^^^^^ ```yaml
"""
    )


def test_a_name_in_an_assertion_is_explained_at_its_own_characters() -> None:
    source = (
        'graders:\n  - type: code\n    config:\n      assertions:\n        - "\\u0041 in out<CURSOR>put"\n'
    )
    assert drawn(source) == (
        """\
⋯
        - "\\u0041 in output"
                     ^^^^^^ **output** The agent's final answer, as text.
"""
    )


def test_the_quote_in_front_of_a_name_is_not_the_name() -> None:
    entry = '      assertions:\n        - <CURSOR>"len(x)"\n'
    assert explained(f"graders:\n  - type: code\n    config:\n{entry}") == ""


def test_an_attribute_of_the_same_name_is_not_explained() -> None:
    source = "graders:\n  - type: code\n    config:\n      assertions:\n        - x.out<CURSOR>put\n"
    assert explained(source) == ""


def test_the_name_of_a_grader_tells_its_last_score(tmp_path: Path) -> None:
    path = small_suite(tmp_path)
    write_results(path, {"first": [[grade("mentions_deploy", 0.0, "missing text")]]})
    source = path.read_text().replace("mentions_deploy", "mentions<CURSOR>_deploy")
    assert explained(source, path=path) == (
        """\
**`mentions_deploy`** ✗ 0.00

```text
missing text
```

Recorded 5 minutes ago (`mock`)."""
    )


@pytest.mark.parametrize(
    "at", ["{name: task_comp<CURSOR>letion, weight: 1, threshold: 0.9}", "threshold: 0<CURSOR>.9}"]
)
def test_a_metric_tells_its_figure_and_threshold(at: str, tmp_path: Path) -> None:
    line = "{name: task_completion, weight: 1, threshold: 0.9}"
    text = f"name: e\nskill: s\nconfig: {{model: m}}\nmetrics:\n  - {line}\ntasks: [tasks/*.yaml]\n"
    path = put(tmp_path, "eval.yaml", text)
    put(tmp_path, "tasks/first.yaml", "id: first\ninputs: {prompt: Do it}\n")
    missed = {"identifier": "task_completion", "value": 0.5, "threshold": 0.9, "passed": False}
    of_engine = {"engine": {"eval_file": "eval.yaml", "status": "failed"}}
    more = {"metadata": of_engine, "metrics": {"task_completion": missed}}
    write_results(path, {"first": [[grade("a", 0.5)]]}, more=more)
    told = explained(text.replace(at.replace(CURSOR, ""), at), path=path)
    assert told.startswith("**`task_completion`** 0.50, threshold 0.90\n\nRecorded ")


def test_a_glob_of_tasks_tells_the_files_that_it_picks_up(tmp_path: Path) -> None:
    path = put(tmp_path, "eval.yaml", "name: s\ntasks: [tasks/*.yaml]\n")
    put(tmp_path, "tasks/a.yaml", "id: a\n")
    put(tmp_path, "tasks/b`.yaml", "id: b\n")
    document = opened(path, "eval")
    told = hover(document, workspace_with(document), document.text.index("*"), documentation="docs/")
    assert told is not None
    assert told.text == "**2 files**\n\n- `tasks/a.yaml`\n- ``tasks/b`.yaml``"


@pytest.mark.parametrize(
    "source",
    [
        "<CURSOR>",
        "# com<CURSOR>ment\n",
        "unknown<CURSOR>_key: 1\n",
        "graders:\n  - type: no<CURSOR>pe\n",
        "name: some <CURSOR>text\n",
        "graders:\n  - <CURSOR>\n",
        "tasks:\n  - tas<CURSOR>ks/*.yaml\n",
    ],
)
def test_nothing_is_said_where_there_is_nothing_to_say(source: str) -> None:
    assert explained(source) == ""


def test_hover_works_in_broken_text() -> None:
    assert explained('name: "x\n' + BEHAVIOR)


ANCHORED = """\
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


def told_at(place: str, text: str = ANCHORED) -> str:
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
    own = ANCHORED.replace("  trials_per_task: 1\n", "  model: x\n")
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
    assert "from" not in told or "`*a` (line 2): nothing" in told


def test_a_long_value_is_cut_and_moved_to_the_left() -> None:
    lines = "".join(f"      line{number}: {number}\n" for number in range(40))
    told = told_at("*long", f"graders:\n  - config: &long\n{lines}  - config: *long\n")
    shown = told.split("\n")[3:-1]
    assert shown[0] == "line0: 0"
    assert shown[-1] == "…"
    assert len(shown) == 16
