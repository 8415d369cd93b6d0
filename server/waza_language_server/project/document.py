"""A snapshot of a document at one version: the text and values derived from it, each computed once.

Architecture invariant: a snapshot is never changed. An edit makes a new one that shares the unchanged
parts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from functools import cached_property
from pathlib import PurePath
from typing import Literal

from waza_engine.frozen import frozen
from waza_engine.spec.harness_files import ROW_SUFFIXES
from waza_language_server.project.front_matter import front_matter
from waza_language_server.schema.catalog import LINE_KINDS
from waza_language_server.syntax.json_lines import parse_json_lines
from waza_language_server.syntax.json_tree import parse_json
from waza_language_server.syntax.tree import Reader, Tree, parse
from waza_language_server.text.line_index import LineIndex

DocumentKind = Literal[
    "eval",
    "task",
    "trigger_tests",
    "project_config",
    "skill",
    "evals_json",
    "trigger_list",
    "vally_eval",
    "vally_project",
    "prompts",
    "captures",
    "trials",
    "adapter",
]
SUITES: frozenset[DocumentKind] = frozenset({"eval", "evals_json", "trigger_list", "vally_eval"})
"""The kinds of files that a run takes as a suite."""
_READERS: Mapping[DocumentKind, Reader] = {
    **dict.fromkeys(("evals_json", "trigger_list", "adapter"), parse_json),
    **dict.fromkeys(LINE_KINDS, parse_json_lines),
}
"""The readers of the kinds that are not YAML."""


def reader_of(path: PurePath) -> Reader:
    """Return the reader of a file of a suite that is not open, by its name."""
    suffix = path.suffix.lower()
    if suffix in ROW_SUFFIXES:
        return parse_json_lines
    return parse_json if suffix == ".json" else parse


@frozen(eq=False, slots=False)
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
        """The tree of the text; of a ``SKILL.md`` that of its front matter, up to the line that closes it.

        It shares every list item with the version before that the edit left alone.
        """
        text = self.text if self.kind != "skill" else front_matter(self.text).text
        reader = _READERS.get(self.kind, parse)
        tree = reader(text, self._previous[0] if self._previous else None)
        # An answer at a checkpoint may have parsed it as well: there is one tree, which others may know.
        known = self.__dict__.get("tree")
        if isinstance(known, Tree):
            return known
        # The version before is needed no more.
        self._previous.clear()
        return tree

    def reads(self, offset: int) -> bool:
        """Return whether an offset is in the parsed part: for a ``SKILL.md`` that is the front matter."""
        return self.kind != "skill" or offset <= len(self.tree.text)

    def replaced(self, text: str, version: int) -> Document:
        """Return the snapshot after an edit. Nothing is parsed before the tree is requested."""
        known = self.__dict__.get("tree")
        previous = [known] if isinstance(known, Tree) else list(self._previous)
        return Document(self.uri, version, text, self.kind, previous)
