"""Error recovery: parsing a piece of YAML that strict parsing rejects.

Divide it by indentation until the faulty part is alone.

A block is cut at the columns of its lines into entries and items; each that parses strictly keeps its exact
nodes, each that does not is cut further. The remainder is one value or one line: it becomes a broken node
with a fault in our words, and everything around it is unaffected.

Dividing parses the same lines again on each level, so it has a budget: a part that is not reached within it
stays broken, and a piece that is far too long keeps only the part before its first error.

Architecture invariant: the text is never rewritten to please the parser; every span is where the user wrote
it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from waza_engine.checkpoint import checkpoint
from waza_engine.later_patterns import compiled_later
from waza_engine.spec.reading.yaml_faults import MAX_DEPTH
from waza_language_server.syntax.error_sentences import (
    end_of_brackets,
    explain_error,
    explain_line,
    explain_value,
    text_after_brackets,
    too_deep,
)
from waza_language_server.syntax.fault import SyntaxFault
from waza_language_server.syntax.green import Green, Placed
from waza_language_server.syntax.grouping import Grouping, has_keys, line_kind, significant, usual_of
from waza_language_server.syntax.libyaml_events import Notes, ReadError, Reading, read
from waza_language_server.syntax.line_faults import (
    missing_dash,
    start_fault,
    tab_fault,
    text_after_value,
)
from waza_language_server.syntax.lines import Line, dash_at, key_at, split_lines
from waza_language_server.text.edit import Edit, Fix
from waza_language_server.text.span import Span

LONGEST_LINES = 3_000
LONGEST_CHARACTERS = 300_000
"""A longer piece is not divided."""
MOST_WORK = 10_000
"""The budget for dividing one piece, in units of ``Reading.work``; sorting a line counts as one."""

_MAX_FAULTS = 100
_WORD_COLON = compiled_later(r"([A-Za-z_][\w.-]*):(?=[^\s/])")
_PROPERTIES = compiled_later(r"[&!][^\s,\[\]{}]*(?:[ \t]+[&!][^\s,\[\]{}]*)*[ \t]*(?=#|$)")
_PROPERTIES_OF_BRACKETS = compiled_later(r"(?:[&!][^\s,\[\]{}]+[ \t]+)+(?=[\[{])")
_ANCHOR = compiled_later(r"&([^\s,\[\]{}]+)")
_DOCUMENT_START = compiled_later(r"---[ \t]*(?:#|$)")
_WORD = compiled_later(r"[\w.-]+[ \t]*(?=#|$)")

ITEM_AMONG_KEYS = "A list item cannot be among keys; indent it below the key it belongs to."


@dataclass(slots=True)
class Repaired(Notes):
    """The recovered parts of a piece.

    Pairs of a mapping or items of a list, and the faults of the rest.
    """

    children: list[Placed] = field(default_factory=list[Placed])
    end: int = 0
    faults: list[SyntaxFault] = field(default_factory=list[SyntaxFault])


def repair_entries(text: str, reading: Reading) -> Repaired:
    """Parse ``key: value`` lines of the same level as far as possible.

    ``reading`` is the result of strict parsing.
    """
    if _too_long(text):
        return _up_to_error(text, reading, "mapping")
    reader = _Reader(text)
    lines = split_lines(text)
    if any(not line.blank for line in lines):
        reader.entries(lines, -1, 0)
    return reader.finish(reading.error)


def repair_items(text: str, parent: int, reading: Reading) -> Repaired:
    """Read ``- item`` lines of the same level as far as possible.

    ``parent`` is the column of the key above.
    """
    if _too_long(text):
        return _up_to_error(text, reading, "sequence")
    reader = _Reader(text)
    lines = split_lines(text)
    if any(not line.blank for line in lines):
        reader.items(lines, parent, 0)
    return reader.finish(reading.error)


def repair_block(text: str, reading: Reading) -> tuple[Placed | None, Repaired]:
    """Parse an entire document as far as possible; return its root as well."""
    if _too_long(text):
        return Placed(reading.root) if reading.root is not None else None, _up_to_error(text, reading, "")
    reader = _Reader(text)
    root = reader.block(_below_directives(text, split_lines(text)), -1, 0)
    return root, reader.finish(reading.error)


def _below_directives(text: str, lines: Sequence[Line]) -> Sequence[Line]:
    """Return the lines below the directives (`%YAML 1.2`) of a document and the `---` that ends them."""
    for number, line in enumerate(lines):
        if _DOCUMENT_START.match(text, line.start, line.end):
            return lines[number + 1 :]
        if not line.blank and not text.startswith("%", line.start):
            break
    return lines


def _too_long(text: str) -> bool:
    return len(text) > LONGEST_CHARACTERS or text.count("\n") + text.count("\r") > LONGEST_LINES


def _up_to_error(text: str, reading: Reading, kind: str) -> Repaired:
    """Return the nodes that strict parsing found before it stopped, if they are a block of this kind."""
    root = reading.root
    whole = Span(0, len(text.rstrip()))
    faults = [*reading.duplicates, explain_error(text, reading.error, whole)]
    repaired = Repaired(end=whole.end, faults=faults, anchors=reading.anchors, aliases=reading.aliases)
    if root is not None and (root.kind, root.style) == (kind, "block"):
        repaired.children.extend(root.children)
    return repaired


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.lines = Grouping(text)
        self.out = Repaired()
        self.left = MOST_WORK

    def finish(self, error: ReadError | None) -> Repaired:
        if not self.out.faults:
            whole = Span(0, len(self.text.rstrip()))
            self.out.faults.append(explain_error(self.text, error, whole))
        del self.out.faults[_MAX_FAULTS:]
        self.out.faults.sort(key=lambda fault: fault.span)
        return self.out

    # Blocks.

    def block(self, lines: Sequence[Line], parent: int, depth: int) -> Placed | None:
        """Parse the lines of one value; None if there are only whitespace and comments."""
        lines = significant(lines)
        if not lines:
            return None
        span = Span(lines[0].content, lines[-1].end)
        if depth >= MAX_DEPTH:
            self.fault(too_deep(span))
            return Placed(Green("broken", span.start, span.end))
        if self.left <= 0:
            return Placed(Green("broken", span.start, span.end))
        reading, base = self.read(lines)
        if reading.error is None and reading.root is not None:
            if lines[0].tabbed:
                self.fault(tab_fault(lines[0]))
            return self.take(reading, base)
        named = _PROPERTIES.match(self.text, lines[0].content, lines[0].end)
        if named is not None and significant(lines[1:]):
            child = self.block(lines[1:], parent, depth + 1)
            return self.anchored(child, named[0])
        named = _PROPERTIES_OF_BRACKETS.match(self.text, lines[0].content, lines[0].end)
        if named is not None:
            child = self.block([lines[0].at(named.end()), *lines[1:]], parent, depth + 1)
            return self.anchored(child, named[0])
        kind = self.lines.block_kind(lines)
        if kind:
            return self.collection(kind, lines, parent, depth)
        return self.value(lines[0].content, lines[-1].end, reading.error)

    def collection(self, kind: str, lines: Sequence[Line], parent: int, depth: int) -> Placed:
        before, self.out.children, end, self.out.end = self.out.children, [], self.out.end, 0
        if kind == "mapping":
            self.entries(lines, parent, depth)
        else:
            self.items(lines, parent, depth)
        children, self.out.children = tuple(self.out.children), before
        stop, self.out.end = self.out.end, end
        start = lines[0].content
        stop = max([stop, start, *(child.green.end + child.offset for child in children[-1:])])
        if kind == "mapping":
            return Placed(Green("mapping", start, stop, "block", children=children))
        return Placed(Green("sequence", start, stop, "block", children=children))

    # Lists.

    def items(self, lines: Sequence[Line], parent: int, depth: int) -> None:
        """Parse the items of one list into ``out.children``."""
        self.left -= len(lines)
        groups = self.lines.item_groups(significant(lines), parent)
        usual = usual_of([group[0].column for group in groups])
        for group in groups:
            head = group[0]
            dash = dash_at(self.text, head.content)
            if dash or head.tabbed:
                self.check_start(head, usual, "the other items of this list")
            if dash:
                self.item(group, dash, depth)
            else:
                self.fault(missing_dash(self.text, head))
                prose = all(line.blank or line_kind(self.text, line) == "word" for line in group)
                child = None if prose else self.block(group, parent, depth + 1)
                if child is not None:
                    self.out.children.append(child)
            self.out.end = max(self.out.end, significant(group)[-1].end)

    def item(self, lines: Sequence[Line], dash: re.Match[str], depth: int) -> None:
        head = lines[0]
        if self.left <= 0:
            self.out.children.append(Placed(Green("broken", head.content, significant(lines)[-1].end)))
            return
        reading, base = self.read(lines)
        root = reading.root
        if (
            reading.error is None
            and root is not None
            and (root.kind, root.style) == ("sequence", "block")
            and len(root.children) == 1
        ):
            self.take(reading, base)
            self.out.children.append(Placed(root.children[0].green, base))
            return
        if dash.end() < head.end and self.text[dash.end()] != "#":
            inner: Sequence[Line] = [head.at(dash.end()), *lines[1:]]
        else:
            inner = lines[1:]
        child = self.block(inner, head.column, depth + 1)
        if child is None:
            at = min(dash.start() + 2, dash.end())
            child = Placed(Green("scalar", at, at))
        self.out.children.append(child)

    # Mappings.

    def entries(self, lines: Sequence[Line], parent: int, depth: int) -> None:
        """Parse the entries of one mapping into ``out.children``."""
        lines = significant(lines)
        self.left -= len(lines)
        groups = self.lines.entry_groups(lines)
        usual = usual_of([group[0].column for group in groups])
        for group in groups:
            head = group[0]
            self.check_start(head, usual, "the other keys of this mapping")
            self.entry(group, depth)
            self.out.end = max(self.out.end, significant(group)[-1].end)

    def entry(self, lines: Sequence[Line], depth: int) -> None:
        head = lines[0]
        if self.left <= 0:
            self.unread(lines)
            return
        reading, base = self.read(lines)
        root = reading.root
        if reading.error is None and root is not None and (root.kind, root.style) == ("mapping", "block"):
            self.take(reading, base)
            self.out.children.extend(Placed(child.green, base) for child in root.children)
            return
        match = key_at(self.text, head.content)
        if match is None:
            self.colonless(lines, depth)
            return
        key = self.key(match)
        value = self.lines.inline_value(match.end(), head.end)
        state = self.lines.entry_state(head)
        below = significant(lines[1:])
        child: Placed | None = None
        if state == "empty":
            child = self.block(below, self.parent_of(below, head), depth + 1)
            child = self.anchored(child, self.text[value.start : value.end])
        elif state == "value" and below and has_keys(self.text, below):
            self.fault(text_after_value(self.text, head, below[0], match))
            child = self.block(below, head.column, depth + 1)
        else:
            child = self.value(
                value.start, max(value.end, below[-1].end if below else 0), reading.error, base
            )
        if child is None:
            at = min(match.end() + self.text.startswith(" ", match.end()), head.end)
            child = Placed(Green("scalar", at, at))
        self.out.children.extend((key, child))

    def unread(self, lines: Sequence[Line]) -> None:
        """Add the key of an entry; its value stays broken."""
        match = key_at(self.text, lines[0].content)
        if match is not None:
            end = max(match.end(), significant(lines)[-1].end)
            self.out.children.extend((self.key(match), Placed(Green("broken", match.end(), end))))

    def parent_of(self, below: Sequence[Line], head: Line) -> int:
        """Return the column that the lines of a value must exceed.

        Dashes may be at that of the key.
        """
        return min([head.column, *(line.column - 1 for line in below if not line.blank)])

    def key(self, match: re.Match[str]) -> Placed:
        start = match.start("key")
        raw = match["key"].rstrip()
        if raw[0] in "\"'&!*":
            reading = read(raw)
            if reading.root is not None and reading.root.kind == "scalar":
                return Placed(reading.root, start)
        return Placed(Green("scalar", start, start + len(raw), "plain", raw))

    def colonless(self, lines: Sequence[Line], depth: int) -> None:
        """Handle a line where ``key:`` was expected."""
        head = lines[0]
        below = significant(lines[1:])
        text = self.text
        line = Span(head.content, head.content + len(text[head.content : head.end].rstrip()))
        word = _WORD_COLON.match(text, head.content, head.end)
        bare = _WORD.match(text, head.content, head.end)
        if word:
            colon = word.end()
            space = Fix("Add a space after the colon", (Edit(Span(colon, colon), " "),), preferred=True)
            message = f"A space is missing after `{word[1]}:`; write one before the value."
            self.fault(SyntaxFault(Span(line.start, colon), message, fixes=(space,)))
            key = Placed(Green("scalar", line.start, colon - 1, "plain", word[1]))
            child = self.block([head.at(colon), *below], head.column, depth + 1)
            self.out.children.extend((key, child or Placed(Green("scalar", colon, colon))))
        elif bare and below:
            end = head.content + len(bare[0].rstrip())
            colon = Fix("Add the colon", (Edit(Span(end, end), ":"),))
            name = text[head.content : end]
            self.fault(
                SyntaxFault(
                    Span(line.start, end), f"A colon is missing here; write `{name}:`.", fixes=(colon,)
                )
            )
            key = Placed(Green("scalar", head.content, end, "plain", name))
            child = self.block(below, head.column, depth + 1)
            self.out.children.extend((key, child or Placed(Green("scalar", end, end))))
        elif bare:
            name = text[line.start : line.end] if bare.end() >= line.end else bare[0].strip()
            self.fault(SyntaxFault(line, f"A key is expected here; write `{name}: ` and a value."))
        elif dash_at(text, head.content):
            self.fault(SyntaxFault(line, ITEM_AMONG_KEYS))
        else:
            self.fault(explain_line(text, line))

    # Values and faults.

    def value(self, start: int, end: int, error: ReadError | None, base: int = 0) -> Placed:
        """Parse one value that strict parsing rejected within its entry.

        On its own it may still be valid.
        """
        end = start + len(self.text[start:end].rstrip())
        line_start = max(self.text.rfind("\n", 0, start), self.text.rfind("\r", 0, start)) + 1
        pad = start - line_start
        reading = self.strictly(" " * pad + self.text[start:end])
        if reading.error is None and reading.root is not None and reading.root.style != "block":
            self.fault(explain_error(self.text, _moved(error, base), Span(start, end)))
            return self.take(reading, line_start)
        closed = end_of_brackets(self.text, start, end)
        if closed < end:
            within = self.strictly(" " * pad + self.text[start:closed])
            if within.error is None and within.root is not None:
                self.fault(text_after_brackets(self.text, start, closed, end))
                return self.take(within, line_start)
        self.fault(explain_value(self.text, start, end, _moved(reading.error, line_start)))
        if self.text[start] in "[{" and reading.root is not None:
            return self.take(reading, line_start)
        return Placed(Green("broken", start, end, "plain", self.text[start:end]))

    def anchored(self, child: Placed | None, properties: str) -> Placed | None:
        """Return a value with the anchor that is written before it, if any."""
        anchor = _ANCHOR.search(properties)
        if child is None or anchor is None:
            return child
        self.out.anchors[anchor[1]] = None
        return Placed(replace(child.green, anchor=anchor[1]), child.offset)

    def read(self, lines: Sequence[Line]) -> tuple[Reading, int]:
        """Parse lines strictly, the first from its content on; return the offset to add to the spans."""
        head = lines[0]
        pad = head.content - head.start
        text = " " * pad + self.text[head.content : lines[-1].next]
        return self.strictly(text), head.start

    def strictly(self, text: str) -> Reading:
        reading = read(text)
        checkpoint()
        self.left -= reading.work
        return reading

    def take(self, reading: Reading, base: int) -> Placed:
        """Add the results of strict parsing and return its root."""
        known = self.out.anchors
        aliases = [alias for alias in reading.aliases if alias[0] not in known]
        self.out.aliases.extend((name, start + base, end + base) for name, start, end in aliases)
        known.update(reading.anchors)
        for fault in reading.duplicates:
            self.fault(fault.shifted(base))
        assert reading.root is not None
        return Placed(reading.root, base)

    def fault(self, fault: SyntaxFault) -> None:
        if all((fault.code, fault.span) != (other.code, other.span) for other in self.out.faults[-5:]):
            self.out.faults.append(fault)

    def check_start(self, line: Line, usual: int, others: str) -> None:
        """Report the fault before the content of a line."""
        fault = start_fault(self.text, line, usual, others)
        if fault is not None:
            self.fault(fault)


def _moved(error: ReadError | None, by: int) -> ReadError | None:
    if error is None:
        return None
    context = error.context_at + by if error.context_at is not None else None
    return ReadError(error.problem, error.at + by, context, error.at_end)
