"""How a document is cut into sections, and which of them an edit leaves unchanged.

Architecture invariant: ``update`` answers only if cutting the new text from scratch would give the very same
pieces; if in doubt it returns None and the text is cut again, reusing pieces with a known text.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from waza_engine.frozen import frozen
from waza_engine.later_patterns import compiled_later
from waza_engine.steps import Steps
from waza_language_server.syntax.changed_section import Change, changed_section
from waza_language_server.syntax.characters import has_refused
from waza_language_server.syntax.cuts import (
    BOUNDARY,
    SIGNIFICANT,
    behind_first_marker,
    end_of_document,
    has_lone_returns,
)
from waza_language_server.syntax.joint_reading import Joining, Together
from waza_language_server.syntax.known_pieces import Known
from waza_language_server.syntax.piece import Piece
from waza_language_server.syntax.pieces import (
    Section,
    is_list,
    last_item_in,
    outcast_section,
    read_section,
    read_whole,
    section_of,
    strict_whole,
)
from waza_language_server.text.common_ends import difference
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
    local: bool = False
    """True if an edit inside one piece affects that piece alone."""


def lay_out(body: str, start: int, known: Known) -> Steps[Layout]:
    """Cut and parse a text from ``start`` on (after a byte order mark), with many pauses.

    Known pieces are reused.
    """
    preamble = _PREAMBLE.match(body, start)
    first = preamble.end() if preamble else start
    if body.startswith("%", first):
        # Directives are rare and change how the rest is parsed.
        stop, second = end_of_document(body, behind_first_marker(body, first))
        return (yield from _whole(body, start, stop, second))
    stop, second = end_of_document(body, first)
    lead = SIGNIFICANT.match(body, first, stop)
    if _LEADING_TAB.search(body, start, lead.end() if lead else stop):
        return (yield from _whole(body, start, stop, second))
    if lead is None:
        return Layout(body, stop, second_document=second)
    first = lead.end()
    at_column_0 = first == start or body[first - 1] in "\r\n"
    if not at_column_0 or _is_dash(body, first) or has_lone_returns(body):
        return (yield from _whole(body, _line_start(body, first, start), stop, second))
    cuts = [first, *(match.start() + 1 for match in BOUNDARY.finditer(body, first, stop))]
    yield
    odd = any(body[cut] in _ODD_STARTS for cut in cuts)
    if odd and (whole := (yield from strict_whole(body[first:stop]))):
        return Layout(body, stop, whole=whole, whole_start=first, second_document=second)
    starts, sections = yield from _read_sections(body, cuts, stop, known)
    yield
    if all(section.head.faults for section in sections):
        whole = yield from strict_whole(body[first:stop])
        if whole is not None:
            return Layout(body, stop, whole=whole, whole_start=first, second_document=second)
    if not any(section.children for section in sections):
        return (yield from _whole(body, first, stop, second))
    local = not odd and stop == len(body) and len(sections) <= len(cuts)
    local = local and not any(section.head.text[0] == " " or _has_open(section) for section in sections)
    return Layout(body, stop, tuple(starts), tuple(sections), second_document=second, local=local)


def update(old: Layout, body: str, known: Known) -> Steps[Layout | None]:
    """Return the layout of a text that differs from the old one inside a single piece; None if in doubt.

    Sections that were parsed in vain are added to ``known``.
    """
    if not old.local or ("\r" in body and "\r" not in old.body):
        return None
    change = Change(*difference(old.body, body))
    index = bisect_right(old.starts, change.start) - 1
    if index < 0 or has_refused(body[change.start : change.new_end]):
        return None
    start = old.starts[index]
    end = old.starts[index + 1] if index + 1 < len(old.starts) else old.stop
    section = old.sections[index]
    new = yield from changed_section(section, start, end, old.body, body, change, known)
    if new is None:
        return None
    if _has_open(new) or new.head.faults or len((yield from _without_outcasts(new))) > 1:
        known.sections[new.text] = new
        return None
    moved = tuple(begin + change.delta for begin in old.starts[index + 1 :])
    sections = (*old.sections[:index], new, *old.sections[index + 1 :])
    return replace(old, body=body, stop=len(body), starts=old.starts[: index + 1] + moved, sections=sections)


def last_item_start(body: str, most: int) -> int | None:
    """Return where a text can be cut within its first characters, at the start of a list item.

    None if the list of a key at column 0 does not extend that far.
    """
    head = body[: body.rfind("\n", 0, most) + 1]
    start = max((match.start() + 1 for match in BOUNDARY.finditer(head)), default=0)
    item = last_item_in(head[start:])
    return None if item is None else start + item


def _read_sections(
    body: str, cuts: Sequence[int], stop: int, known: Known
) -> Steps[tuple[list[int], list[Section]]]:
    cuts = [*cuts, stop]
    starts: list[int] = []
    sections: list[Section] = []
    whole = {text: section.head for text, section in known.sections.items() if not section.items}
    yield
    joining = Joining(lambda i, j: body[cuts[i] : cuts[j]], len(cuts) - 1, "mapping", whole)
    together = Together(body, cuts, "mapping", lambda text: text in known.sections or is_list(text))
    index, count = 0, len(cuts) - 1
    while index < count:
        start = cuts[index]
        text = body[start : cuts[index + 1]]
        section = known.sections.get(text)
        if section is None:
            piece = None if is_list(text) else (yield from together.piece(index))
            items = known.items if piece is None and is_list(text) else {}
            section = section_of(piece) if piece else (yield from read_section(text, items))
            yield
        index += 1
        if section.open and index < count:
            joined, stop = yield from joining.join(index - 1)
            if joined is not None:
                section, index = section_of(joined), stop
        for part in (yield from _without_outcasts(section)):
            starts.append(start)
            sections.append(part)
            start += part.length
    return starts, sections


def _without_outcasts(section: Section) -> Steps[list[Section]]:
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
    parts = [(yield from read_section(first, {}))]
    for text in others:
        parts.append((yield from outcast_section(text)))
        yield
    return parts


def _has_open(section: Section) -> bool:
    return section.open or any(piece.open for _, piece in section.faulty)


def _whole(body: str, start: int, stop: int, second: Span | None) -> Steps[Layout]:
    piece = yield from read_whole(body[start:stop])
    return Layout(body, stop, whole=piece, whole_start=start, second_document=second)


def _is_dash(body: str, at: int) -> bool:
    return body[at] == "-" and body[at + 1 : at + 2] in {"", " ", "\t", "\r", "\n"}


def _line_start(body: str, at: int, least: int) -> int:
    while at > least and body[at - 1] not in "\r\n":
        at -= 1
    return at
