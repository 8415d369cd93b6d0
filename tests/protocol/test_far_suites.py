"""A task whose suite lies in a sibling folder: what is said of it is made good when that suite was read."""

from pathlib import Path

import pytest
from lsprotocol import types

from tests.protocol.editor import Editor, editing
from tests.protocol.test_diagnostics import SUITE, TASK
from tests.protocol.test_workspace_diagnostics import asked
from waza_language_server.project.uris import uri_of

pytestmark = pytest.mark.check


def far_suite(folder: Path, glob: str = "../tasks/*.yaml") -> Path:
    path = folder / "eval.yaml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(SUITE.replace("tasks/*.yaml", glob))
    return path


@pytest.fixture
def task(tmp_path: Path) -> Path:
    folder = tmp_path / "tasks"
    folder.mkdir()
    (folder / "b.yaml").write_text(TASK)
    path = folder / "a.yaml"
    path.write_text(TASK)
    return path


def codes(editor: Editor, uri: str) -> list[str]:
    return [str(each.code) for each in editor.diagnostics.get(uri, ())]


def told(editor: Editor, path: Path) -> None:
    editor.changed(path, kind=types.FileChangeType.Created)


async def test_what_is_shown_of_an_open_task_is_made_good(task: Path, tmp_path: Path) -> None:
    far_suite(tmp_path / "one")
    async with editing(tmp_path) as editor:
        uri = editor.open(task, TASK)
        await editor.until(lambda: "duplicate-task-id" in codes(editor, uri))
        assert editor.diagnostics[uri][0].related_information
        assert await editor.lenses(uri)


async def test_a_client_that_asks_is_told_to_ask_again(task: Path, tmp_path: Path) -> None:
    far_suite(tmp_path / "one")
    async with editing(tmp_path, pulls=True) as editor:
        uri = editor.open(task, TASK)
        await editor.pull(uri)
        await editor.until(lambda: editor.diagnostic_refresh_count)
        assert "duplicate-task-id" in [each.code for each in await editor.problems(uri)]


async def test_a_suite_that_is_made_while_the_task_is_open_is_known(task: Path, tmp_path: Path) -> None:
    async with editing(tmp_path) as editor:
        uri = editor.open(task, TASK)
        await editor.problems(uri)
        assert "duplicate-task-id" not in codes(editor, uri)
        told(editor, far_suite(tmp_path / "deep" / "one", "../../tasks/*.yaml"))
        await editor.until(lambda: "duplicate-task-id" in codes(editor, uri))


async def test_closed_tasks_are_judged_again_when_their_suite_elsewhere_changes(
    task: Path, tmp_path: Path
) -> None:
    suite = far_suite(tmp_path / "deep" / "one", "../../tasks/*.yaml")
    async with editing(tmp_path, pulls=True) as editor:
        first = await asked(editor)
        assert first[uri_of(task)][1] == ["duplicate-task-id"]
        suite.write_text(SUITE.replace("tasks/*.yaml", "../../tasks/b.yaml"))
        told(editor, suite)
        again = await asked(editor, {uri: result for uri, (result, _) in first.items()})
        assert again[uri_of(task)] == ("clean", [])
