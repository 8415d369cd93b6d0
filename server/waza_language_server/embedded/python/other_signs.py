"""Signs of other languages: ``AND``, ``=<``, ``<>``, ``$output``, ``output contains 'x'``."""

from __future__ import annotations

import ast
import re

from waza_engine.frozen import frozen
from waza_engine.later_patterns import compiled_later
from waza_language_server.embedded.python.python_source import PythonSource, parse_python

_PART = compiled_later(
    r"""(?P<string>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')
    |(?P<word>(?<![\w.])(?:AND|And|OR|Or|NOT|Not|IN|In|IS|Is)(?!\w))
    |(?P<holds>(?<![\w.])(?:contains|CONTAINS|includes)(?=\s))
    |(?P<variable>\$(?:\{[ ]*)?(?P<name>[a-z_]+)\b(?:[ ]*\})?)
    |(?P<sign>=<|=>|<>)""",
    re.VERBOSE,
)
_SIGNS = {"=<": "<=", "=>": ">=", "<>": "!="}
_LONGEST_CHARACTERS = 1_000
_TIGHT = ast.Name | ast.Constant | ast.Call | ast.Attribute | ast.Subscript | ast.List | ast.Tuple


@frozen()
class OtherSigns:
    """The first sign of another language, what Python writes instead, and the whole text so."""

    start: int
    end: int
    written: str
    meant: str
    python: str


def in_other_signs(text: str) -> OtherSigns | None:
    """Return the text with the signs of Python, None when it has no others."""
    if len(text) > _LONGEST_CHARACTERS:
        return None
    found = [part for part in _PART.finditer(text) if part.lastgroup != "string"]
    if not found:
        return None
    first = found[0]
    holding = [part for part in found if part.lastgroup == "holds"]
    if holding:
        python = _turned(text, holding[0]) if len(found) == 1 else None
        return OtherSigns(*first.span(), first.group(), "in", python) if python is not None else None
    return OtherSigns(*first.span(), first.group(), _meant(first), _PART.sub(_meant, text))


def _meant(part: re.Match[str]) -> str:
    if part["word"]:
        return part["word"].lower()
    if part["variable"]:
        return part["name"]
    return _SIGNS.get(part.group(), part.group())


def _turned(text: str, part: re.Match[str]) -> str | None:
    """Return ``'x' in output`` for ``output contains 'x'``."""
    sides = [text[: part.start()].strip(), text[part.end() :].strip()]
    for side in sides:
        source = parse_python(side)
        if not isinstance(source, PythonSource) or not isinstance(source.expression.body, _TIGHT):
            return None
    return f"{sides[1]} in {sides[0]}"
