"""The words of all verdicts: marks, labels of tasks, prompts, metrics and runs, reasons and ages."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from itertools import chain
from typing import TYPE_CHECKING, Literal

from waza_engine.counting import counted
from waza_engine.frozen import frozen
from waza_engine.later_patterns import compiled_later
from waza_engine.markdown import code
from waza_engine.moments import SOME_TIME_AGO, is_known
from waza_engine.number_formats import format_below, format_score, format_threshold
from waza_engine.scoring.pass_estimates import pass_estimates
from waza_engine.spec.executors import asked_model
from waza_engine.vocabulary import COULD_NOT_GRADE, grader_label

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from waza_engine.results.reading.scores import PromptResult, RunOrigin, RunResult, TaskResult
    from waza_engine.results.record import MetricOutcome
    from waza_language_server.project.changed_inputs import ChangedInput
    from waza_language_server.syntax.nodes import Node


ADVISORY = "○"
"""Marks a grader that did not pass and is not required: no failure."""
SIGNS = {
    "passed": "✓",
    "failed": "✗",
    "graded": "✗",
    "advisory": ADVISORY,
    "error": "!",
    "errored": "!",
    "pending": "◷",
    "unjudged": "◷",
}
"""The mark of each verdict, and of each status of a grader that did not pass."""
LONGEST_REASON = 60
TRACEBACK = "Traceback (most recent call last):"
_PATH_FIRST = compiled_later(r"(?:/|[A-Za-z]:\\)[^\n]*?\.\w+:(?:\d+:)? (?P<reason>.+)", re.DOTALL)


def advisory_label(label: str, statuses: Iterable[str]) -> str:
    """Return a label of failure as that of a grader that need not pass, if ``statuses`` say so."""
    return f"{ADVISORY}{label[1:]} · advisory" if "advisory" in statuses else label


def sign_of(judged: Iterable[tuple[int, int]]) -> str:
    """Return ✓ when all trials passed, ✗ when a task has none that did, else ◐.

    Args:
        judged: How many trials passed, and how many there were, of each task.

    """
    shares = [(passed, trials) for passed, trials in judged if passed < trials]
    return "✓" if not shares else "✗" if any(not passed for passed, _ in shares) else "◐"


def share_label(sign: str, passed: int, total: int, noun: str = "") -> str:
    """Return how many of some passed; after ✗ how many failed: ``◐ 2/3``, ``✗ 1 of 3``."""
    of = counted(total, noun) if noun else str(total)
    return f"{sign} {total - passed} of {of}" if sign.startswith("✗") else f"{sign} {passed}/{of}"


def error_label(reason: str) -> str:
    """Return the mark of an item that could not be judged, with the reason, cut after a word."""
    return f"! {shortened(reason_line(reason) or 'error')}"


def reason_line(reason: str) -> str:
    """Return the line of a reason that says the most, without the path of a file before it; "" for none.

    That is its first one, and the last one of an exception of Python, whose beginning says where it was.
    """
    # The mark before it says that already.
    lines = [line.strip() for line in reason.removeprefix(COULD_NOT_GRADE).splitlines() if line.strip()]
    if not lines:
        return ""
    if TRACEBACK in lines[0] or (len(lines) > 1 and lines[1] == TRACEBACK):
        return lines[-1]
    return without_path(lines[0])


def without_path(reason: str) -> str:
    """Return a reason without the absolute paths of files before it."""
    while (found := _PATH_FIRST.match(reason)) is not None:
        reason = found["reason"]
    return reason


def shortened(line: str, longest: int = LONGEST_REASON) -> str:
    """Return a line with at most so many characters, cut after a word."""
    if len(line) <= longest:
        return line
    begun = line[:longest]
    words = begun.rpartition(" ")[0].rstrip(" ,;:.…")
    # A path or an address has no words to end at.
    return f"{words if len(words) > longest // 2 else begun[:-1]}…"


def executor_and_model(origin: RunOrigin | None) -> str:
    """Return the executor and the model of a run in Markdown, "" when they are not known."""
    found = (origin.executor, asked_model(origin.executor, origin.model)) if origin is not None else ()
    return " · ".join(code(word) for word in found if word)


def suite_label(suite: Path) -> str:
    """Return the name that distinguishes an eval file from others: ``deploy/eval.yaml``."""
    return f"{suite.parent.name}/{suite.name}"


def age(then: datetime, now: datetime) -> str:
    """Return how long ago something was, in words."""
    if not is_known(then):
        return SOME_TIME_AGO
    seconds = (now - then).total_seconds()
    for size, word in ((86_400, "day"), (3_600, "hour"), (60, "minute")):
        if seconds >= size:
            count = int(seconds // size)
            return f"{count} {word}{'s' if count > 1 else ''} ago"
    return "just now"


NOTHING_JUDGED = "– nothing judged"
NOT_RUN = "– not run"


def worst_first(run: RunResult) -> list[TaskResult]:
    """Return the tasks of a run, those that did not pass first."""
    return sorted(run.tasks.values(), key=lambda task: task.passed)


def task_label(task: TaskResult) -> str:
    """Return the label for the verdict of a task."""
    if task.status == "error":
        broken = (grader.feedback for grader in task.graders.values() if grader.status == "error")
        return error_label(task.error or next(broken, ""))
    if task.status == "skipped" or not task.trials:
        if waits(task):
            return "◷ pending"
        return NOTHING_JUDGED if task.trials else NOT_RUN
    differ = 0 < task.passed_trials < task.trials
    chances = f" · {pass_estimates(task.passed_trials, task.trials).label}" if differ else ""
    if task.passed:
        # One that was judged and has an error was cut off: not all of its trials ran.
        return f"✓ {format_score(task.score)}{' so far' if task.error else chances}"
    if differ:
        return f"◐ {task.passed_trials}/{task.trials} trials{chances}"
    if format_score(task.score) == format_score(1.0) and (names := _failed_names(task)):
        # The failed graders have no weight in the score, so name them instead.
        more = f" and {len(names) - 1} more" if names[1:] else ""
        return f"✗ {grader_label(names[0])}{more}"
    return f"✗ {format_score(task.score)}"


def _failed_names(task: TaskResult) -> list[str]:
    judged = chain(task.graders.values(), task.checkpoints.values())
    return [grader.name for grader in judged if grader.status == "graded" and not grader.passed]


def waits(task: TaskResult) -> bool:
    """Return whether an answer waits for a person's verdict."""
    return any(
        verdict.status == "pending" for verdict in chain(task.graders.values(), task.checkpoints.values())
    )


