"""Values in another form than required: a missing or extra dash, a string that `: ` turns into a mapping."""

from __future__ import annotations

from waza_engine.later_patterns import compiled_later
from waza_engine.spec.reading.scalars import MERGE_KEY, resolve_scalar
from waza_language_server.schema.shape import Shape
from waza_language_server.syntax.author_style import line_break
from waza_language_server.syntax.escapes import in_lost_quotes, quoted
from waza_language_server.syntax.frames import column_of
from waza_language_server.syntax.nodes import Entry, Node
from waza_language_server.text.edit import Edit, Edits
from waza_language_server.text.span import Span

_LINE = compiled_later(r"[^\s][^\r\n]*")
_DASH = compiled_later(r"-(?:[^\s-]| )")
_NAME = compiled_later(r"[A-Za-z_][\w.-]*")
_ROW_BELOW = compiled_later(r"\n(?=[^\r\n])")
_NOTHING = compiled_later(r"(?:\s|(?<=\s)#[^\r\n]*)*+")
"""Whitespace, line breaks and comments."""


def dash_before(text: str, node: Node) -> Edit | None:
    """Return the edit that makes a block mapping the only item of a list; None if there is no space for it.

    The dash replaces two of the spaces before the first key, so no other line changes.
    """
    if node.kind != "mapping" or node.style != "block" or node.parent is None:
        return None
    names = node.key_names
    if names[:1] and names[0] in names[1:]:
        # Each of them begins another item.
        return None
    start = node.span.start
    column = start - _line_start(text, start)
    if column < 2 or text[start - column : start].strip(" ") or column < _column_of_key(text, node) + 2:
        return None
    if text.startswith("-", start):
        # The dash exists, the space after it is missing.
        return Edit(Span(start + 1, start + 1), " ") if len(node.green.children) == 2 else None
    return Edit(Span(start - 2, start), "- ")


def list_by_name(text: str, node: Node, items: Shape) -> Edits:
    """Return the edits that convert a mapping by names to a list: each name becomes a key of its item.

    Empty unless all values are mappings without such a key, and no name is a key of an item.
    """
    item = items.branch("mapping")
    name = next((key for key in ("id", "name") if key in item.properties), None)
    if name is None or node.kind != "mapping" or not node.entries:
        return ()
    found: list[Edit] = []
    for entry in node.entries:
        value, key = entry.value, text[entry.key.span.start : entry.key.span.end]
        if entry.key.value in item.properties or value.kind != "mapping" or value.entry(name) is not None:
            return ()
        if not isinstance(resolve_scalar(key), str):
            key = f'"{key}"'
        edit = _named_item(text, entry, f"{name}: {key}", in_flow=node.style == "flow")
        if edit is None:
            return ()
        found += edit
    if node.style == "flow":
        first, last = node.span.start, node.span.end - 1
        found += Edit(Span(first, first + 1), "["), Edit(Span(last, last + 1), "]")
    return tuple(found)


def files_by_path(text: str, node: Node, items: Shape) -> Edits:
    """Return the edits that convert a mapping of paths to contents into a list of files, or none."""
    known, in_flow = items.branch("mapping").properties, node.style == "flow"
    if not {"path", "content"} <= known.keys() or node.kind != "mapping":
        return ()
    found: list[Edit] = []
    for entry in node.entries:
        start, value = entry.key.span.start, entry.value
        between = text[entry.key.span.end : value.span.start].strip(" ")
        if value.kind != "scalar" or not len(value.span) or between != ":" or entry.key.value in known:
            return ()
        path = f"path: {text[start : entry.key.span.end]}"
        margin = f"{line_break(text)}{' ' * (column_of(text, start) + 2)}"
        before = f"{{{path}, content: " if in_flow else f"- {path}{margin}content: "
        found.append(Edit(Span(start, value.span.start), before))
        # Continuation lines of a text must be indented further than its new key.
        rows = _ROW_BELOW.finditer(text, value.span.start, value.span.end)
        found += (Edit(Span(row.end(), row.end()), "  ") for row in rows)
        if in_flow:
            found.append(Edit(Span(value.span.end, value.span.end), "}"))
    if in_flow and found:
        first, last = node.span.start, node.span.end - 1
        found += Edit(Span(first, first + 1), "["), Edit(Span(last, last + 1), "]")
    return tuple(found)


