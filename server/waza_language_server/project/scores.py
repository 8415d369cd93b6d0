"""A cache of the results of suites, and of the suite files at the time of recording.

Architecture invariant: results come from memory, and from the disk again after ``forget`` or
``RECHECK_SECONDS``. No run is started here.
"""

from __future__ import annotations

import time
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from waza_engine.files import FileError, read_text
from waza_engine.frozen import frozen
from waza_language_server.project.active_runs import ActiveRuns
from waza_language_server.project.changed_inputs import InputTexts
from waza_language_server.project.disk import MAX_BYTES, was_there
from waza_language_server.project.document import reader_of
from waza_language_server.project.histories import Histories
from waza_language_server.project.recorded_values import Values, values
from waza_language_server.project.regraded import Regradings
from waza_language_server.project.regraded_answers import Strengths

if TYPE_CHECKING:
    from collections.abc import Collection

    from waza_engine.results.reading.scores import PromptResult, RunResult, TaskResult
    from waza_language_server.project.runnable_id import RunnableId

RECHECK_SECONDS = 2.0


class Scores:
    """The memory of results, shared by all views of a project."""

    def __init__(self) -> None:
        self._results: dict[Path, tuple[float, RunResult | None]] = {}
        self._graded: dict[tuple[Path, datetime], Values] = {}
        self.refused = RefusedRuns()
        self.active_runs = ActiveRuns()
        self.inputs = InputTexts()
        self.regraded = Regradings()
        self.strengths = Strengths()
        self.histories = Histories()

    def results(self, suite: Path) -> RunResult | None:
        """Return the last results of a suite, None when it was never run."""
        known = self._results.get(suite)
        if known is not None and time.monotonic() - known[0] <= RECHECK_SECONDS:
            return known[1]
        # Imported with the first hint, since opening a document does not need it.
        from waza_engine.results.reading.newest_scores import latest_results

        found = latest_results(suite.parent, eval_file=suite.name)
        self._results[suite] = time.monotonic(), found
        return found

    def shown(self, suite: Path) -> RunResult | None:
        """Return the results that marks show of a suite: as last graded, and with runs rejected since."""
        found = self.regraded.over(suite, self.results(suite))
        return self.refused.over(suite, found)

    def tools(self, suite: Path) -> tuple[str, ...]:
        """Return the tools that the newest run of a suite called, in order of their first call."""
        run = self.results(suite)
        return run.tools if run is not None else ()

    def forget(self) -> None:
        """Clear the cache: a result file has changed."""
        self._results.clear()

    def values_then(self, path: Path, moment: datetime, recorded: str | None = None) -> Values | None:
        """Return the values of the file at a moment; None if it was written later and not read before.

        ``recorded`` is its text in the record of the run, if that was stored.
        """
        known = self._graded.get((path, moment))
        if known is None and recorded is not None:
            known = self._graded[path, moment] = values(reader_of(path)(recorded, None))
        if known is None:
            if not was_there(path, moment):
                return None
            try:
                tree = reader_of(path)(read_text(path, MAX_BYTES), None)
            except FileError:
                return None
            known = self._graded[path, moment] = values(tree)
        return known


MOST_KEPT = 20
"""Refused runs of one suite that are remembered."""


@frozen()
class RefusedRun:
    """A requested target, and why nothing ran; ``tasks`` are ids, None for all of a suite."""

    target: RunnableId
    reason: str
    at: datetime
    tasks: Collection[str] | None = None


