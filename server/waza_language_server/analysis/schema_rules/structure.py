"""Validation of the structure of a document and its graders: keys, types, allowed values.

The document is validated without its grader entries, each entry by the schema of its own type. So there is
never a choice between twenty forms to explain, and after an edit only the touched entry is validated again.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import cast
from weakref import WeakKeyDictionary, WeakSet

from waza_engine.checkpoint import checkpoint
from waza_engine.spec.harness_files import row_kind
from waza_engine.spec.reading.scalars import Json
from waza_language_server.analysis.problem import Problem
from waza_language_server.analysis.rule import FileView, Found, GraderView, found_outside
from waza_language_server.analysis.schema_rules import missing_keys, wrong_values
from waza_language_server.analysis.schema_rules.discouraged_keys import (
    deprecated_keys,
    deprecated_type,
    discouraged_keys,
)
from waza_language_server.analysis.schema_rules.grader_types import missing_type, unknown_type
from waza_language_server.analysis.schema_rules.misplaced_keys import UnknownKeys
from waza_language_server.analysis.schema_rules.plain_values import document_value, entry_value
from waza_language_server.analysis.schema_rules.schema_errors import Explained, explained
from waza_language_server.analysis.schema_rules.subject import Subject
from waza_language_server.analysis.schema_rules.unlikely_values import (
    escaped_text,
    items_inside,
    printed_quotes,
)
from waza_language_server.schema.catalog import LINE_KINDS, Catalog, SchemaName
from waza_language_server.schema.locate import grader_type, type_node
from waza_language_server.schema.shape import Shape
from waza_language_server.syntax.green import Green
from waza_language_server.syntax.nodes import Node
from waza_language_server.syntax.tree import Tree
from waza_language_server.text.span import Span

_NONE_UNKNOWN = UnknownKeys()
_MAY_BE_EMPTY = frozenset({"skill", "project_config", "vally_project", "captures", "trials"})
_faultless: WeakKeyDictionary[Catalog, dict[SchemaName, WeakSet[Green]]] = WeakKeyDictionary()
"""The lines of files of JSON Lines that were checked and have no problem."""


def structure_of_file(view: FileView) -> Found:
    """Yield the structural problems of a file outside its grader entries."""
    tree, kind, catalog = view.tree, view.kind, view.catalog
    if tree.root is None:
        # Settings that consist only of comments leave the defaults unchanged.
        if not tree.errors and kind not in _MAY_BE_EMPTY:
            message = "The file is empty; a run cannot read it."
            if kind == "prompts":
                message = (
                    "The file has no prompts, so a suite has no tasks in it; write one JSON object a line."
                )
            yield Problem("empty-file", Span(0, min(1, len(tree.text))), message)
        return
    if kind in LINE_KINDS:
        yield from _structure_of_lines(view, tree.root)
        return
    root = catalog.document_root(kind)
    subject = Subject(tree, kind, catalog, tree.root, root)
    problems, unknown = _violations(subject, document_value(tree.root.target, root.top))
    yield from (_in_scenario(tree.root, problem) for problem in problems)
    # An unknown key may be a misspelling of a recommended one.
    yield from found_outside(tree.root, root.top, partial(_advice, subject, unknown=unknown))


def _structure_of_lines(view: FileView, lines: Node) -> Found:
    """Yield the problems of each line; one that had none is not checked again."""
    tree, kind, catalog = view.tree, view.kind, view.catalog
    root = catalog.line_root(kind)
    faultless = _faultless.setdefault(catalog, {}).setdefault(kind, WeakSet())
    for line in lines.each_item():
        checkpoint()
        if line.green in faultless:
            continue
        if line.kind != "mapping":
            if not tree.broken(line):
                keys = ", ".join(f'"{key}": …' for key in root.top.required[:2])
                yield Problem("wrong-type", line.span, f"A line must be a JSON object: `{{{keys}}}`.")
            continue
        subject, value, unknown = Subject(tree, kind, catalog, line, root), line.to_python(), _NONE_UNKNOWN
        problems = list(_of_another_file(kind, line, value))
        if not problems:
            found, unknown = _violations(subject, value)
            problems += found
        if kind == "prompts":
            problems += found_outside(line, root.top, partial(_advice, subject, unknown=unknown))
        yield from problems
        if not problems and not tree.broken(line):
            faultless.add(line.green)


def _of_another_file(kind: SchemaName, line: Node, value: Json) -> Found:
    """Yield the problem of a capture in a file of trials, or of trials in one of captures."""
    row = row_kind(value) if isinstance(value, dict) else None
    if kind == "captures" and row == "trials":
        key, message = "trials", "This line holds trials, the file captures; move it to a file of trials."
    elif kind == "trials" and row == "capture":
        key, message = (
            "trajectory",
            "This line holds a capture, the file trials; move it to a file of captures.",
        )
    else:
        return
    entry = line.entry(key)
    yield Problem("wrong-type", entry.key.span if entry is not None else line.span, message)


def _in_scenario(root: Node, problem: Problem) -> Problem:
    """Return a problem adapted to a suite with a `scenario`, where a run rejects unknown keys of mocks."""
    is_key = problem.severity != "error" and problem.code in {"unknown-key", "misplaced-key"}
    if not is_key or root.get("scenario") is None or "responses" not in root.at(problem.span.start).path:
        return problem
    return replace(problem, severity="error")


def structure_of_grader(view: GraderView) -> Found:
    """Yield the structural problems of one grader entry."""
    tree, kind, catalog, entry = view.file.tree, view.file.kind, view.file.catalog, view.entry
    if entry.key_names.count("type") > 1:
        # The duplicate is already reported; which of the two types the options belong to is unknown.
        return
    if not catalog.of_vally and entry.written("ref") is not None:
        subject = Subject(tree, kind, catalog, entry, catalog.packaged_grader_root, is_grader=True)
        yield from _violations(subject, entry_value(entry))[0]
        return
    written = grader_type(entry)
    root = catalog.grader_root(written) if written is not None else None
    if root is None or written is None:
        yield from _untyped(tree, kind, catalog, entry, written)
        return
    subject = Subject(tree, kind, catalog, entry, root, is_grader=True)
    problems, unknown = _violations(subject, entry_value(entry))
    yield from problems
    yield from deprecated_type(subject, root.top)
    for node, shape in view.located:
        yield from _advice(subject, node, shape, unknown)


def _violations(subject: Subject, value: Json) -> Explained:
    """Return the problems of a value that violates the schema of its subject, and its unknown keys."""
    validator = subject.root.validator
    if validator.is_valid(value):
        return (), _NONE_UNKNOWN
    checkpoint()
    return explained(subject, validator.iter_errors(value))


def _untyped(
    tree: Tree, kind: SchemaName, catalog: Catalog, entry: Node, written: str | None
) -> Iterator[Problem]:
    any_root = catalog.any_grader_root
    subject = Subject(tree, kind, catalog, entry, any_root, is_grader=True)
    node = type_node(entry)
    if tree.broken(entry):
        return
    blank = node is not None and node.to_python() is None
    if written and not blank:
        yield unknown_type(subject, cast("Node", node), written)
    elif node is not None and node.kind != "scalar":
        yield wrong_values.wrong_type(subject, node, any_root.top.properties["type"].shape, ("string",))
    else:
        yield missing_type(subject, node)


def _advice(subject: Subject, node: Node, shape: Shape, unknown: UnknownKeys) -> Iterator[Problem]:
    """Yield advice: findings that are not mistakes."""
    if node.kind == "scalar":
        yield from _advice_on_scalar(subject, node, shape)
    elif node.kind == "mapping":
        if shape.recommended and not subject.tree.broken(node) and not subject.may_lack(node):
            yield from missing_keys.recommended_keys(subject, node, shape, unknown)
        if shape.not_greater:
            yield from wrong_values.reversed_bounds(subject, node, shape)
        yield from deprecated_keys(subject, node, shape)
        yield from discouraged_keys(subject, node, shape)


def _advice_on_scalar(subject: Subject, node: Node, shape: Shape) -> Iterator[Problem]:
    if not subject.tree.is_json:
        yield from wrong_values.typed_as_text(subject, node, shape)
    if node.style == "plain":
        yield from printed_quotes(node, shape)
        yield from items_inside(subject.text, node, shape)
    elif node.style == "double":
        yield from escaped_text(subject.text, node, shape)
