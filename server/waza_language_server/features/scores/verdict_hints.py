"""Verdicts of everything but graders: suites, tasks, expectations, metrics, trigger prompts.

The engine has concluded and recorded the verdicts; this module only places them at their lines.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING

from waza_engine.checkpoint import checkpoint
from waza_engine.counting import counted
from waza_engine.frozen import frozen
from waza_engine.markdown import code, fenced
from waza_engine.number_formats import format_score, format_threshold
from waza_engine.scoring.pass_estimates import pass_estimates
from waza_engine.vocabulary import EXPECTED_LISTS
from waza_language_server.features.rows.row_verdicts import id_of, records
from waza_language_server.features.scores.live_text import LIVE
from waza_language_server.features.scores.score_text import (
    NOTHING_RAN,
    REGRADED,
    STALE,
    age,
    check_label,
    executor_and_model,
    grader_line,
    regraded_clause,
    stale_clause,
    stale_label,
    suite_graders_label,
)
from waza_language_server.features.scores.verdict_labels import (
    NOT_RUN,
    NOTHING_JUDGED,
    Verdict,
    prompt_label,
    prompt_line,
    put_together,
    shortfall,
    suite_label,
    task_label,
    task_line,
    tasks_label,
    waits,
    why_broken,
    worst_first,
)
from waza_language_server.project.changed_inputs import (
    ASKED_SINCE,
    CUT_SHORT,
    GRADED_SINCE,
    RUN_SINCE,
    describe_later_run,
    why_stale,
)
from waza_language_server.project.document import SUITES
from waza_language_server.project.document_scores import is_active_elsewhere
from waza_language_server.project.eval_cases import JUDGED, assertions_with_graders
from waza_language_server.project.outline import pattern_nodes, pattern_of
from waza_language_server.project.suite_file import SuiteFile, marked_node, prompts_in, rule_at
from waza_language_server.project.suite_freshness import EXPECTED, SuiteFreshness, in_parts
from waza_language_server.project.suites import Task

if TYPE_CHECKING:
    from waza_engine.results.reading.scores import GraderResult, PromptResult, RunResult, TaskResult
    from waza_language_server.project.active_runs import RunningTrial
    from waza_language_server.project.changed_inputs import ChangedInput
    from waza_language_server.project.document import Document
    from waza_language_server.project.document_scores import DocumentScores, Score
    from waza_language_server.project.index import Project
    from waza_language_server.project.regraded import RegradedResult, RegradedSuite
    from waza_language_server.project.suite_file import WrittenPrompt
    from waza_language_server.syntax.nodes import Node
    from waza_language_server.text.span import Span

MAX_LISTED = 20
_WORST_FIRST = "✗◐!◷–✓"
NAMES_OF_EXPECTED = tuple(f"_{key}" for key in EXPECTED_LISTS)


def verdicts(
    document: Document, scores: DocumentScores, span: Span | None, now: datetime | None
) -> tuple[Verdict, ...]:
    """Return the verdicts in a part of a document; none when it was never run.

    ``span`` excludes inline tasks that it does not touch; ``now`` is the time for their age.
    """
    root = document.tree.root
    if root is None or root.kind not in {"mapping", "sequence"}:
        return ()
    now = now or datetime.now(UTC)
    if not scores.runs:
        return tuple(first_run(document, root, scores, span, now))
    view = _View(scores, now)
    found: list[Verdict] = []
    match document.kind:
        case "trigger_tests" | "trigger_list":
            found += view.of_prompts(root)
        case "task":
            found += view.of_task(root, scores.task or "")
            found += view.of_suite_graders(root, scores.of_suite_graders())
        case "eval" | "evals_json" | "vally_eval":
            found += view.of_suite(root)
            for task in SuiteFile(document.tree).tasks(span):
                checkpoint()
                found += view.of_task(task.node, task.id)
                if document.kind == "evals_json":
                    found += view.of_assertions(task.node, task.id)
        case "prompts":
            for row in records(document, span):
                found += view.of_task(row, id_of(row))
        case _:
            pass
    return tuple(found)


@frozen()
class SuiteVerdict:
    """The verdict of the newest run of an entire suite; ``tooltip`` is Markdown."""

    label: str
    tooltip: str
    changes: tuple[ChangedInput, ...] = ()


def suite_verdict(document: Document, scores: DocumentScores, now: datetime | None) -> SuiteVerdict | None:
    """Return the verdict of the suite of an eval file, None when it was never run as a whole."""
    if not scores.runs:
        return None
    return _View(scores, now or datetime.now(UTC)).of_whole()


def metric_verdicts(document: Document, scores: DocumentScores, now: datetime | None) -> tuple[Verdict, ...]:
    """Return the verdicts of the metrics of an eval file; none when it was never run as a whole."""
    root = document.tree.root
    if root is None or not scores.runs:
        return ()
    return tuple(_View(scores, now or datetime.now(UTC)).of_metrics(root))


def entry_verdicts(document: Document, project: Project, scores: DocumentScores) -> tuple[Verdict, ...]:
    """Return the worst verdict of the task files that each entry of ``tasks`` picks up."""
    root = document.tree.root
    if root is None or root.kind != "mapping" or document.kind != "eval" or not scores.runs:
        return ()
    view = _View(scores, datetime.now(UTC))
    found: list[Verdict] = []
    for node in pattern_nodes(root):
        checkpoint()
        paths = project.matching_tasks(document, pattern_of(node)).value
        ids = [Task(path, project.outline).id for path in paths]
        if ids:
            found.append(Verdict(node, view.worst_of(ids), ""))
    return tuple(found)


class _View:
    """A document, its state when it was judged, and its newest results."""

    def __init__(self, scores: DocumentScores, now: datetime) -> None:
        self._scores = scores
        self._run = max(scores.runs, key=lambda run: run.timestamp)
        self._freshness = SuiteFreshness(scores, self._run)
        self._suite = self._freshness.suite
        self._active = scores.project.scores.active_runs
        self._now = now

    def of_whole(self) -> SuiteVerdict | None:
        """Return the verdict of the newest run of the whole suite, None when there was none."""
        run = self._run.whole
        if run is None:
            return self._of_cut()
        if not (run.tasks or run.reasons):
            return None
        if self._parts:
            run = put_together(self._run, run, self._parts)
            stale, changes = self._of_stale_parts(run)
            again = next(filter(None, map(self._freshness.again, run.tasks.values())), None)
            words = "Merged from several runs, the last one recorded" if in_parts(self._run) else "Recorded"
            origin = self._origin(self._run, stale, again, words)
        else:
            written, since = self._freshness.rewritten_suite(run), self._since(run)
            stale, changes = self._of_stale_run(
                run, written, run.tasks, awaited=self._awaits(run), since=since
            )
            again = self._freshness.suite_again
            origin = self._origin(run, stale, again)
        label = tasks_label(run) if run.tasks else "!"
        if label.startswith("◷") and not any(map(waits, run.tasks.values())):
            label = NOTHING_JUDGED
        why = why_broken(run) if label.startswith("!") else ""
        missed = [metric for metric in run.metrics if not metric.passed]
        lines = [f"**{code(run.eval_name or 'The suite')}** {label}", ""]
        lines += [task_line(task) for task in worst_first(run)[:MAX_LISTED]]
        lines += [f"- ✗ {code(metric.name)} {shortfall(metric)}" for metric in missed[:MAX_LISTED]]
        unlike = sorted(
            (prompt for prompt in run.prompts if not prompt.right), key=lambda prompt: prompt.error
        )
        lines += [prompt_line(prompt) for prompt in unlike[:MAX_LISTED]]
        if run.verdict in ("limited", "broken"):
            lines[1:1] = ["", fenced("; ".join(run.reasons))]
        tooltip = "\n".join([*lines, "", origin])
        label = f"{label}: {why}" if why and run.tasks else f"{label} {why}" if why else label
        label = f"{_sign(again)}{label}{stale_label(stale, changes)}"
        return SuiteVerdict(label, tooltip, changes)

    def _of_cut(self) -> SuiteVerdict | None:
        """Return the progress of the newest run of the entire suite if none has finished."""
        run = self._run.cut
        if self._scores.runs_whole:
            return SuiteVerdict(RUNNING, "The suite runs, and has no result yet.")
        if run is None:
            return None
        since = RUN_SINCE if self._run.timestamp > run.timestamp else ""
        written = self._freshness.rewritten_suite(run)
        stale, changes = self._of_stale_run(run, written, run.tasks, awaited=False, since=since)
        label = cut_label(run)
        lines = [f"**{code(run.eval_name or 'The suite')}** {label}", "", fenced(cut_reason(run)), ""]
        lines += [task_line(task) for task in worst_first(run)[:MAX_LISTED]]
        tooltip = "\n".join([*lines, "", self._origin(run, stale)])
        return SuiteVerdict(label + stale_label(stale, changes), tooltip, changes)

    @cached_property
    def _parts(self) -> dict[str, TaskResult]:
        """The tasks of today where some of them were run or graded again since the whole suite was."""
        tasks = self._run.tasks.values()
        is_again = self._freshness.suite_again is None and any(map(self._freshness.again, tasks))
        if not (is_again or in_parts(self._run)):
            return {}
        return self._freshness.tasks_today(self._run)

    def _of_stale_run(
        self, run: RunResult, written: str, tasks: Collection[str], *, awaited: bool, since: str
    ) -> tuple[str, tuple[ChangedInput, ...]]:
        """Return why a result of a whole run may be another one today, and the files that changed."""
        changes = self._scores.recorded.changes(run.timestamp, tasks)
        stale = why_stale(
            written=written,
            changes=changes,
            agent=self._scores.recorded.other_agent(run.timestamp),
            awaited=awaited,
            elsewhere=self._runs_elsewhere,
            since=since,
        )
        return stale, changes

    def _of_stale_parts(self, run: RunResult) -> tuple[str, tuple[ChangedInput, ...]]:
        """Return the same of results of several runs: of the first task that may have another one."""
        for task in run.tasks.values():
            stale, changes = self._of_stale_task(task)
            if stale:
                return stale, changes
        written, awaited = self._freshness.rewritten_around(run), self._awaits(run)
        return why_stale(written=written, awaited=awaited, elsewhere=self._runs_elsewhere), ()

    def _of_stale_task(self, task: TaskResult) -> tuple[str, tuple[ChangedInput, ...]]:
        """Return the same for a task."""
        changes = self._scores.recorded.changes(task.timestamp, (task.id,))
        stale = why_stale(
            written=self._freshness.rewritten_task(task),
            changes=changes,
            agent=self._scores.recorded.other_agent(task.timestamp),
            awaited=self._active.await_task(self._suite, task.id, task.timestamp),
            since=GRADED_SINCE if task.rejudged else describe_later_run(task.later_than(task.timestamp)),
        )
        return stale, changes

    def _awaits(self, run: RunResult) -> bool:
        """Return whether a run of the entire suite is active that is newer than this one."""
        return self._active.await_suite(self._suite, run.timestamp)

    @property
    def _runs_elsewhere(self) -> bool:
        """Return whether the newest run of the suite is active and was started by another program."""
        return not self._active.runs(self._suite) and is_active_elsewhere(self._run)

    def _since(self, run: RunResult) -> str:
        """Return a note about later runs after a run of the entire suite, "" if there are none."""
        newest, later = self._run, self._run.later
        if later is not None and later.started > max(run.timestamp, newest.timestamp):
            return describe_later_run(later)
        if newest.timestamp <= run.timestamp:
            return ""
        if newest.origin is None:
            return ASKED_SINCE
        return RUN_SINCE if newest.complete else CUT_SHORT

    def of_suite(self, root: Node) -> Iterator[Verdict]:
        """Yield the verdict of the newest run of the whole suite, and those of its metrics."""
        name, whole = _head_of_suite(root), self.of_whole()
        if name is None or whole is None:
            return
        yield Verdict(name, whole.label, whole.tooltip, whole.changes)
        yield from self.of_metrics(root)

    def of_metrics(self, root: Node) -> Iterator[Verdict]:
        """Yield the verdicts of the metrics in the newest run of the whole suite: only it has figures."""
        metrics, run = root.get("metrics"), self._run.whole
        by_name = {metric.name: metric for metric in run.metrics} if run is not None else {}
        for item in metrics.target.each_item() if metrics is not None else ():
            name = item.get("name")
            metric = by_name.get(name.value) if name is not None else None
            if run is not None and name is not None and metric is not None:
                label = f"✓ {format_score(metric.value)}" if metric.passed else f"✗ {shortfall(metric)}"
                again = self._freshness.suite_again
                # No grader and no task decides the metrics of trigger prompts.
                of_tasks = not metric.name.startswith("trigger_")
                stale, changes = self._of_stale_run(
                    run,
                    self._freshness.rewritten_metric(run, metric.name),
                    run.tasks if of_tasks else (),
                    awaited=self._awaits(run),
                    since=self._since(run) if of_tasks else "",
                )
                label = f"{_sign(again)}{label}{stale_label(stale, changes)}"
                value = f"{format_score(metric.value)}, threshold {format_threshold(metric.threshold)}"
                origin = self._origin(run, stale, again)
                yield Verdict(name, label, f"**{code(metric.name)}** {value}\n\n{origin}", changes)

    def of_task(self, node: Node, task_id: str) -> Iterator[Verdict]:
        """Yield the verdict of a task, and those of its expectations."""
        task = self._run.tasks.get(task_id)
        running = tuple(running_task(node, self._scores, task_id, self._now))
        if running and (task is None or not task.status):
            yield from running
        head = node.get("id") or node.get("name")
        if task is None or head is None or not task.status:
            return
        stale, changes = self._of_stale_task(task)
        label = task_label(task)
        if label == NOT_RUN and self._scores.waits(task_id):
            label = WAITS
        lines = [f"**{code(task.id)}** {'!' if task.status == 'error' else label}"]
        if task.error:
            lines += ["", fenced(task.error)]
        if task.trials > 1 and task.status in ("passed", "failed"):
            estimates = pass_estimates(task.passed_trials, task.trials).words
            lines += ["", f"{task.passed_trials} of {task.trials} trials passed: {estimates}"]
        if any(grader.weight != 1 for grader in task.graders.values()):
            lines += ["", f"The score is weighted; the plain mean is {format_score(task.plain_score)}."]
        judged = chain(task.graders.values(), task.checkpoints.values())
        shown = sorted(judged, key=lambda grader: grader.passed)[:MAX_LISTED]
        again = self._freshness.again(task)
        lines += ["", *map(grader_line, shown), "", self._origin(task, stale, again)]
        lines += self._in_other_suites(task_id)
        suite = self._scores.suite_of(self._run)
        label += f" in {suite.parent.name}" if suite is not None else ""
        label = f"{_sign(again)}{label}{stale_label(stale, changes)}"
        yield from running or (Verdict(head, label, "\n".join(lines), changes),)
        yield from self._of_expectations(node, task, is_old=bool(stale))

    def of_assertions(self, case: Node, task_id: str) -> Iterator[Verdict]:
        """Yield whether each assertion of a case held."""
        task = self._run.tasks.get(task_id)
        if task is None:
            return
        is_old = bool(self._freshness.rewritten_task(task))
        for node, name, place in assertions_with_graders(case):
            grader = task.graders.get(name)
            checks = grader.checks if grader is not None else ()
            of_criterion = [check for check in checks if name != JUDGED or check.path[-1:] == (place,)]
            for check in of_criterion[:1]:
                tooltip = fenced(check.message) if check.message else ""
                label = check_label(check.passed_trials, check.trials)
                yield Verdict(node, label, tooltip, kind="check", is_old=is_old)

    def _in_other_suites(self, task_id: str) -> Iterator[str]:
        """Yield the verdicts of a task in the newest runs of the other suites that have its file."""
        for run in self._scores.runs:
            suite, task = self._scores.suite_of(run), run.tasks.get(task_id)
            if run is not self._run and suite is not None and task is not None and task.status:
                yield f"\n{task_label(task)} {age(task.timestamp, self._now)} in {code(suite_label(suite))}."

    def worst_of(self, ids: Iterable[str]) -> str:
        """Return the worst verdict of some tasks; one that was not run is worse than one that passed."""
        labels: list[str] = []
        for task in map(self._run.tasks.get, ids):
            if task is None or not task.status:
                labels.append(NOT_RUN)
            else:
                stale, changes = self._of_stale_task(task)
                labels.append(task_label(task) + stale_label(stale, changes))
        return min(labels, key=lambda label: (_WORST_FIRST.index(label[0]), STALE not in label))

    def of_suite_graders(self, root: Node, graders: Sequence[Score]) -> Iterator[Verdict]:
        """Yield the verdicts of the eval file's graders on the task of a task file."""
        head = root.get("id") or root.get("name")
        if head is None or not graders:
            return
        changes = tuple(dict.fromkeys(change for score in graders for change in score.changes))
        stale = next((score.stale for score in graders if score.stale), "")
        results = [outcome.result for score in graders for outcome in score.outcomes]
        shown = sorted(results, key=lambda result: result.passed)[:MAX_LISTED]
        lines = ["**Graders of the suite**", "", *map(grader_line, shown)]
        lines += [] if len(shown) == len(results) else [f"- … and {len(results) - len(shown)} more"]
        lines += ["", self._origin(results[0], stale)]
        label = suite_graders_label(graders) + stale_label(stale, changes)
        yield Verdict(head, label, "\n".join(lines), changes, "inherited")

    def _of_expectations(self, node: Node, task: TaskResult, *, is_old: bool) -> Iterator[Verdict]:
        expected = node.get("expected")
        if expected is None:
            return
        then = self._freshness.then(task.id, task.timestamp)
        was = then.get(EXPECTED) if then is not None else None
        written = expected.to_python()
        for name in NAMES_OF_EXPECTED:
            grader, mark, known = task.graders.get(name), "", was
            live = self._scores.live(task, name)
            if live is not None and live.entry == written:
                grader, mark, known = live.result, LIVE, live.entry
            for check in grader.checks if grader is not None else ():
                rule = rule_at(expected, check.path, known)
                if rule is not None:
                    tooltip = fenced(check.message) if check.message else ""
                    label = mark + check_label(check.passed_trials, check.trials)
                    yield Verdict(marked_node(rule), label, tooltip, kind="check", is_old=is_old and not mark)

    def of_prompts(self, root: Node) -> Iterator[Verdict]:
        """Yield whether each trigger prompt was answered rightly; one that was rewritten has no verdict."""
        known = {(result.should_trigger, result.prompt): result for result in self._run.prompts}
        for prompt in prompts_in(root):
            result = known.get((prompt.should_trigger, prompt.text))
            running = tuple(running_prompt(prompt, self._scores, self._now))
            if result is not None and not running:
                yield self._of_prompt(prompt.node, result)
            yield from running

    def _of_prompt(self, prompt: Node, result: PromptResult) -> Verdict:
        changes = self._scores.recorded.changes_of_prompt(result.timestamp)
        stale = why_stale(
            changes=changes,
            agent=self._scores.recorded.other_agent(result.timestamp),
            awaited=self._active.await_prompt(
                self._suite, result.prompt, result.timestamp, should_trigger=result.should_trigger
            ),
            since=describe_later_run(
                result.later if result.later and result.timestamp < result.later.started else None
            ),
        )
        lines = [fenced(result.error)] if result.error else []
        lines += [f"Invoked: {', '.join(map(code, result.skills))}."] if result.skills else []
        story = "\n\n".join([*lines, self._origin(result, stale)])
        return Verdict(prompt, prompt_label(result) + stale_label(stale, changes), story, changes)

    def _origin(
        self,
        recorded: RunResult | TaskResult | GraderResult | PromptResult,
        stale: str,
        again: RegradedResult | RegradedSuite | None = None,
        recorded_words: str = "Recorded",
    ) -> str:
        by = executor_and_model(recorded.origin)
        words = f"{recorded_words} {age(recorded.timestamp, self._now)}{f' ({by})' if by else ''}"
        if recorded.origin is None:
            words = NOTHING_RAN.format(age(recorded.timestamp, self._now))
        words += regraded_clause(again.at, self._now) if again is not None else ""
        suite = self._scores.suite_of(self._run)
        words += f" in {code(suite_label(suite))}" if suite is not None else ""
        return f"{words}{stale_clause(stale)}."


