"""A run that does not begin says why at what it was asked for: older marks would pass for its result."""

from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types

from tests.protocol.editor import Editor, editing, write_suite

pytestmark = pytest.mark.check

SUITE = """\
name: greets
skill: greeter
config: {executor: mock, model: none}
graders:
  - {type: text, name: polite, config: {contains: [hello]}}
tasks: [tasks/*.yaml]
"""
WITHOUT_KEY = {"executor": "openai", "model": "some-model"}
NO_KEY = "! there is no key for `api.openai.com`…"


@pytest.fixture
def suite(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    tasks = {name: f"id: {name}\nname: {name}\ninputs: {{prompt: Say hello}}\n" for name in ("one", "two")}
    return write_suite(tmp_path, SUITE, **tasks)


async def ended(editor: Editor, command: str, **argument: Any) -> str:
    """Execute a command of a run and return how it ended."""
    answer = await editor.command(command, argument)
    return answer["status"] if isinstance(answer, dict) else answer.status


async def labels(editor: Editor, file: Path) -> list[str]:
    return [str(hint.label) for hint in await editor.hints(editor.open(file))]


async def test_a_refused_run_of_a_suite_replaces_the_marks_of_an_older_one(suite: Path) -> None:
    task = suite.parent / "tasks" / "one.yaml"
    async with editing(suite.parent) as editor:
        await ended(editor, "waza.run", id=str(suite))
        passed = ["✓ 2/2 tasks", "✓", "✓ 1.00"]
        assert await labels(editor, suite) == passed
        assert await ended(editor, "waza.run", id=str(suite), options=WITHOUT_KEY) == "error"
        assert await labels(editor, suite) == [NO_KEY]
        assert await labels(editor, task) == [NO_KEY]
        (hint,) = await editor.hints(editor.open(task))
        assert "Requested just now, and nothing ran." in str(hint.tooltip)
        assert {(Path(mark["uri"]).name, mark["state"]) for mark in await editor.ask("waza/fileMarks")} == {
            ("eval.yaml", "error"),
            ("one.yaml", "error"),
            ("two.yaml", "error"),
        }
        await ended(editor, "waza.run", id=str(suite))
        assert await labels(editor, suite) == passed


async def test_a_refusal_from_before_a_run_does_not_come_back_when_its_results_are_deleted(
    suite: Path,
) -> None:
    async with editing(suite.parent) as editor:
        assert await ended(editor, "waza.run", id=str(suite), options=WITHOUT_KEY) == "error"
        assert await ended(editor, "waza.run", id=str(suite)) == "completed"
        assert await labels(editor, suite) == ["✓ 2/2 tasks", "✓", "✓ 1.00"]
        files = list((suite.parent / ".waza" / "results").glob("*.json"))
        for file in files:
            file.unlink()
        editor.changed(*files, kind=types.FileChangeType.Deleted)
        assert await labels(editor, suite) == []


async def test_a_task_that_is_gone_is_refused_no_longer_once_the_whole_suite_has_run(suite: Path) -> None:
    async with editing(suite.parent) as editor:
        assert await ended(editor, "waza.run", id=f"{suite}::renamed") == "error"
        assert [mark["state"] for mark in await editor.ask("waza/fileMarks")] == ["error"]
        await ended(editor, "waza.run", id=str(suite))
        await ended(editor, "waza.run", id=f"{suite}::one")  # the suite is judged by its parts since
        assert await editor.ask("waza/fileMarks") == []


@pytest.mark.parametrize(("below", "limits"), [("::one", {}), ("", {"tasks": ["one"]})])
async def test_a_refused_run_of_a_task_says_nothing_of_others(
    suite: Path, below: str, limits: dict[str, Any]
) -> None:
    tasks = suite.parent / "tasks"
    async with editing(suite.parent) as editor:
        await ended(editor, "waza.run", id=str(suite))
        await ended(editor, "waza.run", id=f"{suite}{below}", **limits, options=WITHOUT_KEY)
        assert await labels(editor, tasks / "one.yaml") == [NO_KEY]
        assert await labels(editor, tasks / "two.yaml") == ["✓ 1.00", "✓ 1 of the suite"]


async def test_answers_that_are_graded_again_behind_a_refused_run_are_shown(suite: Path) -> None:
    async with editing(suite.parent) as editor:
        await ended(editor, "waza.run", id=str(suite))
        await ended(editor, "waza.run", id=str(suite), options=WITHOUT_KEY)
        assert await ended(editor, "waza.regrade", id=str(suite)) == "completed"
        assert (await labels(editor, suite))[0].startswith("↻ ✓ 2/2 tasks")


async def test_that_a_part_was_refused_is_no_run_of_it(suite: Path) -> None:
    async with editing(suite.parent) as editor:
        await ended(editor, "waza.run", id=str(suite))
        await ended(editor, "waza.run", id=f"{suite}::one", options=WITHOUT_KEY)
        (whole, *_) = await editor.hints(editor.open(suite))
        assert "stale: a part of it was requested since, and nothing ran." in str(whole.tooltip)
        await ended(editor, "waza.run", id=f"{suite}::two")
        (whole, *_) = await editor.hints(editor.open(suite))
        assert str(whole.label).startswith("! 1/2 tasks: there is no key")
