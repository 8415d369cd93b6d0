"""Makes the way to a finding shorter: leaves out steps for as long as the same is found."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tests.protocol.fuzz.findings import Step
from tests.protocol.fuzz.fuzzing import Outcome, replay
from tests.protocol.fuzz.session import Limits

MOST_TRIES = 400


def shrunk(outcome: Outcome, limits: Limits, say: Callable[[str], object]) -> Outcome:
    """Return the shortest outcome with the same kind of finding that a few hundred tries lead to.

    Left out are halves, quarters and so on of the steps, after the introduction that every session needs.
    """
    assert outcome.finding is not None
    kind = outcome.finding.kind
    size = len(outcome.steps) // 2
    tries = 0
    while size >= 1 and tries < MOST_TRIES:
        start = 0
        while start < len(outcome.steps) and tries < MOST_TRIES:
            steps = _without(outcome.steps, start, start + size)
            start += size
            if len(steps) == len(outcome.steps):
                continue
            tries += 1
            shorter = replay(outcome.settings, steps, limits)
            if shorter.finding is not None and shorter.finding.kind == kind:
                outcome = shorter
                start -= size
        say(f"{len(outcome.steps)} steps, {tries} tries")
        size //= 2
    return outcome


def _without(steps: Sequence[Step], start: int, end: int) -> list[Step]:
    return [step for number, step in enumerate(steps) if not start <= number < end or _is_introduction(step)]


def _is_introduction(step: Step) -> bool:
    message = step.get("message", {})
    return message.get("method") in ("initialize", "initialized") and not step.get("ignored")
