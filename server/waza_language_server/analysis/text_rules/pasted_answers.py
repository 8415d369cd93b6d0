"""A file pasted with what stood around it in a chat: the fences of Markdown, sentences above and below."""

from __future__ import annotations

import re
from collections.abc import Container

from waza_engine.later_patterns import compiled_later
from waza_language_server.analysis.problem import Problem
from waza_language_server.text.edit import Edit, Fix
from waza_language_server.text.span import Span

_FENCE = compiled_later(r"^(?:`{3,}|~{3,})[ \t]*(?P<language>\w*)[ \t]*(?:\r\n|\r|\n|\Z)", re.MULTILINE)
_FIRST_KEY = compiled_later(r"\s*(?:(?:#[^\r\n]*|---)\s+)*(?P<key>[A-Za-z_]\w*):")
_KEY = compiled_later(r"^[ \t]*(?P<key>[A-Za-z_]\w*):", re.MULTILINE)
_WORDS = compiled_later(r"(?:[ \t]*(?:\w[^\r\n:#]*)?(?:\r\n|\r|\n))+")
_LINE = compiled_later(r"^[ \t]*(?P<line>(?P<word>\w+)[^\r\n]*)", re.MULTILINE)
_FEWEST_WORDS = 3
_MOST_FENCES = 2
_MESSAGE = "The YAML stands in a block of Markdown; delete what is around it."


def pasted_answer(text: str, outside: Container[str]) -> tuple[Problem, Span] | None:
    """Return the problem of what is around the YAML of a file, and where that YAML stands.

    ``outside`` are the keys of the file: nothing that has one of them may be left out. A fence alone at an
    end of the file is a fault by itself.
    """
    fences = list(_FENCE.finditer(text))
    if not fences:
        return _sentence_above(text, outside)
    if len(fences) > _MOST_FENCES:
        return None
    is_open = len(fences) == 1 and bool(fences[0]["language"])
    start = fences[0].end() if is_open or len(fences) == _MOST_FENCES else 0
    end = len(text) if is_open else fences[-1].start()
    above, below = text[:start], text[end:]
    first = _FIRST_KEY.match(text, start, end)
    if first is None or first["key"] not in outside:
        return None
    if any(match["key"] in outside for part in (above, below) for match in _KEY.finditer(part)):
        return None
    around = [Span(*each) for each in ((0, start), (end, len(text))) if text[slice(*each)].strip()]
    written = above.lstrip() if start else below
    begin = len(above) - len(written) if start else end
    place = Span(begin, begin + len(written.splitlines()[0].rstrip()))
    if len(around) == 1 and written.strip() == text[place.start : place.end]:
        return None
    fix = Fix("Delete what is around the YAML", tuple(Edit(each, "") for each in around), preferred=True)
    return Problem("yaml-syntax", place, _MESSAGE, "error", (fix,)), Span(start, end)


def _sentence_above(text: str, outside: Container[str]) -> tuple[Problem, Span] | None:
    """Return the problem of a sentence above the first key of a file."""
    above = _WORDS.match(text)
    first = _FIRST_KEY.match(text, above.end()) if above is not None else None
    if above is None or first is None or first["key"] not in outside:
        return None
    lines = list(_LINE.finditer(above[0]))
    # Of fewer words a key may be made, as of a line that begins with one.
    if len(above[0].split()) < _FEWEST_WORDS or any(line["word"] in outside for line in lines):
        return None
    signs = tuple(Edit(Span(line.start("line"), line.start("line")), "# ") for line in lines)
    fixes = (
        Fix("Make it a comment", signs),
        Fix("Delete it", (Edit(Span(lines[0].start(), above.end()), ""),)),
    )
    message = "This text above the first key is no YAML; make it a comment, or delete it."
    place = Span(*lines[0].span("line"))
    return Problem("yaml-syntax", place, message, "error", fixes), Span(above.end(), len(text))
