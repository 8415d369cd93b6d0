"""Names of graders across files: duplicates, unknown references, judges that do not exist."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from waza_engine.checkpoint import checkpoint
from waza_engine.frozen import frozen
from waza_engine.spec.executors import EXECUTORS
from waza_engine.spelling import MOST_MEANT, listed, nearest, typo_of
from waza_language_server.analysis.file_rules.grader_names import name_node, name_of, renaming, rewritten
from waza_language_server.analysis.file_rules.task_file import checks_of
from waza_language_server.analysis.problem import Problem, Severity
from waza_language_server.analysis.rule import Found, SuiteView
from waza_language_server.project.nearby import Nearby
from waza_language_server.project.suite_file import GraderEntry, SuiteFile, scalar_text
from waza_language_server.project.uris import path_of, uri_of
from waza_language_server.schema.locate import grader_type, outside_graders
from waza_language_server.text.edit import Fix, Related
from waza_language_server.text.span import Span

if TYPE_CHECKING:
    from waza_language_server.project.document import Document
    from waza_language_server.project.index import Project
    from waza_language_server.syntax.nodes import Node

_CALIBRATING = "human_calibration"
_SCOPES_OF_TASK = (("task", "graders", "The task"), ("checkpoint", "checkpoint", "No checkpoint of the task"))
"""The scopes of requirements inside of a task, the places of their graders, and how messages call them."""


@frozen()
class _Elsewhere:
    """A grader's name in another file."""

    uri: str
    span: Span


def names_taken_by_suite(view: SuiteView) -> Iterator[Problem]:
    """Yield the graders of a task with the name of one of its suite's graders."""
    path = path_of(view.document.uri)
    if view.document.kind != "task" or path is None:
        return
    text, own = view.document.text, {name for grader in view.graders if (name := name_of(grader)) is not None}
    taken: dict[str, _Elsewhere] = {}
    for suite in view.workspace.project.suites_of(path):
        if own & {grader.name for grader in suite.outline.own_graders}:
            taken |= _places_of_names(view.workspace.project, suite.path)
    for grader in view.graders:
        node = name_node(grader)
        elsewhere = taken.get(node.value) if node is not None else None
        if node is None or elsewhere is None:
            continue
        message = f"The suite has a grader `{node.value}` too; for this task its result is overwritten."
        related = (Related(elsewhere.span, f"The suite's `{node.value}` is here.", elsewhere.uri),)
        fix = renaming(text, node, own | set(taken))
        yield Problem("grader-name-of-suite", node.span, message, "warning", (fix,), related)


def unknown_names(view: SuiteView) -> Found:
    """Yield unknown names in ``expected.graders``: neither the suite, if known, nor the task has them."""
    document, root = view.document, view.document.tree.root
    if document.kind == "eval":
        yield from _unknown_in_inline_tasks(document)
    if document.kind != "task" or root is None:
        return
    nodes: list[Node] = []
    for node, shape in outside_graders(root, view.workspace.catalog.document("task")):
        if shape.kind == "grader.name" and node.kind == "scalar" and node.step != "grader":
            nodes.append(node)
        checkpoint()
    graders = tuple(SuiteFile(document.tree).own_graders())
    yield from _unknown_in_task(document, root, graders)
    of_suite = _checked(root, "eval")
    known = Nearby(view.workspace.project, document).suite_grader_names() if nodes or of_suite else None
    if known is not None and known.known:
        own = {grader.name for grader in graders if grader.place != "checkpoint"}
        names = known.value or tuple(own - {""})
        yield from _unknown(document, [node for node in nodes if node.value not in own], names, "error")
        yield from _unknown(document, of_suite, names)


def _unknown_in_inline_tasks(document: Document) -> Found:
    file = SuiteFile(document.tree)
    of_suite = list(file.own_graders())
    # A package may name its grader.
    is_known = all(grader.name or grader.node.get("ref") is None for grader in of_suite)
    names_of_suite = tuple(dict.fromkeys(grader.name for grader in of_suite if grader.name))
    for task in file.tasks():
        yield from _unknown_in_task(document, task.node, tuple(file.graders_of(task)))
        if not is_known:
            continue
        yield from _unknown(document, _checked(task.node, "eval"), names_of_suite)
        listed_names = task.node.get("expected", "graders")
        nodes = [item.target for item in listed_names.items] if listed_names is not None else []
        if nodes := [node for node in nodes if node.kind == "scalar"]:
            graders = (*of_suite, *file.graders_of(task))
            names = dict.fromkeys(one.name for one in graders if one.name and one.place != "checkpoint")
            yield from _unknown(document, nodes, tuple(names), "error")


