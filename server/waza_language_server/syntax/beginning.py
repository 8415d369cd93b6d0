"""The beginning of a long text, parsed before the rest and independent of it.

Architecture invariant: ``beginning`` answers only if every list item of the beginning is also an item of the
entire text, below the same key; if in doubt it returns None.
"""

from __future__ import annotations

from dataclasses import replace

from waza_engine.later_patterns import compiled_later
from waza_engine.steps import Steps
from waza_language_server.syntax.characters import MAX_CHARACTERS, has_refused
from waza_language_server.syntax.layout import last_item_start
from waza_language_server.syntax.nodes import Node
from waza_language_server.syntax.tree import Tree, parse_in_steps

CHARACTERS = 10_000
"""The most characters of a beginning: several screens."""
LONG = 4 * CHARACTERS
"""In characters; a shorter text is parsed entirely in the same time."""

_AT_ONCE = 200_000
"""Characters to scan between two pauses."""
_TOP = compiled_later(r"\n(?=[^\s#\]}])(?!-[ \t\r\n])")
"""A line at column 0 that may be more than an item of a list."""
_PLAIN_KEY = compiled_later(r"""(?:"([\w .-]*)"|'([\w .-]*)'|([A-Za-z_][\w.-]*))[ \t]*:(?=[ \t\r\n]|\Z)""")
_OUT_OF_LINE = compiled_later(r"\n [A-Za-z_]")


def beginning(text: str) -> Steps[Tree | None]:
    """Parse the beginning of a long text up to the start of a list item, with pauses.

    None for a shorter text, and if the rest may change how the beginning is parsed. If the tree is passed to
    ``tree.parse`` for the entire text, the beginning is not parsed again.
    """
    if not LONG <= len(text) <= MAX_CHARACTERS:
        return None
    cut = last_item_start(text, CHARACTERS)
    if cut is None or _OUT_OF_LINE.search(text, 0, cut) or has_refused(text):
        return None
    yield
    tree = yield from parse_in_steps(text[:cut])
    layout = tree.layout
    if (
        layout is None
        or not layout.local
        or tree.root is None
        or tree.errors
        or tree.guesses
        or tree.anchored
    ):
        return None
    yield
    if not (yield from _stays(tree.root, text, cut - 1)):
        return None
    # The text after it is not an edit of its last item.
    return replace(tree, layout=replace(layout, local=False))


def _stays(root: Node, text: str, start: int) -> Steps[bool]:
    """Return whether the text after an offset cannot change a mapping that ends there."""
    if "\r" in text and text.count("\r") != text.count("\r\n"):
        return False
    if text.find("\n---", start) >= 0 or text.find("\n...", start) >= 0 or _has_anchor(text, start):
        return False
    yield
    keys = set(root.key_names)
    for stretch in range(start, len(text), _AT_ONCE):
        for match in _TOP.finditer(text, stretch, stretch + _AT_ONCE + 4):
            key = _PLAIN_KEY.match(text, match.end())
            if key is None or (key[1] or key[2] or key[3]) in keys:
                return False
            yield
        yield
    return True


def _has_anchor(text: str, start: int) -> bool:
    """Return whether there may be an anchor (``&name``): aliases make everything else uncertain."""
    at = text.find("&", start)
    while at >= 0:
        if text[at - 1] in " \t\n\r[{,:-?!" and text[at + 1 : at + 2].strip("& \t\r\n"):
            return True
        at = text.find("&", at + 1)
    return False
