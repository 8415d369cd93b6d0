"""Changing a suite as its author would by hand.

The fewest characters, the author's indentation, every comment kept.

Each function returns edits against ``tree.text``. They are tried first, with pauses: when the edited text
does not read as intended (or reads worse than before), the answer is no edit at all.
"""

from __future__ import annotations

from waza_engine.steps import Steps
from waza_language_server.syntax.author_style import indent_step, line_break
from waza_language_server.syntax.frames import column_of, line_start_of
from waza_language_server.syntax.nodes import Entry, Node
from waza_language_server.syntax.tree import Tree, parse_in_steps
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
from waza_language_server.text.scalar_map import ScalarMap
from waza_language_server.text.scalar_writing import plain_or_quoted
from waza_language_server.text.span import Span


def insert_entry(
    tree: Tree, mapping: Node | None, key: str, value_text: str, after: Entry | None = None
) -> Steps[Edits]:
    """Add ``key: value_text`` to a mapping, behind ``after`` or at its end.

    ``mapping`` may be an empty value (``config:``), which becomes a mapping, or None for an empty document.
    ``value_text`` is YAML; its further lines are indented relative to the key.
    """
    entry_text = _entry_text(key, value_text)
    value = value_of(entry_text)
    edits = _inserted(tree, mapping, entry_text, after)
    path = mapping.path if mapping is not None else ()
    return (yield from checked(tree, edits, path, lambda old: {**entries_of(old), **entries_of(value)}))


def insert_item(tree: Tree, sequence: Node, item_text: str) -> Steps[Edits]:
    """Add an item to the end of a list in brackets; ``item_text`` is YAML on one line."""
    items = sequence.items
    if sequence.kind != "sequence" or sequence.style != "flow":
        return ()
    edits = _insert_in_brackets(tree.text, sequence, items[-1] if items else None, item_text)
    value = items_of(value_of(f"[{item_text}]"))
    return (yield from checked(tree, edits, sequence.path, lambda old: [*items_of(old), *value]))


def replace_scalar(tree: Tree, node: Node, new_value: str) -> Steps[Edits]:
    """Give a scalar another value in the style it is written in; text stays text."""
    written = ScalarMap.of(tree.text, node).write(new_value)
    edits = (Edit(node.span, written),)
    if node.step is None:
        new_tree = yield from parse_in_steps(apply(tree.text, edits), tree)
        return edits if new_tree.errors == tree.errors else ()
    good = yield from reads(
        tree, edits, node.path, lambda new: new.kind == "scalar" and new.value == new_value
    )
    return edits if good else ()


def delete_entry(tree: Tree, entry: Entry) -> Steps[Edits]:
    """Remove an entry with its lines; comments above it and around it stay."""
    mapping = entry.value.parent
    if mapping is None:
        return ()
    edits = _deleted(tree.text, mapping, entry)
    gone = entry.key.value
    return (
        yield from checked(
            tree, edits, mapping.path, lambda old: {k: v for k, v in entries_of(old).items() if k != gone}
        )
    )


def comment_out_entry(tree: Tree, entry: Entry) -> Steps[Edits]:
    """Turn an entry into a comment where it stands; from brackets and behind a dash, on a line above."""
    mapping, text = entry.value.parent, tree.text
    if mapping is None:
        return ()
    start = entry.key.span.start
    line, alone = line_start_of(text, start), len(mapping.green.children) <= 2
    if mapping.style == "block" and not alone and not text[line:start].strip():
        edits = _commented(text, entry.span, start - line)
    else:
        step = mapping.step if alone else None
        holder = mapping.parent.entry(step) if mapping.parent and isinstance(step, str) else None
        above = line_start_of(text, start if holder is None else holder.key.span.start)
        column = len(text[above:start]) - len(text[above:start].lstrip(" "))
        rows = (f"# {row}".rstrip() for row in _own_text(text, entry).split("\n"))
        comment = "".join(f"{' ' * column}{row}{line_break(text)}" for row in rows)
        edits = (Edit(Span(above, above), comment), *_deleted(text, mapping, entry))
    gone = entry.key.value
    return (
        yield from checked(
            tree, edits, mapping.path, lambda old: {k: v for k, v in entries_of(old).items() if k != gone}
        )
    )


