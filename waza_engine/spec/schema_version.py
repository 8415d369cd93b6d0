"""Versions of the eval file's format: which there are, and which keys a file of an older one cannot have.

Upstream's rule: every 1.x is read by every reader of 1.x; 2.0 is for suites with a ``scenario`` and for no
others.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BeforeValidator
from pydantic.types import JsonValue

from waza_engine.spec.block import forbidden
from waza_engine.spec.fields import SchemaKeywords, Text, plain_text

NEWEST_VERSION = "1.5"
"""The newest 1.x that is known here, which a file without a version has."""
SCENARIO_VERSION = "2.0"
SINCE: Mapping[str, int] = {"mcp_mocks": 1, "adversarial": 2, "command_mocks": 3}
"""The minor version of 1.x in which a key came."""

_FORM = r"^\s*(?:1\.[0-9]+|2\.0)?\s*$"
_FORM_MESSAGE = 'must be a format version, such as `"1.5"`, or `"2.0"` beside `scenario`'
_NEEDS_SCENARIO = 'is for suites with a `scenario`; write `schemaVersion: "1.5"` or give one'
_SCENARIO_NEEDS = (
    '`scenario` needs `schemaVersion: "2.0"`, so that older versions do not run the suite wrongly'
)
_NEEDS_DIRECTORIES = (
    "`config.required_skills` of a suite with a `scenario` needs `config.skill_directories`: nothing else "
    "says where the skills are"
)
_GIVEN: Mapping[str, Any] = {"not": {"type": "null"}}
_IS_SCENARIO_VERSION: Mapping[str, Any] = {
    "anyOf": [{"type": "string", "pattern": r"^\s*2\.0\s*$"}, {"const": 2}]
}


def since(version: str) -> dict[str, JsonValue]:
    """Return the annotation of a key that came with a version of the eval file's format."""
    return {"x-waza-since": f"version {version} of the file format"}


def after_0_38() -> dict[str, JsonValue]:
    """Return the annotation of a key that came after upstream's version 0.38, in no format's name."""
    return {"x-waza-since": "upstream's versions after 0.38"}


def _version(value: object) -> object:
    """Accept what the JSON Schema accepts: a string such as 1.N or 2.0, or an unquoted number."""
    if isinstance(value, bool) or (isinstance(value, int | float) and not 1 <= value <= 2):
        raise ValueError(_FORM_MESSAGE)
    if isinstance(value, str) and not re.match(_FORM, value):
        raise ValueError(_FORM_MESSAGE)
    return SCENARIO_VERSION if value == 2 else plain_text(value)


SchemaVersion = Annotated[
    Text,
    BeforeValidator(_version),
    SchemaKeywords(
        {
            "type": ["string", "number"],
            "pattern": _FORM,
            "minimum": 1,
            "maximum": 2,
            "x-waza-message": _FORM_MESSAGE,
        }
    ),
]


def version_rules() -> tuple[Mapping[str, Any], ...]:
    """Return the rules of ``version_fault`` as JSON Schema."""
    needed = {"required": ["schemaVersion"], "properties": {"schemaVersion": dict(_IS_SCENARIO_VERSION)}}
    named = {"required": ["scenario"], "properties": {"scenario": dict(_GIVEN)}}
    listed = {"type": "array", "minItems": 1}
    filled: dict[str, Any] = {"not": {"enum": [None, []]}}
    return (
        *(
            forbidden(_too_old(key, minor), schemaVersion=_before(minor), **{key: filled})
            for key, minor in SINCE.items()
        ),
        {"not": {"type": "object", **named, "not": needed}, "x-waza-message": _SCENARIO_NEEDS},
        {
            "not": {"type": "object", **needed, "not": named},
            "x-waza-message": f'`schemaVersion: "2.0"` {_NEEDS_SCENARIO}',
        },
        forbidden(
            _NEEDS_DIRECTORIES,
            scenario=_GIVEN,
            config={
                "type": "object",
                "required": ["required_skills"],
                "properties": {"required_skills": listed},
                "not": {"required": ["skill_directories"], "properties": {"skill_directories": listed}},
            },
        ),
    )


def version_fault(
    version: str, scenario: str | None, given: Mapping[str, object], *, lost_skills: bool
) -> str | None:
    """Return what does not fit the version of a file, None if everything does.

    ``given`` are values by key; an empty one needs no version. ``lost_skills``: skills are required and no
    directory is named for them.
    """
    version = version.strip()
    if scenario is not None and version != SCENARIO_VERSION:
        return _SCENARIO_NEEDS
    if scenario is None and version == SCENARIO_VERSION:
        return f'`schemaVersion: "2.0"` {_NEEDS_SCENARIO}'
    if scenario is not None and lost_skills:
        return _NEEDS_DIRECTORIES
    if not version or version == SCENARIO_VERSION:
        return None
    minor = int(version.partition(".")[2] or 0)
    return next((_too_old(key, since) for key, since in SINCE.items() if given[key] and minor < since), None)


def _before(minor: int) -> dict[str, Any]:
    """Return the schema of a format version 1.N with N below ``minor``, which is one digit."""
    older = "".join(str(number) for number in range(minor))
    numbers = [1 + number / 10 for number in range(minor)]
    return {"anyOf": [{"type": "string", "pattern": rf"^\s*1\.0*[{older}]\s*$"}, {"enum": numbers}]}


def _too_old(key: str, minor: int) -> str:
    return f'`{key}` needs `schemaVersion: "1.{minor}"` or none at all'
