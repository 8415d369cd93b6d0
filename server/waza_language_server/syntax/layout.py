"""How a document is cut into sections, and which of them an edit leaves as they are.

Architecture invariant: ``update`` answers only when cutting the new text afresh would give the very same
pieces; in every doubtful case it answers None and the text is cut again, pieces with a known text being used
again.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from waza_engine.frozen import frozen
from waza_engine.steps import Steps
from waza_language_server.syntax.characters import has_refused
from waza_language_server.syntax.green import Placed
from waza_language_server.syntax.items import Items
from waza_language_server.syntax.pieces import (
    Joining,
    Moved,
    Piece,
    Section,
    Together,
    build_list,
    first_item,
    is_list,
    item_starts,
    last_item_in,
    noteworthy,
    outcast_section,
    read_entry,
    read_item,
    read_section,
    read_whole,
    section_of,
    strict_whole,
)
from waza_language_server.text.chunks import Chunks
from waza_language_server.text.common_ends import difference
from waza_language_server.text.offsets import Offsets
from waza_language_server.text.span import Span

_PREAMBLE = re.compile(
    r"(?:[ \t]*(?:#[^\r\n]*)?(?:\r\n|\r|\n))*+(?:---[ \t]*(?:#[^\r\n]*)?(?:\r\n|\r|\n|\Z))?"
)
_SIGNIFICANT = re.compile(r"(?:[ \t]*(?:#[^\r\n]*)?(?:\r\n|\r|\n))*+[ \t]*(?=[^\s#])")
_LEADING_TAB = re.compile(r"(?:\A|(?<=[\r\n]))[ ]*\t")
_MARKER = re.compile(r"(?:\A|(?<=\n)|(?<=\r))(?:---|\.\.\.)(?=[ \t\r\n]|\Z)")
_MARKER_BEHIND_BREAK = re.compile(r"\n(?:---|\.\.\.)(?=[ \t\r\n]|\Z)")
_BOUNDARY = re.compile(r"\n(?:[^\s#\]}|>@`%&*-]|[|>@`%&*](?! )|-(?![ \t\r\n]|\Z))")
"""A line at column 0 that may begin an entry. Closing brackets and indicators before a blank never do."""
_BELOW = re.compile(r"[^\r\n]*(?:\r\n|\n)(?:[ \t]*(?:#[^\r\n]*)?(?:\r\n|\n))*+([ ]{2,})")
_OUTCAST = re.compile(
    r"\n (?=[A-Za-z_][\w.-]*:(?:[ \t\r\n]|\Z))"
    r"(?=[^\r\n]*(?:\r\n|\n)?(?:[ \t]*(?:#[^\r\n]*)?(?:\r\n|\n))*+([ ]*))"
)
_FIXED = 2
"""Characters at the start of a section, and from the dash of an item on, that decide whether it is one."""
_MOST_CUT_ANEW = 50
"""Items that an edit may concern or bring; what brings more is read together with the rest."""
_ODD_STARTS = frozenset("?:&!*|>%@`[{")
"""A line at column 0 that starts so may be more than ``key: value``."""


@frozen(eq=False)
class Layout:
    """The cuts of one text. ``stop`` is where its first document ends.

    Either ``sections`` (with the offsets they start at) or ``whole`` holds what was read.
    """

    body: str
    stop: int
    starts: tuple[int, ...] = ()
    sections: tuple[Section, ...] = ()
    whole: Piece | None = None
    whole_start: int = 0
    second_document: Span | None = None
    local: bool = False
    """Whether an edit inside one piece concerns that piece alone."""


class Known:
    """Sections and list items that were read before, by their text."""

    def __init__(self) -> None:
        self.sections: dict[str, Section] = {}
        self._items: dict[str, Piece] = {}
        self._to_add: list[Section] = []

    @property
    def items(self) -> dict[str, Piece]:
        """The list items, of which there may be thousands: collected when a list is cut anew."""
        for section in self._to_add:
            self._items.update((item.text, item) for item in section.items)
        self._to_add.clear()
        return self._items

    def add(self, layout: Layout) -> None:
        """Take what is in a layout."""
        for section in layout.sections:
            self.sections[section.text] = section
            self._to_add.append(section)


def lay_out(body: str, start: int, known: Known) -> Steps[Layout]:
    """Cut and read a text from ``start`` on (behind a byte order mark), with many pauses.

    What is known is used again.
    """
    preamble = _PREAMBLE.match(body, start)
    first = preamble.end() if preamble else start
    if body.startswith("%", first):
        # Directives are rare and change how the rest is read.
        stop, second = _end_of_document(body, _behind_first_marker(body, first))
        return (yield from _whole(body, start, stop, second))
    stop, second = _end_of_document(body, first)
    lead = _SIGNIFICANT.match(body, first, stop)
    if _LEADING_TAB.search(body, start, lead.end() if lead else stop):
        return (yield from _whole(body, start, stop, second))
    if lead is None:
        return Layout(body, stop, second_document=second)
    first = lead.end()
    at_column_0 = first == start or body[first - 1] in "\r\n"
    if not at_column_0 or _is_dash(body, first) or _has_lone_returns(body):
        return (yield from _whole(body, _line_start(body, first, start), stop, second))
    cuts = [first, *(match.start() + 1 for match in _BOUNDARY.finditer(body, first, stop))]
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
    """Return the layout of a text that differs from the old one inside a single piece; None when in doubt.

    What was read in vain is added to what is known.
    """
    if not old.local or ("\r" in body and "\r" not in old.body):
        return None
    change = _Change(*difference(old.body, body))
    index = bisect_right(old.starts, change.start) - 1
    if index < 0 or has_refused(body[change.start : change.new_end]):
        return None
    start = old.starts[index]
    end = old.starts[index + 1] if index + 1 < len(old.starts) else old.stop
    section = old.sections[index]
    if section.items:
        new = yield from _update_list(section, start, old.body, body, change, known)
    else:
        new = yield from _update_plain(start, end, old.body, body, change)
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

    None when the list of a key at column 0 does not reach so far.
    """
    head = body[: body.rfind("\n", 0, most) + 1]
    start = max((match.start() + 1 for match in _BOUNDARY.finditer(head)), default=0)
    item = last_item_in(head[start:])
    return None if item is None else start + item


