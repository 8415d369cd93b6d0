"""Marks tell of this very run: what has changed is named and shown, what was recorded is graded again."""

import json
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types

from tests.engine.suites import run
from tests.protocol.editor import Editor, editing, is_told_to_ask_again, label_of, write_suite

pytestmark = [pytest.mark.check, pytest.mark.asyncio(loop_scope="module")]

SUITE = """\
name: reads
skill: explainer
config: {trials_per_task: 1, timeout_seconds: 60, executor: mock, model: none}
tasks: ["tasks/*.yaml"]
graders:
  - type: text
    name: says
    config:
      contains:
        - hello
"""
TASK = "id: one\nname: one\ninputs:\n  prompt: Say hello\n"
SKILL = "---\nname: explainer\ndescription: Explains.\n---\nDo it.\n"


@pytest.fixture
def suite(own_folder: Path) -> Path:
    (own_folder / "SKILL.md").write_text(SKILL, "utf-8")
    path = write_suite(own_folder / "evals", SUITE, one=TASK)
    run(path)
    return path


async def test_a_stale_mark_opens_the_text_of_then_beside_that_of_now(suite: Path) -> None:
    skill = suite.parents[1] / "SKILL.md"
    skill.write_text(SKILL + "Well.\n", "utf-8")
    async with editing(suite.parents[1], options={"showsChanges": True}) as editor:
        mark = (await editor.hints(editor.open(suite)))[0]
        assert label_of(mark) == "✓ 1/1 task · stale: SKILL.md +1 −0"
        assert isinstance(mark.label, list)
        command = mark.label[0].command
        assert command is not None
        assert command.command == "waza.showChange"
        change: Any = (command.arguments or [None])[0]
        assert change["uri"] == skill.as_uri()
        assert await editor.ask("waza/recordedText", results=change["results"], path=change["path"]) == SKILL


async def test_a_changed_grader_grades_the_recorded_answer_again(editor: Editor, suite: Path) -> None:
    uri = editor.open(suite)
    lenses = await editor.titles(uri)
    assert lenses == ["▶ Run suite", "↻ Re-grade", "↻ Re-grade", "▶ Run grader"]
    editor.replace(uri, 2, SUITE.replace("- hello", "- never said"))
    assert (await editor.labels(uri))[-1] == "✓ 1.00 · stale"
    results = sorted((suite.parent / ".waza/results").iterdir())
    await editor.command("waza.regrade", {"id": f"{suite}::::says"})
    assert (await editor.labels(uri))[1:] == ["↻ ✗ 0.00", "✗"]
    assert sorted((suite.parent / ".waza/results").iterdir()) == results
    editor.replace(uri, 3, SUITE)
    assert (await editor.labels(uri))[-1] == "↻ ✗ 0.00 · stale"


async def test_a_new_grader_grades_the_recorded_answer(editor: Editor, suite: Path) -> None:
    added = "  - {type: text, name: more, config: {contains: [hello, never said]}}\n"
    uri = editor.open(suite, SUITE + added)
    await editor.command("waza.regrade", {"id": f"{suite}::::more"})
    hint = (await editor.hints(uri))[-1]
    assert label_of(hint) == "↻ ✗ 0.50 1 of 2", hint.tooltip


async def test_every_line_and_file_that_failed_is_marked(own_folder: Path) -> None:
    failing = "expected: {output_contains: [never said]}\n"
    path = write_suite(own_folder, SUITE, one=TASK, two=TASK.replace("one", "two") + failing)
    run(path)
    async with editing(own_folder, options={"drawsMarks": True}) as editor:
        uri = editor.open(path)
        found = await editor.ask("waza/fileMarks")
        states = {Path(mark["uri"]).name: (mark["state"], mark["reason"]) for mark in found}
        assert states == {
            "eval.yaml": ("failed", "1 task failed"),
            "two.yaml": ("failed", "two failed: the answer does not contain `never said`"),
        }
        marks = await editor.ask("waza/marks", textDocument={"uri": uri})
        lines = {mark["line"]: (mark["state"], mark["stale"]) for mark in marks}
        entry_of_tasks = {3: ("failed", False)}
        assert lines == {0: ("failed", False), **entry_of_tasks, 6: ("passed", False), 9: ("passed", False)}


