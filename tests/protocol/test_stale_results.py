"""Results that a client shows by itself: which of them may no longer hold, by the evidence of the marks."""

import json
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcException

from tests.engine.suites import recorded, run
from tests.protocol.editor import Editor, write_suite
from waza_engine.results.result_file_names import JOURNAL_SUFFIX

pytestmark = [pytest.mark.check, pytest.mark.asyncio(loop_scope="module")]

SUITE = """\
name: greets
skill: greeter
config: {trials_per_task: 1, timeout_seconds: 60, executor: mock, model: none}
tasks: ["tasks/*.yaml"]
graders:
  - {type: text, name: speaks, config: {contains: [hello]}}
"""
ONE = """\
id: one
inputs: {prompt: Say hello}
expected: {output_contains: [hello]}
graders:
  - {type: text, name: polite, config: {contains: [Say]}}
"""
TWO = "id: two\ninputs: {prompt: hello again}\n"
TRIGGERS = "skill: greeter\nshould_trigger_prompts:\n  - {prompt: Greet me}\n"
SKILL = "---\nname: greeter\ndescription: Greets.\n---\nDo it.\n"


@pytest.fixture
def suite(own_folder: Path) -> Path:
    (own_folder / "SKILL.md").write_text(SKILL, "utf-8")
    path = write_suite(own_folder / "evals", SUITE, one=ONE, two=TWO)
    (path.parent / "trigger_tests.yaml").write_text(TRIGGERS, "utf-8")
    run(path)
    return path


async def stale(editor: Editor, suite: Path) -> list[tuple[str, str, bool]]:
    """Return what is stale: the id behind that of the suite, the words, whether that is all below it."""
    return await shown(editor, suite)


def edit(editor: Editor, path: Path, before: str, after: str) -> str:
    """Open a file, and change a text of it there."""
    uri = editor.open(path)
    text = path.read_text("utf-8")
    assert before in text
    editor.replace(uri, 2, text.replace(before, after))
    return uri


POLITE = "  - {type: text, name: polite, config: {contains: [Say]}}\n"
MORE = "  - {type: text, name: more, config: {contains: [x]}}\n"
OF_SUITE, OF_ONE = ("", "stale", False), ("::one", "stale", False)
EDITS = {
    "a grader of the suite": (
        ("eval.yaml", "contains: [hello]", "contains: [hullo]"),
        [OF_SUITE, OF_ONE, ("::one::speaks", "stale", True), ("::two", "stale", True)],
    ),
    "a grader of a task": (
        ("tasks/one.yaml", "contains: [Say]", "contains: [say]"),
        [OF_SUITE, OF_ONE, ("::one::polite", "stale", True)],
    ),
    "an expectation": (
        ("tasks/one.yaml", "output_contains: [hello]", "output_contains: [hullo]"),
        [OF_SUITE, OF_ONE, ("::one::_output_contains", "stale", True)],
    ),
    "another prompt": (
        ("tasks/one.yaml", "Say hello", "Say hullo"),
        [OF_SUITE, ("::one", "stale", True)],
    ),
    "another grader": (("tasks/one.yaml", POLITE, POLITE + MORE), [OF_SUITE, OF_ONE]),
    "a grader less": (("tasks/one.yaml", POLITE, ""), [OF_SUITE, OF_ONE]),
}


async def test_an_edit_makes_stale_what_it_concerns(editor: Editor, suite: Path) -> None:
    assert await stale(editor, suite) == []
    for what, ((name, before, after), expected) in EDITS.items():
        uri = edit(editor, suite.parent / name, before, after)
        assert await stale(editor, suite) == expected, what
        editor.replace(uri, 3, (suite.parent / name).read_text("utf-8"))
        assert await stale(editor, suite) == [], what
        editor.close(uri)


async def test_grading_again_makes_it_fresh_and_live_verdicts_do_not(editor: Editor, suite: Path) -> None:
    task = suite.parent / "tasks/one.yaml"
    uri = edit(editor, task, "contains: [Say]", "contains: [say]")
    text = ONE.replace("contains: [Say]", "contains: [say]")
    editor.replace(uri, 3, text.replace("output_contains: [hello]", "output_contains: [Say]"))
    assert len(await stale(editor, suite)) == 4
    await editor.command("waza.regrade", {"id": f"{suite.as_posix()}::one::polite"})
    assert [name for name, _, _ in await stale(editor, suite)] == ["", "::one", "::one::_output_contains"]
    await editor.command("waza.regrade", {"id": f"{suite.as_posix()}::one"})
    assert await stale(editor, suite) == []
    editor.replace(uri, 4, ONE)
    assert [name for name, _, _ in await stale(editor, suite)][:2] == ["", "::one"]


