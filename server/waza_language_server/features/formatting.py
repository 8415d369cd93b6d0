"""Formatting: indentation and the blanks beside dashes and colons, and nothing else.

How deep is asked of the file itself: the step of its first nested mapping, and where its first list stands.
What scalars of several lines hold moves as a whole. Comments, blank lines, quotes and brackets stay.

Architecture invariant: edits replace blanks alone, and only when the text that they make, read again, holds
the same scalars in the same places; where that is in doubt nothing is changed.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, field
from operator import itemgetter
from typing import TYPE_CHECKING

from waza_engine.later_patterns import compiled_later
from waza_language_server.features.completion.snippets import Layout
from waza_language_server.syntax.author_style import indent_step
from waza_language_server.syntax.tree import parse_in_steps
from waza_language_server.syntax.tried_edits import apply
from waza_language_server.text.edit import Edit, Edits
from waza_language_server.text.span import Span

if TYPE_CHECKING:
    from waza_engine.steps import Steps
    from waza_language_server.project.document import Document
    from waza_language_server.syntax.nodes import Entry, Node
    from waza_language_server.syntax.tree import Tree
    from waza_language_server.text.line_index import LineIndex

_GAP = compiled_later(r"[ \t]*:[ \t]+")
_BLANKS = " \t\r\n"
_COMMENT = compiled_later(r"(?:^|[ \t])#")
_BLOCKS = frozenset({"literal", "folded"})
_NODES_PER_PAUSE = 200


def format_in_steps(document: Document, span: Span | None = None) -> Steps[Edits]:
    """Return the edits that lay out a file, or the lines of it that ``span`` touches; in order.

    Nothing is changed in a file with errors of syntax or with more than one document, and in a ``SKILL.md``,
    most of which is text.
    """
    tree = document.tree
    if tree.root is None or tree.errors or document.kind == "skill":
        return ()
    layout = _Lines(document.text, document.lines, indent_step(tree), Layout(tree).list_indent)
    yield from layout.lay_out(tree.root)
    if layout.in_doubt:
        return ()
    whole = yield from layout.edits()
    if span is None:
        return whole if (yield from _means_the_same(tree, whole)) else ()
    lines = document.lines
    chosen = Span(
        lines.line_span(lines.line_of(span.start)).start, lines.line_span(lines.line_of(span.end)).end
    )
    part = tuple(edit for edit in whole if chosen.start <= edit.span.start and edit.span.end <= chosen.end)
    if (yield from _means_the_same(tree, part)):
        return part
    # Some of the lines of a block cannot move without the others.
    inner = tuple(edit for edit in part if not layout.is_indentation(edit))
    return inner if (yield from _means_the_same(tree, inner)) else ()


def _means_the_same(tree: Tree, edits: Edits) -> Steps[bool]:
    if not edits:
        return True
    after = yield from parse_in_steps(apply(tree.text, edits))
    if after.root is None or tree.root is None or after.errors:
        return False
    old, new = tree.root.walk(), after.root.walk()
    for number, (one, other) in enumerate(zip(old, new, strict=False)):
        if not number % _NODES_PER_PAUSE:
            yield
        if _held(one) != _held(other):
            return False
    return next(old, None) is None and next(new, None) is None


def _held(node: Node) -> tuple[object, ...]:
    green = node.green
    return node.kind, node.style, node.value, green.tag, green.anchor, node.step, len(green.children)


@dataclass
class _Lines:
    """The columns that lines get, by number, and the blanks in the middle of lines that change."""

    text: str
    index: LineIndex
    step: int
    list_indent: int
    in_doubt: bool = False
    columns: dict[int, int] = field(default_factory=dict[int, int])
    gaps: dict[Span, str] = field(default_factory=dict[Span, str])
    held: set[int] = field(default_factory=set[int])
    """Lines that lie in a scalar, where blanks are text."""
    seen: int = 0

    def lay_out(self, root: Node) -> Steps[None]:
        """Find the columns of all lines that hold something."""
        if root.kind in {"mapping", "sequence"} and root.style == "block":
            yield from self._block(root, 0)
        else:
            self.in_doubt = True

    def edits(self) -> Steps[Edits]:
        """Return the edits, in order."""
        found = [Edit(span, text) for span, text in self.gaps.items()]
        comments: dict[int, int] = {}
        for number in range(self.index.line_count):
            yield from self._pause()
            line = self.index.line_span(number)
            written = self.text[line.start : line.end]
            if number in self.held:
                continue
            kept = written.rstrip(" \t")
            if not kept and written:
                found.append(Edit(line, ""))
                continue
            if len(kept) < len(written):
                found.append(Edit(Span(line.start + len(kept), line.end), ""))
            if kept.lstrip(" ").startswith("#"):
                comments[number] = self._lead_of(number)
        columns = self.columns | (yield from self._columns_of(comments))
        for number, column in columns.items():
            yield from self._pause()
            start, lead = self.index.line_span(number).start, self._lead_of(number)
            if column != lead:
                found.append(Edit(Span(start, start + lead), " " * column))
        return tuple(sorted(found, key=lambda edit: edit.span))

    def is_indentation(self, edit: Edit) -> bool:
        """Whether an edit changes where a line begins."""
        return self.index.line_span(self.index.line_of(edit.span.start)).start == edit.span.start

    def _columns_of(self, comments: Mapping[int, int]) -> Steps[dict[int, int]]:
        """Return the columns of comments, of which it is known how deep they stand.

        It is that of what a comment stands above, or of what it stands below, at the same depth.
        """
        found: dict[int, int] = {}
        lines = range(self.index.line_count) if comments else range(0)
        for numbers in (reversed(lines), lines):
            # Depths and columns of the lines that have been passed: those that a less deep one hides
            # are left out, so the nearest of a depth is found at once.
            passed: list[tuple[int, int]] = []
            for number in numbers:
                yield from self._pause()
                lead, column = comments.get(number), self.columns.get(number)
                if column is not None:
                    depth = self._lead_of(number)
                    while passed and passed[-1][0] >= depth:
                        passed.pop()
                    passed.append((depth, column))
                elif number in self.held:
                    passed.clear()
                elif lead is not None and number not in found:
                    near = bisect_right(passed, lead, key=itemgetter(0)) - 1
                    if near >= 0 and passed[near][0] == lead:
                        found[number] = passed[near][1]
        return found

    def _lead_of(self, number: int) -> int:
        line = self.index.line_span(number)
        written = self.text[line.start : line.end]
        return len(written) - len(written.lstrip(" "))

    def _block(self, node: Node, column: int) -> Steps[None]:
        if node.kind == "mapping":
            for entry in node.each_entry():
                yield from self._pause()
                self._begins(entry.key, column)
                yield from self._value(entry, column)
            return
        for item in node.each_item():
            yield from self._pause()
            yield from self._item(item, column)

    def _pause(self) -> Steps[None]:
        self.seen += 1
        if not self.seen % _NODES_PER_PAUSE:
            yield

    def _begins(self, node: Node, column: int) -> None:
        """Give the line of a key its column, unless a dash stands before it there."""
        if node.kind != "scalar" or node.style in _BLOCKS:
            self.in_doubt = True
            return
        number = self.index.line_of(node.span.start)
        before = self.text[self.index.line_span(number).start : node.span.start]
        if not before.strip(" "):
            self.columns.setdefault(number, column)
        elif before.strip(" -\t") or "\t" in before:
            # `? key`, tags, a key behind another one.
            self.in_doubt = True
        if self.index.line_of(node.span.end) != number:
            self.in_doubt = True

    def _value(self, entry: Entry, column: int) -> Steps[None]:
        value, key = entry.value, entry.key
        front = self._front(value)
        if not len(value.span) and front == value.span.start:
            return
        line = self.index.line_of(key.span.end)
        same_line = self.index.line_of(value.span.start) == line
        if self.index.line_of(front) == line:
            self._part(key.span.end, front, ": ", _GAP)
        elif self.index.line_of(front) != self.index.line_of(value.span.start):
            self.in_doubt = True
            return
        if value.kind in {"mapping", "sequence"} and value.style == "block":
            if same_line:
                self.in_doubt = True
                return
            yield from self._block(
                value, column + (self.step if value.kind == "mapping" else self.list_indent)
            )
        elif len(value.span):
            yield from self._leaf(value, column, column + self.step, is_behind=same_line)

    def _item(self, item: Node, column: int) -> Steps[None]:
        front = self._front(item)
        number = self.index.line_of(front)
        start = self.index.line_span(number).start
        before = self.text[start:front]
        if "\t" in before or before.strip(" -"):
            self.in_doubt = True
            return
        is_block = item.kind in {"mapping", "sequence"} and item.style == "block"
        if "-" not in before:
            # What stands below its dash, or nothing.
            self.in_doubt = self.in_doubt or bool(len(item.span)) or front != item.span.start
            return
        dash = start + before.rindex("-")
        if not before[: dash - start].strip(" "):
            self.columns[number] = column
        if len(item.span) or front != item.span.start:
            self._part(dash + 1, front, " ")
        if not len(item.span):
            return
        if is_block:
            yield from self._block(item, column + 2)
        elif self.index.line_of(item.span.start) == number:
            yield from self._leaf(item, column, column + 2, is_behind=True)
        else:
            self.in_doubt = True

    def _front(self, node: Node) -> int:
        """Return where a node begins with its anchor and its tag, and part these by one blank."""
        at = node.span.start
        for _ in range((node.green.anchor is not None) + (node.green.tag is not None)):
            begin = end = self._before_blanks(at)
            while begin and self.text[begin - 1] not in _BLANKS:
                begin -= 1
            if self.text[begin:end][:1] not in ("&", "!"):
                self.in_doubt = True
                return node.span.start
            if len(node.span) and self.index.line_of(end) == self.index.line_of(at):
                self._part(end, at, " ")
            at = begin
        return at

    def _before_blanks(self, at: int) -> int:
        """Return where the blanks, comments and line breaks in front of a place begin."""
        while True:
            line = self.index.line_span(self.index.line_of(at))
            written = self.text[line.start : at]
            comment = _COMMENT.search(written) if at == line.end else None
            written = (written[: comment.start()] if comment else written).rstrip(" \t")
            if written or not line.start:
                return line.start + len(written)
            at = self.index.line_span(self.index.line_of(line.start) - 1).end

    def _part(self, start: int, end: int, blanks: str, old: re.Pattern[str] | None = None) -> None:
        """Write what stands between two words as ``blanks``, if it is of the kind ``old``."""
        written = self.text[start:end]
        if written != blanks and (old is None or old.fullmatch(written)):
            self.gaps[Span(start, end)] = blanks

    def _leaf(self, node: Node, column: int, inside: int, *, is_behind: bool) -> Steps[None]:
        """Move a scalar, an alias or a collection in brackets; ``inside`` is the column of what is below."""
        first = self.index.line_of(node.span.start)
        last = self.index.line_of(max(node.span.end - 1, node.span.start))
        old = self._lead_of(first)
        if not is_behind:
            self.columns.setdefault(first, inside)
        if node.style in _BLOCKS:
            yield from self._content(node, first, last, inside, column - old)
            return
        shift = self.columns.get(first, old) - old
        for number in range(first + 1, last + 1):
            yield from self._pause()
            lead = self._lead_of(number)
            self.held.add(number)
            if self._holds_text(number) and shift:
                # What stood as far left as its key, a bracket alone mostly, goes no further to the right.
                self.columns[number] = max(lead + shift, column + (lead > old))

    def _content(self, node: Node, first: int, last: int, inside: int, shift: int) -> Steps[None]:
        """Move what a literal or folded text holds; with a number in its header as far as its key moves."""
        line = self.index.line_span(first)
        header = self.text[node.span.start : line.end]
        below = range(first + 1, last + 1)
        lead = next((self._lead_of(each) for each in below if self._holds_text(each)), None)
        if lead is not None and not any(character.isdigit() for character in header.split("#")[0]):
            shift = inside - lead
        for number in range(first + 1, self._end_of_content(last) + 1):
            yield from self._pause()
            self.held.add(number)
            if self._holds_text(number) or self._lead_of(number) > (lead or 0):
                self.columns[number] = self._lead_of(number) + shift

    def _end_of_content(self, last: int) -> int:
        """Return the last of the blank lines behind a text: they may belong to it."""
        while last + 1 < self.index.line_count and not self._holds_text(last + 1):
            last += 1
        return last

    def _holds_text(self, number: int) -> bool:
        line = self.index.line_span(number)
        return bool(self.text[line.start : line.end].strip(" \t"))
