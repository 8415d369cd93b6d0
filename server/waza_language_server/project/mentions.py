"""The names that a file of a suite mentions: of graders, tasks, skills, files and anchors.

The schema says which kind of thing a value names (``x-waza-kind``); the names of graders come from the typed
view of the file, which follows aliases.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from waza_engine.checkpoint import checkpoint
from waza_engine.frozen import frozen
from waza_engine.later_patterns import compiled_later
from waza_engine.spec.program_files import may_be_file
from waza_language_server.project.skills import written_name
from waza_language_server.project.suite_file import SuiteFile, scalar_text
from waza_language_server.schema.locate import located_below, shape_at
from waza_language_server.syntax.scalar_map import ScalarMap
from waza_language_server.text.span import Span

if TYPE_CHECKING:
    from waza_language_server.project.document import Document
    from waza_language_server.project.suite_files import SuiteSource
    from waza_language_server.schema.catalog import Catalog
    from waza_language_server.schema.shape import Shape
    from waza_language_server.syntax.nodes import Node
    from waza_language_server.syntax.tree import Tree

SymbolKind = Literal["grader", "task", "skill", "file", "anchor"]
MEANT: Mapping[str, SymbolKind] = {
    "grader.name": "grader",
    "task.id": "task",
    "skill.name": "skill",
    "task.glob": "file",
    "path.suite": "file",
    "path.fixture": "file",
    "rubric": "file",
    "command": "file",
    "argument": "file",
}
_OF_PROGRAMS = frozenset({"command", "argument"})
"""The kinds of values that name a file only if they look like a path."""


_TO_ANCHOR = compiled_later(r"(?:[\s:?,\[{-]|(?<!\S)#[^\r\n]*|![^\s,\[\]{}]*)*+&")
"""The characters that may be between the value before an anchor, or its key, and the anchor."""


@frozen()
class Mention:
    """A name in a file.

    ``span`` are the characters to select; ``whole`` are those of the scalar that holds them, its quotes
    included. ``shape`` says what else is allowed there.
    ``task`` and ``checkpoint`` are the offsets at which the inline task and the list of the checkpoint around
    the name of a grader begin; None outside of them. ``of_suite`` says that the name refers to a grader of
    the suite, whatever the task has.
    """

    kind: SymbolKind
    name: str
    span: Span
    defines: bool
    whole: Span
    shape: Shape | None = None
    task: int | None = None
    checkpoint: int | None = None
    of_suite: bool = False

    @property
    def schema_kind(self) -> str:
        """The kind of thing that the value names, "" if no schema says it."""
        return (self.shape.kind or "") if self.shape is not None else ""


def mentions(file: SuiteSource, tree: Tree, catalog: Catalog) -> Iterator[Mention]:
    """Yield the names in a file, anchors left out."""
    if file.kind == "skill":
        # The tree of one that is open has the front matter alone.
        text = file.document.text if file.document is not None else tree.text
        name = written_name(text)
        if name is not None:
            yield _mention("skill", text, name, defines=True)
        return
    root = tree.root
    if root is None:
        return
    entries = SuiteFile(tree)
    tasks = sorted({(task.node.span.start, task.node.span.end) for task in entries.tasks()})
    for grader in entries.graders():
        checkpoint()
        node = grader.node.get("name")
        if node is None or node.target.kind != "scalar" or not grader.name:
            continue
        task = grader.task.node.span.start if grader.task is not None else None
        above = grader.item.parent
        turn = above.span.start if grader.place == "checkpoint" and above is not None else None
        yield _mention("grader", tree.text, node.target, defines=True, task=task, checkpoint=turn)
    for node, shape in located_below(root, catalog.document(file.kind), catalog):
        kind = _kind_of(node, shape)
        if kind is None or (kind == "grader" and node.step == "name"):
            checkpoint()
            continue
        task = _around(tasks, node.span.start)
        yield _named(kind, tree.text, node, shape, task)


def files_named(file: SuiteSource, tree: Tree, catalog: Catalog) -> Iterator[Mention]:
    """Yield the mentions of files and skills alone."""
    if tree.root is None or file.kind == "skill":
        return
    for node, shape in located_below(tree.root, catalog.document(file.kind), catalog):
        checkpoint()
        kind = _kind_of(node, shape)
        if kind in ("file", "skill"):
            yield _mention(kind, tree.text, node, defines=False, shape=shape)


def _named(kind: SymbolKind, text: str, node: Node, shape: Shape | None, task: int | None) -> Mention:
    """Return a mention other than a grader's own name; checks of requirements say whose grader they name."""
    found = _mention(kind, text, node, defines=kind == "task", shape=shape, task=task)
    check = node.parent
    if kind != "grader" or node.step != "grader" or check is None or check.kind != "mapping":
        return found
    scope = scalar_text(check.get("scope"))
    if scope == "checkpoint":
        return replace(found, checkpoint=_checkpoint(check))
    return replace(found, of_suite=True) if scope == "eval" else found


