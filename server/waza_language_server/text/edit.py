"""Edits of a text, and locations in it, as the parser and the rules offer them to an author."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import field

from waza_engine.frozen import frozen
from waza_language_server.text.span import Span


@frozen()
class Edit:
    """Replace the characters of ``span`` with ``text``."""

    span: Span
    text: str

    def shifted(self, by: int) -> Edit:
        """Return the same edit ``by`` characters further on."""
        return Edit(self.span.shifted(by), self.text)


Edits = tuple[Edit, ...]


def composed(text: str, rounds: Iterable[Edits]) -> Edits:
    """Return the edits of a text that have the same effect at once as these, applied one after another."""
    pieces: list[Span | str] = [Span(0, len(text))]
    for edits in rounds:
        pieces = [*_after(pieces, sorted(edits, key=lambda edit: edit.span))]
    found: list[Edit] = []
    at, new = 0, ""
    for piece in (*pieces, Span(len(text), len(text))):
        if isinstance(piece, str):
            new += piece
            continue
        if new or piece.start > at:
            found.append(Edit(Span(at, piece.start), new))
        at, new = piece.end, ""
    return tuple(found)


def _after(pieces: Iterable[Span | str], edits: Iterable[Edit]) -> Iterator[Span | str]:
    """Yield the old and new pieces of a text after edits that do not overlap."""
    left = list(pieces)[::-1]
    at = 0

    def taken(until: int) -> Iterator[Span | str]:
        nonlocal at
        while left and at < until:
            piece = left.pop()
            size = len(piece)
            if at + size > until:
                cut = until - at
                rest = piece[cut:] if isinstance(piece, str) else Span(piece.start + cut, piece.end)
                piece = piece[:cut] if isinstance(piece, str) else Span(piece.start, piece.start + cut)
                left.append(rest)
            at += len(piece)
            yield piece

    for edit in edits:
        yield from taken(edit.span.start)
        yield edit.text
        for _ in taken(edit.span.end):
            pass
    yield from reversed(left)


@frozen()
class FileCreation:
    """A new file, which must not exist yet."""

    uri: str
    text: str


@frozen()
class Fix:
    """One way to repair a problem, worded for a menu. ``preferred`` marks the only safe choice.

    ``repair`` is the edits, or a function that creates them: validating an edit costs a parse, and few
    fixes of a long file are ever shown. ``offset`` is added to every edit. ``reveals`` means
    that the repair lets the rules check the edited part for the first time. One that ``creates`` a file has
    no edits.
    """

    title: str
    repair: Edits | Callable[[], Edits] = field(compare=False)
    preferred: bool = False
    offset: int = 0
    reveals: bool = False
    creates: FileCreation | None = None
    _made: list[Edits] = field(default_factory=list[Edits], init=False, compare=False, repr=False)

    @property
    def edits(self) -> Edits:
        """Return the edits; if they are empty, the fix is not possible in this text: do not offer it."""
        if not self._made:
            edits = self.repair() if callable(self.repair) else self.repair
            self._made.append(tuple(edit.shifted(self.offset) for edit in edits) if self.offset else edits)
        return self._made[-1]

    def shifted(self, by: int) -> Fix:
        """Return the same fix ``by`` characters further on."""
        return Fix(self.title, self.repair, self.preferred, self.offset + by, self.reveals, self.creates)


@frozen()
class Related:
    """Another location that belongs to the problem. ``uri`` is None for the same document."""

    span: Span
    message: str
    uri: str | None = None

    def shifted(self, by: int) -> Related:
        """Return the same location ``by`` characters further on, unless it is in another document."""
        return self if self.uri is not None else Related(self.span.shifted(by), self.message)
