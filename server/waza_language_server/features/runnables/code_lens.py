"""Code lenses: ``▶ Run suite``, ``▶ Run task`` and ``▶ Run grader``, with the estimated cost and time.

Others on the same line:

* ``↻ Re-grade``, once an answer is recorded; it is free, so it comes first for a grader
* ``◷ Review``, while an answer waits for a person
* ``▶ Run affected (4 of 31)``, if some tasks of a suite have changed since their newest results
* ``…``, for clients that let the user choose run options

During a run the lens reads ``✗ Cancel``. The lines with lenses stay the same, so that none moves under the
pointer.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import field, replace
from itertools import chain
from typing import TYPE_CHECKING, Any, Literal, get_args

from waza_engine.checkpoint import checkpoint
from waza_engine.counting import counted
from waza_engine.frozen import frozen
from waza_language_server.features.runnables.runnables import Runnable, is_off, runnables
from waza_language_server.features.scores.verdict_labels import suite_label
from waza_language_server.project.document import SUITES
from waza_language_server.project.runnable_id import RunnableId
from waza_language_server.project.suite_file import is_of_vally

if TYPE_CHECKING:
    from pathlib import Path

    from waza_engine.results.reading.scores import RunResult
    from waza_language_server.project.document import Document
    from waza_language_server.project.workspace import Workspace
    from waza_language_server.text.span import Span


Expected = Callable[["Path", "RunResult | None"], "SuiteEstimates | None"]
Affected = Callable[["Path", "RunResult | None"], tuple[int, int] | None]
"""The number of tasks of a suite that have changed since their results were recorded, and of all tasks."""

LensKind = Literal["run", "affected", "regrade", "review", "more", "newSuite", "testBed"]
LENS_KINDS: frozenset[str] = frozenset(get_args(LensKind))
RUN = "waza.run"
CANCEL = "waza.cancel"
REGRADE = "waza.regrade"
REVIEW = "waza.review"
RUN_AFFECTED = "waza.runAffected"


_Waiting = frozenset[tuple[str | None, str | None]]
_MOST_SUITES = 20
_known_waiting: dict[Path, tuple[RunResult, _Waiting]] = {}
"""The pending items in the last requested results of each suite."""


def nothing_expected(_suite: Path, _recorded: RunResult | None) -> SuiteEstimates | None:
    """Return None: the cost of a run is unknown."""


def nothing_affected(_suite: Path, _recorded: RunResult | None) -> tuple[int, int] | None:
    """Return None: the changed tasks are unknown."""


@frozen()
class CodeLens:
    """A clickable line above ``span``: ``command`` is sent with one argument, the id of the runnable."""

    span: Span
    title: str
    command: str
    argument: dict[str, Any]
    kind: LensKind = "run"


def code_lenses(
    document: Document,
    workspace: Workspace,
    running: Collection[RunnableId] = (),
    run_with: str | None = None,
    expected: Expected = nothing_expected,
    affected: Affected = nothing_affected,
    within: Span | None = None,
) -> tuple[CodeLens, ...]:
    """Return the lenses of a document; ``running`` are the targets of the active runs.

    ``run_with`` is a command of the client that asks for the options of a run; without it there is no ``…``.
    ``expected`` returns the estimate for a run of a suite from its last results, and ``affected`` the number
    of its tasks that have changed since.
    """
    found: Sequence[Runnable] = _offered(document, workspace)
    if within is not None:
        found = [each for each in found if begins_within(each.span, within)]
    return lenses_of(found, workspace, running, run_with, expected, affected)


def _offered(document: Document, workspace: Workspace) -> Sequence[Runnable]:
    """Return the runnables that a click can run; none of a suite with all tasks disabled."""
    found = runnables(document, workspace)
    if document.kind in SUITES and found:
        return () if is_off(workspace.project, found[0].id.suite) else found
    return found


def begins_within(span: Span, part: Span | None) -> bool:
    """Return whether a span begins in a part of the text, its end included; None is the whole text."""
    return part is None or part.start <= span.start <= part.end


def lenses_around(
    document: Document,
    workspace: Workspace,
    span: Span,
    running: Collection[RunnableId],
    expected: Expected,
    affected: Affected,
) -> tuple[CodeLens, ...]:
    """Return the lenses of the items around a selection, innermost first, with the items in their titles."""
    found = _offered(document, workspace)
    around = [each for each in found if each.whole.start <= span.start and span.end <= each.whole.end]
    around.sort(key=lambda runnable: runnable.whole.end - runnable.whole.start)
    lenses = lenses_of(around, workspace, running, None, expected, affected)
    return tuple(
        replace(lens, title=f"{lens.title} {RunnableId.parse(lens.argument['id']).kind}")
        if lens.kind == "regrade" or lens.command == CANCEL
        else lens
        for lens in lenses
    )


def lenses_of(
    found: Sequence[Runnable],
    workspace: Workspace,
    running: Collection[RunnableId],
    run_with: str | None,
    expected: Expected,
    affected: Affected,
    words: str = "",
) -> tuple[CodeLens, ...]:
    """Return the lenses of runnables; ``words`` replace the kind in their titles."""
    suites = {runnable.id.suite for runnable in found}
    answered: dict[Path, frozenset[str]] = {}
    waiting: dict[Path, _Waiting] = {}
    estimates: dict[Path, SuiteEstimates | None] = {}
    changed: dict[Path, tuple[int, int] | None] = {}
    task_words: dict[Path, str] = {}
    for suite in suites:
        of_vally = is_of_vally(workspace.project.tree(suite).root)
        task_words[suite] = "case" if suite.suffix == ".json" else "stimulus" if of_vally else "task"
        recorded = workspace.project.scores.results(suite)
        answered[suite] = _answered(recorded)
        waiting[suite] = _waiting_of(suite, recorded)
        estimates[suite] = expected(suite, recorded)
        changed[suite] = affected(suite, recorded)
    lenses: list[CodeLens] = []
    for runnable in found:
        checkpoint()
        estimate = _estimate_words(runnable.id, estimates[runnable.id.suite])
        called = words or _called(runnable.id, task_words[runnable.id.suite])
        run = _run_lens(runnable, running, called, estimate, tell_suite=len(suites) > 1)
        again = _regrade_lens(runnable, answered[runnable.id.suite])
        # For a grader, regrading comes first: it answers the same question at no cost.
        both = (again, run) if runnable.id.kind == "grader" else (run, again)
        lenses += [lens for lens in both if lens is not None]
        target = runnable.id
        if target.kind != "prompt" and (target.task, target.grader) in waiting[target.suite]:
            lenses.append(CodeLens(runnable.span, "◷ Review", REVIEW, run.argument, "review"))
        if runnable.id.kind == "suite" and run.command == RUN:
            lenses += _affected_lens(runnable, changed[runnable.id.suite])
        if run_with is not None and run.command == RUN:
            lenses.append(CodeLens(runnable.span, "…", run_with, run.argument, "more"))
    return tuple(lenses)


def _called(target: RunnableId, task_word: str) -> str:
    """Return the word for a part of a suite in the format of its file."""
    if target.kind == "task":
        return task_word
    return "all" if target.kind == "suite" and target.suite.suffix == ".json" else target.kind


def _run_lens(
    runnable: Runnable, running: Collection[RunnableId], words: str, estimate: str, *, tell_suite: bool
) -> CodeLens:
    argument = {"id": str(runnable.id)}
    if runnable.id in running:
        return CodeLens(runnable.span, "✗ Cancel", CANCEL, argument)
    suite = f" in {suite_label(runnable.id.suite)}" if tell_suite else ""
    title = " · ".join(part for part in (f"▶ Run {words}{suite}", estimate) if part)
    return CodeLens(runnable.span, title, RUN, argument)


def _affected_lens(runnable: Runnable, changed: tuple[int, int] | None) -> Iterator[CodeLens]:
    """Yield the lens that runs the changed tasks; if none or all have changed, the suite's own is enough."""
    if changed is not None and 0 < changed[0] < changed[1]:
        title = f"▶ Run affected ({changed[0]} of {changed[1]})"
        yield CodeLens(runnable.span, title, RUN_AFFECTED, {"id": str(runnable.id)}, "affected")


