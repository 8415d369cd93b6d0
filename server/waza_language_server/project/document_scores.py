"""The last scores of the graders in a document, and whether they are still valid for its text.

A score is stale if the grader or the task was changed since it was recorded. If the file's time stamp
shows that it was not touched since, the grader's text of that moment is cached; from then on a change is
known exactly, and undoing it makes the score fresh again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from waza_engine.checkpoint import checkpoint
from waza_engine.frozen import frozen
from waza_engine.markdown import code
from waza_engine.results.result_file_names import JOURNAL_SUFFIX
from waza_engine.spec.harness_files import ROW_SUFFIXES
from waza_engine.spec.reading.scalars import Json
from waza_language_server.project.changed_inputs import (
    FILE_REWRITTEN,
    JUDGE_REWRITTEN,
    REWRITTEN,
    ChangedInput,
    CurrentFiles,
    describe_later_run,
    why_stale,
)
from waza_language_server.project.recorded_runs import RecordedRuns
from waza_language_server.project.recorded_values import INPUTS, inputs_around, written_in
from waza_language_server.project.suite_file import GraderEntry, SuiteFile, task_id
from waza_language_server.project.uris import path_of
from waza_language_server.project.values_of_suites import values_of_file

if TYPE_CHECKING:
    from waza_engine.results.reading.scores import (
        GraderResult,
        RunResult,
        TaskResult,
    )
    from waza_language_server.project.active_runs import RunningTrial
    from waza_language_server.project.document import Document
    from waza_language_server.project.histories import SuiteHistory
    from waza_language_server.project.index import Project
    from waza_language_server.project.regraded import Regraded
    from waza_language_server.project.regraded_answers import Strength
    from waza_language_server.project.suites import Suite

PATIENCE_SECONDS = 0.1
"""How long results are read before a request is answered without them."""


def is_active_elsewhere(run: RunResult) -> bool:
    """Return whether the newest record of a suite is still being written."""
    if run.complete or not run.path.name.endswith(JOURNAL_SUFFIX):
        return False
    # Rarely needed: only while a run is active.
    from waza_engine.results.reading.journals import begun, goes_on

    journal = begun(run.path)
    return journal is not None and goes_on(journal)


def scores(document: Document, project: Project) -> DocumentScores:
    """Return the scores of a document's graders, which are looked up one by one."""
    path = path_of(document.uri)
    suites: Sequence[Suite] = ()
    if path is not None:
        suites = project.suites_asking(path) if document.kind == "prompts" else project.suites_of(path)
    task = task_id(document.tree.root, path) if path and document.kind == "task" else None
    runs: list[tuple[Suite, RunResult]] = []
    for suite in suites:
        run = project.scores.shown(suite.path)
        if run is not None:
            runs.append((suite, run))
    return DocumentScores(project, path, task, runs, [suite.path for suite in suites])


def read_scores(document: Document, project: Project) -> DocumentScores:
    """Return the scores of a document after reading all files that they depend on."""
    found = scores(document, project)
    found.read()
    return found


@frozen()
class Outcome:
    """One grader of one task. ``stale`` says in Markdown why the score may no longer hold, "" when it does.

    ``graded`` is the grader entry as it was graded, None when that is not known; ``changes`` are the files
    that are not as they were, ``regraded`` is when the recorded answer was graded again.
    """

    task: TaskResult
    result: GraderResult
    stale: str = ""
    graded: Json = None
    changes: tuple[ChangedInput, ...] = ()
    regraded: datetime | None = None
    live: Regraded | None = None
    """The live verdict, which is graded again at each edit, if this is one."""


@frozen()
class Score:
    """The last outcomes of one grader entry: one for a grader of a task, one a task for one of the suite."""

    name: str
    suite: Path
    run: RunResult
    outcomes: tuple[Outcome, ...]
    shared: bool = False
    """True if the file belongs to other suites as well, which may have other verdicts."""

    @property
    def stale(self) -> str:
        """Why the score may no longer hold; "" when all of it does."""
        return next((outcome.stale for outcome in self.outcomes if outcome.stale), "")

    @property
    def changes(self) -> tuple[ChangedInput, ...]:
        """The files that are not as they were when it was recorded."""
        return tuple(dict.fromkeys(change for outcome in self.outcomes for change in outcome.changes))


