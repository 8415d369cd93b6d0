"""Coercion of strings to numbers and switches: `60s`, `5:00`, `0,8`, `3,000`, `80 %`, `flase`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import reduce
from types import MappingProxyType
from typing import TYPE_CHECKING

from waza_engine.frozen import frozen
from waza_engine.later_patterns import compiled_later
from waza_language_server.schema.shape import Shape
from waza_language_server.spelling import slip_of

if TYPE_CHECKING:
    from decimal import Decimal

_SWITCHES: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(("yes", "on", "y", "t", "1", "enabled", "enable"), "true"),
        **dict.fromkeys(("no", "off", "n", "f", "0", "disabled", "disable"), "false"),
    }
)
_ASKED = frozenset({"yes", "on", "y", "no", "off", "n"})
"""Words that are switches in YAML 1.1."""
_LIST_SIGNS = ",; "
"""Characters that other notations write after a value."""
_NUMBER = compiled_later(r"(?P<digits>[-+]?\d[\d.,_' ]*?)[ ]?(?P<unit>%|[A-Za-z]+)?")
_NOTED = compiled_later(r"(?P<number>[-+]?\d[\d.]*)[ ]+\((?P<note>[^()]+)\)")
_CLOCK = compiled_later(r"\d{1,4}(?::[0-5]\d){1,2}")
"""Minutes and seconds, or hours, minutes and seconds."""
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
_THOUSANDS: Mapping[str, int] = MappingProxyType({"k": 1_000, "m": 1_000_000})
_FIGURES = compiled_later(r"(?<![\w.,-])-?\d{1,15}(?:\.\d+)?(?![\w,%]|\.\d)")
_NUMBER_WORDS: Mapping[str, int] = MappingProxyType(
    {
        "zero": 0,
        "one": 1,
        "two": 2,
        "three": 3,
        "four": 4,
        "five": 5,
        "six": 6,
        "seven": 7,
        "eight": 8,
        "nine": 9,
        "ten": 10,
        "eleven": 11,
        "twelve": 12,
    }
)
_UNITS = frozenset(_MILLISECONDS) - {"s", "m", "h"}
_LONGEST = 1e15
"""Larger numbers lose precision."""


@frozen()
class Meant:
    """A value as it should be written; ``sure`` if there is no other meaning."""

    value: str
    sure: bool


def meant_switch(written: str) -> Meant | None:
    """Return the switch that a word means."""
    word = written.strip().rstrip(_LIST_SIGNS).lower()
    if word in {"true", "false"}:
        return Meant(word, sure=True)
    if word in _SWITCHES:
        return Meant(_SWITCHES[word], sure=word in _ASKED)
    near = slip_of(word, ("true", "false")) if word.isalpha() else None
    return Meant(near, sure=True) if near is not None else None


def meant_number(written: str, key: str, shape: Shape, *, whole: bool) -> Meant | None:
    """Return the number that a string means as the value of a key, in the unit of the key.

    Keys of times count seconds, those ending in ``_ms`` milliseconds. None if the unit does not apply to the
    key, or if a whole number is required and it is a fraction.
    """
    noted = _NOTED.fullmatch(written.strip())
    if noted is not None:
        # Parentheses may contain the unit, or a note for people.
        readings = (f"{noted['number']} {noted['note']}", noted["number"])
        read = (meant_number(each, key, shape, whole=whole) for each in readings)
        meant = next((each for each in read if each is not None), None)
        return Meant(meant.value, sure=False) if meant is not None else None
    if (counted := milliseconds_of(key)) is not None and _CLOCK.fullmatch(written.strip()) is not None:
        # A base-60 number, as in YAML 1.1.
        seconds = reduce(lambda above, below: above * 60 + int(below), written.split(":"), 0)
        return Meant(str(seconds * 1_000 // counted), sure=False)
    match = _NUMBER.fullmatch(written.strip().rstrip(_LIST_SIGNS))
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
        return Meant(str(int(value)), sure)
    return None if whole else Meant(f"{value:f}", sure)


def in_front_of_comment(written: str) -> str | None:
    """Return the word before a comment without a space between: `3# of them`."""
    word, sign, _ = written.partition("#")
    return word if sign and word and not word[-1].isspace() and len(word.split()) == 1 else None


def number_in(written: str, *, whole: bool) -> str | None:
    """Return the only number in a text, in digits or as a word; None if there is none, or several."""
    if not _UNITS.isdisjoint(re.findall("[a-z]+", written.lower())):
        # The unit can only be determined for the entire text.
        return None
    figures = _FIGURES.findall(written)
    words = [word for word in re.findall("[a-z]+", written.lower()) if word in _NUMBER_WORDS]
    if len(figures) + len(words) != 1:
        return None
    number = figures[0].rstrip(".") if figures else str(_NUMBER_WORDS[words[0]])
    return number if not whole or "." not in number else None


def spelt_out(written: str) -> str:
    """Return a text with the words for small numbers as digits: `five minutes` is `5 minutes`."""
    return re.sub("[A-Za-z]+", lambda word: str(_NUMBER_WORDS.get(word[0].lower(), word[0])), written)


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
        meant = _MILLISECONDS.get(unit)
        return (meant / counted if meant is not None else None), True
    if unit == "%":
        is_share = shape.schema.get("maximum") == 1
        return (0.01, is_share) if is_share or key == "weight" else (None, False)
    if unit in _THOUSANDS and shape.schema.get("maximum") is None:
        return float(_THOUSANDS[unit]), False
    return None, False
