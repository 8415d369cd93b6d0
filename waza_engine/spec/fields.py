"""The value types of suite files: strings, paths, counts, lists, switches.

Those of grader options accept what upstream's decoder accepts (numbers and booleans inside a list of strings)
and reject what it rejects (a string instead of a list or a number); the JSON Schema says the same.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias, TypeVar, cast

from annotated_types import Ge, Le
from pydantic import BeforeValidator, Discriminator, Field, Tag
from pydantic_core import core_schema

from waza_engine.spec.limits import LONGEST_SECONDS

if TYPE_CHECKING:
    from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
    from pydantic_core import CoreSchema


@dataclass(frozen=True, slots=True)
class ListOf:
    """Annotation: a list whose string items are of a kind the editor knows."""

    kind: str | None = None
    texts: bool = True

    def __get_pydantic_json_schema__(self, core: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        """Return the schema that agrees with the validators below."""
        schema = handler(core)
        items: dict[str, Any] = {"type": ["string", "number", "boolean"]} if self.texts else schema["items"]
        if self.kind is not None:
            items["x-waza-kind"] = self.kind
        return {**schema, "items": items}


@dataclass(frozen=True, slots=True)
class AsWritten:
    """Annotation: a string; a number or boolean counts as the string it was written as."""

    def __get_pydantic_json_schema__(self, core: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        """Return the schema that agrees with ``plain_text``."""
        return {**handler(core), "type": ["string", "number", "boolean"]}


@dataclass(frozen=True, slots=True)
class AsSwitch:
    """Annotation: ``true`` or ``false``, or one of the words that upstream's decoder takes for them."""

    def __get_pydantic_json_schema__(self, core: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        """Return the schema for ``_switch``; ``x-waza-kind`` says that a string is second choice."""
        return {
            **handler(core),
            "type": ["boolean", "string"],
            "pattern": f"^({'|'.join(SWITCH_WORDS)})$",
            "x-waza-kind": "switch",
            "x-waza-message": "must be `true` or `false`",
        }


@dataclass(frozen=True, slots=True)
class Alternatives:
    """Annotation: values of clearly different types, distinguished by their type, so ``anyOf`` is enough."""

    kind: str | None = None

    def __get_pydantic_json_schema__(self, core: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        """Return the schema with ``anyOf``; the string among the alternatives carries the kind."""
        schema = handler(core)
        branches: list[dict[str, Any]] = schema.pop("oneOf", None) or schema.pop("anyOf")
        schema.pop("discriminator", None)
        for branch in branches:
            if "string" in branch.get("type", ()) and self.kind is not None:
                branch["x-waza-kind"] = self.kind
        return {**schema, "anyOf": branches}


def text_or_block(value: object) -> str:
    """Return the shape of an entry: a plain name (or pattern), or a block of keys."""
    return "block" if isinstance(value, Mapping) or hasattr(value, "model_fields_set") else "text"


def plain_text(value: object) -> object:
    """Return a number or boolean as the string it was written as; other values stay as they are."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, int | float) else value


def _whole_number(value: object) -> object:
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _switch(value: object) -> object:
    """Return the boolean that upstream's decoder makes of a word where a boolean is due."""
    return SWITCH_WORDS.get(value, value) if isinstance(value, str) else value


Text: TypeAlias = Annotated[str, BeforeValidator(plain_text), Field(strict=True), AsWritten()]
TextList: TypeAlias = Annotated[tuple[Text, ...], ListOf()]
PatternList: TypeAlias = Annotated[tuple[Text, ...], ListOf("regex")]
ToolNameList: TypeAlias = Annotated[tuple[Text, ...], ListOf("tool.name")]
SkillNameList: TypeAlias = Annotated[tuple[Text, ...], ListOf("skill.name")]
WorkspacePathList: TypeAlias = Annotated[tuple[Text, ...], ListOf("path.workspace")]
ArgumentList: TypeAlias = Annotated[tuple[Text, ...], ListOf("argument")]
AssertionList: TypeAlias = Annotated[tuple[Text, ...], ListOf("python.assertion")]
WholeNumber: TypeAlias = Annotated[int, Field(strict=True), BeforeValidator(_whole_number)]
Limit: TypeAlias = Annotated[int, Field(strict=True, ge=0), BeforeValidator(_whole_number)]
Switch: TypeAlias = Annotated[bool, Field(strict=True), BeforeValidator(_switch), AsSwitch()]
PlainText: TypeAlias = Annotated[str, Field(strict=True)]
Number: TypeAlias = Annotated[float, Field(strict=True)]


ItemT = TypeVar("ItemT")

# A relative path whose segments never are `..`, in both directory notations.
_INSIDE = r"^(?![/\\~])(?![A-Za-z]:)(?!(?:.*[/\\])?\.\.(?:[/\\]|$))"


@dataclass(frozen=True, slots=True, eq=False)
class SchemaKeywords:
    """Annotation: extra JSON Schema keywords of a value."""

    extra: Mapping[str, Any]

    def __get_pydantic_json_schema__(self, core: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        """Return the value's schema with the extra keywords."""
        return {**handler(core), **self.extra}


class _Matching(SchemaKeywords):
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


def kind(name: str) -> SchemaKeywords:
    """Return the annotation of a value that the editor knows how to complete."""
    return SchemaKeywords({"x-waza-kind": name})


def severity(level: str, **keywords: Any) -> SchemaKeywords:
    """Return the annotation of a rule that the engine does not enforce; breaking it is worth ``level``."""
    return SchemaKeywords({**keywords, "x-waza-severity": level})


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


def matching(pattern: str, message: str, **keywords: Any) -> SchemaKeywords:
    """Return the annotation of a string that must match a pattern; ``message`` completes "`key` …".

    Plain values that become strings, such as numbers, are rejected by ``type`` where none can match.
    """
    return _Matching({"pattern": pattern, "x-waza-message": message, **keywords})


RequiredText: TypeAlias = Annotated[Text, matching(r"\S", "must not be blank")]
InsidePath: TypeAlias = Annotated[Text, matching(_INSIDE, "must be a relative path without `..`")]
ListOfBlocks: TypeAlias = Annotated[tuple[ItemT, ...], ListOf(texts=False)]
TextT = TypeVar("TextT")
TextOrBlock: TypeAlias = Annotated[
    Annotated[TextT, Tag("text")] | Annotated[ItemT, Tag("block")], Discriminator(text_or_block)
]
"""A string, or a block of keys: an entry that is written in a short form, or in full."""
PathList: TypeAlias = Annotated[tuple[Text, ...], ListOf("path.suite")]
FixtureList: TypeAlias = Annotated[tuple[Text, ...], ListOf("path.fixture")]
TagList: TypeAlias = Annotated[tuple[Text, ...], ListOf("tag")]
PromptList: TypeAlias = Annotated[tuple[Text, ...], ListOf("prompt.text")]
AnyMap: TypeAlias = Annotated[
    dict[str, Any], SchemaKeywords({"type": "object", "additionalProperties": True})
]
WordMap: TypeAlias = Annotated[
    dict[str, Text],
    BeforeValidator(_scalar_map),
    SchemaKeywords(
        {"type": "object", "additionalProperties": {"type": ["string", "number", "boolean", "null"]}}
    ),
]
Positive = Ge(1)
NotNegative = Ge(0)
Seconds: TypeAlias = Annotated[WholeNumber, Positive, Le(LONGEST_SECONDS)]
SecondsOrOff: TypeAlias = Annotated[WholeNumber, NotNegative, Le(LONGEST_SECONDS)]


SWITCH_WORDS: Mapping[str, bool] = MappingProxyType(
    {"y": True, "Y": True, "yes": True, "on": True, "n": False, "N": False, "no": False, "off": False}
)
"""The words of YAML 1.1 that upstream's decoder takes where a boolean is due, and no others."""
