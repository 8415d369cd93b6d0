"""Other ways to write the selected value: an assertion split in two, other quotes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from waza_engine.checkpoint import checkpoint
from waza_engine.spec.reading.scalars import resolve_scalar
from waza_language_server.analysis.fix_validation import FixValidator
from waza_language_server.analysis.value_rules.inside_values import edits_of_rewrite
from waza_language_server.embedded.language import Language, Rewrite, Surroundings
from waza_language_server.embedded.languages import LONGEST_VALUE, load_language
from waza_language_server.embedded.python.findings import KNOWN_NAMES
from waza_language_server.embedded.python.python_source import conjuncts
from waza_language_server.features.actions.code_actions import CodeAction
from waza_language_server.schema.locate import shape_at
from waza_language_server.schema.shape import language_kind_of
from waza_language_server.syntax.scalar_map import ScalarMap
from waza_language_server.syntax.scalar_writing import (
    double_quoted,
    is_in_flow,
    plain_or_quoted,
    single_quoted,
)
from waza_language_server.text.edit import Edit, Edits
from waza_language_server.text.span import Span
from waza_language_server.text.workspace_edit import FileEdit, WorkspaceEdit

if TYPE_CHECKING:
    from waza_language_server.analysis.problem import Problem
    from waza_language_server.project.document import Document
    from waza_language_server.project.workspace import Workspace
    from waza_language_server.syntax.nodes import Node


def refactorings(
    document: Document, workspace: Workspace, selected: Span, problems: Sequence[Problem]
) -> tuple[CodeAction, ...]:
    """Return the other ways to write the value at the start of a selection.

    ``problems`` are those of this version of the document. A change is offered when the whole document,
    diagnosed again, has no problem that it does not have now.
    """
    validator = FixValidator(document, workspace, problems)
    offered: list[CodeAction] = []
    for action in _rewritten_values(document, workspace, selected):
        edits = [edit for file in action.change.files for edit in file.edits]
        if validator.add_no_problem(edits):
            offered.append(action)
        checkpoint()
    return tuple(offered)


_ASSERTION = "python.assertion"
_BLOCKS = {"literal", "folded"}
_STYLES = {"plain": "without quotes", "single": "in single quotes", "double": "in double quotes"}


def _rewritten_values(document: Document, workspace: Workspace, selected: Span) -> Iterator[CodeAction]:
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
    edits = edits_of_rewrite(document.text, node, scalar, Rewrite("", parts))
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
