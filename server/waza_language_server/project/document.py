"""A document as it stands at one version: the text and what is derived from it, each computed once.

Architecture invariant: a snapshot is never changed. An edit makes a new one that shares what the edit left
alone.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from waza_language_server.syntax.tree import Tree, parse
from waza_language_server.text.line_index import LineIndex

DocumentKind = Literal["eval", "task", "trigger_tests", "project_config"]


@dataclass(frozen=True, eq=False)
class Document:
    """One version of one file. ``version`` is the editor's number, 0 for a file read from disk."""

    uri: str
    version: int
    text: str
    kind: DocumentKind
    _previous: list[Tree] = field(default_factory=list[Tree], repr=False)

    @cached_property
    def lines(self) -> LineIndex:
        """The lines of the text."""
        return LineIndex(self.text)

    @cached_property
    def tree(self) -> Tree:
        """The tree of the text.

        It shares every list item with the version before that the edit left alone.
        """
        previous = self._previous.pop() if self._previous else None
        return parse(self.text, previous)

    def replaced(self, text: str, version: int) -> Document:
        """Return the snapshot after an edit. Nothing is parsed before somebody asks for the tree."""
        known = self.__dict__.get("tree")
        previous = [known] if isinstance(known, Tree) else list(self._previous)
        return Document(self.uri, version, text, self.kind, previous)
