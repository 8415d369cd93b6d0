"""A block of keys in a suite file: what all models of blocks share, in the engine and in the JSON Schema.

A model states its rules once, as class variables; from them come both the validation of a run and the
annotations that the editor reads (``x-waza-at-least-one``, ``x-waza-misspellings``, …). So what the editor
accepts is what the engine runs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any, ClassVar, Literal, cast, get_args, get_origin

from pydantic import BaseModel, ConfigDict, ValidationInfo, model_validator
from pydantic.alias_generators import to_camel

from waza_engine.spelling import listed

if TYPE_CHECKING:
    from pydantic import GetJsonSchemaHandler
    from pydantic.fields import FieldInfo
    from pydantic_core import CoreSchema


class PlacedError(ValueError):
    """A violation of a block's rule at one path below it: ``location`` leads there from the block."""

    def __init__(self, location: tuple[str | int, ...], why: str) -> None:
        super().__init__(why)
        self.location = location


class Given(Enum):
    """When a key counts as given: an empty list or a limit of zero does not."""

    LISTED = "a list that is not empty"
    POSITIVE = "a number above zero"
    WRITTEN = "text that is not empty"
    PRESENT = "any value but null"

    @property
    def schema(self) -> dict[str, Any]:
        """Return the rule as JSON Schema; a value of a wrong type passes: it is reported already."""
        limit: dict[str, Any] = {
            Given.LISTED: {"minItems": 1},
            Given.POSITIVE: {"exclusiveMinimum": 0},
            Given.WRITTEN: {"minLength": 1},
            Given.PRESENT: {},
        }[self]
        return {"not": {"type": "null"}, **limit}

    def holds(self, value: object) -> bool:
        """Return whether a validated value counts as given."""
        if self is Given.PRESENT:
            return value is not None
        if self is Given.POSITIVE:
            return isinstance(value, int | float) and value > 0
        return bool(value)


@dataclass(frozen=True, slots=True)
class Conflict:
    """Keys of two forms that must not be mixed. ``why`` is the sentence shown to the author."""

    keys: tuple[str, ...]
    others: tuple[str, ...]
    why: str


@dataclass(frozen=True, slots=True)
class Discouraged:
    """Keys without effect next to others, which deserve a warning. ``why`` completes "… has no effect: "."""

    keys: tuple[str, ...]
    beside: tuple[str, ...]
    why: str

    @property
    def schema(self) -> dict[str, Any]:
        """The rule as an annotation for editors."""
        return {
            "keys": list(self.keys),
            "beside": list(self.beside),
            "severity": "warning",
            "why": self.why,
        }


