"""Compare a recorded sequence of names with the wanted one: precision, recall, F1, three orders."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Order = Literal["exact", "in_order", "any_order"]


@dataclass(frozen=True, slots=True)
class Agreement:
    """Order-blind agreement of two sequences, counting repetitions; every number is 0..1."""

    precision: float
    recall: float
    f1: float


def agreement(wanted: Sequence[str], actual: Sequence[str]) -> Agreement:
    """Compare two sequences as multisets."""
    hits = (Counter(wanted) & Counter(actual)).total()
    precision = hits / len(actual) if actual else 0.0
    recall = hits / len(wanted) if wanted else 0.0
    f1 = 2 * precision * recall / (precision + recall) if hits else 0.0
    return Agreement(precision, recall, f1)


def follows(order: Order, wanted: Sequence[str], actual: Sequence[str]) -> bool:
    """Return whether the recorded sequence has the wanted names in the wanted order."""
    if order == "exact":
        return list(wanted) == list(actual)
    if order == "any_order":
        return Counter(wanted) <= Counter(actual)
    remaining = iter(actual)
    return all(name in remaining for name in wanted)


def why_not(order: Order, what: str, wanted: Sequence[str], actual: Sequence[str]) -> str:
    """Return the sentence for a sequence that does not follow; ``what`` is "actions" or "skills"."""
    got = f"got {', '.join(actual) or 'none'}"
    if order == "exact":
        return f"expected exactly the {what} {', '.join(wanted)}; {got}"
    if order == "in_order":
        return f"the {what} {', '.join(wanted)} do not appear in this order; {got}"
    missing = Counter(wanted) - Counter(actual)
    counts = [f"{name} (needed {Counter(wanted)[name]}, got {Counter(actual)[name]})" for name in missing]
    return f"missing {what}: {', '.join(counts)}"
