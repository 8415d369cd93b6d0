"""A finding of the models as one sentence for the author, at the place where it is written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from waza_engine.spec.block import PlacedError
from waza_engine.spec.fields import plain_text
from waza_engine.spelling import listed

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

Location = tuple[str | int, ...]

_MUST_BE = {
    "string_type": "must be text",
    "tuple_type": "must be a list, each item on its own line after `- `",
    "list_type": "must be a list, each item on its own line after `- `",
    "bool_type": "must be `true` or `false`",
    "int_type": "must be a whole number",
    "float_type": "must be a number",
    "model_type": "must be a block of keys, one `key: value` a line",
    "model_attributes_type": "must be a block of keys, one `key: value` a line",
    "dict_type": "must be a block of keys, one `key: value` a line",
    "mapping_type": "must be a block of keys, one `key: value` a line",
    "finite_number": "must be a finite number",
    "missing": "is missing",
    "too_long": "has too many items",
    "string_too_short": "must not be empty",
    "string_pattern_mismatch": "must not be blank",
    "extra_forbidden": "is not an option here",
}

_LIST, _OBJECT = "must be a list: `[ … ]`", "must be an object: `{ … }`"
_MUST_BE_IN_JSON = {
    **dict.fromkeys(("tuple_type", "list_type"), _LIST),
    **dict.fromkeys(("model_type", "model_attributes_type", "dict_type", "mapping_type"), _OBJECT),
}


def location_of(finding: ErrorDetails, value: object) -> Location:
    """Return the path of the finding in the data, without the parts that only name a branch of the model.

    A missing key is part of the path although it is not in the data.
    """
    path: list[str | int] = []
    current: Any = value
    for position, part in enumerate(finding["loc"]):
        if isinstance(part, int) and _is_list(current):
            items = cast("Sequence[object]", current)
            path.append(part)
            current = items[part] if part < len(items) else None
        elif isinstance(current, Mapping):
            block = cast("Mapping[Any, object]", current)
            if part in block:
                path.append(part)
                current = block[part]
            elif finding["type"] == "missing" and position == len(finding["loc"]) - 1:
                path.append(part)
    if finding["type"] == "value_error":
        error = finding.get("ctx", {}).get("error")
        path += error.location if isinstance(error, PlacedError) else ()
    return tuple(path)


def sentence(finding: ErrorDetails, location: Location, *, as_json: bool = False) -> str:
    """Return a finding in one sentence that begins with the location, for an author of YAML or of JSON."""
    place, context = key_path_text(location), finding.get("ctx", {})
    match finding["type"]:
        case "value_error":
            text = str(context["error"])
            if not location and text.startswith(("`", "give")):
                return text
            return f"{place} {text}" if text.startswith(("must", "has", "is")) else f"{place}: {text}"
        case "literal_error":
            expected = [
                part.strip("' ") for part in str(context["expected"]).replace(" or ", ", ").split(",")
            ]
            return f"{place} {_other_than([word for word in expected if word], finding['input'])}"
        case "greater_than_equal":
            return f"{place} must be {context['ge']:g} or more"
        case "less_than_equal":
            return f"{place} must be {context['le']:g} or less"
        case "greater_than":
            return f"{place} must be more than {context['gt']:g}"
        case "too_short":
            return f"{place} {'must not be empty' if context['min_length'] == 1 else 'has too few items'}"
        case kind if as_json and kind in _MUST_BE_IN_JSON:
            return f"{place} {_MUST_BE_IN_JSON[kind]}"
        case kind:
            return f"{place} {_MUST_BE.get(kind, 'has a value that cannot be used here')}"


def without_echoes(findings: Sequence[ErrorDetails]) -> list[ErrorDetails]:
    """Return the findings except those that only follow from others.

    Wrong items are left out before the length of their list is checked, so that it may seem empty.
    """
    return [
        finding
        for finding in findings
        if finding["type"] != "too_short"
        or not any(
            len(other["loc"]) > len(finding["loc"]) and other["loc"][: len(finding["loc"])] == finding["loc"]
            for other in findings
        )
    ]


def _other_than(words: Sequence[str], value: object) -> str:
    """Return the end of a sentence about a value that is none of the words."""
    known = listed(words)
    match value:
        case None | "":
            return f"is empty; write {known}"
        case bool() | int() | float():
            return f"is `{plain_text(value)}`, which is not one of {known}"
        case str():
            return f"is `{value}`, which is not one of {known}"
        case Mapping():
            return f"must be {known}, not a block of keys"
        case _:
            return f"must be {known}, not a list"


def key_path_text(location: Location) -> str:
    """Return a path as an author reads it, such as ```graders[0].config```; `the file` when it is empty."""
    text = ""
    for part in location:
        text += f"[{part}]" if isinstance(part, int) else f".{part}"
    return f"`{text.lstrip('.')}`" if text else "the file"


def _is_list(value: Any) -> bool:
    return isinstance(value, list | tuple)
