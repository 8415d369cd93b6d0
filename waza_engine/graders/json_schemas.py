"""JSON Schemas that authors write: compiled without ever touching the network, patterns bounded in time.

Architecture invariant: a remote ``$ref`` is refused, never fetched; a ``$ref`` to a file must lie beside the
eval file.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlsplit
from urllib.request import url2pathname

import jsonschema
import jsonschema.validators
import referencing
import referencing.exceptions
import referencing.jsonschema

from waza_engine.graders.patterns import PatternError, compiled_pattern, found


class SchemaError(ValueError):
    """The schema cannot be used; the text says why, in one sentence."""


class CompiledSchema:
    """A checked schema. Thread-safe."""

    def __init__(self, validator: Any) -> None:
        self._validator = validator

    def problems(self, value: object) -> list[str]:
        """Return what does not fit, each with its place; empty when the value satisfies the schema."""
        try:
            errors = sorted(
                self._validator.iter_errors(value), key=lambda error: [str(part) for part in error.path]
            )
        except (referencing.exceptions.Unresolvable, referencing.exceptions.NoSuchResource) as error:
            raise SchemaError(
                f"the schema refers to `{error.ref}`, which is not in it and is never fetched"
            ) from None
        except RecursionError:
            raise SchemaError("the schema refers to itself without end") from None
        return [f"{error.json_path}: {_shortened(error.message)}" for error in errors]

    def is_valid(self, value: object) -> bool:
        """Tell whether the value satisfies the schema."""
        return not self.problems(value)


def compile_schema(schema: Mapping[str, Any] | bool, *, base: Path | None = None) -> CompiledSchema:
    """Check a schema and prepare it. ``base`` is the file it was read from. Raises ``SchemaError``.

    Draft 2020-12 unless ``$schema`` names another; formats are not asserted.
    """
    if base is not None:
        return _compiled(schema, base)
    return _compiled_text(json.dumps(schema, default=str))


@functools.lru_cache(maxsize=256)
def _compiled_text(text: str) -> CompiledSchema:
    return _compiled(json.loads(text), None)


def _compiled(schema: Mapping[str, Any] | bool, base: Path | None) -> CompiledSchema:
    default = jsonschema.Draft202012Validator
    dialect = cast("Any", jsonschema.validators.validator_for(schema, default=default))
    named = schema.get("$schema") if isinstance(schema, Mapping) else None
    if (
        named is not None
        and (not isinstance(named, str) or dialect is default)
        and not _is_default_dialect(named)
    ):
        raise SchemaError(f"`$schema: {named}` is not a known JSON Schema dialect")
    try:
        dialect.check_schema(schema, format_checker=_PATTERN_CHECKER)
    except jsonschema.SchemaError as error:
        raise SchemaError(
            f"the schema is invalid at {error.json_path}: {_shortened(error.message)}"
        ) from None
    except RecursionError:
        raise SchemaError("the schema is nested too deeply") from None
    bounded = cast("Any", jsonschema.validators).extend(dialect, _BOUNDED_KEYWORDS)
    registry: Any = referencing.Registry(retrieve=_retrieve_beside(base))  # pyright: ignore
    contents: Any = schema
    if base is not None and isinstance(schema, Mapping) and "$id" not in schema:
        contents = {"$id": base.resolve().as_uri(), **schema}
    return CompiledSchema(bounded(contents, registry=registry))


def read_schema(path: Path) -> Mapping[str, Any] | bool:
    """Read a schema file. Raises ``SchemaError``."""
    try:
        content = json.loads(path.read_text("utf-8-sig"))
    except OSError as error:
        raise SchemaError(f"the schema file cannot be read: {error.strerror}: {path}") from None
    except (ValueError, RecursionError) as error:
        raise SchemaError(f"the schema file {path} is not JSON: {error}") from None
    if not isinstance(content, dict | bool):
        raise SchemaError(f"the schema file {path} must contain a JSON object")
    return cast("dict[str, Any] | bool", content)


def _is_default_dialect(named: object) -> bool:
    return isinstance(named, str) and named.rstrip("#") == "https://json-schema.org/draft/2020-12/schema"


def _retrieve_beside(base: Path | None) -> Callable[[str], Any]:
    def retrieve(uri: str) -> Any:
        parts = urlsplit(uri)
        if base is None or parts.scheme != "file":
            raise referencing.exceptions.NoSuchResource(ref=uri)
        path = Path(url2pathname(parts.path)).resolve()
        if not path.is_relative_to(base.resolve().parent):
            raise referencing.exceptions.NoSuchResource(ref=uri)
        resource = cast("Any", referencing.Resource)
        return resource.from_contents(
            read_schema(path), default_specification=referencing.jsonschema.DRAFT202012
        )

    return retrieve


def _pattern(_validator: Any, pattern: str, instance: object, _schema: object) -> Iterator[Any]:
    if not isinstance(instance, str):
        return
    try:
        matched = found(pattern, instance)
    except PatternError as error:
        raise SchemaError(str(error)) from None
    if not matched:
        yield jsonschema.ValidationError(f"{instance!r} does not match {pattern!r}")


def _pattern_properties(
    validator: Any, patterns: Mapping[str, Any], instance: object, _schema: object
) -> Iterator[Any]:
    if not isinstance(instance, dict):
        return
    for pattern, subschema in patterns.items():
        for key, value in cast("dict[str, Any]", instance).items():
            try:
                applies = found(pattern, key)
            except PatternError as error:
                raise SchemaError(str(error)) from None
            if applies:
                yield from validator.descend(value, subschema, path=key, schema_path=pattern)


def _is_pattern(value: object) -> bool:
    if isinstance(value, str):
        compiled_pattern(value)
    return True


# Patterns in a schema are those of the graders, not those of Python.
_PATTERN_CHECKER = jsonschema.FormatChecker(formats=())
_PATTERN_CHECKER.checks("regex", raises=PatternError)(_is_pattern)
_BOUNDED_KEYWORDS = {"pattern": _pattern, "patternProperties": _pattern_properties}


def _shortened(text: str) -> str:
    return text if len(text) <= 300 else text[:300] + "…"
