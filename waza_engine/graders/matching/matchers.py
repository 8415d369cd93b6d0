"""Argument matchers of `tool_calls` and `tool_constraint`: what one argument of a tool call must be."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, cast

from pydantic import Field

from waza_engine.graders.base import GraderError
from waza_engine.graders.config import GraderConfig
from waza_engine.graders.matching.patterns import PatternError, check_syntax, found
from waza_engine.spec.block import Given
from waza_engine.spec.fields import Number, PlainText
from waza_engine.vocabulary import KNOWN_ARGUMENTS, ToolCall

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
    misspellings: ClassVar = {"min": "gte", "max": "lte", "minimum": "gte", "maximum": "lte"}

    def holds(self, value: object) -> bool:
        """Tell whether a value is a number inside the bounds."""
        if not isinstance(value, int | float) or isinstance(value, bool):
            return False
        return (
            (self.gte is None or value >= self.gte)
            and (self.lte is None or value <= self.lte)
            and (self.gt is None or value > self.gt)
            and (self.lt is None or value < self.lt)
        )


class ArgumentMatcher(GraderConfig):
    """What one argument of a tool call must be; give exactly one of the options."""

    equals: Any = Field(
        default=None,
        description="The argument equals this value; `42` and `42.0` are equal.",
        examples=["git status"],
    )
    regex: PlainText | None = Field(
        default=None,
        description=(
            "A regular expression (RE2, upper and lower case differ) that matches somewhere in the argument."
        ),
        examples=["^git (status|diff)"],
        min_length=1,
        json_schema_extra={"x-waza-kind": "regex"},
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
    misspellings: ClassVar = {
        "equal": "equals",
        "eq": "equals",
        "pattern": "regex",
        "matches": "regex",
        "match": "regex",
        "schema": "json_schema",
    }

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
        """Tell whether the value of a present argument is as wanted. Raises ``GraderError``."""
        try:
            if self.regex is not None:
                return found(self.regex, text_of(value))
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
    # With the first schema: what it needs takes longer to load than all graders together.
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
    """Tell whether one call has every argument as wanted; an absent argument never is."""
    arguments = given_arguments(call)
    return all(name in arguments and matcher.holds(arguments[name]) for name, matcher in wanted.items())


def given_arguments(call: ToolCall) -> dict[str, Any]:
    """Return the arguments of a call; the well-known ones count as absent when they are empty text."""
    return {
        name: value
        for name, value in call.arguments.items()
        if not (name in KNOWN_ARGUMENTS and (value is None or value == ""))
    }


def text_of(value: object) -> str:
    """Return text as it is, null as nothing, other values as compact JSON with sorted keys."""
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    return json.dumps(
        _with_whole_numbers(value), ensure_ascii=False, separators=(",", ":"), sort_keys=True, default=str
    )


def _with_whole_numbers(value: Any) -> Any:
    """Return JSON data in which ``42.0`` is ``42``, as upstream writes it."""
    if isinstance(value, float):
        return int(value) if value.is_integer() and abs(value) < 1e21 else value
    if isinstance(value, Mapping):
        block = cast("Mapping[str, Any]", value)
        return {key: _with_whole_numbers(item) for key, item in block.items()}
    if isinstance(value, list | tuple):
        return [_with_whole_numbers(item) for item in cast("Sequence[Any]", value)]
    return value


def equal(wanted: object, value: object) -> bool:
    """Compare as JSON values: ``42`` equals ``42.0``, but true is not 1."""
    if isinstance(wanted, bool) or isinstance(value, bool):
        return wanted is value
    if isinstance(wanted, Mapping) and isinstance(value, Mapping):
        one, other = cast("Mapping[str, Any]", wanted), cast("Mapping[str, Any]", value)
        return one.keys() == other.keys() and all(equal(one[key], other[key]) for key in one)
    if isinstance(wanted, list | tuple) and isinstance(value, list | tuple):
        left, right = cast("Sequence[Any]", wanted), cast("Sequence[Any]", value)
        return len(left) == len(right) and all(map(equal, left, right))
    return wanted == value
