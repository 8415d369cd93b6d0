"""A recorded trial opens from a hint and from a hover, with what its graders find in it now."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
from lsprotocol import types

from tests.live.bed import recorded_bed
from tests.patience import ON_A_BUSY_MACHINE
from tests.protocol.editor import Editor, editing, is_told_to_ask_again

pytestmark = pytest.mark.check

LIVE = {"live": "on", "opensTrials": True}
GRADERS = """\
- type: text
  name: greets
  config:
    contains:
    - function
    regex_match:
    - deployed to
"""


@pytest.fixture
def text(suite: Path) -> str:
    return suite.read_text("utf-8")


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    return recorded_bed(tmp_path / "suite", GRADERS)[0]


async def opened(editor: Editor, given: Any) -> Any:
    return await editor.protocol.send_request_async("waza/trialDocument", given)


async def live_hint(editor: Editor, uri: str, name: str) -> types.InlayHint:
    """Wait until the hint of the only grader is live and says this."""
    for _ in range(int(ON_A_BUSY_MACHINE * 20)):
        for hint in await editor.hints(uri):
            text = hint.label if isinstance(hint.label, str) else hint.label[0].value
            if "⚡" in text and name in text:
                return hint
        await asyncio.sleep(0.05)
    raise AssertionError("nothing was judged live")


def shown(answer: Any) -> list[tuple[str, str, str]]:
    lines = answer.text.split("\n")
    found: list[tuple[str, str, str]] = []
    for mark in answer.marks:
        start, end = mark.range.start, mark.range.end
        assert start.line == end.line
        found.append((mark.kind, lines[start.line][start.character : end.character], mark.words))
    return found


async def test_a_hint_opens_a_trial_that_fails_with_its_marks(suite: Path) -> None:
    async with editing(suite.parent, limit=is_told_to_ask_again, options=LIVE) as editor:
        hint = await live_hint(editor, editor.open(suite), "6 of 6")
        assert isinstance(hint.label, list)
        command = hint.label[0].command
        assert command is not None
        assert (command.title, command.command) == ("Open ✗ t0, trial 1", "waza.openTrial")
        answer = await opened(editor, (command.arguments or [None])[0])
    assert answer.text.startswith("# `t0`, trial 1\n")
    assert shown(answer) == [
        ("found", "function", '✓ greets: contains "function"'),
        ("near", "Deployed to", '≈ greets: regex_match "deployed to": upper and lower case ignored'),
    ]


async def test_a_hover_opens_the_trial_that_it_tells_of(suite: Path, text: str) -> None:
    line = next(at for at, each in enumerate(text.splitlines()) if "deployed" in each)
    async with editing(suite.parent, limit=is_told_to_ask_again, options=LIVE) as editor:
        uri = editor.open(suite)
        await live_hint(editor, uri, "6 of 6")
        hover = await editor.hover(uri, line, 8)
        assert hover is not None
        assert isinstance(hover.contents, types.MarkupContent)
        link = re.search(
            r"\[`Open ✗ t0, trial 1`\]\(command:waza\.openTrial\?([^)]+)\)", hover.contents.value
        )
        assert link is not None, hover.contents.value
        (argument,) = json.loads(unquote(link[1]))
        assert (await opened(editor, argument)).text.startswith("# `t0`, trial 1\n")


async def test_a_client_that_opens_no_trials_gets_no_links(suite: Path) -> None:
    async with editing(suite.parent, limit=is_told_to_ask_again, options={"live": "on"}) as editor:
        hint = await live_hint(editor, editor.open(suite), "6 of 6")
    assert isinstance(hint.label, str)
    assert "openTrial" not in str(hint.tooltip)
