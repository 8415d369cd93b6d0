"""Turns of a conversation that never happen, or that two checkpoints wait for.

A turn that is not a number is skipped: another rule reports its type.
"""

from __future__ import annotations

from collections.abc import Container, Iterator

from waza_engine.spec.reading.scalars import MERGE_KEY
from waza_language_server.analysis.problem import Problem
from waza_language_server.analysis.rule import FileView, Found
from waza_language_server.syntax.kept_items import items_where
from waza_language_server.syntax.nodes import Node
from waza_language_server.text.edit import Related


def turns(view: FileView) -> Found:
    """Yield the checkpoints with a duplicate turn, or with one that the conversation never reaches."""
    root = view.tree.root
    if root is None or view.kind not in {"task", "eval"}:
        return
    known = _keys_of_inputs(view)
    if view.kind == "task":
        yield from _turns_of(root, known)
        return
    tasks = root.get("tasks")
    if tasks is not None:
        for task in (yield from items_where(tasks, _has_checkpoints)):
            yield None
            yield from _turns_of(task, known)


def _keys_of_inputs(view: FileView) -> Container[str]:
    """Return the keys of the inputs of a task."""
    inputs = view.catalog.document_root("task").top.properties["inputs"]
    return inputs.shape.branch("mapping").properties


def _has_checkpoints(task: Node) -> bool:
    return task.get("checkpoints") is not None


def _turns_of(task: Node, known: Container[str]) -> Iterator[Problem]:
    turns = list(_checkpoints(task))
    last, answered = _last_turn(task, known)
    first: dict[int, Node] = {}
    for turn, node in turns:
        earlier = first.setdefault(turn, node)
        if earlier is not node:
            message = f"Another checkpoint waits for turn {turn} too; put the graders of both into one."
            related = (Related(earlier.span, "The other checkpoint is here."),)
            yield Problem("duplicate-turn", node.span, message, "error", related=related)
        elif last is not None and turn > last:
            there = "there is only one turn" if last == 1 else f"there are only {last} turns"
            if answered:
                # Upstream and this engine use the file.
                message = f"Turn {turn} never comes: with this responder there are at most {last} turns."
                yield Problem("turn-never-comes", node.span, message, "warning")
                continue
            message = (
                f"Turn {turn} never comes: {there}; add `follow_up_prompts` or a `responder` to `inputs`."
            )
            yield Problem("turn-never-comes", node.span, message)


def _checkpoints(task: Node) -> Iterator[tuple[int, Node]]:
    checkpoints = task.get("checkpoints")
    for item in checkpoints.target.items if checkpoints is not None else ():
        node = item.get("after_turn")
        turn = node.target.to_python() if node is not None else None
        if node is not None and isinstance(turn, int) and not isinstance(turn, bool):
            yield turn, node


def _last_turn(task: Node, known: Container[str]) -> tuple[int | None, bool]:
    """Return how many turns the conversation has at most, and whether a responder decides.

    None when unknown: a key of the inputs that is not ``known`` may be intended to hold more of them.
    """
    inputs = task.get("inputs")
    if inputs is None or inputs.target.kind != "mapping":
        return None, False
    if any(key == MERGE_KEY or key not in known for key in inputs.target.key_names):
        return None, False
    if (responder := inputs.get("responder")) is not None:
        node = responder.target.get("max_followups") if responder.target.kind == "mapping" else None
        most = node.target.to_python() if node is not None else None
        return (1 + most if isinstance(most, int) and not isinstance(most, bool) and most > 0 else None), True
    follow_ups = inputs.get("follow_up_prompts")
    return 1 + (len(follow_ups.target.items) if follow_ups is not None else 0), False
