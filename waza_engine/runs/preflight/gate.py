"""Decide which findings end a run before it begins, and which are reported once."""

from __future__ import annotations

import os
from collections.abc import Sequence
from itertools import islice

from waza_engine.executors.base import Executor, ExecutorError, Reaching, blindness_to_skills
from waza_engine.processes.git import GitError, git
from waza_engine.runs.agent.workspace import fixture_files
from waza_engine.runs.loading.suite import Suite, SuiteError
from waza_engine.runs.preflight.inspection import Finding, inspected, unseen_skills
from waza_engine.runs.trials.selection import SelectedTask

_SHOWN = 5
_MOST_ASKED = 500
# Without an answer there is nothing to grade; these findings are reported at their task.
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

    A run that costs nothing is not ended: the task then reports its own problem. ``kept`` says that the
    results are also written to another directory, ``triggers`` that trigger prompts are tried. Raises
    ``SuiteError`` for what would be paid in vain.
    """
    found = inspected(suite, tasks, judge="" if judges.has_model else judges.name, loads_skills=agent.costs)
    found += unseen_skills(suite, tasks, blindness_to_skills(agent), triggers=triggers)
    costs = agent.costs or judges.costs
    stopping = [finding for finding in found if costs and _stops(finding, kept=kept)]
    if stopping:
        raise SuiteError(*_in_words(stopping))
    told = [f"{finding.message}; {finding.remediation}" for finding in found if finding.told]
    return told + _ignored(suite, tasks)


def check_reachable(suite: Suite, *executors: Executor) -> None:
    """Raise ``SuiteError`` when an executor's service does not answer or rejects the key."""
    for executor in executors:
        if isinstance(executor, Reaching):
            try:
                executor.reach()
            except ExecutorError as error:
                raise SuiteError(f"{suite.path}: {error}.") from None


def _ignored(suite: Suite, tasks: Sequence[SelectedTask]) -> list[str]:
    """Return a warning about fixtures that git ignores: they are here, and in no other checkout."""
    hooks, config = suite.spec.hooks, suite.spec.config
    if hooks.before_run or hooks.before_task:
        return []
    specs = [task.trial.spec for task in tasks if task.trial is not None]
    found = (
        file for spec in specs for file in fixture_files(spec, suite.directory, config.instruction_files)
    )
    paths = list(islice(dict.fromkeys(map(str, found)), _MOST_ASKED))
    try:
        ignored = git("check-ignore", "--", *paths, at=suite.directory).splitlines() if paths else []
    except GitError:  # no path is ignored, or there is no repository
        return []
    if not ignored:
        return []
    names = ", ".join(f"`{os.path.relpath(path, suite.directory)}`" for path in ignored[:_SHOWN])
    more = f" and {len(ignored) - _SHOWN} more" if len(ignored) > _SHOWN else ""
    return [
        f"git ignores {names}{more}, so no other checkout has this fixture; "
        "add it with `git add -f`, or correct `.gitignore`"
    ]


def _stops(finding: Finding, *, kept: bool) -> bool:
    if finding.code in _OF_ONE_TASK or (kept and finding.code == "results.place"):
        return False
    return finding.state == "invalid"


def _in_words(findings: Sequence[Finding]) -> list[str]:
    shown = [f"{finding.sentence}." for finding in findings[:_SHOWN]]
    if len(findings) > _SHOWN:
        shown.append(f"{len(findings) - _SHOWN} more; `waza-engine preflight` lists them all.")
    return shown
