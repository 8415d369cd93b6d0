"""The stale results of a suite, item by item: for clients that show results of their own.

The evidence is that of the marks (``project/document_scores.py``). A client shows the results that a run or
regrading reported: a live verdict never makes these fresh, and one that differs makes them stale.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from waza_engine.checkpoint import checkpoint
from waza_engine.frozen import frozen
from waza_engine.results.places import JOURNAL_SUFFIX
from waza_engine.vocabulary import EXPECTED_LISTS
from waza_language_server.features.scores.score_text import stale_label
from waza_language_server.project.document_scores import DocumentScores, is_active_elsewhere
from waza_language_server.project.recorded_values import (
    INPUTS,
    ByPlace,
    Values,
    entries,
    values_by_task,
    values_of_file,
)
from waza_language_server.project.runnable_id import RunnableId

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from datetime import datetime
    from pathlib import Path

    from waza_engine.results.reading.scores import (
        GraderResult,
        PromptResult,
        RunOrigin,
        RunResult,
        TaskResult,
    )
    from waza_engine.spec.reading.scalars import Json
    from waza_language_server.project.changed_inputs import ChangedInput
    from waza_language_server.project.index import Project
    from waza_language_server.project.regraded import RegradedResult

STALE_WORD = "stale"
RECORD_GONE = f"{STALE_WORD}: its record is gone"
RAN_ELSEWHERE = f"{STALE_WORD}: a newer run is recorded"
RUNS_ELSEWHERE = "running elsewhere"
JUDGED_LIVE = f"{STALE_WORD}: judged live"
REVIEWED = f"{STALE_WORD}: reviewed since"
_CAME_TO = {
    "passed": "it passed",
    "failed": "it failed",
    "advisory": "it did not pass",
    "error": "it broke",
    "errored": "it broke",
    "pending": "it waits for a review",
}
_EXPECTED = "//expected"
_METRICS = "//metrics"


@frozen()
class StaleResult:
    """An item whose newest result may no longer hold.

    ``words`` say it as a mark does: ``stale: SKILL.md +1 −0``. ``whole`` says
    that no result below it holds either; those are not listed.
    """

    id: RunnableId
    words: str
    whole: bool


@frozen()
class DisplayedResults:
    """The results of a suite that a client shows: since when, and the records of the shown runs."""

    since: datetime
    results: frozenset[Path]

    def lacks(self, origin: RunOrigin | None, moment: datetime) -> bool:
        """Return whether a verdict of this moment is from a later run that was not shown."""
        return origin is not None and moment > self.since and _record(origin.results) not in self.results


def _record(results: Path) -> Path:
    """Return the file that a run was to leave: of one that was killed there is the journal alone."""
    name = results.name
    return (
        results.with_name(f"{name.removesuffix(JOURNAL_SUFFIX)}.json")
        if name.endswith(JOURNAL_SUFFIX)
        else results
    )


def stale_results(
    project: Project, suite: Path, shown: DisplayedResults | None = None
) -> tuple[StaleResult, ...]:
    """Return the stale results of a suite, its tasks, graders and trigger prompts.

    Parents precede their children. With ``shown``, items that have run again elsewhere since or that a person
    has reviewed are included.
    """
    run = project.scores.results(suite)
    if run is None:
        shows = shown is not None and bool(shown.results)
        return (StaleResult(RunnableId(suite), RECORD_GONE, whole=True),) if shows else ()
    if shown is not None and run.later is not None and run.later.started > shown.since:
        return (StaleResult(RunnableId(suite), RAN_ELSEWHERE, whole=True),)
    is_new = shown is not None and shown.lacks(run.origin, run.timestamp)
    if is_new and not project.scores.going.runs(suite) and is_active_elsewhere(run):
        return (StaleResult(RunnableId(suite), RUNS_ELSEWHERE, whole=True),)
    evidence = _evidence(project, suite, run, shown)
    found: list[StaleResult] = []
    fresh = False
    for task in run.tasks.values():
        checkpoint()
        of_task = evidence.of_task(task)
        found += of_task
        fresh = fresh or (task.id in evidence.places and not (of_task and of_task[0].whole))
    for prompt in run.prompts:
        words = evidence.words_of_prompt(prompt)
        if words:
            identity = RunnableId(suite, prompt=prompt.prompt, should_trigger=prompt.should_trigger)
            found.append(StaleResult(identity, words, whole=True))
        fresh = fresh or not words
    first = found[0].words if found else ""
    if first.startswith(RAN_ELSEWHERE):
        first = _of_part(first)
    if found and not fresh:
        if all(each.words.startswith(RAN_ELSEWHERE) for each in found):
            # With the first results: most suites were never run.
            from waza_engine.results.reading.suite_conclusion import conclude_suite

            first = _elsewhere(conclude_suite(run).verdict)
        return (StaleResult(RunnableId(suite), first, whole=True),)
    gone = [
        task.id
        for task in run.tasks.values()
        if task.timestamp == run.timestamp and task.id not in evidence.places
    ]
    words = evidence.words_of_suite(run.timestamp, gone) or first
    if not words and run.whole is not None and evidence.is_incomplete(run.whole.timestamp, run.tasks):
        words = STALE_WORD
    return (*([StaleResult(RunnableId(suite), words, whole=False)] if words else []), *found)


def _of_part(words: str) -> str:
    """Return why a part is stale without its verdict, which is not that of the task or suite around it."""
    return words.partition(",")[0] if words.startswith((RAN_ELSEWHERE, JUDGED_LIVE)) else words


def _elsewhere(verdict: str) -> str:
    """Return that something has run elsewhere since, and its verdict."""
    came_to = _CAME_TO.get(verdict)
    return f"{RAN_ELSEWHERE}, {came_to}" if came_to else RAN_ELSEWHERE


def _evidence(project: Project, suite: Path, run: RunResult, shown: DisplayedResults | None) -> _Evidence:
    today = entries(project, suite)
    known = project.suite(suite)
    places = {place: suite for place, _ in today if place}
    for task in project.tasks_of(known).value:
        checkpoint()
        if (task.id, INPUTS) in today:
            places[task.id] = task.path
    for prompts in known.prompts:
        places |= {place: prompts for place, _ in values_of_file(project, prompts)}
    scores = DocumentScores(project, suite, None, [(known, run)])
    scores.read()
    return _Evidence(project, suite, today, places, scores, shown)


class _Evidence:
    """A suite as it is written today, compared with its state when it was judged."""

    def __init__(
        self,
        project: Project,
        suite: Path,
        today: Values,
        places: Mapping[str, Path],
        scores: DocumentScores,
        shown: DisplayedResults | None,
    ) -> None:
        self.places = places
        """The file of each task of today."""
        self._suite = suite
        self._prompts = project.suite(suite).prompts
        self._shown = shown
        self._scores = scores
        self._regraded = project.scores.regraded
        self._today = values_by_task(today)
        self._then: dict[tuple[Path, datetime], ByPlace | None] = {}
        self._entries: tuple[Values, ByPlace] | None = None

    def of_task(self, task: TaskResult) -> list[StaleResult]:
        """Return the stale results of a task that still exists; nothing for others."""
        if task.id not in self.places:
            return []
        identity = RunnableId(self._suite, task.id)
        if self._ran_elsewhere(task.origin, task.timestamp) and self._again(task) is None:
            return [StaleResult(identity, _elsewhere(task.status), whole=True)]
        words = self._words_of_answer(task.id, task.timestamp)
        if words and not task.rejudged:
            return [StaleResult(identity, words, whole=True)]
        graders = [name for name in self._names(self._today, task.id) if name in task.graders]
        stale = [
            StaleResult(RunnableId(self._suite, task.id, name), said, whole=True)
            for name in graders
            if (said := self._words_of_grader(task, name))
        ]
        if not words and (stale or not self._is_judged_as_written(task)):
            words = _of_part(stale[0].words) if stale else STALE_WORD
        whole = bool(graders) and len(stale) == len(graders)
        # A task has no verdict of its own if only single graders of it were run.
        own = [StaleResult(identity, words, whole)] if words and task.status else []
        return [*own, *([] if own and whole else stale)]

    def words_of_prompt(self, prompt: PromptResult) -> str:
        """Return why the result of a trigger prompt may no longer hold, "" when it does."""
        moment = prompt.timestamp
        if self._ran_elsewhere(prompt.origin, moment):
            return _elsewhere("error" if prompt.error else "passed" if prompt.right else "failed")
        return self._said(moment, self._scores.recorded.changes_of_prompt(moment))

    def words_of_suite(self, moment: datetime, gone: Sequence[str]) -> str:
        """Return why the verdict of the suite itself may be stale, apart from its parts.

        ``gone`` are the ids of the tasks that it had at that moment and no longer has.
        """
        if gone:
            return self._said(moment, self._scores.recorded.changes(moment, gone)) or STALE_WORD
        then = self._then_of("", moment)
        same = then is not None and then.get(_METRICS) == self._today.get("", {}).get(_METRICS)
        return "" if same else STALE_WORD

    def is_incomplete(self, moment: datetime, judged: Collection[str]) -> bool:
        """Return whether the suite has a task that neither its last entire run nor any run since had.

        Or whether its trigger prompts have changed since its last entire run.
        """
        added = self._scores.recorded.added_since(moment)
        return (bool(added) and added not in judged) or self._scores.recorded.has_other_prompts(moment)

    def _ran_elsewhere(self, origin: RunOrigin | None, moment: datetime) -> bool:
        return self._shown is not None and self._shown.lacks(origin, moment)

    def _was_reviewed(self, verdict: GraderResult) -> bool:
        return (
            self._shown is not None and verdict.reviewed is not None and verdict.reviewed > self._shown.since
        )

    def _words_of_answer(self, task: str, moment: datetime) -> str:
        """Return why the answer to a task would be another one today, "" when it would not."""
        words = self._said(moment, self._scores.recorded.changes(moment, (task,)))
        then = self._then_of(task, moment)
        same = then is not None and then.get(INPUTS) == self._today.get(task, {}).get(INPUTS)
        return words or ("" if same else STALE_WORD)

    def _words_of_grader(self, task: TaskResult, name: str) -> str:
        verdict = task.graders[name]
        moment = verdict.timestamp
        came_to = _came_to(verdict)
        if self._ran_elsewhere(verdict.origin, moment) and self._again(task) is None:
            return _elsewhere(came_to)
        if self._was_reviewed(verdict) and self._again(task) is None:
            return f"{REVIEWED}, {_CAME_TO[came_to]}"
        if (live := self._live_otherwise(task, verdict)) is not None:
            return f"{JUDGED_LIVE}, {_CAME_TO[_came_to(live)]}"
        words = self._words_of_answer(task.id, moment)
        if words:
            return words
        again = self._again(task)
        if again is not None and name in again.graders:
            entry, key = again.graders[name], name.removeprefix("_")
            then = entry.get(key) if key in EXPECTED_LISTS and isinstance(entry, dict) else entry
        else:
            own, of_suite = self._then_of(task.id, moment), self._then_of("", moment)
            if own is None or of_suite is None:
                return STALE_WORD
            then = _entry({task.id: own, "": of_suite}, task.id, name)
        return "" if then == _entry(self._today, task.id, name) else STALE_WORD

    def _live_otherwise(self, task: TaskResult, verdict: GraderResult) -> GraderResult | None:
        """Return the live verdict of a grader where it is not the one that a client shows."""
        known = self._regraded.of(self._suite, task, verdict.name)
        if known is None or not known.live or known.bed is not None:
            return None
        expected = known.result.type == "expected"
        today = self._today.get(task.id, {}).get(_EXPECTED) if expected else None
        if known.entry != (today if expected else _entry(self._today, task.id, verdict.name)):
            return None
        again = self._again(task)
        concluded = again.concluded.graders.get(verdict.name) if again and again.concluded else None
        shown = verdict if concluded is None else concluded.result
        return known.result if _came_to(known.result) != _came_to(shown) else None

    def _is_judged_as_written(self, task: TaskResult) -> bool:
        """Return whether the graders and expectations of a task today are those that judged it."""
        again = self._again(task)
        if again is not None and again.whole:
            then = self._judged_by(again.entries)
        else:
            own, of_suite = self._then_of(task.id, task.timestamp), self._then_of("", task.timestamp)
            if own is None or of_suite is None:
                return False
            then = {task.id: own, "": of_suite}
        expected = [each.get(task.id, {}).get(_EXPECTED) for each in (then, self._today)]
        names = [set(self._names(each, task.id)) for each in (then, self._today)]
        return expected[0] == expected[1] and names[0] == names[1]

    def _judged_by(self, entries: Values) -> ByPlace:
        # All tasks that were judged together share them.
        if self._entries is None or self._entries[0] is not entries:
            self._entries = entries, values_by_task(entries)
        return self._entries[1]

    def _again(self, task: TaskResult) -> RegradedResult | None:
        return self._regraded.asked(self._suite, task)

    def _names(self, written: ByPlace, task: str) -> list[str]:
        """Return the names under which the graders and expectations of a task are recorded."""
        own = written.get(task, {})
        expected = own.get(_EXPECTED)
        named = (name for name in (*written.get("", {}), *own) if not name.startswith("//"))
        return [*dict.fromkeys(named), *(f"_{key}" for key in EXPECTED_LISTS if _has(expected, key))]

    def _said(self, moment: datetime, changes: Sequence[ChangedInput]) -> str:
        stale = bool(changes) or bool(self._scores.recorded.other_agent(moment))
        return stale_label(STALE_WORD if stale else "", changes).removeprefix(" · ")

    def _then_of(self, place: str, moment: datetime) -> Mapping[str, Json] | None:
        """Return the values of a task at a moment, or of the suite at ``""``; None if unknown."""
        path = self.places.get(place, self._suite)
        if (path, moment) not in self._then:
            values = self._scores.recorded.values_then(path, moment)
            self._then[path, moment] = None if values is None else values_by_task(values)
        then = self._then[path, moment]
        is_by_id = path in (self._suite, *self._prompts)
        return None if then is None else then.get(place if is_by_id else "", {})


def _came_to(verdict: GraderResult) -> str:
    graded = "passed" if verdict.passed else "failed"
    return graded if verdict.status == "graded" else verdict.status


def _entry(written: ByPlace, task: str, name: str) -> Json:
    """Return the value of a grader, a task's own before that of the suite, or of an expectation."""
    own = written.get(task, {})
    if name in own or not name.startswith("_"):
        return own.get(name, written.get("", {}).get(name))
    expected = own.get(_EXPECTED)
    if name in written.get("", {}) or not isinstance(expected, dict):
        return written.get("", {}).get(name)
    return expected.get(name.removeprefix("_"))


def _has(expected: Json, key: str) -> bool:
    return isinstance(expected, dict) and key in expected
