"""Active runs of this server: a result that is older than the start of an active run will be replaced.

Until then the older result must not look like that of the active run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from waza_engine.frozen import frozen

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime
    from pathlib import Path

    from waza_language_server.project.runnable_id import RunnableId


@frozen()
class ActiveRun:
    """An active run and its start; ``tasks`` and ``prompts`` are the selection of a suite, None for all."""

    target: RunnableId
    began: datetime
    tasks: frozenset[str] | None = None
    prompts: frozenset[str] | None = None

    @property
    def is_whole(self) -> bool:
        """Return whether it runs an entire suite."""
        return self.target.kind == "suite" and self.tasks is None and self.prompts is None

    def has_task(self, task: str) -> bool:
        """Return whether it judges a task, or a grader of it."""
        if self.target.kind != "suite":
            return self.target.task == task
        return self.is_whole or (self.tasks is not None and task in self.tasks)

    def has_prompt(self, prompt: str, *, should_trigger: bool) -> bool:
        """Return whether it tries a trigger prompt."""
        if self.target.kind == "prompt":
            return (self.target.prompt, self.target.should_trigger) == (prompt, should_trigger)
        return self.is_whole or (self.prompts is not None and prompt in self.prompts)


@frozen()
class RunningTrial:
    """A trial of a task that runs: its prompt was sent, or its answer is being graded, since a moment.

    A trigger prompt that is tried has no ``trial``.
    """

    trial: int | None
    phase: Literal["asking", "grading"]
    since: datetime


_Place = tuple[Literal["task", "prompt"], str, int]
"""A task and the number of a trial of it, or a trigger prompt and whether it is to trigger."""
_CLOSING = frozenset({"passed", "failed", "errored", "pending", "skipped", "tried"})


class ActiveRuns:
    """The runs of this server that have not ended."""

    def __init__(self) -> None:
        self._going: dict[object, ActiveRun] = {}
        self._under_way: dict[object, dict[_Place, RunningTrial]] = {}
        """By run: its trials that have begun and not ended, and its trigger prompts."""

    @property
    def all(self) -> Sequence[ActiveRun]:
        """The active runs, oldest first."""
        return tuple(self._going.values())

    def begin(self, key: object, run: ActiveRun) -> None:
        """Add a run that has begun, or waits for its turn."""
        self._going[key] = run

    def end(self, key: object) -> None:
        """Remove a run that has ended."""
        self._going.pop(key, None)
        self._under_way.pop(key, None)

    def note(self, key: object, event: Mapping[str, Any], now: datetime) -> bool:
        """Process an event about a trial or prompt; return whether the set of running ones has changed."""
        place, kind = _place_of(event), event.get("kind")
        if key not in self._going or place is None or event.get("baseline") is True:
            return False
        under_way = self._under_way.setdefault(key, {})
        if kind in _CLOSING:
            return under_way.pop(place, None) is not None
        of, _, number = place
        if of == "prompt" and kind == "started":
            under_way[place] = RunningTrial(None, "asking", now)
        elif of == "task" and kind in ("asking", "grading"):
            under_way[place] = RunningTrial(number, "asking" if kind == "asking" else "grading", now)
        else:
            return False
        return True

    def under_way(self, suite: Path, task: str) -> RunningTrial | None:
        """Return the running trial of a task, the last reported one of several."""
        return self._newest(suite, lambda place: place[:2] == ("task", task))

    def prompt_under_way(self, suite: Path, prompt: str, *, should_trigger: bool) -> RunningTrial | None:
        """Return the running trial of a trigger prompt, None without one."""
        return self._newest(suite, ("prompt", prompt, int(should_trigger)).__eq__)

    def _newest(self, suite: Path, is_meant: Callable[[_Place], bool]) -> RunningTrial | None:
        found = [
            one
            for key, under_way in self._under_way.items()
            if (run := self._going[key]).target.suite == suite and run.target.kind != "grader"
            for place, one in under_way.items()
            if is_meant(place)
        ]
        return max(found, key=lambda one: one.since, default=None)

    def waits(self, suite: Path, task: str) -> bool:
        """Return whether a run is active that will judge a task."""
        runs = [run for run in self._going.values() if run.target.suite == suite]
        return any(run.target.kind != "grader" and run.has_task(task) for run in runs)

    def runs(self, suite: Path) -> bool:
        """Return whether any run of a suite is active here."""
        return any(run.target.suite == suite for run in self._going.values())

    def whole(self, suite: Path) -> bool:
        """Return whether a run of the entire suite is active."""
        return any(run.is_whole for run in self._going.values() if run.target.suite == suite)

    def await_suite(self, suite: Path, moment: datetime) -> bool:
        """Return whether a run of the entire suite is active that is newer than a result of a moment."""
        return any(run.is_whole for run in self._since(suite, moment))

    def await_task(self, suite: Path, task: str, moment: datetime) -> bool:
        """Return the same for a task: a run of one grader does not count as a run of the task."""
        return any(run.target.kind != "grader" and run.has_task(task) for run in self._since(suite, moment))

    def await_grader(self, suite: Path, task: str, grader: str, moment: datetime) -> bool:
        """Return the same for a grader of a task; a grader of the suite that runs alone runs in all tasks."""
        for run in self._since(suite, moment):
            if run.target.kind != "grader":
                if run.has_task(task):
                    return True
            elif run.target.grader == grader and run.target.task in (None, "", task):
                return True
        return False

    def await_prompt(self, suite: Path, prompt: str, moment: datetime, *, should_trigger: bool) -> bool:
        """Return the same for a trigger prompt."""
        since = self._since(suite, moment)
        return any(run.has_prompt(prompt, should_trigger=should_trigger) for run in since)

    def _since(self, suite: Path, moment: datetime) -> list[ActiveRun]:
        active_runs = self._going.values()
        return (
            [run for run in active_runs if run.target.suite == suite and moment < run.began]
            if active_runs
            else []
        )


def _place_of(event: Mapping[str, Any]) -> _Place | None:
    task, trial, prompt = event.get("task"), event.get("trial"), event.get("prompt")
    if isinstance(prompt, str):
        return "prompt", prompt, int(event.get("should_trigger") is True)
    return ("task", task, trial) if isinstance(task, str) and isinstance(trial, int) else None
