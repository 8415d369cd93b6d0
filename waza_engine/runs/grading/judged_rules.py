"""Store the rule of each check in the author's words, so that a record is readable on its own."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, cast

from waza_engine.results.json_values import value_at

if TYPE_CHECKING:
    from waza_engine.graders.base import Verdict
    from waza_engine.spec.grader_entry import GraderEntry
    from waza_engine.vocabulary import Check

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
