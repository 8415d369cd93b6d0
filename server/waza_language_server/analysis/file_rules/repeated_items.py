"""Items that occur twice in a file: values of a list, prompts on both sides."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import chain

from waza_engine.checkpoint import checkpoint
from waza_language_server.analysis.problem import Problem, Severity
from waza_language_server.analysis.rule import FileView, Found
from waza_language_server.project.suite_file import prompts_in, task_nodes
from waza_language_server.syntax.edits import delete_item
from waza_language_server.syntax.nodes import Node
from waza_language_server.syntax.tree import Tree
from waza_language_server.text.edit import Fix, Related

CODE = "repeated-item"
_LISTS: dict[str, tuple[tuple[tuple[str, ...], str, Severity, str], ...]] = {
    "eval": (
        (
            ("metrics",),
            "name",
            "warning",
            "Another metric has the name `{}`; results cannot distinguish them.",
        ),
    ),
    "task": (
        (("tags",), "", "hint", "The tag `{}` is listed twice."),
        (
            ("requirements",),
            "id",
            "warning",
            "Another requirement has the id `{}`; results cannot distinguish them.",
        ),
        (("inputs", "files"), "path", "warning", "The file `{}` is listed twice; one overwrites the other."),
    ),
    "trigger_tests": tuple(
        ((key,), "prompt", "information", "This prompt is already in the list.")
        for key in ("should_trigger_prompts", "should_not_trigger_prompts")
    ),
}
"""By the kind of a file: where a list is, the key that identifies its items, severity and message."""


def repeated_items(view: FileView) -> Found:
    """Yield the items that duplicate an earlier one of their list."""
    holders = ((task, "task") for task in task_nodes(view.tree, view.kind))
    if view.kind != "task" and view.tree.root is not None:
        holders = chain(((view.tree.root, view.kind),), holders)
    for holder, (path, key, severity, message) in (
        (holder, of_list) for holder, kind in holders for of_list in _LISTS.get(kind, ())
    ):
        found = holder.get(*path)
        first: dict[str, Node] = {}
        for item in found.target.each_item() if found is not None else ():
            checkpoint()
            name = _name(item, key)
            if name is None or not name.value.strip():
                continue
            earlier = first.setdefault(name.value, item)
            if earlier is not item:
                related = (Related((_name(earlier, key) or earlier).span, "The first one."),)
                fixes = tuple(_fixes(view.tree, item, earlier))
                words = message.format(name.value)
                tag = "unnecessary" if severity == "hint" else None
                yield Problem(CODE, name.span, words, severity, fixes, related, tag)


def _name(item: Node, key: str) -> Node | None:
    node = item.target if not key else item.get(key) if item.target.kind == "mapping" else None
    return node if node is not None and node.kind == "scalar" else None


def _fixes(tree: Tree, item: Node, earlier: Node) -> Iterator[Fix]:
    """Yield the deletion of an item that duplicates the earlier one."""
    if item.to_python() == earlier.to_python() and item.green.anchor is None:
        yield Fix("Delete the repeated item", partial(delete_item, tree, item))


def both_sides(view: FileView) -> Found:
    """Yield the prompts that both must and must not trigger the skill."""
    root = view.tree.root
    if root is None or view.kind not in {"trigger_tests", "trigger_list"}:
        return
    prompts = [*prompts_in(root)]
    wanted = {_plain(each.node.target): each.node.target for each in prompts if each.should_trigger}
    checkpoint()
    for prompt in (each.node.target for each in prompts if not each.should_trigger):
        other = wanted.get(_plain(prompt))
        if other is not None and prompt.value.strip():
            message = "This prompt must trigger the skill, too, so one of the two always fails."
            related = (Related(other.span, "Here it must trigger the skill."),)
            yield Problem("prompt-on-both-sides", prompt.span, message, "warning", related=related)


def _plain(prompt: Node) -> str:
    return " ".join(prompt.value.split()).casefold()
