"""The tree of a document, in every state of its text.

``parse`` never fails: it returns a tree of everything that can be parsed and the faults of the rest. Given
the tree of the version before, it parses only the pieces whose text is new; every list item that the edit did
not touch keeps its green node, so that results can be cached by it.

Architecture invariant: a tree depends on its text alone. Parsing with ``previous`` gives the same tree as
without.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import field
from functools import cached_property
from itertools import islice
from typing import TypeAlias

from waza_engine.frozen import frozen
from waza_engine.spec.reading.yaml_faults import SECOND_DOCUMENT, sentence, unknown_anchor
from waza_language_server.syntax import characters
from waza_language_server.syntax.error_sentences import is_merge_mark
from waza_language_server.syntax.fault import STRUCTURAL_CODES, SyntaxFault
from waza_language_server.syntax.green import Green, Placed
from waza_language_server.syntax.layout import Known, Layout, lay_out
from waza_language_server.syntax.libyaml_events import duplicate_keys
from waza_language_server.syntax.nodes import Node
from waza_language_server.syntax.pieces import Piece
from waza_language_server.text.span import Span

__all__ = ["SyntaxFault", "Tree", "parse"]

MOST_FAULTS = 500
"""The most faults reported for one document, because each costs as much as a line."""


Reader: TypeAlias = "Callable[[str, Tree | None], Tree]"
"""Parses a text of one language; it may take over parts of the tree of an earlier version."""


@frozen(eq=False, slots=False)
class Tree:
    """The parse result of a text.

    ``root`` is None if there is nothing to parse (whitespace, comments, binary data).
    """

    text: str
    root: Node | None
    errors: tuple[SyntaxFault, ...]
    layout: Layout | None = field(default=None, repr=False)
    """How the text was cut; only used by the next parse."""
    guesses: tuple[Span, ...] = field(default=(), repr=False)
    """Unparsed text, in order and without overlaps: also of faults that are not reported."""
    read_again: Reader | None = field(default=None, repr=False)
    """The reader of the text's language; None for YAML, whose reader is ``parse``."""
    is_lines: bool = False
    """True for JSON Lines: the root is a list without brackets."""

    @cached_property
    def anchored(self) -> bool:
        """Return whether there is an anchor (``&name``): only then can a node be in two places."""
        return self.layout is not None and any(piece.anchors for _, piece in _noteworthy(self.layout))

    @property
    def is_json(self) -> bool:
        """Return whether the text is JSON, where every string and key has double quotes."""
        return self.read_again is not None

    def broken(self, node: Node) -> bool:
        """Return whether the node contains or touches unparsed text: nothing about it is certain."""
        if node.kind == "broken":
            return True
        if not self.guesses:
            return False
        span = node.span
        last = bisect_right(self.guesses, span.end, key=lambda guess: guess.start) - 1
        return last >= 0 and span.start <= self.guesses[last].end


def parse(text: str, previous: Tree | None = None) -> Tree:
    """Parse a text. ``previous`` is the tree of an earlier version of the same document, if there is one."""
    if previous is None:
        return _read(text, None)
    if previous.text == text:
        return previous
    if previous.read_again is not None:
        return previous.read_again(text, previous)
    # An edit is parsed where it is created and once more where the fix is validated.
    if not (_newest and _newest[-1][0] is previous and _newest[-1][1].text == text):
        tree = _read(text, previous)
        _newest.append((previous, tree))
    return _newest[-1][1]


_newest: deque[tuple[Tree, Tree]] = deque(maxlen=1)
"""The most recently parsed tree, after the one before it."""


def _read(text: str, previous: Tree | None) -> Tree:
    known = Known(previous.layout.sections if previous is not None and previous.layout is not None else ())
    if (unread := unreadable(text)) is not None:
        return unread
    start = 1 if text.startswith("\ufeff") else 0
    body, refused = text, ()
    if characters.has_refused(text[start:]):
        body = text[:start] + characters.stand_in(text[start:])
        refused = tuple(fault.shifted(start) for fault in characters.refused_faults(text[start:]))
    layout = lay_out(body, start, known)
    return _tree(text, layout, refused)


