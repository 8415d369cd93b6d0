"""A text of a recorded trial becomes a grader: as an action of its page, or by a command in any editor."""

from __future__ import annotations

import asyncio
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcException

from tests.live.bed import recorded_bed
from tests.patience import ON_A_BUSY_MACHINE
from tests.protocol.editor import Editor, editing, is_told_to_ask_again
from tests.protocol.workspace import opened
from waza_language_server.project.uris import uri_of

pytestmark = pytest.mark.check

LIVE = {"live": "on"}
GRADERS = "- {type: behavior, name: few, config: {max_tool_calls: 9}}\n"
TITLES = [
    'New grader in this task (passes on 1 of 2 recorded trials): the answer contains "Deployed"',
    'New grader in the suite (passes on 2 of 6 recorded trials of 3 tasks): the answer contains "Deployed"',
]


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    return recorded_bed(tmp_path / "suite", GRADERS)[0]


async def until_hint(editor: Editor, uri: str, name: str, *, count: int = 1) -> None:
    for _ in range(int(ON_A_BUSY_MACHINE * 20)):
        labels = [str(hint.label) for hint in await editor.hints(uri)]
        if sum(name in each for each in labels) >= count:
            return
        await asyncio.sleep(0.05)
    raise AssertionError(f"no hint says {name}")


async def offered(editor: Editor, suite: Path, text: str) -> Any:
    given = {"id": f"{suite}::t0", "trial": 1, "text": text}
    return await editor.protocol.send_request_async("waza/newGraders", given)


def taking(editor: Editor, choice: str | None = None) -> tuple[list[types.WorkspaceEdit], list[str]]:
    """Let the editor take changes, and its user choose; return what it was given and asked."""
    taken, asked = list[types.WorkspaceEdit](), list[str]()

    def take(params: types.ApplyWorkspaceEditParams) -> types.ApplyWorkspaceEditResult:
        taken.append(params.edit)
        return types.ApplyWorkspaceEditResult(applied=True)

    def choose(params: types.ShowMessageRequestParams) -> types.MessageActionItem | None:
        asked.extend(action.title for action in params.actions or ())
        return None if choice is None else types.MessageActionItem(choice)

    editor.feature(types.WORKSPACE_APPLY_EDIT)(partial(take))
    editor.feature(types.WINDOW_SHOW_MESSAGE_REQUEST)(partial(choose))
    return taken, asked


async def test_an_action_puts_a_grader_into_the_suite_and_its_hint_is_live(suite: Path) -> None:
    async with opened(suite, limit=is_told_to_ask_again, options=LIVE) as (editor, uri):
        await until_hint(editor, uri, "⚡")
        answer = await offered(editor, suite, "Deployed")
        assert [action["title"] for action in answer] == TITLES
        assert answer[1]["data"] == {
            "words": 'the answer contains "Deployed"',
            "where": "in the suite",
            "passes": "passes on 2 of 6 recorded trials of 3 tasks",
        }
        (change,) = answer[1]["edit"]["documentChanges"]
        assert change["textDocument"] == {"uri": uri, "version": 1}
        (edit,) = change["edits"]
        assert "name: contains_deployed\n" in edit["newText"]
        at = types.Position(edit["range"]["start"]["line"], edit["range"]["start"]["character"])
        editor.insert(uri, 2, at.line, at.character, edit["newText"])
        await until_hint(editor, uri, "⚡ ✗ 4 of 6")


async def test_the_command_asks_which_and_writes_it(suite: Path) -> None:
    async with editing(suite.parent, limit=is_told_to_ask_again, options=LIVE) as editor:
        taken, asked = taking(editor, TITLES[0])
        await until_hint(editor, editor.open(suite), "⚡")
        given = {"id": f"{suite}::t0", "trial": 1, "text": "Deployed"}
        answer = await editor.command("waza.newGraderFromText", given)
    assert answer["title"] == TITLES[0]
    assert asked == TITLES
    (change,) = list(taken[0].document_changes or ())
    assert isinstance(change, types.TextDocumentEdit)
    assert change.text_document.uri.endswith("/tasks/t0.yaml")
    assert "name: contains_deployed\n" in str(getattr(change.edits[0], "new_text", ""))


async def test_the_command_takes_a_title_and_nothing_is_written_without_a_choice(suite: Path) -> None:
    async with editing(suite.parent, limit=is_told_to_ask_again, options=LIVE) as editor:
        taken, _ = taking(editor)
        await until_hint(editor, editor.open(suite), "⚡")
        given = {"id": f"{suite}::t0", "trial": 1, "text": "Deployed"}
        assert (await editor.command("waza.newGraderFromText", given))["title"] is None
        assert taken == []
        named = {"suite": uri_of(suite), "task": "t0", "trial": 1, "text": "Deployed", "title": TITLES[1]}
        answer = await editor.command("waza.newGraderFromText", named)
        assert (answer["title"], len(taken)) == (TITLES[1], 1)
        for wrong, why in (
            ({**given, "title": "another"}, "no such title"),
            ({**given, "text": "zebra"}, "No grader"),
            ({"id": f"{suite}::t0", "text": "Deployed"}, "needs the number"),
            ({"id": str(suite), "trial": 1, "text": "Deployed"}, "that of a task"),
        ):
            with pytest.raises(JsonRpcException, match=why):
                await editor.command("waza.newGraderFromText", wrong)
