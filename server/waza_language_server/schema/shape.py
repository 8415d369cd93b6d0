"""The values that are allowed at a place, read from the generated JSON Schemas.

A ``Shape`` is one schema seen by the editor: hover reads its description and default, completion its
properties and allowed values, the rules its annotations. Shapes are created on demand and shared; nothing in
them refers to a document.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar, cast

from waza_engine.frozen import frozen
from waza_language_server.syntax.nodes import Node

if TYPE_CHECKING:
    from jsonschema_rs import Draft202012Validator

JsonSchema = Mapping[str, Any]
Severity = Literal["error", "warning", "information", "hint"]

_SCALARS = frozenset({"string", "number", "integer", "boolean", "null"})
_NODE_KINDS: Mapping[str, frozenset[str]] = {
    "mapping": frozenset({"object"}),
    "sequence": frozenset({"array"}),
    "scalar": _SCALARS,
}


@frozen()
class Property:
    """A key of a mapping: its name, the shape of its value, whether a run requires it."""

    name: str
    shape: Shape
    required: bool


@frozen()
class Recommendation:
    """A key whose absence is less than an error, and why; ``unless`` another key exists."""

    key: str
    severity: Severity
    why: str
    unless: str = ""


@frozen()
class Discouraged:
    """Keys without effect next to certain others, and the reason."""

    keys: tuple[str, ...]
    beside: tuple[str, ...]
    severity: Severity
    why: str


Value = TypeVar("Value")


class _Annotation(Generic[Value]):
    """The value of a keyword of a schema, converted where that is necessary."""

    def __init__(self, key: str, default: Value, convert: Callable[[Any], Value] | None = None) -> None:
        self._key, self._default, self._convert = key, default, convert

    def __get__(self, shape: Shape, owner: type[Shape]) -> Value:
        found = shape.schema.get(self._key, self._default)
        return found if self._convert is None else self._convert(found)


class Shape:
    """One schema, with its ``$ref`` resolved. Two shapes of the same schema are the same object."""

    def __init__(self, schema: JsonSchema, root: SchemaRoot) -> None:
        self.schema = schema
        self._root = root
        self._may_hold: dict[frozenset[str], bool] = {}

    def __repr__(self) -> str:
        return f"Shape({self.title or self.kind or sorted(self.types)})"

    title = _Annotation("title", "", str)
    """The short name, or ""."""
    description = _Annotation("description", "", str)
    """The description in Markdown, or ""."""

    @cached_property
    def types(self) -> frozenset[str]:
        """Return the allowed JSON types, ``null`` included; empty if anything is allowed."""
        if self.branches:
            branches = [branch.types for branch in self.branches]
            return frozenset[str]().union(*branches) if all(branches) else frozenset()
        named = self.schema.get("type", ())
        if not named and self.enum:
            return (
                frozenset({"string"}) if all(isinstance(value, str) for value in self.enum) else frozenset()
            )
        types = frozenset([named] if isinstance(named, str) else named)
        # A switch also accepts a few words, which authors should not write.
        return types - {"string"} if self.kind == "switch" else types

    @cached_property
    def reads_all_as_text(self) -> bool:
        """Return whether any string is allowed, and an unquoted number or switch is read as one."""
        if self.enum or self.kind in ("python.assertion", "duration"):
            return False
        return self.types >= {"string", "number"} and self.types.isdisjoint({"array", "object"})

    default = _Annotation[Any]("default", None)
    """The value if nothing is written; None if the schema has no default, or null."""

    @property
    def has_default(self) -> bool:
        """Return whether a default is known."""
        return "default" in self.schema

    @cached_property
    def enum(self) -> tuple[Any, ...]:
        """Return the only values allowed, in order; empty if any value is allowed."""
        if "const" in self.schema:
            return (self.schema["const"],)
        if "enum" in self.schema:
            return tuple(self.schema["enum"])
        return tuple(dict.fromkeys(value for branch in self.branches for value in branch.enum))

    examples = _Annotation[tuple[Any, ...]]("examples", (), tuple)
    """Example values."""

    @property
    def deprecated(self) -> bool:
        """Return whether it is deprecated."""
        return bool(self.schema.get("deprecated", False)) or "until" in self.versions

    versions = _Annotation[Mapping[str, Any]]("x-waza-versions", {})
    """The versions of another tool that take it: ``since``, ``until``, ``instead``; empty for all."""

    @property
    def replaced_by(self) -> str | None:
        """Return the replacement of something deprecated."""
        return self.schema.get("x-waza-replaced-by", self.versions.get("instead"))

    deprecation = _Annotation[str]("x-waza-deprecation", "")
    """The advice for something deprecated that has no replacement, "" if it has one."""

    @cached_property
    def kind(self) -> str | None:
        """Return the kind of the value, such as ``grader``, ``python.assertion`` or ``regex``."""
        own = self.schema.get("x-waza-kind")
        if own is not None or not self.branches:
            return own
        kinds = {branch.kind for branch in self.branches if branch.kind is not None}
        return kinds.pop() if len(kinds) == 1 else None

    @property
    def ignores_case(self) -> bool:
        """Return whether a pattern ignores case, whatever it says itself."""
        return bool(self.schema.get("x-waza-any-case")) or any(each.ignores_case for each in self.branches)

    snippet = _Annotation[str | None]("x-waza-snippet", None)
    """A minimal valid YAML value to start from."""
    inert = _Annotation[str | None]("x-waza-inert", None)
    """A sentence, if the key is read but has no effect."""
    since = _Annotation[str | None]("x-waza-since", None)
    """The version that introduced it, None if it was always there."""
    message = _Annotation[str | None]("x-waza-message", None)
    """A sentence for a value that breaks the rule of this schema."""
    severity = _Annotation[Severity | None]("x-waza-severity", None)
    """The severity of a wrong value, if not an error."""
    asks_model = _Annotation[bool]("x-waza-asks-model", False)
    """True if a grader of this type calls a model."""
    other_names = _Annotation[tuple[str, ...]]("x-waza-other-names", (), tuple)
    """The names that other tools and older versions have for a grader type."""
    runs_program = _Annotation[bool]("x-waza-runs-program", False)
    """True if a grader of this type starts a program."""
    severity_of_missing = _Annotation[Severity]("x-waza-missing", "error")
    """The severity when a required key for this value is missing."""
    unknown_keys = _Annotation[Severity]("x-waza-unknown-keys", "error")
    """The severity of an unknown key."""

    @property
    def unknown_key_effect(self) -> str:
        """Return the consequence of an unknown key, for messages."""
        if self.unknown_keys != "error":
            return "it has no effect"
        return self.schema.get("x-waza-unknown-key-effect", "a run refuses it")

    @property
    def nullable(self) -> bool:
        """Return whether a key without a value counts as absent."""
        return "null" in self.types or bool(self.schema.get("x-waza-nullable", False))

    misspellings = _Annotation[Mapping[str, str]]("x-waza-misspellings", {})
    """Common other names, and the right key of the same mapping."""

    @cached_property
    def uncertain(self) -> frozenset[str]:
        """Return those of the ``misspellings`` that may have been intended as something else."""
        return frozenset(self.schema.get("x-waza-uncertain", ()))

    @cached_property
    def recommended(self) -> tuple[Recommendation, ...]:
        """Return recommended keys."""
        return tuple(
            Recommendation(
                entry["key"], entry.get("severity", "hint"), entry.get("why", ""), entry.get("unless", "")
            )
            for entry in self.schema.get("x-waza-recommended", ())
        )

    @cached_property
    def discouraged(self) -> tuple[Discouraged, ...]:
        """Return the known keys that have no effect next to others."""
        return tuple(
            Discouraged(tuple(rule["keys"]), tuple(rule["beside"]), rule["severity"], rule["why"])
            for rule in self.schema.get("x-waza-discouraged", ())
        )

    at_least_one = _Annotation[tuple[str, ...]]("x-waza-at-least-one", (), tuple)
    """Keys of which at least one is required, else the mapping has no effect."""
    exactly_one = _Annotation[tuple[str, ...]]("x-waza-exactly-one", (), tuple)
    """Keys of which exactly one is required."""
    not_greater = _Annotation[Mapping[str, str]]("x-waza-not-greater", {})
    """Pairs of keys: the number of the first must not exceed that of the second."""
    required = _Annotation[tuple[str, ...]]("required", (), tuple)
    """Keys without which a run fails or means nothing."""

    @cached_property
    def properties(self) -> Mapping[str, Property]:
        """Return the known keys of a mapping in documented order; those of all branches together."""
        written = cast("Mapping[str, JsonSchema]", self.schema.get("properties", {}))
        known = {
            name: Property(name, self._root.shape(schema), name in self.required)
            for name, schema in written.items()
        }
        for branch in self.branches:
            for name, each in branch.properties.items():
                known.setdefault(name, each)
        return known

    @cached_property
    def below(self) -> Mapping[str, Shape]:
        """Return the shapes of the values of the known keys."""
        return {name: each.shape for name, each in self.properties.items()}

    @cached_property
    def deprecated_keys(self) -> tuple[Property, ...]:
        """Return the known keys that are deprecated, whatever the version of a file."""
        return tuple(
            known for known in self.properties.values() if known.shape.deprecated and not known.shape.versions
        )

    @cached_property
    def additional(self) -> Shape | None:
        """Return the shape of values under keys that are not listed; None if there are no such keys."""
        additional = self.schema.get("additionalProperties")
        if isinstance(additional, Mapping):
            return self._root.shape(cast("JsonSchema", additional))
        return None

    @cached_property
    def grader_keys(self) -> Mapping[str, Shape] | None:
        """Return the keys of a mapping that may hold graders below, with their shapes; None if any may."""
        if self.branches or (self.additional is not None and self.additional.may_hold_graders()):
            return None
        return {name: each.shape for name, each in self.properties.items() if each.shape.may_hold_graders()}

    def may_hold_graders(self) -> bool:
        """Return whether a value of this shape can be a grader, or contain one anywhere."""
        return self.kind == "grader" or self.may_hold(frozenset({"grader"}))

    def may_hold(self, kinds: frozenset[str]) -> bool:
        """Return whether a value of this shape may contain one of some kinds, anywhere."""
        known = self._may_hold.get(kinds)
        if known is None:
            known = self._may_hold[kinds] = self._finds_below(kinds)
        return known

    def _finds_below(self, kinds: frozenset[str]) -> bool:
        rest: list[Shape] = [self]
        seen = set(rest)
        while rest:
            shape = rest.pop()
            if shape is not self and shape.kind in kinds:
                return True
            below = [each.shape for each in shape.properties.values()]
            below += [each for each in (shape.additional, shape.items, *shape.branches) if each is not None]
            rest += [each for each in below if each not in seen]
            seen.update(below)
        return False

    @property
    def wants_list(self) -> bool:
        """Return whether only a list is allowed, not a single value; an empty value counts as neither."""
        return self.types - {"null"} == frozenset({"array"})

    def takes_text(self, text: str) -> bool:
        """Return whether a string may be allowed; only the pattern and the allowed values are checked."""
        if self.enum and text not in self.enum:
            return False
        pattern = self.schema.get("pattern")
        branches = [branch for branch in self.branches if "string" in branch.types]
        if branches:
            return any(branch.takes_text(text) for branch in branches)
        return pattern is None or _occurs(pattern, text)

    @property
    def open(self) -> bool:
        """Return whether keys that are not listed are allowed."""
        if self.branches:
            return any(branch.open for branch in self.branches if branch.fits("mapping"))
        return self.schema.get("additionalProperties", True) is not False

    @cached_property
    def items(self) -> Shape | None:
        """Return the shape of every item of a list; None if it is not a list or its items are free."""
        items = self.schema.get("items")
        if isinstance(items, Mapping):
            return self._root.shape(cast("JsonSchema", items))
        return next((branch.items for branch in self.branches if branch.items is not None), None)

    @cached_property
    def branches(self) -> tuple[Shape, ...]:
        """Return the alternatives of a value that has several forms; empty if it has one form."""
        if "x-waza-at-least-one" in self.schema:
            return ()
        listed = cast("list[JsonSchema]", self.schema.get("oneOf") or self.schema.get("anyOf") or [])
        shapes = [self._root.shape(schema) for schema in listed]
        return tuple(shape for shape in shapes if shape.describes_value)

    @cached_property
    def depends_on_value(self) -> bool:
        """Return whether the shape depends on the value: it has alternatives, or is that of a grader."""
        return bool(self.branches) or self.kind == "grader"

    @property
    def describes_value(self) -> bool:
        """Return whether the schema restricts the kind of value, rather than adding a rule about keys."""
        return any(key in self.schema for key in ("type", "enum", "const", "anyOf", "oneOf", "x-waza-kind"))

    def fits(self, kind: str) -> bool:
        """Return whether a node of this kind (mapping, sequence, scalar) is allowed."""
        return not self.types or bool(self.types & _NODE_KINDS.get(kind, frozenset()))

    def branch(self, kind: str, keys: frozenset[str] = frozenset()) -> Shape:
        """Return the alternative for a node of this kind; for mappings the one that shares most keys.

        The shape itself if it has no alternatives or none fits.
        """
        if not self.branches:
            return self
        fitting = [branch for branch in self.branches if branch.fits(kind)]
        if not fitting:
            return self
        best = max(fitting, key=lambda branch: len(keys & branch.properties.keys()))
        return best.branch(kind, keys)


def _occurs(pattern: str, text: str) -> bool:
    """Use the schemas' validator: it limits the time for a pattern of a custom grader type."""
    try:
        return _pattern_validator(pattern).is_valid(text)
    except ValueError:
        # The validator does not accept a lone surrogate.
        return True


