"""The value types of suite files outside a grader's ``config``: strings, paths, counts, maps and lists."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias, TypeVar, cast

from annotated_types import Ge, Le
from pydantic import BeforeValidator
from pydantic_core import core_schema

from waza_engine.spec.fields import ListOf, Text, WholeNumber, plain_text
from waza_engine.spec.limits import LONGEST_SECONDS

if TYPE_CHECKING:
    from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
    from pydantic_core import CoreSchema

ItemT = TypeVar("ItemT")

# A relative path whose segments never are `..`, in both directory notations.
_INSIDE = r"^(?![/\\~])(?![A-Za-z]:)(?!(?:.*[/\\])?\.\.(?:[/\\]|$))"


@dataclass(frozen=True, slots=True, eq=False)
class Shown:
    """Annotation: extra JSON Schema keywords of a value."""

    extra: Mapping[str, Any]

    def __get_pydantic_json_schema__(self, core: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        """Return the value's schema with the extra keywords."""
        return {**handler(core), **self.extra}


class _Matching(Shown):
    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_after_validator_function(self._check, handler(source))

    def _check(self, value: str) -> str:
        if not re.search(self.extra["pattern"], value):
            raise ValueError(self.extra["x-waza-message"])
        return value


def _scalar_map(value: object) -> object:
    if not isinstance(value, Mapping):
        return value
    entries = cast("Mapping[str, object]", value)
    return {key: "" if item is None else plain_text(item) for key, item in entries.items()}


def kind(name: str) -> Shown:
    """Return the annotation of a value that the editor knows how to complete."""
    return Shown({"x-waza-kind": name})


def severity(level: str, **keywords: Any) -> Shown:
    """Return the annotation of a rule that the engine does not enforce; breaking it is worth ``level``."""
    return Shown({**keywords, "x-waza-severity": level})


@dataclass(frozen=True, slots=True)
class AtMost:
    """Annotation: an upper bound that the engine enforces, also next to a rule that it does not enforce."""

    limit: int

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Return the value's schema with the bound."""
        return core_schema.no_info_after_validator_function(self._check, handler(source))

    def __get_pydantic_json_schema__(self, core: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        """Return the schema with the bound as a rule of its own: `x-waza-severity` is not about it."""
        return {**handler(core), "allOf": [{"maximum": self.limit}]}

    def _check(self, value: float) -> float:
        if value > self.limit:
            raise ValueError(f"must be {self.limit} or less")
        return value


def matching(pattern: str, message: str, **keywords: Any) -> Shown:
    """Return the annotation of a string that must match a pattern; ``message`` completes "`key` …".

    Plain values that become strings, such as numbers, are rejected by ``type`` where none can match.
    """
    return _Matching({"pattern": pattern, "x-waza-message": message, **keywords})


RequiredText: TypeAlias = Annotated[Text, matching(r"\S", "must not be blank")]
InsidePath: TypeAlias = Annotated[Text, matching(_INSIDE, "must be a relative path without `..`")]
ListOfBlocks: TypeAlias = Annotated[tuple[ItemT, ...], ListOf(texts=False)]
PathList: TypeAlias = Annotated[tuple[Text, ...], ListOf("path.suite")]
FixtureList: TypeAlias = Annotated[tuple[Text, ...], ListOf("path.fixture")]
TagList: TypeAlias = Annotated[tuple[Text, ...], ListOf("tag")]
PromptList: TypeAlias = Annotated[tuple[Text, ...], ListOf("prompt.text")]
AnyMap: TypeAlias = Annotated[dict[str, Any], Shown({"type": "object", "additionalProperties": True})]
WordMap: TypeAlias = Annotated[
    dict[str, Text],
    BeforeValidator(_scalar_map),
    Shown({"type": "object", "additionalProperties": {"type": ["string", "number", "boolean", "null"]}}),
]
Positive = Ge(1)
NotNegative = Ge(0)
Seconds: TypeAlias = Annotated[WholeNumber, Positive, Le(LONGEST_SECONDS)]
SecondsOrOff: TypeAlias = Annotated[WholeNumber, NotNegative, Le(LONGEST_SECONDS)]
