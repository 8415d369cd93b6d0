"""Public suites give upstream's scores and verdicts under the mock executor, with named exceptions."""

import hashlib
import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from tests.engine.runs.recorded_runs import Replay, records, replay
from tests.shared_corpus import needs_corpus, writable_suites
from waza_engine.results.conclusion import conclude
from waza_engine.results.record import TrialOutcome, Validation

pytestmark = [pytest.mark.check, needs_corpus]

# Where this engine deliberately answers otherwise. Each reason is explained in docs/compatibility.md.
LOST_TRIAL = "a grader that cannot be built does not cost the others their results"
NOTHING_TO_CHECK = "a text grader whose keys are all misspelt checks nothing: an error, not a pass"
NEGATIVE_TRIGGER = "a negative trigger grader scores 1 - relevance; its verdict is the same"
OLDER_FORM = "options beside the `type` of a grader count, as in the first version"
NO_JUDGE = "without a judge a prompt grader is an error, not a score of zero"
ONLY_ERRORS = "nothing that was judged failed, so the exit code is 4"
# What cannot be compared: the sample has no program files, and some tasks are given one.
NO_FIXTURE = "a file that the task is given is in the repository and not in the sample"


@pytest.fixture(scope="module")
def replays(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Replay]]:
    before = Path.cwd()
    done: list[Replay] = []
    with writable_suites(tmp_path_factory.mktemp("snapshots")) as snapshots:
        for record in records():
            os.chdir(snapshots / record["snapshot"])
            done.append(replay(record, snapshots))
        os.chdir(before)
        yield done


def test_there_is_something_to_compare(replays: list[Replay]) -> None:
    assert len(replays) > 100


def test_every_suite_that_upstream_loads_loads_here(replays: list[Replay]) -> None:
    refused = [
        (r.record["path"], r.refused) for r in replays if r.outcome is None and not r.record["load_error"]
    ]
    assert refused == []


def test_what_upstream_refuses_does_not_pass_here_but_in_an_older_form(replays: list[Replay]) -> None:
    """The guilty task is in error or failed, or the whole suite is refused."""
    refused = [r for r in replays if r.record["load_error"]]
    passed = [r for r in refused if r.outcome is not None and r.outcome.status == "completed"]
    assert [r.record["path"] for r in passed if not r.older_form] == []
    assert len(passed) < len(refused) / 2


def test_the_exit_codes_are_the_same_but_for_the_named_differences(replays: list[Replay]) -> None:
    reasons: Counter[str] = Counter()
    unexplained: list[str] = []
    for found in replays:
        theirs = found.record["exit_code"]
        ours = 2 if found.outcome is None else conclude(found.outcome).exit_code
        if ours == theirs:
            reasons["the same"] += 1
        elif (named := exit_code_reasons(found, ours)) and ours != 2:
            reasons.update(named)
        else:
            unexplained.append(f"{found.record['path']}: {theirs} {ours}")
    assert unexplained == []
    assert reasons["the same"] > 60


def test_the_tasks_are_the_same_and_in_the_same_order(replays: list[Replay]) -> None:
    for found in replays:
        if found.outcome is not None and not found.record["load_error"]:
            ours = [task.id for task in found.outcome.tasks]
            assert ours == [task["id"] for task in found.record["tasks"]], found.record["path"]


def test_the_trigger_figures_are_the_same(replays: list[Replay]) -> None:
    for found in replays:
        if found.outcome is None or found.record["load_error"]:
            continue
        figures = None if found.outcome.trigger_metrics is None else asdict(found.outcome.trigger_metrics)
        if figures is not None:
            del figures["errors"]
        assert figures == found.record["trigger_metrics"], found.record["path"]


def test_the_mock_answers_the_same(replays: list[Replay]) -> None:
    same = 0
    for found, task, trial in compared_trials(replays):
        digest = hashlib.sha1(trial.output.encode(), usedforsecurity=False).hexdigest()
        if "error" in task or task["id"] in found.lacking or task.get("context_lines_random_order"):
            continue
        assert digest == task["final_output_sha1"], task["id"]
        same += 1
    assert same > 180


