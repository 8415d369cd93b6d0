"""Edits of a suite as its author would make them by hand.

The fewest characters, the author's indentation, every comment preserved.

Each function returns edits of ``tree.text``. They are validated first: if the edited text does
not parse as intended (or parses worse than before), no edits are returned.
"""

from __future__ import annotations

from collections.abc import Sequence

from waza_language_server.syntax.author_style import indent_step, line_break
from waza_language_server.syntax.frames import column_of, line_start_of
from waza_language_server.syntax.nodes import Entry, Node
from waza_language_server.syntax.placed_text import (
    commented,
    deleted,
    emptied,
    indented,
    insert_in_brackets,
    inserted,
    line_end,
    own_text,
    pair_text,
    placed,
    value_text,
    whole_lines,
    with_only_item,
    without_comma,
)
from waza_language_server.syntax.scalar_map import ScalarMap
from waza_language_server.syntax.tree import Tree, parse
from waza_language_server.syntax.tried_edits import (
    Edits,
    apply,
    checked,
    entries_of,
    is_no_worse,
    items_of,
    reads,
    value_of,
)
from waza_language_server.text.edit import Edit
from waza_language_server.text.span import Span


def insert_entry(
    tree: Tree, mapping: Node | None, key: str, value_text: str, after: Entry | None = None
) -> Edits:
    """Add ``key: value_text`` to a mapping, after ``after`` or at its end.

    ``mapping`` may be an empty value (``config:``), which becomes a mapping, or None for an empty document.
    ``value_text`` is YAML; its further lines are indented relative to the key.
    """
    entry_text = pair_text(key, value_text)
    value = value_of(entry_text)
    edits = inserted(tree, mapping, entry_text, after)
    path = mapping.path if mapping is not None else ()
    return checked(tree, edits, path, lambda old: {**entries_of(old), **entries_of(value)})


def insert_item(tree: Tree, sequence: Node, item_text: str) -> Edits:
    """Add an item to the end of a list in brackets; ``item_text`` is YAML on one line."""
    items = sequence.items
    if sequence.kind != "sequence" or sequence.style != "flow":
        return ()
    edits = insert_in_brackets(tree.text, sequence, items[-1] if items else None, item_text)
    value = items_of(value_of(f"[{item_text}]"))
    return checked(tree, edits, sequence.path, lambda old: [*items_of(old), *value])


def replace_scalar(tree: Tree, node: Node, new_value: str) -> Edits:
    """Give a scalar another value in its current style; a string stays a string."""
    written = ScalarMap.of(tree.text, node).write(new_value)
    edits = (Edit(node.span, written),)
    if node.step is None:
        new_tree = parse(apply(tree.text, edits), tree)
        return edits if new_tree.errors == tree.errors else ()
    good = reads(tree, edits, node.path, lambda new: new.kind == "scalar" and new.value == new_value)
    return edits if good else ()


def delete_entry(tree: Tree, entry: Entry) -> Edits:
    """Remove an entry with its lines; comments above it and around it stay."""
    mapping = entry.value.parent
    if mapping is None:
        return ()
    edits = deleted(tree.text, mapping, entry)
    gone = entry.key.value
    return checked(
        tree, edits, mapping.path, lambda old: {k: v for k, v in entries_of(old).items() if k != gone}
    )


def comment_out_entry(tree: Tree, entry: Entry) -> Edits:
    """Turn an entry into a comment in place; from brackets and after a dash, on a line above."""
    mapping, text = entry.value.parent, tree.text
    if mapping is None:
        return ()
    start = entry.key.span.start
    line, alone = line_start_of(text, start), len(mapping.green.children) <= 2
    if mapping.style == "block" and not alone and not text[line:start].strip():
        edits = commented(text, entry.span, start - line)
    else:
        step = mapping.step if alone else None
        holder = mapping.parent.entry(step) if mapping.parent and isinstance(step, str) else None
        above = line_start_of(text, start if holder is None else holder.key.span.start)
        column = len(text[above:start]) - len(text[above:start].lstrip(" "))
        rows = (f"# {row}".rstrip() for row in own_text(text, entry).split("\n"))
        comment = "".join(f"{' ' * column}{row}{line_break(text)}" for row in rows)
        edits = (Edit(Span(above, above), comment), *deleted(text, mapping, entry))
    gone = entry.key.value
    return checked(
        tree, edits, mapping.path, lambda old: {k: v for k, v in entries_of(old).items() if k != gone}
    )


def delete_item(tree: Tree, item: Node) -> Edits:
    """Remove an item of a list with its lines; the last one leaves ``[]``."""
    sequence = item.parent
    if sequence is None or sequence.kind != "sequence":
        return ()
    text = tree.text
    items = sequence.items
    index = next((i for i, other in enumerate(items) if other.span == item.span), -1)
    if index < 0:
        return ()
    if len(items) == 1:
        edits = emptied(text, sequence, "[]")
    elif sequence.style == "flow":
        edits = (without_comma(text, [other.span for other in items], index),)
    else:
        dash = text.rfind("-", 0, item.span.start + (not len(item.span)))
        if text[line_start_of(text, dash) : dash].strip():
            edits = (Edit(Span(dash, items[index + 1].span.start - 2), ""),) if index + 1 < len(items) else ()
        else:
            edits = (Edit(whole_lines(text, Span(dash, max(item.span.end, dash + 1))), ""),)
    return checked(
        tree, edits, sequence.path, lambda old: [v for i, v in enumerate(items_of(old)) if i != index]
    )


