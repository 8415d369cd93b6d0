"""Captures and trials of agent-eval-harness as recorded runs: report, grade, replay, mutation testing."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.command_line import engine
from tests.engine.suites import run, task, write_suite
from waza_engine.commands.regraded import answer, graded
from waza_engine.commands.strength import measure_graders
from waza_engine.results.codec.run_documents import run_of
from waza_engine.results.conclusion import conclude
from waza_engine.results.reading.recordings import Recording, RecordingError, read_recording
from waza_engine.results.record import TrialOutcome
from waza_engine.runs.limits.cancellation import RunCancellation
from waza_engine.runs.regrading.regrade import RegradeRequest, prepare_regrading
from waza_engine.runs.regrading.resident import ResidentSuites

START = 1_767_225_600_000
CALL = {"type": "tool_call", "name": "Read", "status": "completed", "timestamp": 5, "input": {"path": "x"}}
SAYS = {"type": "message", "content": "It is 4", "timestamp": 900}
GRADERS = """\
- {type: text, name: says, config: {contains: ["4"]}}
- {type: code, name: reads, config: {assertions: ["tool_calls[0]['arguments']['path'] == 'x'"]}}
"""
NEEDS_FILES = "- {type: file, name: clean, config: {must_not_exist: [out.txt]}}\n"
REPLAYS = "config: {trials_per_task: 1, timeout_seconds: 20, executor: replay, recording: results.jsonl}\n"


def capture(identifier: str, **values: Any) -> dict[str, Any]:
    """Return a capture as agent-eval-harness writes it."""
    timing = {"start": START, "end": START + 1500, "sessionCreation": 0, "total": 1500}
    found = {"id": identifier, "input": "2+2?", "output": "It is 4", "trajectory": [CALL, SAYS]}
    return {**found, "metadata": {"agent": "fake"}, "timing": timing, "toolErrors": False, **values}


def trials(identifier: str, *entries: dict[str, Any]) -> dict[str, Any]:
    numbered = [
        {"trialNum": number, "output": "It is 4", "trajectory": [SAYS], "duration": 7, **entry}
        for number, entry in enumerate(entries, 1)
    ]
    return {"id": identifier, "input": "2+2?", "k": len(entries), "trials": numbered}


def written(folder: Path, *rows: dict[str, Any]) -> Path:
    path = folder / "results.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


def outcomes(recording: Recording) -> list[TrialOutcome]:
    return [trial.outcome for each in recording.tasks for trial in each.trials]


def test_a_capture_is_a_task_with_one_trial(tmp_path: Path) -> None:
    score = {"pass": True, "score": 0.8, "reasoning": "close", "outcome": {"files": ["a"]}}
    recording = read_recording(written(tmp_path, capture("p1", score=score, outcome={"files": ["a"]})))
    (found,) = outcomes(recording)
    assert [each.id for each in recording.tasks] == ["p1"]
    assert (found.status, found.output, found.duration_ms) == ("passed", "It is 4", 1500)
    assert [(call.name, dict(call.arguments), call.success) for call in found.tool_calls or ()] == [
        ("Read", {"path": "x"}, True)
    ]
    verdict = (found.validations or {})["grader"]
    assert (verdict.score, verdict.feedback, verdict.details) == (0.8, "close", {"files": ["a"]})
    assert [event["type"] for event in found.events] == [
        "user.message",
        "tool.execution_start",
        "tool.execution_complete",
        "assistant.message",
    ]
    assert recording.header.started.isoformat() == "2026-01-01T00:00:00+00:00"


def test_trials_are_those_of_one_task_and_one_id_is_one_task(tmp_path: Path) -> None:
    rows = [trials("p", {"pass": True, "score": 1}, {"pass": False, "score": 0.2, "reasoning": "no"})]
    found = read_recording(written(tmp_path, *rows)).tasks[0].scores
    assert (found.passed_trials, found.trials) == (1, 2)
    again = read_recording(written(tmp_path, capture("p"), capture("q"), capture("p")))
    assert [(each.id, len(each.trials)) for each in again.tasks] == [("p", 2), ("q", 1)]


@pytest.mark.parametrize(
    ("row", "verdict"),
    [
        (capture("p", score={"pass": True, "score": 1}), "passed"),
        (capture("p", score={"pass": False, "score": 1}), "failed"),
        (capture("p"), "unjudged"),
        (capture("p", output="", trajectory=[], errors=["spawn ENOENT"], toolErrors=True), "errored"),
        (capture("p", score={"pass": True, "score": 1}, errors=["exit code 7"]), "errored"),
        (capture("p", errors=["broke"], metadata={"wazaDigest": "a:b:broken"}), "errored"),
        (trials("p", {"pass": False, "reasoning": "Error: gone", "output": "", "trajectory": []}), "errored"),
        (trials("p", {"pass": False, "reasoning": "Error: grader"}), "errored"),
        (capture("p", score={"pass": True, "score": 1}, errors="gone"), "errored"),
        (capture("p", score={"pass": True, "score": 1}, error="gone"), "errored"),
        (capture("p", score={"pass": True, "score": 1}, metadata={"timedOut": True}), "errored"),
        (capture("p", score={"pass": True, "score": 1}, metadata={"exitCode": 7}, toolErrors=True), "passed"),
        (trials("p", {"pass": True, "score": 1, "error": "gone"}), "errored"),
    ],
)
def test_a_row_is_never_better_than_its_verdict(tmp_path: Path, row: dict[str, Any], verdict: str) -> None:
    document = read_recording(written(tmp_path, row)).document
    assert conclude(run_of(document)).verdict == verdict


@pytest.mark.parametrize(
    ("score", "why"),
    [
        ({"pass": "no", "score": 1}, "`pass` must be true or false"),
        (
            {"pass": "yes", "score": 7},
            "`pass` must be true or false, `score` is 7, it must lie between 0 and 1",
        ),
        ({"pass": 1, "score": 1}, "`pass` must be true or false"),
        ({"pass": True, "score": 7}, "`score` is 7, it must lie between 0 and 1"),
        ({"pass": True, "score": "1"}, "`score` must be a number"),
        ({"pass": True, "score": None}, "`score` is missing"),
        ({"score": 1}, "`pass` is missing"),
    ],
)
def test_a_verdict_that_is_none_puts_its_row_in_error(
    tmp_path: Path, score: dict[str, Any], why: str
) -> None:
    for row in (capture("p", score=score), trials("p", score)):
        found = conclude(run_of(read_recording(written(tmp_path, row)).document))
        assert (found.verdict, found.exit_code) == ("errored", 4)
        assert found.words.startswith(f"could not grade: grader: the recorded verdict cannot be used: {why}")


@pytest.mark.parametrize("score", [1, True, "pass", [True]])
def test_a_score_that_is_no_object_puts_its_row_in_error(tmp_path: Path, score: object) -> None:
    found = conclude(run_of(read_recording(written(tmp_path, capture("p", score=score))).document))
    assert found.verdict == "errored"
    assert "`score` must be an object with `pass` and `score`" in found.words


def test_empty_values_beside_a_verdict_are_missing_ones(tmp_path: Path) -> None:
    score = {"pass": True, "score": 1, "reasoning": None, "outcome": None}
    for row in (capture("p", score=score), trials("p", score)):
        assert conclude(run_of(read_recording(written(tmp_path, row)).document)).verdict == "passed"
    assert conclude(run_of(read_recording(written(tmp_path, capture("p", score=None))).document)).verdict == (
        "unjudged"
    )


@pytest.mark.parametrize(
    ("entries", "verdict", "cut_short"),
    [([{"pass": True, "score": 1}], "passed", "1 of 3 trials ran"), ([], "not run", "")],
)
def test_trials_that_are_missing_did_not_run(
    tmp_path: Path, entries: list[dict[str, Any]], verdict: str, cut_short: str
) -> None:
    row = {**trials("p", *entries), "k": 3}
    found = conclude(run_of(read_recording(written(tmp_path, row)).document))
    assert (found.verdict, found.good) == ("interrupted", False)
    assert found.words.startswith("a row has fewer trials than its `k` says")
    assert [(task.verdict, task.cut_short) for task in found.tasks] == [(verdict, cut_short)]


def test_an_answer_whose_grader_broke_can_be_graded_again(tmp_path: Path) -> None:
    broke = capture("p", errors=["broke"], metadata={"wazaDigest": "a:b:broken"})
    (found,) = read_recording(written(tmp_path, broke)).tasks[0].trials
    assert found.gradable
    assert not found.outcome.error


def regraded(record: Path, suite: Path) -> dict[str, Any]:
    with ResidentSuites() as suites:
        regrading = prepare_regrading(RegradeRequest(record, suite), suites)
        return answer(regrading, graded(regrading, RunCancellation()))["tasks"]


def test_a_suite_grades_captures_and_says_which_graders_need_files(tmp_path: Path) -> None:
    suite = write_suite(tmp_path / "s", {"p": task("p")}, graders=GRADERS + NEEDS_FILES)
    record = written(tmp_path, capture("p"))
    found = regraded(record, suite)["p"]["graders"]
    assert [(name, each["passed"]) for name, each in found.items()] == [
        ("says", True),
        ("reads", True),
        ("clean", False),
    ]
    assert "the workspace of the run was not kept" in found["clean"]["feedback"]


def test_replay_answers_with_captures_and_no_file_grader_passes(tmp_path: Path) -> None:
    suite = write_suite(tmp_path, {"p": task("p")}, graders=GRADERS + NEEDS_FILES, config=REPLAYS)
    written(tmp_path, capture("p"))
    report, _ = run(suite)
    (trial,) = report.outcome.tasks[0].trials
    found = {name: (each.status, each.passed) for name, each in (trial.validations or {}).items()}
    assert found == {"says": ("graded", True), "reads": ("graded", True), "clean": ("error", False)}
    assert trial.status == "error"
    assert (trial.output, trial.duration_ms) == ("It is 4", 1500)


def test_replay_gives_a_conversation_with_its_first_turn(tmp_path: Path) -> None:
    turns = "id: p\nname: P\ninputs: {prompt: a, follow_up_prompts: [b]}\n"
    suite = write_suite(tmp_path, {"p": turns}, graders=GRADERS, config=REPLAYS)
    written(tmp_path, capture("p", input=["a", "b"]))
    report, _ = run(suite)
    assert report.outcome.tasks[0].status == "passed"


def test_mutations_of_captures_measure_graders(tmp_path: Path) -> None:
    suite = write_suite(tmp_path, {"p": task("p")}, graders=GRADERS)
    with ResidentSuites() as suites:
        regrading = prepare_regrading(RegradeRequest(written(tmp_path, capture("p")), suite), suites)
        found = measure_graders(regrading, RunCancellation(), seed=0)
    assert {each.name: bool(each.caught) for each in found} == {"says": True, "reads": True}


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([json.dumps(capture("p")), "{", "3"], ":2: the line must be a JSON object."),
        ([json.dumps({"id": "p", "input": "hi"})], "holds prompts"),
        ([json.dumps({"other": 1})], "is not a result file"),
    ],
)
def test_other_rows_are_refused_with_their_line(tmp_path: Path, lines: Sequence[str], message: str) -> None:
    path = tmp_path / "results.jsonl"
    path.write_text("\n".join(lines), "utf-8")
    with pytest.raises(RecordingError, match=message.replace(".", r"\.")):
        read_recording(path)


def test_files_of_captures_are_the_runs_of_one_history(tmp_path: Path) -> None:
    late, early, other = tmp_path / "late.jsonl", tmp_path / "early.jsonl", tmp_path / "prompts.jsonl"
    for path, start, passed in ((late, START + 90_000, False), (early, START, True)):
        timing = {"start": start, "end": start + 5, "sessionCreation": 0, "total": 5}
        rows = [capture(each, timing=timing, score={"pass": passed, "score": int(passed)}) for each in "pq"]
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    found = json.loads(engine("history", late, early, "--format", "json").stdout)
    assert [each["file"] for each in found["runs"]] == [str(early), str(late)]
    assert [(each["id"], each["scores"], each["red_since"]) for each in found["tasks"]] == [
        (identifier, [1.0, 0.0], str(late)) for identifier in "pq"
    ]
    other.write_text('{"id": "p", "input": "2+2?", "hint": "4"}\n')
    refused = engine("history", early, other)
    assert (refused.returncode, "holds prompts" in refused.stderr) == (2, True)
    mixed = engine("history", early, write_suite(tmp_path, {"a": task("a")}))
    assert (mixed.returncode, "name either result files or suites" in mixed.stderr) == (2, True)
