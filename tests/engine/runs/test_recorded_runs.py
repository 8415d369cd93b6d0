"""Public suites give upstream's scores and verdicts under the mock executor, with named exceptions."""

from __future__ import annotations

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
from waza_engine.results.record import TrialOutcome, Validation

pytestmark = needs_corpus

# Where this engine deliberately answers otherwise. Each reason is explained in docs/compatibility.md.
UNKNOWN_TYPES = "a grader of an unknown or older type does not cost the others their results"
NOTHING_TO_CHECK = "a text grader whose keys are all misspelt checks nothing: an error, not a pass"
NEGATIVE_TRIGGER = "a negative trigger grader scores 1 - relevance; its verdict is the same"
BROKEN_LOADS = "what upstream refuses as a whole is an error of that task or grader alone"
NO_JUDGE = "without a judge a prompt grader is an error, not a score of zero"
# What cannot be compared: the public sample has no program files, so fixtures and snapshots may be missing.
NO_FIXTURE = "not comparable: a fixture is not in the sample"


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


def test_what_upstream_refuses_does_not_pass_here(replays: list[Replay]) -> None:
    """BROKEN_LOADS: the guilty task is in error or failed, or the whole suite is refused."""
    passed = [
        r.record["path"]
        for r in replays
        if r.record["load_error"] and r.outcome is not None and r.outcome.status == "completed"
    ]
    assert all("azure-" in path or "cli-session" in path for path in passed), passed


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
    for task, trial in compared_trials(replays):
        digest = hashlib.sha1(trial.output.encode(), usedforsecurity=False).hexdigest()
        if lacks_fixture(task, trial) or task.get("context_lines_random_order"):
            continue
        assert digest == task["final_output_sha1"], task["id"]
        same += 1
    assert same > 180


def test_every_grader_scores_the_same_but_for_the_named_differences(replays: list[Replay]) -> None:
    differences: Counter[str] = Counter()
    unexplained: list[str] = []
    equal = 0
    for task, trial in compared_trials(replays):
        ours = trial.validations or {}
        for name, theirs in task["graders"].items():
            reason = difference(task, trial, theirs, ours.get(name))
            if reason is None:
                equal += 1
            elif reason:
                differences[reason] += 1
            else:
                unexplained.append(f"{task['id']} {name}: {theirs} {ours.get(name)}")
    assert unexplained == []
    assert equal > 450
    assert set(differences) <= {NOTHING_TO_CHECK, NEGATIVE_TRIGGER, NO_JUDGE, NO_FIXTURE}


def test_every_trial_has_the_same_status_but_for_the_named_differences(replays: list[Replay]) -> None:
    unexplained: list[str] = []
    for task, trial in compared_trials(replays):
        if trial.status == task["run_status"]:
            continue
        ours = trial.validations or {}
        reasons = {
            difference(task, trial, theirs, ours.get(name)) for name, theirs in task["graders"].items()
        }
        named = reasons & {NOTHING_TO_CHECK, NO_JUDGE, NO_FIXTURE}
        if not named and "error" not in task and not lacks_fixture(task, trial):
            unexplained.append(f"{task['id']}: {task['run_status']} {trial.status}")
    assert unexplained == []


def compared_trials(replays: list[Replay]) -> Iterator[tuple[dict[str, Any], TrialOutcome]]:
    """Yield the recorded tasks beside our trials; a recorded run error (UNKNOWN_TYPES) has no graders."""
    for found in replays:
        if found.outcome is None or found.record["load_error"]:
            continue
        for task, ours in zip(found.record["tasks"], found.outcome.tasks, strict=True):
            assert ours.trials, ours.error
            yield task, ours.trials[0]


def difference(
    task: dict[str, Any], trial: TrialOutcome, theirs: dict[str, Any], ours: Validation | None
) -> str | None:
    """Return None for the same score and verdict, the reason of a difference, or "" when there is none."""
    if ours is not None and abs(ours.score - theirs["score"]) < 1e-9 and ours.passed == theirs["passed"]:
        if ours.status == "graded" or theirs["type"] != "prompt":
            return None
        return NO_JUDGE
    if theirs["type"] == "prompt":
        return NO_JUDGE
    if lacks_fixture(task, trial):
        return NO_FIXTURE
    if ours is None:
        return ""
    if ours.status == "error" and "nothing to check" in ours.feedback and theirs["score"] == 1:
        return NOTHING_TO_CHECK
    if theirs["type"] == "trigger" and abs(ours.score - (1 - theirs["score"])) < 1e-9:
        return NEGATIVE_TRIGGER if ours.passed == theirs["passed"] else ""
    return ""


def lacks_fixture(task: dict[str, Any], trial: TrialOutcome) -> bool:
    """Tell whether a file for the agent is not in the sample: the answer is shorter then."""
    return "error" in task or len(trial.output) < task["final_output_length"]
