"""The lens above ``graders:`` names the run that live verdicts are judged on, and its command changes it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcException

from tests.live.bed import recorded_bed
from tests.patience import ON_A_BUSY_MACHINE
from tests.protocol.editor import Editor, editing, is_told_to_ask_again
from tests.protocol.workspace import opened

pytestmark = pytest.mark.check

LIVE = {"live": "on"}
GRADERS = "- {type: text, name: greets, config: {contains: [hello]}}\n"


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    """A suite whose run of today greets in half of the trials, and whose older run never does."""
    path, record = recorded_bed(tmp_path / "suite", GRADERS)
    document = json.loads(record.read_text("utf-8"))
    started = datetime.fromisoformat(document["timestamp"])
    document["timestamp"] = (started - timedelta(days=3)).isoformat()
    for task in document["tasks"]:
        for trial in task["runs"]:
            trial["final_output"] = "Good morning"
    (record.parent / "older.json").write_text(json.dumps(document), "utf-8")
    return path


def bed_lens(lenses: list[types.CodeLens]) -> types.CodeLens | None:
    return next((one for one in lenses if one.command is not None and "test bed" in one.command.title), None)


async def title(editor: Editor, uri: str, wanted: str = "test bed") -> str:
    """Ask for the lenses until the one of the test bed says what is wanted; return what it says."""
    found = ""
    for _ in range(int(ON_A_BUSY_MACHINE * 20)):
        lens = bed_lens(await editor.lenses(uri))
        found = lens.command.title if lens is not None and lens.command is not None else ""
        if wanted in found:
            break
        await asyncio.sleep(0.05)
    return found


async def mark(editor: Editor, uri: str, shown: Callable[[str], bool]) -> str:
    """Ask for the hints until the live one of the grader is as it should be; return it."""
    found = ""
    for _ in range(int(ON_A_BUSY_MACHINE * 20)):
        labels = [str(hint.label) for hint in await editor.hints(uri)]
        found = next((one for one in labels if one.startswith("⚡") and one[-1].isdigit()), "")
        if shown(found):
            break
        await asyncio.sleep(0.05)
    return found


async def test_the_lens_names_the_run_and_how_many_trials_it_has(suite: Path) -> None:
    async with opened(suite, limit=is_told_to_ask_again, options=LIVE) as (editor, uri):
        said = await title(editor, uri)
        assert said.startswith("⚡ test bed: run of ")
        assert said.endswith(", 3 tasks × 2 trials")
        lens = bed_lens(await editor.lenses(uri))
        assert lens is not None
        assert (await asyncio.to_thread(suite.read_text, "utf-8")).splitlines()[
            lens.range.start.line
        ] == "graders:"


async def test_another_run_is_judged_and_what_was_answered_last_again(suite: Path) -> None:
    older = suite.parent / ".waza" / "results" / "older.json"
    async with opened(suite, limit=is_told_to_ask_again, options=LIVE) as (editor, uri):
        assert (await mark(editor, uri, lambda label: "3 of 6" in label)).startswith("⚡ ✗ 3 of 6")
        first = await title(editor, uri)
        bed = {"id": str(suite), "results": str(older)}
        assert await editor.command("waza.testBed", bed) == {"results": str(older), "trial": None}
        assert await mark(editor, uri, lambda label: "6 of 6" in label) == "⚡ ✗ 6 of 6"
        chosen = await title(editor, uri)
        assert chosen != first
        tooltips = [hint.tooltip for hint in await editor.hints(uri)]
        assert any("3 days ago" in str(tooltip) for tooltip in tooltips)
        await editor.command("waza.testBed", {"id": str(suite), "results": None})
        assert "3 of 6" in await mark(editor, uri, lambda label: "3 of 6" in label)
        assert await title(editor, uri) == first


async def test_one_trial_of_each_task_can_be_the_test_bed(suite: Path) -> None:
    async with opened(suite, limit=is_told_to_ask_again, options=LIVE) as (editor, uri):
        await mark(editor, uri, lambda label: "3 of 6" in label)
        await editor.command("waza.testBed", {"id": str(suite), "trial": 2})
        assert await mark(editor, uri, lambda label: "of 3" in label) == "⚡ ✗ 2 of 3"
        assert (await title(editor, uri, "alone")).endswith(", 3 tasks, trial 2 alone")


async def test_a_client_that_confirms_is_given_the_runs_as_a_list_to_pick_from(suite: Path) -> None:
    options = {**LIVE, "confirms": True}
    async with opened(suite, limit=is_told_to_ask_again, options=options) as (editor, _):
        asked: list[Any] = []

        def answer(params: Any) -> str:
            asked.append(params)
            return "Trial 2"

        editor.feature("waza/confirm")(answer)
        chosen = await editor.command("waza.testBed", {"id": str(suite)})
        assert chosen == {"results": None, "trial": 2}
        assert (asked[0].pick, asked[0].choices[0]) == (True, "What was answered last")


async def test_a_run_whose_file_is_gone_is_said_and_nothing_is_judged(suite: Path) -> None:
    older = suite.parent / ".waza" / "results" / "older.json"
    async with opened(suite, limit=is_told_to_ask_again, options=LIVE) as (editor, uri):
        await mark(editor, uri, lambda label: "3 of 6" in label)
        await editor.command("waza.testBed", {"id": str(suite), "results": str(older)})
        await mark(editor, uri, lambda label: "6 of 6" in label)
        await asyncio.to_thread(older.unlink)
        assert "is gone, so nothing is judged live" in await title(editor, uri, "is gone")
        editor.replace(
            uri, 2, (await asyncio.to_thread(suite.read_text, "utf-8")).replace("hello", "morning")
        )
        assert await mark(editor, uri, lambda label: not label) == ""


async def test_what_is_no_run_of_the_suite_is_refused(suite: Path) -> None:
    async with editing(suite.parent, limit=is_told_to_ask_again, options=LIVE) as editor:
        editor.open(suite)
        for wrong in ({"results": "/etc/passwd"}, {"trial": 0}, {"trial": True}):
            with pytest.raises(JsonRpcException):
                await editor.command("waza.testBed", {"id": str(suite), **wrong})


@pytest.mark.parametrize(
    "options", [{"live": "on", "trusted": False}, {"live": "off"}, {"live": "on", "lens": {"testBed": False}}]
)
async def test_where_nothing_is_judged_or_nobody_wants_it_there_is_no_lens(
    suite: Path, options: dict[str, object]
) -> None:
    async with opened(suite, limit=is_told_to_ask_again, options=options) as (editor, uri):
        for _ in range(5):
            assert bed_lens(await editor.lenses(uri)) is None
            await asyncio.sleep(0.05)
