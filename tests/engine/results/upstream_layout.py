"""Upstream's layout of a result file, written down once: which keys, of which types, and when absent.

From the documented layout. A reader in a typed language
refuses the whole file for one value of a wrong type, so every value counts.
"""

import math
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias, cast

Kind: TypeAlias = Callable[[object, str], Iterator[str]]
_RFC_3339 = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)")


def complaints(document: object) -> list[str]:
    """Return what in a result document is not as upstream's readers expect it, one sentence each."""
    return [*RESULT(document, "result"), *_figures(document)]


def _of(name: str, fits: Callable[[Any], bool]) -> Kind:
    def check(value: object, place: str) -> Iterator[str]:
        if not fits(value):
            yield f"{place} must be {name}, not {value!r:.60}"

    return check


def one_of(*texts: str) -> Kind:
    return _of(f"one of {', '.join(texts)}", lambda value: value in texts)


def list_of(item: Kind) -> Kind:
    def check(value: object, place: str) -> Iterator[str]:
        if not isinstance(value, list):
            yield f"{place} must be a list, not {value!r:.60}"
            return
        for position, each in enumerate(cast("list[object]", value)):
            yield from item(each, f"{place}[{position}]")

    return check


def map_of(item: Kind) -> Kind:
    def check(value: object, place: str) -> Iterator[str]:
        if not isinstance(value, dict):
            yield f"{place} must be an object, not {value!r:.60}"
            return
        for key, each in cast("dict[str, object]", value).items():
            yield from item(each, f"{place}.{key}")

    return check


def nullable(kind: Kind) -> Kind:
    def check(value: object, place: str) -> Iterator[str]:
        if value is not None:
            yield from kind(value, place)

    return check


def block(
    always: Mapping[str, Kind],
    given: Mapping[str, Kind] | None = None,
    ours: Mapping[str, Kind] | None = None,
    *,
    others: bool = False,
) -> Kind:
    """Return the kind of an object: keys that are always there, keys that are absent when empty or zero, and
    our own keys, which upstream's readers skip. No other key may occur, unless ``others``."""
    optional, own = given or {}, ours or {}

    def check(value: object, place: str) -> Iterator[str]:
        if not isinstance(value, dict):
            yield f"{place} must be an object, not {value!r:.60}"
            return
        found = cast("dict[str, object]", value)
        for key in always.keys() - found.keys():
            yield f"{place} has no key `{key}`"
        for key, each in found.items():
            kind = always.get(key) or optional.get(key) or own.get(key)
            if kind is None:
                if not others:
                    yield f"{place}.{key} is no key of the layout"
                continue
            if key in optional and not each:
                yield f"{place}.{key} is {each!r}, and must be absent then"
            yield from kind(each, f"{place}.{key}")

    return check


def all_of(kind: Kind, *keys: str) -> dict[str, Kind]:
    """Return keys whose values are of one kind."""
    return dict.fromkeys(keys, kind)


TEXT = _of("text", lambda value: isinstance(value, str))
SWITCH = _of("true or false", lambda value: isinstance(value, bool))
WHOLE = _of("a whole number", lambda value: isinstance(value, int) and not isinstance(value, bool))
NUMBER = _of(
    "a finite number",
    lambda value: isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value),
)
FRACTION = _of("a number from 0 to 1", lambda value: isinstance(value, int | float) and 0 <= value <= 1)
COUNT = _of("1 or more", lambda value: isinstance(value, int) and not isinstance(value, bool) and value >= 1)
MOMENT = _of("a time of RFC 3339", lambda value: isinstance(value, str) and bool(_RFC_3339.fullmatch(value)))
ANYTHING = _of("anything", lambda value: True)
OBJECT = _of("an object", lambda value: isinstance(value, dict))

