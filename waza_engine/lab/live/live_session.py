"""Grade recorded answers again while a suite is edited: immediately, and only what an edit affects.

A session holds the record, the loaded suite, its graders and warm workers. Each update brings open files; the
graders that they change are evaluated again and reported, the edited grader first. The newest update wins.

Architecture invariant: an edit executes nothing. No agent, judge or program is started and no plug-in loaded;
assertions are evaluated by the worker of every run, within its deadline. A grader that would need more keeps
its recorded verdict, and one that has none reports nothing.
"""

from __future__ import annotations

import itertools
import os
import threading
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from contextvars import copy_context
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, cast

from waza_engine.assertions.evaluator import AssertionEvaluator
from waza_engine.graders.base import GradingContext
from waza_engine.graders.matching.patterns import current_workers
from waza_engine.graders.registry import BUILT_IN_TYPES
from waza_engine.lab.live.work import (
    AnsweredTrial,
    LentTrials,
    LiveRequest,
    LiveTask,
    LiveTrial,
    LiveUpdate,
    LiveVerdicts,
    Made,
    Question,
    TaskKeys,
    Work,
    built_in,
    files_left,
    key_of_context,
    recorded_verdict_of,
)
from waza_engine.results.reading.recordings import RecordedTask, RecordedTrial, Recording
from waza_engine.results.record import Validation
from waza_engine.runs.agent.trial_workspace import WorkspaceError, fixture_directory
from waza_engine.runs.grading.grader_workers import GradingWorkers, WorkerSet
from waza_engine.runs.grading.graders import BuiltGrader, grade_expected, grade_here
from waza_engine.runs.grading.recorded_verdicts import has_verdict, needs_workspace, without_workspace
from waza_engine.runs.limits.cancellation import RunCancellation
from waza_engine.runs.loading.suite_on_disk import Suite, SuiteError
from waza_engine.runs.regrading.regrade import (
    NO_WORKSPACE,
    RegradeRequest,
    Regrading,
    prepare_regrading,
    with_review,
)
from waza_engine.runs.regrading.resident import ResidentSuites
from waza_engine.runs.trials.trial import TrialTask
from waza_engine.spec.problems import SuiteFileError
from waza_engine.spec.reading.file_cache import WatchedFiles
from waza_engine.spec.reading.suite_reader import DISK, SuiteFiles
from waza_engine.spec.skill_file import SKILL_FILE

if TYPE_CHECKING:
    from pydantic import BaseModel


MOST_KEPT = 4_000
"""Suites and tasks, each as it was written once, whose names are remembered."""
_LONGEST_REFERENCE = 400
_OF_GRADERS = {"tasks", "tasks_from", "graders", "metrics", "expected"}


class AgentFiles:
    """Files that suites and tasks name outside their graders, computed once per version."""

    def __init__(self) -> None:
        self._named: dict[int, tuple[BaseModel, Set[str]]] = {}

    def may_have(self, file: Path, suite: Suite, task: TrialTask) -> bool:
        """Return whether the agent of a task may have read a file: true if in doubt.

        It may when suite or task name it or a folder around it, and when it lies among fixtures or in a
        skill.
        """
        places = {str(file), *map(str, file.parents)}
        fixtures = fixture_directory(task.spec, suite.directory)
        return (
            _is_in_skill(file, suite.directory)
            or os.path.abspath(fixtures) in places  # noqa: PTH100
            or any(
                not self._places(model, suite, task, fixtures).isdisjoint(places)
                for model in (suite.spec, task.spec)
            )
        )

    def _places(self, model: BaseModel, suite: Suite, task: TrialTask, fixtures: Path) -> Set[str]:
        """Return the possible locations of files named in a suite or a task."""
        known = self._named.get(id(model))
        if known is None or known[0] is not model:
            words = set(_words(model.model_dump(mode="json", exclude=_OF_GRADERS)))
            roots = {suite.directory, fixtures, task.path.parent, Path.cwd(), *suite.directory.parents}
            found = {os.path.abspath(os.path.join(root, word)) for word in words for root in roots}  # noqa: PTH100, PTH118
            # The suite's own folder and its parents are no input file, even if a value is ".".
            apart = {str(suite.directory), *map(str, suite.directory.parents)}
            if len(self._named) >= MOST_KEPT:
                self._named.clear()
            known = self._named[id(model)] = model, found - apart
        return known[1]


def _is_in_skill(file: Path, suite_directory: Path) -> bool:
    """Return whether a file belongs to a skill; a suite inside a skill is no part of it."""
    apart = set(suite_directory.parents) if suite_directory in file.parents else set[Path]()
    return any((folder / SKILL_FILE).exists() for folder in file.parents if folder not in apart)


def _words(value: object) -> Iterator[str]:
    match value:
        case str():
            if len(value) <= _LONGEST_REFERENCE and not set(value) & {"\n", "\0"}:
                yield from {value, *value.split()}
        case Mapping():
            for item in cast("Mapping[object, object]", value).values():
                yield from _words(item)
        case list() | tuple():
            for item in cast("Sequence[object]", value):
                yield from _words(item)
        case _:
            pass


