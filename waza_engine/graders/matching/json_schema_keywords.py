"""JSON Schema keywords that upstream's validator reads differently from the Python library.

Patterns are those of the graders and bounded in time, decimals are exact (``0.3`` is a multiple of ``0.1``),
``1.0`` is an integer and ``dependencies`` are checked in every draft. Every keyword keeps to the allowance of
its ``bounded_check``.
"""

from __future__ import annotations

import contextlib
import functools
import json
import math
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextvars import ContextVar
from fractions import Fraction
from typing import Any, cast

import jsonschema
import jsonschema.validators

from waza_engine.graders.matching.json_schema_formats import FORMATS
from waza_engine.graders.matching.patterns import PatternError, check_syntax, found

CHECK_SECONDS = 60.0
MOST_PROBLEMS = 20_000

_Keyword = Callable[[Any, Any, Any, Any], "Iterable[Any] | None"]


class SchemaError(ValueError):
    """The schema cannot be used; the message says why, in one sentence."""


class _Allowance:
    """The limits of one check against a schema. Raises ``SchemaError`` when they are used up.

    References can make a small schema demand more work than there is time, and each reported problem takes
    memory, also inside an ``anyOf`` that is satisfied in the end.
    """

    def __init__(self) -> None:
        self._end = time.monotonic() + CHECK_SECONDS
        self._problems = MOST_PROBLEMS

    def look(self) -> None:
        """Look at the clock."""
        if time.monotonic() > self._end:
            raise SchemaError(f"a check against the schema takes longer than {CHECK_SECONDS:g} seconds")

    def count(self) -> None:
        """Count a problem."""
        self._problems -= 1
        if self._problems < 0:
            raise SchemaError(f"a check against the schema meets more than {MOST_PROBLEMS} problems")


_allowance: ContextVar[_Allowance | None] = ContextVar("allowance", default=None)


@contextlib.contextmanager
def bounded_check() -> Generator[None]:
    """Limit the checks in the block, in time and memory, by raising ``SchemaError`` there."""
    token = _allowance.set(_Allowance())
    try:
        yield
    finally:
        _allowance.reset(token)


@functools.cache
def adapted(dialect: Any) -> Any:
    """Return a validator class of the ``jsonschema`` library that decides as upstream does."""
    types = dialect.TYPE_CHECKER.redefine("integer", _is_integer)
    keywords = {name: _bounded(check) for name, check in {**dialect.VALIDATORS, **_KEYWORDS}.items()}
    return cast("Any", jsonschema.validators).extend(dialect, keywords, type_checker=types)


def shortened(text: str) -> str:
    """Return the beginning of a message, which may quote a whole answer."""
    return text if len(text) <= 300 else text[:300] + "…"


def _bounded(check: _Keyword) -> _Keyword:
    def bounded(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[Any]:
        allowance = _allowance.get() or _Allowance()
        allowance.look()
        for problem in check(validator, value, instance, schema) or ():
            allowance.count()
            is_own = not isinstance(problem.validator, str)  # those of parts have been through here
            problem.message = shortened(
                _in_json(problem.message, instance, value) if is_own else problem.message
            )
            yield problem

    return bounded


def _in_json(message: str, instance: object, value: object) -> str:
    """Return a message of the library with the values it quotes as JSON has them: ``null`` for ``None``.

    It begins with the one or the other, or ends with that of the schema. A block of an answer is written out
    for messages alone that quote one, so that a large one costs no more than it did the library.
    """
    is_block = type(instance) in (dict, list)
    for part in (value,) if is_block and message[:1] not in "{[" else (instance, value):
        if message.startswith(written := repr(part)):
            message = _json(part) + message.removeprefix(written)
    if message.endswith(written := repr(value)):
        message = message.removesuffix(written) + _json(value)
    return message


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)


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


def _dependencies(
    validator: Any, dependencies: Mapping[str, Any], instance: object, _schema: object
) -> Iterator[Any]:
    if not isinstance(instance, dict):
        return
    for name, needed in dependencies.items():
        if name not in instance:
            continue
        if isinstance(needed, list | str):
            # Draft 3 has a single name, too.
            for other in [needed] if isinstance(needed, str) else cast("list[str]", needed):
                if other not in instance:
                    yield jsonschema.ValidationError(f"{other!r} is a dependency of {name!r}")
        else:
            yield from validator.descend(instance, needed, schema_path=name)


def _unique_items(_validator: Any, wanted: object, instance: object, _schema: object) -> Iterator[Any]:
    if wanted is not True or not isinstance(instance, list):
        return
    items = cast("list[object]", instance)
    if len({_canonical(item) for item in items}) != len(items):
        yield jsonschema.ValidationError(f"{shortened(repr(items))} has non-unique elements")


def _canonical(value: object) -> str:
    """Return the same string for equal JSON values, such as ``1`` and ``1.0``, but not ``true``."""
    return json.dumps(_with_integers(value), sort_keys=True)


def _with_integers(value: object) -> object:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, list):
        return [_with_integers(item) for item in cast("list[object]", value)]
    if isinstance(value, dict):
        return {key: _with_integers(item) for key, item in cast("dict[str, object]", value).items()}
    return value


def _occurs(pattern: str, text: str) -> bool:
    try:
        return found(pattern, text)
    except PatternError as error:
        raise SchemaError(str(error)) from None


def _is_pattern(value: object) -> bool:
    if isinstance(value, str):
        check_syntax(value)
    return True


def _has_format(check: Callable[[str], bool], value: object) -> bool:
    return not isinstance(value, str) or check(value)


_KEYWORDS = {
    "pattern": _pattern,
    "patternProperties": _pattern_properties,
    "dependencies": _dependencies,
    "multipleOf": _multiple_of,
    "uniqueItems": _unique_items,
}

PATTERN_CHECKER = jsonschema.FormatChecker(formats=())
"""Checks the patterns in a schema, nothing else."""

FORMAT_CHECKER = jsonschema.FormatChecker(formats=())
"""Checks the formats, too."""

for _checker in (PATTERN_CHECKER, FORMAT_CHECKER):
    _checker.checks("regex", raises=PatternError)(_is_pattern)
for _name, _check in FORMATS.items():
    FORMAT_CHECKER.checks(_name)(functools.partial(_has_format, _check))
