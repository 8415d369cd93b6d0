"""JSON Schemas that authors write: compiled without ever touching the network, patterns bounded in time.

Architecture invariant: a remote ``$ref`` is rejected, never fetched; a ``$ref`` to a file must lie next to
the eval file.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, cast
from urllib.parse import urlsplit
from urllib.request import url2pathname

import jsonschema
import referencing
import referencing.exceptions
import referencing.jsonschema

from waza_engine.files import FileError
from waza_engine.graders.matching.json_schema_keywords import (
    FORMAT_CHECKER,
    PATTERN_CHECKER,
    SchemaError,
    adapted,
    bounded_check,
)
from waza_engine.spec.json_schema_dialects import draft_of
from waza_engine.spec.reading.json_reader import json_fault
from waza_engine.spec.reading.suite_files import DISK, SuiteFiles
from waza_engine.spec.reading.yaml_reader import MAX_BYTES

_ASSERTING_FORMATS = frozenset(
    [
        jsonschema.Draft3Validator,
        jsonschema.Draft4Validator,
        jsonschema.Draft6Validator,
        jsonschema.Draft7Validator,
    ]
)
_VALIDATORS: Mapping[str, Any] = MappingProxyType(
    {
        "3": jsonschema.Draft3Validator,
        "4": jsonschema.Draft4Validator,
        "6": jsonschema.Draft6Validator,
        "7": jsonschema.Draft7Validator,
        "2019-09": jsonschema.Draft201909Validator,
        "2020-12": jsonschema.Draft202012Validator,
    }
)
_IDENTITY = {jsonschema.Draft3Validator: "id", jsonschema.Draft4Validator: "id"}
"""The key of a schema's identifier, in dialects where it is not ``$id``."""
LARGEST_CHARACTERS = 1_000_000
_KEPT_CHARACTERS = 50_000
# For such schemas the other files count, too, as they are within one grading.
_ELSEWHERE = re.compile(r'[rR]ef": "(?!#)')
_TOO_DEEP = "the schema is nested too deeply"
_UNRESOLVED = "the schema refers to `{}`, which is not in it and is never fetched"


class CompiledSchema:
    """A checked schema. Thread-safe."""

    def __init__(self, validator: Any) -> None:
        self._validator = validator

    def problems(self, value: object) -> list[str]:
        """Return the violations, each with its location; empty when the value satisfies the schema.

        Raises ``SchemaError`` when the check is impossible, or needs too much time and memory.
        """
        try:
            with bounded_check():
                errors = sorted(
                    self._validator.iter_errors(value), key=lambda error: [str(part) for part in error.path]
                )
        except (referencing.exceptions.Unresolvable, referencing.exceptions.NoSuchResource) as error:
            raise SchemaError(_UNRESOLVED.format(error.ref)) from None
        except RecursionError:
            raise SchemaError("the schema refers to itself without end") from None
        return [f"{error.json_path}: {error.message}" for error in errors]

    def is_valid(self, value: object) -> bool:
        """Return whether the value satisfies the schema."""
        return not self.problems(value)


def compile_schema(
    schema: Mapping[str, Any] | bool, *, base: Path | None = None, files: SuiteFiles = DISK
) -> CompiledSchema:
    """Check a schema and prepare it. Raises ``SchemaError``, also for a reference that leads nowhere.

    ``base`` is the file that relative references start from; their targets are read through ``files``. Draft
    2020-12 unless ``$schema`` names another; formats are asserted by draft 7 and older ones, as these
    specify.
    """
    try:
        text = json.dumps(schema, default=str)
    except RecursionError:
        raise SchemaError(_TOO_DEEP) from None
    if len(text) > LARGEST_CHARACTERS:
        raise SchemaError(f"the schema is larger than {LARGEST_CHARACTERS} characters")
    if base is None or not _ELSEWHERE.search(text):
        files = DISK
    return (_kept_text if len(text) <= _KEPT_CHARACTERS else _compiled_text)(text, base, files)


@functools.lru_cache(maxsize=64)
def _kept_text(text: str, base: Path | None, files: SuiteFiles) -> CompiledSchema:
    return _compiled_text(text, base, files)


def _compiled_text(text: str, base: Path | None, files: SuiteFiles) -> CompiledSchema:
    return _compiled(json.loads(text), base, files)


