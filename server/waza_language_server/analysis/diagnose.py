"""Every problem of a document: syntax, structure, graders, and what other files say about it.

A grader entry is checked on its own, and what was found is kept as long as the entry is not touched: after an
edit one entry is checked again, whatever the size of the suite.

Architecture invariant: no rule makes ``diagnose`` raise. One that fails is left out (see ``failures``).
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from waza_engine.spec.scalars import MAX_ALIASED_NODES
from waza_language_server.analysis import eval_file, structure, task_file
from waza_language_server.analysis.assertions import assertion_problems, javascript_meant
from waza_language_server.analysis.failures import guarded, note_failure
from waza_language_server.analysis.grader_names import (
    NamedElsewhere,
    duplicate_names,
    name_node,
    name_of,
    names_taken_by_suite,
    unknown_names,
)
from waza_language_server.analysis.patterns import pattern_problems
from waza_language_server.analysis.problem import Problem
from waza_language_server.analysis.references import reference_problems
from waza_language_server.analysis.syntax_problems import syntax_problems, too_many_aliases
from waza_language_server.analysis.tool_names import tool_name_problems
from waza_language_server.project.uris import path_of, uri_of
from waza_language_server.schema.catalog import Catalog, SchemaName, default_catalog
from waza_language_server.schema.locate import grader_shape, graders_in, located_below
from waza_language_server.schema.shape import Shape
from waza_language_server.syntax.nodes import Green, Node, aliased_nodes
from waza_language_server.syntax.steps import finished
from waza_language_server.syntax.tree import Tree, parse

if TYPE_CHECKING:
    from pathlib import Path

    from waza_language_server.project.document import Document
    from waza_language_server.project.index import Project

Memory = WeakKeyDictionary[Green, dict[SchemaName, tuple[Problem, ...]]]
_kept: WeakKeyDictionary[Catalog, Memory] = WeakKeyDictionary()
"""What was found in a grader entry, as seen from its start, by schemas, entry and kind of document."""

_PROBLEMS_PER_PAUSE = 500

Found = Iterator[Problem | None]
"""What a rule yields: problems, and None wherever a pause is welcome."""


def diagnose(
    document: Document, project: Project | None = None, catalog: Catalog | None = None
) -> tuple[Problem, ...]:
    """Return the problems of a document in the order of its text.

    ``project`` adds what other files say; without it only the document itself is judged.
    """
    return finished(diagnose_in_steps(document, project, catalog))


def diagnose_in_steps(
    document: Document, project: Project | None = None, catalog: Catalog | None = None
) -> Generator[None, None, tuple[Problem, ...]]:
    """Do the same with many pauses, where the caller may do something else or stop."""
    yield from document.read_in_steps()
    return (yield from in_order(document.tree, _problems_of(document, project, catalog)))


def in_order(tree: Tree, found: Found) -> Generator[None, None, tuple[Problem, ...]]:
    """Return what rules have found in a text, each problem once, in the order of the text."""
    problems: dict[tuple[int, int, str, str], Problem] = {}
    for count, problem in enumerate(found):
        if problem is None or not count % _PROBLEMS_PER_PAUSE:
            yield
        if problem is not None and problem.span.end <= len(tree.text):
            key = (problem.span.start, problem.span.end, problem.code, problem.message)
            problems.setdefault(key, problem)
    yield
    ordered = sorted(problems)
    yield
    return tuple(map(problems.__getitem__, ordered))


def _problems_of(document: Document, project: Project | None, catalog: Catalog | None) -> Found:
    tree = document.tree
    kind = document.kind
    try:
        catalog = catalog or default_catalog()
        catalog.document_root(kind)
    except Exception as error:  # noqa: BLE001 - noted
        note_failure("reading the schemas", error)
        yield from guarded("syntax", lambda: syntax_problems(tree, kind, None))
        return
    yield from guarded("syntax", lambda: syntax_problems(tree, kind, catalog))
    root = tree.root
    if root is not None and tree.anchored and aliased_nodes(root.green) > MAX_ALIASED_NODES:
        yield too_many_aliases(tree)
        return
    yield from guarded("structure", lambda: structure.document_problems(tree, kind, catalog))
    if root is None:
        return
    graders: list[Node] = []
    for entry in guarded("graders", lambda: graders_in(root, kind, catalog)):
        graders.append(entry)
        yield None
    yield from guarded("patterns", lambda: patterns_outside_graders(tree, kind, catalog))
    yield from guarded("whole file", lambda: whole_file(tree, kind))
    for entry in graders:
        yield from grader_problems(tree, kind, catalog, entry)
        yield None
    yield from guarded("grader names", lambda: duplicate_names(tree.text, graders))
    if project is not None:
        yield from project_problems(document, project, catalog, graders)


def project_problems(
    document: Document, project: Project, catalog: Catalog, graders: Sequence[Node]
) -> Found:
    """Yield what other files say about a document; ``graders`` are all its grader entries."""
    yield from guarded("references", lambda: reference_problems(document, project))
    yield from guarded("prompt", lambda: task_file.prompt_problems(document, project))
    yield from guarded("task id", lambda: task_file.id_problems(document, project))
    yield from guarded("suite names", lambda: _names_of_suite(document, project, graders))
    yield from guarded("grader references", lambda: _references(document, project, catalog))


def grader_problems(tree: Tree, kind: SchemaName, catalog: Catalog, entry: Node) -> Found:
    """Yield the problems of one grader entry, from memory when neither the entry nor its place changed."""
    if tree.broken(entry):
        yield from _check_grader(tree, kind, catalog, entry)
        return
    memory = _kept.setdefault(catalog, WeakKeyDictionary()).setdefault(entry.green, {})
    kept = memory.get(kind)
    if kept is None:
        found: list[Problem] = []
        for problem in _check_grader(tree, kind, catalog, entry):
            if problem is None:
                yield None
            else:
                found.append(problem.shifted(-entry.offset))
        kept = tuple(found)
        if not refers_elsewhere(entry.green):
            memory[kind] = kept
    for problem in kept:
        yield problem.shifted(entry.offset)
        yield None


def patterns_outside_graders(tree: Tree, kind: SchemaName, catalog: Catalog) -> Found:
    """Yield the problems of the regular expressions that stand in no grader."""
    if tree.root is not None:
        for node, shape in structure.outside_graders(tree.root, catalog.document(kind)):
            yield None
            if shape.kind == "regex":
                yield from pattern_problems(tree.text, node, "warning")


def whole_file(tree: Tree, kind: SchemaName) -> Found:
    """Yield what only a file as a whole can show."""
    root = tree.root
    if root is None:
        return
    if kind == "task":
        yield from task_file.turn_problems(root)
    elif kind == "eval":
        yield from eval_file.row_problems(root)
        yield from eval_file.mock_problems(root)
        tasks = root.get("tasks")
        for task in tasks.target.each_item() if tasks is not None else ():
            yield None
            yield from task_file.turn_problems(task)


def _check_grader(tree: Tree, kind: SchemaName, catalog: Catalog, entry: Node) -> Found:
    located: list[tuple[Node, Shape]] = []
    shapes = guarded("shapes", lambda: located_below(entry, grader_shape(entry, catalog), catalog))
    for pair in shapes:
        located.append(pair)
        yield None
    yield from guarded("grader", lambda: structure.grader_problems(tree, kind, catalog, entry, located))
    yield from guarded("values", lambda: _value_problems(tree, entry, located))


def _value_problems(tree: Tree, entry: Node, located: Sequence[tuple[Node, Shape]]) -> Found:
    assertions: list[Node] = []
    for node, shape in located:
        if shape.kind == "python.assertion":
            assertions.append(node)
        elif shape.kind == "regex":
            yield from pattern_problems(tree.text, node)
        elif shape.kind == "tool.name":
            yield from tool_name_problems(node)
        yield None
    language = entry.get("config", "language")
    if assertions and (language is None or language.target.value in {"", "python"}):
        yield from javascript_meant(tree, entry, assertions)
        yield from assertion_problems(tree.text, assertions)


def _names_of_suite(document: Document, project: Project, graders: Sequence[Node]) -> Found:
    if document.kind != "task":
        return
    path = path_of(document.uri)
    suites = project.suites_of(path) if path is not None else ()
    own = {name for grader in graders if (name := name_of(grader)) is not None}
    taken: dict[str, NamedElsewhere] = {}
    for suite in suites:
        names = {grader.name for grader in suite.outline.graders}
        if own & names:
            taken |= _places_of_names(project, suite.path)
    yield from names_taken_by_suite(document.text, graders, taken)


def _references(document: Document, project: Project, catalog: Catalog) -> Found:
    """Yield the names in ``expected.graders`` that the suite does not have, when the suite is known."""
    root = document.tree.root
    if document.kind != "task" or root is None:
        return
    nodes: list[Node] = []
    for node, shape in structure.outside_graders(root, catalog.document("task")):
        if shape.kind == "grader.name" and node.kind == "scalar":
            nodes.append(node)
        yield None
    known = project.suite_grader_names(document) if nodes else None
    if known is not None and known.known and known.value:
        yield from unknown_names(document.text, nodes, known.value)


def _places_of_names(project: Project, path: Path) -> dict[str, NamedElsewhere]:
    """Return where the graders of an eval file are named; only asked for when a name is taken."""
    opened = project.documents.get(path)
    tree = opened.tree if opened is not None else parse(project.text(path).value)
    graders = tree.root.get("graders") if tree.root is not None else None
    nodes = (name_node(item.target) for item in (graders.target.items if graders is not None else ()))
    return {node.value: NamedElsewhere(uri_of(path), node.span) for node in nodes if node is not None}


def refers_elsewhere(green: Green) -> bool:
    """Whether an alias stands in the entry: then its meaning depends on text outside."""
    stack = [green]
    while stack:
        node = stack.pop()
        if node.kind == "alias":
            return True
        stack.extend(placed.green for placed in node.children)
    return False
