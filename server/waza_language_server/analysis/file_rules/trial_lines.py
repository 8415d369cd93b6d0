"""Lines of trials with fewer trials than their `k` says."""

from __future__ import annotations

from waza_engine.counting import counted
from waza_engine.spec.reading.scalars import Json
from waza_language_server.analysis.problem import Problem
from waza_language_server.analysis.rule import FileView, Found
from waza_language_server.syntax.nodes import Node, items_where


def missing_trials(view: FileView) -> Found:
    """Yield each `k` that is greater than the number of trials next to it."""
    if view.kind != "trials" or view.tree.root is None:
        return
    for line in items_where(view.tree.root, _lacks_trials):
        k, trials = line.get("k"), line.get("trials")
        if k is not None and trials is not None:
            there = counted(len(trials.items), "trial")
            message = f"`k` is {k.value}, but the line has {there}; the others are missing in `trials`."
            yield Problem("unlikely-value", k.span, message, "warning")


def lacks_trials(row: Json) -> bool:
    """Return whether a row has fewer trials than it says."""
    if not isinstance(row, dict):
        return False
    trials = row.get("trials")
    return isinstance(trials, list) and _is_more_than(row.get("k"), len(trials))


def _lacks_trials(line: Node) -> bool:
    k, trials = line.get("k"), line.get("trials")
    if k is None or trials is None or trials.kind != "sequence":
        return False
    return _is_more_than(k.to_python(), len(trials.items))


def _is_more_than(k: object, there: int) -> bool:
    return isinstance(k, int | float) and not isinstance(k, bool) and k > there