def test_every_grader_scores_the_same_but_for_the_named_differences(replays: list[Replay]) -> None:
    differences: Counter[str] = Counter()
    unexplained: list[str] = []
    equal = 0
    for found, task, trial in compared_trials(replays):
        ours = trial.validations or {}
        for name, theirs in task["graders"].items():
            reason = difference(found, task, theirs, ours.get(name))
            if reason is None:
                equal += 1
            elif reason:
                differences[reason] += 1
            else:
                unexplained.append(f"{task['id']} {name}: {theirs} {ours.get(name)}")
    assert unexplained == []
    assert equal > 450
    assert set(differences) <= {NOTHING_TO_CHECK, NEGATIVE_TRIGGER, NO_JUDGE, NO_FIXTURE}


def test_what_cannot_be_compared_is_little(replays: list[Replay]) -> None:
    """A task that is given a file which the sample lacks may still come out alike."""
    tasks = [(found, task) for found, task, _ in compared_trials(replays)]
    assert len([task for found, task in tasks if task["id"] in found.lacking]) < len(tasks) / 4


def test_every_trial_has_the_same_status_but_for_the_named_differences(replays: list[Replay]) -> None:
    unexplained: list[str] = []
    for found, task, trial in compared_trials(replays):
        if trial.status != task["run_status"] and not status_reasons(found, task, trial):
            unexplained.append(f"{task['id']}: {task['run_status']} {trial.status}")
    assert unexplained == []


def compared_trials(replays: list[Replay]) -> Iterator[tuple[Replay, dict[str, Any], TrialOutcome]]:
    """Yield the recorded tasks beside our trials; a recorded error (LOST_TRIAL) has no graders."""
    for found in replays:
        if found.outcome is None or found.record["load_error"]:
            continue
        for task, ours in zip(found.record["tasks"], found.outcome.tasks, strict=True):
            assert ours.trials, ours.error
            yield found, task, ours.trials[0]


def exit_code_reasons(found: Replay, ours: int) -> set[str]:
    """Return why an exit code may differ: a trial that differs, or nothing but errors."""
    if found.record["load_error"]:
        return {OLDER_FORM if found.older_form else LOST_TRIAL} if ours or found.older_form else set()
    reasons = {
        reason
        for _, task, trial in compared_trials([found])
        if trial.status != task["run_status"]
        for reason in status_reasons(found, task, trial)
    }
    return reasons | ({ONLY_ERRORS} if (found.record["exit_code"], ours) == (1, 4) else set())


def status_reasons(found: Replay, task: dict[str, Any], trial: TrialOutcome) -> set[str]:
    """Return why the status of a trial may differ: a verdict that does, or one side that has none."""
    ours = trial.validations or {}
    reasons = {difference(found, task, theirs, ours.get(name)) for name, theirs in task["graders"].items()}
    named = {reason for reason in reasons if reason in (NOTHING_TO_CHECK, NO_JUDGE, NO_FIXTURE)}
    if "unsupported grader type" in task.get("error", "") or "must have" in task.get("error", ""):
        named.add(LOST_TRIAL)
    if task["id"] in found.lacking:
        named.add(NO_FIXTURE)
    return named


def difference(
    found: Replay, task: dict[str, Any], theirs: dict[str, Any], ours: Validation | None
) -> str | None:
    """Return None for the same score and verdict, the reason of a difference, or "" when there is none."""
    if ours is not None and abs(ours.score - theirs["score"]) < 1e-9 and ours.passed == theirs["passed"]:
        if ours.status == "graded" or theirs["type"] != "prompt":
            return None
        return NO_JUDGE
    if theirs["type"] == "prompt":
        return NO_JUDGE
    if task["id"] in found.lacking:
        return NO_FIXTURE
    if ours is None:
        return ""
    if ours.status == "error" and "nothing to check" in ours.feedback and theirs["score"] == 1:
        return NOTHING_TO_CHECK
    if theirs["type"] == "trigger" and abs(ours.score - (1 - theirs["score"])) < 1e-9:
        return NEGATIVE_TRIGGER if ours.passed == theirs["passed"] else ""
    return ""
