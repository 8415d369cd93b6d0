"""The language of a value: from the kind in its schema, and the ``language`` of the grader."""

from __future__ import annotations

from waza_language_server.syntax.nodes import Node

_ASSERTION = "python.assertion"


def language_kind(kind: str | None, written: str | None) -> str | None:
    """Return the name of a value's language; ``written`` is the grader's ``language``, None without one.

    None if that language is unknown: assertions in an unknown language are not checked.
    """
    if kind != _ASSERTION or written is None or written.strip() in {"", "python"}:
        return kind
    return "javascript.assertion" if written.strip() == "javascript" else None


def language_kind_of(node: Node, kind: str | None) -> str | None:
    """Return the name of the language of a node of a kind."""
    if kind != _ASSERTION:
        return kind
    holder = node.parent
    while holder is not None:
        if holder.kind == "mapping" and (found := holder.get("language")) is not None:
            return language_kind(kind, found.target.value)
        holder = holder.parent
    return kind
