"""Who uses a grader, a task or a skill, asked through the server: every place holds the name in its file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types

from tests.protocol.editor import Editor, write_suite
from tests.protocol.workspace import opened
from waza_language_server.project.uris import path_of, uri_of

pytestmark = pytest.mark.check

SUITE = """\
name: explains
skill: explainer
config: {trials_per_task: 1, timeout_seconds: 60, executor: mock, model: none}
tasks: [tasks/one.yaml]
graders:
  - type: text
    name: "😀 greets"
    config: {contains: [hello]}
  - type: human_calibration
    name: agreement
    config: {calibrate_grader: "😀 greets"}
"""
TASK = 'id: one\r\nname: One\r\ninputs:\r\n  prompt: Say hello\r\nexpected:\r\n  graders: ["😀 greets"]\r\n'
SKILL = "---\nname: explainer\ndescription: Explains.\n---\n\n# How\n"


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    path = write_suite(tmp_path, SUITE)
    (tmp_path / "tasks" / "one.yaml").write_bytes(TASK.encode())
    (tmp_path / "explainer").mkdir()
    (tmp_path / "explainer" / "SKILL.md").write_text(SKILL, "utf-8")
    return path


def _remove(path: Path) -> None:
    path.unlink()


async def prepared(editor: Editor, uri: str, line: int, character: int) -> types.CallHierarchyItem:
    at: dict[str, Any] = {
        "text_document": types.TextDocumentIdentifier(uri),
        "position": types.Position(line, character),
    }
    found = await editor.text_document_prepare_call_hierarchy_async(types.CallHierarchyPrepareParams(**at))
    assert found is not None
    (item,) = found
    return item


def said(uri: str, places: types.Range) -> str:
    """Return the characters of a range, counted in UTF-16."""
    path = path_of(uri)
    assert path is not None
    row = path.read_bytes().decode().splitlines()[places.start.line].encode("utf-16-le")
    assert places.start.line == places.end.line
    return row[2 * places.start.character : 2 * places.end.character].decode("utf-16-le")


async def test_the_users_of_a_grader_and_the_grader_that_is_used(suite: Path) -> None:
    async with opened(suite) as (editor, uri):
        item = await prepared(editor, uri, 6, 13)
        assert (item.name, item.uri, item.kind) == ("😀 greets", uri, types.SymbolKind.Method)
        assert said(uri, item.selection_range).strip('"') == "😀 greets"
        asked = types.CallHierarchyIncomingCallsParams(item)
        users = await editor.call_hierarchy_incoming_calls_async(asked)
        found = {(call.from_.name, call.from_.uri): call for call in users or ()}
        task = uri_of(suite.parent / "tasks" / "one.yaml")
        assert set(found) == {("agreement", uri), ("one", task)}
        for (_, holder), call in found.items():
            assert [said(holder, place) for place in call.from_ranges] == ["😀 greets"]
        asking = types.CallHierarchyOutgoingCallsParams(found["agreement", uri].from_)
        (used,) = list(await editor.call_hierarchy_outgoing_calls_async(asking) or ())
        assert used.to == item
        assert [said(uri, place) for place in used.from_ranges] == ["😀 greets"]


async def test_a_skill_is_used_by_the_suite_that_names_it(suite: Path) -> None:
    skill = suite.parent / "explainer" / "SKILL.md"
    async with opened(suite) as (editor, uri):
        closed = await prepared(editor, uri, 1, 9)
        assert (closed.name, closed.uri, closed.kind) == ("explainer", uri_of(skill), types.SymbolKind.Module)
        own = await prepared(editor, editor.open(skill), 1, 8)
        assert own == closed
        (user,) = list(
            await editor.call_hierarchy_incoming_calls_async(types.CallHierarchyIncomingCallsParams(own))
            or ()
        )
        assert (user.from_.name, user.from_.uri) == ("explains", uri)
        assert [said(uri, place) for place in user.from_ranges] == ["explainer"]


@pytest.mark.parametrize("tasks", ["tasks/one.yaml", "tasks/*.yaml", "*/*.yaml"])
async def test_a_suite_uses_the_tasks_that_it_names_by_path_or_glob(suite: Path, tasks: str) -> None:
    async with opened(suite) as (editor, uri):
        editor.replace(uri, 2, SUITE.replace("tasks/one.yaml", f'"{tasks}"'))
        task = await prepared(editor, editor.open(suite.parent / "tasks" / "one.yaml", TASK), 0, 5)
        (user,) = list(
            await editor.call_hierarchy_incoming_calls_async(types.CallHierarchyIncomingCallsParams(task))
            or ()
        )
        assert (user.from_.name, user.from_.uri) == ("explains", uri)
        used = await editor.call_hierarchy_outgoing_calls_async(
            types.CallHierarchyOutgoingCallsParams(user.from_)
        )
        assert [call.to.name for call in used or ()] == ["explainer", "one"]
        (call,) = [call for call in used or () if call.to == task]
        assert call.from_ranges == user.from_ranges
        assert [place.start for place in call.from_ranges] == [types.Position(3, 9)]


async def test_a_part_whose_file_is_gone_is_used_by_nobody(suite: Path) -> None:
    async with opened(suite) as (editor, uri):
        item = await prepared(editor, uri, 6, 13)
        editor.close(uri)
        _remove(suite)
        assert not await editor.call_hierarchy_incoming_calls_async(
            types.CallHierarchyIncomingCallsParams(item)
        )
        assert not await editor.call_hierarchy_outgoing_calls_async(
            types.CallHierarchyOutgoingCallsParams(item)
        )