def unreadable(text: str, reader: Reader | None = None, advice: str = "") -> Tree | None:
    """Return a tree without nodes for a text that is too long or binary, None for any other text."""
    if len(text) > characters.MAX_CHARACTERS:
        longest = characters.MAX_CHARACTERS
        message = f"The file has more than {longest:,} characters, so it is not checked here{advice}."
    elif characters.is_binary(text):
        message = f"The file is not text; write it as {'YAML' if reader is None else 'JSON'} in UTF-8."
    else:
        return None
    fault = SyntaxFault(Span(0, min(1, len(text))), message, "not-text")
    return Tree(text, None, (fault,), read_again=reader)


def _tree(text: str, layout: Layout, refused: tuple[SyntaxFault, ...]) -> Tree:
    children, keys = _pairs(layout)
    faults = [*refused, *_faults(layout)]
    if len({key.green.value for key in keys}) < len(keys):
        faults += islice(duplicate_keys(keys), MOST_FAULTS)
    reported, guesses = _first_faults(text, faults)
    green = _root(layout, children)
    return Tree(text, Node(*green) if green else None, reported, layout, guesses)


def _first_faults(
    text: str, faults: Iterable[SyntaxFault]
) -> tuple[tuple[SyntaxFault, ...], tuple[Span, ...]]:
    """Return the first faults, and the spans of unparsed text: also of faults that are not reported."""
    ordered = sorted(faults, key=lambda fault: fault.span)
    unparsed = sorted(_unsure(text, fault.span) for fault in ordered if fault.code in STRUCTURAL_CODES)
    return tuple(ordered[:MOST_FAULTS]), merged(unparsed)


def merged(spans: Iterable[Span]) -> tuple[Span, ...]:
    """Return spans in order, those that touch as one."""
    joined: list[Span] = []
    for span in spans:
        if joined and span.start <= joined[-1].end:
            joined[-1] = Span(joined[-1].start, max(span.end, joined[-1].end))
        else:
            joined.append(span)
    return tuple(joined)


def _unsure(text: str, span: Span) -> Span:
    """Return the span of a fault; a conflict marker may cut the text before it in two."""
    start = span.start
    if is_merge_mark(text, start):
        while start and text[start - 1].isspace():
            start -= 1
    return Span(start, span.end)


def _pairs(layout: Layout) -> tuple[list[Placed], list[Placed]]:
    """Return the keys and values of all sections, in turn, and the keys of those without a fault."""
    children: list[Placed] = []
    keys: list[Placed] = []
    for start, section in zip(layout.starts, layout.sections, strict=True):
        placed = [Placed(child.green, child.offset + start) for child in section.children]
        children += placed
        if not section.head.faults:
            keys += placed[::2]
    return children, keys


def _root(layout: Layout, children: list[Placed]) -> tuple[Green, int] | None:
    whole = layout.whole
    if whole is not None:
        return (whole.root.green, whole.root.offset + layout.whole_start) if whole.root else None
    if not children:
        return None
    start = children[0].green.start + children[0].offset
    end = children[-1].green.end + children[-1].offset
    if layout.sections[-1].head.faults:
        end = max(end, layout.starts[-1] + layout.sections[-1].head.end)
    return Green("mapping", start, end, "block", children=tuple(children)), 0


def _faults(layout: Layout) -> Iterator[SyntaxFault]:
    if layout.second_document is not None:
        yield SyntaxFault(layout.second_document, sentence(SECOND_DOCUMENT), "several-documents")
    pieces = list(_noteworthy(layout))
    for start, piece in pieces:
        yield from (fault.shifted(start) for fault in piece.faults)
    yield from _unknown_anchors(pieces)


def _noteworthy(layout: Layout) -> Iterator[tuple[int, Piece]]:
    """Yield the pieces that have faults, anchors or aliases, with their offsets, in order."""
    if layout.whole is not None:
        yield layout.whole_start, layout.whole
    for start, section in zip(layout.starts, layout.sections, strict=True):
        for offset, piece in section.faulty:
            yield start + offset, piece


def _unknown_anchors(pieces: list[tuple[int, Piece]]) -> Iterator[SyntaxFault]:
    known: set[str] = set()
    for start, piece in pieces:
        for name, begin, end in piece.aliases:
            if name not in known:
                message = sentence(unknown_anchor(name))
                yield SyntaxFault(Span(begin, end).shifted(start), message, "unknown-anchor")
        known.update(piece.anchors)