def block_by_name(text: str, node: Node, shape: Shape) -> Edits:
    """Return the edits that convert a list to a mapping by names, which has no keys of its own.

    `- name: a` becomes `a:`, and with a `value` below it `a: …`. Empty unless each item begins with a unique
    name of one word, and has other keys.
    """
    if node.kind != "sequence" or node.style != "block" or shape.branch("mapping").properties:
        return ()
    edits: list[Edit] = []
    names: set[str] = set()
    for item in node.items:
        first, start = next(item.each_entry(), None), item.span.start
        others, last = item.key_names[1:], item.last_entry
        if first is None or last is None or not others or first.key.value not in {"id", "name"}:
            return ()
        name, behind = first.value.value, first.value.span.end
        if item.style != "block" or text[start - 2 : start] != "- " or _NAME.fullmatch(name) is None:
            return ()
        names.add(name)
        is_pair = others == ("value",) and last.value.kind == "scalar"
        is_bare = not text[behind : last.key.span.start].strip()
        end, sign = (last.value.span.start, ": ") if is_pair and is_bare else (behind, ":")
        edits.append(Edit(Span(start - 2, end), f"{name}{sign}"))
    return tuple(edits) if len(names) == len(edits) else ()


def _named_item(text: str, entry: Entry, first: str, *, in_flow: bool) -> Edits | None:
    """Return the edits that turn an entry into an item, with another key before its others."""
    key, value = entry.key.span, entry.value
    colon = text.find(":", key.end, value.span.start) + 1
    between = text[colon : value.span.start]
    if not colon or value.green.anchor is not None or value.green.tag is not None:
        return None
    if value.style == "flow":
        comma = ", " if value.entries else ""
        start = value.span.start + 1
        behind = Edit(Span(start, start), f"{first}{comma}")
        if between.strip() or "\n" in between or "\r" in between:
            return None
        return Edit(Span(key.start, value.span.start), "" if in_flow else "- "), behind
    # The key is above the others of its item, and the dash to the left of them.
    margin = column_of(text, value.span.start) - column_of(text, key.start) - 1
    return (Edit(Span(key.start, colon), f"-{' ' * margin}{first}"),) if margin > 0 else None


def without_dashes(text: str, node: Node) -> Edits:
    """Return the edits that merge the items of a block list into one mapping; empty if they share a key.

    A file that is a list with one item is that item; several may be parts of one, or different things.
    """
    if node.kind != "sequence" or node.style != "block" or (node.parent is None and len(node.items) != 1):
        return ()
    names = [key for item in node.items for key in item.key_names]
    items = [item.span.start for item in node.items if item.kind == "mapping" and item.style == "block"]
    are_plain = all(text[start - 2 : start] == "- " for start in items)
    if len(items) < len(node.items) or not are_plain or len(set(names)) < len(names):
        return ()
    return tuple(Edit(Span(start - 2, start), "  ") for start in items)


def spaces_behind_dashes(text: str, node: Node) -> Edits:
    """Return the edits for a string whose lines all begin with a dash, some without a space: make it a list.

    Empty for a string on the line of its key: there a dash may be a minus, or a part of it.
    """
    lines = list(_LINE.finditer(text, node.span.start, node.span.end))
    before = text[: node.span.start].rstrip(" ")
    if (
        node.style != "plain"
        or before[-1:] not in {"\n", "\r"}
        or not all(_DASH.match(line[0]) for line in lines)
    ):
        return ()
    glued = (line.start() + 1 for line in lines if line[0][1] != " ")
    return tuple(Edit(Span(place, place), " ") for place in glued)


def out_of_list(text: str, node: Node) -> Edit | None:
    """Return the edit that replaces a list with its only value; None if it has not exactly one.

    Also None if anything else would be lost with the list (an anchor, a tag, a comment), or if text follows
    it: the brackets are a part of `[draft] Summary`.
    """
    item = node.items[0] if node.kind == "sequence" and len(node.items) == 1 else None
    if item is None or item.kind != "scalar" or not len(item.span):
        return None
    if any(each.green.anchor is not None or each.green.tag is not None for each in (node, item)):
        return None
    before = text[node.span.start : item.span.start].strip()
    behind = "".join(text[item.span.end : node.span.end].split())
    if (before, behind) not in {("[", "]"), ("[", ",]"), ("-", "")}:
        return None
    written = text[item.span.start : item.span.end]
    if "\n" in written or "\r" in written:
        return None
    if node.style == "flow":
        return None if _goes_on(text, node) else Edit(node.span, written)
    holder = node.parent.entry(node.step) if node.parent is not None and isinstance(node.step, str) else None
    colon = text.find(":", holder.key.span.end, node.span.start) + 1 if holder is not None else 0
    if not colon or text[colon : node.span.start].strip():
        return None
    return Edit(Span(colon, node.span.end), f" {written}")


def only_value(text: str, node: Node) -> Edit | None:
    """Return the edit that writes the only value of a mapping without its key, if possible."""
    entry = node.entries[0] if node.kind == "mapping" and len(node.entries) == 1 else None
    if entry is None or entry.value.kind != "scalar" or not len(entry.value.span):
        return None
    if any(each.green.anchor is not None or each.green.tag is not None for each in (node, entry.value)):
        return None
    written = text[entry.value.span.start : entry.value.span.end]
    around = text[node.span.start : entry.key.span.start] + text[entry.span.end : node.span.end]
    if any(sign in written + text[entry.key.span.end : entry.value.span.start] for sign in "\r\n#"):
        return None
    if around.strip("{}, ") or entry.key.value in {MERGE_KEY, "?"}:
        return None
    holder = node.parent.entry(node.step) if node.parent is not None and isinstance(node.step, str) else None
    if node.style == "flow" or holder is None:
        return Edit(node.span, written)
    colon = text.find(":", holder.key.span.end, node.span.start) + 1
    if not colon or text[colon : node.span.start].strip():
        return None
    return Edit(Span(colon, node.span.end), f" {written}")


