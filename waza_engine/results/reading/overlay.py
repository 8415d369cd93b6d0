"""Merge the records of a suite's runs: the one place that decides how. Light.

A run of some tasks replaces these tasks. A run of some graders replaces the verdicts of these graders and
judges no task: the task keeps the verdict of the last run of all of its graders, which a newer grader can
make worse and never better, since it has judged another answer than the other graders. A run that was ended
before it reached a task does not count for it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from waza_engine.checkpoint import checkpoint
from waza_engine.results.reading.scores import GraderResult, LaterRun, PromptResult, RunResult, TaskResult
from waza_engine.scoring.tasks import Graded, composite

_TASKS_PER_CHECKPOINT = 1_000


def tasks_of_runs(runs: Sequence[RunResult], unread: LaterRun | None = None) -> dict[str, TaskResult]:
    """Return each task's result from some runs, the newest first; pauses if there are many.

    ``unread`` is a newer run whose record cannot be read.
    """
    found: dict[str, _Layers] = {}
    number = 0
    for run in runs:
        for task in run.tasks.values():
            if not number % _TASKS_PER_CHECKPOINT:
                checkpoint()
            number += 1
            found.setdefault(task.id, _Layers()).add(run, task)
    tasks = {name: layers.result() for name, layers in found.items()}
    if unread is not None:
        for name, task in tasks.items():
            if not task.is_unrun and (task.later is None or task.later.started < unread.started):
                tasks[name] = replace(task, later=unread)
    return {name: task for name, task in tasks.items() if task.is_unrun} | tasks


def prompts_of_runs(runs: Sequence[RunResult], unread: LaterRun | None = None) -> tuple[PromptResult, ...]:
    """Return the newest result of each trigger prompt, down to the newest run that tried all of them."""
    found: dict[tuple[str, bool], PromptResult] = {}
    for run in runs:
        for prompt in run.prompts:
            found.setdefault((prompt.prompt, prompt.should_trigger), replace(prompt, later=unread))
        # A run that was ended may not have tried all of them.
        if run.prompts and not run.chosen_prompts and run.complete and run.status != "error":
            break
    return tuple(found.values())


def with_newer_graders(task: TaskResult, newer: Mapping[str, GraderResult]) -> TaskResult:
    """Return a task with the verdicts of newer graders, which have judged another answer."""
    told = replace(
        task,
        graders={**task.graders, **{name: newer[name] for name in newer if name not in task.checkpoints}},
        checkpoints={name: newer.get(name, one) for name, one in task.checkpoints.items()},
    )
    against = {one.status for one in newer.values() if not one.passed}
    if not task.status or task.status == "failed" or not against & {"graded", "error"}:
        return told
    said = [Graded(one.score, one.passed, one.weight) for one in told.graders.values() if one.counts]
    score = composite(said).weighted_score
    status = "failed" if "graded" in against else "error"
    return replace(told, status=status, score=score, passed_trials=0)


class _Layers:
    """The results of one task in the runs, the newest first."""

    def __init__(self) -> None:
        self._unrun: TaskResult | None = None
        self._so_far: TaskResult | None = None
        self._whole: TaskResult | None = None
        self._parts: list[tuple[TaskResult, Sequence[str]]] = []
        """The newer results by some graders alone, with the names of these."""
        self._parts_since_so_far = 0

    def add(self, run: RunResult, task: TaskResult) -> None:
        if self._whole is not None:
            return
        if task.is_unrun:
            self._unrun = self._unrun or task
        elif run.partial:
            self._parts.append((task, run.graders))
        elif not task.is_cut_short:
            self._whole = task
        elif self._so_far is None:
            self._so_far, self._parts_since_so_far = task, len(self._parts)

    def result(self) -> TaskResult:
        if self._whole is not None:
            told = with_newer_graders(self._whole, self._newer(self._whole, self._parts))
        elif self._so_far is not None:
            newer = self._newer(self._so_far, self._parts[: self._parts_since_so_far])
            told = with_newer_graders(self._so_far, newer)
        elif self._parts:
            told = self._of_graders_alone()
        else:
            assert self._unrun is not None
            return self._unrun
        passed_over = [
            task.timestamp
            for task in (self._unrun, self._so_far)
            if task is not None and task.timestamp > told.timestamp
        ]
        return replace(told, later=LaterRun(max(passed_over))) if passed_over else told

    def _of_graders_alone(self) -> TaskResult:
        """Return a task that was never judged by all of its graders: it has no verdict, unless it broke."""
        newest = self._parts[0][0]
        verdicts = self._newer(None, self._parts)
        graders = {name: one for name, one in verdicts.items() if name not in newest.checkpoints}
        return replace(newest, status="error" if newest.status == "error" else "", graders=graders)

    @staticmethod
    def _newer(
        whole: TaskResult | None, parts: Sequence[tuple[TaskResult, Sequence[str]]]
    ) -> dict[str, GraderResult]:
        """Return the newest verdict of each grader that has judged the task by itself since."""
        found: dict[str, GraderResult] = {}
        for task, asked in reversed(parts):
            if task.status == "error" and whole is not None:
                # A broken answer has no verdict of its graders.
                found |= {name: _broken(one, task) for name, one in whole.graders.items() if name in asked}
            found |= {**task.graders, **task.checkpoints}
        return found


def _broken(grader: GraderResult, task: TaskResult) -> GraderResult:
    return replace(
        grader,
        status="error",
        score=0.0,
        passed=False,
        scores=(),
        passes=(),
        feedback=task.error,
        checks=(),
        timestamp=task.timestamp,
        origin=task.origin,
        reviewed=None,
    )
