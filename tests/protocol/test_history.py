"""The last runs of a suite stand behind its name, and are looked at again when results change."""

from __future__ import annotations

from pathlib import Path

import pytest
from lsprotocol import types

from tests.engine.suites import run
from tests.protocol.editor import editing, is_told_to_ask_again, write_suite

pytestmark = pytest.mark.check

SUITE = """\
name: over time
skill: explainer
config: {trials_per_task: 1, timeout_seconds: 60, executor: mock, model: none}
tasks: ["tasks/*.yaml"]
graders:
  - {type: text, name: says, config: {contains: [hello]}}
"""
SAME = "1.00 → 1.00 → 1.00"
TASK = "id: one\nname: one\ninputs:\n  prompt: Say hello\n"


async def test_runs_over_time_stand_behind_the_name_and_follow_the_results(tmp_path: Path) -> None:
    path = write_suite(tmp_path, SUITE, one=TASK)
    for _ in range(3):
        run(path)
    async with editing(tmp_path, limit=is_told_to_ask_again, options={"live": "on"}) as editor:
        uri = editor.open(path)
        assert SAME in await editor.labels_until(uri, lambda found: SAME in found)
        record = run(path)[0].results_file
        assert record is not None
        editor.changed(record, kind=types.FileChangeType.Created)
        assert f"… {SAME}" in await editor.labels_until(uri, lambda found: f"… {SAME}" in found)


async def test_a_client_that_wants_no_history_gets_none(tmp_path: Path) -> None:
    path = write_suite(tmp_path, SUITE, one=TASK)
    for _ in range(3):
        run(path)
    options = {"live": "on", "hints": {"history": False}}
    async with editing(tmp_path, limit=is_told_to_ask_again, options=options) as editor:
        uri = editor.open(path)
        found = await editor.labels_until(uri, lambda found: any(each.startswith("⚡") for each in found))
        assert SAME not in found
        assert not (path.parent / ".waza" / "results" / "history.sqlite").exists()
