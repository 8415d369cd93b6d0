"""A run as JUnit XML, which CI systems show as tests: a suite for the eval, a case for every task."""

from __future__ import annotations

import io
from typing import Any, cast

from junitparser import Error, Failure, JUnitXml, Skipped, TestCase, TestSuite

from waza_engine.results.codec.header import header_of
from waza_engine.results.json_values import Block, block_of, blocks_of, number
from waza_engine.results.reading.scores import GraderResult, TaskResult
from waza_engine.results.reading.task_scores import task_result
from waza_engine.results.reports.words import baseline_words, ending_words, missed_metrics, spending_words
from waza_engine.terminal import harmless_lines

_MILLISECONDS = 1000


def junit_report(document: Block) -> bytes:
    """Return the XML of a result document in today's layout.

    Times are seconds. A failure has a line for every grader that did not pass; what broke is an error.
    """
    header = header_of(document)
    suite = TestSuite(_clean(header.eval_name) or "eval")
    suite.timestamp = header.started.isoformat()
    for name, value in (
        ("skill", header.skill),
        ("model", header.model),
        ("engine", header.executor),
        ("score", _score(block_of(document, "summary"))),
        ("spent", spending_words(document)),
        ("baseline", baseline_words(document)),
    ):
        if value:
            suite.add_property(name, _clean(value))
    cases = [
        _case(task, task_result(task, header.started), header.skill)
        for task in blocks_of(document.get("tasks"))
    ]
    for name, missed in missed_metrics(document).items():
        case = TestCase(_clean(name), classname=_clean(header.skill))
        case.result = [Failure(_clean(missed), "MetricFailure")]
        cases.append(case)
    if ending := ending_words(document):
        case = TestCase("the whole run", classname=_clean(header.skill))
        case.result = [Error(_clean(ending), "RunNotEnded")]
        cases.append(case)
    # All at once: the library counts the whole suite whenever a case is added to it.
    suite.add_testcases(cases)
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
    return sum(number(run.get("duration_ms")) for run in blocks_of(task.get("runs"))) / _MILLISECONDS


def _score(summary: Block) -> str:
    score = summary.get("aggregate_score")
    return f"{score:.4f}" if isinstance(score, int | float) else ""


def _clean(text: str) -> str:
    # XML 1.0 has no way to write control characters, and a CI system prints the text.
    return harmless_lines(text)
