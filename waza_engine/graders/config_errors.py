"""What is wrong with a grader's ``config``, in one sentence for its author."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from waza_engine.graders.config import one_of

if TYPE_CHECKING:
    from pydantic import ValidationError
    from pydantic_core import ErrorDetails

_MUST_BE = {
    "string_type": "must be text",
    "tuple_type": "must be a list, each item on its own line after `- `",
    "list_type": "must be a list, each item on its own line after `- `",
    "bool_type": "must be `true` or `false`",
    "int_type": "must be a whole number",
    "float_type": "must be a number",
    "model_type": "must be a block of options, one `key: value` a line",
    "model_attributes_type": "must be a block of options, one `key: value` a line",
    "dict_type": "must be a block of keys and values",
    "mapping_type": "must be a block of keys and values",
    "finite_number": "must be a finite number",
    "string_too_short": "must not be empty",
    "string_pattern_mismatch": "must not be blank",
    "too_short": "must not be empty",
    "missing": "is missing",
}


def explain(error: ValidationError, config: Mapping[str, Any]) -> str:
    """Return all findings joined by ``"; "``, each with its place such as ``config.args[0]``."""
    return "; ".join(_sentence(finding, config) for finding in error.errors(include_url=False))


def _sentence(finding: ErrorDetails, config: Mapping[str, Any]) -> str:
    place = _place(finding["loc"], config, missing=finding["type"] == "missing")
    context = finding.get("ctx", {})
    match finding["type"]:
        case "value_error":
            return f"`{place}`: {context['error']}"
        case "literal_error":
            expected = _expected(str(context["expected"]))
            return f"`{place}` is `{finding['input']}`, which is not one of {expected}"
        case "greater_than_equal":
            return f"`{place}` must not be below {context['ge']}"
        case "less_than_equal":
            return f"`{place}` must not be above {context['le']}"
        case "greater_than":
            return f"`{place}` must be above {context['gt']}"
        case "extra_forbidden":
            return f"`{place}` is not an option here"
        case kind:
            return f"`{place}` {_MUST_BE.get(kind, 'has a value that cannot be used')}"


def _place(location: tuple[int | str, ...], config: Mapping[str, Any], *, missing: bool) -> str:
    """Return the path of the value; parts that only name a branch of the model are left out."""
    text = "config"
    value: object = config
    for position, part in enumerate(location):
        if isinstance(part, int) and isinstance(value, list | tuple):
            items = cast("Sequence[object]", value)
            text, value = f"{text}[{part}]", items[part] if part < len(items) else None
        elif isinstance(value, Mapping):
            block = cast("Mapping[object, object]", value)
            if part in block or (missing and position == len(location) - 1):
                text, value = f"{text}.{part}", block.get(part)
    return text


def _expected(listed: str) -> str:
    return one_of([part.strip("' ") for part in listed.replace(" or ", ", ").split(",")])
