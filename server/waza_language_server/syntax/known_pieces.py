"""Parse results of earlier versions, reused where the text is the same."""

from __future__ import annotations

from collections.abc import Iterable

from waza_language_server.syntax.piece import Piece
from waza_language_server.syntax.pieces import Section


class Known:
    """Sections and list items that were parsed before, by their text."""

    def __init__(self) -> None:
        self.sections: dict[str, Section] = {}
        self._items: dict[str, Piece] = {}
        self._to_add: list[Section] = []

    @property
    def items(self) -> dict[str, Piece]:
        """Return the list items, of which there may be thousands: collected when a list is cut again."""
        for section in self._to_add:
            self._items.update((item.text, item) for item in section.items)
        self._to_add.clear()
        return self._items

    def add(self, sections: Iterable[Section]) -> None:
        """Add the sections of a text."""
        for section in sections:
            self.sections[section.text] = section
            self._to_add.append(section)
