"""Coercion of strings to numbers and switches: `60s`, `0,8`, `3,000`, `80 %`, `flase`; and units of keys."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from waza_engine.frozen import frozen
from waza_engine.later_patterns import compiled_later
from waza_engine.spelling import slip_of
from waza_language_server.schema.shape import Shape

if TYPE_CHECKING:
    from decimal import Decimal

_SWITCHES: Mapping[str, str] = MappingProxyType(
    {**dict.fromkeys(("yes", "on", "y", "1"), "true"), **dict.fromkeys(("no", "off", "n", "0"), "false")}
)
_NUMBER = compiled_later(r"(?P<digits>[-+]?\d[\d.,_' ]*?)[ ]?(?P<unit>%|[A-Za-z]+)?")
_GROUPED = compiled_later(r"[-+]?[1-9]\d{0,2}(?:(?P<sign>[,_' ])\d{3})(?:(?P=sign)\d{3})*")
_PLAIN = compiled_later(r"[-+]?\d+(?:[.,]\d+)?")
_MILLISECONDS: Mapping[str, int] = MappingProxyType(
    {
        **dict.fromkeys(("ms", "msec", "msecs", "millis", "millisecond", "milliseconds"), 1),
        **dict.fromkeys(("s", "sec", "secs", "second", "seconds"), 1_000),
        **dict.fromkeys(("m", "min", "mins", "minute", "minutes"), 60_000),
        **dict.fromkeys(("h", "hr", "hrs", "hour", "hours"), 3_600_000),
    }
)
_NAME_WITH_UNIT = compiled_later(
    "(?P<stem>[a-z_]+?)_(?P<unit>ms|msec|msecs|millis|milliseconds|s|secs?|seconds|m|mins?|minutes|h|hours)"
)
_HUMP = compiled_later(r"(?<=[a-z])(?=[A-Z])")
_COUNTED = compiled_later("_(?:ms|seconds)$")
_LONGEST = 1e15
"""Larger numbers lose precision."""


@frozen()
class Coerced:
    """A value as it should be written; ``sure`` if there is no other meaning."""

    value: str
    sure: bool


def as_switch(written: str) -> Coerced | None:
    """Return the switch that a word means."""
    word = written.strip().lower()
    if word in _SWITCHES:
        return Coerced(_SWITCHES[word], sure=word.isalpha())
    near = word if word in {"true", "false"} else slip_of(word, ("true", "false")) if word.isalpha() else None
    return Coerced(near, sure=True) if near is not None else None


def as_number(written: str, key: str, shape: Shape, *, whole: bool) -> Coerced | None:
    """Return the number that a string means as the value of a key, in the unit of the key.

    Keys of times count seconds, those ending in ``_ms`` milliseconds. None if the unit does not apply to the
    key, or if a whole number is required and it is a fraction.
    """
    match = _NUMBER.fullmatch(written.strip())
    number = _number(match["digits"].strip(), whole=whole) if match is not None else None
    if match is None or number is None:
        return None
    unit = (match["unit"] or "").lower()
    factor, sure = _factor(unit, key, shape) if unit else (1.0, True)
    if factor is None:
        return None
    # A number keeps its digits; a converted one is written as short as possible.
    value = number if factor == 1 else (number * type(number)(repr(factor))).normalize()
    if abs(value) >= _LONGEST:
        return None
    if value == int(value):
        return Coerced(str(int(value)), sure)
    return None if whole else Coerced(f"{value:f}", sure)


def key_of_other_unit(written: str, known: Iterable[str]) -> tuple[str, float] | None:
    """Return the key that counts the same in another unit, and the conversion factor.

    ``timeout_ms`` is ``timeout_seconds`` and 0.001.
    """
    match = _NAME_WITH_UNIT.fullmatch(_HUMP.sub("_", written).lower().replace("-", "_"))
    if match is None:
        return None
    for name in known:
        counted = milliseconds_of(name)
        if counted is not None and _COUNTED.sub("", name) == match["stem"]:
            factor = _MILLISECONDS[match["unit"]] / counted
            return (name, factor) if factor != 1 else None
    return None


def milliseconds_of(key: str) -> int | None:
    """Return how many milliseconds one unit of the key's value is; None if it is not a time."""
    if key.endswith("_ms"):
        return 1
    return 1_000 if "timeout" in key.lower() else None


def _number(digits: str, *, whole: bool) -> Decimal | None:
    """Return a number that is written with a comma, or with thousands separators."""
    # Imported here because few files need it, and all would wait for it.
    from decimal import Decimal

    grouped = _GROUPED.fullmatch(digits)
    if grouped is not None and (whole or grouped["sign"] != ","):
        return Decimal(re.sub("[,_' ]", "", digits))
    return Decimal(digits.replace(",", ".")) if _PLAIN.fullmatch(digits) else None


def _factor(unit: str, key: str, shape: Shape) -> tuple[float | None, bool]:
    """Return the factor of a unit, and whether there is no other meaning."""
    counted = milliseconds_of(key)
    if counted is not None:
        milliseconds = _MILLISECONDS.get(unit)
        return (milliseconds / counted if milliseconds is not None else None), True
    if unit == "%":
        is_share = shape.schema.get("maximum") == 1
        return (0.01, is_share) if is_share or key == "weight" else (None, False)
    return None, False
