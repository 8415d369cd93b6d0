"""Inlay hints: scores next to the lines that caused them, and effective values next to those of the suite.

The score of a grader is shown at the end of its ``name:`` line, and at each assertion or pattern whether it
held. The tooltip shows the feedback, the trials, the age and the origin. After an edit marks stay next to
the rules they belong to: a rule that was rewritten loses its mark, one that moved takes it along.

Architecture invariant: answered from the project's memory of results; nothing runs and nothing is awaited.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from itertools import groupby, islice, takewhile
from typing import TYPE_CHECKING, Literal, get_args

from waza_engine.checkpoint import checkpoint
from waza_engine.counting import counted
from waza_engine.frozen import frozen
from waza_engine.later_patterns import compiled_later
from waza_engine.markdown import code, fenced, sentence
from waza_engine.number_formats import format_score, format_score_history
from waza_engine.vocabulary import EXPECTED_LISTS
from waza_language_server.features.rows.row_verdicts import id_of, record_hints, records
from waza_language_server.features.scores.live_text import LIVE, TrialLocation, trials_to_open
from waza_language_server.features.scores.score_text import STALE, check_label, score_label, score_story
from waza_language_server.features.scores.verdict_hints import verdicts
from waza_language_server.features.scores.verdict_labels import (
    HintKind,
    Verdict,
    age,
    share_label,
    shortened,
    sign_of,
)
from waza_language_server.project.document import SUITES
from waza_language_server.project.document_scores import read_scores
from waza_language_server.project.outline import outline_of, weight_of
from waza_language_server.project.suite_file import SuiteFile, marked_node, rule_at, scalar_text, task_id
from waza_language_server.project.uris import path_of
from waza_language_server.syntax.nodes import value_at

if TYPE_CHECKING:
    from waza_engine.results.reading.scores import CheckResult, RunResult
    from waza_language_server.project.changed_inputs import ChangedInput
    from waza_language_server.project.document import Document
    from waza_language_server.project.document_scores import DocumentScores, Outcome, Score
    from waza_language_server.project.histories import RunOnce, SuiteHistory, TaskHistory
    from waza_language_server.project.index import Project
    from waza_language_server.project.outline import Outline
    from waza_language_server.project.suite_file import GraderEntry
    from waza_language_server.project.workspace import Workspace
    from waza_language_server.syntax.nodes import Node
    from waza_language_server.text.line_index import LineIndex
    from waza_language_server.text.span import Span

LONGEST_LINE = 43
"""Characters of hints on one line that VS Code shows by default (`editor.inlayHints.maximumLength`)."""
_SCORED = compiled_later(r"(?:[⚡↻] )?[✓✗◐] \d\.\d\d(?= )")
HINT_KINDS: frozenset[str] = frozenset(get_args(HintKind))


@frozen()
class InlayHint:
    """A few characters shown after ``offset``; ``tooltip`` is Markdown.

    ``changes`` are the files that have changed since it was recorded, ``trials`` those of its live verdict,
    so that they can be opened. ``is_old`` of a check says that its grader's score is stale.
    """

    offset: int
    label: str
    tooltip: str
    changes: tuple[ChangedInput, ...] = ()
    kind: HintKind = "score"
    trials: tuple[TrialLocation, ...] = ()
    is_old: bool = False

    @property
    def stale(self) -> bool:
        """Return whether the verdict may be stale."""
        return self.is_old or STALE in self.label


def inlay_hints(
    document: Document, workspace: Workspace, span: Span | None = None, now: datetime | None = None
) -> tuple[InlayHint, ...]:
    """Return the scores in a part of a document (all of it without ``span``), in the order of the text.

    ``now`` is when the scores are looked at, for their age.
    """
    if document.kind in ("captures", "trials"):
        return tuple(InlayHint(*hint) for hint in record_hints(document, span))
    if document.kind not in {*SUITES, "task", "trigger_tests", "prompts"}:
        return ()
    found: list[InlayHint] = []
    scores = read_scores(document, workspace.project)
    for grader in SuiteFile(document.tree).graders(span):
        checkpoint()
        score = scores.of_grader(grader)
        if score is not None:
            found += hints_of_grader(document, grader, score, score_story(score, now))
    found += other_hints(document, scores, span, now)
    run = max(scores.runs, key=lambda run: run.timestamp, default=None)
    found += (
        InlayHint(each.node.span.end, each.label, each.tooltip, kind=each.kind)
        for each in setting_hints(document, workspace.project, span, run)
    )
    in_span = [hint for hint in found if span is None or span.contains(hint.offset)]
    return tuple(sorted(in_span, key=lambda hint: hint.offset))


def other_hints(
    document: Document, scores: DocumentScores, span: Span | None = None, now: datetime | None = None
) -> list[InlayHint]:
    """Return the verdicts of suites, tasks, expectations, metrics and prompts."""
    found = (*verdicts(document, scores, span, now), *histories(document, scores, span, now))
    if document.kind == "evals_json":
        # With the first file of this kind.
        from waza_language_server.features.scores.benchmark_hints import benchmark_hints

        found = (*found, *benchmark_hints(document, scores.project))
    return list(_hints_of_verdicts(document, found))


def hints_of_grader(document: Document, grader: GraderEntry, score: Score, story: str) -> Iterator[InlayHint]:
    """Yield the score of a grader, with its story in Markdown, and whether each of its rules held."""
    name, entry = grader.node.get("name"), grader.node
    if name is None or grader.item.kind == "alias":
        # The name is defined elsewhere; its line may be that of another grader.
        yield _hint_of(score, _end_of_line(document, grader.item), story)
        return
    yield _hint_of(score, _end_of_line(document, name), story)
    alone = len(score.outcomes) == 1
    marks = list(_marks(entry, score.outcomes[0]) if alone else _marks_of_all(entry, score))
    lines = Counter(document.lines.line_of(node.span.start) for node in (*(mark[0] for mark in marks), name))
    for node, label, tooltip, is_old in marks:
        # Several rules on one line: each mark follows its own rule.
        crowded = lines[document.lines.line_of(node.span.start)] > 1
        place = node.span.end if crowded else _end_of_line(document, node)
        yield InlayHint(place, label, tooltip, kind="check", is_old=is_old)


def _hint_of(score: Score, offset: int, story: str) -> InlayHint:
    return InlayHint(offset, score_label(score), story, score.changes, trials=trials_to_open(score))


def _hints_of_verdicts(document: Document, verdicts: Sequence[Verdict]) -> Iterator[InlayHint]:
    nodes = {each.node.span for each in verdicts}
    lines = Counter(document.lines.line_of(span.start) for span in nodes)
    for each in verdicts:
        crowded = lines[document.lines.line_of(each.node.span.start)] > 1
        offset = each.node.span.end if crowded else _end_of_line(document, each.node)
        yield InlayHint(offset, each.label, each.tooltip, each.changes, each.kind, is_old=each.is_old)


Mark = tuple["Node", str, str, bool]


def _marks(entry: Node, outcome: Outcome) -> Iterator[Mark]:
    for check in outcome.result.checks:
        node = rule_at(entry, check.path, outcome.graded)
        if node is not None:
            tooltip = fenced(check.message) if check.message else ""
            mark = LIVE if outcome.live is not None and not outcome.stale else ""
            label = mark + check_label(check.passed_trials, check.trials)
            yield marked_node(node), label, tooltip, bool(outcome.stale)


def _marks_of_all(entry: Node, score: Score) -> Iterator[Mark]:
    """Yield one mark for each rule of a suite's grader: whether it held in all tasks."""
    by_path: dict[tuple[str | int, ...], list[tuple[Outcome, CheckResult]]] = {}
    for outcome in score.outcomes:
        for check in outcome.result.checks:
            by_path.setdefault(check.path, []).append((outcome, check))
    for path, checks in by_path.items():
        node = rule_at(entry, path, checks[0][0].graded)
        if node is None:
            continue
        failed = [(outcome, check) for outcome, check in checks if not check.passed]
        mark = LIVE if all(outcome.live and not outcome.stale for outcome, _ in checks) else ""
        sign = sign_of((check.passed_trials, check.trials) for _, check in checks)
        label = share_label(sign, len(checks) - len(failed), len(checks), "task") if failed else sign
        reasons = [f"{outcome.task.id}: {check.message or 'failed'}" for outcome, check in failed[:10]]
        is_old = any(outcome.stale for outcome, _ in checks)
        yield marked_node(node), mark + label, fenced("\n".join(reasons)) if reasons else "", is_old