class DocumentScores:
    """The scores of one version of one document: what its graders share is looked up once."""

    def __init__(
        self,
        project: Project,
        path: Path | None,
        task: str | None,
        runs: Sequence[tuple[Suite, RunResult]],
        suites: Sequence[Path] = (),
    ) -> None:
        """``suites`` are the eval files of the document, those that were never run as well."""
        self._scores = project.scores
        self.project = project
        self.path = path
        self.task = task
        """The id of the task that a task file is, None for other files."""
        self._runs = runs
        self._all_suites = suites
        self._own: dict[Path, dict[str, set[str]]] = {}
        self._digests: dict[Path, str | None] = {}
        self._around: dict[tuple[str, datetime], tuple[tuple[ChangedInput, ...], bool, str]] = {}
        """The files that changed since a task was judged, whether its prompt changed, and the other agent."""
        self.recorded = RecordedRuns(project, runs)
        """The runs that the scores were recorded in."""

    @property
    def runs(self) -> Sequence[RunResult]:
        """The last known results of each suite that the document belongs to."""
        return [run for _, run in self._runs]

    @property
    def suites(self) -> Sequence[tuple[Path, datetime]]:
        """The eval files of these suites, each with the start of its newest run."""
        return [(suite.path, run.timestamp) for suite, run in self._runs]

    @property
    def history(self) -> SuiteHistory | None:
        """Return the first history of the suites that is known."""
        found = (self._scores.histories.of(suite.path) for suite, _ in self._runs)
        return next((one for one in found if one is not None), None)

    def live(self, task: TaskResult, grader: str) -> Regraded | None:
        """Return the live verdicts of a task, None if there are none."""
        found = (self._scores.regraded.of(suite.path, task, grader) for suite, _ in self._runs)
        return next((one for one in found if one is not None and one.live), None)

    def under_way(self, task: str) -> RunningTrial | None:
        """Return the trial of a task that runs now, None when none does."""
        found = (self._scores.active_runs.under_way(suite, task) for suite in self._all_suites)
        return next((trial for trial in found if trial is not None), None)

    def prompt_under_way(self, prompt: str, *, should_trigger: bool) -> RunningTrial | None:
        """Return the running trial of a trigger prompt, None without one."""
        active_runs = self._scores.active_runs
        found = (
            active_runs.prompt_under_way(s, prompt, should_trigger=should_trigger) for s in self._all_suites
        )
        return next((one for one in found if one is not None), None)

    def waits(self, task: str) -> bool:
        """Return whether a run is active that will judge a task."""
        return any(self._scores.active_runs.waits(suite, task) for suite in self._all_suites)

    @property
    def runs_whole(self) -> bool:
        """Return whether a run of an entire suite is active."""
        return any(map(self._scores.active_runs.whole, self._all_suites))

    @property
    def shared(self) -> bool:
        """Return whether the document is a task of several suites, or has the prompts of several."""
        has_rows = self.path is not None and self.path.suffix.lower() in ROW_SUFFIXES
        is_tasks = self.task is not None or has_rows
        return is_tasks and len(self._all_suites) > 1

    def suite_of(self, run: RunResult) -> Path | None:
        """Return the eval file of a run if the document belongs to several suites, else None."""
        return next(iter(self.suites_of(run)), None) if self.shared else None

    def suites_of(self, run: RunResult) -> list[Path]:
        """Return the eval files of a run."""
        return [suite.path for suite, known in self._runs if known is run]

    def read(self) -> None:
        """Read the task files that the scores of a suite's graders depend on, a checkpoint after each."""
        for suite, _ in self._runs if self.task is None else ():
            self._read_overriding(suite)
        today = CurrentFiles(self.project.disk, self.project.documents)
        for suite, run in self._runs:
            for path in self._scores.regraded.files_read(suite.path, run.tasks):
                if path not in self._digests:
                    self._digests[path] = self._scores.inputs.digest_now(path, today)
                    checkpoint()
        self.recorded.read(today, self.task)

    def of_grader(self, grader: GraderEntry) -> Score | None:
        """Return the score of a grader entry, None when it was never graded."""
        if self.path is None or not self._runs or not grader.recorded_as:
            return None
        found = [
            score
            for suite, run in self._runs
            if (score := self._of_suite(self.path, suite, run, grader)) is not None
        ]
        return max(found, key=lambda score: score.outcomes[0].result.timestamp, default=None)

    def strength_of(self, grader: GraderEntry) -> Strength | None:
        """Return the mutation score of a grader entry, None if not measured or if it was edited since."""
        place = self.task or (grader.task.id if grader.task is not None else "")
        suites = [suite.path for suite, _ in self._runs]
        return self._scores.strengths.of(suites, place, grader.recorded_as, grader.node.to_python())

    def of_suite_graders(self) -> tuple[Score, ...]:
        """Return the results of the suite's graders on the task of a task file."""
        if self.task is None or not self._runs:
            return ()
        suite, run = max(self._runs, key=lambda known: known[1].timestamp)
        task = run.tasks.get(self.task)
        if task is None:
            return ()
        found: list[Score] = []
        for grader in SuiteFile(self.project.tree(suite.path)).own_graders():
            checkpoint()
            name = grader.name
            if name not in task.graders or self.task in self._overriding(suite, name):
                continue
            now = _Written(suite.path, "", name, written_in(grader), inputs_around(grader))
            outcome = self._newest(suite, task, now)
            if outcome is not None:
                found.append(Score(name, suite.path, run, (outcome,), self.shared))
        return tuple(found)

    def _of_suite(self, path: Path, suite: Suite, run: RunResult, grader: GraderEntry) -> Score | None:
        name, place = grader.recorded_as, grader.task.id if grader.task is not None else ""
        graded_task = self.task or place
        if graded_task:
            task = run.tasks.get(graded_task)
            tasks = [task] if task is not None else []
        else:
            tasks = [task for task in run.tasks.values() if task.id not in self._overriding(suite, name)]
        now = _Written(path, place, name, written_in(grader), inputs_around(grader))
        outcomes = tuple(outcome for task in tasks if (outcome := self._newest(suite, task, now)) is not None)
        return Score(grader.name, suite.path, run, outcomes, self.shared) if outcomes else None

    def _overriding(self, suite: Suite, name: str) -> set[str]:
        """Return the tasks with an own grader of this name: its result has replaced the suite's."""
        if suite.path not in self._own:
            self._read_overriding(suite)
        return self._own[suite.path].get(name, set())

    def _read_overriding(self, suite: Suite) -> None:
        known: dict[str, set[str]] = {}
        for grader in suite.outline.graders:
            if grader.task is not None and grader.has_results:
                known.setdefault(grader.name, set()).add(grader.task)
        for task in self.project.tasks_of(suite).value:
            for grader in task.outline.graders:
                if grader.has_results:
                    known.setdefault(grader.name, set()).add(task.id)
            checkpoint()
        self._own[suite.path] = known

    def _newest(self, suite: Suite, task: TaskResult, now: _Written) -> Outcome | None:
        name = now.name
        regraded = self._scores.regraded.of(suite.path, task, name)
        recorded = task.graders.get(name) or task.checkpoints.get(name)
        if regraded is not None:
            if regraded.live and regraded.entry != now.grader:
                regraded = _until_judged(regraded, now.grader, self._scores.regraded.behind(suite.path))
            return self._outcome(task, regraded.result, now, regraded)
        if recorded is None or not self._is_of(recorded, suite, task, now):
            return None
        active_runs = self._scores.active_runs
        awaited = active_runs.await_grader(suite.path, task.id, name, recorded.timestamp)
        return self._outcome(task, recorded, now, awaited=awaited)

    def _is_of(self, result: GraderResult, suite: Suite, task: TaskResult, now: _Written) -> bool:
        """Return whether a verdict is from the grader that is written here, not from a namesake elsewhere.

        The files of that time decide; a grader of another type is another one.
        """
        then = self.recorded.values_then(now.path, result.timestamp)
        if then is None:
            return True
        if (now.place, now.name) not in then or _type_of(then[now.place, now.name]) != _type_of(now.grader):
            return False
        if (self.task is not None and now.path == self.path) or now.place:
            return True
        # A grader of the task then replaced that of the suite.
        if (task.id, now.name) in (self.recorded.values_then(suite.path, result.timestamp) or {}):
            return False
        if not self.recorded.has_other_tasks(result.timestamp, (task.id,)):
            return True
        files = [one.path for one in self.project.tasks_of(suite).value if one.id == task.id]
        before = [self.recorded.values_then(path, result.timestamp) for path in files]
        known = [values for values in before if values is not None]
        if not known:
            return result.type in ("", _type_of(now.grader))
        return not any(("", now.name) in values for values in known)

    def _outcome(
        self,
        task: TaskResult,
        result: GraderResult,
        now: _Written,
        regraded: Regraded | None = None,
        *,
        awaited: bool = False,
    ) -> Outcome:
        then = self.recorded.values_then(now.path, result.timestamp)
        around = self._around.get((task.id, result.timestamp))
        if around is None:
            # Cached, since many graders have judged the same answer.
            place = task.id, INPUTS
            today = values_of_file(self.project, now.path)
            asks_inline = then is not None and place in then and then[place] != today.get(place)
            around = self._around[task.id, result.timestamp] = (
                self.recorded.changes(result.timestamp, (task.id,)),
                asks_inline or self.recorded.has_other_task_prompt(result.timestamp, task.id),
                self.recorded.other_agent(result.timestamp),
            )
        changes, is_other_question, other_agent = around
        live = regraded if regraded is not None and regraded.live else None
        read: Mapping[Path, str] = live.read if live is not None else {}
        if read:
            # A live verdict that read the current file is not outdated by the change of that file.
            changes = tuple(
                one
                for one in changes
                if one.path not in read or self._digests.get(one.path) != read[one.path]
            )
        if then is None:
            return Outcome(task, result, REWRITTEN.format("file"), changes=changes)
        graded = then.get((now.place, now.name)) if regraded is None else regraded.entry
        written = ""
        if graded != now.grader:
            written = JUDGE_REWRITTEN if regraded is not None else REWRITTEN.format("grader")
        elif then.get((now.place, INPUTS)) != now.inputs or is_other_question:
            written = REWRITTEN.format("task")
        elif not changes and (
            other := [path for path in read if self._digests.get(path) not in (None, read[path])]
        ):
            written = FILE_REWRITTEN.format(code(other[0].name))
        stale = why_stale(
            written=written,
            changes=changes,
            agent=other_agent,
            awaited=awaited,
            since=describe_later_run(task.later_than(result.timestamp)) if regraded is None else "",
        )
        if regraded is None:
            return Outcome(task, result, stale, graded, changes)
        return Outcome(task, result, stale, graded, changes, regraded.at, live)


def _until_judged(live: Regraded, today: Json, behind: Literal["no", "briefly", "long"]) -> Regraded:
    """Return the text of a live verdict while the current grader is being graded."""
    if behind == "no":
        return live
    result = live.result if behind == "briefly" else replace(live.result, status="pending", checks=())
    return replace(live, entry=today, result=result)


def _type_of(entry: Json) -> Json:
    return entry.get("type") if isinstance(entry, dict) else None


@frozen()
class _Written:
    """The current text of a grader and of the inputs of its task."""

    path: Path
    place: str
    name: str
    grader: Json
    inputs: Json
