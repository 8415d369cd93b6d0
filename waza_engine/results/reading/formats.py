"""The forms of result files: this engine's and upstream's documents, journals, and files of the Python era.

Everything may be missing or null; a file that is no result is None, never an error.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, cast

from waza_engine.files import read_bytes
from waza_engine.results.codec.header import engine_block, header_of
from waza_engine.results.codec.verdicts import verdicts_of
from waza_engine.results.json_values import Block, block_of, blocks_of, number, object_in, text_of
from waza_engine.results.places import JOURNAL_SUFFIX, LONGEST_BYTES
from waza_engine.results.reading.score_fields import score_fields
from waza_engine.results.reading.scores import CheckResult, GraderResult, RunResult, TaskResult
from waza_engine.results.record import Validation
from waza_engine.results.reviews.reviewed import is_reviewed, with_reviews
from waza_engine.vocabulary import Check

# The Python era's names and words, and today's.
_CONFIG_NAMES = {
    "trials_per_task": "runs_per_test",
    "model": "model_id",
    "executor": "engine_type",
    "timeout_seconds": "timeout_sec",
}
_SUMMARY_NAMES = {
    "total_tasks": "total_tests",
    "passed": "succeeded",
    "pass_rate": "success_rate",
    "composite_score": "aggregate_score",
}
_STATS_NAMES = {
    "pass_rate": "pass_rate",
    "mean_score": "avg_score",
    "min_score": "min_score",
    "max_score": "max_score",
    "mean_duration_ms": "avg_duration_ms",
}
_USAGE_NAMES = {"total_turns": "turns", "tokens_input": "input_tokens", "tokens_output": "output_tokens"}
_STATUSES = {"partial": "failed", "timeout": "error"}


def read_result(path: Path) -> RunResult | None:
    """Return what a result file or journal says, None when it is none or cannot be read."""
    document = _read(path, score_fields)
    if document is not None and is_reviewed(document, path):
        # Reviews change figures that are counted from more than is shown here.
        document = read_document(path)
    if document is None:
        return None
    document = with_reviews(todays_layout(document), path)
    if not document.get("eval_name") and not block_of(document, "summary").get("total_tests"):
        return None
    header, engine = header_of(document), engine_block(document)
    tasks = [task_result(task, header.started) for task in blocks_of(document.get("tasks"))]
    return RunResult(
        path=path,
        timestamp=header.started,
        eval_name=header.eval_name,
        skill=header.skill,
        eval_file=header.eval_file,
        executor=header.executor,
        model=header.model,
        status=text_of(engine.get("status")),
        complete=not path.name.endswith(JOURNAL_SUFFIX) and engine.get("status") != "canceled",
        tasks={task.id: task for task in tasks},
        tools=tuple(_tools_of(blocks_of(document.get("tasks")))),
    )


def read_document(path: Path) -> Block | None:
    """Return the document of a result file; that of a journal is put together from its lines."""
    return _read(path, object_in)


def todays_layout(document: Block) -> Block:
    """Return a document of the Python era in today's layout, any other as it is."""
    return _modern(document) if "total_tasks" in block_of(document, "summary") else document


def task_result(task: Block, timestamp: datetime) -> TaskResult:
    """Return an element of ``tasks`` over all its trials."""
    runs = blocks_of(task.get("runs"))
    by_grader: dict[str, list[Validation]] = {}
    for run in runs:
        for name, verdict in verdicts_of(run).items():
            by_grader.setdefault(name, []).append(verdict)
    statistics = block_of(task, "stats")
    errors = [text_of(run.get("error_msg")) for run in runs]
    return TaskResult(
        id=text_of(task.get("test_id")),
        name=text_of(task.get("display_name")),
        status=text_of(task.get("status")),
        score=number(statistics.get("avg_score")),
        trials=len(runs),
        passed_trials=sum(run.get("status") == "passed" for run in runs),
        graders={name: _grader(name, verdicts, timestamp) for name, verdicts in by_grader.items()},
        timestamp=timestamp,
        error=text_of(task.get("error_msg")) or next((error for error in errors if error), ""),
    )


def _read(path: Path, decode: Callable[[bytes], Block | None]) -> Block | None:
    try:
        content = read_bytes(path, LONGEST_BYTES)
    except OSError:
        return None
    return _from_journal(content, decode) if path.name.endswith(JOURNAL_SUFFIX) else decode(content)


