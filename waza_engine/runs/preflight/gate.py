"""What of the findings ends a run before it begins, and what is said once."""

from __future__ import annotations

from collections.abc import Sequence

from waza_engine.executors.base import Executor, ExecutorError, Reaching, blindness_to_skills
from waza_engine.runs.loading.suite import Suite, SuiteError
from waza_engine.runs.preflight.finding import Finding
from waza_engine.runs.preflight.inspection import inspected, unseen_skills
from waza_engine.runs.trials.selection import SelectedTask

_SHOWN = 5
# Without an answer there is nothing to grade; these tell themselves, each at its task.
_OF_ONE_TASK = ("task.configuration", "grader.configuration")


def pass_preflight(
    suite: Suite,
    tasks: Sequence[SelectedTask],
    agent: Executor,
    judges: Executor,
    *,
    kept: bool,
    triggers: bool = False,
) -> list[str]:
    """Return the warnings of a run that may begin.

    A run that costs nothing is not ended: what is wrong with a task stands at the task then. ``kept`` says
    that the results are written to another place, too, ``triggers`` that trigger prompts are tried. Raises
    ``SuiteError`` for what would be paid in vain.
    """
    found = inspected(suite, tasks, judge="" if judges.has_model else judges.name, loads_skills=agent.costs)
    found += unseen_skills(suite, tasks, blindness_to_skills(agent), triggers=triggers)
    costs = agent.costs or judges.costs
    stopping = [finding for finding in found if costs and _stops(finding, kept=kept)]
    if stopping:
        raise SuiteError(*_in_words(stopping))
    return [f"{finding.message}; {finding.remediation}" for finding in found if finding.told]


def check_reachable(suite: Suite, *executors: Executor) -> None:
    """Raise ``SuiteError`` when nobody answers where the answers come from, or the key is refused."""
    for executor in executors:
        if isinstance(executor, Reaching):
            try:
                executor.reach()
            except ExecutorError as error:
                raise SuiteError(f"{suite.path}: {error}.") from None


def _stops(finding: Finding, *, kept: bool) -> bool:
    if finding.code in _OF_ONE_TASK or (kept and finding.code == "results.place"):
        return False
    return finding.state == "invalid"


def _in_words(findings: Sequence[Finding]) -> list[str]:
    shown = [f"{finding.sentence}." for finding in findings[:_SHOWN]]
    if len(findings) > _SHOWN:
        shown.append(f"{len(findings) - _SHOWN} more; `waza-engine preflight` lists them all.")
    return shown
