"""Where a text is cut and where its first document ends, decided by single lines."""

from __future__ import annotations

import re

from waza_engine.later_patterns import compiled_later
from waza_language_server.text.span import Span

SIGNIFICANT = compiled_later(r"(?:[ \t]*(?:#[^\r\n]*)?(?:\r\n|\r|\n))*+[ \t]*(?=[^\s#])")
_MARKER = compiled_later(r"(?:\A|(?<=\n)|(?<=\r))(?:---|\.\.\.)(?=[ \t\r\n]|\Z)")
BOUNDARY = compiled_later(r"\n(?:[^\s#\]}|>@`%&*-]|[|>@`%&*](?! )|-(?![ \t\r\n]|\Z))")
"""A line at column 0 that may begin an entry. Closing brackets and indicators before a space never do."""


def end_of_document(body: str, start: int) -> tuple[int, Span | None]:
    """Return where the document ends and the ``---`` of a second one that is not empty."""
    marker = _first_marker(body, start)
    if marker is None:
        return len(body), None
    stop = marker.start()
    second = marker
    if marker[0] == "...":
        second = _first_marker(body, marker.end()) or marker
    rest = _MARKER.sub("   ", body[marker.start() :])
    if SIGNIFICANT.match(rest) is None:
        return stop, None
    return stop, Span(second.start(), second.end())


def behind_first_marker(body: str, start: int) -> int:
    """Return the offset after the first document marker from ``start`` on, or ``start`` itself."""
    match = _MARKER.search(body, start)
    return match.end() if match else start


def has_lone_returns(text: str) -> bool:
    """Return whether a line of the text ends with a lone carriage return."""
    return "\r" in text and text.count("\r") != text.count("\r\n")


def _first_marker(body: str, start: int) -> re.Match[str] | None:
    if body.startswith(("---", "..."), start) and (match := _MARKER.match(body, start)):
        return match
    if "\n---" not in body and "\n..." not in body and "\r" not in body:
        return None
    return _MARKER.search(body, start)
