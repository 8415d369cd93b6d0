"""Locations where suite files name something: each file is read once, and only if it can contain the name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from waza_engine.checkpoint import checkpoint
from waza_engine.frozen import frozen
from waza_language_server.project.disk import stamp_of
from waza_language_server.project.mentions import Mention, SymbolKind, mentions
from waza_language_server.project.named_paths import PathsIn
from waza_language_server.project.suite_files import SuiteSource
from waza_language_server.text.workspace_edit import FileLocation

if TYPE_CHECKING:
    from waza_language_server.project.workspace import Workspace
    from waza_language_server.syntax.tree import Tree


@frozen()
class Reference:
    """One reference to a symbol. ``written`` says whether it contains its name: a path does not."""

    place: FileLocation
    mention: Mention
    written: bool = True

    @property
    def defines(self) -> bool:
        """Return whether the symbol is defined here."""
        return self.mention.defines


def mentions_in(workspace: Workspace, file: SuiteSource, *words: str) -> Iterator[Mention]:
    """Yield everything that a file names.

    A file that contains none of the words is not parsed.
    """
    known = _known(workspace, file)
    if known is not None:
        yield from known
        return
    if words and not any(_may_say(workspace, file, word) for word in words):
        return
    path = file.path if file.document is None else None
    stamp = stamp_of(path) if path is not None else None
    tree = _tree(workspace, file)
    found: list[Mention] = []
    for mention in mentions(file, tree, workspace.catalog):
        yield mention
        found.append(mention)
    if path is not None and isinstance(stamp, tuple) and tree.text:
        workspace.known.keep(path, file.kind, stamp, tuple(found))


def location_of(workspace: Workspace, file: SuiteSource, mention: Mention) -> FileLocation:
    """Return the location of a mention."""
    return FileLocation(file.uri, _text(workspace, file), mention.span)


def named(workspace: Workspace, files: Iterable[SuiteSource], kind: SymbolKind, name: str) -> list[Reference]:
    """Return where files say a name of one kind."""
    found: list[Reference] = []
    for file in files:
        checkpoint()
        found += [
            Reference(location_of(workspace, file, each), each)
            for each in mentions_in(workspace, file, name)
            if each.kind == kind and each.name == name
        ]
    return found


def naming_file(workspace: Workspace, files: Iterable[SuiteSource], path: Path) -> list[Reference]:
    """Return the paths and globs that mean a file."""
    found: list[Reference] = []
    for file in files:
        checkpoint()
        paths = PathsIn(workspace.project, file)
        for each in mentions_in(workspace, file):
            checkpoint()
            if each.kind == "file" and path in paths.files(each):
                found.append(Reference(location_of(workspace, file, each), each, written=False))
    return found


def may_name(workspace: Workspace, file: SuiteSource, name: str) -> bool:
    """Return whether a file may say a name, as far as that is known without parsing it."""
    known = _known(workspace, file)
    return any(each.name == name for each in known) if known is not None else _may_say(workspace, file, name)


def _known(workspace: Workspace, file: SuiteSource) -> tuple[Mention, ...] | None:
    """Return the cached mentions of a closed file, without reading it."""
    if file.document is not None or file.path is None:
        return None
    return workspace.known.of(file.path, file.kind)


def _tree(workspace: Workspace, file: SuiteSource) -> Tree:
    if file.document is None:
        is_json = file.path is not None and file.path.suffix == ".json"
        disk = workspace.project.disk
        return disk.tree(file.path) if is_json and file.path else disk.parsed(_text(workspace, file))
    return file.document.tree


def _may_say(workspace: Workspace, file: SuiteSource, word: str) -> bool:
    text = _text(workspace, file)
    # A backslash may hide a word, a quote be doubled, a blank be a line break.
    return "\\" in text or all(part in text for part in word.replace("'", " ").split())


def _text(workspace: Workspace, file: SuiteSource) -> str:
    if file.document is not None:
        return file.document.text
    return workspace.known.text(file.path, workspace.project.disk) if file.path is not None else ""
