"""How well a skill is triggered: prompts that should call it and prompts that should not."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TriggerAnswer:
    """The result of one trigger prompt.

    ``confidence`` is ``""`` or ``high`` (counts fully) or ``medium`` (half).
    """

    should_trigger: bool
    did_trigger: bool
    confidence: str = ""
    error: str = ""


@dataclass(frozen=True, slots=True)
class TriggerMetrics:
    """Counts of prompts, and rates from the weighted counts, rounded to four decimals."""

    true_positives: int
    false_positives: int
    true_negatives: int
    false_negatives: int
    errors: int
    precision: float
    recall: float
    f1: float
    accuracy: float


def trigger_metrics(answers: Iterable[TriggerAnswer]) -> TriggerMetrics | None:
    """Return the metrics of all trigger prompts, None without prompts.

    A prompt that could not be tried counts as misclassified, and in ``errors``.
    """
    counts = {(True, True): 0, (False, True): 0, (False, False): 0, (True, False): 0}
    weights = dict.fromkeys(counts, 0.0)
    errors = 0
    for answer in answers:
        errors += bool(answer.error)
        did = not answer.should_trigger if answer.error else answer.did_trigger
        key = answer.should_trigger, did
        counts[key] += 1
        weights[key] += 0.5 if answer.confidence == "medium" else 1.0
    if not any(counts.values()):
        return None
    hits, false_alarms = weights[True, True], weights[False, True]
    rejections, misses = weights[False, False], weights[True, False]
    precision, recall = _share(hits, hits + false_alarms), _share(hits, hits + misses)
    return TriggerMetrics(
        true_positives=counts[True, True],
        false_positives=counts[False, True],
        true_negatives=counts[False, False],
        false_negatives=counts[True, False],
        errors=errors,
        precision=_rounded(precision),
        recall=_rounded(recall),
        f1=_rounded(_share(2 * precision * recall, precision + recall)),
        accuracy=_rounded(_share(hits + rejections, sum(weights.values()))),
    )


def _share(part: float, whole: float) -> float:
    return part / whole if whole else 0.0


def _rounded(share: float) -> float:
    """Round to four decimals, halves up as upstream does: 1 of 32 is 0.0313."""
    scaled = share * 10_000
    whole = math.floor(scaled)
    return (whole + (scaled - whole >= 0.5)) / 10_000
