"""Syntax errors of a value in brackets or braces, and where it ends."""

from __future__ import annotations

from collections.abc import Iterator

from waza_engine.later_patterns import compiled_later
from waza_engine.spec.reading.yaml_faults import RESERVED, reserved_start, sentence
from waza_language_server.syntax.escapes import (
    DOUBLE_BODY,
    LOOSE_DOUBLE,
    SINGLE_BODY,
    EscapedText,
    end_of_line,
    quoted,
    text_with_escapes,
    wrong_escapes,
)
from waza_language_server.syntax.events import ReadError
from waza_language_server.syntax.fault import SyntaxFault
from waza_language_server.syntax.flow_quotes import items_to_quote
from waza_language_server.syntax.flow_signs import slip_in_brackets
from waza_language_server.syntax.flow_slips import missing_commas, words_to_quote
from waza_language_server.text.edit import Edit, Fix
from waza_language_server.text.span import Span

_QUOTE_IN_FLOW = compiled_later(r'(?<=[\s\[{,:])"')
_WORD_IN_FLOW = compiled_later(r"[^,\[\]{}#\r\n]+")
_KEY_OF_LINE = compiled_later(r"[A-Za-z_][\w-]*:(?:[ \t]|\Z)")
_CLOSING = {"[": "]", "{": "}"}


def explain_brackets(text: str, start: int, end: int, error: ReadError | None) -> SyntaxFault:
    """Return the fault of the list or mapping ``text[start:end]``; ``error.at`` is relative to ``text``."""
    if escaped := list(_wrong_escapes_in_flow(text, start, end)):
        return wrong_escapes(text, escaped, within=Span(start, end))
    unclosed, strange, _ = _scan_flow(text, start, end)
    if strange is not None:
        return odd_bracket(text, strange)
    if slip := slip_in_brackets(text, Span(start, end)):
        return slip
    if unclosed is not None:
        closing = _CLOSING[text[unclosed]]
        line_end = end_of_line(text, unclosed, end)
        behind = _end_of_unclosed(text, unclosed, end)
        close = Fix(f"Add the closing `{closing}`", (Edit(Span(behind, behind), closing),))
        return SyntaxFault(
            Span(unclosed, line_end),
            f"The `{text[unclosed]}` opened here is never closed; add a `{closing}`.",
            fixes=(close,),
        )
    at = min(max(error.at if error else start, start), max(end - 1, start))
    return (
        _needs_quotes(text, start, end, at)
        or _needs_comma(text, start, end, at)
        or _items_need_quotes(text, start, end, at)
        or _unread(text, at, end)
    )


def _end_of_unclosed(text: str, start: int, end: int) -> int:
    """Return where a bracket should be closed: after the lines that are indented further.

    A key on a line of its own does not belong to a list.
    """
    line = text.rfind("\n", 0, start) + 1
    margin = len(text[line:start]) - len(text[line:start].lstrip(" "))
    behind = end_of_line(text, start, end)
    if text[start] == "{" and text[start + 1 : behind].strip():
        # It is unknown whether the lines below belong to it as well.
        return behind
    while (at := text.find("\n", behind, end) + 1) > 0:
        following = end_of_line(text, at, end)
        written = text[at:following].lstrip(" ")
        column = following - at - len(written)
        is_of_other = _KEY_OF_LINE.match(written) is not None and text[start] == "["
        if not written.strip() or column <= margin or written.startswith(("- ", "#")) or is_of_other:
            break
        behind = following
    return behind


def end_of_brackets(text: str, start: int, end: int) -> int:
    """Return where the brackets that open at ``start`` are closed.

    ``end`` when they are not, or there are none.
    """
    if text[start] not in _CLOSING:
        return end
    return _scan_flow(text, start, end)[2]


def odd_bracket(text: str, at: int) -> SyntaxFault:
    """Return the fault of a closing bracket without a partner."""
    return SyntaxFault(
        Span(at, at + 1), f"This `{text[at]}` closes nothing; delete it or add the opening bracket."
    )


