"""Read a JSON file of a suite, with the line of every value for clear messages."""

from __future__ import annotations

import json
import math
import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import field
from pathlib import Path
from typing import NoReturn, cast

from waza_engine.boundary import Boundary
from waza_engine.frozen import frozen
from waza_engine.spec.problems import SuiteFileError
from waza_engine.spec.reading.json_numbers import unreadable_number
from waza_engine.spec.reading.scalars import Json
from waza_engine.spec.reading.suite_reader import DISK, SuiteFiles
from waza_engine.spec.reading.yaml_faults import duplicate_key
from waza_engine.spec.reading.yaml_reader import YamlFile, read_text

_SPACE = re.compile(r"[ \t\n\r]*")
_DECODER = json.JSONDecoder()
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*+"|(?P<number>-?[0-9][0-9.eE+-]*)|(?P<constant>NaN|-?Infinity)')


@frozen()
class JsonFile(YamlFile):
    """The data of a JSON file. Its lines are found when an error asks for one."""

    text: str = ""
    _breaks: list[int] = field(default_factory=list[int])
    _places: dict[int, dict[str | int, tuple[int, int]]] = field(
        default_factory=dict[int, "dict[str | int, tuple[int, int]]"]
    )

    def line_of(self, location: Sequence[str | int]) -> int:
        """Return the line (from 1) of the key or item at a path, or of the nearest value around it."""
        at = place = _after_space(self.text, 0)
        for part in location:
            # Every case of a file may have an error: no value is searched twice.
            if at not in self._places:
                self._places[at] = {key: (start, value) for key, start, value in _entries(self.text, at)}
            found = self._places[at].get(part)
            if found is None:
                break
            place, at = found
        if not self._breaks:
            self._breaks.extend(each.start() for each in re.finditer(r"\n|\Z", self.text))
        return bisect_left(self._breaks, place) + 1


def read_json_file(path: Path, *, within: Boundary | None = None, files: SuiteFiles = DISK) -> JsonFile:
    """Return the data of a JSON object with its lines. Raises ``SuiteFileError``."""
    file = parse_json(read_text(path, within=within, files=files), path)
    if not isinstance(file.value, dict):
        raise SuiteFileError(path, 1, "the file must be a JSON object: `{ … }`")
    return file


def parse_json(text: str, path: Path) -> JsonFile:
    """Return the data of JSON text; ``path`` names it in errors. Raises ``SuiteFileError``."""
    try:
        value = cast("Json", loads(text, object_pairs_hook=_block))
    except json.JSONDecodeError as error:
        raise SuiteFileError(path, error.lineno, json_fault(error, text)) from None
    except _SetTwiceError:
        key, place = _key_set_twice(text)
        raise SuiteFileError(path, text.count("\n", 0, place) + 1, duplicate_key(key)) from None
    return JsonFile(path, value, None, None, text)


class _RefusedError(json.JSONDecodeError):
    """The text cannot be read for a reason that ``json`` does not have; the message is for people."""


def loads(text: str, object_pairs_hook: Callable[[list[tuple[str, object]]], object] | None = None) -> object:
    """Return the data of JSON text, as ``json.loads`` does, and raise ``JSONDecodeError`` for more faults.

    These are constants that JSON does not have, numbers that cannot be read, and deep nesting.
    """
    try:
        return json.loads(
            text, object_pairs_hook=object_pairs_hook, parse_constant=_refuse_constant, parse_float=_finite
        )
    except json.JSONDecodeError:
        raise
    except ValueError:
        raise _first_refused(text) from None
    except RecursionError:
        raise _RefusedError("the JSON cannot be read: it is nested too deeply", text, 0) from None


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(name)


def _finite(digits: str) -> float:
    number = float(digits)
    if math.isinf(number):
        raise ValueError(digits)
    return number


def _first_refused(text: str) -> _RefusedError:
    """Return the error of the first constant or number that is refused; the text before it is JSON."""
    for match in _TOKEN.finditer(text):
        if constant := match["constant"]:
            message = f"this is not JSON: it has no `{constant}`; write `null`"
            return _RefusedError(message, text, match.start())
        if match["number"] and (why := unreadable_number(match["number"])):
            error = _RefusedError(why, text, match.start())
            error.msg = f"column {error.colno}: {why}"
            return error
    return _RefusedError("the JSON cannot be read", text, 0)


class _SetTwiceError(Exception):
    """An object has a key twice."""


def _block(pairs: list[tuple[str, object]]) -> dict[str, object]:
    block = dict(pairs)
    if len(block) != len(pairs):
        raise _SetTwiceError
    return block


def _key_set_twice(text: str) -> tuple[str, int]:
    """Return the first key that its object has already, and its offset; the text has one."""
    repeated: list[tuple[int, str]] = []
    values = [_after_space(text, 0)]
    while values:
        keys: set[str | int] = set()
        for key, place, value in _entries(text, values.pop()):
            if key in keys:
                repeated.append((place, str(key)))
            keys.add(key)
            values.append(value)
    place, key = min(repeated)
    return key, place


def _entries(text: str, at: int) -> Iterator[tuple[str | int, int, int]]:
    """Yield the keys or positions in the value at an offset, and the offsets of these and of their values."""
    if text[at] not in "{[":
        return
    in_object, position, at = text[at] == "{", 0, _after_space(text, at + 1)
    while text[at] not in "}]":
        key, place = position, at
        if in_object:
            key, at = _DECODER.raw_decode(text, at)
            at = _after_space(text, _after_space(text, at) + 1)
        yield key, place, at
        at = _after_space(text, _DECODER.raw_decode(text, at)[1])
        position, at = position + 1, _after_space(text, at + 1) if text[at] == "," else at


def _after_space(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return at if found is None else found.end()


def json_fault(error: json.JSONDecodeError, text: str) -> str:
    """Return why text is not JSON, in one sentence."""
    if not text.strip():
        return "there is nothing in it; write a JSON object: `{ … }`"
    if isinstance(error, _RefusedError):
        return error.msg
    place = f"column {error.colno}"
    match error.msg:
        case "Expecting property name enclosed in double quotes":
            why = "a key in double quotes is due; a comma after the last one is not JSON"
        case "Expecting value" if text[error.pos : error.pos + 1] in ("]", "}"):
            why = "a value is due; a comma after the last one is not JSON"
        # Python 3.13 and newer see the comma itself.
        case message if message.startswith("Illegal trailing comma"):
            why = "a comma after the last one is not JSON; remove it"
        case "Expecting value":
            why = "a value is expected; write strings in double quotes"
        case message if message.startswith("Expecting"):
            why = f"{message.removeprefix('Expecting ').replace(' delimiter', '')} is due"
        case "Extra data":
            why = "the JSON has ended already"
        case "Invalid control character at":
            why = "a line break or tab inside text is written `\\n` or `\\t`"
        case message if "escape" in message:
            why = "a backslash in text is written `\\\\`"
        case _:
            why = "a text is not closed"
    return f"this is not JSON ({place}): {why}"
