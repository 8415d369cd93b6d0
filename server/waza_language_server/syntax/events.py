"""Reading a piece of YAML strictly: the events of libyaml become green nodes with exact spans.

libyaml counts trailing blanks and comments into a block collection and blank lines into a block scalar; here
a node ends with its last character. Empty values get an empty span at the place where one would type them.

Architecture invariant: nothing here recurses and no alias is expanded, so neither ``[[[[…`` nor an anchor
bomb costs more than its own characters.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Protocol, cast

import yaml

from waza_language_server.syntax.characters import restore
from waza_language_server.syntax.fault import SyntaxFault
from waza_language_server.syntax.nodes import Green, Placed, Style
from waza_language_server.text.edit import Related
from waza_language_server.text.span import Span

MAX_DEPTH = 100
"""How deep collections may nest; a suite needs about six levels."""

_CHARACTERS_PER_UNIT = 500
_PROPERTIES = re.compile(r"(?:[&!][^\s,\[\]{}]*\s*(?:#[^\r\n]*\s*)*)+")
_STYLES: dict[str | None, Style] = {'"': "double", "'": "single", "|": "literal", ">": "folded"}


@dataclass(frozen=True, slots=True)
class ReadError:
    """Where and why strict reading stopped, in libyaml's terms: for choosing a message, never for showing."""

    problem: str
    at: int
    context_at: int | None
    at_end: bool
    """Whether the text ended too early: more text could make it whole."""


@dataclass(slots=True)
class Reading:
    """What strict reading found. With an error, ``root`` holds what stood before it."""

    root: Green | None = None
    error: ReadError | None = None
    anchors: list[str] = field(default_factory=list[str])
    aliases: list[tuple[str, int, int]] = field(default_factory=list[tuple[str, int, int]])
    """Aliases without an anchor before them in this text: name, start and end."""
    duplicates: list[SyntaxFault] = field(default_factory=list[SyntaxFault])
    work: int = 0
    """What it cost, in units of about 20 microseconds: events, and characters at 500 each."""


def read(text: str) -> Reading:
    """Read one document. The text must be free of characters that YAML forbids (see ``characters``)."""
    reading = Reading()
    builder = _Builder(text, reading)
    try:
        for event in _events(text):
            reading.work += 1
            if not builder.take(event):
                reading.error = ReadError("too deep", event.start_mark.index, None, at_end=False)
                break
    except yaml.MarkedYAMLError as error:
        reading.error = _read_error(error, len(text))
    except (yaml.YAMLError, UnicodeError):
        reading.error = ReadError("unreadable", 0, None, at_end=False)
    if reading.error is not None:
        builder.close_all()
    reading.root = builder.root
    reading.work += 2 + (reading.error.at if reading.error else len(text)) // _CHARACTERS_PER_UNIT
    return reading


class _Mark(Protocol):
    index: int


class _Event(Protocol):
    start_mark: _Mark
    end_mark: _Mark
    anchor: str | None
    tag: str | None
    style: str | None
    value: str
    flow_style: bool | None


class _Parser(Protocol):
    def get_event(self) -> _Event | None: ...


def _events(text: str) -> Iterator[_Event]:
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    parser = cast("_Parser", loader(text))
    while (event := parser.get_event()) is not None:
        yield event


def _read_error(error: yaml.MarkedYAMLError, length: int) -> ReadError:
    at = error.problem_mark.index if error.problem_mark is not None else 0
    context = error.context_mark.index if error.context_mark is not None else None
    return ReadError(error.problem or "", min(at, length), context, at_end=at >= length)


@dataclass(slots=True)
class _Open:
    """A collection whose end was not seen yet."""

    kind: str
    start: int
    flow: bool
    tag: str | None
    anchor: str | None
    children: list[Placed] = field(default_factory=list[Placed])
    end: int = 0


