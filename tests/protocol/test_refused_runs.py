"""A run that does not begin says why at what it was asked for: older marks would pass for its result."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types

from tests.protocol.editor import Editor, write_suite

pytestmark = [pytest.mark.check, pytest.mark.asyncio(loop_scope="module")]

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


@pytest.fixture(scope="module")
def editor_options() -> Iterator[dict[str, Any]]:
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("OPENAI_API_KEY", raising=False)
        yield {}


@pytest.fixture
def suite(own_folder: Path) -> Path:
    tasks = {name: f"id: {name}\nname: {name}\ninputs: {{prompt: Say hello}}\n" for name in ("one", "two")}
    return write_suite(own_folder, SUITE, **tasks)


async def ended(editor: Editor, command: str, **argument: Any) -> str:
    """Execute a command of a run and return how it ended."""
    answer = await editor.command(command, argument)
    return answer["status"] if isinstance(answer, dict) else answer.status


async def file_marks(editor: Editor, suite: Path) -> set[tuple[str, str]]:
    """Return the names and states of the files of a suite that have a mark."""
    marks = await editor.ask("waza/fileMarks")
    folder = suite.parent.as_uri()
    return {(Path(mark["uri"]).name, mark["state"]) for mark in marks if mark["uri"].startswith(folder)}


async def labels(editor: Editor, file: Path) -> list[str]:
    return [str(hint.label) for hint in await editor.hints(editor.open(file))]


async def test_a_refused_run_replaces_the_marks_of_an_older_one(editor: Editor, suite: Path) -> None:
    task = suite.parent / "tasks" / "one.yaml"
    await ended(editor, "waza.run", id=str(suite))
    passed = ["✓ 2/2 tasks", "✓", "✓ 1.00"]
    assert await labels(editor, suite) == passed
    assert await ended(editor, "waza.run", id=str(suite), options=WITHOUT_KEY) == "error"
    assert await labels(editor, suite) == [NO_KEY]
    assert await labels(editor, task) == [NO_KEY]
    (hint,) = await editor.hints(editor.open(task))
    assert "Requested just now, and nothing ran." in str(hint.tooltip)
    assert await file_marks(editor, suite) == {
        ("eval.yaml", "error"),
        ("one.yaml", "error"),
        ("two.yaml", "error"),
    }
    await ended(editor, "waza.run", id=str(suite))
    assert await labels(editor, suite) == passed


async def test_a_refusal_does_not_come_back_with_deleted_results(editor: Editor, suite: Path) -> None:
    assert await ended(editor, "waza.run", id=str(suite), options=WITHOUT_KEY) == "error"
    assert await ended(editor, "waza.run", id=str(suite)) == "completed"
    assert await labels(editor, suite) == ["✓ 2/2 tasks", "✓", "✓ 1.00"]
    files = list((suite.parent / ".waza" / "results").glob("*.json"))
    for file in files:
        file.unlink()
    editor.changed(*files, kind=types.FileChangeType.Deleted)
    assert await labels(editor, suite) == []


async def test_a_task_that_is_gone_is_refused_until_the_suite_runs(editor: Editor, suite: Path) -> None:
    assert await ended(editor, "waza.run", id=f"{suite}::renamed") == "error"
    assert {state for _, state in await file_marks(editor, suite)} == {"error"}
    await ended(editor, "waza.run", id=str(suite))
    await ended(editor, "waza.run", id=f"{suite}::one")  # the suite is judged by its parts since
    assert await file_marks(editor, suite) == set()


@pytest.mark.parametrize(("below", "limits"), [("::one", {}), ("", {"tasks": ["one"]})])
async def test_a_refused_run_of_a_task_says_nothing_of_others(
    editor: Editor, suite: Path, below: str, limits: dict[str, Any]
) -> None:
    tasks = suite.parent / "tasks"
    await ended(editor, "waza.run", id=str(suite))
    await ended(editor, "waza.run", id=f"{suite}{below}", **limits, options=WITHOUT_KEY)
    assert await labels(editor, tasks / "one.yaml") == [NO_KEY]
    assert await labels(editor, tasks / "two.yaml") == ["✓ 1.00", "✓ 1 of the suite"]


async def test_answers_graded_again_behind_a_refused_run_are_shown(editor: Editor, suite: Path) -> None:
    await ended(editor, "waza.run", id=str(suite))
    await ended(editor, "waza.run", id=str(suite), options=WITHOUT_KEY)
    assert await ended(editor, "waza.regrade", id=str(suite)) == "completed"
    assert (await labels(editor, suite))[0].startswith("↻ ✓ 2/2 tasks")


async def test_that_a_part_was_refused_is_no_run_of_it(editor: Editor, suite: Path) -> None:
    await ended(editor, "waza.run", id=str(suite))
    await ended(editor, "waza.run", id=f"{suite}::one", options=WITHOUT_KEY)
    (whole, *_) = await editor.hints(editor.open(suite))
    assert "stale: a part of it was requested since, and nothing ran." in str(whole.tooltip)
    await ended(editor, "waza.run", id=f"{suite}::two")
    (whole, *_) = await editor.hints(editor.open(suite))
    assert str(whole.label).startswith("! 1/2 tasks: there is no key")
