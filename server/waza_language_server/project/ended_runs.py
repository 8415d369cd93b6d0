"""What the runs that ended in this editor have recorded, laid over what is found in the result files.

The newest file is not always that of the last run: another one may be written meanwhile, or carry the time
of another clock. So of what was run the run's own file tells, until a file says something newer.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from waza_engine.frozen import frozen
from waza_engine.steps import Steps
from waza_language_server.project.stamps import stamp_of

if TYPE_CHECKING:
    from pathlib import Path

    from waza_engine.results.reading.scores import PromptResult, RunResult, TaskResult
    from waza_language_server.project.runnable_id import RunnableId

MOST_KEPT = 20
"""Ended runs of one suite that are remembered."""


@frozen()
class _Ended:
    results: Path
    found_then: RunResult | None
    """What all result files together said when it had ended."""


class EndedRuns:
    """The last run of each runnable. Files longer than ``longest_bytes`` are not read."""

    def __init__(self, longest_bytes: int) -> None:
        self._longest_bytes = longest_bytes
        self._ended: dict[Path, dict[RunnableId, _Ended]] = {}

    def note(self, run: RunnableId, results: Path, found: RunResult | None) -> None:
        """Remember a run that has just ended; ``found`` is what the result files of its suite say now."""
        ended = self._ended.setdefault(run.suite, {})
        ended.pop(run, None)
        ended[run] = _Ended(results, found)
        if len(ended) > MOST_KEPT:
            del ended[next(iter(ended))]

    def over(self, suite: Path, found: RunResult | None) -> Steps[RunResult | None]:
        """Return what the result files of a suite say, and of what was run here what its run has said.

        Pauses while a file is read.
        """
        # With the first hint: nothing of it is needed to look at a document.
        from waza_engine.results.reading.newest_scores import results_of_in_steps

        for ended in list(self._ended.get(suite, {}).values()):
            stamp = stamp_of(ended.results)
            if isinstance(stamp, tuple) and stamp[1] <= self._longest_bytes:
                own = yield from results_of_in_steps(ended.results)
                found = found if own is None else _laid_over(found, own, ended.found_then)
        return found


def _laid_over(found: RunResult | None, own: RunResult, then: RunResult | None) -> RunResult:
    if found is None:
        return own
    tasks = dict(found.tasks)
    for task in own.tasks.values():
        # A run that was cut short says nothing of a task that it skipped.
        if task.trials or task.status != "skipped":
            tasks[task.id] = _newest(tasks.get(task.id), task, then.tasks.get(task.id) if then else None)
    header = own if then is None or (found.path, found.timestamp) == (then.path, then.timestamp) else found
    prompts = _prompts(found, own) if own.chosen_prompts else header.prompts or found.prompts
    # One file alone does not say which run was the last of the whole suite, and what came behind it.
    return replace(header, tasks=tasks, prompts=prompts, whole=found.whole, cut=found.cut, later=found.later)


def _prompts(found: RunResult, own: RunResult) -> tuple[PromptResult, ...]:
    """Return the newest word on each prompt: a run of some of them says nothing of the others."""
    known = {(one.prompt, one.should_trigger): one for one in found.prompts}
    for one in own.prompts:
        key = one.prompt, one.should_trigger
        if key not in known or known[key].timestamp < one.timestamp:
            known[key] = one
    return tuple(known.values())


def _newest(found: TaskResult | None, own: TaskResult, then: TaskResult | None) -> TaskResult:
    if found is None:
        return own
    said_since = {
        name: result
        for name, result in found.graders.items()
        if name not in own.graders or then is None or result != then.graders.get(name)
    }
    return replace(own if found == then else found, graders={**own.graders, **said_since})