def delete_item(tree: Tree, item: Node) -> Steps[Edits]:
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
        edits = _emptied(text, sequence, "[]")
    elif sequence.style == "flow":
        edits = (_without_comma(text, [other.span for other in items], index),)
    else:
        dash = text.rfind("-", 0, item.span.start + (not len(item.span)))
        if text[line_start_of(text, dash) : dash].strip():
            edits = (Edit(Span(dash, items[index + 1].span.start - 2), ""),) if index + 1 < len(items) else ()
        else:
            edits = (Edit(_whole_lines(text, Span(dash, max(item.span.end, dash + 1))), ""),)
    return (
        yield from checked(
            tree, edits, sequence.path, lambda old: [v for i, v in enumerate(items_of(old)) if i != index]
        )
    )


def move_entry_into(tree: Tree, entry: Entry, mapping: Node, child_key: str) -> Steps[Edits]:
    """Move an entry into the mapping under ``child_key`` of ``mapping``, creating that when it is missing."""
    text = tree.text
    holder = entry.value.parent
    if holder is None:
        return ()
    name = entry.key.value
    value = entry.value.to_python()
    entry_text = _own_text(text, entry)
    child = mapping.entry(child_key)
    same = holder.span == mapping.span and holder.path == mapping.path
    if child is None and same and holder.style != "flow":
        column = column_of(text, entry.key.span.start)
        step = indent_step(tree)
        ending = line_break(text)
        moved = f"{child_key}:\n" + " " * step + _indented(entry_text, step)
        edits: Edits = (Edit(entry.span, _placed(moved, column, ending)),)
    elif child is None:
        edits = (
            *_inserted(tree, mapping, f"{child_key}:\n  " + _indented(entry_text, 2), None),
            *_deleted(text, holder, entry),
        )
    else:
        edits = (*_inserted(tree, child.value, entry_text, None), *_deleted(text, holder, entry))
    if not edits:
        return ()
    if not same:
        new_tree = yield from parse_in_steps(apply(text, edits), tree)
        return edits if is_no_worse(tree, new_tree) else ()

    def moved_model(old: object) -> object:
        model = {k: v for k, v in entries_of(old).items() if k != name}
        model[child_key] = {**entries_of(model.get(child_key)), name: value}
        return model

    return (yield from checked(tree, edits, mapping.path, moved_model))


def move_entry_up(tree: Tree, entry: Entry, above: Node) -> Steps[Edits]:
    """Move an entry into a mapping further up, beside what holds it."""
    mapping = entry.value.parent
    if mapping is None:
        return ()
    holder = mapping
    while holder.parent is not None and holder.parent.span != above.span:
        holder = holder.parent
    before = [each for each in above.entries if each.value.span.end <= holder.span.start]
    behind = [each for each in above.entries if each.key.span.start >= holder.span.end]
    if not before and not behind:
        return ()
    after = before[-1] if before else behind[0]
    value = _value_text(tree.text, mapping, entry)
    # The only key of a mapping takes the mapping with it, rather than leave an empty one behind.
    gone = _only_content_of(above, entry, tree.text) or entry
    if gone is not entry and mapping.style == "flow" and (note := _comment_behind(tree.text, gone)):
        value = f"{value} {note}"
    inserted = yield from insert_entry(tree, above, entry.key.value, value, after)
    deleted = yield from delete_entry(tree, gone)
    return (*inserted, *deleted) if inserted and deleted else ()


def unwrap_entry(tree: Tree, entry: Entry) -> Steps[Edits]:
    """Put the keys of a block into the mapping around it, in place of the entry that holds them."""
    text, mapping, block = tree.text, entry.value.parent, entry.value
    if mapping is None or mapping.style == "flow" or block.kind != "mapping" or block.style == "flow":
        return ()
    start, first = entry.key.span.start, block.span.start
    column, line = column_of(text, start), line_start_of(text, first)
    colon = text.find(":", entry.key.span.end, first) + 1
    if line <= start or text[line_start_of(text, start) : start].strip(" ") or not colon:
        return ()
    by = column_of(text, first) - column
    comment = text[colon : _line_end(text, colon)].strip()
    gone = Span(start, colon + len(text[colon:line]) - len(text[colon:line].lstrip(" \t")))
    edits = [Edit(gone if comment else _whole_lines(text, Span(start, start)), "")]
    at = line if comment else max(line, edits[0].span.end)
    for row in text[at : block.span.end].splitlines(keepends=True):
        blanks = min(by, len(row) - len(row.lstrip(" ")))
        if blanks:
            edits.append(Edit(Span(at, at + blanks), ""))
        at += len(row)
    moved, name = block.to_python(), entry.key.value

    def unwrapped(old: object) -> object:
        return {**{k: v for k, v in entries_of(old).items() if k != name}, **entries_of(moved)}

    return (yield from checked(tree, tuple(edits), mapping.path, unwrapped))


