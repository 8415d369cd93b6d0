"""Prompts of a trigger file that are on both sides: one of the two expectations always fails."""

from __future__ import annotations

from collections.abc import Iterator

from waza_language_server.analysis.problem import Problem
from waza_language_server.analysis.rule import FileView, Found
from waza_language_server.syntax.nodes import Node
from waza_language_server.text.edit import Related


def both_sides(view: FileView) -> Found:
    """Yield the prompts that both must and must not trigger the skill."""
    root = view.tree.root
    if root is None or view.kind != "trigger_tests":
        return
    wanted: dict[str, Node] = {}
    for prompt in _prompts(root, "should_trigger_prompts"):
        yield None
        wanted[_plain(prompt)] = prompt
    for prompt in _prompts(root, "should_not_trigger_prompts"):
        yield None
        other = wanted.get(_plain(prompt))
        if other is not None and prompt.value.strip():
            message = "This prompt must trigger the skill, too, so one of the two always fails."
            related = (Related(other.span, "Here it must trigger the skill."),)
            yield Problem("prompt-on-both-sides", prompt.span, message, "warning", related=related)


def _prompts(root: Node, key: str) -> Iterator[Node]:
    prompts = root.get(key)
    for item in prompts.target.each_item() if prompts is not None else ():
        text = item.get("prompt") if item.target.kind == "mapping" else item
        if text is not None and text.target.kind == "scalar":
            yield text.target


def _plain(prompt: Node) -> str:
    return " ".join(prompt.value.split()).casefold()