async def test_a_run_makes_it_fresh(editor: Editor, suite: Path) -> None:
    task = suite.parent / "tasks/one.yaml"
    task.write_text(ONE.replace("Say hello", "Say hello, Say"), "utf-8")
    assert len(await stale(editor, suite)) == 2
    await editor.command("waza.run", {"id": f"{suite.as_posix()}::one"})
    assert await stale(editor, suite) == []


async def shown(editor: Editor, suite: Path, since: str = "", *results: str) -> list[tuple[str, str, bool]]:
    """Return the same, of a client that shows what was recorded in some files."""
    of_client = {"since": since, "results": list(results)} if since else {}
    found: Any = await editor.ask("waza/staleResults", id=suite.as_posix(), **of_client)
    return [(each["id"].removeprefix(suite.as_posix()), each["words"], each["whole"]) for each in found]


async def test_what_ran_in_a_terminal_since_is_not_what_the_client_shows(editor: Editor, suite: Path) -> None:
    newer = "stale: a newer run is recorded"
    since = datetime.now(UTC).isoformat()
    assert await shown(editor, suite, since) == []
    done = await editor.command("waza.run", {"id": suite.as_posix()})
    assert await shown(editor, suite, since, done["resultsFile"]) == []
    report, _ = run(suite, tasks=("one",))
    assert report.results_file is not None
    editor.changed(report.results_file, kind=types.FileChangeType.Created)
    found = await shown(editor, suite, since, done["resultsFile"])
    assert found == [("", newer, False), ("::one", f"{newer}, it passed", True)]
    await editor.command("waza.regrade", {"id": f"{suite.as_posix()}::one"})
    assert await shown(editor, suite, since, done["resultsFile"]) == []
    report, _ = run(suite)
    assert report.results_file is not None
    editor.changed(report.results_file, kind=types.FileChangeType.Created)
    assert await shown(editor, suite, since, done["resultsFile"]) == [("", f"{newer}, it passed", True)]


@pytest.mark.parametrize(
    ("trials", "passed", "came_to"),
    [(1, True, "passed"), (2, True, "waits for a review"), (2, False, "failed")],
)
async def test_what_is_shown_as_waiting_is_stale_when_a_person_has_reviewed_it(
    editor: Editor, own_folder: Path, trials: int, passed: bool, came_to: str
) -> None:
    human = "  - {type: human, name: expert}\n"
    text = SUITE.replace("trials_per_task: 1", f"trials_per_task: {trials}")
    suite = write_suite(own_folder, text + human, one=ONE, two=TWO)
    since = datetime.now(UTC) - timedelta(seconds=1)  # a review is written down in whole seconds
    done = await editor.command("waza.run", {"id": suite.as_posix()})
    assert await shown(editor, suite, since.isoformat(), done["resultsFile"]) == []
    review = {"id": f"{suite.as_posix()}::one::expert", "trial": 1, "passed": passed}
    await editor.command("waza.review", review)
    words = f"stale: reviewed since, it {came_to}"
    assert await shown(editor, suite, since.isoformat(), done["resultsFile"]) == [
        ("", words, False),
        ("::one", words, False),
        ("::one::expert", words, True),
    ]


async def test_a_run_that_was_killed_is_no_newer_one_than_itself(editor: Editor, suite: Path) -> None:
    since = datetime.now(UTC).isoformat()
    record = recorded(suite)
    document = json.loads(record.read_text("utf-8"))
    tasks = document.pop("tasks")
    lines = "".join(f"{json.dumps(line)}\n" for line in (document, *tasks))
    record.with_name(f"{record.stem}{JOURNAL_SUFFIX}").write_text(lines, "utf-8")
    record.unlink()
    newer = ("", "stale: a newer run is recorded", False)
    assert newer in await shown(editor, suite, since)
    assert await shown(editor, suite, since, str(record)) == []


async def test_what_a_client_shows_is_stale_when_its_record_is_gone(editor: Editor, suite: Path) -> None:
    results = next((suite.parent / ".waza/results").glob("*.json"))
    shutil.rmtree(suite.parent / ".waza")
    since = datetime.now(UTC).isoformat()
    assert await shown(editor, suite, since) == []
    assert await shown(editor, suite, since, str(results)) == [("", "stale: its record is gone", True)]


async def test_since_must_be_a_time(editor: Editor, suite: Path) -> None:
    with pytest.raises(JsonRpcException, match="must be a time"):
        await shown(editor, suite, "yesterday")


async def test_the_id_must_be_that_of_a_suite(editor: Editor, suite: Path) -> None:
    for wrong in ("nonsense", f"{suite.as_posix()}::one"):
        with pytest.raises(JsonRpcException, match="must be that of a suite"):
            await editor.ask("waza/staleResults", id=wrong)
