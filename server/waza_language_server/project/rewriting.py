"""Edits that replace mentioned values, each written in the style of its author."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import PurePath
from typing import TYPE_CHECKING

from waza_engine.checkpoint import checkpoint
from waza_language_server.project.document import reader_of
from waza_language_server.project.skills import written_name
from waza_language_server.syntax.scalar_map import ScalarMap
from waza_language_server.syntax.tree import Tree

if TYPE_CHECKING:
    from waza_language_server.project.document import Document
    from waza_language_server.project.mentions import Mention
    from waza_language_server.project.workspace import Workspace
    from waza_language_server.text.workspace_edit import FileLocation


def rewritten(
    workspace: Workspace, changes: Iterable[tuple[FileLocation, Mention, str]]
) -> list[tuple[FileLocation, str]]:
    """Return the scalars of mentions and what to write there for other values; each file is parsed once."""
    opened = {document.uri: document for document in workspace.project.documents.values()}
    trees: dict[str, Tree] = {}
    found: list[tuple[FileLocation, str]] = []
    for place, mention, value in changes:
        checkpoint()
        if mention.kind == "anchor":
            found.append((place, value))
            continue
        node = written_name(place.text) if mention.kind == "skill" and mention.defines else None
        if node is None:
            if place.uri not in trees:
                trees[place.uri] = _tree(place, opened.get(place.uri))
            root = trees[place.uri].root
            node = root.at(mention.whole.start) if root is not None else None
        # A file may have changed since it was read.
        if node is not None and node.span == mention.whole:
            found.append((replace(place, span=mention.whole), ScalarMap.of(place.text, node).write(value)))
    return found


def _tree(place: FileLocation, document: Document | None) -> Tree:
    if document is None or document.text is not place.text:
        return reader_of(PurePath(place.uri))(place.text, None)
    return document.tree


class RenameError(ValueError):
    """The symbol under the cursor cannot get this name; the text says why."""
