"""A hover on a rule says what it met in the recorded trials; nothing is told where nothing is judged."""

from __future__ import annotations

import asyncio
from pathlib import Path

import psutil
import pytest
from lsprotocol import types

from tests.live.bed import recorded_bed
from tests.patience import ON_A_BUSY_MACHINE
from tests.protocol.editor import Editor, editing, is_told_to_ask_again
from tests.protocol.workspace import opened

pytestmark = pytest.mark.check

LIVE = {"live": "on"}
GRADERS = """\
  - type: text
    name: greets
    config:
      contains:
        - function add is
      regex_match:
        - deployed to
  - type: code
    name: long
    config:
      assertions:
        - len(output) > 40 and 'x' in output
  - type: behavior
    name: few
    config:
      max_tool_calls: 2
"""


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    return recorded_bed(tmp_path / "suite", GRADERS.replace("\n  ", "\n").removeprefix("  "))[0]


@pytest.fixture
def text(suite: Path) -> str:
    return suite.read_text("utf-8")


async def told(editor: Editor, uri: str, text: str, pointed: str, wanted: str) -> str:
    """Hover over a text until it says what is wanted; return what it says."""
    line = next(number for number, each in enumerate(text.splitlines()) if pointed in each)
    column = text.splitlines()[line].index(pointed)
    said = ""
    for _ in range(int(ON_A_BUSY_MACHINE * 20)):
        hover = await editor.hover(uri, line, column)
        contents = hover.contents if hover is not None else None
        said = contents.value if isinstance(contents, types.MarkupContent) else ""
        if wanted in said:
            break
        await asyncio.sleep(0.05)
    return said


async def test_a_text_shows_where_the_answer_comes_nearest(suite: Path, text: str) -> None:
    async with editing(suite.parent, limit=is_told_to_ask_again, options=LIVE) as editor:
        said = await told(editor, editor.open(suite), text, "function add is", "punctuation differs")
    assert said.startswith("**⚡ ✗ 6 of 6** · what it met in the trials recorded ")
    assert "✗ `t0` trial 1: `not found; the nearest in the answer: punctuation differs`" in said
    assert "Hello, the function `add` is done.\n           ^^^^^^^^^^^^^^^^^\n" in said


async def test_a_limit_shows_what_was_observed_of_the_text_as_it_is_typed(suite: Path, text: str) -> None:
    async with opened(suite, limit=is_told_to_ask_again, options=LIVE) as (editor, uri):
        said = await told(editor, uri, text, "max_tool_calls", "Observed")
        assert "Observed: ✗ `3`, `1`, `0`, ✗ `4`, ✗ `3`, `1`" in said
        assert "`4 tool calls, at most 2 allowed: 2 too many`" in said
        edited = text.replace("max_tool_calls: 2", "max_tool_calls: 3")
        editor.replace(uri, 2, edited)
        said = await told(editor, uri, edited, "max_tool_calls", "at most 3 allowed")
        assert "Observed: `3`, `1`, `0`, ✗ `4`, `3`, `1`" in said


@pytest.mark.parametrize("options", [{"live": "on", "trusted": False}, {"live": "off"}, {}])
async def test_where_nothing_may_run_or_nobody_wants_it_a_hover_starts_nothing(
    suite: Path, text: str, options: dict[str, object]
) -> None:
    line = next(number for number, each in enumerate(text.splitlines()) if "len(output)" in each)
    async with opened(suite, limit=is_told_to_ask_again, options=options) as (editor, uri):
        for column in range(10, 20):
            hover = await editor.hover(uri, line, column)
            assert hover is None or "⚡" not in str(hover.contents)
        assert psutil.Process(editor.process_id).children(recursive=True) == []


async def offered(editor: Editor, uri: str, text: str, pointed: str, wanted: str) -> types.CodeAction | None:
    """Ask for the quick fixes on a line until one with such a title is offered; return it."""
    line = next(number for number, each in enumerate(text.splitlines()) if pointed in each)
    for _ in range(int(ON_A_BUSY_MACHINE * 20)):
        for action in await editor.actions(uri, line):
            if wanted in action.title:
                return action
        await asyncio.sleep(0.05)
    return None


async def test_a_fix_from_the_record_says_on_how_many_trials_it_helps(suite: Path, text: str) -> None:
    async with opened(suite, limit=is_told_to_ask_again, options=LIVE) as (editor, uri):
        action = await offered(editor, uri, text, "max_tool_calls", "Raise max_tool_calls to 4")
        assert action is not None
        assert action.title == (
            "Raise max_tool_calls to 4, the most observed (passes on 6 of 6 recorded trials, now 3)"
        )
        assert (action.kind, action.is_preferred) == (types.CodeActionKind.QuickFix, False)
        changed = action.edit.changes or {} if action.edit is not None else {}
        documents = action.edit.document_changes or () if action.edit is not None else ()
        edits = [
            *changed.get(uri, ()),
            *(edit for one in documents if isinstance(one, types.TextDocumentEdit) for edit in one.edits),
        ]
        assert [edit.new_text for edit in edits if isinstance(edit, types.TextEdit)] == ["4"]
        loosened = await offered(editor, uri, text, "- deployed to", "(?i)deployed to")
        assert loosened is not None
        assert "upper and lower case ignored" in loosened.title
        assert all("fixAll" not in str(one.kind) for one in (action, loosened))


async def test_without_trust_no_fix_comes_from_the_record(suite: Path, text: str) -> None:
    line = next(number for number, each in enumerate(text.splitlines()) if "max_tool_calls" in each)
    untrusted: dict[str, object] = {"live": "on", "trusted": False}
    async with opened(suite, limit=is_told_to_ask_again, options=untrusted) as (editor, uri):
        for _ in range(5):
            assert all("recorded" not in action.title for action in await editor.actions(uri, line))
        assert psutil.Process(editor.process_id).children(recursive=True) == []
