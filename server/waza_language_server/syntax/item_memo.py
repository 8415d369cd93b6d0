"""A memo of results for the items of lists: an edit of one item computes one result again.

Pieces of a text whose own text is the same keep their green nodes (``layout``), which are the keys here.

Architecture invariant: the memo holds no offsets, and keeps no tree alive.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Generic, TypeVar
from weakref import WeakKeyDictionary

from waza_engine.checkpoint import checkpoint
from waza_language_server.syntax.aliases import refers_elsewhere
from waza_language_server.syntax.green import Green
from waza_language_server.syntax.nodes import Node

Value = TypeVar("Value")


class ItemMemo(Generic[Value]):
    """The results of one function, by item."""

    def __init__(self) -> None:
        self._known: WeakKeyDictionary[Green, tuple[Value]] = WeakKeyDictionary()

    def of(self, items: Node, make: Callable[[Node], Value], doubtful: Collection[int] = ()) -> list[Value]:
        """Return the result of ``make`` for each item of a sequence, or of the target of an alias.

        It may depend only on the green node of its item. For an item with an alias, or at a ``doubtful``
        index, it is computed again each time.
        """
        listed = items.target
        if listed.green.kind != "sequence":
            return []
        values: list[Value] = []
        for index, placed in enumerate(listed.green.children):
            green = placed.green
            known = self._known.get(green)
            if known is None or (doubtful and index in doubtful):
                checkpoint()
                known = (make(Node(green, listed.offset + placed.offset, listed, index)),)
                if index not in doubtful and not refers_elsewhere(green):
                    self._known[green] = known
            values.append(known[0])
        return values


def items_where(items: Node, has: Callable[[Node], bool]) -> list[Node]:
    """Return the items for which a function of a module is true; it must depend on the item alone."""
    listed = items.target
    memo = _where.get(has) or _where.setdefault(has, ItemMemo())
    found = (index for index, value in enumerate(memo.of(listed, has)) if value)
    return [item for index in found if (item := listed.get(index)) is not None]


_where: dict[Callable[[Node], bool], ItemMemo[bool]] = {}
"""By function; there are few of them."""