Place = tuple[int, int]
"""Of a verdict of a grader: the position of its task and of its trial."""
Waiting = tuple[Place, Question, RecordedTrial]


class MadeVerdicts:
    """Computed verdicts by grader name. ``stays`` returns which graders keep the recorded verdict.

    ``trial`` is the one of each task that counts, None for all.
    """

    def __init__(self, stays: Callable[[BuiltGrader], bool], trial: int | None) -> None:
        self._stays = stays
        self._trial = trial
        self._made: dict[str, dict[Place, Made]] = {}

    def clear(self) -> None:
        """Forget everything: the record is another one."""
        self._made.clear()

    def forget_all_but(self, graders: Iterable[str]) -> None:
        """Forget the graders that are not there any more."""
        for name in self._made.keys() - set(graders):
            del self._made[name]

    def files(self) -> list[Path]:
        """Return the files that the verdicts were made of, were they there or not."""
        watched = {id(made.files): made.files for group in self._made.values() for made in group.values()}
        return sorted({path for each in watched.values() for path in each.looked_at})

    def trials(self, recorded: RecordedTask) -> Sequence[RecordedTrial]:
        """Return the trials of a task that count and have an answer."""
        return [
            trial for trial in recorded.trials if self._trial in (None, trial.position) and trial.gradable
        ]

    def waiting(self, grader: str, group: Sequence[Question], files: SuiteFiles) -> list[Waiting]:
        """Return what has to be judged again; ``group`` is the grader in all its current tasks."""
        known, found = self._made.get(grader, {}), list[Waiting]()
        unchanged: dict[int, bool] = {}
        for question in group:
            for trial in self.trials(question.recorded):
                place = (question.position, trial.position)
                made = known.get(place)
                if made is None or not self._holds(made, question, files, unchanged):
                    found.append((place, question, trial))
        return found

    def keep(self, grader: str, made: Mapping[Place, Made]) -> None:
        """Store the new verdicts: all that were waiting."""
        self._made.setdefault(grader, {}).update(made)

    def of(self, grader: str, place: Place) -> Made:
        """Return a verdict that is kept."""
        return self._made[grader][place]

    def _holds(self, made: Made, question: Question, files: SuiteFiles, unchanged: dict[int, bool]) -> bool:
        """Return whether a verdict is still valid: nothing that could have changed it has changed."""
        built = question.built
        if built is not None and built.grader is not None:
            if made.by is not built.grader or made.key != question.key or self._reads_disk(question):
                return False
        elif made.by != question.by or made.key != question.key:
            return False
        if made.workspace is None or any(DISK.version(at) != it for at, it in made.workspace.items()):
            return False
        if id(made.files) not in unchanged:
            unchanged[id(made.files)] = made.files.are_as_read(files)
        return unchanged[id(made.files)]

    def _reads_disk(self, question: Question) -> bool:
        built = question.built
        return (
            built is not None
            and built.grader is not None
            and built.grader.reads_disk
            and not self._stays(built)
        )


