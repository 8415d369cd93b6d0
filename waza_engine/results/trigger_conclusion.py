"""The conclusion from a run's trigger prompts. Light."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from waza_engine.results.record import RunOutcome, TriggerOutcome
from waza_engine.scoring.triggers import trigger_metrics


@dataclass(frozen=True, slots=True)
class TriggerConclusion:
    """The results of the trigger prompts: correct, misclassified, or errors. Rates are 0..1.

    ``mistakes`` are the misclassified ones, ``broken`` those that could not be tried, if the record has them.
    """

    right: int
    wrong: int
    errored: int
    accuracy: float
    f1: float
    mistakes: tuple[TriggerOutcome, ...] = ()
    broken: tuple[TriggerOutcome, ...] = ()

    @property
    def total(self) -> int:
        """Return how many prompts there are."""
        return self.right + self.wrong + self.errored

    @property
    def share(self) -> float:
        """Return the share of all prompts with a correct answer, 0..1; untried ones are not correct."""
        return self.right / self.total if self.total else 0.0


def conclude_triggers(run: RunOutcome) -> TriggerConclusion | None:
    """Return the conclusion from a run's trigger prompts; None if it has none."""
    found = run.trigger_metrics
    if found is None and run.header.settings.get("prompts") and run.status in ("completed", "failed"):
        # Those of the chosen prompts, which the record does not store as those of the suite.
        found = trigger_metrics(run.triggers)
    if found is None:
        return None
    if run.triggers:
        broken = tuple(trigger for trigger in run.triggers if trigger_verdict(trigger) == "errored")
        wrong = tuple(trigger for trigger in run.triggers if trigger_verdict(trigger) == "failed")
        right = len(run.triggers) - len(wrong) - len(broken)
        return TriggerConclusion(right, len(wrong), len(broken), found.accuracy, found.f1, wrong, broken)
    # Prompts that could not be tried are counted there as misclassified.
    wrong_answers = max(0, found.false_positives + found.false_negatives - found.errors)
    right = found.true_positives + found.true_negatives
    return TriggerConclusion(right, wrong_answers, found.errors, found.accuracy, found.f1)


def trigger_verdict(trigger: TriggerOutcome) -> Literal["passed", "failed", "errored"]:
    """Return the result of a trigger prompt: ``errored`` when it could not be tried."""
    if trigger.error:
        return "errored"
    return "passed" if trigger.did_trigger == trigger.should_trigger else "failed"
