"""Parts of an adapter file without effect: unreached mappings, and conversations that lose their past."""

from __future__ import annotations

from functools import partial

from waza_engine.later_patterns import compiled_later
from waza_engine.spec.harness_files import PLACEHOLDERS
from waza_language_server.analysis.problem import Problem
from waza_language_server.analysis.rule import FileView, Found
from waza_language_server.syntax.edits import delete_item, replace_scalar
from waza_language_server.syntax.nodes import Node
from waza_language_server.text.edit import Fix, Related

_ANYTHING = "*"
_SINGLE_BRACES = compiled_later(r"(?<!\{)\{(input|output)\}(?!\})")


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
        related = (Related((earlier.get("match") or earlier).span, "The earlier one."),)
        yield Problem("unreachable-mapping", matched.span, message, "warning", (fix,), related)


def lost_conversations(view: FileView) -> Found:
    """Yield what keeps a follow-up from the turns before it, as ``adapter_warnings`` does."""
    root = view.tree.root if view.kind == "adapter" else None
    if root is None:
        return
    mode = _word(root, "sessionMode")
    session = root.get("resume", "sessionIdPath")
    is_read = _word(root, "x-waza", "honor_session_id_path") != "false"
    is_path = session is not None and session.kind == "scalar"
    if session is not None and is_path and mode == "stream" and is_read and "[*]" in session.value:
        message = "`[*]` leads to a list, which names no session; write the index of an item, such as `[0]`."
        yield Problem("unlikely-value", session.span, message, "warning")
    template = root.get("historyTemplate")
    if template is not None and template.kind == "mapping":
        template = template.get("turnFormat")
    if mode != "iterative" or template is None or template.kind != "scalar" or not template.value.strip():
        return
    if not any(placeholder in template.value for placeholder in PLACEHOLDERS):
        message = (
            "This has neither `{{input}}` nor `{{output}}`, so a follow-up does not tell the agent what was "
            "said before; write both."
        )
        fixes: tuple[Fix, ...] = ()
        doubled = _SINGLE_BRACES.sub(r"{{\1}}", template.value)
        if doubled != template.value:
            title = "Double the braces of the placeholders"
            fixes = (Fix(title, partial(replace_scalar, view.tree, template, doubled), preferred=True),)
        yield Problem("unlikely-value", template.span, message, "warning", fixes)


def _word(node: Node, *keys: str) -> str | None:
    found = node.get(*keys)
    return found.value if found is not None and found.kind == "scalar" else None
