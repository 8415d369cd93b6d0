"""The conclusion of a suite from all of its records, if the newest one is of a part of it."""

from __future__ import annotations

from pathlib import Path

from waza_engine.results.json_values import Json
from waza_engine.results.reading.newest_scores import latest_results
from waza_engine.results.reading.scores import RunOrigin, TaskResult
from waza_engine.results.reading.suite_conclusion import conclude_suite

_EVAL_SUFFIXES = (".yaml", ".yml")
_WORDS = {"errored": "in error", "unjudged": "not judged"}


def standing_of(suite: Path) -> Json | None:
    """Return the verdict of a suite and of its tasks when parts of it were run since its last whole run.

    None for a result file, a suite whose newest run is of all of it, and one that was never run as a whole.
    """
    is_file = suite.suffix in _EVAL_SUFFIXES
    if not is_file and not suite.is_dir():
        return None
    directory, eval_file = (suite.parent, suite.name) if is_file else (suite, None)
    newest = latest_results(directory, eval_file=eval_file)
    if newest is None or newest.whole is None or newest.whole.timestamp >= newest.timestamp:
        return None
    found = conclude_suite(newest)
    return {
        "verdict": found.verdict,
        "reasons": list(found.reasons),
        "whole_run": newest.whole.path.name,
        "tasks": {task.id: _task(task) for task in newest.tasks.values()},
    }


def standing_words(standing: Json) -> str:
    """Return the verdict of a suite in one line: ``the suite failed: 1 of 2 tasks failed``."""
    verdict = str(standing["verdict"])
    reasons = "; ".join(standing["reasons"])
    came_to = f"is {_WORDS[verdict]}" if verdict in _WORDS else verdict
    told = f"the suite {came_to}{f': {reasons}' if reasons else ''}"
    return f"{told} (its last whole run and the parts run since)"


def _task(task: TaskResult) -> Json:
    """Return a verdict and those of its graders, each with the record of the run that gave it."""
    verdicts = {**task.graders, **task.checkpoints}
    return {
        "status": task.status,
        "run": _record(task.origin),
        "graders": {
            name: {"status": one.status, "passed": one.passed, "run": _record(one.origin)}
            for name, one in verdicts.items()
        },
    }


def _record(origin: RunOrigin | None) -> str:
    return "" if origin is None else origin.results.name