def _unknown_in_task(document: Document, task: Node, graders: tuple[GraderEntry, ...]) -> Found:
    """Yield the names in a task's requirements that neither it nor its checkpoints have."""
    for scope, place, where in _SCOPES_OF_TASK:
        own = dict.fromkeys(grader.name for grader in graders if grader.place == place and grader.name)
        yield from _unknown(document, _checked(task, scope), tuple(own), where=where)


def _checked(task: Node, scope: str) -> list[Node]:
    """Return the names of graders in a task's requirements that are looked for in a scope."""
    named = [check.get("grader") for check in checks_of(task) if scalar_text(check.get("scope")) == scope]
    return [node.target for node in named if node is not None and node.target.kind == "scalar"]


def unknown_judges(view: SuiteView) -> Found:
    """Yield the names in ``calibrate_grader`` that no grader of the file or its suite has."""
    document = view.document
    named = [grader.get("config", "calibrate_grader") for grader in view.graders.of_types((_CALIBRATING,))]
    nodes = [node.target for node in named if node is not None and node.target.kind == "scalar"]
    if not nodes or document.kind not in {"task", "eval"}:
        return
    known = Nearby(view.workspace.project, document).suite_grader_names()
    if known.known or (document.kind == "eval" and not known.unknown):
        own = filter(None, map(name_of, view.graders))
        yield from _unknown(document, nodes, tuple(dict.fromkeys((*known.value, *own))))


def _unknown(
    document: Document,
    nodes: list[Node],
    names: tuple[str, ...],
    severity: Severity = "warning",
    where: str = "The suite",
) -> Found:
    known = frozenset(names)
    unknown = [node for node in nodes if node.value and node.value not in known]
    for number, node in enumerate(unknown):
        checkpoint()
        intended = nearest(node.value, names) if number < MOST_MEANT else None
        if intended is not None:
            choice = f"did you mean `{intended}`?"
        elif names:
            choice = f"its graders are {listed(names, 'and')}."
        else:
            choice = "it has none." if where == "The suite" else "correct the name or the `scope`."
        fixes: tuple[Fix, ...] = ()
        if intended is not None:
            repair = partial(rewritten, document.text, node, intended)
            safe = intended == typo_of(node.value, names)
            fixes = (Fix(f"Change to `{intended}`", repair, preferred=safe),)
        message = f"{where} has {'a' if where.startswith('No') else 'no'} grader `{node.value}`; {choice}"
        yield Problem("unknown-grader-name", node.span, message, severity, fixes)


def _places_of_names(project: Project, path: Path) -> dict[str, _Elsewhere]:
    """Return where the graders of an eval file are named; only computed when a name is taken."""
    graders = SuiteFile(project.tree(path)).graders()
    nodes = (name_node(grader.node) for grader in graders if grader.task is None)
    return {node.value: _Elsewhere(uri_of(path), node.span) for node in nodes if node is not None}


def nobody_to_judge(view: SuiteView) -> Found:
    """Yield the executor of an eval file that does not support the judge models of its graders."""
    root = view.document.tree.root
    node = root.get("config", "executor") if root is not None and view.document.kind == "eval" else None
    executor = scalar_text(node) or ""
    if node is None or executor not in EXECUTORS or EXECUTORS[executor].has_model:
        return
    catalog = view.workspace.catalog
    types = set(filter(None, view.graders.types))
    asking = {name for name in types if (shape := catalog.grader(name)) is not None and shape.asks_model}
    judged = view.graders.of_types(asking)
    names = tuple(dict.fromkeys(scalar_text(grader.get("name")) or grader_type(grader) for grader in judged))
    if names:
        message = (
            f"The executor `{executor}` has no model to judge {listed(names, 'and')}; "
            "choose one with `--judge-executor`."
        )
        yield Problem("nobody-judges", node.target.span, message, "information")
