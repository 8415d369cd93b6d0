"""Grade recorded answers again while a suite is edited: immediately, and only what an edit affects.

A session holds the record, the loaded suite, its graders and warm workers. Each update brings open files; the
graders that they change are evaluated again and reported, the edited grader first. The newest update wins.

Architecture invariant: an edit executes nothing. No agent, judge or program is started and no plug-in loaded;
assertions are evaluated by the worker of every run, within its deadline. A grader that would need more keeps
its recorded verdict, and one that has none reports nothing.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import copy_context
from dataclasses import replace
from pathlib import Path
from typing import Any

from waza_engine.assertions.evaluator import AssertionEvaluator
from waza_engine.graders.base import GradingContext
from waza_engine.graders.matching.patterns import current_workers
from waza_engine.graders.programs.assertion_context import trial_names
from waza_engine.graders.registry import BUILT_IN_TYPES
from waza_engine.results.reading.recordings import RecordedTrial, Recording
from waza_engine.results.record import Validation
from waza_engine.runs.agent.workspace import WorkspaceError
from waza_engine.runs.grading.graders import BuiltGrader, grade_expected, grade_here
from waza_engine.runs.grading.recorded_verdicts import has_verdict, needs_workspace
from waza_engine.runs.grading.workers import GradingWorkers, WorkerSet
from waza_engine.runs.limits.cancellation import RunCancellation
from waza_engine.runs.live.agent_files import AgentFiles
from waza_engine.runs.live.made import MadeVerdicts, Place, Waiting
from waza_engine.runs.live.parts import (
    AnsweredTrial,
    AnsweredTrials,
    GraderTrials,
    LiveTrial,
    TaskKeys,
    built_in,
    files_left,
    key_of_context,
    verdict_of_then,
)
from waza_engine.runs.live.work import LiveRequest, LiveTask, LiveUpdate, LiveVerdicts, Made, Question, Work
from waza_engine.runs.loading.suite import Suite, SuiteError
from waza_engine.runs.regrading.recorded_trials import with_review, without_workspace
from waza_engine.runs.regrading.regrade import RegradeRequest, Regrading, prepare_regrading
from waza_engine.runs.regrading.resident import ResidentSuites
from waza_engine.spec.problems import SuiteFileError
from waza_engine.spec.reading.kept_contents import KeptContents, current_contents
from waza_engine.spec.reading.watched_files import WatchedFiles
from waza_engine.user_state import kept_workspace

IDLE_SECONDS = 600.0
"""How long workers stay warm between two edits."""
ASKED_TOGETHER = 64
"""The number of trials that a grader evaluates before it checks for a newer edit."""


class LiveSession:
    """A record that is judged again as its suite is edited. Thread-safe; ``close`` ends its workers."""

    def __init__(self, request: LiveRequest) -> None:
        self.request = request
        self.workers = GradingWorkers(IDLE_SECONDS)
        self._suites = ResidentSuites(create=built_in, settled=True)
        self._lock, self._turn = threading.Lock(), threading.Lock()
        self._texts: dict[Path, str] = {}
        self._number = 0
        self._closed = False
        self._work: Work | None = None
        self._recording: Recording | None = None
        self._agent_files = AgentFiles()
        self._contents = KeptContents()
        self._made = MadeVerdicts(self._stays, request.trial)
        self._known: set[int] = set()
        self._keys: dict[int, tuple[Any, ...]] = {}
        self._contexts: dict[tuple[int, int], tuple[object, GradingContext]] = {}

    def recording(self) -> Recording:
        """Return the record. Raises ``RecordingError``."""
        return self._suites.recording(self.request.record)

    def update(self, changes: Mapping[Path, str | None], tell: Callable[[LiveVerdicts], None]) -> LiveUpdate:
        """Apply open files and judge what they affect, as ``take`` and ``judge`` do."""
        return self.judge(self.take(changes), tell)

    def take(self, changes: Mapping[Path, str | None]) -> int:
        """Apply open files by absolute path, None for a closed one; return the number of the update.

        Work for an older update is abandoned. Call it in the order in which the files were edited.
        """
        with self._lock:
            for path, text in changes.items():
                if text is None:
                    self._texts.pop(path, None)
                else:
                    self._texts[path] = text
            self._number += 1
            if self._work is not None:
                self._work.supersede()
            return self._number

    def judge(self, number: int, tell: Callable[[LiveVerdicts], None]) -> LiveUpdate:
        """Judge again the changes up to an update from ``take``.

        ``tell`` gets the verdicts grader by grader, the edited ones first. Raises ``RecordingError``.
        """
        with self._turn:
            with self._lock:
                if number != self._number or self._closed:
                    return LiveUpdate("superseded")
                work = self._work = Work(number, threading.Event(), RunCancellation())
                texts = dict(self._texts)
            try:
                return copy_context().run(self._judge, texts, work, tell)
            except (SuiteFileError, SuiteError) as error:
                return LiveUpdate("unreadable", message=str(error))
            finally:
                with self._lock:
                    self._work = None

    @contextmanager
    def trials_of(self, grader: str | None, task: str | None) -> Generator[GraderTrials]:
        """Yield the trials of a grader as it is written now; with None those of each grader.

        ``task`` is the key of the requested task, None for all. Raises as ``prepare_regrading`` does.
        """
        with self._asking() as (texts, workers, work):
            found = copy_context().run(self._trials_of, texts, workers, grader, task)
            yield GraderTrials(found, workers, work.newer.is_set)

    @contextmanager
    def answered_trials(self) -> Generator[AnsweredTrials]:
        """Lend all trials that have an answer, each once. Raises as ``prepare_regrading`` does."""
        with self._asking() as (texts, workers, work):
            found = copy_context().run(self._answered_trials, texts, workers)
            yield AnsweredTrials(found, workers, work.newer.is_set)

    @contextmanager
    def _asking(self) -> Generator[tuple[Mapping[Path, str], WorkerSet, Work]]:
        with self._turn:
            with self._lock:
                work = self._work = Work(self._number, threading.Event(), RunCancellation())
                texts = dict(self._texts)
                if self._closed:
                    work.supersede()
            try:
                with self.workers.lent(work.ended) as workers:
                    yield texts, workers, work
            finally:
                with self._lock:
                    self._work = None

    def _answered_trials(self, texts: Mapping[Path, str], workers: WorkerSet) -> list[AnsweredTrial]:
        current_workers.set(workers.patterns)
        regrading = self._regrading(texts)
        names = TaskKeys(regrading.recording)
        found: list[AnsweredTrial] = []
        for asked in self._asked_tasks(regrading, names, {}):
            for trial in self._made.trials(asked.recorded):
                context = self._context(regrading, asked, trial)
                context = replace(context, assertions=workers.assertions, files=regrading.files)
                found.append(AnsweredTrial(names.of(asked.recorded), asked.task, trial, context))
        return found

    def _trials_of(
        self, texts: Mapping[Path, str], workers: WorkerSet, grader: str | None, task: str | None
    ) -> list[LiveTrial]:
        current_workers.set(workers.patterns)
        regrading = self._regrading(texts)
        names = TaskKeys(regrading.recording)
        found: list[LiveTrial] = []
        groups = self._questions(regrading, names)[0]
        asked = itertools.chain(*groups.values()) if grader is None else groups.get(grader, ())
        for question in asked:
            key = names.of(question.recorded)
            if task not in (None, key) or (question.built is not None and self._stays(question.built)):
                continue
            if task is None and not _is_of_suite(question.built, regrading):
                # A task has one of its own by the same name.
                continue
            for trial in self._made.trials(question.recorded):
                context = self._context(regrading, question, trial)
                context = replace(context, assertions=workers.assertions, files=regrading.files)
                found.append(LiveTrial(key, question.name, question.task, question.built, trial, context))
        return found

    def close(self) -> None:
        """End active work and the workers; can be called twice."""
        with self._lock:
            self._closed = True
            if self._work is not None:
                self._work.newer.set()
                self._work.ended.request()
        self.workers.close()
        self._suites.close()

    def _judge(
        self, texts: Mapping[Path, str], work: Work, tell: Callable[[LiveVerdicts], None]
    ) -> LiveUpdate:
        regrading = self._regrading(texts)
        names = TaskKeys(regrading.recording)
        groups, silent = self._questions(regrading, names)
        # A grader that is new in this update is the one that was edited.
        order = sorted(groups, key=lambda name: all(id(each.by) in self._known for each in groups[name]))
        self._made.forget_all_but(groups)
        self._agent_files.look_again()
        self._known = {id(each.by) for group in groups.values() for each in group}
        judged = 0
        self._contents.look_again()
        current_contents.set(self._contents)
        with self.workers.lent(work.ended) as workers:
            current_workers.set(workers.patterns)
            for name in order:
                waiting = self._made.waiting(name, groups[name], regrading.files)
                made = self._verdicts(regrading, waiting, workers.assertions, work)
                if made is None or work.newer.is_set():
                    return LiveUpdate("superseded", judged)
                if not waiting:
                    continue
                self._made.keep(name, groups[name], made)
                judged += len(made)
                told = {
                    names.of(each.recorded): self._told(each, regrading.suite) for each in _each_once(waiting)
                }
                tell(LiveVerdicts(work.number, name, told))
        return LiveUpdate("judged", judged, silent=silent, files=self._made.files())

    def _regrading(self, texts: Mapping[Path, str]) -> Regrading:
        request = RegradeRequest(self.request.record, self.request.suite, overlays=texts)
        regrading = prepare_regrading(request, self._suites)
        if regrading.recording is not self._recording:
            self._recording = regrading.recording
            self._made.clear()
            self._contexts, self._keys = {}, {}
        return regrading

    def _questions(
        self, regrading: Regrading, names: TaskKeys
    ) -> tuple[dict[str, list[Question]], dict[str, str]]:
        groups: dict[str, list[Question]] = {}
        silent: dict[str, str] = {}
        for each in self._asked_tasks(regrading, names, silent):
            task = each.task
            asked: list[tuple[str, BuiltGrader | None]] = [(built.name, built) for built in task.graders]
            asked += [(name, None) for name in (task.expected_names if task.grade_expected else ())]
            for name, built in asked:
                question = Question(name, each.position, each.recorded, task, each.base, each.key, built)
                groups.setdefault(name, []).append(question)
        return groups, silent

    def _asked_tasks(
        self, regrading: Regrading, names: TaskKeys, silent: dict[str, str]
    ) -> Iterator[Question]:
        """Yield each task as a question without a grader; ``silent`` gets the others, and why."""
        for position, (recorded, selected) in enumerate(regrading.pairs):
            task = selected.trial
            if task is None:
                silent[names.of(recorded)] = selected.source.error
                continue
            try:
                base = regrading.base_context(selected, task, None)
            except WorkspaceError as error:
                silent[names.of(recorded)] = str(error)
                continue
            # Keep the same object while the data is the same, so that comparing it takes no time.
            key = key_of_context(base)
            if self._keys.get(position) != key:
                self._keys[position] = key
            yield Question("", position, recorded, task, base, self._keys[position], None)

    def _verdicts(
        self, regrading: Regrading, waiting: Sequence[Waiting], assertions: AssertionEvaluator, work: Work
    ) -> dict[Place, Made] | None:
        """Return the verdicts that were waiting; None when there is a newer edit."""
        made: dict[Place, Made] = {}
        # The files that one grader reads are cached for its other trials, and so is the note of them.
        watched: dict[int, WatchedFiles] = {}
        for _, some in itertools.groupby(waiting, key=lambda each: id(each[1].by)):
            for part in _parts(list(some)):
                if work.newer.is_set():
                    return None
                files = watched.setdefault(id(part[0][1].by), WatchedFiles.over(regrading.files))
                asked = [
                    replace(self._context(regrading, question, trial), assertions=assertions, files=files)
                    for _, question, trial in part
                ]
                for (place, question, trial), context in zip(part, self._together(part, asked), strict=True):
                    if work.newer.is_set():
                        return None
                    left = files_left(question.built, trial, context, self._contents)
                    verdict = self._verdict(question, trial, context)
                    made[place] = Made(question.by, question.key, files, left, verdict)
        return made

    def _told(self, question: Question, suite: Suite) -> LiveTask:
        """Return a grader's verdicts on a task, both new ones and those still valid."""
        found = [
            (trial, self._made.of(question.name, (question.position, trial.position)))
            for trial in self._made.trials(question.recorded)
        ]
        read = {path: digest for _, made in found for path, digest in made.files.read.items()}
        return LiveTask(
            question.recorded,
            [(trial, made.verdict) for trial, made in found if made.verdict is not None],
            {
                path: digest
                for path, digest in read.items()
                if not self._agent_files.may_have(path, suite, question.task)
            },
        )

    def _together(
        self, part: Sequence[Waiting], contexts: Sequence[GradingContext]
    ) -> Sequence[GradingContext]:
        built = part[0][1].built
        if built is None or built.grader is None or self._stays(built):
            return contexts
        return built.grader.together(contexts)

    def _verdict(
        self, question: Question, trial: RecordedTrial, context: GradingContext
    ) -> Validation | None:
        built = question.built
        if built is None:
            expected = question.task.spec.expected
            return next(iter(grade_expected(expected, context, (question.name,))), None)
        if self._stays(built):
            return verdict_of_then(built, trial)
        if context.workspace is None:
            if needs_workspace(built) and has_verdict(built, trial):
                return verdict_of_then(built, trial)
            built = without_workspace(built)
        return with_review(grade_here(built, context), trial)

    def _context(self, regrading: Regrading, question: Question, trial: RecordedTrial) -> GradingContext:
        place = (question.position, trial.position)
        known = self._contexts.get(place)
        if known is None or known[0] is not question.key:
            context = regrading.trial_context(question.base, trial)
            known = self._contexts[place] = question.key, replace(context, names=trial_names(context))
        found = known[1]
        if question.built is not None and needs_workspace(question.built):
            # It may be gone since, or there again.
            workspace = kept_workspace(trial.outcome.workspace)
            return found if workspace == found.workspace else replace(found, workspace=workspace)
        return found

    def _stays(self, built: BuiltGrader) -> bool:
        """Return whether a grader keeps its recorded verdict: evaluating it is too much for an edit."""
        grader = built.grader
        if grader is None:
            return bool(built.entry.type) and built.entry.type not in BUILT_IN_TYPES
        if grader.judged or grader.runs_program or grader.reviewed or grader.writes_files:
            return True
        return grader.evaluates and not self.request.assertions


def _parts(
    waiting: Sequence[Waiting],
) -> Iterator[Sequence[Waiting]]:
    """Yield batches that are small enough for a newer edit not to wait."""
    for start in range(0, len(waiting), ASKED_TOGETHER):
        yield waiting[start : start + ASKED_TOGETHER]


def _each_once(waiting: Sequence[Waiting]) -> list[Question]:
    return list({question.position: question for _, question, _ in waiting}.values())


def _is_of_suite(built: BuiltGrader | None, regrading: Regrading) -> bool:
    return built is None or any(built.entry is entry for entry in regrading.suite.spec.graders)
