"""Runs that somebody else has begun: what they finish is shown, and that they were killed, unasked."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from lsprotocol import types

from tests.engine.suites import recorded
from tests.protocol.editor import Editor, is_told_to_ask_again, write_suite
from tests.protocol.workspace import opened
from waza_engine.results.result_file_names import JOURNAL_SUFFIX

pytestmark = pytest.mark.check

SUITE = """\
name: greets
skill: greeter
config: {executor: mock, model: none}
graders:
  - {type: text, name: polite, config: {contains: [hello]}}
tasks: [tasks/*.yaml]
"""


@pytest.fixture
def writer() -> Iterator[subprocess.Popen[bytes]]:
    """Yield a process that stands for the terminal's engine; it ends when its input does."""
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        yield process
        process.kill()


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    return write_suite(tmp_path, SUITE, one="id: one\nname: one\ninputs: {prompt: Say hello}\n")


def journal_of(suite: Path, process: subprocess.Popen[bytes]) -> Path:
    """Make the journal of a run that has finished its task and goes on, as it would stand there."""
    record = recorded(suite)
    document = json.loads(record.read_text("utf-8"))
    record.unlink()
    tasks = document.pop("tasks")
    owner = {"pid": process.pid, "started": psutil.Process(process.pid).create_time()}
    planned = [{"test_id": "one", "display_name": "one"}]
    del document["summary"], document["metadata"]["engine"]["conclusion"]
    lines = [{**document, "process": owner, "planned": planned}, *tasks]
    journal = record.with_name(f"{record.stem}{JOURNAL_SUFFIX}")
    journal.write_text("".join(f"{json.dumps(line)}\n" for line in lines), "utf-8")
    return journal


def tell(editor: Editor, file: Path, kind: types.FileChangeType = types.FileChangeType.Changed) -> None:
    changes = [types.FileEvent(file.as_uri(), kind)]
    editor.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams(changes))


async def title_of_page(editor: Editor, suite: Path) -> str:
    page = await editor.ask("waza/resultDocument", id=str(suite))
    return str(page.markdown).splitlines()[0]


async def test_a_run_of_a_terminal_is_shown_while_it_goes_on_and_when_it_was_killed(
    suite: Path, writer: subprocess.Popen[bytes]
) -> None:
    async with opened(suite, limit=is_told_to_ask_again) as (editor, uri):
        assert await editor.hints(uri) == []
        journal = journal_of(suite, writer)
        seen = editor.refreshed["inlay hints"]
        tell(editor, journal)
        await editor.until(lambda: editor.refreshed["inlay hints"] > seen)
        assert await title_of_page(editor, suite) == "# `greets`: goes on"
        seen = editor.refreshed["inlay hints"]
        writer.kill()
        await editor.until(lambda: editor.refreshed["inlay hints"] > seen)
        assert await title_of_page(editor, suite) == "# `greets`: interrupted"
