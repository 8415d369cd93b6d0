"""What a run will cost and take, and what the user is asked before it; a scripted model answers."""

import re
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types

from tests.conftest import StartModel
from tests.engine import suites
from tests.engine.suites import run
from tests.protocol.editor import Editor, editing, write_suite
from tests.protocol.workspace import opened
from tests.scripted_model import Answer, ScriptedModel, Tokens

pytestmark = pytest.mark.check

TASK = "id: {id}\nname: {id}\ninputs:\n  prompt: Say hello\n"
FINE = Answer("fine", usage=Tokens(900_000, 10_000))


@pytest.fixture
def model(scripted_model: StartModel) -> ScriptedModel:
    return scripted_model(*[FINE] * 9)


@pytest.fixture
def suite(model: ScriptedModel, tmp_path: Path) -> Path:
    """A suite of two tasks that was run once, for some dollars."""
    config = (
        "config: {trials_per_task: 1, timeout_seconds: 60, executor: openai, model: gpt-4o, "
        f"provider: {{base_url: '{model.base_url}'}}}}\n"
    )
    grader = "graders:\n  - type: text\n    name: says\n    config: {contains: [fine]}\n"
    text = f"name: priced\nskill: priced\n{config}tasks: ['tasks/*.yaml']\n{grader}"
    path = write_suite(tmp_path, text, one=TASK.format(id="one"), two=TASK.format(id="two"))
    report, _ = run(path)
    assert report.outcome.status == "completed"
    return path


async def title(editor: Editor, uri: str, start: str) -> str:
    """Return what the lens says that begins like this; without the time, which depends on the machine."""
    titles = await editor.titles(uri)
    return re.sub(r" · \d+ (?:s|min)\b", "", next(found for found in titles if found.startswith(start)))


async def test_the_lenses_of_suite_and_task_say_what_the_run_will_cost(suite: Path) -> None:
    async with opened(suite) as (editor, uri):
        first = await title(editor, uri, "▶ Run suite")
        assert first in ("▶ Run suite", "▶ Run suite · ≈ $4.70 · 2 trials")
        await editor.until(lambda: editor.refreshed["code lenses"])
        assert await title(editor, uri, "▶ Run suite") == "▶ Run suite · ≈ $4.70 · 2 trials"
        assert await title(editor, uri, "▶ Run grader") == "▶ Run grader"
        task = editor.open(suite.parent / "tasks" / "one.yaml")
        assert await title(editor, task, "▶ Run task") == "▶ Run task · ≈ $2.35 · 1 trial"


async def test_settings_of_the_client_and_what_is_saved_count(suite: Path) -> None:
    async with opened(suite, options={"run": {"trials": 3}}) as (editor, uri):
        await editor.lenses(uri)
        await editor.until(lambda: editor.refreshed["code lenses"])
        assert "≈ $14.10 · 6 trials" in await title(editor, uri, "▶ Run suite")
        seen = editor.refreshed["code lenses"]
        editor.configure(run={"executor": "mock"})
        await editor.until(lambda: editor.refreshed["code lenses"] > seen)
        await editor.lenses(uri)
        await editor.until(lambda: editor.refreshed["code lenses"] > seen + 1)
        assert await title(editor, uri, "▶ Run suite") == "▶ Run suite"


async def test_the_settings_of_the_folder_of_a_suite_count_before_those_of_the_window(suite: Path) -> None:
    others = (suite.parent.parent / "elsewhere").as_uri()
    by_folder = {suite.parent.as_uri(): {"trials": 2}, others: {"trials": 5}, "no uri": {}, "file:///": {}}
    options = {"run": {"trials": 3}, "runByFolder": by_folder}
    async with opened(suite, options=options) as (editor, uri):
        await editor.lenses(uri)
        await editor.until(lambda: editor.refreshed["code lenses"])
        assert "≈ $9.40 · 4 trials" in await title(editor, uri, "▶ Run suite")
        seen = editor.refreshed["code lenses"]
        editor.configure(runByFolder={others: {"trials": 5}})
        await editor.until(lambda: editor.refreshed["code lenses"] > seen)
        await editor.lenses(uri)
        await editor.until(lambda: editor.refreshed["code lenses"] > seen + 1)
        assert "≈ $14.10 · 6 trials" in await title(editor, uri, "▶ Run suite")


@pytest.mark.parametrize(
    ("answer", "status", "asked"),
    [("Cancel", "canceled", 0), ("Stop at $1.00", "error", 0), ("Run Without Limit", "completed", 2)],
)
async def test_before_a_run_passes_its_limit_the_user_is_asked(
    suite: Path, model: ScriptedModel, answer: str, status: str, asked: int
) -> None:
    async with editing(suite.parent) as editor:
        questions: list[types.ShowMessageRequestParams] = []

        def answered(question: types.ShowMessageRequestParams) -> types.MessageActionItem:
            questions.append(question)
            return types.MessageActionItem(answer)

        editor.feature(types.WINDOW_SHOW_MESSAGE_REQUEST)(answered)
        before = len(model.requests)
        found: Any = await editor.command("waza.run", {"id": str(suite), "options": {"maxCost": 1}})
        assert found["status"] == status
        assert questions[0].message == "This run is expected to cost $4.70, and the limit is $1.00."
        assert len(model.requests) - before == asked


async def test_nobody_is_asked_before_a_run_that_is_free_or_within_its_limit(suite: Path) -> None:
    async with editing(suite.parent) as editor:
        for options in ({"maxCost": 0.01, "executor": "mock"}, {"maxCost": 100}):
            found = await editor.command("waza.run", {"id": str(suite), "options": options})
            assert found["status"] in ("completed", "failed")
        assert not any("cost" in told.message for told in editor.messages)


@pytest.mark.parametrize(("answer", "status"), [("Cancel", "canceled"), ("Run Anyway", "completed")])
async def test_a_grader_that_cannot_grade_is_asked_about(answer: str, status: str, tmp_path: Path) -> None:
    suite = suites.write_suite(
        tmp_path, {"a": suites.task("a")}, graders="- {name: greets, config: {contains: [hello]}}\n"
    )
    async with editing(suite.parent) as editor:
        questions: list[str] = []

        def answered(question: types.ShowMessageRequestParams) -> types.MessageActionItem:
            questions.append(question.message)
            return types.MessageActionItem(answer)

        editor.feature(types.WINDOW_SHOW_MESSAGE_REQUEST)(answered)
        found: Any = await editor.command("waza.run", {"id": str(suite)})
        assert (found["status"] == "canceled") == (status == "canceled")
        (question,) = questions
        assert question.startswith("The verdict of this run would mean nothing. eval.yaml, line ")
        assert ": missing-grader-type: " in question
