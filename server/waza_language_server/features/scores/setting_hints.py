"""What a value comes to beside the suite's: a task's limit in place of another, a weight as a share.

Architecture invariant: of the files around it the outlines are asked, which are read already.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice, takewhile
from typing import TYPE_CHECKING, Literal

from waza_engine.frozen import frozen
from waza_engine.markdown import code
from waza_language_server.project.outline import outline_of_in_steps, weight_of
from waza_language_server.project.suite_file import SuiteFile, word
from waza_language_server.project.uris import path_of

if TYPE_CHECKING:
    from waza_engine.steps import Steps
    from waza_language_server.project.document import Document
    from waza_language_server.project.index import Project
    from waza_language_server.project.outline import Outline
    from waza_language_server.project.suite_file import GraderEntry
    from waza_language_server.syntax.nodes import Node
    from waza_language_server.text.span import Span

Limit = Literal["timeout_seconds", "first_event_timeout_seconds"]
_LIMITS: tuple[Limit, ...] = ("timeout_seconds", "first_event_timeout_seconds")
MOST_GRADERS = 100
"""Of more graders one has a share that tells nobody anything."""


@frozen()
class SettingHint:
    """A few characters behind ``node``; ``tooltip`` is Markdown."""

    node: Node
    label: str
    tooltip: str


def setting_hints_in_steps(
    document: Document, project: Project, span: Span | None
) -> Steps[list[SettingHint]]:
    """Return the hints of an eval or task file, with many pauses; of those outside of ``span`` only some."""
    root = document.tree.root
    if root is None or root.kind != "mapping" or document.kind not in ("eval", "task"):
        return []
    entries = SuiteFile(document.tree)
    if document.kind == "task":
        path = path_of(document.uri)
        suites = [suite.outline for suite in project.suites_of(path)] if path is not None else []
        yield
        return [*_limits(root, suites), *_shares_in_task(entries.own_graders(), suites)]
    own = yield from outline_of_in_steps(document)
    weights = _together(_weights_of_suite(own), ())
    found = list(_shares(entries.own_graders(span), weights, "the suite"))
    for task in entries.tasks(span):
        yield
        found += (*_limits(task.node, [own]), *_shares_in_task(entries.graders_of(task), [own]))
    return found


Weighted = tuple[str, float | None]
"""The name of a grader and what it counts, which may be unknown."""
Weights = tuple[float, ...] | None
"""What the graders of a trial count, in order of size; None when not all of it is known."""


def _weights_of_suite(suite: Outline) -> list[Weighted]:
    # Those of inline tasks come behind them.
    own = takewhile(lambda grader: grader.task is None, suite.graders)
    few = islice(own, MOST_GRADERS + 1)
    return [(each.name, each.weight) for each in few if each.has_results or not each.name]


def _together(of_suite: Sequence[Weighted], of_task: Sequence[Weighted]) -> Weights:
    """Return what all count; a grader of a task takes the place of the suite's of its name."""
    by_name = dict((*of_suite, *of_task))
    weights = [weight for name, weight in by_name.items() if name and weight is not None]
    known = len(weights) == len(by_name) and len(of_suite) + len(of_task) <= MOST_GRADERS
    return tuple(sorted(weights)) if known else None


def _shares_in_task(entries: Iterator[GraderEntry], suites: Sequence[Outline]) -> Iterator[SettingHint]:
    # What is said at a checkpoint is no part of the trial's score.
    own = [each for each in islice(entries, MOST_GRADERS + 1) if each.place != "checkpoint"]
    if any(each.place == "expected" for each in own):
        return
    weighted = [(each.name, weight_of(each.node)) for each in own]
    totals = {_together(_weights_of_suite(suite), weighted) for suite in suites}
    if len(totals) == 1:
        yield from _shares(iter(own), totals.pop(), "the suite and this task")


def _shares(entries: Iterator[GraderEntry], weights: Weights, among: str) -> Iterator[SettingHint]:
    if weights is None or len(set(weights)) < 2:
        return
    total = sum(weights)
    for entry in entries:
        node, weight = entry.node.get("weight"), weight_of(entry.node)
        if node is None or weight is None or not entry.has_results or entry.item.kind == "alias":
            continue
        tooltip = (
            f"`{weight:g}` of `{total:g}`: what the graders of {among} count together in the weighted score. "
            "An expectation of a task counts 1 beside them. Whether a trial passes depends on no weight."
        )
        yield SettingHint(node, f"{_percent(weight / total)} of the weights", tooltip)


def _limits(task: Node, suites: Sequence[Outline]) -> Iterator[SettingHint]:
    for key in _LIMITS:
        node = task.get(key)
        own = word(node)
        of_suites = [getattr(suite, key) for suite in suites]
        values = dict.fromkeys(each for each in of_suites if each is not None and each.isdecimal())
        if node is None or own is None or not own.isdecimal() or {*map(int, values)} <= {int(own)}:
            continue
        whose = "The suite's" if len(suites) == 1 else "A suite's"
        tooltip = f"{whose} {code(f'config.{key}')} is {' or '.join(values)}; in this task it is {own}."
        yield SettingHint(node, f"{', '.join(values)} → {own} here", tooltip)


def _percent(share: float) -> str:
    return f"{share:.0%}".replace("%", " %") if share >= 0.01 else "under 1 %"