def move_entry_into(
    tree: Tree, entry: Entry, mapping: Node, child_key: str, *, as_item: bool = False
) -> Edits:
    """Move an entry into the mapping under ``child_key`` of ``mapping``, which is created if missing.

    With ``as_item`` its value, which is on one line, becomes the only item of a list.
    """
    text = tree.text
    holder = entry.value.parent
    if holder is None:
        return ()
    name = entry.key.value
    value = entry.value.to_python()
    entry_text = own_text(text, entry)
    if as_item:
        value = [value]
        entry_text = with_only_item(text, entry, in_brackets=holder.style == "flow")
    child = mapping.entry(child_key)
    same = holder.span == mapping.span and holder.path == mapping.path
    if child is None and same and holder.style != "flow":
        column = column_of(text, entry.key.span.start)
        step = indent_step(tree)
        ending = line_break(text)
        moved = f"{child_key}:\n" + " " * step + indented(entry_text, step)
        whole = Span(entry.span.start, line_end(text, entry.span.end))
        edits: Edits = (Edit(whole, placed(moved, column, ending)),)
    elif child is None:
        block = f"{child_key}:\n  {indented(entry_text, 2)}"
        if mapping.style == "flow":
            block = f"{child_key}: {{{entry_text}}}"
        edits = (*inserted(tree, mapping, block, None), *deleted(text, holder, entry))
    else:
        edits = (*inserted(tree, child.value, entry_text, None), *deleted(text, holder, entry))
    if not edits:
        return ()
    if not same:
        new_tree = parse(apply(text, edits), tree)
        return edits if is_no_worse(tree, new_tree) else ()

    def moved_model(old: object) -> object:
        model = {k: v for k, v in entries_of(old).items() if k != name}
        model[child_key] = {**entries_of(model.get(child_key)), name: value}
        return model

    return checked(tree, edits, mapping.path, moved_model)


def move_entries_into(tree: Tree, entries: Sequence[Entry], mapping: Node, child_key: str) -> Edits:
    """Move entries of a block mapping, each on lines of its own, into the mapping under ``child_key``.

    If it does not exist, it is created in place of the first of them.
    """
    text, child = tree.text, mapping.entry(child_key)
    column, ending = column_of(text, mapping.span.start), line_break(text)
    rows: list[str] = []
    gone: list[Edit] = []
    for entry in entries:
        if text[line_start_of(text, entry.key.span.start) : entry.key.span.start].strip():
            return ()
        rows.append(own_text(text, entry))
        gone.append(Edit(whole_lines(text, entry.span), ""))
    moved = {entry.key.value: entry.value.to_python() for entry in entries}
    if child is None:
        step = indent_step(tree)
        block = f"{child_key}:" + "".join(f"\n{' ' * step}{indented(row, step)}" for row in rows)
        start = line_start_of(text, entries[0].key.span.start)
        first = Span(start, line_end(text, entries[0].span.end))
        edits: Edits = (Edit(first, " " * column + placed(block, column, ending)), *gone[1:])
    else:
        edits = (*inserted(tree, child.value, "\n".join(rows), None), *gone)
        if len(edits) == len(gone):
            return ()

    def moved_model(old: object) -> object:
        model = {k: v for k, v in entries_of(old).items() if k not in moved}
        model[child_key] = {**entries_of(model.get(child_key)), **moved}
        return model

    return checked(tree, edits, mapping.path, moved_model)


def move_entry_up(tree: Tree, entry: Entry, above: Node) -> Edits:
    """Move an entry into a mapping further up, next to the one that holds it."""
    mapping = entry.value.parent
    if mapping is None:
        return ()
    holder = mapping
    while holder.parent is not None and holder.parent.span != above.span:
        holder = holder.parent
    before = [each for each in above.entries if each.value.span.end <= holder.span.start]
    below = [each for each in above.entries if each.key.span.start >= holder.span.end]
    if not before and not below:
        return ()
    after = before[-1] if before else below[0]
    value = value_text(tree.text, mapping, entry)
    # The only key of a mapping takes the mapping with it, rather than leave an empty one.
    gone = _only_content_of(above, entry, tree.text) or entry
    if gone is not entry and mapping.style == "flow" and (note := _comment_after(tree.text, gone)):
        value = f"{value} {note}"
    inserted = insert_entry(tree, above, entry.key.value, value, after)
    deleted = delete_entry(tree, gone)
    return (*inserted, *deleted) if inserted and deleted else ()


def _only_content_of(above: Node, entry: Entry, text: str) -> Entry | None:
    """Return the entry of ``above`` that contains only an entry, without comments."""
    mapping = entry.value.parent
    if mapping is None or len(mapping.entries) != 1 or mapping.parent != above:
        return None
    holder = above.entry(mapping.step) if isinstance(mapping.step, str) else None
    if holder is None:
        return None
    around = (holder.key.span.end, entry.key.span.start), (entry.span.end, holder.span.end)
    return None if any("#" in text[start:end] for start, end in around) else holder


def _comment_after(text: str, entry: Entry) -> str:
    """Return the comment at the end of the last line of an entry, "" without one."""
    return text[entry.span.end : line_end(text, entry.span.end)].strip()