STATUS = one_of("passed", "failed", "error", "skipped")
MODEL_USAGE = block(
    {
        **all_of(WHOLE, "input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens"),
        "request_count": NUMBER,
        "request_cost": NUMBER,
    }
)
USAGE = block(
    {
        **all_of(WHOLE, "turns", "input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens"),
        "premium_requests": NUMBER,
    },
    {
        "provider": one_of("custom", "mixed"),
        "provider_host": TEXT,
        "model_metrics": map_of(MODEL_USAGE),
    },
    {"cost_usd": NUMBER},
)
COST = block({"usd": nullable(NUMBER)}, {"unpriced": list_of(TEXT)}, {"tokens": WHOLE})
INTERVAL = block(
    {
        "lower": NUMBER,
        "upper": NUMBER,
        "mean": NUMBER,
        "confidence_level": FRACTION,
        "num_bootstraps": COUNT,
    }
)
RATE_INTERVAL = block({"lower": FRACTION, "upper": FRACTION, "mean": FRACTION, "confidence_level": FRACTION})
VALIDATION = block(
    {
        "identifier": TEXT,
        "type": TEXT,
        "score": FRACTION,
        "weight": NUMBER,
        "passed": SWITCH,
        "feedback": TEXT,
        "duration_ms": WHOLE,
    },
    {"details": OBJECT},
    {
        "status": one_of("pending", "error"),
        "checks": list_of(
            block({"path": list_of(ANYTHING), "passed": SWITCH}, {"message": TEXT, "rule": TEXT})
        ),
    },
)
TOOL_RESULT = block({"content": TEXT}, {"detailedContent": TEXT}, others=True)
EVENT = block(
    {"type": TEXT},
    {
        "content": TEXT,
        "message": TEXT,
        "arguments": ANYTHING,
        "tool_call_id": TEXT,
        "tool_name": TEXT,
        "tool_result": TOOL_RESULT,
    },
    {"success": SWITCH},
    others=True,
)
TOOL_CALL = block(
    {
        "name": TEXT,
        "arguments": block(
            dict.fromkeys(("path", "file_text", "command", "description", "skill"), TEXT), others=True
        ),
        "success": SWITCH,
    },
    {"id": TEXT, "result": TOOL_RESULT},
)
SESSION_DIGEST = block(
    {
        "tool_call_count": WHOLE,
        "tools_used": nullable(list_of(TEXT)),
        "errors": nullable(list_of(TEXT)),
    },
    {
        "tool_calls": list_of(TOOL_CALL),
        "usage": USAGE,
        "session_id": TEXT,
        "tool_policy_mode": TEXT,
        "tool_policy_denials": list_of(block({"tool": TEXT, "kind": TEXT, "reason": TEXT})),
    },
)
TOOL_EVENT = block(
    {"turn": COUNT, "sequence": COUNT, "tool_name": TEXT, "success": SWITCH},
    {"tool_call_id": TEXT, "args": ANYTHING, "result": ANYTHING, "error": TEXT, "duration_ms": WHOLE},
)
COMMAND_INVOCATION = block(
    {"command": TEXT, "exit_code": COUNT, "response_index": WHOLE}, {"args": list_of(TEXT)}
)
FAILURE_ARTIFACTS = block(
    {"captured_at": MOMENT},
    {
        "stderr": TEXT,
        "stdout": TEXT,
        "exit_code": WHOLE,
        "failed_graders": list_of(TEXT),
        "error_patterns": list_of(TEXT),
        "triage_summary": TEXT,
        "context": map_of(TEXT),
    },
)
TRIAL = block(
    {
        "run_number": COUNT,
        "attempts": COUNT,
        "status": STATUS,
        "duration_ms": WHOLE,
        "validations": nullable(map_of(VALIDATION)),
        "session_digest": SESSION_DIGEST,
        "final_output": TEXT,
    },
    {
        "transcript": list_of(EVENT),
        "error_msg": TEXT,
        "skill_invocations": list_of(block({"name": TEXT}, {"path": TEXT})),
        "usage": USAGE,
        "workspace_dir": TEXT,
        "failure_artifacts": FAILURE_ARTIFACTS,
        "responder": block({"followups_sent": WHOLE, "outcome": TEXT}, {"reason": TEXT}),
        "checkpoints": list_of(
            block(
                {"after_turn": COUNT, "status": STATUS, "validations": map_of(VALIDATION)},
                {"stopped": SWITCH},
            )
        ),
        "tool_events": list_of(TOOL_EVENT),
        "command_invocations": list_of(COMMAND_INVOCATION),
        "snapshot_path": TEXT,
    },
    {
        "judge_usage": USAGE,
        "other_usage": USAGE,
        "cost": COST,
        "stopped": SWITCH,
        "files_changed": block(
            {}, {"created": list_of(TEXT), "changed": list_of(TEXT), "deleted": list_of(TEXT), "more": COUNT}
        ),
    },
)
STATS = block(
    {
        "pass_rate": FRACTION,
        "flakiness_percent": NUMBER,
        "passed_runs": WHOLE,
        "failed_runs": WHOLE,
        "error_runs": WHOLE,
        "total_runs": COUNT,
        **all_of(FRACTION, "avg_score", "avg_weighted_score", "min_score", "max_score"),
        **all_of(NUMBER, "std_dev_score", "score_variance", "ci95_lo", "ci95_hi"),
        "flaky": SWITCH,
        "avg_duration_ms": WHOLE,
    },
    {"bootstrap_ci": INTERVAL, "pass_rate_ci": RATE_INTERVAL},
    {
        "is_significant": SWITCH,
        "pass_at_k": FRACTION,
        "pass_exp_k": FRACTION,
        "pass_at_k_ci": RATE_INTERVAL,
        "pass_exp_k_ci": RATE_INTERVAL,
        "unbiased_pass_at": list_of(FRACTION),
        "unbiased_pass_exp": list_of(FRACTION),
    },
)
PAIRWISE = block(
    {"winner": TEXT, "magnitude": TEXT, "reasoning": TEXT, "position_consistent": SWITCH},
    {},
    {"wins": WHOLE, "ties": WHOLE, "losses": WHOLE},
)
TASK = block(
    {"test_id": TEXT, "display_name": TEXT, "status": STATUS, "runs": list_of(TRIAL)},
    {
        "golden": SWITCH,
        "group": TEXT,
        "stats": STATS,
        "skill_impact": block(
            {
                "pass_rate_with_skills": FRACTION,
                "pass_rate_baseline": FRACTION,
                "delta": NUMBER,
                "percent_change": NUMBER,
            },
            {"pairwise": PAIRWISE},
        ),
    },
    {"error_msg": TEXT, "file": TEXT, "cost": COST, "cached": SWITCH},
)
SUMMARY = block(
    {
        **all_of(WHOLE, "total_tests", "succeeded", "failed", "errors", "skipped"),
        **all_of(FRACTION, "success_rate", "aggregate_score", "weighted_score", "min_score", "max_score"),
        "std_dev": NUMBER,
        "duration_ms": WHOLE,
    },
    {
        "groups": list_of(block({"name": TEXT, "passed": WHOLE, "total": WHOLE, "avg_score": FRACTION})),
        "usage": USAGE,
        "statistics": block(
            {"bootstrap_ci": INTERVAL, "is_significant": SWITCH},
            {"success_rate_ci": RATE_INTERVAL, "pass_hat_k": list_of(FRACTION)},
            {"normalized_gain": NUMBER},
        ),
    },
    {"cost": COST},
)
TRIGGER_METRICS = block(
    {
        **all_of(WHOLE, "true_positives", "false_positives", "true_negatives", "false_negatives"),
        **all_of(FRACTION, "precision", "recall", "f1", "accuracy"),
    },
    {"errors": WHOLE},
)
TRIGGER_RESULT = block(
    {"prompt": TEXT, "should_trigger": SWITCH, "did_trigger": SWITCH},
    {
        "confidence": one_of("high", "medium"),
        "error_msg": TEXT,
        "final_output": TEXT,
        "transcript": list_of(EVENT),
        "tool_calls": list_of(TOOL_CALL),
        "session_id": TEXT,
    },
)