def _estimate_words(target: RunnableId, estimates: SuiteEstimates | None) -> str:
    """Return the estimate of a suite or a task; there is none for a grader."""
    if estimates is None or target.kind in ("grader", "prompt"):
        return ""
    found = estimates.suite if target.task is None else estimates.tasks.get(target.task)
    return "" if found is None else describe_estimate(found)


def _answered(recorded: RunResult | None) -> frozenset[str]:
    """Return the tasks with a recorded answer; a trial that was cancelled or broke has none."""
    tasks = () if recorded is None else recorded.tasks.values()
    return frozenset(one.id for one in tasks if one.graders or one.status in ("passed", "failed"))


def _regrade_lens(runnable: Runnable, answered: frozenset[str]) -> CodeLens | None:
    """Return the lens that grades the last record again; None if there is no answer to grade."""
    task = runnable.id.task
    if runnable.id.kind == "prompt":
        return None
    if not (answered if task is None else task in answered):
        return None
    return CodeLens(runnable.span, "↻ Re-grade", REGRADE, {"id": str(runnable.id)}, "regrade")


def _waiting_of(suite: Path, recorded: RunResult | None) -> _Waiting:
    """Return the pending items of a suite, cached for the same results, which have up to 50,000 verdicts."""
    if recorded is None:
        return frozenset()
    known = _known_waiting.get(suite)
    if known is None or known[0] is not recorded:
        if known is None and len(_known_waiting) >= _MOST_SUITES:
            _known_waiting.clear()
        known = _known_waiting[suite] = recorded, _waiting(recorded)
    return known[1]


