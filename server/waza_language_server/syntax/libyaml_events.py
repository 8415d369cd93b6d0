"""Strict parsing of a piece of YAML: the events of libyaml become green nodes with exact spans.

libyaml counts trailing whitespace and comments into a block collection and empty lines into a block scalar;
here a node ends with its last character. Empty values get an empty span at the place where one would type
them.

Architecture invariant: nothing here recurses and no alias is expanded, so neither ``[[[[…`` nor an anchor
bomb costs more than its own characters.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import ClassVar, Literal

import yaml

from waza_engine.checkpoint import checkpoint
from waza_engine.frozen import frozen
from waza_engine.later_patterns import compiled_later
from waza_engine.spec.reading.scalars import MERGE_KEY
from waza_engine.spec.reading.yaml_faults import MAX_DEPTH, Event, duplicate_key, events_of, sentence
from waza_language_server.syntax.characters import restore
from waza_language_server.syntax.fault import SyntaxFault
from waza_language_server.syntax.green import Green, Kind, Placed, Style, names_of
from waza_language_server.text.edit import Related
from waza_language_server.text.span import Span

EVENTS_PER_CHECKPOINT = 250
"""About a millisecond."""

_CHARACTERS_PER_UNIT = 500
_MOST_DUPLICATES = 500
"""The most duplicate keys reported for one mapping: at least as many as faults of a document."""
_PROPERTIES = compiled_later(r"(?:[&!][^\s,\[\]{}]*\s*(?:#[^\r\n]*\s*)*)+")
_BLOCK_STYLES = frozenset("|>")
_STYLES: dict[str | None, Style] = {'"': "double", "'": "single", "|": "literal", ">": "folded"}


@frozen()
class ReadError:
    """Where and why strict parsing stopped, in libyaml's terms: for choosing a message, never shown."""

    problem: str
    at: int
    context_at: int | None
    at_end: bool
    """True if the text ended too early: more text could complete it."""


@dataclass(slots=True)
class Notes:
    """Information about a text apart from its nodes."""

    anchors: dict[str, None] = field(default_factory=dict[str, None])
    aliases: list[tuple[str, int, int]] = field(default_factory=list[tuple[str, int, int]])
    """Aliases without an anchor before them in this text: name, start and end."""
    duplicates: list[SyntaxFault] = field(default_factory=list[SyntaxFault])


@dataclass(slots=True)
class Reading(Notes):
    """The result of strict parsing. With an error, ``root`` holds the part before it."""

    root: Green | None = None
    error: ReadError | None = None
    work: int = 0
    """The cost, in units of about 20 microseconds: events, and one for every 500 characters."""


@dataclass(slots=True)
class Part:
    """A pair of a mapping, or an item of a list, with offsets from its own start."""

    children: Sequence[Placed]
    notes: Notes


def read(text: str) -> Reading:
    """Parse one document. The text must be free of characters that YAML forbids (see ``characters``)."""
    reading = Reading()
    builder = Builder(text, reading)
    try:
        for event in events_of(text):
            reading.work += 1
            builder.take(event)
            if not reading.work % EVENTS_PER_CHECKPOINT:
                checkpoint()
    except _TooDeepError as error:
        reading.error = ReadError("too deep", error.at, None, at_end=False)
    except yaml.MarkedYAMLError as error:
        reading.error = _read_error(error, len(text))
    except (yaml.YAMLError, UnicodeError):
        reading.error = ReadError("unreadable", 0, None, at_end=False)
    if reading.error is not None:
        builder.close_all(reading.error.at)
    reading.root = builder.root
    reading.work += 2 + (reading.error.at if reading.error else len(text)) // _CHARACTERS_PER_UNIT
    return reading


def read_parts(text: str, cuts: Sequence[int], kind: Literal["mapping", "sequence"]) -> list[Part]:
    """Parse the pairs or items ``text[cuts[i]:cuts[i + 1]]`` together, with the same checkpoints.

    Each has the same result as if ``read`` parsed it on its own, at a third of the cost. Return those before
    the first that is not exactly one pair or item of a block, or that cannot be parsed.
    """
    builder = Builder(text, Notes())
    parts: list[Part] = []
    begun, count = 0, 0
    stack, takers = builder.stack, builder.takers
    try:
        for event in events_of(text):
            if not stack:
                if not _belongs_outside(event, kind, first=not begun):
                    return parts
            elif len(stack) == 1 and builder.begins_part(event, kind):
                start = event.start_mark.index
                if not begun < len(cuts) - 1 or not cuts[begun] <= start < cuts[begun + 1]:
                    return parts
                if kind == "mapping" and start != cuts[begun]:
                    return parts
                if begun:
                    parts.append(builder.cut(cuts[begun]))
                begun += 1
            taker = takers.get(event.__class__)
            if taker is not None:
                taker(builder, event)
            count += 1
            if not count % EVENTS_PER_CHECKPOINT:
                checkpoint()
    except (yaml.YAMLError, UnicodeError, _TooDeepError):
        return parts
    if builder.root is not None and begun == len(cuts) - 1:
        parts.append(Part(builder.root.children, builder.notes))
    return parts


