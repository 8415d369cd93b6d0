"""Resolve the type of a YAML scalar: one resolver for the engine and the editor.

YAML 1.2 core schema, as upstream's Go parser reads it: ``on``, ``yes`` and ``12:30`` are strings. As in YAML
1.1, ``010`` is eight (``089``, which no octal can be, is 89), and ``_`` in a number is ignored. A number that
no JSON can hold (``1e999``, ``.inf``, ``.nan``) is a string, so it is rejected where a number is expected;
upstream does so with ``1e999``. Light on purpose: the language server loads it too.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import MappingProxyType
from typing import TypeAlias

from waza_engine.later_patterns import compiled_later

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"

MERGE_KEY = "<<"
"""The key that takes the keys of other mappings."""

MAX_ALIASED_NODES = 10_000
"""The most values that the aliases of a file may expand to, nested aliases included."""

_NULL = frozenset({"", "~", "null", "Null", "NULL"})
_TRUE = frozenset({"true", "True", "TRUE"})
_FALSE = frozenset({"false", "False", "FALSE"})
SWITCHES = _TRUE | _FALSE
NUMERIC = frozenset("+-.0123456789")
"""The first characters of plain scalars that may be numbers."""
_INTEGER = compiled_later(r"[-+]?(?:0|[1-9][0-9]*)\Z")
_RADIX = compiled_later(r"([-+]?)0(?:[xX](?P<x>[0-9a-fA-F]+)|[bB](?P<b>[01]+)|[oO]?(?P<o>[0-7]+))\Z")
_BASES = {"x": 16, "b": 2, "o": 8}
_FLOAT = compiled_later(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?\Z")
_LARGEST = 10**300
_FLOAT_TAG = "tag:yaml.org,2002:float"
_TAGS: Mapping[str, type] = MappingProxyType(
    {
        "tag:yaml.org,2002:int": int,
        _FLOAT_TAG: float,
        "tag:yaml.org,2002:bool": bool,
        "tag:yaml.org,2002:null": type(None),
    }
)
_ENDLESS = compiled_later(r"[-+]?\.(?:inf|Inf|INF)\Z|\.(?:nan|NaN|NAN)\Z")


def resolve_scalar(text: str, *, plain: bool = True, tag: str | None = None) -> Json:
    """Return the value of a scalar: plain ones are typed, and so are those with a tag that names their type.

    As in upstream's parser, ``!!int "1"`` is one, ``!!float 1`` is 1.0, and ``!!str`` or an unknown tag, such
    as ``!x``, keeps anything as a string. If the value does not fit its tag (``!!int one``), upstream rejects
    the file; here it is a string, and rejected where another type is expected.
    """
    if tag is None or tag == "!":
        # Upstream's parser ignores the tag ``!`` alone.
        return _resolve_plain(text) if plain else text
    wanted = _TAGS.get(tag)
    value = _resolve_plain(text) if wanted is not None else text
    if tag == _FLOAT_TAG and type(value) is int:
        return float(value) if abs(value) <= _LARGEST else text
    return value if type(value) is wanted else text


def is_not_finite(text: str) -> bool:
    """Return whether a plain scalar is a number in YAML that is not finite, or too large to be one."""
    return bool(_ENDLESS.match(text)) or bool(_FLOAT.match(text) and math.isinf(float(text)))


def _resolve_plain(text: str) -> Json:
    if text in _NULL:
        return None
    if text in _TRUE:
        return True
    if text in _FALSE:
        return False
    if text[0] not in NUMERIC:
        return text
    digits = text.replace("_", "") if "_" in text and text[0] != "." else text
    is_short = len(digits) < 400
    if _INTEGER.match(digits):
        return int(digits) if is_short else text
    radix = _RADIX.match(digits)
    if radix is not None:
        if not is_short:
            # Python prints no number of more than 4,300 digits.
            return text
        base = radix.lastgroup or "o"
        return int(radix[1] + radix[base], _BASES[base])
    if _FLOAT.match(digits):
        number = float(digits)
        return number if math.isfinite(number) else text
    return text