class _Builder:
    """Turns events into green nodes, one by one."""

    def __init__(self, text: str, reading: Reading) -> None:
        self.text = text
        self.reading = reading
        self.root: Green | None = None
        self.stack: list[_Open] = []

    def take(self, event: _Event) -> bool:
        """Add one event; False when it nests too deeply."""
        kind = type(event).__name__
        if kind == "ScalarEvent":
            self._scalar(event)
        elif kind == "MappingStartEvent" or kind == "SequenceStartEvent":
            if len(self.stack) >= MAX_DEPTH:
                return False
            self._open(event, "mapping" if kind == "MappingStartEvent" else "sequence")
        elif kind == "MappingEndEvent" or kind == "SequenceEndEvent":
            self._close(event.end_mark.index)
        elif kind == "AliasEvent":
            start, end = event.start_mark.index, event.end_mark.index
            name = event.anchor or ""
            if name not in self.reading.anchors:
                self.reading.aliases.append((name, start, end))
            self._add(Green("alias", start, end, "plain", name))
        return True

    def close_all(self) -> None:
        """Close what is open when reading stopped, as if it ended with what stands in it."""
        while self.stack:
            top = self.stack[-1]
            if top.kind == "mapping" and len(top.children) % 2:
                key = top.children[-1].green
                colon = re.compile(r"[ \t]*:[ ]?").match(self.text, key.end)
                end = colon.end() if colon else key.end
                top.children.append(Placed(Green("scalar", end, end)))
            self._close(top.children[-1].green.end if top.children else top.start + top.flow)

    def _add(self, green: Green) -> None:
        if self.stack:
            self.stack[-1].children.append(Placed(green))
        elif self.root is None:
            self.root = green

    def _open(self, event: _Event, kind: str) -> None:
        start = event.start_mark.index
        anchor, tag = event.anchor, event.tag
        if anchor is not None or tag is not None:
            start = self._behind_properties(start, event.end_mark.index, anchor)
        self.stack.append(_Open(kind, start, bool(event.flow_style), tag, anchor))

    def _close(self, end: int) -> None:
        top = self.stack.pop()
        children = tuple(top.children)
        if not top.flow:
            end = max((child.green.end for child in children[-2:]), default=top.start)
        style: Style = "flow" if top.flow else "block"
        if top.kind == "mapping":
            if len(children) > 2:
                self._check_duplicates(children)
            self._add(Green("mapping", top.start, end, style, "", top.tag, top.anchor, children))
        else:
            self._add(Green("sequence", top.start, end, style, "", top.tag, top.anchor, children))

    def _scalar(self, event: _Event) -> None:
        start, end = event.start_mark.index, event.end_mark.index
        anchor, tag, style, value = event.anchor, event.tag, event.style, event.value
        if anchor is not None or tag is not None:
            start = self._behind_properties(start, end, anchor)
        if style in {"|", ">"}:
            end = _end_of_block_scalar(self.text, start, end)
        elif start == end and not value and not style:
            start = end = self._place_of_empty(start)
        self._add(Green("scalar", start, end, _STYLES.get(style, "plain"), restore(value), tag, anchor))

    def _place_of_empty(self, at: int) -> int:
        """Return where an empty value would be typed: a blank behind its colon or dash, when there is one."""
        text = self.text
        mark = at
        while mark and text[mark - 1] in " \t\r\n":
            mark -= 1
        if mark and text[mark - 1] in ":-?":
            return mark + text.startswith(" ", mark)
        siblings = self.stack[-1].children if self.stack else ()
        return min(at, siblings[-1].green.end) if siblings and self.stack[-1].kind == "mapping" else at

    def _behind_properties(self, start: int, end: int, anchor: str | None) -> int:
        if anchor is not None:
            self.reading.anchors.append(anchor)
        match = _PROPERTIES.match(self.text, start)
        return min(match.end(), end) if match else start

    def _check_duplicates(self, children: tuple[Placed, ...]) -> None:
        keys = [child.green for child in children[::2]]
        if len({key.value for key in keys}) < len(keys):
            self.reading.duplicates.extend(duplicate_keys(Placed(key) for key in keys))


def duplicate_keys(keys: Iterator[Placed]) -> Iterator[SyntaxFault]:
    """Yield a fault for each key that stood in the mapping before; the merge key may repeat."""
    first: dict[str, Span] = {}
    for placed in keys:
        key = placed.green
        if key.kind != "scalar" or key.value == "<<":
            continue
        span = Span(key.start + placed.offset, key.end + placed.offset)
        before = first.setdefault(key.value, span)
        if before is not span:
            message = f"`{key.value}` is set twice in this mapping; keep one of the two."
            related = (Related(before, f"`{key.value}` is set here first."),)
            yield SyntaxFault(span, message, "duplicate-key", related)


def _end_of_block_scalar(text: str, start: int, end: int) -> int:
    """Return the end of the last line that is not blank."""
    last = start + len(text[start:end].rstrip())
    while last < end and text[last] not in "\r\n":
        last += 1
    return last
