"""The ``expected`` block of a task, graded like three more graders."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, cast

from waza_engine.graders.matching.strings import line_end_words, lowered
from waza_engine.results.json_values import value_at
from waza_engine.results.record import Validation
from waza_engine.spec.expected import Expected
from waza_engine.vocabulary import EXPECTED_LISTS, Check

if TYPE_CHECKING:
    from waza_engine.graders.base import Verdict
    from waza_engine.spec.grader_entry import GraderEntry

NAMES = CONTAINS, NOT_CONTAINS, CONTAINS_ANY = tuple(f"_{key}" for key in EXPECTED_LISTS)


def expectations(expected: Expected, output: str) -> Iterator[Validation]:
    """Yield the verdict of each list that is not empty. Texts are compared without regard to case."""
    answer = lowered(output)
    if expected.output_contains:
        yield _all_hold(
            CONTAINS,
            expected.output_contains,
            lambda text: lowered(text) in answer,
            lambda text: (
                f"the answer does not contain `{text}`"
                + line_end_words(answer, lambda answer: lowered(text) in answer)
            ),
        )
    if expected.output_not_contains:
        yield _all_hold(
            NOT_CONTAINS,
            expected.output_not_contains,
            lambda text: lowered(text) not in answer,
            lambda text: f"the answer contains `{text}`",
        )
    if expected.output_contains_any:
        yield _any_holds(expected.output_contains_any, answer)


def _all_hold(
    name: str, texts: Sequence[str], holds: Callable[[str], bool], complaint: Callable[[str], str]
) -> Validation:
    key = name.removeprefix("_")
    checks = [
        Check((key, index), holds(text), "" if holds(text) else complaint(text), rule=text)
        for index, text in enumerate(texts)
    ]
    failures = [check.message for check in checks if not check.passed]
    return Validation(
        name=name,
        type="expected",
        score=(len(checks) - len(failures)) / len(checks),
        passed=not failures,
        feedback="; ".join(failures) or "All expectations hold",
        checks=checks,
    )


def _any_holds(texts: Sequence[str], answer: str) -> Validation:
    hit = next((text for text in texts if lowered(text) in answer), None)
    listed = ", ".join(f"`{text}`" for text in texts)
    feedback = f"the answer contains none of {listed}" if hit is None else f"The answer contains `{hit}`"
    complaint = feedback if hit is None else ""
    return Validation(
        name=CONTAINS_ANY,
        type="expected",
        score=0.0 if hit is None else 1.0,
        passed=hit is not None,
        feedback=feedback,
        checks=[Check(("output_contains_any",), hit is not None, complaint, rule=rule_words(texts))],
    )


_LONGEST = 500
_CONTAINERS = (Mapping, list, tuple)


def with_rules(verdict: Verdict, entry: GraderEntry) -> tuple[Check, ...]:
    """Return the checks of a verdict, each with the value at its path unless the details show it."""
    return tuple(_with_rule(check, verdict, entry) for check in verdict.checks)


def rule_words(value: object) -> str:
    """Return a grader's option for display: a string as it is, a list or mapping as JSON."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    text = _json(cast("object", value)) if isinstance(value, _CONTAINERS) else str(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def _with_rule(check: Check, verdict: Verdict, entry: GraderEntry) -> Check:
    if check.rule or not check.path or isinstance(value_at(verdict.details, check.path), str):
        return check
    written = value_at(entry.config, check.path)
    if written is None and check.path[0] in ("assertions", "rubric"):
        # Older locations next to `config`.
        written = value_at({"assertions": entry.assertions, "rubric": entry.rubric}, check.path)
    words = rule_words(written)
    return replace(check, rule=words) if words else check


def _json(value: object) -> str:
    """Return the beginning of a value as JSON: a schema may be long, and is not written to its end."""
    text = ""
    try:
        for piece in json.JSONEncoder(ensure_ascii=False, skipkeys=True, default=str).iterencode(value):
            text += piece
            if len(text) > _LONGEST:
                break
    except (ValueError, RecursionError):
        return ""
    return text