def content_of_message(text: str, node: Node) -> Edit | None:
    """Return the edit that writes the text of a chat message, alone or in a list; None for anything else.

    `{role: user, content: Go}` is the format of chat APIs.
    """
    message = node.items[0] if node.kind == "sequence" and len(node.items) == 1 else node
    content = message.get("content") if message.kind == "mapping" else None
    if content is None or content.kind != "scalar" or set(message.key_names) != {"role", "content"}:
        return None
    holder = node.parent.entry(node.step) if node.parent is not None and isinstance(node.step, str) else None
    written = text[content.span.start : content.span.end]
    colon = text.find(":", holder.key.span.end, node.span.start) + 1 if holder is not None else 0
    is_user = (role := message.get("role")) is not None and role.value == "user"
    if not is_user or not colon or "\n" in written or content.green.anchor is not None:
        return None
    return Edit(Span(colon, node.span.end), f" {written}")


def only_list(text: str, node: Node, items: Shape) -> Edits:
    """Return the edits that write a mapping's only value, a list, without its key: `{files: [a]}`.

    None if the key is one of an item: then the mapping was intended as the only item.
    """
    entry = node.entries[0] if node.kind == "mapping" and len(node.entries) == 1 else None
    if (
        entry is None
        or entry.value.kind != "sequence"
        or entry.key.value in items.branch("mapping").properties
    ):
        return ()
    if any(each.green.anchor is not None or each.green.tag is not None for each in (node, entry.value)):
        return ()
    value = entry.value.span
    around = text[node.span.start : entry.key.span.start] + text[entry.span.end : node.span.end]
    between = text[entry.key.span.end : value.start]
    if node.style == "flow":
        is_bare = not around.strip("{}, ") and "#" not in between
        return (Edit(node.span, text[value.start : value.end]),) if is_bare else ()
    line = _line_start(text, entry.key.span.start)
    if between.strip() != ":" or text[line : entry.key.span.start].strip():
        return ()
    if entry.value.style == "block":
        below = _line_start(text, value.start)
        return (Edit(Span(line, below), ""),) if below > entry.key.span.end else ()
    return (Edit(Span(entry.key.span.start, value.start), ""),)


def _goes_on(text: str, node: Node) -> bool:
    """Return whether unparsed text follows a value in a block, on its line or indented below it."""
    if node.parent is None or node.parent.style == "flow":
        return False
    nothing = _NOTHING.match(text, node.span.end)
    behind = nothing.end() if nothing is not None else node.span.end
    return behind < len(text) and column_of(text, behind) > column_of(text, node.parent.span.start)


def in_quotes(text: str, node: Node) -> Edit | None:
    """Return the edit that quotes a one-line mapping which is a string with `: ` in it."""
    written = text[node.span.start : node.span.end]
    if node.kind != "mapping" or node.style != "block" or "\n" in written or "\r" in written:
        return None
    return Edit(node.span, in_lost_quotes(written) or quoted(written))


def template_in_quotes(text: str, node: Node) -> Edit | None:
    """Return the edit that quotes a one-line mapping without values, a template: `{{name}}`, `{name}`."""
    written = text[node.span.start : node.span.end]
    is_bare = node.style == "flow" and "\n" not in written and "\r" not in written
    if node.kind != "mapping" or not node.entries or not is_bare or _goes_on(text, node):
        return None
    if any(len(entry.value.span) for entry in node.entries) or node.green.anchor or node.green.tag:
        return None
    return Edit(node.span, quoted(written))


def _column_of_key(text: str, node: Node) -> int:
    holder = node.parent.entry(node.step) if node.parent is not None and isinstance(node.step, str) else None
    start = holder.key.span.start if holder is not None else node.span.start
    return start - _line_start(text, start)


def _line_start(text: str, offset: int) -> int:
    return max(text.rfind("\n", 0, offset), text.rfind("\r", 0, offset)) + 1


def pair_in_quotes(text: str, node: Node) -> Edit | None:
    """Return the edit that quotes `release: true` in a list; otherwise only a switch would remain."""
    value = node.entries[0].value if len(node.entries) == 1 else None
    written = text[node.span.start : node.span.end]
    if value is None or value.kind != "scalar" or written[:1] in {"{", ""} or "\n" in written:
        return None
    is_typed = value.style == "plain" and not isinstance(resolve_scalar(value.value), str)
    return Edit(node.span, quoted(written)) if is_typed else None
