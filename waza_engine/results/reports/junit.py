"""A run as JUnit XML, which CI systems show as tests: a suite for the eval, a case for every task."""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import Any, cast

from junitparser import Error, Failure, JUnitXml, Skipped, TestCase, TestSuite

from waza_engine.results.json_values import Block, block_of, moment
from waza_engine.results.reading.formats import task_result
from waza_engine.results.reading.scores import GraderResult, TaskResult
from waza_engine.results.reports.words import baseline_words, spending_words
from waza_engine.terminal import harmless_lines

_MILLISECONDS = 1000


def junit_report(document: Block) -> bytes:
    """Return the XML of a result document in today's layout.

    Times are seconds. A failure has a line for every grader that did not pass; what broke is an error.
    """
    config, summary = block_of(document, "config"), block_of(document, "summary")
    timestamp = moment(document.get("timestamp"))
    suite = TestSuite(_text(document.get("eval_name")) or "eval")
    suite.timestamp = timestamp.isoformat()
    for name, value in (
        ("skill", document.get("skill")),
        ("model", config.get("model_id")),
        ("engine", config.get("engine_type")),
        ("score", _score(summary)),
        ("spent", spending_words(document)),
        ("baseline", baseline_words(document)),
    ):
        if value:
            suite.add_property(name, _clean(str(value)))
    skill = _text(document.get("skill"))
    tasks = document.get("tasks")
    for task in cast("list[object]", tasks) if isinstance(tasks, list) else []:
        if isinstance(task, Mapping):
            block = cast("Block", task)
            suite.add_testcase(_case(block, task_result(block, timestamp), skill))
    suite.update_statistics()
    report = JUnitXml()
    report.add_testsuite(suite)
    report.update_statistics()
    written = io.BytesIO()
    # The library does not say what kind of file it writes to.
    cast("Any", report).write(written, pretty=True)
    return written.getvalue()


def _case(task: Block, found: TaskResult, skill: str) -> TestCase:
    case = TestCase(_clean(found.id or found.name), classname=_clean(skill), time=_seconds(task))
    complaints = [grader for grader in found.graders.values() if not grader.passed]
    lines = "\n".join(_line(grader) for grader in complaints if grader.status != "pending")
    match found.status:
        case "passed":
            return case
        case "skipped":
            waiting = [grader.name for grader in complaints if grader.status == "pending"]
            why = f"waits for a review: {', '.join(waiting)}" if waiting else found.error or "it did not run"
            case.result = [Skipped(_clean(why))]
        case "failed" if not found.error:
            names = ", ".join(grader.name for grader in complaints if grader.status == "graded")
            failure = Failure(_clean(f"not passed: {names or 'the task'}"), "GraderFailure")
            failure.text = _clean(lines)
            case.result = [failure]
        case _:
            broken = [grader.name for grader in complaints if grader.status == "error"]
            why = found.error or f"could not grade: {', '.join(broken) or 'the task'}"
            error = Error(_clean(why), "ExecutionError")
            error.text = _clean(lines)
            case.result = [error]
    return case


def _line(grader: GraderResult) -> str:
    return f"{grader.name}: {grader.score:.2f} {' '.join(grader.feedback.split())}".rstrip()


def _seconds(task: Block) -> float:
    runs = task.get("runs")
    durations = [
        cast("Block", run).get("duration_ms")
        for run in (cast("list[object]", runs) if isinstance(runs, list) else [])
        if isinstance(run, Mapping)
    ]
    return sum(value for value in durations if isinstance(value, int | float)) / _MILLISECONDS


def _score(summary: Block) -> str:
    score = summary.get("aggregate_score")
    return f"{score:.4f}" if isinstance(score, int | float) else ""


def _clean(text: str) -> str:
    # XML 1.0 has no way to write control characters, and a CI system prints the text.
    return harmless_lines(text)


def _text(value: object) -> str:
    return _clean(value) if isinstance(value, str) else ""
