"""Escaping of text where editors decorate it: icons in titles and labels, links in messages.

``$(bell)`` in the title of a lens is an icon in VS Code, and ``[here](command:…)`` in a message a link that
runs a command. Text from files must become neither, nor hide or reverse the text next to it.
"""

from __future__ import annotations

from waza_engine.later_patterns import compiled_later
from waza_engine.terminal import visible

_ICON = compiled_later(r"\$(?=\([\w-]+(?:~[\w-]+)?\))")


def label(text: str) -> str:
    """Return text escaped for a title or a label."""
    # A backslash keeps VS Code from drawing the icon, and is not shown.
    return _ICON.sub(r"\\$", visible(text))


def message(text: str) -> str:
    """Return text escaped for a message or an error."""
    return visible(text).replace("](", "] (")
