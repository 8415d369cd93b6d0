"""The agreement of a judge with people: labels of `human_calibration` graders against its verdicts.

A label is a review of a `human_calibration` grader. It is compared with the verdict of the grader named by
``calibrate_grader`` on the same trial. Positive means passed.

Light, no models.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from waza_engine.results.codec.verdicts import verdicts_of
from waza_engine.results.json_values import Block, blocks_of
from waza_engine.results.record import Validation


@dataclass(frozen=True, slots=True)
class Agreement:
    """Labels of people compared with verdicts of one judge.

    Rates are 0..1 and None where nothing can be counted: ``false_positive_rate`` is the share that the judge
    passed of what people failed, ``false_negative_rate`` the share that it failed of what they passed.
    ``kappa`` is Cohen's, None when one of the two is constant and chance explains all.
    ``mean_score_difference`` is the judge's score less the person's, on average.
    """

    labels: int
    agreed: int
    false_positives: int
    false_negatives: int
    agreement: float | None
    false_positive_rate: float | None
    false_negative_rate: float | None
    kappa: float | None
    mean_score_difference: float | None


def agreement(pairs: Sequence[tuple[bool, bool]], differences: Sequence[float] = ()) -> Agreement:
    """Return the agreement of (person passed, judge passed) pairs."""
    total = len(pairs)
    agreed = sum(person == judge for person, judge in pairs)
    human_passes = sum(person for person, _ in pairs)
    judge_passes = sum(judge for _, judge in pairs)
    false_positives = sum(judge and not person for person, judge in pairs)
    false_negatives = sum(person and not judge for person, judge in pairs)
    kappa = None
    if total:
        # The agreement expected by chance, given how often each of the two passes.
        chance = (human_passes * judge_passes + (total - human_passes) * (total - judge_passes)) / total**2
        kappa = None if chance == 1 else (agreed / total - chance) / (1 - chance)
    return Agreement(
        labels=total,
        agreed=agreed,
        false_positives=false_positives,
        false_negatives=false_negatives,
        agreement=_share(agreed, total),
        false_positive_rate=_share(false_positives, total - human_passes),
        false_negative_rate=_share(false_negatives, human_passes),
        kappa=kappa,
        mean_score_difference=sum(differences) / len(differences) if differences else None,
    )


def calibrations(document: Block) -> dict[str, dict[str, Any]]:
    """Return, by the name of each `human_calibration` grader that has labels, its judge and the agreement."""
    labels: dict[tuple[str, str], list[tuple[Validation, Validation]]] = {}
    for verdicts in _trials(document):
        for name, label in verdicts.items():
            judge = label.details.get("calibrate_grader")
            if not isinstance(judge, str) or label.details.get("status") != "reviewed":
                continue
            if not (verdict := verdicts.get(judge)):
                continue
            pairs = labels.setdefault((name, judge), [])
            # A judge that could not judge has said nothing that a person could contradict.
            if verdict.status == "graded":
                pairs.append((label, verdict))
    return {
        name: {"calibrate_grader": judge, **asdict(_agreement(pairs))}
        for (name, judge), pairs in labels.items()
    }


def with_calibration(document: Block) -> Block:
    """Return a document with the agreement of its judges; the same document without labels."""
    found = calibrations(document)
    return {**document, "calibration": found} if found else document


def agreement_words(figures: Block) -> str:
    """Return one line on how far a judge agrees with people; ``figures`` are those of a document."""
    judge, labels = figures.get("calibrate_grader"), figures.get("labels")
    if not labels:
        return f"`{judge}` has not judged what people labelled"
    rates = [
        f"{label} {figures[key]:.0%}"
        for label, key in (
            ("wrongly passed", "false_positive_rate"),
            ("wrongly failed", "false_negative_rate"),
        )
        if figures.get(key) is not None
    ]
    kappa = [] if figures.get("kappa") is None else [f"kappa {figures['kappa']:.2f}"]
    agreed = f"agrees with people on {figures.get('agreed')} of {labels} ({figures.get('agreement', 0):.0%})"
    return f"`{judge}` " + ", ".join([agreed, *rates, *kappa])


def _agreement(pairs: Sequence[tuple[Validation, Validation]]) -> Agreement:
    passes = [(label.passed, verdict.passed) for label, verdict in pairs]
    return agreement(passes, [verdict.score - label.score for label, verdict in pairs])


def _trials(document: Block) -> Iterator[dict[str, Validation]]:
    for task in blocks_of(document.get("tasks")):
        for trial in blocks_of(task.get("runs")):
            yield verdicts_of(trial)


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None