def _checkpoint(check: Node) -> int | None:
    """Return where the graders of the checkpoint begin that a check of a requirement means."""
    turn = scalar_text(check.get("after_turn"))
    task = check.parent
    while task is not None and not (task.kind == "mapping" and task.get("checkpoints") is not None):
        task = task.parent
    checkpoints = task.get("checkpoints") if task is not None else None
    for item in checkpoints.target.each_item() if checkpoints is not None else ():
        graders = item.target.get("graders")
        if graders is not None and turn is not None and scalar_text(item.target.get("after_turn")) == turn:
            return graders.target.span.start
    return None


def anchors(tree: Tree) -> Iterator[Mention]:
    """Yield the anchors of a document and their aliases."""
    nodes = tree.root.walk() if tree.root is not None else ()
    for node in nodes:
        checkpoint()
        yield from _anchors_of(tree, node)


def anchor_at(tree: Tree, offset: int) -> Mention | None:
    """Return the anchor or the alias at an offset."""
    if tree.root is None or not tree.anchored:
        return None
    first_after: int | None = None
    for node in tree.root.from_offset(offset):
        start = node.span.start
        # An anchor precedes its node: nodes after those that begin next have no anchor at this offset.
        if start > offset:
            first_after = start if first_after is None else first_after
            if start > first_after:
                return None
        for anchor in _anchors_of(tree, node):
            if Span(anchor.span.start - 1, anchor.span.end).contains(offset):
                return anchor
    return None


def _anchors_of(tree: Tree, node: Node) -> Iterator[Mention]:
    """Yield the alias that a node is, and its anchor."""
    if node.kind == "alias":
        yield Mention("anchor", node.value, Span(node.span.start + 1, node.span.end), False, node.span)
    name = node.green.anchor
    at = _start_of_anchor(tree.text, node) if name else -1
    if name and at >= 0:
        yield Mention("anchor", name, Span(at + 1, at + 1 + len(name)), True, node.span)


def _start_of_anchor(text: str, node: Node) -> int:
    """Return where the anchor of a node begins; comments between the two may have its sign, too."""
    above, begin = node.parent, 0
    if above is not None:
        place = above.children_before(node.span.start)
        before = above.nth_child(place - 1) if place else None
        begin = before.span.end if before is not None else above.span.start
    found = _TO_ANCHOR.match(text, begin, node.span.start)
    return found.end() - 1 if found else text.rfind(f"&{node.green.anchor}", 0, node.span.start)


def mention_at(document: Document, catalog: Catalog, offset: int) -> Mention | None:
    """Return the name at an offset of a document, None if there is no known one."""
    root = document.tree.root
    if root is None or not document.reads(offset):
        return None
    node = root.at(offset)
    anchor = anchor_at(document.tree, offset)
    if anchor is not None:
        return anchor
    if node.step is None or node.kind != "scalar":
        return None
    shape = shape_at(document.kind, node.path, root, catalog)
    kind = _kind_of(node, shape) if shape is not None else None
    if kind is None or shape is None:
        return None
    return _mention(kind, document.text, node, defines=False, shape=shape)


def _kind_of(node: Node, shape: Shape) -> SymbolKind | None:
    if node.kind != "scalar" or not node.value.strip():
        return None
    if shape.kind in _OF_PROGRAMS and not may_be_file(node.value):
        return None
    return MEANT.get(shape.kind or "")


def _mention(
    kind: SymbolKind,
    text: str,
    node: Node,
    *,
    defines: bool,
    shape: Shape | None = None,
    task: int | None = None,
    checkpoint: int | None = None,
) -> Mention:
    whole = node.span
    span = ScalarMap.of(text, node).source_span(0, len(node.value)) if node.style != "plain" else whole
    return Mention(kind, node.value.strip(), span, defines, whole, shape, task, checkpoint)


def _around(tasks: list[tuple[int, int]], offset: int) -> int | None:
    index = bisect_right(tasks, offset, key=lambda task: task[0]) - 1
    return tasks[index][0] if index >= 0 and offset <= tasks[index][1] else None
