"""The hover of a value that names something says what that is."""

from pathlib import Path

import pytest

from tests.server.project.files import opened, put, workspace_with
from waza_language_server.features.hover.hover import hover
from waza_language_server.project.document import DocumentKind
from waza_language_server.schema.catalog import default_catalog

EVAL = """\
name: my-eval
skill: my-skill
metrics:
  - {name: task_completion}
graders:
  - {type: text, name: says, config: {contains: [x]}}
tasks: [tasks/*.yaml]
"""
TASK = "id: first\nname: first\ninputs: {prompt: Do it, files: [{path: notes.txt}]}\n"


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    (tmp_path / ".git").mkdir()
    put(tmp_path, "SKILL.md", "---\nname: my-skill\ndescription: Writes notes.\n---\nDo it.\n")
    put(tmp_path, "fixtures/notes.txt", "".join(f"line {number}\n" for number in range(40)))
    put(tmp_path, "tasks/first.yaml", TASK)
    return put(tmp_path, "eval.yaml", EVAL)


def told(path: Path, kind: DocumentKind, at: str) -> str:
    document = opened(path, kind)
    workspace = workspace_with().with_document(document)
    found = hover(document, workspace, document.text.index(at) + 1, documentation="docs/")
    return found.text if found is not None else ""


def test_a_skill_tells_its_description_and_where_it_is(suite: Path) -> None:
    assert (
        told(suite, "eval", "my-skill") == "**Skill `my-skill`**\n\n```text\nWrites notes.\n```\n\n`SKILL.md`"
    )


def test_a_skill_that_nobody_knows_tells_nothing(suite: Path) -> None:
    (suite.parent / "SKILL.md").unlink()
    assert told(suite, "eval", "my-skill") == ""


def test_a_fixture_shows_its_first_lines(suite: Path) -> None:
    text = told(suite.parent / "tasks/first.yaml", "task", "notes.txt")
    assert text.startswith("`../fixtures/notes.txt` · 40 lines")
    assert "line 14" in text
    assert "line 15" not in text


def test_a_metric_tells_what_it_is(suite: Path) -> None:
    text = told(suite, "eval", "task_completion")
    assert "share of tasks" in text


def test_the_key_type_lists_all_grader_types(suite: Path) -> None:
    text = told(suite, "eval", "type: text")
    assert [name for name in default_catalog().grader_types if f"- `{name}`: " not in text] == []


def test_a_task_says_where_it_is_written(suite: Path) -> None:
    second = put(
        suite.parent, "tasks/second.yaml", "id: 'other one'\nname: Second\ninputs: {prompt: Do it}\n"
    )
    assert told(second, "task", "other one") == "**Task `Second`**\n\n`second.yaml`"
    inline = EVAL.replace("[tasks/*.yaml]", "[tasks/*.yaml, {id: here, inputs: {prompt: x}}]")
    put(suite.parent, "eval.yaml", inline)
    assert told(suite, "eval", "here,") == "**Task `here`**\n\nwritten in `eval.yaml`"


@pytest.mark.parametrize(("option", "kind"), [("expect_tools", "RE2"), ("allow_only", "no pattern")])
def test_a_tool_is_a_pattern_but_a_name_in_allow_only(suite: Path, option: str, kind: str) -> None:
    grader = f"{{type: tool_constraint, name: only, config: {{{option}: [{{tool: bash}}]}}}}"
    put(suite.parent, "eval.yaml", f"name: x\nskill: y\ngraders: [{grader}]\n")
    assert kind in told(suite, "eval", "tool: bash")
    pattern = told(suite, "eval", "bash")
    assert ("Regular expression" in pattern) == (option == "expect_tools")


@pytest.mark.parametrize(
    ("grader", "ignores_case"),
    [
        ("{type: tool_constraint, name: g, config: {expect_tools: [{tool: ^X}]}}", True),
        ("{type: tool_constraint, name: g, config: {reject_tools: [{tool: a, path_pattern: ^X}]}}", True),
        ("{type: tool_calls, name: g, config: {expect: [{tool: ^X}]}}", True),
        ("{type: tool_calls, name: g, config: {forbidden: [^X]}}", True),
        ("{type: tool_calls, name: g, config: {required: [{pattern: ^X}]}}", True),
        ("{type: tool_calls, name: g, config: {expect: [{tool: a, args: {path: {regex: ^X}}}]}}", False),
        ("{type: text, name: g, config: {regex_match: [^X]}}", False),
    ],
)
def test_a_pattern_says_where_case_is_ignored(suite: Path, grader: str, ignores_case: bool) -> None:
    put(suite.parent, "eval.yaml", f"name: x\nskill: y\ngraders: [{grader}]\n")
    text = told(suite, "eval", "^X")
    assert "the start of the text" in text
    assert ("upper and lower case are the same" in text) == ignores_case
