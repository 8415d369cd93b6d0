"""Short labels for the verdicts of a task, a trigger prompt, a metric and an entire run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Literal

from waza_engine.figures import shown_below, shown_score, shown_threshold
from waza_engine.frozen import frozen
from waza_engine.markdown import code
from waza_engine.vocabulary import shown_grader
from waza_language_server.features.scores.words import SIGNS, error_label, share_label, shortened

if TYPE_CHECKING:
    from waza_engine.results.reading.scores import PromptResult, RunResult, TaskResult
    from waza_engine.results.record import MetricOutcome
    from waza_language_server.project.changed_inputs import ChangedInput
    from waza_language_server.syntax.nodes import Node

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
    if task.passed:
        # One that was judged and has an error was cut off: not all of its trials ran.
        return f"✓ {shown_score(task.score)}{' so far' if task.error else ''}"
    if task.passed_trials and task.trials > 1:
        return f"◐ {task.passed_trials}/{task.trials} trials"
    if shown_score(task.score) == shown_score(1.0) and (names := _failed_names(task)):
        # The failed graders have no weight in the score, so name them instead.
        more = f" and {len(names) - 1} more" if names[1:] else ""
        return f"✗ {shown_grader(names[0])}{more}"
    return f"✗ {shown_score(task.score)}"


def _failed_names(task: TaskResult) -> list[str]:
    judged = chain(task.graders.values(), task.checkpoints.values())
    return [grader.name for grader in judged if grader.status == "graded" and not grader.passed]


def waits(task: TaskResult) -> bool:
    """Return whether an answer waits for a person's verdict."""
    return any(said.status == "pending" for said in chain(task.graders.values(), task.checkpoints.values()))


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
    said = f"! {code(label.removeprefix('! '))}" if prompt.error else label
    return f"- {code(prompt.prompt)} {said}"


def shortfall(metric: MetricOutcome) -> str:
    """Return the value of a metric below its threshold: ``0.75 < 0.80``."""
    value, _ = shown_below(metric.value, metric.threshold)
    return f"{value} < {shown_threshold(metric.threshold)}"


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