@frozen()
class _Change:
    """Characters ``start:old_end`` of the old text became ``start:new_end`` of the new one."""

    start: int
    old_end: int
    new_end: int

    @property
    def delta(self) -> int:
        return self.new_end - self.old_end


def _update_plain(start: int, end: int, old: str, body: str, change: _Change) -> Steps[Section | None]:
    text = _changed_piece(start, end, _FIXED, old, body, change)
    if text is None:
        return None
    return (yield from read_section(text, {}))


def _update_list(
    section: Section, start: int, old: str, body: str, change: _Change, known: Known
) -> Steps[Section | None]:
    first, last = (
        max(0, index) for index in _touched_items(section, change.start - start, change.old_end - start)
    )
    in_front = change.start < start + section.starts[0] + section.dash + _FIXED
    begin = 0 if in_front else section.starts[first]
    end = section.starts[last] + len(section.items[last].text)
    text = _changed_piece(
        start + begin, start + end, _FIXED if in_front else section.dash + _FIXED, old, body, change
    )
    if text is None:
        return None
    head, cut = section.head, 0
    if in_front:
        # What stands between the key and the first item, and that item, are read anew.
        found = first_item(text)
        if found is None or found.dash != section.dash:
            return None
        cut, head = found.start, (yield from read_entry(text[: found.start]))
        if len(head.children) != 2 or head.open:
            return None
    cuts = [cut, *(match.start() + 1 for match in item_starts(section.dash, text, cut)), len(text)]
    if len(cuts) > _MOST_CUT_ANEW:
        return None
    items: list[Piece] = []
    untouched = {item.text: item for item in section.items[first : last + 1]}
    for cut, stop in pairwise(cuts):
        item = untouched.get(text[cut:stop]) or (yield from read_item(text[cut:stop], section.dash))
        if item.open:
            known.items[item.text] = item
            return None
        items.append(item)
    delta, behind = change.delta, last + 1
    new = [(begin + cut, item) for cut, item in zip(cuts, items, strict=False)]
    starts = section.starts
    if delta or len(new) > 1 or last > first or in_front:
        starts = _exchanged_starts(starts, first, behind, [offset for offset, _ in new], delta)
    faulty = [each for each in section.faulty if each[0] < begin]
    if in_front and noteworthy(head):
        faulty.append((0, head))
    faulty += [part for part in new if noteworthy(part[1])]
    faulty += [(offset + delta, each) for offset, each in section.faulty if offset >= end]
    moved = Moved(_exchanged_children(section, first, behind, new, delta), faulty)
    kept = Chunks(section.items).spliced(first, behind, items)
    return build_list(section.length + delta, head, section.dash, starts, kept, moved)


