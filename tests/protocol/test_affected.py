"""The tasks that have changed since their newest results: told by a lens and a request, and run alone."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.engine.suites import GREETS, run, task
from tests.protocol.editor import Editor, write_suite
from tests.protocol.workspace import opened
from waza_language_server.project.runnable_id import RunnableId

pytestmark = [pytest.mark.check, pytest.mark.asyncio(loop_scope="module")]

CONFIG = "config: {trials_per_task: 1, timeout_seconds: 60, executor: mock}\n"
AFFECTED = "▶ Run affected (1 of 2)"


@pytest.fixture
def suite(own_folder: Path) -> Path:
    """A suite of two tasks that was run once."""
    text = f"name: fresh\nskill: fresh\n{CONFIG}tasks: ['tasks/*.yaml']\ngraders:\n{GREETS}"
    path = write_suite(own_folder, text, one=task("one"), two=task("two"))
    run(path)
    return path


def change(suite: Path, name: str = "one") -> Path:
    path = suite.parent / "tasks" / f"{name}.yaml"
    path.write_text(path.read_text("utf-8").replace("Say hello", "Say hello again"), "utf-8")
    return path


def answer_with(suite: Path, executor: str) -> None:
    suite.write_text(suite.read_text("utf-8").replace("executor: mock", f"executor: {executor}"), "utf-8")


async def shown(editor: Editor, uri: str, title: str) -> None:
    """Wait until a lens of this title is drawn: asked again when the server says so."""
    while True:
        seen = editor.refreshed["code lenses"]
        if title in await editor.titles(uri):
            return
        await editor.until(lambda seen=seen: editor.refreshed["code lenses"] > seen)


def results_of(answer: Any) -> Any:
    return json.loads(Path(answer["resultsFile"]).read_text("utf-8"))


async def affected(editor: Editor, suite: Path) -> Any:
    answer = await editor.ask("waza/affected", id=str(RunnableId(suite)))
    return {"items": list(answer.items), "of": answer.of}


async def test_a_lens_of_the_suite_says_how_many_tasks_have_changed(editor: Editor, suite: Path) -> None:
    change(suite)
    await shown(editor, editor.open(suite), AFFECTED)


async def test_the_lens_comes_with_a_saved_change_and_goes_with_it(editor: Editor, suite: Path) -> None:
    uri = editor.open(suite)
    assert AFFECTED not in await editor.titles(uri)
    path = suite.parent / "tasks/one.yaml"
    before = path.read_text("utf-8")
    editor.saved(editor.open(change(suite)))
    await shown(editor, uri, AFFECTED)
    path.write_text(before, "utf-8")
    editor.saved(editor.open(path))
    while AFFECTED in await editor.titles(uri):
        seen = editor.refreshed["code lenses"]
        await editor.until(lambda seen=seen: editor.refreshed["code lenses"] > seen)


async def test_what_has_changed_is_told_by_the_ids_of_lenses(editor: Editor, suite: Path) -> None:
    editor.open(suite)
    assert await affected(editor, suite) == {"items": [], "of": 2}
    change(suite)
    assert await affected(editor, suite) == {"items": [str(RunnableId(suite, "one"))], "of": 2}
    change(suite, "two")
    assert await affected(editor, suite) == {"items": [str(RunnableId(suite))], "of": 2}


async def test_only_what_has_changed_is_run(editor: Editor, suite: Path) -> None:
    change(suite)
    editor.open(suite)
    found = await editor.command("waza.runAffected", {"id": str(suite)})
    assert found["status"] == "completed"
    recorded = results_of(found)
    assert [one["test_id"] for one in recorded["tasks"]] == ["one"]
    assert recorded["metadata"]["engine"]["tasks"] == ["one"]
    again = await editor.command("waza.runAffected", {"id": str(suite)})
    assert again["resultsFile"] is None
    await editor.until(lambda: any("Nothing to run" in said.message for said in editor.messages))


async def test_a_task_or_a_grader_is_no_suite(editor: Editor, suite: Path) -> None:
    with pytest.raises(Exception, match="takes the id of a suite"):
        await editor.command("waza.runAffected", {"id": f"{suite}::one"})


async def test_who_answers_by_the_settings_is_whom_results_are_compared_with(suite: Path) -> None:
    async def set_run(**run: str) -> None:
        seen = editor.refreshed["code lenses"]
        editor.configure(run=run)
        await editor.until(lambda: editor.refreshed["code lenses"] > seen)

    answer_with(suite, "copilot-sdk, model: a")
    async with opened(suite, options={"run": {"executor": "mock"}}) as (editor, uri):
        await editor.command("waza.run", {"id": str(suite), "options": {"executor": "mock"}})
        assert [label for label in await editor.labels(uri) if "stale" in label] == []
        await set_run()
        assert any("stale" in label for label in await editor.labels(uri))
        await set_run(executor="mock")
        assert [label for label in await editor.labels(uri) if "stale" in label] == []
