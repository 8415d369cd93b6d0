"""A run as JUnit XML, which CI systems show as tests: a suite for the eval, a case for every task."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Any, cast

from junitparser import Error, Failure, JUnitXml, Properties, Property, Skipped, TestCase, TestSuite

from waza_engine.moments import is_known
from waza_engine.number_formats import format_score, format_scores
from waza_engine.results.codec.run_documents import run_of
from waza_engine.results.conclusion import (
    BASELINE,
    DECIDING,
    PROMPTS,
    SCORE,
    SKILLS,
    TASKS,
    WHOLE_RUN,
    WHOLE_SUITE,
    Conclusion,
    TriggerConclusion,
    conclude,
    trigger_verdict,
)
from waza_engine.results.json_values import Block
from waza_engine.results.record import RunOutcome
from waza_engine.results.reports.descriptions import (
    describe_misclassification,
    describe_repeated_trials,
    describe_spending,
    describe_triggers,
    recorded_verdict_label,
)
from waza_engine.results.reports.github import SourceLocation, SourceLocations
from waza_engine.results.task_conclusion import GraderConclusion, TaskConclusion
from waza_engine.scoring.pass_estimates import PassEstimates
from waza_engine.terminal import harmless_lines
from waza_engine.vocabulary import grader_label, unique_names

_MILLISECONDS = 1000
_LONGEST_NAME = 120
_LONGEST_ANSWER = 4_000
_TYPES = {
    WHOLE_RUN: "RunNotEnded",
    WHOLE_SUITE: "SuiteFailure",
    SKILLS: "BaselineFailure",
    BASELINE: "BaselineError",
    SCORE: "ScoreFailure",
    PROMPTS: "TriggerError",
}


def junit_report(
    *documents: Block,
    fail_under: float | None = None,
    refused: Mapping[str, str] | None = None,
    places: Sequence[SourceLocations] = (),
) -> bytes:
    """Return the XML of result documents in the current layout, with a test suite for each.

    ``places``, one for each document, find the file and line of a case. ``refused`` are suites that could
    not run, by name, with the reason; each has a case with an error.

    Times are seconds. A failure has a line for every grader that did not pass; a broken grader or trial is an
    error. Each other reason against the run is a case of its own: a run that did not pass is never green.
    """
    report = JUnitXml()
    for document, known in zip_longest(documents, places):
        report.add_testsuite(_suite(document, fail_under, known))
    for name, reason in (refused or {}).items():
        suite, case = TestSuite(_clean(name)), TestCase("load", classname=_clean(name))
        case.result = [Error(_clean(reason), "SuiteError")]
        suite.add_testcase(case)
        report.add_testsuite(suite)
    report.update_statistics()
    # Jenkins rejects a file whose root has those counts; each suite has them.
    cast("Any", report)._elem.attrib.pop("skipped", None)
    written = io.BytesIO()
    # The library does not declare the type of file that it writes to.
    cast("Any", report).write(written, pretty=True)
    return written.getvalue()


def _suite(document: Block, fail_under: float | None, places: SourceLocations | None) -> TestSuite:
    run = run_of(document)
    found, header = conclude(run, fail_under=fail_under), run.header
    suite = TestSuite(_clean(header.eval_name) or "eval")
    if is_known(header.started):
        suite.timestamp = header.started.isoformat()
    for name, value in (
        ("skill", header.skill),
        ("model", header.asked_model),
        ("engine", header.executor),
        ("score", format_scores(found.score, found.plain_score, 4) if found.scored else ""),
        ("verdict", recorded_verdict_label(found.verdict, found.part)),
        ("spent", describe_spending(document)),
        ("baseline", found.baseline.words if found.baseline else ""),
        ("triggers", describe_triggers(found.triggers) if found.triggers else ""),
        ("repeated", describe_repeated_trials(found)),
        *(("reason", reason.words) for reason in found.reasons),
        *(("note", note) for note in found.notes),
    ):
        if value:
            suite.add_property(name, _clean(value))
    # Readers take two cases of one name for one.
    names = unique_names(task.id or task.name for task in found.tasks)
    cases = [
        _case(task, name, header.skill, decides=found.exit_code != 0)
        for name, task in zip(names, found.tasks, strict=True)
    ]
    prompts = list(_cases_of_prompts(run, found, header.skill))
    if places is not None:
        for case, task in zip(cases, found.tasks, strict=True):
            _set_place(case, places.of(task.id, ""))
        for case, trigger in zip(prompts, run.triggers, strict=True):
            _set_place(case, places.of_prompt(trigger.prompt, should_trigger=trigger.should_trigger))
    # Add them together: the library recounts the whole suite on each call.
    suite.add_testcases([*cases, *prompts, *_cases_of_the_run(found, header.skill)])
    return suite


def _set_place(case: TestCase, place: SourceLocation) -> None:
    """Write the attributes with which GitLab, pytest and others link a case to its source."""
    element = cast("Any", case)._elem
    element.set("file", _clean(place.file))
    if place.line:
        element.set("line", str(place.line))


def _cases_of_the_run(found: Conclusion, skill: str) -> Iterator[TestCase]:
    """Yield a case for each reason that no case of a task shows."""
    for reason in found.reasons:
        if reason.about != TASKS:
            case = TestCase(_clean(reason.about), classname=_clean(skill))
            kind = Failure if reason.kind == "failed" else Error
            result = kind(_clean(reason.words), _TYPES.get(reason.about, "MetricFailure"))
            if found.triggers is not None and reason.about in (PROMPTS, DECIDING):
                result.text = _clean("\n".join(_prompts(found.triggers)))
            case.result = [result]
            yield case


def _cases_of_prompts(run: RunOutcome, found: Conclusion, skill: str) -> Iterator[TestCase]:
    """Yield a case for each trigger prompt; a misclassified one is red only where it fails the run."""
    decides = any(reason.about in (PROMPTS, DECIDING) for reason in found.reasons)
    names = unique_names(" ".join(trigger.prompt.split())[:_LONGEST_NAME] for trigger in run.triggers)
    for name, trigger in zip(names, run.triggers, strict=True):
        case = TestCase(_clean(name), classname=_clean(f"{skill}.triggers"))
        verdict, words = trigger_verdict(trigger), _clean(describe_misclassification(trigger))
        if verdict != "passed" and not decides:
            case.result = [Skipped(f"misclassified: {words}")]
        elif verdict != "passed":
            case.result = [
                Failure(words, "TriggerFailure") if verdict == "failed" else Error(words, "TriggerError")
            ]
        if trigger.output:
            case.system_out = _cut(trigger.output)
        yield case


def _prompts(found: TriggerConclusion) -> Iterator[str]:
    for prompt in (*found.mistakes, *found.broken):
        yield f"{' '.join(prompt.prompt.split())}: {describe_misclassification(prompt)}"


def _case(task: TaskConclusion, name: str, skill: str, *, decides: bool) -> TestCase:
    """Return the case of a task; a failed one is red only where it fails the run."""
    case = TestCase(_clean(name), classname=_clean(skill), time=task.duration_ms / _MILLISECONDS)
    if task.estimates is not None:
        cast("Any", case).append(_properties(task.estimates))
    if task.task.trials and (answers := _answers(task)):
        case.system_out = answers
    if task.verdict == "passed":
        return case
    if task.verdict in ("skipped", "lost", "not run"):
        case.result = [Skipped(_clean(task.reason))]
        return case
    if not decides:
        case.result = [Skipped(_clean(f"failed, and the score of the run is high enough: {task.reason}"))]
        return case
    kind, label = (Failure, "GraderFailure") if task.verdict == "failed" else (Error, "ExecutionError")
    found = kind(_clean(task.reason), label)
    broken = [task.error] if task.error and task.error != task.reason else []
    lines = [_line(grader) for grader in task.graders if grader.verdict in ("failed", "errored")]
    cause = [] if task.cause is None else [f"{task.cause.kind}: {task.cause.evidence}"]
    found.text = _clean("\n".join([*cause, *lines, *broken]))
    case.result = [found]
    return case


def _properties(estimates: PassEstimates) -> Properties:
    """Return the estimates of a task, each with its interval, as the properties of its case."""
    found = Properties()
    for name, each in (
        ("pass_rate", estimates.rate),
        ("pass_at_k", estimates.pass_at_k),
        ("pass_exp_k", estimates.pass_exp_k),
    ):
        found.add_property(Property(name, f"{each.rate:.4f}"))
        found.add_property(Property(f"{name}_ci95", f"{each.lower:.4f} to {each.upper:.4f}"))
    return found


def _answers(task: TaskConclusion) -> str:
    """Return the answer of the trial that decides: the first that did not pass, else the first."""
    trials = task.task.trials
    shown = next((trial for trial in trials if trial.status != "passed"), trials[0])
    title = f"trial {shown.number} of {len(trials)}, {shown.status}:\n" if len(trials) > 1 else ""
    return f"{title}{_cut(shown.output)}" if shown.output else ""


def _cut(answer: str) -> str:
    """Return the beginning and the end of an answer, which are what a person looks for."""
    text = _clean(answer)
    if len(text) <= _LONGEST_ANSWER:
        return text
    half = _LONGEST_ANSWER // 2
    return f"{text[:half]}\n… ({len(text) - 2 * half:,} more characters)\n{text[-half:]}"


def _line(grader: GraderConclusion) -> str:
    feedback = " ".join(grader.feedback.split())
    return f"{grader_label(grader.name)}: {format_score(grader.score)} {feedback}".rstrip()


def _clean(text: str) -> str:
    # XML 1.0 cannot represent control characters, and a CI system prints the text.
    return harmless_lines(text)
