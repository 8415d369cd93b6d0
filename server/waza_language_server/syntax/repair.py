"""Reading a piece of YAML that strict reading refuses.

Divide it by indentation until the faulty part is alone.

A block is cut at the columns of its lines into entries and items; each that reads strictly keeps its exact
nodes, each that does not is cut further. What is left in the end is one value or one line: it becomes a
broken node with a fault in our words, and everything around it is as if nothing had happened.

Architecture invariant: the text is never rewritten to please the parser; every span is where the user wrote
it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from waza_language_server.analysis.problem import Edit, Fix
from waza_language_server.syntax import explain
from waza_language_server.syntax.events import MAX_DEPTH, ReadError, Reading, read
from waza_language_server.syntax.fault import SyntaxFault
from waza_language_server.syntax.lines import Line, dash_at, key_at, split_lines
from waza_language_server.syntax.nodes import Green, Placed
from waza_language_server.text.span import Span

_MAX_FAULTS = 100
_MAX_JOINED_LINES = 40
_WORD_COLON = re.compile(r"([A-Za-z_][\w.-]*):(?=[^\s/])")
_WORD = re.compile(r"[\w.-]+[ \t]*(?=#|$)")
_COMMENT = re.compile(r"[ \t]+#")


@dataclass(slots=True)
class Repaired:
    """What could be saved of a piece.

    Pairs of a mapping or items of a list, and what is wrong with the rest.
    """

    children: list[Placed] = field(default_factory=list[Placed])
    end: int = 0
    faults: list[SyntaxFault] = field(default_factory=list[SyntaxFault])
    anchors: list[str] = field(default_factory=list[str])
    aliases: list[tuple[str, int, int]] = field(default_factory=list[tuple[str, int, int]])


def repair_entries(text: str, error: ReadError | None) -> Repaired:
    """Read ``key: value`` lines of the same level as far as possible."""
    reader = _Reader(text)
    lines = split_lines(text)
    if any(not line.blank for line in lines):
        reader.entries(lines, -1, 0)
    return reader.finish(error)


def repair_items(text: str, parent: int, error: ReadError | None) -> Repaired:
    """Read ``- item`` lines of the same level as far as possible.

    ``parent`` is the column of the key above.
    """
    reader = _Reader(text)
    lines = split_lines(text)
    if any(not line.blank for line in lines):
        reader.items(lines, parent, 0)
    return reader.finish(error)


def repair_block(text: str, error: ReadError | None) -> tuple[Placed | None, Repaired]:
    """Read a whole document as far as possible; return its root as well."""
    reader = _Reader(text)
    root = reader.block(split_lines(text), -1, 0)
    return root, reader.finish(error)


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.out = Repaired()

    def finish(self, error: ReadError | None) -> Repaired:
        if not self.out.faults:
            whole = Span(0, len(self.text.rstrip()))
            self.out.faults.append(explain.explain_error(self.text, error, whole))
        del self.out.faults[_MAX_FAULTS:]
        self.out.faults.sort(key=lambda fault: fault.span)
        return self.out

    # Blocks.

    def block(self, lines: Sequence[Line], parent: int, depth: int) -> Placed | None:
        """Read the lines of one value; None when there is nothing but blanks and comments."""
        lines = _significant_ends(lines)
        if not lines:
            return None
        span = Span(lines[0].content, lines[-1].end)
        if depth >= MAX_DEPTH:
            self.fault(explain.too_deep(span))
            return Placed(Green("broken", span.start, span.end))
        reading, base = self.read(lines)
        if reading.error is None and reading.root is not None:
            if lines[0].tabbed:
                self.tab(lines[0])
            return self.take(reading, base)
        kind = self.block_kind(lines)
        if kind:
            return self.collection(kind, lines, parent, depth)
        return self.value(lines[0].content, lines[-1].end, reading.error)

    def block_kind(self, lines: Sequence[Line]) -> str:
        """Say whether lines look like a mapping or a list; empty when they are a single value."""
        text = self.text
        if text[lines[0].content] in "[{":
            return ""
        solid = [(_line_kind(text, line), line.column) for line in lines if not line.blank]
        dash = min((column for kind, column in solid if kind == "dash"), default=None)
        key = min((column for kind, column in solid if kind == "key"), default=None)
        if solid[0][0] == "dash" or (dash is not None and (key is None or dash < key)):
            return "sequence"
        return "mapping" if key is not None else ""

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
        """Read the items of one list into ``out.children``."""
        groups = self.item_groups(_significant_ends(lines), parent)
        usual = _usual([group[0].column for group in groups])
        for group in groups:
            head = group[0]
            dash = dash_at(self.text, head.content)
            if dash or head.tabbed or head.stray >= 0:
                self.check_start(head, usual, "the other items of this list")
            if dash:
                self.item(group, dash, depth)
            else:
                self.fault(self.missing_dash(head))
                prose = all(line.blank or _line_kind(self.text, line) == "word" for line in group)
                child = None if prose else self.block(group, parent, depth + 1)
                if child is not None:
                    self.out.children.append(child)
            self.out.end = max(self.out.end, _significant_ends(group)[-1].end)

    def item_groups(self, lines: Sequence[Line], parent: int) -> list[list[Line]]:
        groups = [[lines[0]]]
        content, first_key = self.item_head(lines[0])
        for line in lines[1:]:
            if line.blank:
                groups[-1].append(line)
                continue
            own = groups[-1][0].column
            kind = _line_kind(self.text, line)
            starts = parent < line.column < content and (
                kind == "dash"
                or (line.column <= own and kind != "junk")
                or (first_key is not None and self.key_text(line) == first_key)
            )
            if starts:
                groups.append([line])
                content, first_key = self.item_head(line)
            else:
                groups[-1].append(line)
        return groups

    def item_head(self, line: Line) -> tuple[int, str | None]:
        """Return the column where the content of an item stands and the first key in it."""
        dash = dash_at(self.text, line.content)
        if dash is None:
            return line.column + 1, None
        if dash.end() >= line.end:
            return line.column + 1, None
        inner = line.at(dash.end())
        return inner.column, self.key_text(inner)

    def key_text(self, line: Line) -> str | None:
        match = key_at(self.text, line.content)
        return match["key"].rstrip() if match else None

    def item(self, lines: Sequence[Line], dash: re.Match[str], depth: int) -> None:
        head = lines[0]
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
        """Read the entries of one mapping into ``out.children``."""
        lines = _significant_ends(lines)
        groups = self.entry_groups(lines)
        usual = _usual([group[0].column for group in groups])
        for group in groups:
            head = group[0]
            self.check_start(head, usual, "the other keys of this mapping")
            self.entry(group, depth)
            self.out.end = max(self.out.end, _significant_ends(group)[-1].end)

    def entry_groups(self, lines: Sequence[Line]) -> list[list[Line]]:
        usual = self.usual_column(lines)
        groups: list[list[Line]] = []
        until = -1
        own, inner, state = 0, -1, ""
        for index, line in enumerate(lines):
            if groups:
                belongs = line.blank or line.start < until
                if not belongs:
                    belongs = self.belongs(line, own, inner, state, usual)
                    if belongs and own < line.column < inner:
                        belongs = not self.is_nearer_outside(lines, index, own, inner)
                if belongs:
                    groups[-1].append(line)
                    if inner < 0 and not line.blank:
                        inner = line.column
                    continue
            groups.append([line])
            own = usual if abs(line.column - usual) <= 1 else line.column
            inner, state = -1, self.entry_state(line)
            if state == "block":
                own = line.column
            until = self.open_until(line, lines) if state == "unclosed" else -1
        return groups

    def usual_column(self, lines: Sequence[Line]) -> int:
        """Return the column where the keys of a mapping stand, given that any one may be off by a blank."""
        first = lines[0].column
        solid = [line for line in lines if not line.blank]
        keys = [line.column for line in solid if _line_kind(self.text, line) == "key"]
        usual = _usual([column for column in keys if column <= first] or [first])
        opens = self.entry_state(lines[0]) == "empty" and len(solid) > 1 and solid[1].column == first + 1
        if first and usual == first and keys.count(first) <= 1 and first + 1 in keys and not opens:
            return first + 1
        return usual

    def belongs(self, line: Line, own: int, inner: int, state: str, usual: int) -> bool:
        """Whether a line continues the entry at column ``own`` whose lines stand at ``inner``."""
        column = line.column
        kind = _line_kind(self.text, line)
        if kind == "junk" and inner > own:
            return True
        if state == "block":
            return column > own and not (line.tabbed and kind == "key")
        if state == "empty":
            if column <= own:
                return kind == "dash" and column == own
            return not (kind == "key" and column == usual)
        if column <= own:
            return kind == "junk" and state == "flow"
        if kind == "key" and state == "value":
            return column > own + 1
        return True

    def is_nearer_outside(self, lines: Sequence[Line], index: int, own: int, inner: int) -> bool:
        """Whether a key between the columns of an entry and of its lines was meant as its sibling."""
        line = lines[index]
        if _line_kind(self.text, line) != "key":
            return False
        outwards, inwards = line.column - own, inner - line.column
        if outwards != inwards:
            return outwards < inwards
        below = next((other for other in lines[index + 1 :] if not other.blank), None)
        if self.entry_state(line) != "empty" or below is None or below.column != inner:
            return False
        # Where dashes stand at the column of their key, a dash below says nothing about the level of this
        # key.
        before = (other for other in lines[:index] if not other.blank and other.column == inner)
        return _line_kind(self.text, below) != "dash" or all(
            _line_kind(self.text, o) != "dash" for o in before
        )

    def entry_state(self, line: Line) -> str:
        """Say what stands behind the colon.

        Empty, block, flow, unclosed, value; or word when there is no colon.
        """
        match = key_at(self.text, line.content)
        if match is None:
            return "word"
        value = self.inline_value(match.end(), line.end)
        if value.start == value.end or re.fullmatch(r"&\S+|!\S*", self.text[value.start : value.end]):
            return "empty"
        head = self.text[value.start]
        if head in "|>":
            return "block"
        if head in "[{":
            return "flow"
        if head in "\"'" and explain.is_unclosed(self.text, value.start, value.end):
            return "unclosed"
        return "value"

    def inline_value(self, start: int, end: int) -> Span:
        """Return the span of what stands on the line behind a colon, without a comment."""
        while start < end and self.text[start] in " \t":
            start += 1
        if self.text.startswith("#", start):
            return Span(start, start)
        stop = start + len(self.text[start:end].rstrip())
        if stop > start and self.text[start] not in "\"'":
            comment = _COMMENT.search(self.text, start, stop)
            stop = comment.start() if comment else stop
        return Span(start, stop)

    def open_until(self, head: Line, lines: Sequence[Line]) -> int:
        """Return where a quote that spans lines ends for sure, or -1 when closing it there makes no sense."""
        match = key_at(self.text, head.content)
        if match is None:
            return -1
        quote = self.text[self.inline_value(match.end(), head.end).start]
        tried = 0
        for line in lines:
            if line.start <= head.start or quote not in self.text[line.start : line.end]:
                continue
            pad = " " * head.column
            if read(pad + self.text[head.content : line.next]).error is None:
                return line.next
            tried += 1
            if tried == 3 or line.start - head.start > 200 * _MAX_JOINED_LINES:
                return -1
        return -1

    def entry(self, lines: Sequence[Line], depth: int) -> None:
        head = lines[0]
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
        value = self.inline_value(match.end(), head.end)
        state = self.entry_state(head)
        below = _significant_ends(lines[1:])
        child: Placed | None = None
        if state == "empty":
            child = self.block(below, self.parent_of(below, head), depth + 1)
        elif state == "value" and below and _has_structure(self.text, below):
            self.fault(
                SyntaxFault(
                    Span(value.start, value.end),
                    "A key has either a value on its line or lines below it; move this value or delete it.",
                )
            )
            child = self.block(below, head.column, depth + 1)
        else:
            child = self.value(
                value.start, max(value.end, below[-1].end if below else 0), reading.error, base
            )
        if child is None:
            at = min(match.end() + self.text.startswith(" ", match.end()), head.end)
            child = Placed(Green("scalar", at, at))
        self.out.children.extend((key, child))

    def parent_of(self, below: Sequence[Line], head: Line) -> int:
        """Return the column that the lines of a value are deeper than.

        Dashes may stand at that of the key.
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
        below = _significant_ends(lines[1:])
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
            colon = Fix("Add the colon", (Edit(Span(end, end), ":"),), preferred=True)
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
            self.fault(
                SyntaxFault(
                    line, "A list item cannot stand among keys; indent it below the key it belongs to."
                )
            )
        else:
            self.fault(explain.explain_line(text, line))

    # Values and faults.

    def value(self, start: int, end: int, error: ReadError | None, base: int = 0) -> Placed:
        """Read one value that strict reading refused within its entry.

        On its own it may still be readable.
        """
        end = start + len(self.text[start:end].rstrip())
        line_start = max(self.text.rfind("\n", 0, start), self.text.rfind("\r", 0, start)) + 1
        pad = start - line_start
        reading = read(" " * pad + self.text[start:end])
        if reading.error is None and reading.root is not None and reading.root.style != "block":
            self.fault(explain.explain_error(self.text, _moved(error, base), Span(start, end)))
            return self.take(reading, line_start)
        closed = explain.end_of_brackets(self.text, start, end)
        if closed < end:
            within = read(" " * pad + self.text[start:closed])
            if within.error is None and within.root is not None:
                self.fault(explain.text_behind_brackets(self.text, start, closed, end))
                return self.take(within, line_start)
        self.fault(explain.explain_value(self.text, start, end, _moved(reading.error, line_start)))
        if self.text[start] in "[{" and reading.root is not None:
            return self.take(reading, line_start)
        return Placed(Green("broken", start, end, "plain", self.text[start:end]))

    def read(self, lines: Sequence[Line]) -> tuple[Reading, int]:
        """Read lines strictly, the first from its content on; return the offset to add to the spans."""
        head = lines[0]
        pad = head.content - head.start
        return read(" " * pad + self.text[head.content : lines[-1].next]), head.start

    def take(self, reading: Reading, base: int) -> Placed:
        """Keep what strict reading found and return its root."""
        known = self.out.anchors
        aliases = [alias for alias in reading.aliases if alias[0] not in known]
        self.out.aliases.extend((name, start + base, end + base) for name, start, end in aliases)
        known.extend(reading.anchors)
        for fault in reading.duplicates:
            self.fault(fault.shifted(base))
        assert reading.root is not None
        return Placed(reading.root, base)

    def fault(self, fault: SyntaxFault) -> None:
        if all((fault.code, fault.span) != (other.code, other.span) for other in self.out.faults[-5:]):
            self.out.faults.append(fault)

    def check_start(self, line: Line, usual: int, others: str) -> None:
        """Report what is wrong before the content of a line."""
        if line.stray >= 0:
            char = self.text[line.stray]
            span = Span(line.stray, line.stray + 1)
            remove = Fix(f"Delete `{char}`", (Edit(span, ""),))
            self.fault(SyntaxFault(span, f"This `{char}` does not belong here; delete it.", fixes=(remove,)))
        elif line.tabbed:
            self.tab(line)
        elif line.column != usual:
            self.misplaced(line, usual, others)

    def tab(self, line: Line) -> None:
        spaces = Edit(Span(line.start, line.content), " " * line.column)
        fix = Fix("Indent with spaces", (spaces,), preferred=True)
        span = Span(line.start, line.content)
        self.fault(
            SyntaxFault(span, "This line is indented with a tab; use spaces.", "yaml-tab", fixes=(fix,))
        )

    def misplaced(self, line: Line, usual: int, others: str) -> None:
        move = Edit(Span(line.start, line.content), " " * usual)
        fix = Fix("Align the line", (move,), preferred=True)
        spaces = "not at all" if usual == 0 else "by 1 space" if usual == 1 else f"by {usual} spaces"
        message = f"This line does not line up with {others}; indent it {spaces}."
        span = Span(line.content, line.content + len(self.text[line.content : line.end].rstrip()))
        self.fault(SyntaxFault(span, message, "yaml-indentation", fixes=(fix,)))

    def missing_dash(self, line: Line) -> SyntaxFault:
        span = Span(line.content, line.content + len(self.text[line.content : line.end].rstrip()))
        return SyntaxFault(span, "A list item starts with a dash; write `- ` before this.")


def _moved(error: ReadError | None, by: int) -> ReadError | None:
    if error is None:
        return None
    context = error.context_at + by if error.context_at is not None else None
    return ReadError(error.problem, error.at + by, context, error.at_end)


def _line_kind(text: str, line: Line) -> str:
    """Say what a line looks like.

    Dash, key, word (a key half typed, a value), or junk that begins none of these.
    """
    if dash_at(text, line.content):
        return "dash"
    if key_at(text, line.content):
        return "key"
    return "junk" if text[line.content] in "]}," else "word"


def _has_structure(text: str, lines: Sequence[Line]) -> bool:
    return any(not line.blank and _line_kind(text, line) == "key" for line in lines)


def _usual(columns: Sequence[int]) -> int:
    """Return the most common column, the first one on a tie."""
    return Counter(columns).most_common(1)[0][0]


def _significant_ends(lines: Sequence[Line]) -> Sequence[Line]:
    """Return the lines without blanks and comments at both ends."""
    start, end = 0, len(lines)
    while start < end and lines[start].blank:
        start += 1
    while end > start and lines[end - 1].blank:
        end -= 1
    return lines[start:end]