@lru_cache(maxsize=256)
def _pattern_validator(pattern: str) -> Draft202012Validator:
    # With the first value that has one: an import of the library takes a tenth of a start.
    from jsonschema_rs import Draft202012Validator

    return Draft202012Validator({"pattern": pattern})


_ASSERTION = "python.assertion"


def language_kind(kind: str | None, written: str | None) -> str | None:
    """Return the name of a value's language; ``written`` is the grader's ``language``, None without one.

    None if that language is unknown: assertions in an unknown language are not checked.
    """
    if kind != _ASSERTION or written is None or written.strip() in {"", "python"}:
        return kind
    return "javascript.assertion" if written.strip() == "javascript" else None


def language_kind_of(node: Node, kind: str | None) -> str | None:
    """Return the name of the language of a node of a kind."""
    if kind != _ASSERTION:
        return kind
    holder = node.parent
    while holder is not None:
        if holder.kind == "mapping" and (found := holder.get("language")) is not None:
            return language_kind(kind, found.target.value)
        holder = holder.parent
    return kind


class SchemaRoot:
    """One schema file: resolves its ``$ref`` and caches one shape for each schema."""

    def __init__(self, schema: JsonSchema) -> None:
        self.schema = schema
        self._shapes: dict[int, Shape] = {}

    @cached_property
    def top(self) -> Shape:
        """Return the shape of the entire file."""
        return self.shape(self.schema)

    @cached_property
    def validator(self) -> Draft202012Validator:
        """Return the validator of the file."""
        # With the first text that is checked: an import of the library takes a tenth of a start.
        from jsonschema_rs import Draft202012Validator

        return Draft202012Validator(cast("dict[str, Any]", self.schema), retriever=_refuse)

    def shape(self, schema: JsonSchema) -> Shape:
        """Return the shape of a schema of this file, references resolved; keys next to ``$ref`` win."""
        known = self._shapes.get(id(schema))
        if known is None:
            known = Shape(self._resolved(schema), self)
            self._shapes[id(schema)] = known
        return known

    def lookup(self, path: list[str | int]) -> Shape:
        """Return the shape at a path of keywords from the top of the file, such as a validator reports."""
        schema: Any = self.schema
        for step in path:
            schema = schema[step]
        return self.shape(cast("JsonSchema", schema) if isinstance(schema, Mapping) else {})

    def _resolved(self, schema: JsonSchema) -> JsonSchema:
        merged: dict[str, Any] = {}
        for part in self._parts(schema, 0):
            for key, value in part.items():
                if key == "properties" and key in merged:
                    merged[key] = {**merged[key], **value}
                else:
                    merged[key] = value
        return merged or schema

    def _parts(self, schema: JsonSchema, depth: int) -> Iterator[JsonSchema]:
        """Yield the schemas that a schema consists of, the strongest last."""
        if depth > 20:
            return
        for part in cast("list[JsonSchema]", schema.get("allOf", [])):
            if "$ref" in part:
                yield from self._parts(part, depth + 1)
        reference = schema.get("$ref")
        if isinstance(reference, str) and reference.startswith("#"):
            target: Any = self.schema
            for step in reference.removeprefix("#").strip("/").split("/"):
                target = target[step.replace("~1", "/").replace("~0", "~")] if step else target
            yield from self._parts(target, depth + 1)
        yield {key: value for key, value in schema.items() if key != "$ref"}


def _refuse(uri: str) -> Any:
    raise ValueError(f"{uri} is not one of the shipped schemas")
