"""The content of a schema file as shapes: references are resolved, and each schema becomes one shape."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

from waza_language_server.schema.shape import JsonSchema, Shape

if TYPE_CHECKING:
    from jsonschema_rs import Draft202012Validator

_ANYTHING: JsonSchema = {}


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
        return self.shape(cast("JsonSchema", schema) if isinstance(schema, Mapping) else _ANYTHING)

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