def _from_journal(content: bytes, decode: Callable[[bytes], Block | None]) -> Block | None:
    """Return the document so far. The last line may be torn: the process was killed while it wrote."""
    entries = [entry for line in content.split(b"\n") if line and (entry := decode(line)) is not None]
    if not entries or "eval_id" not in entries[0]:
        return None
    tasks = [entry["task"] for entry in entries[1:] if "task" in entry]
    baseline = [entry["baseline_task"] for entry in entries[1:] if "baseline_task" in entry]
    without = {"is_baseline": True, "baseline_outcome": {"tasks": baseline}} if baseline else {}
    return {**entries[0], "tasks": tasks, **without}


def _grader(name: str, verdicts: Sequence[Validation], timestamp: datetime) -> GraderResult:
    statuses = [verdict.status for verdict in verdicts]
    scores = [verdict.score for verdict in verdicts]
    passes = [verdict.passed for verdict in verdicts]
    passed = all(passes)
    return GraderResult(
        name=name,
        type=verdicts[0].type,
        status="error" if "error" in statuses else "pending" if "pending" in statuses else "graded",
        score=sum(scores) / len(scores),
        passed=passed,
        scores=tuple(scores),
        passes=tuple(passes),
        feedback=verdicts[-1 if passed else passes.index(False)].feedback,
        checks=tuple(_checks(verdicts)),
        timestamp=timestamp,
    )


def _checks(verdicts: Sequence[Validation]) -> Iterator[CheckResult]:
    """Yield each check once, in its first order, with the message of the first trial in which it failed."""
    outcomes: dict[tuple[str | int, ...], list[Check]] = {}
    for verdict in verdicts:
        for check in verdict.checks:
            outcomes.setdefault(check.path, []).append(check)
    for path, found in outcomes.items():
        passes = [check.passed for check in found]
        passed = all(passes)
        message = "" if passed else found[passes.index(False)].message
        yield CheckResult(path, passed, sum(passes), len(found), message)


def _tools_of(tasks: Iterable[Block]) -> dict[str, None]:
    """Return the tools that were called, each once, in the order of their first call."""
    trials = (trial for task in tasks for trial in blocks_of(task.get("runs")))
    used = (
        _items(block_of(trial, "session_digest").get("tools_used") or trial.get("tools_used"))
        for trial in trials
    )
    return dict.fromkeys(name for names in used for name in names if isinstance(name, str))


def _modern(document: Block) -> Block:
    """Return a document of the Python era in today's layout."""
    config, summary = block_of(document, "config"), block_of(document, "summary")
    return {
        **document,
        "config": {
            **config,
            **_renamed(config, _CONFIG_NAMES),
        },
        "summary": {**summary, **_renamed(summary, _SUMMARY_NAMES)},
        "metrics": {
            name: {**cast("Block", metric), "identifier": name, "value": cast("Block", metric).get("score")}
            for name, metric in block_of(document, "metrics").items()
            if isinstance(metric, Mapping)
        },
        "tasks": [_modern_task(task) for task in blocks_of(document.get("tasks"))],
    }


def _modern_task(task: Block) -> Block:
    aggregate = block_of(task, "aggregate")
    return {
        "test_id": task.get("id"),
        "display_name": task.get("name"),
        "status": _STATUSES.get(text_of(task.get("status")), task.get("status")),
        "stats": {**_renamed(aggregate, _STATS_NAMES), "flaky": task.get("status") == "partial"},
        "runs": [_modern_trial(trial) for trial in blocks_of(task.get("trials"))],
    }


def _modern_trial(trial: Block) -> Block:
    summary = block_of(trial, "transcript_summary")
    usage = _renamed(summary, _USAGE_NAMES)
    return {
        "run_number": trial.get("trial_id"),
        "status": _STATUSES.get(text_of(trial.get("status")), trial.get("status")),
        "duration_ms": trial.get("duration_ms"),
        "validations": {
            name: {
                **cast("Block", result),
                "identifier": name,
                "feedback": cast("Block", result).get("message"),
            }
            for name, result in block_of(trial, "grader_results").items()
            if isinstance(result, Mapping)
        },
        "transcript": trial.get("transcript"),
        "final_output": trial.get("output"),
        "error_msg": trial.get("error"),
        "tools_used": summary.get("tools_used"),
        **({"usage": usage} if any(usage.values()) else {}),
    }


def _renamed(block: Block, names: Mapping[str, str]) -> dict[str, Any]:
    """Return the values that are there under their names of today."""
    return {name: block[old] for old, name in names.items() if old in block}


def _items(value: object) -> Sequence[Any]:
    return cast("Sequence[Any]", value) if isinstance(value, list) else ()