def shortened_hints(hints: Sequence[InlayHint], lines: LineIndex) -> list[InlayHint]:
    """Return hints, in their order, with no more characters a line than an editor shows.

    Labels without room move to the tooltip of the hint, or of the one before it.
    """
    found: list[InlayHint] = []
    for _, group in groupby(hints, key=lambda hint: lines.line_of(hint.offset)):
        on_line, room = list(group), LONGEST_LINE
        # The scores of earlier runs go first.
        is_full = sum(len(hint.label) for hint in on_line if hint.kind != "history") > room
        for number, hint in enumerate(on_line):
            label = _shortened(hint.label, room, is_cut=number == 0) if is_full else hint.label
            if len(label) <= room:
                whole = [] if label == hint.label else [code(hint.label)]
                story = "\n\n".join([*whole, hint.tooltip])
                found.append(replace(hint, label=label, tooltip=story, is_old=hint.stale))
                room -= len(label)
            else:
                before = found.pop()
                story = "\n\n".join([before.tooltip, code(hint.label), hint.tooltip])
                found.append(replace(before, tooltip=story))
    return found


def _shortened(label: str, room: int, *, is_cut: bool) -> str:
    """Return a label shortened to the available room, least important parts first; the stale marker stays."""
    verdict, stale, _ = label.partition(STALE)
    room -= len(stale)
    while len(verdict) > room and " · " in verdict:
        verdict = verdict.rpartition(" · ")[0]
    if len(verdict) > room and (scored := _SCORED.match(verdict)):
        verdict = scored[0]
    if len(verdict) > room and is_cut:
        verdict = shortened(verdict, room)
    return verdict + stale