def _only_content_of(above: Node, entry: Entry, text: str) -> Entry | None:
    """Return the entry of ``above`` that has nothing but an entry in it, no comment either."""
    mapping = entry.value.parent
    if mapping is None or len(mapping.entries) != 1 or mapping.parent != above:
        return None
    holder = above.entry(mapping.step) if isinstance(mapping.step, str) else None
    if holder is None:
        return None
    around = (holder.key.span.end, entry.key.span.start), (entry.span.end, holder.span.end)
    return None if any("#" in text[start:end] for start, end in around) else holder


def _comment_behind(text: str, entry: Entry) -> str:
    """Return the comment at the end of the last line of an entry, "" without one."""
    return text[entry.span.end : _line_end(text, entry.span.end)].strip()


# Where text goes.


def _inserted(tree: Tree, mapping: Node | None, entry_text: str, after: Entry | None) -> Edits:
    text = tree.text
    if mapping is None:
        end = len(text.rstrip())
        if not end:
            return (
                Edit(Span(len(text), len(text)), _placed(entry_text, 0, line_break(text)) + line_break(text)),
            )
        return (_insert_line(text, end, entry_text, 0),)
    if mapping.kind == "mapping":
        last = after if after is not None else mapping.last_entry
        if mapping.style == "flow":
            return _insert_in_brackets(text, mapping, last.value if last else None, entry_text, last)
        if last is None:
            return ()
        return (_insert_line(text, last.span.end, entry_text, column_of(text, last.key.span.start)),)
    if _is_empty(mapping):
        column = _key_column(mapping, text)
        if mapping.parent is not None and mapping.parent.kind == "sequence":
            gap = "" if text[mapping.span.start - 1 : mapping.span.start] == " " else " "
            at = Span(mapping.span.start, mapping.span.start)
            return (Edit(at, gap + _placed(entry_text, column + 2, line_break(text))),)
        return (_insert_line(text, mapping.span.end, entry_text, column + indent_step(tree)),)
    return ()


def _insert_line(text: str, at: int, block: str, column: int) -> Edit:
    """Insert lines below the line that holds ``at``."""
    ending = line_break(text)
    end = _line_end(text, at)
    return Edit(Span(end, end), ending + " " * column + _placed(block, column, ending))


def _insert_in_brackets(
    text: str, holder: Node, after: Node | None, block: str, last: Entry | None = None
) -> Edits:
    if "\n" in block:
        return ()
    if after is None:
        at = holder.span.start + 1
        return (Edit(Span(at, at), block + (", " if holder.green.children else "")),)
    at = max(after.span.end, last.span.end if last else 0)
    return (Edit(Span(at, at), f", {block}"),)


def _deleted(text: str, mapping: Node, entry: Entry) -> Edits:
    count = len(mapping.green.children) // 2
    index = mapping.children_before(entry.key.span.start) // 2
    found = mapping.nth_child(2 * index)
    if found is None or found.span != entry.key.span:
        return ()
    if count == 1:
        if mapping.parent is None and mapping.style == "block":
            return (Edit(_whole_lines(text, entry.span), ""),)
        around = text[mapping.span.start : entry.span.start] + text[entry.span.end : mapping.span.end]
        if mapping.style == "flow" and "#" in around:
            return (Edit(entry.span, ""),)
        return _emptied(text, mapping, "{}")
    if mapping.style == "flow":
        return (_without_comma(text, [other.span for other in mapping.entries], index),)
    start = entry.key.span.start
    if not text[line_start_of(text, start) : start].strip():
        return (Edit(_whole_lines(text, entry.span), ""),)
    following = mapping.nth_child(2 * index + 2)
    if following is None:
        return ()
    # The first entry stands behind the dash of an item: the next one takes its place, unless a comment is
    # between.
    between = text[entry.span.end : following.span.start]
    if "#" not in between:
        return (Edit(Span(start, following.span.start), ""),)
    return (Edit(entry.span, ""),)