def _touched_items(section: Section, start: int, end: int) -> tuple[int, int]:
    """Return the first and the last item that an edit concerns; with a changed dash also the one before."""
    first = bisect_right(section.starts, start) - 1
    if first > 0 and start < section.starts[first] + section.dash + 2:
        first -= 1
    last = bisect_right(section.starts, end) - 1
    if last > first and end == section.starts[last]:
        last -= 1
    return first, max(first, last)


def _exchanged_starts(
    starts: Sequence[int], first: int, behind: int, new: Sequence[int], delta: int
) -> Sequence[int]:
    if isinstance(starts, Offsets):
        return starts.changed(first, behind, new, delta)
    return (*starts[:first], *new, *map(delta.__add__, starts[behind:]))


def _exchanged_children(
    section: Section, first: int, behind: int, new: Sequence[tuple[int, Piece]], delta: int
) -> Sequence[Placed]:
    """Return the items of the list with those of some pieces exchanged and the later ones moved."""
    children = section.children[1].green.children
    at = bisect_left(children, section.starts[first], key=lambda placed: placed.green.start + placed.offset)
    rest = at + sum(len(item.children) for item in section.items[first:behind])
    read = [Placed(child.green, child.offset + start) for start, item in new for child in item.children]
    if isinstance(children, Items):
        return children.changed(at, rest, read, delta)
    later = (Placed(child.green, child.offset + delta) for child in children[rest:])
    return (*children[:at], *read, *later)


def _changed_piece(start: int, end: int, fixed: int, old: str, body: str, change: _Change) -> str | None:
    """Return the new text of the piece ``old[start:end]``; None when the edit could move its cuts.

    The first ``fixed`` characters and the line break at the end decide the cuts, so they must be untouched.
    """
    last = end if end == len(old) else end - (2 if old[end - 2 : end] == "\r\n" else 1)
    if change.start < start + fixed or change.old_end > last:
        return None
    text = body[start : end + change.delta]
    if _BOUNDARY.search(text) or _MARKER_BEHIND_BREAK.search(text) or _has_lone_returns(text):
        return None
    return text


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
    """Cut a section that cannot be read at lines that look like keys of column 0, off by one blank.

    When such a line is as near to the lines of the section, what follows it decides.
    """
    if not any(piece.faults for _, piece in section.faulty):
        return [section]
    # Put together once: there may be thousands of cuts.
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


def _end_of_document(body: str, start: int) -> tuple[int, Span | None]:
    """Return where the document ends and the ``---`` of a second one that holds something."""
    marker = _first_marker(body, start)
    if marker is None:
        return len(body), None
    stop = marker.start()
    second = marker
    if marker[0] == "...":
        second = _first_marker(body, marker.end()) or marker
    rest = _MARKER.sub("   ", body[marker.start() :])
    if _SIGNIFICANT.match(rest) is None:
        return stop, None
    return stop, Span(second.start(), second.end())


def _first_marker(body: str, start: int) -> re.Match[str] | None:
    if body.startswith(("---", "..."), start) and (match := _MARKER.match(body, start)):
        return match
    if "\n---" not in body and "\n..." not in body and "\r" not in body:
        return None
    return _MARKER.search(body, start)


def _behind_first_marker(body: str, start: int) -> int:
    match = _MARKER.search(body, start)
    return match.end() if match else start


def _is_dash(body: str, at: int) -> bool:
    return body[at] == "-" and body[at + 1 : at + 2] in {"", " ", "\t", "\r", "\n"}


def _has_lone_returns(text: str) -> bool:
    return "\r" in text and text.count("\r") != text.count("\r\n")


def _line_start(body: str, at: int, least: int) -> int:
    while at > least and body[at - 1] not in "\r\n":
        at -= 1
    return at
