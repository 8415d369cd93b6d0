"""Items of a list in brackets that need quotes, or other ones: `['it's']`, `["say "hi" now"]`, `[[0-9]+]`."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from waza_engine.later_patterns import compiled_later
from waza_language_server.syntax.events import read
from waza_language_server.text.edit import Edit
from waza_language_server.text.span import Span

_LONGEST = 2_000
"""The most characters of a value in brackets to repair: its lists are parsed again for each attempt."""
_LISTS_TRIED = 4
_ITEMS_TRIED = 50
_BLANKS = compiled_later(r"\s*")
_QUOTED = {
    '"': compiled_later(r'"(?P<inner>[^\r\n]*?)"(?=\s*[,\]])'),
    "'": compiled_later(r"'(?P<inner>[^\r\n]*?)'(?=\s*[,\]])"),
}
"""A string up to the first quote that ends an item: followed by a comma or the end of the list."""
_NO_TEXT = compiled_later(r":(?:\s|$)|\s#|[\"']")
"""A possible key, a comment, or the quotes of a value."""
_BRACKET = compiled_later(r"[\[\]{}]")
_CLOSING = {"[": "]", "{": "}", "(": ")"}


def items_to_quote(text: str, start: int, end: int, at: int) -> tuple[Edit, ...]:
    """Return the edits that quote items of a list, so that all of ``text[start:end]`` can be parsed.

    ``at`` is where parsing stopped. Empty if this makes no list around it parse.
    """
    if end - start > _LONGEST:
        return ()
    opened = (place for place in range(min(at, end - 1), start - 1, -1) if text[place] == "[")
    for opening in islice(opened, _LISTS_TRIED):
        edits = _edits_of_list(text, opening, end)
        if edits and reads_with(text, Span(start, end), edits):
            return edits
    return ()


def reads_with(text: str, part: Span, edits: tuple[Edit, ...]) -> bool:
    """Return whether a part of a text can be parsed after edits in it."""
    return _reads(_applied(text, part.start, part.end, edits))


def _edits_of_list(text: str, opening: int, end: int) -> tuple[Edit, ...]:
    items = tuple(islice(_items(text, opening + 1, end), _ITEMS_TRIED))
    broken = [item for item in items if not _reads(f"[{text[item.start : item.end]}]")]
    written = [(item, _in_quotes(text[item.start : item.end])) for item in broken]
    if any(new is None for _, new in written):
        return ()
    return tuple(Edit(item, new) for item, new in written if new is not None)


def _items(text: str, at: int, end: int) -> Iterator[Span]:
    """Yield the items of the list that is open at ``at``, split at commas outside of brackets."""
    while at < end:
        blanks = _BLANKS.match(text, at, end)
        at = blanks.end() if blanks is not None else at
        if text[at : at + 1] in {"", "]"}:
            return
        pattern = _QUOTED.get(text[at])
        match = pattern.match(text, at, end) if pattern is not None else None
        stop = match.end() if match is not None else _end_of_words(text, at, end)
        yield Span(at, at + len(text[at:stop].rstrip()))
        blanks = _BLANKS.match(text, stop, end)
        at = blanks.end() if blanks is not None else stop
        if text[at : at + 1] != ",":
            return
        at += 1


def _end_of_words(text: str, at: int, end: int) -> int:
    stack: list[str] = []
    for place in range(at, end):
        char = text[place]
        if stack and char == stack[-1]:
            stack.pop()
        elif char in _CLOSING:
            stack.append(_CLOSING[char])
        elif not stack and char in ",]\r\n":
            return place
    return end


def _in_quotes(item: str) -> str | None:
    """Return an unparsable item as one quoted string; None if it is not clear which string."""
    if "\n" in item or "\r" in item or not item:
        return None
    if item[0] not in _QUOTED:
        return f"'{item}'" if _has_bracket_in_words(item) else None
    if item[-1] != item[0] or len(item) < 2:
        return None
    inner = item[1:-1]
    if item[0] == "'":
        # A doubled quote already escapes one.
        return "'" + inner.replace("''", "'").replace("'", "''") + "'"
    return "'" + inner.replace("'", "''") + "'" if "\\" not in inner else None


def _has_bracket_in_words(item: str) -> bool:
    """Return whether brackets are a part of a string: `[0-9]+`, `a{2}`; not a list or mapping of its own."""
    if _NO_TEXT.search(item) is not None or _BRACKET.search(item) is None:
        return False
    return item[0] not in "[{" or _end_of_words(item, 1, len(item)) < len(item) - 1


def _reads(text: str) -> bool:
    return read(text).error is None


def _applied(text: str, start: int, end: int, edits: tuple[Edit, ...]) -> str:
    parts: list[str] = []
    at = start
    for edit in edits:
        parts += text[at : edit.span.start], edit.text
        at = edit.span.end
    return "".join((*parts, text[at:end]))
