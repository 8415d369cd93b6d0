"""The object that a grading program prints or a module's ``grade`` returns. Light: the editor uses it too.

``harness-json`` is ``{"pass", "score", "reasoning", "outcome"}``, ``waza-json`` is ``{"score", "passed",
"message" or "feedback", "details"}``. ``auto`` takes either: a key ``pass`` makes it the first, anything else
the second.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Literal

from waza_engine.number_formats import ROUNDING, is_finite

Vocabulary = Literal["harness-json", "waza-json", "auto"]
HARNESS_KEYS = frozenset({"pass", "score", "reasoning", "outcome"})
WAZA_KEYS = frozenset({"score", "passed", "message", "feedback", "reasoning", "details", "outcome"})
INPUT_KEYS = (
    "input",
    "output",
    "hint",
    "reference",
    "trajectory",
    "metadata",
    "cwd",
    "task",
    "transcript",
    "tool_calls",
    "errors",
    "outcome",
    "duration_ms",
    "workspace",
)
"""The keys of the object that a grading program gets."""
STEP_STATUSES = ("pending", "completed", "failed")
"""The values of ``status`` of a tool call in a ``trajectory``; recorded ones may also be ``in_progress``."""


def is_harness_result(keys: Collection[str], vocabulary: Vocabulary) -> bool:
    """Return whether a result with these keys is read by the rules of agent-eval-harness."""
    return vocabulary == "harness-json" or (vocabulary == "auto" and "pass" in keys)


def result_issues(result: Mapping[str, Any], vocabulary: Vocabulary) -> list[str]:
    """Return why a result is refused, one clause each; none for one that is accepted."""
    if (result.get("pass"), result.get("passed")) in ((True, False), (False, True)):
        return ["`pass` and `passed` say different things"]
    if not is_harness_result(result, vocabulary):
        return [*_verdict_issues(result, "passed"), *_score_issues(result)]
    issues = [*_verdict_issues(result, "pass"), *_score_issues(result)]
    if not isinstance(result.get("reasoning", ""), str):
        issues.append("`reasoning` must be text")
    if not isinstance(result.get("outcome", {}), Mapping):
        issues.append("`outcome` must be an object")
    return issues


def _verdict_issues(result: Mapping[str, Any], key: str) -> list[str]:
    if key not in result:
        other = "; print `pass` or `passed`" if key == "passed" else ""
        return [f"`{key}` is missing{other}"]
    return [] if isinstance(result[key], bool) else [f"`{key}` must be true or false"]


def _score_issues(result: Mapping[str, Any]) -> list[str]:
    if "score" not in result:
        return ["`score` is missing"]
    score = result["score"]
    if isinstance(score, bool) or not isinstance(score, int | float):
        return ["`score` must be a number"]
    if -ROUNDING <= score <= 1 + ROUNDING:
        return []
    shown = f"{score:g}" if is_finite(score) else "far too large"
    return [f"`score` is {shown}, it must lie between 0 and 1"]
