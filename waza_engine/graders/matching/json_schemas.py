"""JSON Schemas that authors write: compiled without ever touching the network, patterns bounded in time.

Formats and keywords decide as in upstream's validator, where the Python library differs. The formats are the
same in every draft: ``uuid``, ``duration``, ``period`` and ``semver`` are known, those that begin with
``idn-`` are not. Patterns are those of the graders, decimals are exact (``0.3`` is a multiple of ``0.1``),
``1.0`` is an integer, and ``dependencies`` are checked in every draft.

Architecture invariant: a remote ``$ref`` is rejected, never fetched; a ``$ref`` to a file must lie next to
the eval file.
"""

from __future__ import annotations

import contextlib
import functools
import json
import math
import re
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextvars import ContextVar
from fractions import Fraction
from pathlib import Path
from types import MappingProxyType
from typing import Any, cast
from urllib.parse import urlsplit
from urllib.request import url2pathname

import jsonschema
import jsonschema.validators
import jsonschema_rs
import referencing
import referencing.exceptions
import referencing.jsonschema

from waza_engine.counting import cut
from waza_engine.files import FileError
from waza_engine.graders.matching.patterns import PatternError, check_syntax, is_match
from waza_engine.spec.json_schema_dialects import draft_of
from waza_engine.spec.reading.json_reader import json_fault
from waza_engine.spec.reading.suite_reader import DISK, SuiteFiles
from waza_engine.spec.reading.yaml_reader import MAX_BYTES

_OF_THE_LIBRARY = (
    "date",
    "date-time",
    "ipv4",
    "ipv6",
    "iri",
    "iri-reference",
    "json-pointer",
    "relative-json-pointer",
    "time",
    "uri",
    "uri-reference",
    "uri-template",
)
_LABEL = re.compile(r"(?!-)[a-zA-Z0-9-]{1,63}(?<!-)")
_LONGEST_HOSTNAME = 253
_UUID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_DURATION = re.compile(
    r"P([0-9]+W|(?=.)([0-9]+Y)?([0-9]+M)?([0-9]+D)?(T(?=.)([0-9]+H)?([0-9]+M)?([0-9]+S)?)?)"
)
_NUMBER, _WORD = "(0|[1-9][0-9]*)", "[0-9A-Za-z-]+"
_BEFORE_RELEASE = "(0|[1-9][0-9]*|[0-9]*[A-Za-z-][0-9A-Za-z-]*)"
_SEMVER = re.compile(
    rf"{_NUMBER}\.{_NUMBER}\.{_NUMBER}"
    rf"(-{_BEFORE_RELEASE}(\.{_BEFORE_RELEASE})*)?(\+{_WORD}(\.{_WORD})*)?"
)


def _is_hostname(text: str) -> bool:
    """Return whether a string is a hostname; a trailing dot is allowed."""
    name = text.removesuffix(".")
    return len(name) <= _LONGEST_HOSTNAME and all(_LABEL.fullmatch(label) for label in name.split("."))


def _is_email(text: str) -> bool:
    """Return whether a string is an email address; its domain may end with a dot, as a hostname may."""
    local, _, domain = text.rpartition("@")
    if domain.startswith("["):
        return _by_library("email", text)
    return _by_library("email", f"{local}@example.com") and len(text) <= 254 and _is_hostname(domain)


def _is_period(text: str) -> bool:
    """Return whether a string is two moments, or a moment and a duration, separated by a slash."""
    start, slash, end = text.partition("/")
    if not slash:
        return False
    if start.startswith("P"):
        return _is_duration(start) and _by_library("date-time", end)
    known = _is_duration(end) if end.startswith("P") else _by_library("date-time", end)
    return known and _by_library("date-time", start)


def _is_duration(text: str) -> bool:
    return _DURATION.fullmatch(text) is not None


def _by_library(name: str, text: str) -> bool:
    return _validator(name).is_valid(text)