def RESULT(value: object, place: str) -> Iterator[str]:  # noqa: N802 - a kind like the others, and recursive
    yield from block(
        {
            "schemaVersion": one_of("1.0", "1.1", "1.2", "1.3", "1.4"),
            "eval_id": TEXT,
            "skill": TEXT,
            "eval_name": TEXT,
            "timestamp": MOMENT,
            "config": block(
                {"runs_per_test": COUNT, "model_id": TEXT, "engine_type": TEXT, "timeout_sec": WHOLE},
                {"judge_model": TEXT},
            ),
            "summary": SUMMARY,
            "metrics": map_of(
                block(
                    {
                        "identifier": TEXT,
                        "value": NUMBER,
                        "threshold": NUMBER,
                        "passed": SWITCH,
                        "weight": NUMBER,
                    },
                    {"details": OBJECT},
                )
            ),
            "tasks": list_of(TASK),
        },
        {
            "trigger_metrics": TRIGGER_METRICS,
            "trigger_results": list_of(TRIGGER_RESULT),
            "metadata": OBJECT,
            "is_baseline": SWITCH,
            "baseline_outcome": RESULT,
        },
    )(value, place)


def _figures(document: object) -> Iterator[str]:
    """Yield what does not add up between the parts of a document whose types are right."""
    found = cast("Mapping[str, Any]", document)
    if next(iter(found), "") != "schemaVersion":
        yield "the first key must be schemaVersion"
    tasks: list[Mapping[str, Any]] = found.get("tasks") or []
    summary: Mapping[str, Any] = found.get("summary") or {}
    if summary.get("total_tests") != len(tasks):
        yield f"summary.total_tests is {summary.get('total_tests')} for {len(tasks)} tasks"
    for name, status in (
        ("succeeded", "passed"),
        ("failed", "failed"),
        ("errors", "error"),
        ("skipped", "skipped"),
    ):
        count = sum(task.get("status") == status for task in tasks)
        if summary.get(name) != count:
            yield f"summary.{name} is {summary.get(name)} for {count} tasks"
    for task in tasks:
        for position, run in enumerate(task.get("runs") or [], 1):
            where = f"{task.get('test_id')}, run {position}"
            if run.get("run_number") != position:
                yield f"{where}: run_number is {run.get('run_number')}"
            digest: Mapping[str, Any] = run.get("session_digest") or {}
            calls: list[Any] = digest.get("tools_used") or []
            if digest.get("tool_call_count") != len(calls):
                yield f"{where}: tool_call_count is {digest.get('tool_call_count')} for {len(calls)} calls"
            sequence = [event.get("sequence") for event in run.get("tool_events") or []]
            if sequence != list(range(1, len(sequence) + 1)):
                yield f"{where}: the sequence of tool_events is {sequence}"
            for name, validation in (run.get("validations") or {}).items():
                if validation.get("identifier") != name:
                    yield f"{where}: {name} stands under the identifier {validation.get('identifier')}"