class RefusedRuns:
    """The last refusal of each runnable."""

    def __init__(self) -> None:
        self._refused: dict[Path, dict[RunnableId, RefusedRun]] = {}
        self._known: dict[Path, tuple[RunResult | None, RunResult | None]] = {}
        """The last input and result of ``over``: it is called at each keystroke."""

    def note(self, target: RunnableId, reason: str, tasks: Collection[str] | None = None) -> None:
        """Remember a run that has just been refused."""
        self._known.pop(target.suite, None)
        refused = self._refused.setdefault(target.suite, {})
        refused.pop(target, None)
        refused[target] = RefusedRun(target, reason, datetime.now(UTC), tasks)
        if len(refused) > MOST_KEPT:
            del refused[next(iter(refused))]

    def forget(self, suite: Path) -> None:
        """Forget the refusals of a suite: something of it is judged since."""
        self._refused.pop(suite, None)
        self._known.pop(suite, None)

    def over(self, suite: Path, found: RunResult | None) -> RunResult | None:
        """Return the results of a suite, with the runs that were rejected since marked as such."""
        refused = self._refused.get(suite)
        if not refused:
            return found
        if found is not None:
            # A run ends earlier rejections; they must not come back when results are deleted.
            for one in [one for one in refused.values() if _has_run_since(found, one)]:
                del refused[one.target]
        known = self._known.get(suite)
        if known is None or known[0] is not found:
            result = found
            for one in refused.values():
                result = _laid_over(result, one)
            known = self._known[suite] = found, result
        return known[1]


def _has_run_since(found: RunResult, refused: RefusedRun) -> bool:
    """Return whether everything that was requested has been judged since."""
    target, at = refused.target, refused.at
    if target.kind == "prompt":
        asked = (target.prompt, target.should_trigger)
        return any(
            prompt.timestamp > at
            for prompt in found.prompts
            if (prompt.prompt, prompt.should_trigger) == asked
        )
    # A task without a result in the run of the entire suite no longer exists.
    if found.whole is not None and found.whole.timestamp > at:
        return True
    tasks = [target.task] if target.task is not None else refused.tasks
    return tasks is not None and all(
        task in found.tasks and found.tasks[task].timestamp > at for task in tasks
    )


def _laid_over(found: RunResult | None, refused: RefusedRun) -> RunResult:
    from waza_engine.results.reading.scores import TaskResult

    known = found or _nothing(refused)
    target, at = refused.target, refused.at
    tasks, prompts, whole = dict(known.tasks), known.prompts, known.whole
    if target.kind == "task" and target.task not in tasks and target.task is not None:
        tasks[target.task] = TaskResult(target.task, "", "error", 0.0, 0, 0, {}, at, refused.reason)
    for task in known.tasks.values() if target.kind != "prompt" else ():
        if task.timestamp < at and _has_refused(refused, task.id):
            tasks[task.id] = (
                TaskResult(task.id, task.name, "error", 0.0, 0, 0, {}, at, refused.reason)
                if target.grader is None
                else _without_grader(task, target.grader, refused)
            )
    if target.kind in ("suite", "prompt") and refused.tasks is None:
        prompts = tuple(_untried(prompt, refused) for prompt in prompts)
    if target.kind == "suite" and refused.tasks is None and (whole is None or whole.timestamp < at):
        whole = _nothing(refused)
    # The newest that is known of the suite is of no run, unless one has begun since.
    timestamp, origin = (known.timestamp, known.origin) if known.timestamp > at else (at, None)
    return replace(known, tasks=tasks, prompts=prompts, whole=whole, timestamp=timestamp, origin=origin)


def _has_refused(refused: RefusedRun, task: str) -> bool:
    if refused.target.task is not None:
        return task == refused.target.task
    return refused.tasks is None or task in refused.tasks


def _without_grader(task: TaskResult, grader: str, refused: RefusedRun) -> TaskResult:
    known = task.graders.get(grader)
    if known is None or known.timestamp > refused.at:
        return task
    broken = replace(
        known,
        status="error",
        score=0.0,
        passed=False,
        scores=(),
        passes=(),
        feedback=refused.reason,
        checks=(),
        timestamp=refused.at,
        origin=None,
    )
    return replace(task, graders={**task.graders, grader: broken})


def _untried(prompt: PromptResult, refused: RefusedRun) -> PromptResult:
    target = refused.target
    own = prompt.prompt, prompt.should_trigger
    is_target = target.prompt is None or (target.prompt, target.should_trigger) == own
    if not is_target or prompt.timestamp > refused.at:
        return prompt
    return replace(prompt, error=refused.reason, timestamp=refused.at, origin=None)


def _nothing(refused: RefusedRun) -> RunResult:
    from waza_engine.results.reading.scores import run_of_nothing

    suite = refused.target.suite
    return run_of_nothing(suite, refused.at, suite.name, refused.reason)
