"""Comments without their `#`: `// a note`, `...` for omitted lines, a sentence."""

from __future__ import annotations

from collections.abc import Container, Iterator

from waza_engine.later_patterns import compiled_later
from waza_language_server.analysis.problem import Problem
from waza_language_server.analysis.text_rules.slip import Slip
from waza_language_server.syntax.fault import SyntaxFault
from waza_language_server.text.edit import Edit, Fix
from waza_language_server.text.line_index import LineIndex
from waza_language_server.text.span import Span

_COMMENT = compiled_later(r"[ ]*(?P<sign>//+|--(?=[ \t])|;+|/\*+|<!--)")
_LEFT_OUT = compiled_later(r"[ ]+(?P<sign>\.{3,}|…)\Z")
_SENTENCE = compiled_later(r"[ ]*(?P<sentence>(?P<word>[^\W\d_]+)(?:[ ,]+[^\s:#\"'=\[\]{}|>]+){2,}:?)\Z")
"""At least three words: fewer may become a key."""
_ITEM_OF_KEYS = compiled_later(r"(?P<lead>[ ]*)-[ ]+[A-Za-z_]\w*:(?:[ ]|\Z)")


def foreign_notes(text: str, lines: LineIndex, fault: SyntaxFault, keys: Container[str]) -> Iterator[Slip]:
    """Yield a comment in another notation, or a line of words among items that have keys."""
    number = lines.line_of(fault.span.start)
    line = lines.line_span(number)
    written = text[line.start : line.end].rstrip()
    if (comment := _COMMENT.match(written)) is not None:
        place = Span(line.start + comment.start("sign"), line.start + comment.end("sign"))
        blank = "" if written[comment.end() : comment.end() + 1] in {" ", "\t", ""} else " "
        message = f"`{comment['sign']}` begins no comment in YAML; write `#`."
        yield _slip(place, message, "Write `#`", Edit(place, f"#{blank}"), fault)
    elif (left_out := _LEFT_OUT.match(written)) is not None:
        place = Span(line.start + left_out.start("sign"), line.start + left_out.end("sign"))
        message = f"`{left_out['sign']}` is no YAML; write what is left out, or make it a comment."
        yield _as_comment(place, message, fault)
    elif _is_beside_item(text, lines, number):
        yield from sentence(text, lines, fault, keys)


def sentence(text: str, lines: LineIndex, fault: SyntaxFault, keys: Container[str]) -> Iterator[Slip]:
    """Yield a line of words that can be neither a key nor an item."""
    line = lines.line_span(lines.line_of(fault.span.start))
    found = _SENTENCE.match(text[line.start : line.end].rstrip())
    if found is not None and found["word"] not in keys:
        place = Span(line.start + found.start("sentence"), line.start + found.end("sentence"))
        yield _as_comment(place, "These words are neither a key nor an item; make them a comment.", fault)


def _is_beside_item(text: str, lines: LineIndex, number: int) -> bool:
    """Return whether the next line is an item with keys in it, at the column of this line."""
    if number + 1 >= lines.line_count:
        return False
    line, below = lines.line_span(number), lines.line_span(number + 1)
    item = _ITEM_OF_KEYS.match(text[below.start : below.end].rstrip())
    written = text[line.start : line.end]
    return item is not None and len(item["lead"]) == len(written) - len(written.lstrip(" "))


def _as_comment(place: Span, message: str, fault: SyntaxFault) -> Slip:
    return _slip(place, message, "Make it a comment", Edit(Span(place.start, place.start), "# "), fault)


def _slip(place: Span, message: str, title: str, edit: Edit, fault: SyntaxFault) -> Slip:
    fixes = (Fix(title, (edit,)), *(fix for fix in fault.fixes if not fix.preferred))
    return Slip(Problem("yaml-syntax", place, message, "error", fixes), edit)