@functools.cache
def _validator(name: str) -> jsonschema_rs.Draft7Validator:
    return jsonschema_rs.Draft7Validator({"format": name}, validate_formats=True)


FORMATS: Mapping[str, Callable[[str], bool]] = MappingProxyType(
    {
        **{name: functools.partial(_by_library, name) for name in _OF_THE_LIBRARY},
        "duration": _is_duration,
        "email": _is_email,
        "hostname": _is_hostname,
        "period": _is_period,
        "semver": lambda text: _SEMVER.fullmatch(text) is not None,
        "uuid": lambda text: _UUID.fullmatch(text) is not None,
    }
)
"""Checks of strings by the name of the format; ``regex`` is checked with the patterns."""


CHECK_SECONDS = 60.0
MOST_PROBLEMS = 20_000
_SHOWN = 300

_Keyword = Callable[[Any, Any, Any, Any], "Iterable[Any] | None"]


class SchemaError(ValueError):
    """The schema cannot be used; the message says why, in one sentence."""


class _Allowance:
    """The limits of one check against a schema. Raises ``SchemaError`` when they are used up.

    References can make a small schema demand more work than there is time, and each reported problem takes
    memory, also inside an ``anyOf`` that is satisfied in the end.
    """

    def __init__(self) -> None:
        self._end = time.monotonic() + CHECK_SECONDS
        self._problems = MOST_PROBLEMS

    def look(self) -> None:
        """Look at the clock."""
        if time.monotonic() > self._end:
            raise SchemaError(f"a check against the schema takes longer than {CHECK_SECONDS:g} seconds")

    def count(self) -> None:
        """Count a problem."""
        self._problems -= 1
        if self._problems < 0:
            raise SchemaError(f"a check against the schema meets more than {MOST_PROBLEMS} problems")


_allowance: ContextVar[_Allowance | None] = ContextVar("allowance", default=None)


@contextlib.contextmanager
def bounded_check() -> Generator[None]:
    """Limit the checks in the block, in time and memory, by raising ``SchemaError`` there."""
    token = _allowance.set(_Allowance())
    try:
        yield
    finally:
        _allowance.reset(token)


@functools.cache
def adapted(dialect: Any) -> Any:
    """Return a validator class of the ``jsonschema`` library that decides as upstream does."""
    types = dialect.TYPE_CHECKER.redefine("integer", _is_integer)
    keywords = {name: _bounded(check) for name, check in {**dialect.VALIDATORS, **_KEYWORDS}.items()}
    return cast("Any", jsonschema.validators).extend(dialect, keywords, type_checker=types)


def _bounded(check: _Keyword) -> _Keyword:
    def bounded(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[Any]:
        allowance = _allowance.get() or _Allowance()
        allowance.look()
        for problem in check(validator, value, instance, schema) or ():
            allowance.count()
            is_own = not isinstance(problem.validator, str)  # those of parts have been through here
            message = _in_json(problem.message, instance, value) if is_own else problem.message
            problem.message = cut(message, _SHOWN)
            yield problem

    return bounded


def _in_json(message: str, instance: object, value: object) -> str:
    """Return a message of the library with the values it quotes as JSON has them: ``null`` for ``None``.

    It begins with the one or the other, or ends with that of the schema. A block of an answer is written out
    for messages alone that quote one, so that a large one costs no more than it did the library.
    """
    is_block = type(instance) in (dict, list)
    for part in (value,) if is_block and message[:1] not in "{[" else (instance, value):
        if message.startswith(written := repr(part)):
            message = _json(part) + message.removeprefix(written)
    if message.endswith(written := repr(value)):
        message = message.removesuffix(written) + _json(value)
    return message


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)


def _is_integer(_checker: Any, value: object) -> bool:
    return (isinstance(value, int) and not isinstance(value, bool)) or (
        isinstance(value, float) and value.is_integer()
    )


