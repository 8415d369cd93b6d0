"""Parts of an adapter file that no event of the agent ever reaches."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from waza_language_server.analysis.problem import Problem
from waza_language_server.analysis.rule import FileView, Found
from waza_language_server.syntax.edits import delete_item
from waza_language_server.syntax.nodes import Node
from waza_language_server.text.edit import Fix, Related

_ANYTHING = "*"


def unreachable_mappings(view: FileView) -> Found:
    """Yield the event mappings after one that matches the same events, as ``adapter_warnings`` does."""
    root = view.tree.root if view.kind == "adapter" else None
    events = root.get("outputEvents") if root is not None else None
    if root is None or events is None or _word(root, "x-waza", "event_matching") == "all":
        return
    first: dict[tuple[str, str], Node] = {}
    for mapping in events.each_item():
        path, value = _word(mapping, "match", "path"), _word(mapping, "match", "value")
        if path is None or value is None or mapping.get("when") is not None:
            continue
        earlier = first.get((path, value)) or first.get((path, _ANYTHING))
        first.setdefault((path, value), mapping)
        matched = mapping.get("match")
        if earlier is None or matched is None:
            continue
        message = (
            "This mapping has no effect: an earlier one matches the same events, and the first one counts."
        )
        fix = Fix("Delete the mapping", partial(delete_item, view.tree, mapping))
        related = tuple(Related(node.span, "The earlier one.") for node in _match_of(earlier))
        yield Problem("unreachable-mapping", matched.span, message, "warning", (fix,), related)


def _match_of(mapping: Node) -> Iterator[Node]:
    match = mapping.get("match")
    if match is not None:
        yield match


def _word(node: Node, *keys: str) -> str | None:
    found = node.get(*keys)
    return found.value if found is not None and found.kind == "scalar" else None
