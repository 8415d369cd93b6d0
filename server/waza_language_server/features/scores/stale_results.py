"""The stale results of a suite, item by item: for clients that show results of their own.

The reasons are those of the marks (``project/document_scores.py``). A client shows the results that a run or
regrading reported: a live verdict never makes these fresh, and one that differs makes them stale.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from waza_engine.checkpoint import checkpoint
from waza_engine.frozen import frozen
from waza_engine.results.result_file_names import JOURNAL_SUFFIX
from waza_engine.vocabulary import EXPECTED_LISTS
from waza_language_server.features.scores.score_text import stale_label
from waza_language_server.project.document_scores import DocumentScores, is_active_elsewhere
from waza_language_server.project.recorded_values import INPUTS
from waza_language_server.project.runnable_id import RunnableId
from waza_language_server.project.suite_freshness import EXPECTED, METRICS, SuiteFreshness, entry_in

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
_VERDICT_WORDS = {
    "passed": "it passed",
    "failed": "it failed",
    "advisory": "it did not pass",
    "error": "it broke",
    "errored": "it broke",
    "pending": "it waits for a review",
}


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
    if is_new and not project.scores.active_runs.runs(suite) and is_active_elsewhere(run):
        return (StaleResult(RunnableId(suite), RUNS_ELSEWHERE, whole=True),)
    reasons = _StaleReasons(project, run, suite, shown)
    tasks_today = reasons.freshness.files
    found: list[StaleResult] = []
    fresh = False
    for task in run.tasks.values():
        checkpoint()
        of_task = reasons.of_task(task)
        found += of_task
        fresh = fresh or (task.id in tasks_today and not (of_task and of_task[0].whole))
    for prompt in run.prompts:
        words = reasons.words_of_prompt(prompt)
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
        if task.timestamp == run.timestamp and task.id not in tasks_today
    ]
    words = reasons.words_of_suite(run.timestamp, gone) or first
    if not words and run.whole is not None and reasons.is_incomplete(run.whole.timestamp, run.tasks):
        words = STALE_WORD
    return (*([StaleResult(RunnableId(suite), words, whole=False)] if words else []), *found)


def _of_part(words: str) -> str:
    """Return why a part is stale without its verdict, which is not that of the task or suite around it."""
    return words.partition(",")[0] if words.startswith((RAN_ELSEWHERE, JUDGED_LIVE)) else words


def _elsewhere(verdict: str) -> str:
    """Return that something has run elsewhere since, and its verdict."""
    outcome = _VERDICT_WORDS.get(verdict)
    return f"{RAN_ELSEWHERE}, {outcome}" if outcome else RAN_ELSEWHERE


class _StaleReasons:
    """Why the results of a suite may no longer hold, compared with how it is written today."""

    def __init__(self, project: Project, run: RunResult, suite: Path, shown: DisplayedResults | None) -> None:
        scores = DocumentScores(project, suite, None, [(project.suite(suite), run)])
        scores.read()
        self.freshness = SuiteFreshness(scores, run)
        self._recorded = scores.recorded
        self._suite = suite
        self._shown = shown
        self._regraded = project.scores.regraded

    def of_task(self, task: TaskResult) -> list[StaleResult]:
        """Return the stale results of a task that still exists; nothing for others."""
        if task.id not in self.freshness.files:
            return []
        identity = RunnableId(self._suite, task.id)
        if self._ran_elsewhere(task.origin, task.timestamp) and self._asked(task) is None:
            return [StaleResult(identity, _elsewhere(task.status), whole=True)]
        words = self._words_of_answer(task.id, task.timestamp)
        if words and not task.rejudged:
            return [StaleResult(identity, words, whole=True)]
        graders = [name for name in self.freshness.graders_today(task.id) if name in task.graders]
        stale = [
            StaleResult(RunnableId(self._suite, task.id, name), reason, whole=True)
            for name in graders
            if (reason := self._words_of_grader(task, name))
        ]
        if not words and (stale or self.freshness.rewritten_task(task)):
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
        return self._changes_label(moment, self._recorded.changes_of_prompt(moment))

    def words_of_suite(self, moment: datetime, gone: Sequence[str]) -> str:
        """Return why the verdict of the suite itself may be stale, apart from its parts.

        ``gone`` are the ids of the tasks that it had at that moment and no longer has.
        """
        if gone:
            return self._changes_label(moment, self._recorded.changes(moment, gone)) or STALE_WORD
        then = self.freshness.then("", moment)
        same = then is not None and then.get(METRICS) == self.freshness.today("").get(METRICS)
        return "" if same else STALE_WORD

    def is_incomplete(self, moment: datetime, judged: Collection[str]) -> bool:
        """Return whether the suite has a task that neither its last entire run nor any run since had.

        Or whether its trigger prompts have changed since its last entire run.
        """
        added = self._recorded.added_since(moment)
        return (bool(added) and added not in judged) or self._recorded.has_other_trigger_prompts(moment)

    def _ran_elsewhere(self, origin: RunOrigin | None, moment: datetime) -> bool:
        return self._shown is not None and self._shown.lacks(origin, moment)

    def _was_reviewed(self, verdict: GraderResult) -> bool:
        return (
            self._shown is not None and verdict.reviewed is not None and verdict.reviewed > self._shown.since
        )

    def _words_of_answer(self, task: str, moment: datetime) -> str:
        """Return why the answer to a task would be another one today, "" when it would not."""
        words = self._changes_label(moment, self._recorded.changes(moment, (task,)))
        if words:
            return words
        then = self.freshness.then(task, moment)
        same = then is not None and then.get(INPUTS) == self.freshness.today(task).get(INPUTS)
        return "" if same else STALE_WORD

    def _words_of_grader(self, task: TaskResult, name: str) -> str:
        verdict = task.graders[name]
        moment = verdict.timestamp
        outcome = _verdict_of(verdict)
        if self._ran_elsewhere(verdict.origin, moment) and self._asked(task) is None:
            return _elsewhere(outcome)
        if self._was_reviewed(verdict) and self._asked(task) is None:
            return f"{REVIEWED}, {_VERDICT_WORDS[outcome]}"
        if (live := self._differing_live_verdict(task, verdict)) is not None:
            return f"{JUDGED_LIVE}, {_VERDICT_WORDS[_verdict_of(live)]}"
        words = self._words_of_answer(task.id, moment)
        if words:
            return words
        again = self._asked(task)
        if again is not None and name in again.graders:
            entry, key = again.graders[name], name.removeprefix("_")
            then = entry.get(key) if key in EXPECTED_LISTS and isinstance(entry, dict) else entry
        else:
            own, of_suite = self.freshness.then(task.id, moment), self.freshness.then("", moment)
            if own is None or of_suite is None:
                return STALE_WORD
            then = entry_in(own, of_suite, name)
        return "" if then == self._entry_today(task, name) else STALE_WORD

    def _entry_today(self, task: TaskResult, name: str) -> Json:
        return entry_in(self.freshness.today(task.id), self.freshness.today(""), name)

    def _differing_live_verdict(self, task: TaskResult, verdict: GraderResult) -> GraderResult | None:
        """Return the live verdict of a grader where it is not the one that a client shows."""
        known = self._regraded.of(self._suite, task, verdict.name)
        if known is None or not known.live or known.baseline is not None:
            return None
        is_expected = known.result.type == "expected"
        expected = self.freshness.today(task.id).get(EXPECTED)
        if known.entry != (expected if is_expected else self._entry_today(task, verdict.name)):
            return None
        again = self._asked(task)
        concluded = again.concluded.graders.get(verdict.name) if again and again.concluded else None
        shown = verdict if concluded is None else concluded.result
        return known.result if _verdict_of(known.result) != _verdict_of(shown) else None

    def _asked(self, task: TaskResult) -> RegradedResult | None:
        return self._regraded.asked(self._suite, task)

    def _changes_label(self, moment: datetime, changes: Sequence[ChangedInput]) -> str:
        stale = bool(changes) or bool(self._recorded.other_agent(moment))
        return stale_label(STALE_WORD if stale else "", changes).removeprefix(" · ")


def _verdict_of(verdict: GraderResult) -> str:
    graded = "passed" if verdict.passed else "failed"
    return graded if verdict.status == "graded" else verdict.status
