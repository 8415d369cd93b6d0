"""The schemas of suite files and grader types, as the engine generates them.

Files are read, and validators are built, when they are first needed: opening one task file reads two schemas,
not twenty-five.

Architecture invariant: schemas come from JSON files, never from the engine's models, and nothing is ever
fetched.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Literal, cast

import waza_engine
from waza_language_server.schema.shape import JsonSchema, SchemaRoot, Shape

SchemaName = Literal[
    "eval",
    "task",
    "trigger_tests",
    "project_config",
    "prompts",
    "captures",
    "trials",
    "adapter",
    "skill",
    "evals_json",
    "trigger_list",
    "vally_eval",
    "vally_project",
]
LINE_KINDS: frozenset[SchemaName] = frozenset({"prompts", "captures", "trials"})
"""The kinds of files of JSON Lines, whose schema is that of a line."""
VALLY_KINDS: frozenset[SchemaName] = frozenset({"vally_eval", "vally_project"})
"""The kinds of files whose graders are those of Vally."""

GRADER_STANDIN: Mapping[str, Any] = {"type": "object", "x-waza-kind": "grader"}
"""Replaces grader entries in the document's schema: any mapping. The types' schemas validate them."""

_PACKAGED = "packaged_grader"


class Catalog:
    """All schemas of one engine, and of the grader types that plug-ins add to it."""

    def __init__(
        self, directory: Path, custom: Mapping[str, JsonSchema] | None = None, *, of_vally: bool = False
    ) -> None:
        """Add the schemas of plug-ins' grader types as ``custom``; the engine's own types win over them."""
        self._directory = directory
        self.of_vally = of_vally
        self._graders_folder = "vally_graders" if of_vally else "graders"
        self._custom = dict(custom or {})
        self._documents: dict[str, SchemaRoot] = {}
        self._lines: dict[str, SchemaRoot] = {}
        self._graders: dict[str, SchemaRoot] = {}
        self._options: dict[str, frozenset[str]] = {}

    @cached_property
    def grader_types(self) -> tuple[str, ...]:
        """Return every grader type, in alphabetical order."""
        return tuple(sorted({*self._built_in, *self._custom}))

    @cached_property
    def _built_in(self) -> frozenset[str]:
        suffix = ".schema.json"
        names = (path.name for path in (self._directory / self._graders_folder).iterdir())
        return frozenset(name.removesuffix(suffix) for name in names if name.endswith(suffix))

    def of(self, kind: SchemaName) -> Catalog:
        """Return the catalog with the grader types of a kind of file: Vally has its own."""
        return self.vally if kind in VALLY_KINDS else self

    @cached_property
    def vally(self) -> Catalog:
        """Return the catalog of Vally's files."""
        return self if self.of_vally else Catalog(self._directory, of_vally=True)

    def is_custom(self, name: str) -> bool:
        """Return whether a grader type comes from a plug-in."""
        return name in self._custom and name not in self._built_in

    def has_page(self, name: str) -> bool:
        """Return whether the documentation has a section on a grader type."""
        return not self.of_vally and name in self._built_in

    def with_types(self, custom: Mapping[str, JsonSchema]) -> Catalog:
        """Return a catalog with exactly these types of plug-ins; itself if it has them already."""
        return self if dict(custom) == self._custom else Catalog(self._directory, custom)

    def document(self, kind: SchemaName) -> Shape:
        """Return the shape of an entire file. Its grader entries have kind ``grader`` and no details."""
        return self.document_root(kind).top

    def document_root(self, kind: SchemaName) -> SchemaRoot:
        """Return the schema of an entire file, with every grader entry reduced to a mapping.

        Of a file of JSON Lines it is a list of lines.
        """
        if kind not in self._documents:
            schema = _without_graders(self._read(f"{kind}.schema.json"))
            schema = {"type": "array", "items": schema} if kind in LINE_KINDS else schema
            self._documents[kind] = SchemaRoot(schema)
        return self._documents[kind]

    def line_root(self, kind: SchemaName) -> SchemaRoot:
        """Return the schema of a line of a file of JSON Lines."""
        if kind not in self._lines:
            self._lines[kind] = SchemaRoot(self.document_root(kind).schema["items"])
        return self._lines[kind]

    def grader(self, name: str) -> Shape | None:
        """Return the shape of a grader entry of this type, or None for an unknown type."""
        root = self.grader_root(name)
        return root.top if root is not None else None

    def grader_root(self, name: str) -> SchemaRoot | None:
        """Return the schema of a grader entry of this type, or None for an unknown type."""
        if name not in self.grader_types:
            return None
        if name not in self._graders:
            own = self.is_custom(name)
            schema = self._custom[name] if own else self._read(f"{self._graders_folder}/{name}.schema.json")
            self._graders[name] = SchemaRoot(schema)
        return self._graders[name]

    def options_of(self, name: str) -> frozenset[str]:
        """Return the keys under ``config`` of a grader type; none for an unknown type."""
        if name not in self._options:
            shape = self.grader(name)
            config = shape.properties.get("config") if shape is not None else None
            known = config.shape.branch("mapping").properties if config is not None else ()
            self._options[name] = frozenset(known)
        return self._options[name]

    @cached_property
    def other_type_names(self) -> Mapping[str, str]:
        """Return the grader types by their names in other tools and older versions."""
        shapes = ((name, self.grader(name)) for name in self.grader_types)
        return {other: name for name, shape in shapes if shape is not None for other in shape.other_names}

    @property
    def any_grader(self) -> Shape:
        """Return the shape of a grader entry without a type: the keys that every type has."""
        return self.any_grader_root.top

    @cached_property
    def any_grader_root(self) -> SchemaRoot:
        """Return the schema of a grader entry without a type."""
        entries = [shape for name in self.grader_types if (shape := self.grader(name)) is not None]
        names = [name for name in entries[0].properties if all(name in entry.properties for entry in entries)]
        properties = {
            name: dict(entries[0].properties[name].shape.schema) for name in names if name != "config"
        }
        properties["type"] = {
            "description": properties.get("type", {}).get("description", "The type of check."),
            "enum": list(self.grader_types),
            "x-waza-kind": "grader.type",
        }
        ref = {} if self.of_vally else {"ref": self.packaged_grader_root.top.properties["ref"].shape.schema}
        schema = {
            "type": "object",
            "x-waza-kind": "grader",
            "required": ["type"],
            "properties": {**properties, **ref, "config": {"type": "object"}},
            "x-waza-unknown-keys": entries[0].unknown_keys,
            "additionalProperties": False,
        }
        return SchemaRoot(schema)

    @cached_property
    def packaged_grader_root(self) -> SchemaRoot:
        """Return the schema of a grader entry that names a grader of a package by ``ref``."""
        return SchemaRoot(self._read("eval.schema.json")["$defs"][_PACKAGED])

    def _read(self, name: str) -> JsonSchema:
        return json.loads(self._directory.joinpath(*name.split("/")).read_text(encoding="utf-8"))


@cache
def default_catalog() -> Catalog:
    """Return the catalog of the installed engine."""
    return Catalog(Path(waza_engine.__file__).parent / "schemas")


def _without_graders(schema: Any) -> Any:
    """Return the schema with every grader entry replaced by the stand-in."""
    if isinstance(schema, list):
        return [_without_graders(item) for item in cast("list[Any]", schema)]
    if not isinstance(schema, dict):
        return schema
    block = cast("dict[str, Any]", schema)
    if block.get("x-waza-kind") == "grader":
        kept = {
            key: value for key, value in block.items() if key in {"title", "description", "x-waza-snippet"}
        }
        return {**kept, **GRADER_STANDIN}
    return {key: _without_graders(value) for key, value in block.items()}
