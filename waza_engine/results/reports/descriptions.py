"""Words shared by all reports: the verdict of a run, its cost, and the effect of its skills."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import cast

from waza_engine.counting import counted
from waza_engine.number_formats import format_percent, format_score
from waza_engine.results.conclusion import Conclusion, RunVerdict, TriggerConclusion
from waza_engine.results.json_values import Block, block_of, number
from waza_engine.results.record import TriggerOutcome
from waza_engine.vocabulary import CANCELLED


def describe_spending(document: Block) -> str:
    """Return the spending of a run: ``12,345 tokens, $0.0123``; "" when nothing was spent or it is unknown.

    An agent that reports its cost alone has no tokens.
    """
    cost = block_of(block_of(document, "summary"), "cost")
    tokens = int(number(cost.get("tokens")))
    if not tokens:
        return _cost(cost) if number(cost.get("usd")) else ""
    return f"{tokens:,} tokens, {_cost(cost)}"


CAUSE_WORDS = {
    "skill": "The skill or its answer.",
    "test": "The test.",
    "environment": "The environment.",
    "not known": "Cause not known.",
}
"""The cause of a failed task, as the words before its evidence."""

VERDICT_WORDS: Mapping[RunVerdict, str] = {
    "passed": "passed",
    "failed": "failed",
    "errored": "errored",
    "unjudged": "nothing judged",
    "limited": "stopped by a limit",
    "interrupted": "interrupted",
    "broken": "not run to its end",
}
"""A report's label for each verdict of a run, when nothing else is known."""


def verdict_label(found: Conclusion) -> str:
    """Return a report's label for the verdict of a run: one that a person has ended was cancelled."""
    by_person = any(reason.words.startswith(CANCELLED) for reason in found.reasons)
    if found.verdict == "interrupted" and by_person:
        return "cancelled"
    return recorded_verdict_label(found.verdict, found.part)


def recorded_verdict_label(verdict: RunVerdict, part: str | None) -> str:
    """Return a report's label for a verdict when only the ``part`` of the run is known."""
    return "judged in part" if verdict == "unjudged" and part else VERDICT_WORDS[verdict]


def describe_triggers(found: TriggerConclusion) -> str:
    """Return the results of the trigger prompts; untried ones are neither correct nor misclassified."""
    tried = found.right + found.wrong
    if not tried:
        return f"none of the {counted(found.total, 'prompt')} could be tried"
    broken = f", {found.errored} more could not be tried" if found.errored else ""
    numbers = f"accuracy {format_score(found.accuracy)}, F1 {format_score(found.f1)}"
    return f"{found.right} of {counted(tried, 'prompt')} right{broken}, {numbers}"


def describe_misclassification(trigger: TriggerOutcome) -> str:
    """Return the mistake in a trigger prompt's result, without the prompt."""
    if trigger.error:
        return f"could not be tried ({' '.join(trigger.error.split())})"
    wrong = "should have triggered" if trigger.should_trigger else "should not have triggered"
    return wrong + describe_invocations(trigger)


def describe_invocations(trigger: TriggerOutcome) -> str:
    """Return in how many of several times it triggered, and which other skill came first, if any did."""
    others = trigger.skills and not (trigger.did_trigger and len(trigger.skills) == 1)
    times = f" ({trigger.triggered} of {trigger.asked} times)" if trigger.asked > 1 else ""
    return times + (f" (`{trigger.skills[0]}` was invoked first)" if others else "")


def describe_repeated_trials(conclusion: Conclusion) -> str:
    """Return the expected results of repeated runs of the tasks, "" for tasks of one trial."""
    found = conclusion.pass_estimates
    return "" if found is None else found.words


def dollars(amount: float) -> str:
    """Return an amount for people: cents, or as many digits as a small one needs."""
    if amount >= 1 or amount <= 0:
        return f"${amount:.2f}"
    return f"${amount:.{max(4, 1 - math.floor(math.log10(amount)))}f}"


def describe_impact(impact: Block) -> str:
    """Return the effect of skills on a task: ``67 % with skills, 33 % without``."""
    rates = [impact.get(key) for key in ("pass_rate_with_skills", "pass_rate_baseline")]
    text = ""
    if rates[1] is not None:
        with_skills, without = (f"{format_percent(number(rate))} %" for rate in rates)
        text = f"{with_skills} with skills, {without} without"
    pairs = block_of(impact, "pairwise")
    if not pairs:
        return text
    text += "; answers compared: " if text else "answers compared: "
    if pairs.get("wins") is None:
        return f"{text}{pairs.get('winner')}"
    counts = (int(number(pairs.get(key))) for key in ("wins", "ties", "losses"))
    return text + ", ".join(
        f"{count} {word}" for count, word in zip(counts, ("better", "equal", "worse"), strict=True) if count
    )


def _cost(cost: Block) -> str:
    usd, unpriced = cost.get("usd"), cost.get("unpriced")
    names = [str(name) for name in cast("list[object]", unpriced)] if isinstance(unpriced, list) else []
    unknown = ", ".join(name or "the agent's own model" for name in names)
    if usd is None:
        return f"cost unknown (no price for {unknown})" if unknown else "cost unknown"
    return f"{dollars(number(usd))}{f' and more (no price for {unknown})' if unknown else ''}"
