"""Suggestions of known words for unknown ones, with the fix that writes them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial

from waza_engine.files import shown
from waza_engine.spelling import nearest, slip_of
from waza_language_server.syntax.edits import replace_scalar
from waza_language_server.syntax.nodes import Node
from waza_language_server.syntax.tree import Tree
from waza_language_server.text.edit import Fix


def suggestion(
    tree: Tree,
    node: Node,
    known: Iterable[str],
    intended: str | None = None,
    typo_of: Callable[[str, Iterable[str]], str | None] = slip_of,
) -> tuple[str | None, tuple[Fix, ...]]:
    """Return the known word that a scalar most likely means, and the fix that writes it.

    The fix is preferred if the scalar is a typo of the word. ``intended`` is the word, if it is known.
    """
    known, written = tuple(known), node.value.strip()
    word = intended or nearest(written, known)
    if word is None:
        return None, ()
    repair = partial(replace_scalar, tree, node, word)
    return word, (Fix(f"Change to `{shown(word)}`", repair, preferred=typo_of(written, known) == word),)
