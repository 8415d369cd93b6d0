"""Retry a trial: immediately when it failed, after a pause when its error may be transient.

Upstream never retries an error; a rate limit is worth a second try.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from waza_engine.executors.executor import Cancellation
from waza_engine.results.record import TrialOutcome, UnjudgedAnswer
from waza_engine.runs.limits.cancellation import CancelledRunError
from waza_engine.scoring.cost import total

if TYPE_CHECKING:
    from tenacity import RetryCallState


class InterruptedTrialError(CancelledRunError):
    """The run was cancelled in the middle of a trial; ``outcome`` holds the results so far."""

    def __init__(self, outcome: TrialOutcome) -> None:
        super().__init__()
        self.outcome = outcome


@dataclass(frozen=True, slots=True)
class Attempt:
    """The outcome of an attempt, and when another one makes sense."""

    outcome: TrialOutcome
    again: Literal["never", "now", "later"] = "never"

    def followed_by(self, later: Attempt) -> Attempt:
        """Return both as one: the later counts, unless it was cut; usage adds up."""
        outcome, other = later.outcome, self.outcome
        again = later.again
        if outcome.stopped:
            outcome, other, again = other, outcome, "never"
            cut = [UnjudgedAnswer("agent", other.output)] if other.output else []
            outcome = replace(outcome, unjudged=(*outcome.unjudged, *cut, *other.unjudged))
        else:
            outcome = replace(outcome, attempts=other.attempts + 1)
        spent = total((outcome.other_usage, other.usage, other.judge_usage, other.other_usage))
        return Attempt(replace(outcome, other_usage=spent), again)


def with_retries(
    attempt: Callable[[Attempt | None], Attempt], most: int, cancellation: Cancellation
) -> TrialOutcome:
    """Return the outcome of at most ``most`` attempts; each gets the earlier ones as one.

    Raises ``CancelledRunError``, in a pause too: with the attempts so far as an ``InterruptedTrialError``.
    """
    if most == 1:
        return attempt(None).outcome
    # Most runs never try again, and need not load the library.
    from tenacity import Retrying, retry_if_result, stop_after_attempt, wait_exponential_jitter

    pauses = wait_exponential_jitter(multiplier=0.5, max=30, jitter=0.5)
    so_far: Attempt | None = None

    def once_more() -> Attempt:
        nonlocal so_far
        latest = attempt(so_far)
        so_far = latest if so_far is None else so_far.followed_by(latest)
        return so_far

    retrying = Retrying(
        stop=stop_after_attempt(most),
        retry=retry_if_result(lambda latest: latest.again != "never"),
        wait=lambda state: pauses(state) if _later(state) else 0.0,
        sleep=lambda seconds: _pause(seconds, cancellation),
        retry_error_callback=lambda _: so_far,
    )
    try:
        return retrying(once_more).outcome
    except InterruptedTrialError as interrupted:
        cut = Attempt(interrupted.outcome)
        latest = cut if so_far is None else so_far.followed_by(cut)
        raise InterruptedTrialError(latest.outcome) from None
    except CancelledRunError:
        if so_far is None:
            raise
        raise InterruptedTrialError(so_far.outcome) from None


def _later(state: RetryCallState) -> bool:
    return state.outcome is not None and state.outcome.result().again == "later"


def _pause(seconds: float, cancellation: Cancellation) -> None:
    cancelled = threading.Event()
    withdraw = cancellation.on_request(cancelled.set)
    try:
        if cancelled.wait(seconds):
            raise CancelledRunError
    finally:
        withdraw()
