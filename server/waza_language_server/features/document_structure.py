"""The structure of a document: its symbols, the parts to fold or to select, and links to files."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping
from itertools import islice
from typing import TYPE_CHECKING, Literal

from waza_engine.checkpoint import checkpoint
from waza_engine.counting import counted
from waza_engine.frozen import frozen
from waza_engine.later_patterns import compiled_later
from waza_language_server.project.mentions import files_named
from waza_language_server.project.named_paths import PathsIn
from waza_language_server.project.skills_of_run import UnknownSkillsError, definition_in, skills_of_run
from waza_language_server.project.suite_files import SuiteSource
from waza_language_server.project.uris import path_of
from waza_language_server.syntax.nodes import value_at
from waza_language_server.text.span import Span

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from waza_language_server.project.document import Document
    from waza_language_server.project.index import Project
    from waza_language_server.project.workspace import Workspace
    from waza_language_server.syntax.nodes import Entry, Node
    from waza_language_server.text.line_index import LineIndex
    from waza_language_server.text.span import Span


SymbolWord = Literal["block", "list", "value", "grader", "task", "item"]
MOST_IN_DETAIL = 200
"""A list with more items is listed without the keys of its items and without plain values."""
_NAMES = ("name", "id", "prompt", "tool", "path", "type")
"""The first of these keys in an item of a list is its name."""
_ITEMS: Mapping[str, SymbolWord] = {"graders": "grader", "tasks": "task"}
_BLOCKS: Mapping[str, SymbolWord] = {"mapping": "block", "sequence": "list"}
_LONGEST = 60
_PASSED_OVER_AT_ONCE = 1_000


@frozen()
class OutlineSymbol:
    """A key, or an item of a list. ``whole`` is its full span, ``named`` the span to select."""

    name: str
    detail: str
    kind: SymbolWord
    whole: Span
    named: Span
    below: tuple[OutlineSymbol, ...] = ()


def outline(document: Document) -> tuple[OutlineSymbol, ...]:
    """Return the keys of a document, and below each its blocks and the items of its lists; or its lines.

    Plain values are listed at the top level only. The target of an alias is listed where it is written.
    """
    root = document.tree.root
    if document.tree.is_lines and root is not None:
        return _below(root, "tasks" if document.kind == "prompts" else "")
    found: list[OutlineSymbol] = []
    for entry in root.each_entry() if root is not None else ():
        found += [_key(entry)]
    return tuple(found)


def _key(entry: Entry) -> OutlineSymbol:
    checkpoint()
    key, value = entry.key, entry.value
    below = _below(value, key.value)
    detail = _word(value.value) if value.kind == "scalar" else ""
    return OutlineSymbol(
        _word(key.value) or "?", detail, _BLOCKS.get(value.kind, "value"), entry.span, key.span, below
    )


def _below(node: Node, key: str) -> tuple[OutlineSymbol, ...]:
    found: list[OutlineSymbol] = []
    for entry in node.each_entry():
        if entry.value.kind in _BLOCKS:
            found += [_key(entry)]
    detailed = len(node.green.children) <= MOST_IN_DETAIL
    for number, item in enumerate(node.each_item(), 1):
        if not detailed and key not in _ITEMS and item.green.kind == "scalar":
            # An outline with thousands of items is of no use.
            if not number % _PASSED_OVER_AT_ONCE:
                checkpoint()
            continue
        found += [_item(item, _ITEMS.get(key, "item"), detailed=detailed)]
    return tuple(found)


def _item(item: Node, kind: SymbolWord, *, detailed: bool) -> OutlineSymbol:
    checkpoint()
    if item.kind != "mapping":
        kind = _BLOCKS.get(item.kind, "value")
        below = _below(item, "") if detailed else ()
        return OutlineSymbol(_word(item.value) or f"{item.step}", "", kind, item.span, item.span, below)
    names = (value for name in _NAMES if (value := item.get(name)) is not None and value.kind == "scalar")
    named = next((value for value in names if value.value.strip()), None)
    type_ = value_at(item, "type") if kind == "grader" else None
    detail = _word(type_.value) if type_ is not None and (named is None or type_.span != named.span) else ""
    below = _below(item, "") if detailed else ()
    if named is None:
        return OutlineSymbol(_beginning(item), detail, kind, item.span, item.span, below)
    return OutlineSymbol(_word(named.value), detail, kind, item.span, named.span, below)


def _beginning(item: Node) -> str:
    """Return the first key and value of a mapping without a name, its index if the value is not a string."""
    key, value = item.nth_child(0), item.nth_child(1)
    if key is None or value is None or value.kind != "scalar" or not value.value.strip():
        return f"{item.step}"
    return _word(f"{key.value}: {value.value}")


def _word(text: str) -> str:
    """Return the beginning of a text on one line."""
    line = " ".join(text[: 4 * _LONGEST].split())
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…"


MOST = 5_000
"""Ranges for a client that sends no limit: the limit of VS Code."""
_PARTS_PER_CHECKPOINT = 16
_COMMENTS = compiled_later(r"[ \t]*#.*(?:\r?\n[ \t]*#.*)+")


@frozen()
class Fold:
    """Lines from 0 that are folded into the first of them; the last is the last that is folded away."""

    start: int
    end: int
    is_comment: bool = False


def folds(document: Document, most: int = MOST) -> tuple[Fold, ...]:
    """Return the folds in the order of their lines; the outermost if there are more than ``most``."""
    root, lines = document.tree.root, document.lines
    found: dict[int, Fold] = {}
    texts: list[Span] = []
    level = [root] if root is not None else []
    while level and len(found) < most:
        below: list[Node] = []
        for node in level:
            for number, (start, value) in enumerate(_parts(node)):
                if not number % _PARTS_PER_CHECKPOINT:
                    checkpoint()
                end = _last_line(document.text, lines, value)
                first = lines.line_of(start)
                if first < end and len(found) < most:
                    found.setdefault(first, Fold(first, end))
                if value.kind == "scalar":
                    texts.append(value.span)
                elif first < end:
                    below.append(value)
        level = below
    texts.sort()
    for comment in _comments(document.text):
        checkpoint()
        if comment is None:
            continue
        at = bisect_right(texts, Span(comment.end(), comment.end())) - 1
        if len(found) < most and not (at >= 0 and texts[at].end > comment.start()):
            first = lines.line_of(comment.start())
            found.setdefault(first, Fold(first, lines.line_of(comment.end()), is_comment=True))
    return tuple(found[first] for first in sorted(found))


def _comments(text: str) -> Iterator[re.Match[str] | None]:
    """Yield the comments of several lines, and None wherever a checkpoint is welcome."""
    at = text.find("#")
    while at >= 0:
        line = text.rfind("\n", 0, at) + 1
        comment = None if text[line:at].strip(" \t") else _COMMENTS.match(text, line)
        yield comment
        after = text.find("\n", at) if comment is None else comment.end()
        at = text.find("#", after) if after >= 0 else -1


def _parts(node: Node) -> Iterator[tuple[int, Node]]:
    """Yield the start and the value of each entry, or the items."""
    for entry in node.each_entry():
        yield entry.key.span.start, entry.value
    for item in node.each_item():
        yield item.span.start, item


def _last_line(text: str, lines: LineIndex, value: Node) -> int:
    """Return the last line to fold away; the closing bracket and text after it stay visible."""
    end = value.span.start + len(text[value.span.start : value.span.end].rstrip())
    last = lines.line_of(end)
    line = lines.line_span(last)
    closes = value.style == "flow" and text[line.start : end].strip() in ("]", "}")
    follows = text[end : line.end].lstrip(",]} \t")[:1] not in ("", "#")
    return last - 1 if closes or follows else last


def selections(document: Document, offset: int) -> tuple[Span, ...]:
    """Return the spans around an offset, each inside of the next; the last is the whole document."""
    found: list[Span] = []
    node: Node | None = document.tree.root.at(offset) if document.tree.root is not None else None
    while node is not None:
        spans = [_inside_quotes(node), node.span] if node.kind == "scalar" and not found else [node.span]
        if node.holder is not None:
            spans.append(node.holder.span)
        found += [span for span in spans if _holds(span, Span(offset, offset))]
        node = node.parent
    growing: list[Span] = []
    for span in (*found, Span(0, len(document.text))):
        if not growing or (span != growing[-1] and _holds(span, growing[-1])):
            growing.append(span)
    return tuple(growing)


def _inside_quotes(scalar: Node) -> Span:
    quoted = scalar.style in ("single", "double") and scalar.span.end - scalar.span.start > 2
    return Span(scalar.span.start + 1, scalar.span.end - 1) if quoted else scalar.span


def _holds(outer: Span, inner: Span) -> bool:
    return outer.start <= inner.start and inner.end <= outer.end


MOST_LOOKED_UP = 5_000
"""Paths of a document; later ones have no links, since looking up more takes over a second."""


@frozen()
class DocumentLink:
    """A name or path that opens a file."""

    span: Span
    target: Path
    tooltip: str = ""


def document_links(document: Document, workspace: Workspace) -> tuple[DocumentLink, ...]:
    """Return the links of a document; paths without a file are left out."""
    # Thousands of paths may lie in one folder.
    with workspace.project.disk.cached_lookups():
        return _links(document, workspace)


def _links(document: Document, workspace: Workspace) -> tuple[DocumentLink, ...]:
    file = SuiteSource.of(document)
    paths = PathsIn(workspace.project, file)
    skills: Mapping[str, Path] | None = None
    found: list[DocumentLink] = []
    for mention in islice(files_named(file, document.tree, workspace.catalog), MOST_LOOKED_UP):
        checkpoint()
        if mention.kind == "skill":
            skills = _skills(workspace.project, file) if skills is None else skills
            if mention.name in skills:
                found.append(DocumentLink(mention.span, skills[mention.name]))
        else:
            files = paths.files(mention)
            first = next(iter(files), None)
            if first is not None and _is_file(workspace.project, first):
                more = f"the first of {counted(len(files), 'file')}" if len(files) > 1 else ""
                found.append(DocumentLink(mention.span, first, more))
    return (*found, *files_of_command(document, workspace.project))


def files_of_command(document: Document, project: Project) -> Iterator[DocumentLink]:
    """Yield the files that the command of an adapter names: next to it, or to an eval file that names it.

    As in a run, a program without a slash is looked up on ``PATH``, and an argument without a slash or a dot
    is no path.
    """
    path, root = path_of(document.uri), document.tree.root
    command = root.get("command") if document.kind == "adapter" and root is not None else None
    if command is None or path is None:
        return
    folders = (path.parent, *(suite.folder for suite in project.suites_that_name(path)))
    for index, node in enumerate(command.each_item()):
        written = node.value if node.kind == "scalar" else ""
        is_path = "/" in written or (index > 0 and "." in written)
        if not is_path or "\0" in written:
            continue
        for folder in folders:
            file = folder / written
            if project.disk.boundaries.around(folder).holds(file) and _is_file(project, file):
                yield DocumentLink(node.span, file)
                break


def _skills(project: Project, file: SuiteSource) -> Mapping[str, Path]:
    """Return what defines the skills that a run of the nearest suite finds, by their names."""
    suite = next(iter(project.suites_of(file.path)), None) if file.path is not None else None
    if suite is None:
        return {}
    try:
        folders = skills_of_run(project, suite, suite.outline.skill_directories)
    except UnknownSkillsError:
        return {}
    known = ((name, definition_in(project, folder)) for folder, name in folders.items())
    return {name: definition for name, definition in known if definition is not None}


def _is_file(project: Project, path: Path) -> bool:
    return (path.name, False) in project.disk.alike(path.parent, path.name)