class Block(BaseModel):
    """Base of all blocks that an author writes.

    Keys without effect are left out and described in the list ``warnings`` of the validation context
    (upstream 0.38 runs such a file and logs a line). Without such a list unknown keys are rejected.
    ``unknown_keys = "error"`` marks the blocks where upstream rejects them too, ``unknown_key_effect`` says
    what is lost then, when that is not the run. A key without a value (``tags:``) counts as absent.

    ``rules`` are JSON Schema rules over several keys that a subclass also checks itself; each may carry an
    ``x-waza-message``, the sentence for the author. ``first_keys`` come first in completion and
    documentation. ``misspellings`` are common wrong names of a key; those that may have another meaning, or
    need another value, are ``uncertain``: the author has to choose. ``marks_nullable`` leaves it to the
    schema's cleanup to say that a key may be empty.
    """

    # A block is built when it is first needed: to build all of them took an eighth of the engine's start.
    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    at_least_one: ClassVar[Mapping[str, Given]] = {}
    _without_one: ClassVar[str] = ""
    conflicts: ClassVar[tuple[Conflict, ...]] = ()
    discouraged: ClassVar[tuple[Discouraged, ...]] = ()
    exactly_one: ClassVar[tuple[str, ...]] = ()
    needs: ClassVar[Mapping[str, str]] = {}
    not_greater: ClassVar[Mapping[str, str]] = {}
    misspellings: ClassVar[Mapping[str, str]] = {}
    uncertain: ClassVar[frozenset[str]] = frozenset()
    recommended: ClassVar[tuple[Mapping[str, str], ...]] = ()
    null_is_absent: ClassVar[bool] = True
    unknown_keys: ClassVar[Literal["warning", "error"]] = "warning"
    unknown_key_effect: ClassVar[str] = ""
    rules: ClassVar[tuple[Mapping[str, Any], ...]] = ()
    first_keys: ClassVar[tuple[str, ...]] = ()
    marks_nullable: ClassVar[bool] = True

    @model_validator(mode="before")
    @classmethod
    def _leave_out_keys_without_effect(cls, value: Any, info: ValidationInfo) -> Any:
        if not isinstance(value, Mapping):
            return value
        block = dict(cast("Mapping[Any, Any]", value))
        fields = {field.alias or name: field for name, field in cls.model_fields.items()}
        warnings = cast("dict[str, list[str]]", info.context or {}).get("warnings")
        if warnings is not None:
            if cls.unknown_keys == "warning":
                warnings += [_unknown_key(cls, key) for key in block if key not in fields]
                block = {key: item for key, item in block.items() if key in fields}
            warnings += [
                f"`{key}` has no effect next to `{other}`: {rule.why}"
                for rule in cls.discouraged
                for key, other in _without_effect(rule, block)
            ]
        if not cls.null_is_absent:
            return block
        return {
            key: item for key, item in block.items() if item is not None or not _takes_null(fields.get(key))
        }

    @model_validator(mode="after")
    def _check_keys_together(self) -> Block:
        values = self._values()
        for key, value in values.items():
            if (
                value is None
                and not self.null_is_absent
                and type(self).model_fields[key].annotation is not Any
            ):
                raise ValueError(f"`{key}` has no value")
        if self.exactly_one and len(values) != 1:
            raise ValueError(f"give exactly one of {listed(self.exactly_one)}")
        if self.at_least_one and not any(
            rule.holds(values.get(key)) for key, rule in self.at_least_one.items()
        ):
            raise ValueError(f"{self._without_one}give at least one of {listed([*self.at_least_one])}")
        for conflict in self.conflicts:
            if any(key in values for key in conflict.keys) and any(key in values for key in conflict.others):
                raise ValueError(conflict.why)
        for key, needed in self.needs.items():
            if values.get(key) and values.get(needed) is None:
                raise ValueError(f"`{key}` needs `{needed}` beside it")
        for low, high in self.not_greater.items():
            bounds = values.get(low), values.get(high)
            if bounds[0] is not None and bounds[1] is not None and bounds[0] > bounds[1]:
                raise ValueError(f"`{low}` ({bounds[0]}) must not be greater than `{high}` ({bounds[1]})")
        return self

    def _values(self) -> dict[str, Any]:
        """Return the written keys, by the names that authors use."""
        fields = type(self).model_fields
        written = (name for name in self.model_fields_set if name in fields)
        return {fields[name].alias or name: getattr(self, name) for name in written}

    @classmethod
    def __get_pydantic_json_schema__(cls, core: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        schema = handler(core)
        block = handler.resolve_ref_schema(schema)
        block.pop("title", None)
        for key, value in block.get("properties", {}).items():
            value.pop("title", None)
            _write_once(value, nullable=cls.null_is_absent and key not in block.get("required", ()))
        block["x-waza-unknown-keys"] = cls.unknown_keys
        block |= {"x-waza-unknown-key-effect": cls.unknown_key_effect} if cls.unknown_key_effect else {}
        if cls.misspellings:
            block["x-waza-misspellings"] = dict(cls.misspellings)
        if cls.uncertain:
            block["x-waza-uncertain"] = sorted(cls.uncertain)
        if cls.recommended:
            block["x-waza-recommended"] = [dict(entry) for entry in cls.recommended]
        if cls.discouraged:
            block["x-waza-discouraged"] = [rule.schema for rule in cls.discouraged]
        if cls.at_least_one:
            block["x-waza-at-least-one"] = list(cls.at_least_one)
            block["anyOf"] = [_given(key, rule) for key, rule in cls.at_least_one.items()]
        if cls.exactly_one:
            block |= {"minProperties": 1, "maxProperties": 1, "x-waza-exactly-one": list(cls.exactly_one)}
        if cls.not_greater:
            block["x-waza-not-greater"] = dict(cls.not_greater)
        rules = [_exclusion(conflict) for conflict in cls.conflicts]
        rules += [_implication(key, needed) for key, needed in cls.needs.items()]
        if rules or cls.rules:
            block["allOf"] = [*rules, *(dict(rule) for rule in cls.rules)]
        if cls.marks_nullable:
            _mark_nullable(cls, block)
        if cls.first_keys:
            names = dict.fromkeys((*cls.first_keys, *block["properties"]))
            block["properties"] = {name: block["properties"][name] for name in names}
        return schema


class CamelBlock(Block):
    """A block whose keys are the names of its fields in camel case."""

    model_config = ConfigDict(alias_generator=to_camel)


def misspelt(names: Mapping[str, str | Sequence[str]]) -> Mapping[str, str]:
    """Return the keys by their misspellings; ``names`` has the misspellings of each key."""
    return {
        wrong: key
        for key, wrongs in names.items()
        for wrong in ([wrongs] if isinstance(wrongs, str) else wrongs)
    }


def forbidden(message: str, **properties: Mapping[str, Any]) -> dict[str, Any]:
    """Return the rule against a block with all of these keys, each with a value of its schema."""
    return {
        "not": {"type": "object", "required": list(properties), "properties": dict(properties)},
        "x-waza-message": message,
    }


def _without_effect(rule: Discouraged, block: Mapping[Any, Any]) -> list[tuple[str, str]]:
    """Return the given keys without effect, each with the first key that disables it."""
    other = next((key for key in rule.beside if block.get(key)), None)
    return [(key, other) for key in rule.keys if block.get(key) is not None] if other is not None else []


def _unknown_key(model: type[Block], key: object) -> str:
    intended = model.misspellings.get(str(key))
    hint = f"; write `{intended}`" if intended else ""
    return f"`{key}` is not an option here and has no effect{hint}"


def _takes_null(field: FieldInfo | None) -> bool:
    """Return whether null means a missing key: not if it is required, nor where a word is expected."""
    return (
        field is not None
        and not field.is_required()
        and (field.default is None or not is_choice(field.annotation))
    )


def is_choice(annotation: object) -> bool:
    """Return whether a value is one of a few words, without null. A list of such words is not."""
    origin = get_origin(annotation)
    if origin in (tuple, list, dict):
        return False
    return origin is Literal or any(is_choice(part) for part in get_args(annotation))


def _write_once(schema: dict[str, Any], *, nullable: bool) -> None:
    """Write a value that may be null as one schema: ``type: [integer, null]``, not two alternatives."""
    if schema.get("default", ...) is None:
        del schema["default"]
    branches = cast("list[dict[str, Any]]", schema.get("anyOf", []))
    optional = len(branches) == 2 and branches[1] == {"type": "null"}
    if optional:
        del schema["anyOf"]
        schema.update({**branches[0], **schema})
    if not nullable or "type" not in schema or "const" in schema or ("enum" in schema and not optional):
        return
    types = schema["type"]
    schema["type"] = [*([types] if isinstance(types, str) else types), "null"]
    if "enum" in schema:
        schema["enum"] = [*schema["enum"], None]


def _mark_nullable(model: type[Block], block: dict[str, Any]) -> None:
    for name, field in model.model_fields.items():
        if model.null_is_absent and not field.is_required() and not is_choice(field.annotation):
            block["properties"][field.alias or name]["x-waza-nullable"] = True


def _given(key: str, rule: Given) -> dict[str, Any]:
    return {"required": [key], "properties": {key: rule.schema}}


def _exclusion(conflict: Conflict) -> dict[str, Any]:
    sides = [
        {"anyOf": [_given(key, Given.PRESENT) for key in keys]} for keys in (conflict.keys, conflict.others)
    ]
    return {"not": {"allOf": sides}, "x-waza-message": conflict.why}


def _implication(key: str, needed: str) -> dict[str, Any]:
    return {"if": _given(key, Given.LISTED), "then": _given(needed, Given.PRESENT)}
