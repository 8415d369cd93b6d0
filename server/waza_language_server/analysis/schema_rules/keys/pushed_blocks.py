"""Blocks at a wrong column: too far to the right, below another one, or to the left of the item above."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import takewhile

from waza_engine.counting import counted
from waza_language_server.analysis.problem import Problem
from waza_language_server.analysis.schema_rules.keys.unknown_key import OneMistake, UnknownKey
from waza_language_server.analysis.schema_rules.subject import Subject
from waza_language_server.schema.shape import Shape
from waza_language_server.syntax.frames import column_of, line_start_of
from waza_language_server.syntax.nodes import Entry, Node
from waza_language_server.text.edit import Edit, Edits, Fix
from waza_language_server.text.span import Span

_INDENT, _DASH = "  ", "- "
_MOST_KEYS = 100
"""Unknown keys of a mapping; if there are more, each is reported separately."""
_MOST_CHILDREN = 400
"""Keys and values of a mapping, which are all checked."""
_OF_GRADERS = frozenset({"type", "name", "config", "weight", "required"})


def pushed_block(
    subject: Subject, mapping: Node, shape: Shape, unexpected: Sequence[Entry]
) -> OneMistake | None:
    """Return the unknown keys at the end of a mapping that a mapping around it knows; None for any others.

    Either the first line of a block is indented too far, above its own keys, or entire blocks are. The keys
    around a grader are never read.
    """
    if subject.is_grader or mapping.style != "block" or not 0 < len(unexpected) <= _MOST_KEYS:
        return None
    if len(mapping.green.children) > _MOST_CHILDREN:
        return None
    above = mapping.parent
    is_item = above is not None and above.kind == "sequence"
    if is_item and above is not None:
        above = above.parent
    around = subject.shape_at(above) if above is not None and above.kind == "mapping" else None
    if above is None or around is None or above.style != "block":
        return None
    unknown = frozenset(entry.key.span for entry in unexpected)
    entries = mapping.entries
    last = tuple(takewhile(lambda each: each.key.span in unknown, reversed(entries)))[::-1]
    for number, head in enumerate(last):
        rest = last[number + 1 :]
        if not _is_missed(around, above, head) or head.key.style != "plain":
            continue
        if _is_line(around, head, rest, is_item=is_item and _has_items_below(mapping)):
            return _line_too_far(subject, mapping, shape, above, head, rest)
        is_list = not rest and head.value.kind == "sequence"
        if not is_item and (rest or is_list) and all(_is_missed(around, above, each) for each in rest):
            return _blocks_too_far(subject, mapping, shape, above, (head, *rest))
    return None


def fallen_block(
    subject: Subject, mapping: Node, shape: Shape, unexpected: Sequence[Entry]
) -> OneMistake | None:
    """Return the unknown keys of a mapping that belong into the item, or the empty block, above them."""
    if subject.is_grader or mapping.style != "block" or not 0 < len(unexpected) <= _MOST_KEYS:
        return None
    if len(mapping.green.children) > _MOST_CHILDREN:
        return None
    entries = mapping.entries
    first = next((at for at, each in enumerate(entries) if each.key.span == unexpected[0].key.span), 0)
    unknown = frozenset(entry.key.span for entry in unexpected)
    run = list(takewhile(lambda each: each.key.span in unknown, entries[first:]))
    if not first or not run or any(each.key.style != "plain" for each in run):
        return None
    if (item := _fallen_item(subject, mapping, shape, entries[first - 1], run)) is not None:
        return item
    for known, taken, column, place in _ends_of(subject, entries[first - 1]):
        keys = [each.key.value for each in run]
        by = column - _column_of_keys(subject.text, mapping)
        if by <= 0 or not known.issuperset(keys) or not taken.isdisjoint(keys) or len({*keys}) < len(keys):
            continue
        below = ", with the lines below it" if len(run) > 1 or "\n" in _written(subject.text, run[0]) else ""
        message = f"`{keys[0]}` belongs to {place} above, so indent it by {column} spaces{below}."
        part = Span(run[0].key.span.start, max(run[-1].key.span.end, run[-1].value.span.end))
        fix = Fix(
            "Align the lines" if below else "Align the line", partial(_moved_right, subject.text, part, by)
        )
        problem = Problem("misplaced-key", run[0].key.span, message, shape.unknown_keys, (fix,))
        return OneMistake(UnknownKey(problem, mapping, mapping, ()), frozenset(keys))
    return None


def _fallen_item(
    subject: Subject, mapping: Node, shape: Shape, above: Entry, run: Sequence[Entry]
) -> OneMistake | None:
    """Return the unknown keys that are the only item of the empty list above them, without its dash."""
    known = shape.properties.get(above.key.value)
    items = known.shape.branch("sequence").items if known is not None else None
    if items is None or len(above.value.span) or above.value.green.anchor is not None:
        return None
    keys, first = frozenset(each.key.value for each in run), run[0].key
    held = _OF_GRADERS if items.kind == "grader" else frozenset(items.branch("mapping").properties)
    if not keys <= held or len(keys) < len(run):
        return None
    part = Span(first.span.start, max(run[-1].key.span.end, run[-1].value.span.end))
    fix = Fix("Make it an item of the list", partial(_made_item, subject.text, part))
    message = f"`{first.value}` begins an item of `{above.key.value}` above; indent it behind a dash."
    severity = "error" if above.key.value in shape.required else shape.unknown_keys
    problem = Problem("misplaced-key", first.span, message, severity, (fix,))
    return OneMistake(UnknownKey(problem, mapping, mapping, ()), keys)


def _made_item(text: str, part: Span) -> Edits:
    first, *others = _moved_right(text, part, len(_INDENT) + len(_DASH))
    dash = Edit(Span(part.start, part.start), _DASH)
    return (Edit(first.span, _INDENT), dash, *others)


def _written(text: str, entry: Entry) -> str:
    return text[entry.key.span.start : entry.value.span.end].rstrip()


def _ends_of(subject: Subject, entry: Entry) -> Iterator[tuple[frozenset[str], frozenset[str], int, str]]:
    """Yield the mappings that may continue after an entry, the innermost first.

    Each has its known keys, its existing keys, their column, and its name. Only items, and empty values in
    them, are possible: a mapping that continues further to the left has a key for it.
    """
    found: list[tuple[frozenset[str], frozenset[str], int, str]] = []
    node: Node | None = entry.value
    within = False
    while node is not None and node.style == "block":
        if node.kind == "sequence":
            node = node.nth_child(len(node.green.children) - 1)
            within = True
            continue
        last = node.last_entry if node.kind == "mapping" else None
        if last is None:
            break
        if within:
            shape = subject.shape_at(node)
            is_grader = shape is None or shape.kind == "grader" or "config" in node.key_names
            known = frozenset(shape.properties) if shape is not None else frozenset[str]()
            known |= _OF_GRADERS if is_grader and _is_among_graders(node) else frozenset()
            column = _column_of_keys(subject.text, node)
            found.append((known, frozenset(node.key_names), column, "the item"))
            if not len(last.value.span) and shape is not None and last.key.value in shape.properties:
                held = frozenset(shape.properties[last.key.value].shape.branch("mapping").properties)
                found.append((held, frozenset(), column + 2, f"`{last.key.value}`"))
        node = last.value
    yield from reversed(found)


def _is_among_graders(node: Node) -> bool:
    return node.parent is not None and node.parent.step == "graders"


def _moved_right(text: str, part: Span, by: int) -> Edits:
    edits: list[Edit] = []
    at = line_start_of(text, part.start)
    while 0 <= at < part.end:
        end = text.find("\n", at)
        if text[at : end if end >= 0 else len(text)].strip():
            edits.append(Edit(Span(at, at), " " * by))
        at = end + 1 if end >= 0 else -1
    return tuple(edits)


def _is_missed(around: Shape, above: Node, entry: Entry) -> bool:
    """Return whether a mapping knows a key, may have its value, and does not have it."""
    known = around.properties.get(entry.key.value)
    if known is None or above.entry(entry.key.value) is not None:
        return False
    return not len(entry.value.span) or known.shape.fits(entry.value.target.kind)


def _is_line(around: Shape, head: Entry, rest: Sequence[Entry], *, is_item: bool) -> bool:
    """Return whether a key without a value is above the keys, or the items, of its own block."""
    known = around.properties[head.key.value].shape
    if len(head.value.span) or head.value.green.anchor is not None:
        return False
    if not rest:
        return is_item and known.fits("sequence")
    held = known.branch("mapping").properties
    return not is_item and all(entry.key.value in held for entry in rest)


def _has_items_below(mapping: Node) -> bool:
    listed = mapping.parent
    last = listed.nth_child(len(listed.green.children) - 1) if listed is not None else None
    return last is not None and last.span.start > mapping.span.start


def _line_too_far(
    subject: Subject, mapping: Node, shape: Shape, above: Node, head: Entry, rest: Sequence[Entry]
) -> OneMistake:
    key, column = head.key.value, column_of(subject.text, head.key.span.start)
    far = column - _column_of_keys(subject.text, above)
    spaces = counted(far, "space")
    place = "at the top of the file" if above.parent is None else f"in {subject.name_of(above)}"
    message = f"`{key}` belongs {place}; this line alone stands {spaces} too far to the right."
    fix = Fix("Align the line", partial(_moved_left, subject.text, head.key.span, far))
    problem = Problem("misplaced-key", head.key.span, message, shape.unknown_keys, (fix,))
    return OneMistake(
        UnknownKey(problem, mapping, above, (key,)), frozenset(each.key.value for each in (head, *rest))
    )


def _blocks_too_far(
    subject: Subject, mapping: Node, shape: Shape, above: Node, blocks: Sequence[Entry]
) -> OneMistake:
    head, far = blocks[0], _column_of_keys(subject.text, mapping) - _column_of_keys(subject.text, above)
    place = "at the top of the file" if above.parent is None else f"in {subject.name_of(above)}"
    what = f"`{head.key.value}` belongs"
    if len(blocks) > 1:
        below = "the key" if len(blocks) == 2 else f"the {len(blocks) - 1} keys"
        what = f"`{head.key.value}` and {below} below it belong"
    message = f"{what} {place}, not under {subject.name_of(mapping)}."
    part = Span(head.key.span.start, max(blocks[-1].key.span.end, blocks[-1].value.span.end))
    fix = Fix("Align the lines", partial(_moved_left, subject.text, part, far))
    problem = Problem("misplaced-key", head.key.span, message, shape.unknown_keys, (fix,))
    keys = frozenset(each.key.value for each in blocks)
    return OneMistake(UnknownKey(problem, mapping, above, (head.key.value,), beside=keys), keys)


def _column_of_keys(text: str, mapping: Node) -> int:
    first = next(mapping.each_entry())
    return column_of(text, first.key.span.start)


def _moved_left(text: str, part: Span, far: int) -> Edits:
    """Return the edits that move the lines of a part to the left; empty if one is not indented that far."""
    edits: list[Edit] = []
    at = line_start_of(text, part.start)
    if text[at : part.start].strip(" "):
        return ()
    while at < part.end:
        end = text.find("\n", at)
        end = end if end >= 0 else len(text)
        written = text[at:end].lstrip(" ")
        blanks = end - at - len(written)
        if written.strip() and blanks >= far:
            edits.append(Edit(Span(at, at + far), ""))
        elif written.strip() and not written.startswith("#"):
            return ()
        at = end + 1
    return tuple(edits)
