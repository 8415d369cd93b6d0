"""The strength of graders in an editor: measured when asked, shown where the grader stands."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from lsprotocol import types

from tests.engine.strength.recorded import trial, write_record
from tests.protocol.editor import editing, write_suite

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
TASK = "id: one\nname: one\ninputs:\n  prompt: Say hello\n"


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    path = write_suite(tmp_path, SUITE, one=TASK)
    return write_record(path, {"one": [trial("The service is healthy. It has 3 replicas.", "bash")]})


def weak(found: Sequence[types.Diagnostic]) -> list[tuple[int, str]]:
    return [(each.range.start.line, str(each.code)) for each in found if each.code == "weak-grader"]


async def test_a_weak_grader_is_marked_once_it_is_measured(suite: Path) -> None:
    async with editing(suite.parent) as editor:
        uri = editor.open(suite)
        assert weak(await editor.problems(uri)) == []
        answer = await editor.command("waza.strength", {"id": str(suite)})
        assert answer == {"status": "completed", "graders": 2, "weak": 1, "message": None}
        await editor.until(lambda: weak(editor.diagnostics[uri]))
        found = editor.diagnostics[uri]
        assert weak(found) == [(6, "weak-grader")]
        (mark,) = [each for each in found if each.code == "weak-grader"]
        assert mark.severity == types.DiagnosticSeverity.Information
        assert "passes on everything: on 1 recorded trial" in mark.message
        assert any("nothing at all" in each.message for each in mark.related_information or ())


async def test_a_hover_on_a_measured_grader_tells_its_strength(suite: Path) -> None:
    async with editing(suite.parent) as editor:
        uri = editor.open(suite)
        await editor.command("waza.strength", {"id": str(suite)})
        found = await editor.hover(uri, 11, 12)
        assert found is not None
        assert isinstance(found.contents, types.MarkupContent)
        assert "**Strength:**" in found.contents.value
        assert "changes noticed" in found.contents.value


async def test_a_grader_that_was_edited_since_is_not_marked(suite: Path) -> None:
    async with editing(suite.parent) as editor:
        uri = editor.open(suite)
        await editor.command("waza.strength", {"id": str(suite)})
        await editor.until(lambda: weak(editor.diagnostics[uri]))
        editor.replace(uri, 2, SUITE.replace(">= 0", ">= 10"))
        assert weak(await editor.pushed(uri, 2)) == []


async def test_a_pattern_that_matches_everything_is_marked_as_it_is_typed(suite: Path) -> None:
    async with editing(suite.parent) as editor:
        uri = editor.open(suite, SUITE.replace("contains:", "regex_match:").replace("- healthy", "- '.*'"))
        assert weak(await editor.problems(uri)) == [(14, "weak-grader")]