def _sign(again: RegradedResult | RegradedSuite | None) -> str:
    """Return the prefix of a verdict that is not that of the run."""
    return REGRADED if again is not None else ""


_SAID = (("passed", "passed"), ("failed", "failed"), ("error", "in error"))
_CUT_SHORT = "the run was interrupted; what was finished is kept"


def cut_reason(run: RunResult) -> str:
    """Return why a run was cut short, in words that begin small and have no full stop."""
    return run.reasons[0] if run.reasons else _CUT_SHORT


def cut_label(run: RunResult) -> str:
    """Return the label of a run of a suite that was cut short, with its progress."""
    word = cut_reason(run).partition(";")[0].removeprefix("the run was ")
    total = max(run.planned, len(run.tasks))
    statuses = [task.status for task in run.tasks.values() if task.trials]
    counts = [(statuses.count(status), word) for status, word in _SAID]
    judged = ", ".join(f"{count} {word}" for count, word in counts if count)
    return f"! {word} · {judged or 'none judged'} of {counted(total, 'task')}"


RUNNING = "⟳ running"
WAITS = "– waits for its turn"
_PHASES = {"asking": "prompt sent", "grading": "grading"}


def first_run(
    document: Document, root: Node, scores: DocumentScores, span: Span | None, now: datetime
) -> list[Verdict]:
    """Return the progress in a suite without recorded results."""
    if document.kind == "task":
        return list(running_task(root, scores, scores.task or "", now))
    if document.kind in {"trigger_tests", "trigger_list"}:
        return [verdict for prompt in prompts_in(root) for verdict in running_prompt(prompt, scores, now)]
    if document.kind == "prompts":
        rows = records(document, span)
        return [verdict for row in rows for verdict in running_task(row, scores, id_of(row), now)]
    if document.kind not in SUITES or not scores.runs_whole:
        return []
    name = _head_of_suite(root)
    found = [] if name is None else [Verdict(name, RUNNING, "The suite runs for the first time.")]
    for task in SuiteFile(document.tree).tasks(span):
        checkpoint()
        found += running_task(task.node, scores, task.id, now)
    return found