def _end_of_line(document: Document, node: Node) -> int:
    """Return the end of the line on which a value begins."""
    return document.lines.line_span(document.lines.line_of(node.span.start)).end


FEWEST_RUNS = 3
"""With fewer runs, scores are shown only if they differ."""
_MOST_SCORES = 3


def histories(
    document: Document, scores: DocumentScores, span: Span | None, now: datetime | None
) -> tuple[Verdict, ...]:
    """Return the histories of the suite and the tasks in a part of a document."""
    root = document.tree.root
    history = scores.history
    if root is None or history is None or (root.kind != "mapping" and document.kind != "prompts"):
        return ()
    at = now or datetime.now(UTC)
    found: list[Verdict] = []
    match document.kind:
        case "task":
            found += _of_task(root, history, scores.task or "", at)
        case "eval":
            found += _of_suite(root, history, at)
            for task in SuiteFile(document.tree).tasks(span):
                checkpoint()
                found += _of_task(task.node, history, task.id, at)
        case "prompts":
            for row in records(document, span):
                found += _of_task(row, history, id_of(row), at)
        case _:
            pass
    return tuple(found)


def _of_suite(root: Node, history: SuiteHistory, now: datetime) -> Iterator[Verdict]:
    name, scores = root.get("name"), tuple(run.score for run in history.runs)
    if name is not None and _is_worth_it(scores):
        lines = [_title(scores), "", *(_run_line(run, now) for run in reversed(history.runs))]
        yield Verdict(name, format_score_history(scores, _MOST_SCORES), "\n".join(lines), kind="history")


def _of_task(node: Node, history: SuiteHistory, task_id: str, now: datetime) -> Iterator[Verdict]:
    head, task = node.get("id") or node.get("name"), history.tasks.get(task_id)
    if head is not None and task is not None and _is_worth_it(task.scores):
        label = format_score_history(task.scores, _MOST_SCORES) + (
            f" flaky {task.passed_trials}/{task.trials}" if task.trials else ""
        )
        story = "\n".join([_title(task.scores), "", *_story(task, history, now)])
        yield Verdict(head, label, story, kind="history")


