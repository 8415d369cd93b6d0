"""What a run used, what it cost and what its skills add, in words that all reports share."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, cast

from waza_engine.results.codec.header import engine_block
from waza_engine.results.json_values import Block, block_of, blocks_of, number, text_of
from waza_engine.scoring.impact import compared_rates


def spending_words(document: Block) -> str:
    """Return what a run spent: ``12,345 tokens, $0.0123``; "" when nothing was spent or it is not known."""
    cost = block_of(block_of(document, "summary"), "cost")
    tokens = int(number(cost.get("tokens")))
    if not tokens:
        return ""
    return f"{tokens:,} tokens, {_cost(cost)}"


def ending_words(document: Block) -> str:
    """Return why a run has not come to its end, or could not; "" for one that has."""
    engine = engine_block(document)
    match engine.get("status"):
        case "canceled":
            return text_of(engine.get("message")) or "the run was interrupted; what was finished is kept"
        case "error":
            return text_of(engine.get("message")) or "the run did not come to its end"
        case _:
            return ""


def missed_metrics(document: Block) -> dict[str, str]:
    """Return, by its name, how each metric of a run fell short: ``trigger_accuracy is 0.50, below 0.9``."""
    return {
        name: missed_words(name, number(metric.get("value")), number(metric.get("threshold")))
        for name, found in block_of(document, "metrics").items()
        if isinstance(found, Mapping) and (metric := cast("Mapping[str, Any]", found)).get("passed") is False
    }


def missed_words(name: str, value: float, threshold: float) -> str:
    """Return how a metric fell short."""
    return f"{name} is {value:.2f}, below {threshold:g}"


def dollars(amount: float) -> str:
    """Return an amount for people: cents, or as many digits as a small one needs."""
    if amount >= 1 or amount <= 0:
        return f"${amount:.2f}"
    return f"${amount:.{max(4, 1 - math.floor(math.log10(amount)))}f}"


def impact_words(impact: Block) -> str:
    """Return what the skills add to a task: ``67 % with skills, 33 % without``."""
    rates = [impact.get(key) for key in ("pass_rate_with_skills", "pass_rate_baseline")]
    text = ""
    if rates[1] is not None:
        with_skills, without = (_percent(number(rate)) for rate in rates)
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


def baseline_words(document: Block) -> str:
    """Return how the whole run compares with its baseline, "" without one."""
    baseline = block_of(document, "baseline_outcome")
    if not baseline:
        return ""
    statuses = _statuses(document)
    found = compared_rates(statuses, _statuses(baseline))
    if found is None:
        return "with skills and without cannot be compared: no task was judged both times"
    with_skills, without = found.with_skills, found.baseline
    every = found.tasks == len(statuses)
    tasks = "tasks" if every else f"{found.tasks} tasks judged both times, of {len(statuses)},"
    said = f"{_percent(with_skills)} of the {tasks} pass with skills, {_percent(without)} without"
    if with_skills > without:
        return f"{said}: the skills help"
    if with_skills == without:
        return f"{said}: there is nothing to improve" if without == 1 else f"{said}: the skills do not help"
    return f"{said}: the skills do harm"


def _statuses(document: Block) -> dict[str, str]:
    tasks = blocks_of(document.get("tasks"))
    return {text_of(task.get("test_id")): text_of(task.get("status")) for task in tasks}


def _cost(cost: Block) -> str:
    usd, unpriced = cost.get("usd"), cost.get("unpriced")
    names = [str(name) for name in cast("list[object]", unpriced)] if isinstance(unpriced, list) else []
    unknown = ", ".join(name or "the agent's own model" for name in names)
    if usd is None:
        return f"cost unknown (no price for {unknown})" if unknown else "cost unknown"
    return f"{dollars(number(usd))}{f' and more (no price for {unknown})' if unknown else ''}"


def _percent(rate: float) -> str:
    return f"{rate * 100:.0f} %"