def _head_of_suite(root: Node) -> Node | None:
    """Return the node next to which the verdict of a suite is shown; one of Vally needs no name."""
    stimuli = root.entry("stimuli")
    return root.get("name") or root.get("skill_name") or (stimuli.key if stimuli is not None else None)


def running_task(node: Node, scores: DocumentScores, task_id: str, now: datetime) -> Iterator[Verdict]:
    """Yield the progress of a task, nothing if it does not run."""
    trial, head = scores.under_way(task_id), node.get("id") or node.get("name")
    if head is not None and trial is not None:
        yield Verdict(head, _label(trial), _story(task_id, trial, now))


def running_prompt(prompt: WrittenPrompt, scores: DocumentScores, now: datetime) -> Iterator[Verdict]:
    """Yield that a trigger prompt is tried, nothing when it is not."""
    trial = scores.prompt_under_way(prompt.text, should_trigger=prompt.should_trigger)
    if trial is not None:
        yield Verdict(prompt.node, _label(trial), _story(prompt.text, trial, now))


def _label(trial: RunningTrial) -> str:
    """Return a short label for the progress of a task or a trigger prompt."""
    number = f" · trial {trial.trial}" if trial.trial and trial.trial > 1 else ""
    return f"{RUNNING}{number} · {_PHASES[trial.phase]}"


def _story(name: str, trial: RunningTrial, now: datetime) -> str:
    """Return the same in Markdown, with how long it has gone on, and since when: a hover stays as it is."""
    seconds = max(0, round((now - trial.since).total_seconds()))
    took = f"{seconds // 60}:{seconds % 60:02}"
    clock = trial.since.astimezone().strftime("%H:%M:%S")
    did = (
        f"The prompt was sent {took} ago"
        if trial.phase == "asking"
        else f"The answer is graded, {took} so far"
    )
    number = f"Trial {trial.trial}. " if trial.trial else ""
    return f"**{code(name)}** {RUNNING}\n\n{number}{did} (since {clock})."