class _TooDeepError(Exception):
    """Collections nest deeper than ``MAX_DEPTH``; ``at`` is where."""

    def __init__(self, at: int) -> None:
        super().__init__(at)
        self.at = at


def _belongs_outside(event: Event, kind: str, *, first: bool) -> bool:
    """Return whether an event may occur around the pairs or items of one block without properties."""
    if not isinstance(event, yaml.NodeEvent):
        return first or not isinstance(event, yaml.DocumentStartEvent)
    wanted = yaml.MappingStartEvent if kind == "mapping" else yaml.SequenceStartEvent
    return first and isinstance(event, wanted) and not (event.flow_style or event.anchor or event.tag)


def _read_error(error: yaml.MarkedYAMLError, length: int) -> ReadError:
    at = error.problem_mark.index if error.problem_mark is not None else 0
    context = error.context_mark.index if error.context_mark is not None else None
    return ReadError(error.problem or "", min(at, length), context, at_end=at >= length)


@dataclass(slots=True)
class _Open:
    """An open collection."""

    kind: Kind
    start: int
    flow: bool
    tag: str | None
    anchor: str | None
    children: list[Placed]
    aliases: int
    """The number of aliases before it."""


class Builder:
    """Turns events into green nodes, one by one. Their spans are relative to ``base``."""

    def __init__(self, text: str, notes: Notes) -> None:
        self.text = text
        self.notes = notes
        self.base = 0
        self.root: Green | None = None
        self.stack: list[_Open] = []
        self.aliases = 0

    def take(self, event: Event) -> None:
        """Add one event; raises if it nests too deeply."""
        taker = self.takers.get(event.__class__)
        if taker is not None:
            taker(self, event)

    def begins_part(self, event: Event, kind: str) -> bool:
        """Return whether an event is the first of a pair or an item of the outermost collection."""
        return isinstance(event, yaml.NodeEvent) and (
            kind == "sequence" or not len(self.stack[0].children) % 2
        )

    def cut(self, at: int) -> Part:
        """Return the outermost collection's content and start again; later spans count from ``at``."""
        part = Part(tuple(self.stack[0].children), self.notes)
        self.stack[0].children = []
        self.notes = Notes({}, [], [])
        self.base = at
        return part

    def close_all(self, at: int) -> None:
        """Close open nodes when parsing stopped at an offset, as if each ended with its current content.

        Brackets extend as far as they were parsed, as their missing part may be after that.
        """
        while self.stack:
            top = self.stack[-1]
            if top.kind == "mapping" and len(top.children) % 2:
                key = top.children[-1].green
                colon = re.compile(r"[ \t]*:[ ]?").match(self.text, key.end)
                end = colon.end() if colon else key.end
                top.children.append(Placed(Green("scalar", end, end)))
            end = top.children[-1].green.end if top.children else top.start + top.flow
            self._close(max(end, at) if top.flow else end)

    def _add(self, green: Green) -> None:
        if self.stack:
            self.stack[-1].children.append(Placed(green))
        elif self.root is None:
            self.root = green

    def _alias(self, event: Event) -> None:
        start, end = event.start_mark.index - self.base, event.end_mark.index - self.base
        self.aliases += 1
        name = event.anchor or ""
        if name not in self.notes.anchors:
            self.notes.aliases.append((name, start, end))
        self._add(Green("alias", start, end, "plain", name))

    def _open(self, event: Event, kind: Kind) -> None:
        start = event.start_mark.index
        if len(self.stack) >= MAX_DEPTH:
            raise _TooDeepError(start)
        anchor, tag = event.anchor, event.tag
        if anchor is not None or tag is not None:
            start = self._after_properties(start, event.end_mark.index, anchor)
        # Passing a list is much faster than letting the class create one.
        flow = bool(event.flow_style)
        self.stack.append(_Open(kind, start - self.base, flow, tag, anchor, [], self.aliases))

    def _close(self, end: int) -> None:
        top = self.stack.pop()
        children = tuple(top.children)
        if not top.flow:
            end = children[-1].green.end if children else top.start
            if len(children) > 1:
                end = max(end, children[-2].green.end)
        names = None
        if top.kind == "mapping":
            names = names_of(children)
            if names is None or len(set(names)) < len(names):
                self._check_duplicates(children)
        style: Style = "flow" if top.flow else "block"
        aliased = self.aliases > top.aliases
        self._add(Green(top.kind, top.start, end, style, "", top.tag, top.anchor, children, names, aliased))

    def _scalar(self, event: Event) -> None:
        start, end = event.start_mark.index, event.end_mark.index
        anchor, tag, style, value = event.anchor, event.tag, event.style, event.value
        if not value.isascii():
            value = restore(value)
        if value == MERGE_KEY and style and self.stack and self.stack[-1].kind == "mapping":
            # A quoted `<<` is an ordinary key: with its quotes it is not read as a merge key.
            is_key = not len(self.stack[-1].children) % 2
            value = self.text[start:end] if is_key else value
        if anchor is not None or tag is not None:
            start = self._after_properties(start, end, anchor)
        if style in _BLOCK_STYLES:
            end = _end_of_block_scalar(self.text, start, end)
        elif start == end and not value and not style and anchor is None and tag is None:
            start = end = self._place_of_empty(start)
        base = self.base
        green = Green("scalar", start - base, end - base, _STYLES.get(style, "plain"), value, tag, anchor)
        if self.stack:
            self.stack[-1].children.append(Placed(green))
        else:
            self._add(green)

    def _place_of_empty(self, at: int) -> int:
        """Return where an empty value would be typed: a space after its colon or dash, if there is one."""
        text = self.text
        mark = at
        while mark and text[mark - 1] in " \t\r\n":
            mark -= 1
        if mark and text[mark - 1] in ":-?":
            return mark + text.startswith(" ", mark)
        siblings = self.stack[-1].children if self.stack else ()
        if not siblings or self.stack[-1].kind != "mapping":
            return at
        return min(at, siblings[-1].green.end + self.base)

    def _after_properties(self, start: int, end: int, anchor: str | None) -> int:
        if anchor is not None:
            self.notes.anchors[anchor] = None
        match = _PROPERTIES.match(self.text, start)
        return min(match.end(), end) if match else start

    def _check_duplicates(self, children: tuple[Placed, ...]) -> None:
        keys = children[::2]
        if len({key.green.value for key in keys}) < len(keys):
            self.notes.duplicates.extend(islice(duplicate_keys(keys), _MOST_DUPLICATES))

    # Unbound methods: bound ones would create a reference cycle that keeps the builder and its nodes alive.
    takers: ClassVar[dict[type, Callable[[Builder, Event], None]]] = {
        yaml.ScalarEvent: _scalar,
        yaml.MappingStartEvent: lambda builder, event: builder._open(event, "mapping"),
        yaml.SequenceStartEvent: lambda builder, event: builder._open(event, "sequence"),
        yaml.MappingEndEvent: lambda builder, event: builder._close(event.end_mark.index - builder.base),
        yaml.SequenceEndEvent: lambda builder, event: builder._close(event.end_mark.index - builder.base),
        yaml.AliasEvent: _alias,
    }


def duplicate_keys(keys: Iterable[Placed]) -> Iterator[SyntaxFault]:
    """Yield a fault for each key that occurs before in the mapping; the merge key may repeat."""
    first: dict[str, Placed] = {}
    for placed in keys:
        key = placed.green
        if key.kind != "scalar" or key.value == MERGE_KEY:
            continue
        before = first.setdefault(key.value, placed)
        if before is not placed:
            message = sentence(duplicate_key(key.value))
            related = (Related(_span(before), f"`{key.value}` is set here first."),)
            yield SyntaxFault(_span(placed), message, "duplicate-key", related)


def _span(placed: Placed) -> Span:
    return Span(placed.green.start + placed.offset, placed.green.end + placed.offset)


def _end_of_block_scalar(text: str, start: int, end: int) -> int:
    """Return the end of the last line that is not empty."""
    last = start + len(text[start:end].rstrip())
    while last < end and text[last] not in "\r\n":
        last += 1
    return last
