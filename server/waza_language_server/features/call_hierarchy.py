"""Who uses a grader, a task or a skill, and whom it uses: the names between the parts of suites as calls.

A part is a grader, a task, a suite file without a name of its own, or a skill. What names another part calls
it; a name outside of all graders and inline tasks belongs to the file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from waza_engine.frozen import frozen
from waza_language_server.project.claim import YAML_SUFFIXES
from waza_language_server.project.document import Document
from waza_language_server.project.named_paths import PathsIn
from waza_language_server.project.naming_places import mentions_in
from waza_language_server.project.references import definitions, references, symbol_at
from waza_language_server.project.suite_file import GraderEntry, SuiteFile, word
from waza_language_server.project.suite_files import SuiteSource
from waza_language_server.project.uris import path_of, uri_of
from waza_language_server.text.span import Span
from waza_language_server.text.workspace_edit import FilePlace

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from waza_engine.steps import Steps
    from waza_language_server.project.workspace import Workspace
    from waza_language_server.syntax.nodes import Node

PartKind = Literal["grader", "task", "skill", "file"]
_PARTS = frozenset({"grader", "task", "skill"})


@frozen()
class Part:
    """A part of a suite: ``whole`` are the characters that it takes in ``text``, ``name_span`` its name."""

    kind: PartKind
    name: str
    uri: str
    text: str
    whole: Span
    name_span: Span


@frozen()
class Call:
    """A part at the other end, and where the part that calls names the other one."""

    part: Part
    places: tuple[FilePlace, ...]


def part_at(document: Document, workspace: Workspace, offset: int) -> Steps[tuple[Part, ...]]:
    """Return the parts that are named at an offset, wherever they are defined."""
    symbol = symbol_at(document, workspace, offset)
    if symbol is None or symbol.kind not in _PARTS:
        return ()
    found: list[Part] = []
    for place in (yield from definitions(workspace, symbol)):
        yield
        defining = document_of(workspace, place.uri)
        if defining is not None:
            found.append(_part(defining, place.span.start, symbol.name))
        elif place.text:
            found.append(Part("skill", symbol.name, place.uri, place.text, place.span, place.span))
    return tuple(found)


def incoming(document: Document, workspace: Workspace, offset: int) -> Steps[tuple[Call, ...]]:
    """Return the parts that name the part that is defined at an offset."""
    symbol = symbol_at(document, workspace, offset)
    if symbol is None or symbol.kind not in _PARTS:
        return ()
    found: dict[Part, list[FilePlace]] = {}
    for each in (yield from references(workspace, symbol)):
        yield
        using = None if each.defines else document_of(workspace, each.place.uri)
        if using is not None:
            found.setdefault(_part(using, each.place.span.start), []).append(each.place)
    return tuple(Call(part, tuple(places)) for part, places in found.items())


def outgoing(document: Document, workspace: Workspace, offset: int) -> Steps[tuple[Call, ...]]:
    """Return the parts that the part which is defined at an offset names, tasks by their paths and globs."""
    own = _part(document, offset)
    source = SuiteSource.of(document)
    found: dict[Part, list[FilePlace]] = {}
    for each in mentions_in(workspace, source):
        yield
        if each is None or each.defines or not own.whole.contains(each.span.start):
            continue
        names_tasks = each.kind == "file" and document.kind == "eval"
        if not (names_tasks or each.kind in _PARTS) or _part(document, each.span.start) != own:
            continue
        if names_tasks:
            parts = yield from _tasks(workspace, PathsIn(workspace.project, source).files(each))
        else:
            parts = yield from part_at(document, workspace, each.span.start)
        place = FilePlace(document.uri, document.text, each.span)
        for part in parts:
            found.setdefault(part, []).append(place)
    return tuple(Call(part, tuple(places)) for part, places in found.items())


def _tasks(workspace: Workspace, paths: Iterable[Path]) -> Steps[tuple[Part, ...]]:
    """Return those of files that are tasks."""
    found: list[Part] = []
    for path in paths:
        yield
        file = document_of(workspace, uri_of(path)) if path.suffix in YAML_SUFFIXES else None
        if file is not None and file.kind == "task":
            yield from file.read_in_steps()
            found.append(_part(file, 0))
    return tuple(found)


def document_of(workspace: Workspace, uri: str) -> Document | None:
    """Return the snapshot of a suite file, open or not; None when it is none of ours."""
    path, project = path_of(uri), workspace.project
    if path is None:
        return next((each for each in project.documents.values() if each.uri == uri), None)
    opened = project.documents.get(path)
    if opened is not None:
        return opened
    text = project.text(path)
    kind = project.claim(path, text.value) if text.known else None
    return Document(uri, 0, text.value, kind) if kind is not None else None


def _part(document: Document, offset: int, name: str = "") -> Part:
    """Return the grader or inline task around an offset, else the file."""
    root = document.tree.root
    owner = SuiteFile(document.tree).owner_of(offset) if root is not None else None
    if owner is not None:
        kind = "grader" if isinstance(owner, GraderEntry) else "task"
        label = owner.name or owner.type if isinstance(owner, GraderEntry) else owner.id
        named = _scalar(owner.node, "name" if kind == "grader" else "id") or owner.item.span
        return Part(kind, label, document.uri, document.text, owner.item.span, named)
    whole = Span(0, len(document.text))
    kind = document.kind if document.kind in ("task", "skill") else "file"
    key = "id" if document.kind == "task" else "name"
    written = root.get(key) if root is not None else None
    named = _scalar(root, key) if root is not None else None
    path = path_of(document.uri)
    label = word(written) or name or (path.name if path is not None else document.uri)
    return Part(kind, label, document.uri, document.text, whole, named or Span(0, 0))


def _scalar(node: Node, key: str) -> Span | None:
    found = node.get(key)
    return found.target.span if found is not None and found.target.kind == "scalar" else None
