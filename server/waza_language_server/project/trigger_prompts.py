"""The prompts that a file of trigger tests holds."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from waza_language_server.syntax.nodes import Node

_LISTS = {"should_trigger_prompts": True, "should_not_trigger_prompts": False}


class WrittenPrompt(NamedTuple):
    """A trigger prompt: its item, its text as it is written there, and whether the skill should start."""

    item: Node
    node: Node
    should_trigger: bool

    @property
    def text(self) -> str:
        """The prompt for the agent."""
        return self.node.target.value

    @property
    def is_bare(self) -> bool:
        """Return whether the item is a string without the key ``prompt``, which no run can read."""
        return self.node is self.item


def prompts_in(root: Node | None) -> Iterator[WrittenPrompt]:
    """Yield the prompts of a file in its order; an item without a text is left out."""
    for key, should in _LISTS.items():
        listed = root.get(key) if root is not None else None
        for item in listed.target.each_item() if listed is not None else ():
            node = item.get("prompt") or item
            if node.target.kind == "scalar":
                yield WrittenPrompt(item, node, should)