async def test_trigger_prompts_mark_their_file_as_wrong_or_not_tried(own_folder: Path) -> None:
    path = write_suite(own_folder, SUITE, one=TASK)
    triggers = own_folder / "trigger_tests.yaml"
    triggers.write_text("skill: greeter\nshould_trigger_prompts:\n  - prompt: Greet\n  - prompt: Hail\n")
    run(path)
    (record,) = (own_folder / ".waza/results").glob("*.json")
    document = json.loads(record.read_text("utf-8"))

    async def states(**second: Any) -> dict[str, tuple[str, str]]:
        greet = {"prompt": "Greet", "should_trigger": True, "did_trigger": True}
        document["trigger_results"] = [greet, {**greet, "prompt": "Hail", **second}]
        document["metadata"]["engine"]["conclusion"] = {
            "verdict": "errored" if second else "passed",
            "reasons": ["1 of 2 trigger prompts could not be tried"] if second else [],
        }
        record.write_text(json.dumps(document), "utf-8")
        async with editing(own_folder) as editor:
            found = await editor.ask("waza/fileMarks")
            return {Path(mark["uri"]).name: (mark["state"], mark["reason"]) for mark in found}

    assert await states() == {}
    untried = "! 1 of 2 trigger prompts could not be tried"
    assert await states(did_trigger=False, error_msg="no answer") == {
        "eval.yaml": ("error", untried),
        "trigger_tests.yaml": ("error", untried),
    }
    wrong = await states(did_trigger=False)
    assert wrong["trigger_tests.yaml"] == ("failed", "1 of 2 trigger prompts answered wrongly")


async def test_the_mark_of_a_file_has_the_end_of_a_long_reason(own_folder: Path) -> None:
    path = write_suite(own_folder, SUITE, one=TASK)
    run(path)
    (record,) = (own_folder / ".waza/results").glob("*.json")
    document = json.loads(record.read_text("utf-8"))
    reason = "the agent gave up: no answer came; retried 5 times; last error: 429 too many requests"
    document["tasks"][0] |= {"status": "error", "error_msg": reason}
    document["metadata"]["engine"]["conclusion"] = {"verdict": "errored", "reasons": ["1 task in error"]}
    record.write_text(json.dumps(document), "utf-8")
    async with editing(own_folder) as editor:
        found = await editor.ask("waza/fileMarks")
    told = {(Path(mark["uri"]).name, mark["state"], mark["reason"]) for mark in found}
    assert told == {("eval.yaml", "error", f"! {reason}"), ("one.yaml", "error", f"! {reason}")}


OVER_TIME = """\
name: over time
skill: explainer
config: {trials_per_task: 1, timeout_seconds: 60, executor: mock, model: none}
tasks: ["tasks/*.yaml"]
graders:
  - {type: text, name: says, config: {contains: [hello]}}
"""
SAME = "1.00 → 1.00 → 1.00"


async def test_runs_over_time_stand_behind_the_name_and_follow_the_results(own_folder: Path) -> None:
    path = write_suite(own_folder, OVER_TIME, one=TASK)
    for _ in range(3):
        run(path)
    async with editing(own_folder, limit=is_told_to_ask_again, options={"live": "on"}) as editor:
        uri = editor.open(path)
        assert SAME in await editor.labels_until(uri, lambda found: SAME in found)
        record = run(path)[0].results_file
        assert record is not None
        editor.changed(record, kind=types.FileChangeType.Created)
        assert f"… {SAME}" in await editor.labels_until(uri, lambda found: f"… {SAME}" in found)


async def test_a_client_that_wants_no_history_gets_none(own_folder: Path) -> None:
    path = write_suite(own_folder, OVER_TIME, one=TASK)
    for _ in range(3):
        run(path)
    options = {"live": "on", "hints": {"history": False}}
    async with editing(own_folder, limit=is_told_to_ask_again, options=options) as editor:
        uri = editor.open(path)
        found = await editor.labels_until(uri, lambda found: any(each.startswith("⚡") for each in found))
        assert SAME not in found
        assert not (path.parent / ".waza" / "results" / "history.index").exists()
