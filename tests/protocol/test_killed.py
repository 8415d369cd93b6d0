"""Whatever ends an engine or a server, nothing is left of a run, however its programs cut themselves off."""

import asyncio
import json
import os
import random
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from tests.engine.faults.independent import command, left_after, write_independent
from tests.protocol.editor import Editor, editing, write_suite
from tests.protocol.test_running import SUITE, TASK

pytestmark = [
    pytest.mark.check,
    pytest.mark.skipif(sys.platform != "linux", reason="only Linux has subreapers"),
]


@pytest.fixture(autouse=True)
def temporary(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """A killed engine leaves its workspaces to the next run of the suite, which most tests do not have."""
    monkeypatch.setenv("TMPDIR", str(tmp_path_factory.mktemp("temporary")))


def kill_engine(editor: Editor) -> None:
    (engine,) = psutil.Process(editor.process_id).children()
    engine.kill()


def kill_server(editor: Editor) -> None:
    psutil.Process(editor.process_id).kill()
    editor.capabilities = None


def terminate_server(editor: Editor) -> None:
    psutil.Process(editor.process_id).terminate()
    editor.capabilities = None


@pytest.mark.parametrize("end", [kill_engine, kill_server, terminate_server])
async def test_nothing_outlives_it(tmp_path: Path, end: Callable[[Editor], None]) -> None:
    mark, began = f"independent-{os.getpid()}-{time.time_ns()}", tmp_path / "began"
    program, *arguments = command(write_independent(tmp_path), mark, began)
    grader = {"type": "program", "name": "g", "config": {"command": program, "args": arguments}}
    suite = write_suite(tmp_path, f"{SUITE}  - {json.dumps(grader)}\n", one=TASK.format(id="one"))
    async with editing(tmp_path) as editor:
        running = asyncio.ensure_future(editor.command("waza.run", {"suite": str(suite)}))
        await editor.until(began.exists)
        await asyncio.sleep(random.Random(12).uniform(0, 0.3))
        end(editor)
        assert await asyncio.to_thread(left_after, mark) == []
        if end is kill_engine:
            assert (await running)["status"] == "error"
        else:
            running.cancel()
