"""The rule of a grader at a place of a document: the unit of live verdicts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from waza_engine.frozen import frozen
from waza_engine.vocabulary import EXPECTED_LISTS
from waza_language_server.project.suite_file import GraderEntry, SuiteFile, TaskEntry, task_id
from waza_language_server.project.uris import path_of

if TYPE_CHECKING:
    from waza_language_server.project.document import Document
    from waza_language_server.syntax.nodes import Node
    from waza_language_server.text.span import Span

_BESIDE_CONFIG = frozenset({"type", "name", "identifier", "weight", "required", "enabled", "feedback"})


@frozen()
class Rule:
    """A value of a grader's configuration, or a text that a task expects.

    ``grader`` is the name of its verdicts, ``task`` the id of the task whose own it is, None in a suite.
    ``path`` leads from its config, or from ``expected``, to the value; ``node`` is that value, ``entry`` the
    grader, None for ``expected``. ``span`` is what the cursor is on: the value, or its key.
    """

    grader: str
    task: str | None
    path: tuple[str | int, ...]
    node: Node
    span: Span
    entry: GraderEntry | None


def rule_under(document: Document, offset: int) -> Rule | None:
    """Return the rule at an offset of a document; None if there is none."""
    root = document.tree.root
    path = path_of(document.uri)
    if root is None or path is None or document.kind not in {"eval", "task"}:
        return None
    node = root.at(offset)
    holder = node.holder
    span = node.span
    if holder is not None and holder.key.green is node.green and holder.key.span == node.span:
        node = holder.value
    own = task_id(root, path) if document.kind == "task" else None
    owner = SuiteFile(document.tree).owner_of(offset)
    if isinstance(owner, GraderEntry):
        return _of_grader(owner, node, span, own)
    if isinstance(owner, TaskEntry):
        return _of_expected(owner.node, owner.id, node, span)
    return _of_expected(root, own, node, span) if own is not None else None


def _of_grader(owner: GraderEntry, node: Node, span: Span, own: str | None) -> Rule | None:
    around = owner.node.path
    if not owner.has_results or node.path[: len(around)] != around:
        return None
    path = node.path[len(around) :]
    if path[:1] == ("config",):
        path = path[1:]
    elif owner.node.get("config") is not None or (path and path[0] in _BESIDE_CONFIG):
        # Older files write the options of a grader next to its type.
        return None
    task = owner.task.id if owner.task is not None else own
    return Rule(owner.name, task, path, node, span, owner) if path else None


def _of_expected(task: Node, name: str, node: Node, span: Span) -> Rule | None:
    around = (*task.path, "expected")
    path = node.path[len(around) :]
    if node.path[: len(around)] != around or not path or path[0] not in EXPECTED_LISTS:
        return None
    return Rule(f"_{path[0]}", name, path, node, span, None)