def _compiled(schema: Mapping[str, Any] | bool, base: Path | None, files: SuiteFiles) -> CompiledSchema:
    dialect = _dialect(schema.get("$schema") if isinstance(schema, Mapping) else None)
    upstream_like = adapted(dialect)
    meta_validator = upstream_like(dialect.META_SCHEMA, format_checker=PATTERN_CHECKER)
    try:
        with bounded_check():
            error = next(meta_validator.iter_errors(schema), None)
    except RecursionError:
        raise SchemaError(_TOO_DEEP) from None
    if error is not None:
        raise SchemaError(f"the schema is invalid at {error.json_path}: {error.message}")
    registry: Any = referencing.Registry(retrieve=_retrieve_beside(base, dialect, files))  # pyright: ignore
    contents: Any = schema
    if isinstance(schema, Mapping):
        contents = _unnamed(schema)
        if base is not None:
            contents = {_IDENTITY.get(dialect, "$id"): base.resolve().as_uri(), **contents}
    specification = referencing.jsonschema.specification_with(dialect.META_SCHEMA["$schema"])
    _check_references(contents, specification, registry)
    formats = FORMAT_CHECKER if dialect in _ASSERTING_FORMATS else None
    return CompiledSchema(upstream_like(contents, registry=registry, format_checker=formats))


def _check_references(contents: Any, specification: Any, registry: Any) -> None:
    """Raise ``SchemaError`` for a ``$ref`` that leads nowhere, whether a value ever meets it or not."""
    root = specification.create_resource(contents)
    waiting = [(root, registry.resolver_with_root(root))]
    while waiting:
        resource, resolver = waiting.pop()
        contents = resource.contents
        reference = cast("Mapping[str, Any]", contents).get("$ref") if isinstance(contents, Mapping) else None
        if isinstance(reference, str):
            try:
                resolver.lookup(reference)
            except referencing.exceptions.Unresolvable:
                raise SchemaError(_UNRESOLVED.format(reference)) from None
        waiting += [(below, resolver.in_subresource(below)) for below in resource.subresources()]


def read_schema(path: Path, files: SuiteFiles = DISK) -> Mapping[str, Any] | bool:
    """Read a schema file. Raises ``SchemaError``."""
    try:
        text = files.text_of(path, MAX_BYTES)
    except FileError as error:
        raise SchemaError(f"the schema file {path} cannot be read: {error.why}") from None
    try:
        content = json.loads(text)
    except json.JSONDecodeError as error:
        raise SchemaError(f"{path}, line {error.lineno}: {json_fault(error, text)}") from None
    except (ValueError, RecursionError):
        raise SchemaError(f"the schema file {path} cannot be read: it is nested too deeply") from None
    if not isinstance(content, dict | bool):
        raise SchemaError(f"the schema file {path} must contain a JSON object")
    return cast("dict[str, Any] | bool", content)


def _dialect(named: object) -> Any:
    """Return the validator of a dialect that ``$schema`` names. Raises ``SchemaError`` for an unknown one."""
    if named is None:
        return jsonschema.Draft202012Validator
    draft = draft_of(named) if isinstance(named, str) else None
    if draft is None:
        raise SchemaError(f"`$schema: {named}` is not a known JSON Schema dialect")
    return _VALIDATORS[draft]


def _unnamed(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return a schema without its dialect, which a reference to it would read as the library does."""
    return {key: value for key, value in schema.items() if key != "$schema"}


def _retrieve_beside(base: Path | None, dialect: Any, files: SuiteFiles) -> Callable[[str], Any]:
    def retrieve(uri: str) -> Any:
        parts = urlsplit(uri)
        if base is None or parts.scheme != "file":
            raise referencing.exceptions.NoSuchResource(ref=uri)
        path = Path(url2pathname(parts.path)).resolve()
        if not path.is_relative_to(base.resolve().parent):
            raise referencing.exceptions.NoSuchResource(ref=uri)
        contents = read_schema(path, files)
        if isinstance(contents, Mapping) and _dialect(contents.get("$schema")) is dialect:
            contents = _unnamed(contents)
        specification = referencing.jsonschema.specification_with(dialect.META_SCHEMA["$schema"])
        return cast("Any", referencing.Resource).from_contents(contents, default_specification=specification)

    return retrieve
