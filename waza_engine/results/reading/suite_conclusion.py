"""The conclusion of a suite from its newest results, of one run or of parts that ran separately. Light.

A run is concluded when it ends (``conclusion.py``), and its record has the conclusion. This module concludes
suites without such a record: a part was run again since, or the file is another tool's.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from waza_engine.counting import counted
from waza_engine.results.conclusion import DECIDING, decides, describe_missed_metric
from waza_engine.results.reading.scores import PromptResult, RunResult, TaskResult

SuiteVerdict = Literal["passed", "failed", "errored", "unjudged"]
"""As of a run; ``errored`` includes runs that broke, were cut short or stopped."""
_CUT_SHORT = ("limited", "interrupted", "broken")
_VERDICTS: dict[str, SuiteVerdict] = {"passed": "passed", "failed": "failed", "unjudged": "unjudged"}


@dataclass(frozen=True, slots=True)
class SuiteConclusion:
    """The conclusion of a suite; ``reasons`` say why it did not pass."""

    verdict: SuiteVerdict
    reasons: tuple[str, ...]


def conclude_suite(newest: RunResult) -> SuiteConclusion:
    """Return the conclusion of a suite: that of its last run, unless a part was run again since."""
    whole = newest.whole
    if whole is None or any(map(whole.is_older_than, (*newest.tasks.values(), *newest.prompts))):
        return _of_parts(newest)
    if whole.verdict:
        return conclude_recorded(whole)
    parts = _of_parts(newest)
    is_against_it = parts.verdict == "passed" and whole.status not in ("", "completed")
    return conclude_recorded(whole) if is_against_it else parts


def conclude_recorded(run: RunResult) -> SuiteConclusion:
    """Return the conclusion of one run from its record; failed tasks take precedence over errors."""
    reasons = run.reasons or _of_parts(run).reasons
    statuses = {task.status for task in run.tasks.values()}
    if "failed" in statuses and not run.score_decides:
        return SuiteConclusion("failed", reasons)
    if run.verdict:
        return SuiteConclusion(_VERDICTS.get(run.verdict, "errored"), reasons)
    if run.status == "completed":
        return SuiteConclusion("passed" if _is_judged(run) else "unjudged", ())
    # A record of another tool that is not `completed` is no pass.
    return SuiteConclusion("errored" if "error" in statuses else "failed", reasons)


def lasting_reasons(run: RunResult) -> list[str]:
    """Return why a run failed that no part refutes: the total score was too low, the skills added nothing."""
    return [reason for reason in run.lasting if not reason.startswith(DECIDING) and "prompt" not in reason]


def prompt_reasons(prompts: Sequence[PromptResult]) -> Iterator[str]:
    """Yield how many of some trigger prompts were answered wrongly, and how many could not be tried."""
    total = counted(len(prompts), "trigger prompt")
    if wrong := sum(map(is_wrong, prompts)):
        yield f"{wrong} of {total} answered wrongly"
    if untried := sum(bool(prompt.error) for prompt in prompts):
        yield f"{untried} of {total} could not be tried"


def is_wrong(prompt: PromptResult) -> bool:
    """Return whether a trigger prompt was tried and misclassified."""
    return not prompt.right and not prompt.error


def _of_parts(newest: RunResult) -> SuiteConclusion:
    tasks, prompts, whole = newest.tasks.values(), newest.prompts, newest.whole or newest
    total = f"of {counted(len(tasks), 'task')}"
    failed, broken = (sum(map(fails, tasks)), sum(task.status == "error" for task in tasks))
    unjudged = [task for task in tasks if not task.status or task.is_cut_short]
    if not whole.complete or whole.verdict in _CUT_SHORT:
        unjudged += [task for task in tasks if task.is_unrun]
    # The metrics of the whole run are valid as long as its prompts are; newer prompts count on their own.
    since = any(map(whole.is_older_than, prompts))
    missed = [
        describe_missed_metric(metric)
        for metric in whole.metrics
        if not metric.passed and decides(metric.name)
    ]
    untried = any(prompt.error for prompt in prompts)
    wrong = any(map(is_wrong, prompts)) if since else bool(missed) and not untried
    reasons = (
        f"{failed} {total} failed" if failed else "",
        f"{broken} {total} in error" if broken else "",
        *([] if since else missed),
        *(prompt_reasons(prompts) if wrong or untried else ()),
    )
    lasting = lasting_reasons(whole)
    against = (*(reason for reason in reasons if reason), *lasting)
    if (failed and not whole.score_decides) or wrong or lasting:
        return SuiteConclusion("failed", against)
    if broken or untried:
        return SuiteConclusion("errored", against)
    if unjudged and _is_judged(newest):
        return SuiteConclusion("unjudged", (f"{len(unjudged)} {total} not judged by all graders and trials",))
    if newest.whole is None and newest.eval_file:
        # Other tools do not record what they left out.
        return SuiteConclusion("unjudged", ("the suite was never run as a whole",))
    return SuiteConclusion("passed" if _is_judged(newest) else "unjudged", ())


def fails(task: TaskResult) -> bool:
    """Return whether a task failed, or a grader of a task that was never judged by all of them."""
    verdicts = (*task.graders.values(), *task.checkpoints.values())
    against = any(one.status == "graded" and not one.passed for one in verdicts)
    return task.status == "failed" or (not task.status and against)


def _is_judged(run: RunResult) -> bool:
    """Return whether anything passed in a run without failures."""
    return any(task.passed for task in run.tasks.values()) or any(prompt.right for prompt in run.prompts)
