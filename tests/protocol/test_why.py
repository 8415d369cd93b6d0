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
    assert said.startswith("**⚡ ✗ 0/6** · what it met in the trials recorded ")
    assert "✗ `t0` trial 1: `not found; the nearest in the answer: punctuation differs`" in said
    assert "Hello, the function `add` is done.\n           ^^^^^^^^^^^^^^^^^\n" in said


async def test_a_pattern_shows_what_would_match_above_what_it_means(suite: Path, text: str) -> None:
    async with editing(suite.parent, limit=is_told_to_ask_again, options=LIVE) as editor:
        said = await told(editor, editor.open(suite), text, "deployed to", "would match")
    assert 'with upper and lower case ignored it would match: "(?i)deployed to"' in said
    assert "Deployed to https://example.org/1\n^^^^^^^^^^^\n" in said


async def test_an_assertion_shows_the_values_of_its_parts_and_the_clause_that_decides(
    suite: Path, text: str
) -> None:
    async with editing(suite.parent, limit=is_told_to_ask_again, options=LIVE) as editor:
        said = await told(editor, editor.open(suite), text, "len(output)", "decides")
    assert "not true: `'x' in output` decides" in said
    assert "| `len(output)` | `49` |" in said


async def test_a_limit_shows_what_was_observed_of_the_text_as_it_is_typed(suite: Path, text: str) -> None:
    async with editing(suite.parent, limit=is_told_to_ask_again, options=LIVE) as editor:
        uri = editor.open(suite)
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
    async with editing(suite.parent, limit=is_told_to_ask_again, options=options) as editor:
        uri = editor.open(suite)
        for column in range(10, 20):
            hover = await editor.hover(uri, line, column)
            assert hover is None or "⚡" not in str(hover.contents)
        assert psutil.Process(editor.process_id).children(recursive=True) == []
