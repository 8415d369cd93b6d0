"""A snapshot of a document at one version: the text and values derived from it, each computed once.

Architecture invariant: a snapshot is never changed. An edit makes a new one that shares the unchanged
parts.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field
from functools import cached_property
from typing import Literal

from waza_engine.frozen import frozen
from waza_engine.steps import Steps, finished
from waza_language_server.project.front_matter import front_matter
from waza_language_server.syntax.tree import Tree, parse_in_steps
from waza_language_server.text.common_ends import difference
from waza_language_server.text.line_index import LineIndex

DocumentKind = Literal["eval", "task", "trigger_tests", "project_config", "skill"]


@frozen(eq=False, slots=False)
class Document:
    """One version of one file. ``version`` is the editor's number, 0 for a file read from disk."""

    uri: str
    version: int
    text: str
    kind: DocumentKind
    _previous: list[Tree] = field(default_factory=list[Tree], repr=False)
    _lines_before: list[LineIndex] = field(default_factory=list[LineIndex], repr=False)
    _reading: list[Steps[Tree]] = field(default_factory=list[Steps[Tree]], repr=False)
    """The reading that was begun."""
    _text_before: list[str] = field(default_factory=list[str], repr=False)
    _not_said: set[str] = field(default_factory=set[str], repr=False)
    """Words that the text, or the one before it, does not have."""

    @cached_property
    def lines(self) -> LineIndex:
        """The lines of the text; those outside of an edit come from the version before."""
        lines = LineIndex(self.text, self._lines_before[0] if self._lines_before else None)
        self._lines_before.clear()
        return lines

    @cached_property
    def tree(self) -> Tree:
        """The tree of the text; of a ``SKILL.md`` that of its front matter, up to the line that closes it.

        It shares every list item with the version before that the edit left alone. A reading that was begun
        is brought to its end.
        """
        tree = finished(self._read())
        self._forget()
        return tree

    def says(self, word: str) -> bool:
        """Return whether the text has a word; if it was not there before, search only the edited part."""
        if self._text_before:
            start, _, end = difference(self._text_before.pop(), self.text)
            for known in tuple(self._not_said):
                if known in self.text[max(start - len(known), 0) : end + len(known)]:
                    self._not_said.discard(known)
        if word not in self._not_said and word not in self.text:
            self._not_said.add(word)
        return word not in self._not_said

    def reads(self, offset: int) -> bool:
        """Return whether an offset is in the parsed part: for a ``SKILL.md`` that is the front matter."""
        return self.kind != "skill" or offset <= len(self.tree.text)

    def read_in_steps(self) -> Iterator[None]:
        """Parse the tree with pauses; a call of ``tree`` meanwhile finishes the work."""
        reading = self._read()
        while "tree" not in self.__dict__:
            try:
                next(reading)
            except StopIteration as end:
                self.__dict__["tree"] = end.value
                self._forget()
                return
            yield

    def begun_with(self, tree: Tree) -> Document:
        """Return the beginning of the document, of which the tree was read; the whole reads it no more."""
        if not self._previous and not self._reading and "tree" not in self.__dict__:
            self._previous.append(tree)
        first = Document(self.uri, self.version, tree.text, self.kind)
        first.__dict__["tree"] = tree
        return first

    def _read(self) -> Steps[Tree]:
        if not self._reading:
            text = self.text if self.kind != "skill" else front_matter(self.text).text
            self._reading.append(parse_in_steps(text, self._previous[0] if self._previous else None))
        return self._reading[0]

    def _forget(self) -> None:
        """Let go of the version before, which is needed no more."""
        self._previous.clear()
        self._reading.clear()

    def replaced(self, text: str, version: int) -> Document:
        """Return the snapshot after an edit. Nothing is parsed before the tree is requested."""
        known = self.__dict__.get("tree")
        previous = [known] if isinstance(known, Tree) else list(self._previous)
        lines = self.__dict__.get("lines")
        lines_before = [lines] if isinstance(lines, LineIndex) else list(self._lines_before)
        if self._text_before or not self._not_said:
            return Document(self.uri, version, text, self.kind, previous, lines_before)
        not_said = set(self._not_said)
        return Document(self.uri, version, text, self.kind, previous, lines_before, [], [self.text], not_said)