def _multiple_of(_validator: Any, step: float, instance: object, _schema: object) -> Iterator[Any]:
    if isinstance(instance, bool) or not isinstance(instance, int | float) or not math.isfinite(instance):
        return
    if (Fraction(str(instance)) / Fraction(str(step))).denominator != 1:
        yield jsonschema.ValidationError(f"{instance!r} is not a multiple of {step!r}")


def _pattern(_validator: Any, pattern: str, instance: object, _schema: object) -> Iterator[Any]:
    if isinstance(instance, str) and not _occurs(pattern, instance):
        yield jsonschema.ValidationError(f"{instance!r} does not match {pattern!r}")


def _pattern_properties(
    validator: Any, patterns: Mapping[str, Any], instance: object, _schema: object
) -> Iterator[Any]:
    if not isinstance(instance, dict):
        return
    for pattern, subschema in patterns.items():
        for key, value in cast("dict[str, Any]", instance).items():
            if _occurs(pattern, key):
                yield from validator.descend(value, subschema, path=key, schema_path=pattern)


def _dependencies(
    validator: Any, dependencies: Mapping[str, Any], instance: object, _schema: object
) -> Iterator[Any]:
    if not isinstance(instance, dict):
        return
    for name, needed in dependencies.items():
        if name not in instance:
            continue
        if isinstance(needed, list | str):
            # Draft 3 has a single name, too.
            for other in [needed] if isinstance(needed, str) else cast("list[str]", needed):
                if other not in instance:
                    yield jsonschema.ValidationError(f"{other!r} is a dependency of {name!r}")
        else:
            yield from validator.descend(instance, needed, schema_path=name)


def _unique_items(_validator: Any, wanted: object, instance: object, _schema: object) -> Iterator[Any]:
    if wanted is not True or not isinstance(instance, list):
        return
    items = cast("list[object]", instance)
    if len({_canonical(item) for item in items}) != len(items):
        yield jsonschema.ValidationError(f"{cut(repr(items), _SHOWN)} has non-unique elements")


def _canonical(value: object) -> str:
    """Return the same string for equal JSON values, such as ``1`` and ``1.0``, but not ``true``."""
    return json.dumps(_with_integers(value), sort_keys=True)


def _with_integers(value: object) -> object:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, list):
        return [_with_integers(item) for item in cast("list[object]", value)]
    if isinstance(value, dict):
        return {key: _with_integers(item) for key, item in cast("dict[str, object]", value).items()}
    return value


def _occurs(pattern: str, text: str) -> bool:
    try:
        return is_match(pattern, text)
    except PatternError as error:
        raise SchemaError(str(error)) from None


def _is_pattern(value: object) -> bool:
    if isinstance(value, str):
        check_syntax(value)
    return True


def _has_format(check: Callable[[str], bool], value: object) -> bool:
    return not isinstance(value, str) or check(value)


_KEYWORDS = {
    "pattern": _pattern,
    "patternProperties": _pattern_properties,
    "dependencies": _dependencies,
    "multipleOf": _multiple_of,
    "uniqueItems": _unique_items,
}

PATTERN_CHECKER = jsonschema.FormatChecker(formats=())
"""Checks the patterns in a schema, nothing else."""

FORMAT_CHECKER = jsonschema.FormatChecker(formats=())
"""Checks the formats, too."""

for _checker in (PATTERN_CHECKER, FORMAT_CHECKER):
    _checker.checks("regex", raises=PatternError)(_is_pattern)
for _name, _check in FORMATS.items():
    FORMAT_CHECKER.checks(_name)(functools.partial(_has_format, _check))


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
    return (_cached if len(text) <= _KEPT_CHARACTERS else _compiled)(text, base, files)


def _compiled(text: str, base: Path | None, files: SuiteFiles) -> CompiledSchema:
    schema: Mapping[str, Any] | bool = json.loads(text)
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


_cached = functools.lru_cache(maxsize=64)(_compiled)


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