def _waiting(recorded: RunResult) -> _Waiting:
    """Return the tasks and graders whose newest verdict a person has not given yet.

    None stands for all: a pending verdict also marks the suite, its task, and the grader of all tasks.
    """
    return frozenset(
        each
        for task in recorded.tasks.values()
        for name, verdict in chain(task.graders.items(), task.checkpoints.items())
        if verdict.status == "pending"
        for each in ((task.id, name), (task.id, None), (None, name), (None, None))
    )


LEAST_SECONDS = 1.0
"""The time of a shorter run is not shown."""


@frozen()
class Estimate:
    """The engine's estimate of a run: trials, US dollars, seconds of wall clock; None is unknown.

    ``free`` is true if no paid model is used.
    """

    trials: int
    usd: float | None
    seconds: float | None
    free: bool = False


@frozen()
class SuiteEstimates:
    """The estimate of a whole suite, and those of its tasks by id."""

    suite: Estimate
    tasks: Mapping[str, Estimate] = field(default_factory=dict[str, Estimate])


def describe_estimate(estimate: Estimate) -> str:
    """Return ``≈ $0.42 · 3 min · 12 trials``, without unknown parts; "" if nothing is worth showing."""
    cost = "" if estimate.free or estimate.usd is None else money(estimate.usd)
    time = "" if estimate.seconds is None else _time(estimate.seconds)
    if not cost and not time:
        return ""
    trials = counted(estimate.trials, "trial")
    return " · ".join(part for part in (f"≈ {cost or time}", time if cost else "", trials) if part)


def money(usd: float) -> str:
    """Return an amount with cents; less than half a cent is shown as less than one."""
    return f"${usd:,.2f}" if usd >= 0.005 or usd <= 0 else "< $0.01"


def _time(seconds: float) -> str:
    if seconds < LEAST_SECONDS:
        return ""
    if seconds < 60:
        return f"{seconds:.0f} s"
    minutes = seconds / 60
    return f"{minutes:.0f} min" if minutes < 90 else f"{minutes / 60:.1f} h"
