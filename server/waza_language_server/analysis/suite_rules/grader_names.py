"""Names of graders across files: duplicates, unknown references, judges that do not exist."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from waza_engine.frozen import frozen
from waza_engine.spec.executors import EXECUTORS
from waza_engine.steps import in_steps
from waza_language_server.analysis.file_rules.grader_names import name_node, name_of, renaming, rewritten
from waza_language_server.analysis.problem import Problem, Severity
from waza_language_server.analysis.rule import Found, SuiteView
from waza_language_server.project.nearby import Nearby
from waza_language_server.project.suite_file import SuiteFile, word
from waza_language_server.project.uris import path_of, uri_of
from waza_language_server.schema.locate import grader_type, outside_graders
from waza_language_server.spelling import MOST_MEANT, listed, nearest, slip_of
from waza_language_server.text.edit import Fix, Related
from waza_language_server.text.span import Span

if TYPE_CHECKING:
    from waza_language_server.project.document import Document
    from waza_language_server.project.index import Project
    from waza_language_server.syntax.nodes import Node

_CALIBRATING = "human_calibration"


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
    of_task: dict[str, list[Node]] = {}
    for node, shape in outside_graders(root, view.workspace.catalog.document("task")):
        # The rule about requirements reports whose grader it names.
        scope = word(node.parent.get("scope")) if node.step == "grader" and node.parent is not None else None
        if (
            shape.kind == "grader.name"
            and node.kind == "scalar"
            and (node.step != "grader" or scope == "eval")
        ):
            nodes.append(node)
        elif shape.kind == "grader.name" and node.kind == "scalar" and scope in ("task", "checkpoint"):
            of_task.setdefault(scope, []).append(node)
        yield None
    for scope, named in of_task.items():
        here = "checkpoint" if scope == "checkpoint" else "graders"
        graders = SuiteFile(document.tree).own_graders()
        own = (grader.name for grader in graders if grader.place == here and grader.name)
        where = "The task" if scope == "task" else "No checkpoint of the task"
        yield from _unknown(document, named, tuple(dict.fromkeys(own)), where=where)
    known = Nearby(view.workspace.project, document).suite_grader_names() if nodes else None
    if known is not None and known.known:
        own = {
            grader.name for grader in SuiteFile(document.tree).own_graders() if grader.place != "checkpoint"
        }
        names = known.value or tuple(own - {""})
        unknown = [node for node in nodes if node.step != "grader" and node.value not in own]
        yield from _unknown(document, unknown, names, "error")
        yield from _unknown(document, [node for node in nodes if node.step == "grader"], names)


def _unknown_in_inline_tasks(document: Document) -> Found:
    file = SuiteFile(document.tree)
    of_suite = list(file.own_graders())
    if any(not grader.name and grader.node.get("ref") is not None for grader in of_suite):
        return  # A package may name it.
    for task in file.tasks():
        listed_names = task.node.get("expected", "graders")
        nodes = [item.target for item in listed_names.items] if listed_names is not None else []
        if nodes := [node for node in nodes if node.kind == "scalar"]:
            graders = (*of_suite, *file.graders_of(task))
            names = dict.fromkeys(one.name for one in graders if one.name and one.place != "checkpoint")
            yield from _unknown(document, nodes, tuple(names), "error")


def unknown_judges(view: SuiteView) -> Found:
    """Yield the names in ``calibrate_grader`` that no grader of the file or its suite has."""
    yield from unknown_judges_of(view, (yield from view.graders.where(_calibrates, (_CALIBRATING,))))


def unknown_judges_of(view: SuiteView, graders: Iterable[Node]) -> Found:
    """Yield the same of some graders."""
    document = view.document
    nodes = [node for grader in graders if (node := _calibrated(grader)) is not None]
    if not nodes or document.kind not in {"task", "eval"}:
        return
    known = Nearby(view.workspace.project, document).suite_grader_names()
    if known.known or (document.kind == "eval" and not known.unknown):
        own = yield from in_steps(map(name_of, view.graders))
        yield from _unknown(document, nodes, tuple(dict.fromkeys((*known.value, *filter(None, own)))))


def _calibrated(grader: Node) -> Node | None:
    """Return the node of the name in a grader's ``calibrate_grader``."""
    node = grader.get("config", "calibrate_grader")
    if grader_type(grader) != _CALIBRATING:
        # Other types have no such option; that is reported at the key.
        return None
    return node.target if node is not None and node.target.kind == "scalar" else None


def _calibrates(grader: Node) -> bool:
    return _calibrated(grader) is not None


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
        yield None
        meant = nearest(node.value, names) if number < MOST_MEANT else None
        if meant is not None:
            choice = f"did you mean `{meant}`?"
        elif names:
            choice = f"its graders are {listed(names, 'and')}."
        else:
            choice = "it has none." if where == "The suite" else "correct the name or the `scope`."
        fixes: tuple[Fix, ...] = ()
        if meant is not None:
            repair = partial(rewritten, document.text, node, meant)
            safe = meant == slip_of(node.value, names)
            fixes = (Fix(f"Change to `{meant}`", repair, preferred=safe),)
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
    executor = word(node) or ""
    if node is None or executor not in EXECUTORS or EXECUTORS[executor].has_model:
        return
    catalog = view.workspace.catalog
    types = yield from view.graders.counted(grader_type)
    asking = {
        name
        for name in types.by_value
        if name and (shape := catalog.grader(name)) is not None and shape.asks_model
    }
    judged = yield from view.graders.of_types(asking)
    names = tuple(dict.fromkeys(word(grader.get("name")) or grader_type(grader) for grader in judged))
    if names:
        message = (
            f"The executor `{executor}` has no model, so nobody judges for {listed(names, 'and')} "
            "unless `--judge-executor` names one."
        )
        yield Problem("nobody-judges", node.target.span, message, "information")