def task_line(task: TaskResult) -> str:
    """Return a task and its verdict, as an item of a list in Markdown."""
    if task.status == "error":
        return f"- {code(task.id)} ! {code(error_label(task.error).removeprefix('! '))}"
    return f"- {code(task.id)} {task_label(task)}"


def tasks_label(run: RunResult) -> str:
    """Return how many tasks of a run of the whole suite passed, or failed; else why the suite failed."""
    # With the first results: most suites were never run.
    from waza_engine.results.reading.suite_conclusion import conclude_recorded, fails

    found, tasks = conclude_recorded(run), run.tasks.values()
    sign = SIGNS[found.verdict]
    if sign != "✗":
        return share_label(sign, sum(task.passed for task in tasks), len(tasks), "task")
    failed = sum(map(fails, tasks))
    reason = next(iter(found.reasons), "") if not failed else ""
    return (
        f"{sign} {shortened(reason)}"
        if reason
        else share_label(sign, len(tasks) - failed, len(tasks), "task")
    )


def put_together(newest: RunResult, whole: RunResult, tasks: Mapping[str, TaskResult]) -> RunResult:
    """Return the combined result of a suite whose parts were run since its last entire run.

    It has no metrics: those are numbers of one run.
    """
    from waza_engine.results.reading.suite_conclusion import conclude_suite

    found = conclude_suite(replace(newest, tasks=tasks))
    return replace(
        whole,
        tasks=tasks,
        prompts=newest.prompts,
        metrics=(),
        verdict=found.verdict,
        reasons=found.reasons,
    )


def why_broken(run: RunResult) -> str:
    """Return in few words what broke a run: its own reason, else that of its first task or prompt."""
    own = run.reasons if run.verdict in ("limited", "broken") else ()
    errors = (task.error for task in run.tasks.values() if task.status == "error")
    untried = (prompt.error for prompt in run.prompts)
    reason = next((why for why in chain(own, errors, untried, run.reasons) if why), "")
    return error_label(reason).removeprefix("! ") if reason else ""


def prompt_line(prompt: PromptResult) -> str:
    """Return a trigger prompt and how it went, as an item of a list in Markdown."""
    label = prompt_label(prompt)
    shown = f"! {code(label.removeprefix('! '))}" if prompt.error else label
    return f"- {code(prompt.prompt)} {shown}"


def shortfall(metric: MetricOutcome) -> str:
    """Return the value of a metric below its threshold: ``0.75 < 0.80``."""
    value, _ = format_below(metric.value, metric.threshold)
    return f"{value} < {format_threshold(metric.threshold)}"


def prompt_label(result: PromptResult) -> str:
    """Return how a trigger prompt went."""
    if result.error:
        return error_label(result.error)
    if result.right:
        return "✓"
    return "✗ triggered" if result.did_trigger else "✗ not triggered"


HintKind = Literal["score", "check", "verdict", "inherited", "skill", "requirement", "history"]
"""The subject of a hint: a grader, one of its checks or an expectation, a suite or a part of it other than a
grader, the suite's graders in a task file and effective values, the suites of a skill, a requirement of a
skill, a suite or task over its runs."""


@frozen()
class Verdict:
    """A few characters for the line on which ``node`` begins; ``tooltip`` is Markdown.

    ``is_old`` of an expectation says that it may no longer hold, which its label does not.
    """

    node: Node
    label: str
    tooltip: str
    changes: tuple[ChangedInput, ...] = ()
    kind: HintKind = "verdict"
    is_old: bool = False