def _story(task: TaskHistory, history: SuiteHistory, now: datetime) -> Iterator[str]:
    yield f"- passed in {task.passed} of {counted(task.judged, 'run')} that judged it"
    if task.trials:
        yield f"- flaky: its trials differed within a run, {task.passed_trials} of {task.trials} passed there"
    if task.red_since is not None:
        before = None if task.passed_in is None else history.runs[task.passed_in]
        newly, then = ("red", "") if before is None else ("newly red", "; it passed in the run before")
        if before is not None and before.commit is not None:
            then += f" (commit {code(before.commit.words)})"
        yield f"- {newly} since {_of_run(history.runs[task.red_since], now)}{then}"


def _title(scores: tuple[float | None, ...]) -> str:
    return f"**The last {len(scores)} runs**, the oldest first: {format_score_history(scores, len(scores))}"


def _run_line(run: RunOnce, now: datetime) -> str:
    score = "not judged" if run.score is None else format_score(run.score)
    return f"- {sentence(run.part) or score}: {_of_run(run, now)}"


def _of_run(run: RunOnce, now: datetime) -> str:
    model = f", {code(run.model)}" if run.model else ""
    commit = f", commit {code(run.commit.words)}" if run.commit else ""
    return f"the run of {age(run.started, now)} ({code(run.file)}{model}{commit})"


def _is_worth_it(scores: tuple[float | None, ...]) -> bool:
    judged = [score for score in scores if score is not None]
    return len(judged) >= FEWEST_RUNS or len(set(map(format_score, judged))) > 1


Limit = Literal["timeout_seconds", "first_event_timeout_seconds"]
_LIMITS: tuple[Limit, ...] = ("timeout_seconds", "first_event_timeout_seconds")
MOST_GRADERS = 100
"""With more graders, the share of one is too small to be useful."""
MOST_TASKS = 200
"""Task files of a suite that are searched for graders of their own."""


def setting_hints(
    document: Document, project: Project, span: Span | None, run: RunResult | None = None
) -> list[Verdict]:
    """Return the hints of an eval or task file; of those outside of ``span`` only some.

    ``run`` are the newest results of its suite: graders that no list names, such as expectations, count too.
    """
    root = document.tree.root
    if root is None or root.kind != "mapping" or document.kind not in ("eval", "task"):
        return []
    entries = SuiteFile(document.tree)
    if document.kind == "task":
        path = path_of(document.uri)
        suites = [suite.outline for suite in project.suites_of(path)] if path is not None else []
        checkpoint()
        more = _not_listed(task_id(root, path) if path is not None else "", run, root)
        return [*_limits(root, suites), *_shares_in_task(entries.own_graders(), suites, more)]
    own = outline_of(document)
    found = list(_shares(entries.own_graders(span), _of_tasks(document, project, own, run), "the suite"))
    for task in entries.tasks(span):
        checkpoint()
        more = _not_listed(task.id, run, task.node)
        found += (*_limits(task.node, [own]), *_shares_in_task(entries.graders_of(task), [own], more))
    return found


Weighted = tuple[str, float | None]
"""The name of a grader and its weight, which may be unknown."""
Weights = tuple[float, ...] | None
"""The weights of the graders of a trial, in order of size; None if some are unknown."""


def _weights_of_suite(suite: Outline) -> list[Weighted]:
    # Those of inline tasks follow them.
    own = takewhile(lambda grader: grader.task is None, suite.graders)
    few = islice(own, MOST_GRADERS + 1)
    return [(each.name, each.weight) for each in few if each.has_results or not each.name]


def _together(of_suite: Sequence[Weighted], of_task: Sequence[Weighted]) -> Weights:
    """Return what all count; a grader of a task takes the place of the suite's of its name."""
    by_name = dict((*of_suite, *of_task))
    weights = [weight for name, weight in by_name.items() if name and weight is not None]
    known = len(weights) == len(by_name) and len(of_suite) + len(of_task) <= MOST_GRADERS
    return tuple(sorted(weights)) if known else None


