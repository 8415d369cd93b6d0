"""Effective values: a task's limit that overrides that of the suite, a weight as a share of all weights.

Architecture invariant: of other files, only the outlines are used, which are read already.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice, takewhile
from typing import TYPE_CHECKING, Literal

from waza_engine.checkpoint import checkpoint
from waza_engine.frozen import frozen
from waza_engine.markdown import code
from waza_engine.vocabulary import EXPECTED_LISTS
from waza_language_server.project.outline import outline_of, weight_of
from waza_language_server.project.suite_file import SuiteFile, task_id, word
from waza_language_server.project.uris import path_of
from waza_language_server.syntax.merges import value_at

if TYPE_CHECKING:
    from waza_engine.results.reading.scores import RunResult
    from waza_language_server.project.document import Document
    from waza_language_server.project.index import Project
    from waza_language_server.project.outline import Outline
    from waza_language_server.project.suite_file import GraderEntry
    from waza_language_server.syntax.nodes import Node
    from waza_language_server.text.span import Span

Limit = Literal["timeout_seconds", "first_event_timeout_seconds"]
_LIMITS: tuple[Limit, ...] = ("timeout_seconds", "first_event_timeout_seconds")
MOST_GRADERS = 100
"""With more graders, the share of one is too small to be useful."""
MOST_TASKS = 200
"""Task files of a suite that are searched for graders of their own."""


@frozen()
class SettingHint:
    """A few characters after ``node``; ``tooltip`` is Markdown."""

    node: Node
    label: str
    tooltip: str


def setting_hints(
    document: Document, project: Project, span: Span | None, run: RunResult | None = None
) -> list[SettingHint]:
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
) -> Iterator[SettingHint]:
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
) -> Iterator[SettingHint]:
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
            f"`{weight:g}` of `{of}`: what the graders of {among} count together in the weighted score"
            f"{', by task' if totals[1:] else ''}. Weights do not decide if a trial passes."
        )
        shares = dict.fromkeys(_percent(weight / total) for total in (totals[-1], totals[0]))
        yield SettingHint(node, f"{' to '.join(shares)} of the weights", tooltip)


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
