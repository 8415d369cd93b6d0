"""How a document is cut into sections; those with a known text are not parsed again."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import pairwise

from waza_engine.checkpoint import checkpoint
from waza_engine.frozen import frozen
from waza_engine.later_patterns import compiled_later
from waza_language_server.syntax.pieces import (
    Joining,
    Piece,
    Section,
    Together,
    is_list,
    outcast_section,
    read_section,
    read_whole,
    section_of,
    strict_whole,
)
from waza_language_server.text.span import Span

_PREAMBLE = compiled_later(
    r"(?:[ \t]*(?:#[^\r\n]*)?(?:\r\n|\r|\n))*+(?:---[ \t]*(?:#[^\r\n]*)?(?:\r\n|\r|\n|\Z))?"
)
_LEADING_TAB = compiled_later(r"(?:\A|(?<=[\r\n]))[ ]*\t")
_BELOW = compiled_later(r"[^\r\n]*(?:\r\n|\n)(?:[ \t]*(?:#[^\r\n]*)?(?:\r\n|\n))*+([ ]{2,})")
_OUTCAST = compiled_later(
    r"\n (?=[A-Za-z_][\w.-]*:(?:[ \t\r\n]|\Z))"
    r"(?=[^\r\n]*(?:\r\n|\n)?(?:[ \t]*(?:#[^\r\n]*)?(?:\r\n|\n))*+([ ]*))"
)
_ODD_STARTS = frozenset("?:&!*|>%@`[{")
"""A line at column 0 that starts with one of these may be more than ``key: value``."""


@frozen(eq=False)
class Layout:
    """The cuts of one text. ``stop`` is where its first document ends.

    Either ``sections`` (with their start offsets) or ``whole`` holds the parse result.
    """

    body: str
    stop: int
    starts: tuple[int, ...] = ()
    sections: tuple[Section, ...] = ()
    whole: Piece | None = None
    whole_start: int = 0
    second_document: Span | None = None


def lay_out(body: str, start: int, known: Known) -> Layout:
    """Cut and parse a text from ``start`` on (after a byte order mark).

    Known pieces are reused.
    """
    preamble = _PREAMBLE.match(body, start)
    first = preamble.end() if preamble else start
    if body.startswith("%", first):
        # Directives are rare and change how the rest is parsed.
        stop, second = end_of_document(body, after_first_marker(body, first))
        return _whole(body, start, stop, second)
    stop, second = end_of_document(body, first)
    lead = SIGNIFICANT.match(body, first, stop)
    if _LEADING_TAB.search(body, start, lead.end() if lead else stop):
        return _whole(body, start, stop, second)
    if lead is None:
        return Layout(body, stop, second_document=second)
    first = lead.end()
    at_column_0 = first == start or body[first - 1] in "\r\n"
    if not at_column_0 or _is_dash(body, first) or has_lone_returns(body):
        return _whole(body, _line_start(body, first, start), stop, second)
    cuts = [first, *(match.start() + 1 for match in BOUNDARY.finditer(body, first, stop))]
    checkpoint()
    odd = any(body[cut] in _ODD_STARTS for cut in cuts)
    if odd and (whole := strict_whole(body[first:stop])):
        return Layout(body, stop, whole=whole, whole_start=first, second_document=second)
    starts, sections = _read_sections(body, cuts, stop, known)
    checkpoint()
    if all(section.head.faults for section in sections):
        whole = strict_whole(body[first:stop])
        if whole is not None:
            return Layout(body, stop, whole=whole, whole_start=first, second_document=second)
    if not any(section.children for section in sections):
        return _whole(body, first, stop, second)
    return Layout(body, stop, tuple(starts), tuple(sections), second_document=second)


def _read_sections(
    body: str, cuts: Sequence[int], stop: int, known: Known
) -> tuple[list[int], list[Section]]:
    cuts = [*cuts, stop]
    starts: list[int] = []
    sections: list[Section] = []
    whole = {text: section.head for text, section in known.sections.items() if not section.items}
    checkpoint()
    joining = Joining(lambda i, j: body[cuts[i] : cuts[j]], len(cuts) - 1, "mapping", whole)
    together = Together(body, cuts, "mapping", lambda text: text in known.sections or is_list(text))
    index, count = 0, len(cuts) - 1
    while index < count:
        start = cuts[index]
        text = body[start : cuts[index + 1]]
        section = known.sections.get(text)
        if section is None:
            piece = None if is_list(text) else together.piece(index)
            items = known.items if piece is None and is_list(text) else {}
            section = section_of(piece) if piece else read_section(text, items)
            checkpoint()
        index += 1
        if section.open and index < count:
            joined, stop = joining.join(index - 1)
            if joined is not None:
                section, index = section_of(joined), stop
        for part in _without_outcasts(section):
            starts.append(start)
            sections.append(part)
            start += part.length
    return starts, sections


def _without_outcasts(section: Section) -> list[Section]:
    """Cut an unparsable section at lines that look like keys of column 0, off by one space.

    If such a line is as near to the lines of the section, the next line decides.
    """
    if not any(piece.faults for _, piece in section.faulty):
        return [section]
    # Joined once: there may be thousands of cuts.
    whole = section.text
    below = _BELOW.match(whole)
    if below is None:
        return [section]
    width = len(below[1])
    outcasts = [match for match in _OUTCAST.finditer(whole) if width > 2 or match[1] == below[1]]
    cuts = [0, *(match.start() + 1 for match in outcasts), len(whole)]
    if len(cuts) == 2:
        return [section]
    first, *others = (whole[start:end] for start, end in pairwise(cuts))
    parts = [read_section(first, {})]
    for text in others:
        parts.append(outcast_section(text))
        checkpoint()
    return parts


def _whole(body: str, start: int, stop: int, second: Span | None) -> Layout:
    piece = read_whole(body[start:stop])
    return Layout(body, stop, whole=piece, whole_start=start, second_document=second)


def _is_dash(body: str, at: int) -> bool:
    return body[at] == "-" and body[at + 1 : at + 2] in {"", " ", "\t", "\r", "\n"}


def _line_start(body: str, at: int, least: int) -> int:
    while at > least and body[at - 1] not in "\r\n":
        at -= 1
    return at


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


def after_first_marker(body: str, start: int) -> int:
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


class Known:
    """Sections and list items that were parsed before, by their text."""

    def __init__(self, sections: Iterable[Section]) -> None:
        self.sections = {section.text: section for section in sections}

    @cached_property
    def items(self) -> dict[str, Piece]:
        """Return the list items, which are only needed when a list is cut again."""
        return {item.text: item for section in self.sections.values() for item in section.items}
