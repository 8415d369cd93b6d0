"""Every problem of a document: syntax, structure, graders, and what other files say about it.

A grader entry is checked on its own, and what was found is kept as long as the entry is not touched: after an
edit one entry is checked again, whatever the size of the suite.

Architecture invariant: no rule makes ``diagnose`` raise. One that fails is left out (see ``failures``).
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

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
from waza_language_server.analysis.syntax_problems import syntax_problems
from waza_language_server.analysis.tool_names import tool_name_problems
from waza_language_server.project.uris import path_of, uri_of
from waza_language_server.schema.catalog import Catalog, SchemaName, default_catalog
from waza_language_server.schema.locate import grader_shape, graders_in, located_below
from waza_language_server.schema.shape import Shape
from waza_language_server.syntax.nodes import Green, Node
from waza_language_server.syntax.tree import Tree, parse

if TYPE_CHECKING:
    from pathlib import Path

    from waza_language_server.project.document import Document
    from waza_language_server.project.index import Project

_kept: WeakKeyDictionary[Green, dict[tuple[str, int], tuple[Problem, ...]]] = WeakKeyDictionary()


def diagnose(
    document: Document, project: Project | None = None, catalog: Catalog | None = None
) -> tuple[Problem, ...]:
    """Return the problems of a document in the order of its text.

    ``project`` adds what other files say; without it only the document itself is judged.
    """
    steps = diagnose_in_steps(document, project, catalog)
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return end.value


def diagnose_in_steps(
    document: Document, project: Project | None = None, catalog: Catalog | None = None
) -> Generator[None, None, tuple[Problem, ...]]:
    """Do the same with a pause after every piece that is read and every grader entry.

    There the caller may do something else or stop.
    """
    yield from document.read_in_steps()
    problems: list[Problem] = []
    for problem in _problems_of(document, project, catalog):
        if problem is None:
            yield
        elif problem.span.end <= len(document.text):
            problems.append(problem)
    return tuple(sorted(dict.fromkeys(problems), key=lambda problem: (problem.span, problem.code)))


def _problems_of(
    document: Document, project: Project | None, catalog: Catalog | None
) -> Iterator[Problem | None]:
    """Yield the problems, and None where a pause is welcome."""
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
    yield from guarded("structure", lambda: structure.document_problems(tree, kind, catalog))
    if tree.root is None:
        return
    root = tree.root
    graders = tuple(guarded("graders", lambda: graders_in(root, kind, catalog)))
    yield from guarded("patterns", lambda: _patterns_outside_graders(tree, kind, catalog))
    yield from guarded("whole file", lambda: _whole_file(tree, kind))
    for entry in graders:
        yield from grader_problems(tree, kind, catalog, entry)
        yield None
    yield from guarded("grader names", lambda: duplicate_names(tree.text, graders))
    if project is not None:
        yield from guarded("references", lambda: reference_problems(document, project))
        yield from guarded("prompt", lambda: task_file.prompt_problems(document, project))
        yield from guarded("task id", lambda: task_file.id_problems(document, project))
        yield from guarded("suite names", lambda: _names_of_suite(document, project, graders))
        yield from guarded("grader references", lambda: _references(document, project, catalog))


def grader_problems(tree: Tree, kind: SchemaName, catalog: Catalog, entry: Node) -> tuple[Problem, ...]:
    """Return the problems of one grader entry, from memory when neither the entry nor its place changed."""
    if tree.errors and tree.broken(entry):
        return tuple(_check_grader(tree, kind, catalog, entry))
    key = (kind, id(catalog))
    kept = _kept.get(entry.green, {}).get(key)
    if kept is None:
        kept = tuple(problem.shifted(-entry.offset) for problem in _check_grader(tree, kind, catalog, entry))
        if not _refers_elsewhere(entry.green):
            _kept.setdefault(entry.green, {})[key] = kept
    return tuple(problem.shifted(entry.offset) for problem in kept) if kept else ()


def _patterns_outside_graders(tree: Tree, kind: SchemaName, catalog: Catalog) -> Iterator[Problem]:
    if tree.root is not None:
        for node, shape in structure.outside_graders(tree.root, catalog.document(kind)):
            if shape.kind == "regex":
                yield from pattern_problems(tree.text, node, "warning")


def _whole_file(tree: Tree, kind: SchemaName) -> Iterator[Problem]:
    root = tree.root
    if root is None:
        return
    if kind == "task":
        yield from task_file.turn_problems(root)
    elif kind == "eval":
        yield from eval_file.row_problems(root)
        yield from eval_file.mock_problems(root)
        tasks = root.get("tasks")
        for task in tasks.target.items if tasks is not None else ():
            yield from task_file.turn_problems(task)


def _check_grader(tree: Tree, kind: SchemaName, catalog: Catalog, entry: Node) -> Iterator[Problem]:
    located = tuple(guarded("shapes", lambda: located_below(entry, grader_shape(entry, catalog), catalog)))
    yield from guarded("grader", lambda: structure.grader_problems(tree, kind, catalog, entry, located))
    yield from guarded("values", lambda: _value_problems(tree, entry, located))


def _value_problems(tree: Tree, entry: Node, located: Sequence[tuple[Node, Shape]]) -> Iterator[Problem]:
    assertions: list[Node] = []
    for node, shape in located:
        if shape.kind == "python.assertion":
            assertions.append(node)
        elif shape.kind == "regex":
            yield from pattern_problems(tree.text, node)
        elif shape.kind == "tool.name":
            yield from tool_name_problems(node)
    language = entry.get("config", "language")
    if assertions and (language is None or language.target.value in {"", "python"}):
        yield from javascript_meant(tree, entry, assertions)
        yield from assertion_problems(tree.text, assertions)


def _names_of_suite(document: Document, project: Project, graders: tuple[Node, ...]) -> Iterator[Problem]:
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


def _references(document: Document, project: Project, catalog: Catalog) -> Iterator[Problem]:
    """Yield the names in ``expected.graders`` that the suite does not have, when the suite is known."""
    root = document.tree.root
    if document.kind != "task" or root is None:
        return
    located = structure.outside_graders(root, catalog.document("task"))
    nodes = [node for node, shape in located if shape.kind == "grader.name" and node.kind == "scalar"]
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


def _refers_elsewhere(green: Green) -> bool:
    """Whether an alias stands in the entry: then its meaning depends on text outside."""
    stack = [green]
    while stack:
        node = stack.pop()
        if node.kind == "alias":
            return True
        stack.extend(placed.green for placed in node.children)
    return False
