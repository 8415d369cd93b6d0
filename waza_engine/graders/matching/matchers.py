"""Argument matchers of `tool_calls` and `tool_constraint`: conditions for one argument of a tool call."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, cast

from pydantic import Field

from waza_engine.graders.base import GraderConfig, GraderError
from waza_engine.graders.matching.patterns import PatternError, check_syntax, is_match
from waza_engine.spec.block import Given, misspelt
from waza_engine.spec.fields import Number, PlainText, kind
from waza_engine.vocabulary import ToolCall

if TYPE_CHECKING:
    from waza_engine.graders.matching.json_schemas import CompiledSchema


class NumberRange(GraderConfig):
    """Bounds of a number; give at least one."""

    gte: Number | None = Field(default=None, description="The least number allowed.", examples=[1])
    lte: Number | None = Field(default=None, description="The greatest number allowed.", examples=[10])
    gt: Number | None = Field(default=None, description="The number must be greater than this.", examples=[0])
    lt: Number | None = Field(default=None, description="The number must be less than this.", examples=[100])

    at_least_one: ClassVar = dict.fromkeys(("gte", "lte", "gt", "lt"), Given.PRESENT)
    null_is_absent: ClassVar = False
    misspellings: ClassVar = misspelt({"gte": ("min", "minimum"), "lte": ("max", "maximum")})

    def holds(self, value: object) -> bool:
        """Return whether a value is a number inside the bounds."""
        if not isinstance(value, int | float) or isinstance(value, bool):
            return False
        return (
            (self.gte is None or value >= self.gte)
            and (self.lte is None or value <= self.lte)
            and (self.gt is None or value > self.gt)
            and (self.lt is None or value < self.lt)
        )


class ArgumentMatcher(GraderConfig):
    """The condition for one argument of a tool call; give exactly one of the options."""

    equals: Any = Field(
        default=None,
        description="The argument equals this value; `42` and `42.0` are equal.",
        examples=["git status"],
    )
    regex: Annotated[PlainText, kind("regex")] | None = Field(
        default=None,
        description=(
            "A regular expression (RE2, upper and lower case differ) that matches somewhere in the argument."
        ),
        examples=["^git (status|diff)"],
        min_length=1,
    )
    contains: PlainText | None = Field(
        default=None,
        description="Text that appears in the argument; upper and lower case differ.",
        examples=["--region"],
        min_length=1,
    )
    range: NumberRange | None = Field(
        default=None, description="Bounds of a number. Numbers written as text never match."
    )
    json_schema: dict[str, Any] | None = Field(
        default=None,
        description="A JSON Schema that the argument satisfies.",
        examples=[{"type": "array", "minItems": 1}],
        min_length=1,
    )

    exactly_one: ClassVar = ("equals", "regex", "contains", "range", "json_schema")
    null_is_absent: ClassVar = False
    unknown_keys: ClassVar = "error"
    misspellings: ClassVar = misspelt(
        {"equals": ("equal", "eq"), "regex": ("pattern", "matches", "match"), "json_schema": "schema"}
    )

    def check_patterns(self, place: str) -> None:
        """Raise ``GraderError`` when the regular expression or the JSON Schema is invalid."""
        try:
            if self.regex is not None:
                check_syntax(self.regex)
            if self.json_schema is not None:
                _compiled(self.json_schema)
        except (PatternError, GraderError) as error:
            raise GraderError(f"`{place}`: {error}") from None

    def holds(self, value: object) -> bool:
        """Return whether the value of a present argument is as wanted. Raises ``GraderError``."""
        try:
            if self.regex is not None:
                return is_match(self.regex, text_of(value))
            if self.contains is not None:
                return self.contains in text_of(value)
            if self.range is not None:
                return self.range.holds(value)
            if self.json_schema is not None:
                return _satisfies(value, self.json_schema)
        except PatternError as error:
            raise GraderError(str(error)) from None
        return equal(self.equals, value)


def _compiled(schema: Mapping[str, Any]) -> CompiledSchema:
    # Import with the first schema: the library loads longer than all graders together.
    from waza_engine.graders.matching.json_schemas import SchemaError, compile_schema

    try:
        return compile_schema(schema)
    except SchemaError as error:
        raise GraderError(str(error)) from None


def _satisfies(value: object, schema: Mapping[str, Any]) -> bool:
    from waza_engine.graders.matching.json_schemas import SchemaError

    try:
        return _compiled(schema).is_valid(value)
    except SchemaError as error:
        raise GraderError(str(error)) from None


def matches(call: ToolCall, wanted: Mapping[str, ArgumentMatcher]) -> bool:
    """Return whether one call has every argument as wanted; an absent argument never matches.

    An empty string counts as present, as in upstream's ``tool_events``; in a digest that always has these
    five it counts as absent (``codec/trials.py``).
    """
    arguments = call.arguments
    return all(name in arguments and matcher.holds(arguments[name]) for name, matcher in wanted.items())


def text_of(value: object) -> str:
    """Return a string as it is, null as "", other values as compact JSON with sorted keys."""
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    return "".join(_json_parts(value))


def _json_parts(value: object) -> Iterator[str]:
    """Yield compact JSON in the way of Go: sorted keys, ``42`` for 42.0, ``0.00001`` for 1e-05."""
    match value:
        case float() if math.isfinite(value):
            yield _number_text(value)
        case Mapping():
            block = cast("Mapping[Any, Any]", value)
            yield "{"
            for index, key in enumerate(sorted(block, key=str)):
                yield f"{',' if index else ''}{json.dumps(str(key), ensure_ascii=False)}:"
                yield from _json_parts(block[key])
            yield "}"
        case list() | tuple():
            yield "["
            for index, item in enumerate(cast("Sequence[Any]", value)):
                yield "," if index else ""
                yield from _json_parts(item)
            yield "]"
        case _:
            yield json.dumps(value, ensure_ascii=False, default=str)


def _number_text(number: float) -> str:
    """Return the shortest digits that mean the number, with an exponent only below 1e-6 and from 1e21 on."""
    from decimal import Decimal  # few arguments are fractions

    if number == 0:
        return "-0" if math.copysign(1, number) < 0 else "0"
    shortest = Decimal(repr(number)).normalize()
    if 1e-6 <= abs(number) < 1e21:
        return f"{shortest:f}"
    digits, _, power = f"{shortest:e}".partition("e")
    return f"{digits}e{power[0]}{power[1:].lstrip('0')}"


def equal(wanted: object, value: object) -> bool:
    """Compare as JSON values: ``42`` equals ``42.0``, but true is not 1."""
    if isinstance(wanted, bool) or isinstance(value, bool):
        return wanted is value
    if isinstance(wanted, int | float) and isinstance(value, int | float):
        return _as_read(wanted) == _as_read(value)
    if isinstance(wanted, Mapping) and isinstance(value, Mapping):
        one, other = cast("Mapping[str, Any]", wanted), cast("Mapping[str, Any]", value)
        return one.keys() == other.keys() and all(equal(one[key], other[key]) for key in one)
    if isinstance(wanted, list | tuple) and isinstance(value, list | tuple):
        left, right = cast("Sequence[Any]", wanted), cast("Sequence[Any]", value)
        return len(left) == len(right) and all(map(equal, left, right))
    return wanted == value


def _as_read(number: float) -> float:
    """Return a number as a reader of JSON has it, to whom all are of double precision."""
    try:
        return float(number)
    except OverflowError:
        return number