def _of_tasks(
    document: Document, project: Project, own: Outline, run: RunResult | None
) -> list[tuple[frozenset[str], Weights]]:
    """Return the weights of all graders of each task, with the names of its own graders."""
    inline: dict[str, list[Weighted]] = {task: [] for task in own.inline_tasks}
    for grader in own.graders:
        if grader.task is not None and grader.has_results:
            inline.setdefault(grader.task, []).append((grader.name, grader.weight))
    path = path_of(document.uri)
    suites = project.suites_of(path) if path is not None else ()
    files = [task for suite in suites if suite.path == path for task in project.tasks_of(suite).value]
    for task in files[:MOST_TASKS]:
        graders = task.outline.graders
        inline[task.id] = [(each.name, each.weight) for each in graders if each.has_results]
    of_suite = _weights_of_suite(own)
    return [
        (frozenset(name for name, _ in graders), _together(of_suite, [*graders, *_not_listed(task, run)]))
        for task, graders in inline.items()
    ] or [(frozenset(), _together(of_suite, ()))]


def _not_listed(task: str, run: RunResult | None, written: Node | None = None) -> list[Weighted]:
    """Return the graders of a task that are in no list: those of expectations, and those of its agent."""
    known = run.tasks.get(task) if run is not None else None
    found = {name: one.weight for name, one in known.graders.items() if name.startswith("_")} if known else {}
    expected = written.get("expected") if written is not None else None
    for key in EXPECTED_LISTS if expected is not None else ():
        listed = value_at(expected, key)
        if listed is not None and any(True for _ in listed.target.each_item()):
            found[f"_{key}"] = 1.0
    return list(found.items())


def _shares_in_task(
    entries: Iterator[GraderEntry], suites: Sequence[Outline], more: Sequence[Weighted]
) -> Iterator[Verdict]:
    # Graders of a checkpoint are not part of the trial's score.
    own = [each for each in islice(entries, MOST_GRADERS + 1) if each.place != "checkpoint"]
    if any(each.place == "expected" for each in own):
        return
    weighted = [(each.name, weight_of(each.node)) for each in own]
    totals = {_together(_weights_of_suite(suite), [*weighted, *more]) for suite in suites}
    if len(totals) == 1:
        yield from _shares(iter(own), [(frozenset(), totals.pop())], "the suite and this task")


def _shares(
    entries: Iterator[GraderEntry], tasks: Sequence[tuple[frozenset[str], Weights]], among: str
) -> Iterator[Verdict]:
    """Yield the share of each grader; it has none in a task that has a grader of its name itself."""
    for entry in entries:
        in_each = [weights for names, weights in tasks if entry.name not in names]
        if not in_each or None in in_each or all(len(set(each or ())) < 2 for each in in_each):
            continue
        totals = sorted({sum(each or ()) for each in in_each})
        node, weight = entry.node.get("weight"), weight_of(entry.node)
        if node is None or weight is None or not entry.has_results or entry.item.kind == "alias":
            continue
        of = "` to `".join(f"{total:g}" for total in (totals if len(totals) < 2 else (totals[0], totals[-1])))
        tooltip = (
            f"`{weight:g}` of `{of}`, the sum of the weights of the graders of {among}"
            f"{', by task' if totals[1:] else ''}. Weights do not decide if a trial passes."
        )
        shares = dict.fromkeys(_percent(weight / total) for total in (totals[-1], totals[0]))
        yield Verdict(node, f"= {' to '.join(shares)} of the weights", tooltip, kind="inherited")


def _limits(task: Node, suites: Sequence[Outline]) -> Iterator[Verdict]:
    for key in _LIMITS:
        node = task.get(key)
        own = scalar_text(node)
        of_suites = [getattr(suite, key) for suite in suites]
        values = dict.fromkeys(each for each in of_suites if each is not None and each.isdecimal())
        if node is None or own is None or not own.isdecimal() or {*map(int, values)} <= {int(own)}:
            continue
        whose = "The suite's" if len(suites) == 1 else "A suite's"
        tooltip = f"{whose} {code(f'config.{key}')} is {' or '.join(values)}; in this task it is {own}."
        yield Verdict(node, f"{', '.join(values)} → {own} here", tooltip, kind="inherited")


def _percent(share: float) -> str:
    return f"{share:.0%}".replace("%", " %") if share >= 0.01 else "under 1 %"
