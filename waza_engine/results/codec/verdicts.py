"""The verdicts of a trial in ``validations``, in every version of the format. Light, no models."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from itertools import chain
from typing import cast

from waza_engine.results.json_values import (
    Block,
    Json,
    block_of,
    blocks_by_name,
    blocks_of,
    duration_of,
    given,
    number,
    path_of,
    record_of,
    text_of,
    texts_of,
)
from waza_engine.results.record import Validation, VerdictStatus
from waza_engine.scoring.cost import COUNTS, Cost
from waza_engine.scoring.tasks import effective_weight
from waza_engine.vocabulary import MEASURES_JUDGES, Check, ModelUsage, Usage


def verdict_blocks(trial: Block) -> dict[str, Block]:
    """Return the verdicts of an element of ``runs``, or of a checkpoint, by their graders, as written."""
    return blocks_by_name(trial, "validations")


def verdict_count(task: Block) -> int:
    """Return how many verdicts an element of ``tasks`` has, in any format, without reading them."""
    trials = [*blocks_of(task.get("runs")), *blocks_of(task.get("trials"))]
    said = chain(trials, *(blocks_of(trial.get("checkpoints")) for trial in trials))
    return sum(len(block_of(each, "validations")) + len(block_of(each, "grader_results")) for each in said)


def verdicts_of(trial: Block) -> dict[str, Validation]:
    """Return the verdicts of an element of ``runs``, or of a checkpoint, by their graders."""
    return {name: verdict_of(name, verdict) for name, verdict in verdict_blocks(trial).items()}


def verdict_of(name: str, verdict: Block) -> Validation:
    """Return one verdict. Quick: an editor waits for those of dozens of files."""
    found = verdict.get
    details, checks = block_of(verdict, "details"), found("checks")
    return Validation(
        name,
        text_of(found("type")),
        score_of(found("score")),
        found("passed") is True,
        # Files of the Python era have ``message``.
        text_of(found("feedback")) or text_of(found("message")),
        effective_weight(number(found("weight"))),
        _status(found("status") or details.get("status")),
        details,
        tuple([_check(check) for check in blocks_of(checks)]) if checks else (),
        duration_of(found("duration_ms")),
        found("required") is not False and found("type") != MEASURES_JUDGES,
    )


def score_of(written: object) -> float:
    """Return a score as it counts: limited to 0 to 1, for files of other tools."""
    return min(max(number(written), 0.0), 1.0)


def verdict_document(verdict: Validation) -> Json:
    """Return a verdict as its entry in ``validations``."""
    checks = [
        {
            "path": list(check.path),
            "passed": check.passed,
            **given(message=check.message, expected=check.expected, actual=check.actual, rule=check.rule),
        }
        for check in verdict.checks
    ]
    return {
        "identifier": verdict.name,
        "type": verdict.type,
        "score": verdict.score,
        "weight": effective_weight(verdict.weight),
        "passed": verdict.passed,
        "feedback": verdict.feedback,
        **given(details=dict(verdict.details), checks=checks),
        **({"status": verdict.status} if verdict.status != "graded" else {}),
        **({} if verdict.required else {"required": False}),
        "duration_ms": verdict.duration_ms,
    }


def _status(written: object) -> VerdictStatus:
    """Return the status; upstream writes none, and the Python era marks a review to come in ``details``."""
    match written:
        case "pending" | "calibration_pending":
            return "pending"
        case "error":
            return "error"
        case _:
            return "graded"


def _check(check: Block) -> Check:
    found = check.get
    return Check(
        path_of(found("path")),
        found("passed") is True,
        text_of(found("message")),
        text_of(found("expected")),
        text_of(found("actual")),
        text_of(found("rule")),
    )


def usage_document(usage: Usage | None) -> Json | None:
    """Return the usage: the counts always, other values if not empty; None for no usage."""
    if usage is None:
        return None
    figures = asdict(usage)
    if not any(figures.values()):
        return None
    return {key: value for key, value in figures.items() if value or key in COUNTS}


def usage_of(value: object) -> Usage | None:
    """Return a usage as it was written, None if the value is not one."""
    return _usage(cast("Block", value)) if isinstance(value, Mapping) else None


def cost_document(cost: Cost) -> Json:
    """Return a cost in US dollars, null when it is entirely unknown, and the models without a price."""
    unknown = not cost.usd and not cost.known
    return {"usd": None if unknown else cost.usd, **given(unpriced=list(cost.unpriced))}


def cost_of(value: object) -> Cost | None:
    """Return a cost as it was written, None if the value is not one."""
    if not isinstance(value, Mapping):
        return None
    cost = cast("Block", value)
    return Cost(number(cost.get("usd")), texts_of(cost.get("unpriced")))


def _usage(usage: Block) -> Usage:
    return replace(
        record_of(Usage, usage),
        model_metrics={
            model: record_of(ModelUsage, cast("Block", figures))
            for model, figures in block_of(usage, "model_metrics").items()
            if isinstance(figures, Mapping)
        },
    )