IDLE_SECONDS = 600.0
"""How long workers stay warm between two edits."""


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
        self._made = MadeVerdicts(self._stays, request.trial)
        self._known: set[int] = set()

    def recording(self) -> Recording:
        """Return the record. Raises ``RecordingError``."""
        return self._suites.recording(self.request.record)

    def update(
        self, changes: Mapping[Path, str | None], report: Callable[[LiveVerdicts], None]
    ) -> LiveUpdate:
        """Apply open files and judge what they affect, as ``take`` and ``judge`` do."""
        return self.judge(self.take(changes), report)

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

    def judge(self, number: int, report: Callable[[LiveVerdicts], None]) -> LiveUpdate:
        """Judge again the changes up to an update from ``take``.

        ``report`` gets the verdicts grader by grader, the edited ones first. Raises ``RecordingError``.
        """
        with self._turn:
            with self._lock:
                if number != self._number or self._closed:
                    return LiveUpdate("superseded")
                work = self._work = Work(number, threading.Event(), RunCancellation())
                texts = dict(self._texts)
            try:
                return copy_context().run(self._judge, texts, work, report)
            except (SuiteFileError, SuiteError) as error:
                return LiveUpdate("unreadable", message=str(error))
            finally:
                with self._lock:
                    self._work = None

    @contextmanager
    def trials_of(self, grader: str | None, task: str | None) -> Generator[LentTrials[LiveTrial]]:
        """Yield the trials of a grader as it is written now; with None those of each grader.

        ``task`` is the key of the requested task, None for all. Raises as ``prepare_regrading`` does.
        """
        with self._asking() as (texts, workers, work):
            found = copy_context().run(self._trials_of, texts, workers, grader, task)
            yield LentTrials(found, workers, work.newer.is_set)

    @contextmanager
    def answered_trials(self) -> Generator[LentTrials[AnsweredTrial]]:
        """Lend all trials that have an answer, each once. Raises as ``prepare_regrading`` does."""
        with self._asking() as (texts, workers, work):
            found = copy_context().run(self._answered_trials, texts, workers)
            yield LentTrials(found, workers, work.newer.is_set)

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
        for asked in self._tasks_to_judge(regrading, names, {}):
            for trial in self._made.trials(asked.recorded):
                context = regrading.trial_context(asked.base, trial)
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
                context = regrading.trial_context(question.base, trial)
                context = replace(context, assertions=workers.assertions, files=regrading.files)
                found.append(LiveTrial(key, question.task, trial, context, question.name, question.built))
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
        self, texts: Mapping[Path, str], work: Work, report: Callable[[LiveVerdicts], None]
    ) -> LiveUpdate:
        regrading = self._regrading(texts)
        names = TaskKeys(regrading.recording)
        groups, silent = self._questions(regrading, names)
        # A grader that is new in this update is the one that was edited.
        order = sorted(groups, key=lambda name: all(id(each.by) in self._known for each in groups[name]))
        self._made.forget_all_but(groups)
        self._known = {id(each.by) for group in groups.values() for each in group}
        judged = 0
        with self.workers.lent(work.ended) as workers:
            current_workers.set(workers.patterns)
            for name in order:
                waiting = self._made.waiting(name, groups[name], regrading.files)
                made = self._verdicts(regrading, waiting, workers.assertions, work)
                if made is None or work.newer.is_set():
                    return LiveUpdate("superseded", judged)
                if not waiting:
                    continue
                self._made.keep(name, made)
                judged += len(made)
                changed = {question.position: question for _, question, _ in waiting}.values()
                live_tasks = {
                    names.of(each.recorded): self._live_task(each, regrading.suite) for each in changed
                }
                report(LiveVerdicts(work.number, name, live_tasks))
        return LiveUpdate("judged", judged, silent=silent, files=self._made.files())

    def _regrading(self, texts: Mapping[Path, str]) -> Regrading:
        request = RegradeRequest(self.request.record, self.request.suite, overlays=texts)
        regrading = prepare_regrading(request, self._suites)
        if regrading.recording is not self._recording:
            self._recording = regrading.recording
            self._made.clear()
        return regrading

    def _questions(
        self, regrading: Regrading, names: TaskKeys
    ) -> tuple[dict[str, list[Question]], dict[str, str]]:
        groups: dict[str, list[Question]] = {}
        silent: dict[str, str] = {}
        for each in self._tasks_to_judge(regrading, names, silent):
            task = each.task
            asked: list[tuple[str, BuiltGrader | None]] = [(built.name, built) for built in task.graders]
            asked += [(name, None) for name in (task.expected_names if task.grade_expected else ())]
            for name, built in asked:
                question = Question(name, each.position, each.recorded, task, each.base, each.key, built)
                groups.setdefault(name, []).append(question)
        return groups, silent

    def _tasks_to_judge(
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
            yield Question("", position, recorded, task, base, key_of_context(base), None)

    def _verdicts(
        self, regrading: Regrading, waiting: Sequence[Waiting], assertions: AssertionEvaluator, work: Work
    ) -> dict[Place, Made] | None:
        """Return the verdicts that were waiting; None when there is a newer edit."""
        made: dict[Place, Made] = {}
        # The files that one grader reads are cached for its other trials, and so is the note of them.
        watched: dict[int, WatchedFiles] = {}
        for place, question, trial in waiting:
            if work.newer.is_set():
                return None
            files = watched.setdefault(id(question.by), WatchedFiles.over(regrading.files))
            context = regrading.trial_context(question.base, trial)
            context = replace(context, assertions=assertions, files=files)
            left = files_left(question.built, trial, context)
            verdict = self._verdict(question, trial, context)
            made[place] = Made(question.by, question.key, files, left, verdict)
        return made

    def _live_task(self, question: Question, suite: Suite) -> LiveTask:
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

    def _verdict(
        self, question: Question, trial: RecordedTrial, context: GradingContext
    ) -> Validation | None:
        built = question.built
        if built is None:
            expected = question.task.spec.expected
            return next(iter(grade_expected(expected, context, (question.name,))), None)
        if self._stays(built):
            return recorded_verdict_of(built, trial)
        if context.workspace is None:
            if needs_workspace(built) and has_verdict(built, trial):
                return recorded_verdict_of(built, trial)
            built = without_workspace(built, NO_WORKSPACE)
        return with_review(grade_here(built, context), trial)

    def _stays(self, built: BuiltGrader) -> bool:
        """Return whether a grader keeps its recorded verdict: evaluating it needs more than an edit."""
        grader = built.grader
        if grader is None:
            return bool(built.entry.type) and built.entry.type not in BUILT_IN_TYPES
        if grader.judged or grader.runs_program or grader.reviewed or grader.writes_files:
            return True
        if grader.reads_verdicts:
            return True
        return grader.evaluates and not self.request.assertions


def _is_of_suite(built: BuiltGrader | None, regrading: Regrading) -> bool:
    return built is None or any(built.entry is entry for entry in regrading.suite.spec.graders)
