"""Where JSON Schema is read as upstream's validator reads it, and not as the Python library does.

Patterns are those of the graders and bounded in time, decimals are exact (``0.3`` is a multiple of ``0.1``),
and ``1.0`` is an integer in every draft.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any, cast

import jsonschema
import jsonschema.validators
import jsonschema_rs

from waza_engine.graders.patterns import PatternError, compiled_pattern, found

_FORMATS = (
    "date",
    "date-time",
    "email",
    "hostname",
    "idn-email",
    "idn-hostname",
    "ipv4",
    "ipv6",
    "iri",
    "iri-reference",
    "json-pointer",
    "relative-json-pointer",
    "time",
    "uri",
    "uri-reference",
    "uri-template",
)


class SchemaError(ValueError):
    """The schema cannot be used; the text says why, in one sentence."""


def adapted(dialect: Any) -> Any:
    """Return a validator class of the ``jsonschema`` library that decides as upstream does."""
    types = dialect.TYPE_CHECKER.redefine("integer", _is_integer)
    return cast("Any", jsonschema.validators).extend(dialect, _KEYWORDS, type_checker=types)


def _is_integer(_checker: Any, value: object) -> bool:
    return (isinstance(value, int) and not isinstance(value, bool)) or (
        isinstance(value, float) and value.is_integer()
    )


def _multiple_of(_validator: Any, step: float, instance: object, _schema: object) -> Iterator[Any]:
    if isinstance(instance, bool) or not isinstance(instance, int | float) or not math.isfinite(instance):
        return
    if (Fraction(str(instance)) / Fraction(str(step))).denominator != 1:
        yield jsonschema.ValidationError(f"{instance!r} is not a multiple of {step!r}")


def _pattern(_validator: Any, pattern: str, instance: object, _schema: object) -> Iterator[Any]:
    if isinstance(instance, str) and not _occurs(pattern, instance):
        yield jsonschema.ValidationError(f"{instance!r} does not match {pattern!r}")


def _pattern_properties(
    validator: Any, patterns: Mapping[str, Any], instance: object, _schema: object
) -> Iterator[Any]:
    if not isinstance(instance, dict):
        return
    for pattern, subschema in patterns.items():
        for key, value in cast("dict[str, Any]", instance).items():
            if _occurs(pattern, key):
                yield from validator.descend(value, subschema, path=key, schema_path=pattern)


def _occurs(pattern: str, text: str) -> bool:
    try:
        return found(pattern, text)
    except PatternError as error:
        raise SchemaError(str(error)) from None


def _is_pattern(value: object) -> bool:
    if isinstance(value, str):
        compiled_pattern(value)
    return True


def _has_format(name: str, value: object) -> bool:
    return _format_validator(name).is_valid(value)


@functools.cache
def _format_validator(name: str) -> jsonschema_rs.Draft7Validator:
    return jsonschema_rs.Draft7Validator({"format": name}, validate_formats=True)


_KEYWORDS = {"pattern": _pattern, "patternProperties": _pattern_properties, "multipleOf": _multiple_of}

PATTERN_CHECKER = jsonschema.FormatChecker(formats=())
"""Checks the patterns in a schema, nothing else."""

FORMAT_CHECKER = jsonschema.FormatChecker(formats=())
"""Checks the formats of draft 7."""

for _checker in (PATTERN_CHECKER, FORMAT_CHECKER):
    _checker.checks("regex", raises=PatternError)(_is_pattern)
for _name in _FORMATS:
    FORMAT_CHECKER.checks(_name)(functools.partial(_has_format, _name))
