"""The strength of graders in an editor: measured when asked, shown where the grader stands."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from lsprotocol import types

from tests.engine.lab.recorded import trial, write_record
from tests.protocol.editor import Editor, write_suite

pytestmark = [pytest.mark.check, pytest.mark.asyncio(loop_scope="module")]

SUITE = """\
name: reads
skill: explainer
config: {trials_per_task: 1, timeout_seconds: 60, executor: mock, model: none}
tasks: ["tasks/*.yaml"]
graders:
  - type: code
    name: anything
    config:
      assertions:
        - len(output) >= 0
  - type: text
    name: healthy
    config:
      contains:
        - healthy
"""
EXPECTING = """\
id: one
name: one
inputs:
  prompt: Say hello
expected:
  output_contains: ['']
  output_not_contains:
    - sorry
  output_contains_any: [healthy, '']
"""
EXPECTED = "{output_contains: ['', healthy]}"
TASK = "id: one\nname: one\ninputs:\n  prompt: Say hello\n"


@pytest.fixture
def suite(own_folder: Path) -> Path:
    path = write_suite(own_folder, SUITE, one=TASK)
    return write_record(path, {"one": [trial("The service is healthy. It has 3 replicas.", "bash")]})


def weak(found: Sequence[types.Diagnostic]) -> list[tuple[int, str]]:
    return [(each.range.start.line, str(each.code)) for each in found if each.code == "weak-grader"]


async def test_a_weak_grader_is_marked_once_it_is_measured(editor: Editor, suite: Path) -> None:
    uri = editor.open(suite)
    assert weak(await editor.problems(uri)) == []
    answer = await editor.command("waza.strength", {"id": str(suite)})
    words = answer.pop("words")
    assert answer == {"status": "completed", "graders": 2, "weak": 1, "message": None}
    assert words.startswith("2 graders measured, 1 decides nothing (marked in the file)")
    await editor.until(lambda: weak(editor.diagnostics[uri]))
    found = editor.diagnostics[uri]
    assert weak(found) == [(6, "weak-grader")]
    (mark,) = [each for each in found if each.code == "weak-grader"]
    assert mark.severity == types.DiagnosticSeverity.Information
    assert "passes on everything: on 1 recorded trial" in mark.message
    assert any("nothing at all" in each.message for each in mark.related_information or ())


async def test_a_grader_that_was_edited_since_is_not_marked(editor: Editor, suite: Path) -> None:
    uri = editor.open(suite)
    await editor.command("waza.strength", {"id": str(suite)})
    await editor.until(lambda: weak(editor.diagnostics[uri]))
    editor.replace(uri, 2, SUITE.replace(">= 0", ">= 10"))
    assert weak(await editor.pushed(uri, 2)) == []


async def test_a_pattern_that_matches_everything_is_marked(editor: Editor, suite: Path) -> None:
    uri = editor.open(suite, SUITE.replace("contains:", "regex_match:").replace("- healthy", "- '.*'"))
    assert weak(await editor.problems(uri)) == [(14, "weak-grader")]


async def test_a_weak_list_of_expectations_is_marked(editor: Editor, suite: Path) -> None:
    task = suite.parent / "tasks" / "one.yaml"
    task.write_text(EXPECTING, "utf-8")
    uri = editor.open(task)
    assert weak(await editor.problems(uri)) == []
    await editor.command("waza.strength", {"id": str(suite)})
    await editor.until(lambda: weak(editor.diagnostics[uri]))
    marks = [each for each in editor.diagnostics[uri] if each.code == "weak-grader"]
    assert [each.range.start.line for each in marks] == [5, 8]
    assert all(each.severity == types.DiagnosticSeverity.Information for each in marks)
    assert "`expected.output_contains` passes on everything" in marks[0].message
    related = [each.message for each in marks[0].related_information or ()]
    assert "It passed on: nothing at all." in related
    found = await editor.hover(uri, 6, 5)
    assert found is not None
    assert isinstance(found.contents, types.MarkupContent)
    assert "**Strength:**" in found.contents.value
    # A list that says something else is none that was measured; the others stay as they were.
    editor.replace(uri, 2, EXPECTING.replace("output_contains: ['']", "output_contains: [healthy]"))
    assert weak(await editor.pushed(uri, 2)) == [(8, "weak-grader")]


async def test_a_text_that_decides_nothing_is_marked(editor: Editor, own_folder: Path) -> None:
    inline = f"{{id: one, name: one, inputs: {{prompt: Say hello}}, expected: {EXPECTED}}}"
    text = SUITE.replace('["tasks/*.yaml"]', f"\n  - {inline}")
    path = write_suite(own_folder, text)
    write_record(path, {"one": [trial("The service is healthy. It has 3 replicas.", "bash")]})
    uri = editor.open(path)
    await editor.command("waza.strength", {"id": str(path)})
    await editor.until(lambda: len(weak(editor.diagnostics[uri])) == 2)
    mark = next(each for each in editor.diagnostics[uri] if each.range.start.line == 4)
    line = text.splitlines()[4]
    assert line[mark.range.start.character : mark.range.end.character] == "''"
    assert "so it decides nothing" in mark.message


async def test_a_grader_that_fails_on_a_reference_is_marked(editor: Editor, suite: Path) -> None:
    task = suite.parent / "tasks" / "one.yaml"
    task.write_text(f"{TASK}reference: All is well.\n", "utf-8")
    uri = editor.open(suite)
    await editor.command("waza.strength", {"id": str(suite)})
    await editor.until(lambda: len(weak(editor.diagnostics[uri])) == 2)
    (mark,) = [each for each in editor.diagnostics[uri] if each.range.start.line == 11]
    assert "`healthy` fails on the reference of the task `one`" in mark.message
    assert mark.severity == types.DiagnosticSeverity.Information
    found = await editor.hover(uri, 11, 12)
    assert found is not None
    assert isinstance(found.contents, types.MarkupContent)
    assert "changes noticed" in found.contents.value
    assert "fails on the reference" in found.contents.value