def _wrong_escapes_in_flow(text: str, start: int, end: int) -> Iterator[EscapedText]:
    behind = start
    for opening in _QUOTE_IN_FLOW.finditer(text, start, end):
        body = DOUBLE_BODY.match(text, opening.start(), end)
        if opening.start() < behind or body is None or LOOSE_DOUBLE.match(text, opening.start(), end) is None:
            continue
        behind = body.end() + 1
        if text[body.end()] == "\\":
            escaped = text_with_escapes(text, opening.start(), body.end(), end, in_flow=True)
            behind = max(behind, escaped.closing + 1)
            yield escaped


def _needs_quotes(text: str, start: int, end: int, at: int) -> SyntaxFault | None:
    # If a pattern is read as an alias, parsing stops after its first letters.
    behind = next((each for each in words_to_quote(text, start, end) if each.start <= at <= each.end), None)
    at = behind.start if behind is not None and text[behind.start] == "*" else at
    if text[at] not in RESERVED or text[at] in ",]}" or (word := _WORD_IN_FLOW.match(text, at, end)) is None:
        return None
    if behind is None and text[at] == "*" and text[start:at].rstrip()[-1:] not in set("[{,:"):
        # After a value it is unknown which text belongs together.
        return None
    place = Span(at, at + len(word[0].rstrip()))
    places = [place, *(each for each in words_to_quote(text, start, end) if each.start > place.start)]
    # A comma between quotes would be in the middle of the intended text.
    is_whole = not any({'"', "'"} & set(text[each.start : each.end]) for each in places)
    edits = tuple(Edit(each, quoted(text[each.start : each.end])) for each in places)
    title = "Put it in quotes" if len(edits) == 1 else "Put them in quotes"
    return SyntaxFault(
        place, sentence(reserved_start(text[at])), fixes=(Fix(title, edits, preferred=is_whole),)
    )


def _items_need_quotes(text: str, start: int, end: int, at: int) -> SyntaxFault | None:
    edits = items_to_quote(text, start, end, at)
    if not edits:
        return None
    place = edits[0].span
    message = "A bracket in this text begins a list or a mapping; put the text in quotes."
    title = "Put it in quotes" if len(edits) == 1 else "Put them in quotes"
    if text[place.start] in "\"'":
        message = "A quote in this text ends it; double the quote, or put other ones around the text."
        title = "Quote the whole text" if len(edits) == 1 else "Quote the whole texts"
    return SyntaxFault(place, message, fixes=(Fix(title, edits),))


def _needs_comma(text: str, start: int, end: int, at: int) -> SyntaxFault | None:
    commas = list(missing_commas(text, start, end))
    # Anything before the first of them is another fault; libyaml may notice it at the colon after a key.
    if not commas or not commas[0].value <= at <= end_of_line(text, commas[0].value, end):
        return None
    edits = tuple(Edit(Span(each.at, each.at), ",") for each in commas)
    fix = Fix("Add the comma" if len(edits) == 1 else "Add the commas", edits, preferred=True)
    first = commas[0].value
    span = Span(first, max(end_of_line(text, first, end), first + 1))
    return SyntaxFault(span, "A comma is missing in front of this.", fixes=(fix,))


def _unread(text: str, at: int, end: int) -> SyntaxFault:
    return SyntaxFault(
        Span(at, max(end_of_line(text, at, end), at + 1)),
        "The text in brackets cannot be read from here; put commas between its parts and quotes around text.",
    )


def _scan_flow(text: str, start: int, end: int) -> tuple[int | None, int | None, int]:
    """Find the partners of brackets.

    Return the offset of the innermost one never closed, that of a closing one without a partner, and where
    the first one is closed (``end`` when it is not).
    """
    stack: list[int] = []
    at = start
    while at < end:
        char = text[at]
        if char in "\"'" and text[at - 1 : at] in {"", " ", "[", "{", ",", ":", "\n"}:
            body = (DOUBLE_BODY if char == '"' else SINGLE_BODY).match(text, at, end)
            at = body.end() if body else at
        elif char in "[{":
            stack.append(at)
        elif char in "]}":
            if not stack or _CLOSING[text[stack[-1]]] != char:
                return (stack[-1], None, end) if stack else (None, at, end)
            stack.pop()
            if not stack:
                return None, None, at + 1
        at += 1
    return (stack[-1] if stack else None), None, end
