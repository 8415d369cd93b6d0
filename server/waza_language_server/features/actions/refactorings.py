"""Refactorings of the selection, each validated before it is offered: it must cause no problem.

Architecture invariant: modules that create such edits do not validate them; this one validates all of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from waza_engine.checkpoint import checkpoint
from waza_engine.frozen import frozen
from waza_engine.spec.reading.scalars import resolve_scalar
from waza_language_server.analysis.fix_validation import FixValidator
from waza_language_server.analysis.value_rules.inside_values import edits_of_rewrite
from waza_language_server.embedded.language import Language, Rewrite, Surroundings
from waza_language_server.embedded.languages import LONGEST_VALUE, load_language
from waza_language_server.embedded.python.assertion_problems import KNOWN_NAMES
from waza_language_server.embedded.python.python_source import conjuncts
from waza_language_server.features.actions.code_actions import CodeAction
from waza_language_server.features.actions.moving_items import dash_of, last_row
from waza_language_server.project.suite_file import GraderEntry, SuiteFile, scalar_text
from waza_language_server.schema.locate import grader_shape, shape_at
from waza_language_server.schema.shape import language_kind_of
from waza_language_server.syntax.author_style import line_break
from waza_language_server.syntax.scalar_map import ScalarMap
from waza_language_server.syntax.scalar_writing import (
    double_quoted,
    is_in_flow,
    plain_or_quoted,
    single_quoted,
)
from waza_language_server.syntax.tree import parse
from waza_language_server.syntax.tried_edits import apply
from waza_language_server.text.edit import Edit, Edits
from waza_language_server.text.span import Span
from waza_language_server.text.workspace_edit import FileEdit, WorkspaceEdit

if TYPE_CHECKING:
    from waza_engine.spec.reading.scalars import Json
    from waza_language_server.analysis.problem import Problem
    from waza_language_server.project.document import Document
    from waza_language_server.project.workspace import Workspace
    from waza_language_server.syntax.nodes import Node


def refactorings(
    document: Document, workspace: Workspace, selected: Span, problems: Sequence[Problem]
) -> tuple[CodeAction, ...]:
    """Return the other ways to write the value, the grader or the tasks at the start of a selection.

    ``problems`` are those of this version of the document. A change is offered when the whole document,
    diagnosed again, has no problem that it does not have now.
    """
    found = list(rewritten_values(document, workspace, selected))
    checkpoint()
    found += sorted_parts(document, workspace, selected)
    validator = FixValidator(document, workspace, problems)
    offered: list[CodeAction] = []
    for action in found:
        edits = [edit for file in action.change.files for edit in file.edits]
        if validator.add_no_problem(edits):
            offered.append(action)
        checkpoint()
    return tuple(offered)


_ASSERTION = "python.assertion"
_BLOCKS = {"literal", "folded"}
_STYLES = {"plain": "without quotes", "single": "in single quotes", "double": "in double quotes"}


def rewritten_values(document: Document, workspace: Workspace, selected: Span) -> Iterator[CodeAction]:
    """Yield the other ways to write the value at the start of a selection."""
    root = document.tree.root
    node = root.at(selected.start) if root is not None and not document.tree.errors else None
    if node is None or node.kind != "scalar" or not len(node.span) or len(node.span) > LONGEST_VALUE:
        return
    if node.step is None:
        # A key stays as it is.
        return
    shape = shape_at(document.kind, node.path, root, workspace.catalog)
    if shape is not None and shape.kind == _ASSERTION:
        yield from _split(document, node)
    yield from _quoted(document, node)


def _split(document: Document, node: Node) -> Iterator[CodeAction]:
    kind = language_kind_of(node, _ASSERTION)
    header = document.text[node.span.start : node.span.end].splitlines()[0]
    if kind != _ASSERTION or (node.style in _BLOCKS and "#" in header):
        # A comment after the indicator of a block scalar is about all of it.
        return
    scalar = ScalarMap.of(document.text, node)
    parts = conjuncts(scalar.value)
    if len(parts) < 2 or not _are_right(load_language(kind), (scalar.value, *parts)):
        return
    edits = edits_of_rewrite(document.tree, node, scalar, Rewrite("", parts))
    if edits:
        # One that fails takes only its own share of the score then.
        yield _action(document, f"Split into {len(parts)} assertions", edits)


def _are_right(language: Language, values: tuple[str, ...]) -> bool:
    """Return whether a value and its consecutive parts have no problems."""
    whole, *parts = values
    names: frozenset[str] = frozenset(KNOWN_NAMES)
    if language.check(whole, Surroundings(names=names)).findings:
        return False
    for part in parts:
        checked = language.check(part, Surroundings(names=names))
        if checked.findings:
            return False
        names |= checked.names
    return True


def _quoted(document: Document, node: Node) -> Iterator[CodeAction]:
    written = document.text[node.span.start : node.span.end]
    # A tag says more than the quotes.
    if node.style not in _STYLES or "\n" in written or "\r" in written or node.green.tag or node.green.anchor:
        return
    value = node.value
    if node.style == "plain" and not isinstance(resolve_scalar(value), str):
        return
    plain = plain_or_quoted(value, flow=is_in_flow(node))
    ways = {"double": double_quoted(value), "single": single_quoted(value), "plain": plain}
    if plain != value:
        del ways["plain"]
    for style, text in ways.items():
        if style != node.style and text is not None and text != written:
            yield _action(document, f"Write {_STYLES[style]}", (Edit(node.span, text),))


def _action(document: Document, title: str, edits: Edits) -> CodeAction:
    change = WorkspaceEdit((FileEdit(document.uri, document.text, edits),))
    return CodeAction(title, "refactor.rewrite", change, ())


MOST_CHARACTERS = 200_000
"""Of a longer file nothing is sorted: all of it is read again to see that its meaning stays."""


@frozen()
class _Block:
    """Lines that move together; ``lead`` are the lines of comments at their start.

    ``gap`` are the blank lines after them, which stay.
    """

    rank: tuple[int, str, int]
    text: str
    lead: int
    gap: str


def sorted_parts(document: Document, workspace: Workspace, selected: Span) -> tuple[CodeAction, ...]:
    """Return the changes that put the grader, or the list of tasks, at a selection in order."""
    tree = document.tree
    if tree.root is None or tree.errors or tree.anchored or len(document.text) > MOST_CHARACTERS:
        return ()
    found: list[CodeAction] = []
    tasks = tree.root.entry("tasks")
    if tasks is not None and document.kind == "eval" and tasks.key.span.contains(selected.start):
        ids = [scalar_text(item.get("id")) if item.kind == "mapping" else None for item in tasks.value.items]
        if len(ids) > 1 and all(each is not None for each in ids):
            ranks = [(0, each or "", number) for number, each in enumerate(ids)]
            # A dash alone on the line above its task is not on a line of the task.
            dashes = [(dash_of(document, item), item.span.start) for item in tasks.value.items]
            starts = [start if dash is None else dash for dash, start in dashes]
            found += _sorted(document, "Sort the tasks by id", tasks.value, starts, ranks)
    owner = SuiteFile(tree).owner_of(selected.start)
    if isinstance(owner, GraderEntry):
        found += _keys(document, workspace, owner.node, selected)
    return tuple(found)


def _keys(document: Document, workspace: Workspace, node: Node, selected: Span) -> list[CodeAction]:
    entries = node.entries
    if not any(entry.key.span.contains(selected.start) for entry in entries) or len(entries) < 2:
        return []
    shape = grader_shape(node, workspace.catalog)
    order = {name: number for number, name in enumerate(shape.properties)}
    first = {"type": -2, "ref": -2, "name": -1}
    ranks = [
        (first.get(entry.key.value, order.get(entry.key.value, len(order))), "", number)
        for number, entry in enumerate(entries)
    ]
    starts = [entry.key.span.start for entry in entries]
    return _sorted(document, "Sort the keys of the grader", node, starts, ranks)


def _sorted(
    document: Document, title: str, holder: Node, starts: Sequence[int], ranks: Sequence[tuple[int, str, int]]
) -> list[CodeAction]:
    if holder.style != "block" or list(ranks) == sorted(ranks):
        return []
    found = _blocks(document, holder, starts, ranks)
    if found is None:
        return []
    blocks, span = found
    ordered = sorted(blocks, key=lambda block: block.rank)
    prefix = ""
    if holder.kind == "mapping":
        # The dash of the grader is before its first key.
        line = document.lines.line_span(document.lines.line_of(starts[0]))
        prefix = document.text[line.start : starts[0]]
        if ordered[0].lead or blocks[0].lead:
            return []
    ending = line_break(document.text)
    gaps = [block.gap for block in blocks]
    texts = [block.text if block.text.endswith("\n") else block.text + ending for block in ordered]
    if prefix:
        column = " " * len(prefix)
        old = ordered.index(blocks[0])
        texts[old] = column + texts[old][len(prefix) :]
        if not texts[0].startswith(column):
            return []
        texts[0] = prefix + texts[0][len(column) :]
    new = "".join(text + gap for text, gap in zip(texts, gaps, strict=True))
    if not document.text[span.start : span.end].endswith("\n"):
        new = new.removesuffix(ending)
    edit = Edit(span, new)
    after = parse(apply(document.text, (edit,)))
    before = document.tree.root
    if after.errors or after.root is None or before is None:
        return []
    if _any_order(after.root.to_python()) != _any_order(before.to_python()):
        return []
    change = WorkspaceEdit((FileEdit(document.uri, document.text, (edit,)),))
    return [CodeAction(title, "refactor.rewrite", change, ())]


def _blocks(
    document: Document, holder: Node, starts: Sequence[int], ranks: Sequence[tuple[int, str, int]]
) -> tuple[list[_Block], Span] | None:
    lines, text = document.lines, document.text
    firsts: list[int] = []
    leads: list[int] = []
    for start in starts:
        number = lines.line_of(start)
        if firsts and number <= firsts[-1]:
            return None
        column = start - lines.line_span(number).start
        lead = 0
        while number - lead - 1 > (firsts[-1] if firsts else -1):
            row = text[lines.line_span(number - lead - 1).start : lines.line_span(number - lead - 1).end]
            indent = len(row) - len(row.lstrip(" "))
            if not row.lstrip(" ").startswith("#") or indent > column:
                break
            lead += 1
        if not firsts and holder.kind == "mapping":
            lead = 0
        firsts.append(number - lead)
        leads.append(lead)
    last = last_row(document, holder, lines.position(starts[-1], "utf-32")[1])
    end = lines.line_span(last + 1).start if last + 1 < lines.line_count else len(text)
    bounds = [*(lines.line_span(number).start for number in firsts), end]
    blocks: list[_Block] = []
    for index, rank in enumerate(ranks):
        whole = text[bounds[index] : bounds[index + 1]]
        filled = whole.find("\n", len(whole.rstrip())) + 1 or len(whole)
        blocks.append(_Block(rank, whole[:filled], leads[index], whole[filled:]))
    return blocks, Span(bounds[0], end)


def _any_order(value: Json) -> object:
    """Return a value in which the tasks come in the order of their ids."""
    tasks = value.get("tasks") if isinstance(value, dict) else None
    if isinstance(value, dict) and isinstance(tasks, list):
        return {**value, "tasks": sorted(repr(task) for task in tasks)}
    return value