def _commented(text: str, span: Span, column: int) -> Edits:
    """Make comments of the lines of a span, with the signs in one column where the text is that far in."""
    edits: list[Edit] = []
    at = line_start_of(text, span.start)
    for row in text[at : span.end].splitlines(keepends=True):
        if row.strip():
            place = at + min(column, len(row) - len(row.lstrip(" ")))
            edits.append(Edit(Span(place, place), "# "))
        at += len(row)
    return tuple(edits)


def _emptied(text: str, node: Node, brackets: str) -> Edits:
    """Write an empty collection where a block collection stood."""
    start = node.span.start
    if node.style == "flow" or node.parent is None:
        return (Edit(node.span, brackets),)
    line = line_start_of(text, start)
    if text[line:start].strip():
        return (Edit(node.span, brackets),)
    # The collection began on a line of its own; the brackets go behind the key.
    holder = next((e.key for e in node.parent.entries if e.value.span == node.span), None)
    colon = text.find(":", holder.span.end, start) if holder is not None else -1
    if colon < 0:
        return ()
    return (
        Edit(Span(colon + 1, colon + 1), f" {brackets}"),
        Edit(_whole_lines(text, Span(start, node.span.end)), ""),
    )


def _without_comma(text: str, spans: list[Span], index: int) -> Edit:
    """Take an item out of brackets with one of the commas beside it, and no comment."""
    span = spans[index]
    if index and "#" not in text[spans[index - 1].end : span.start]:
        return Edit(Span(spans[index - 1].end, span.end), "")
    if index + 1 == len(spans):
        # There may be a comma in front of the bracket.
        return Edit(span, "")
    following = spans[index + 1].start
    if "#" in (between := text[span.end : following]):
        return Edit(Span(span.start, span.end + between.find(",") + 1), "")
    return Edit(Span(span.start, following), "")


def _whole_lines(text: str, span: Span) -> Span:
    """Return the lines that hold a span with the break behind them; before them at the end of the text."""
    start, end = line_start_of(text, span.start), _line_end(text, span.end)
    if end == len(text):
        while start > 0 and text[start - 1] in "\r\n":
            start -= 1
            if text[start] == "\n" and text[start - 1 : start] == "\r":
                start -= 1
            break
        return Span(start, end)
    return Span(start, end + (2 if text.startswith("\r\n", end) else 1))


def _line_end(text: str, at: int) -> int:
    while at < len(text) and text[at] not in "\r\n":
        at += 1
    return at


def _own_text(text: str, entry: Entry) -> str:
    """Return an entry's text, relative to the column of its key and with the comment at its end."""
    start = entry.key.span.start
    column = column_of(text, start)
    in_brackets = entry.value.parent is not None and entry.value.parent.style == "flow"
    end = entry.span.end if in_brackets else _line_end(text, entry.span.end)
    first, *others = text[start:end].replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return "\n".join([first, *(row[min(column, len(row) - len(row.lstrip(" "))) :] for row in others)])


def _value_text(text: str, mapping: Node, entry: Entry) -> str:
    """Return what is written behind the colon, its lines relative to the key, a comment included."""
    start, end = text.find(":", entry.key.span.end) + 1, entry.value.span.end
    end = end if mapping.style == "flow" else _line_end(text, end)
    column = entry.key.span.start - (text.rfind("\n", 0, entry.key.span.start) + 1)
    first, *others = text[start : max(end, start)].replace("\r\n", "\n").split("\n")
    dedented = (row[min(column, len(row) - len(row.lstrip(" "))) :] for row in others)
    return "\n".join([first.strip() if not others else first.rstrip(), *dedented])


def _indented(block: str, by: int) -> str:
    """Indent all lines but the first."""
    first, *others = block.split("\n")
    return "\n".join([first, *(" " * by + row if row else row for row in others)])


def _placed(block: str, column: int, ending: str) -> str:
    return _indented(block, column).replace("\n", ending)


def _entry_text(key: str, value_text: str) -> str:
    name = plain_or_quoted(key)
    if not value_text or value_text.startswith(("\n", " ")):
        return f"{name}:{value_text}"
    return f"{name}: {value_text}"


def _key_column(value: Node, text: str) -> int:
    """Return the column of the key or dash that holds an empty value."""
    parent = value.parent
    if parent is None:
        return 0
    if parent.kind == "sequence":
        return column_of(text, parent.span.start)
    key = next((entry.key for entry in parent.entries if entry.value.span == value.span), None)
    return column_of(text, key.span.start) if key is not None else 0


def _is_empty(node: Node) -> bool:
    return node.kind == "scalar" and not len(node.span)
