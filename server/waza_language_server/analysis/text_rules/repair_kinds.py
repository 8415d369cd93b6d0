"""The kinds of mistakes that authors make in the layout of YAML: dashes, tabs, columns, colons, strings."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from itertools import islice, pairwise

from waza_engine.counting import counted
from waza_engine.frozen import frozen
from waza_engine.later_patterns import compiled_later
from waza_engine.spec.reading.yaml_faults import MISSING_DASH, TAB, sentence
from waza_engine.spelling import typo_of
from waza_language_server.schema.catalog import Catalog, SchemaName
from waza_language_server.schema.locate import shape_of
from waza_language_server.schema.shape import Shape
from waza_language_server.syntax.error_sentences import is_merge_mark
from waza_language_server.syntax.fault import STRUCTURAL_CODES, SyntaxFault
from waza_language_server.syntax.tree import Tree
from waza_language_server.text.edit import Edit, Edits, Fix
from waza_language_server.text.span import Span

_LINE = compiled_later(r"(?P<blanks>[ \t]*)(?P<dashes>(?:-[ ]+)*)(?P<rest>[^\r\n]*)(?:\r\n|\r|\n|\Z)")
_KEY = compiled_later(r"(?P<key>[A-Za-z_][\w-]*):(?:[ \t]|\Z)")
_BARE_KEY = compiled_later(r"[A-Za-z_][\w-]*:[ \t]*(?:#.*)?\Z")
_OPENS_TEXT = compiled_later(r"(?P<key>[A-Za-z_][\w-]*):[ \t]+[|>][-+]?(?:[ \t]+#.*)?[ \t]*\Z")
_GLUED_DASH = compiled_later(r"-(?=[^\s-])")
_PLAIN_TEXT = compiled_later(r"[A-Za-z_][\w-]*:[ ]+(?P<value>[^\s\"'|>\[{&*!#%@`].*)\Z")
_COLON_IN_WORDS = compiled_later(r"(?:[^\s:]+[ ][^:]*|[A-Z][a-z][^\s:]*):(?:[ ]|\Z)")
"""A colon after several words, or after a capitalized one: no key of a suite is like that."""
_LOOKED_AT = 40
"""The most lines around a fault to look at."""
_FAR = 10
"""The most columns that lines are moved by."""
_MOST_ENDS = 6
_BELOW = 12
"""The most lines below a fault in which the item that causes it may begin."""


@frozen()
class Row:
    """A line that is neither empty nor a comment: its column, the column after its dashes, its content."""

    number: int
    start: int
    column: int
    inner: int
    written: str
    tabbed: bool = False

    @property
    def content(self) -> int:
        """Return the offset of the first character after indentation and dashes."""
        return self.start + self.inner

    @property
    def is_item(self) -> bool:
        """Return whether the line begins with the dash of an item."""
        return self.inner > self.column

    @property
    def key(self) -> str | None:
        """Return the key of the line, after its dashes."""
        match = _KEY.match(self.written)
        return match["key"] if match is not None else None

    @property
    def place(self) -> Span:
        """Return the line without its indentation."""
        return Span(self.start + self.column, self.content + len(self.written))


@frozen()
class Proposal:
    """Edits that may repair a fault, and how to report it. ``keys`` must be known after the edits."""

    code: str
    place: Span
    message: str
    title: str
    edits: Edits
    keys: tuple[int, ...] = ()
    """Offsets, in the unchanged text, of keys and items."""
    whole: bool = False
    """True if the text must have no fault left: the edits are a guess about columns."""
    is_sure: bool = False
    others: tuple[Fix, ...] = ()


class Broken:
    """A text with a fault, its lines, and the keys that the schemas know anywhere in such a file."""

    def __init__(self, tree: Tree, fault: SyntaxFault, kind: SchemaName, catalog: Catalog) -> None:
        self.tree, self.text, self.fault, self.catalog = tree, tree.text, fault, catalog
        self.kind: SchemaName = kind

    @cached_property
    def rows(self) -> Sequence[Row]:
        """Return the lines with content."""
        rows: list[Row] = []
        for number, match in enumerate(_LINE.finditer(self.text)):
            written = match["rest"].rstrip()
            if (written or match["dashes"]) and not written.startswith("#"):
                column = len(match["blanks"])
                inner = column + len(match["dashes"])
                tabbed = "\t" in match["blanks"]
                rows.append(Row(number, match.start(), column, inner, written, tabbed))
        return rows

    @cached_property
    def at(self) -> int:
        """Return the index of the row with the fault, or of the next one."""
        start = self.fault.span.start
        return next((at for at, row in enumerate(self.rows) if start <= row.content + len(row.written)), -1)

    @cached_property
    def keys(self) -> frozenset[str]:
        """Return the keys of a document, of the blocks and items in it, of graders and their options."""
        return frozenset(name for level in _levels(self.kind, self.catalog) for name in level.properties)

    def end_of_block(self, index: int, column: int) -> int:
        """Return the index after the rows below a row that are all to the right of a column."""
        last = index + 1
        while last < len(self.rows) and self.rows[last].column > column:
            last += 1
        return last


def _levels(kind: SchemaName, catalog: Catalog) -> Iterator[Shape]:
    top = catalog.document_root(kind).top
    below = [each.shape for each in top.properties.values()]
    items = [each.items for each in below if each.items is not None]
    for level in (top, catalog.any_grader, *below, *items):
        yield level.branch("mapping")
    for name in catalog.grader_types if kind in ("eval", "task") else ():
        shape = catalog.grader(name)
        options = shape.properties.get("config") if shape is not None else None
        if options is not None:
            yield options.shape.branch("mapping")


# Dashes.


def _glued_dash(broken: Broken) -> Iterator[Proposal]:
    """Propose a space after a dash: `-type: text`, at the fault or above it."""
    for row in broken.rows[max(broken.at - 1, 0) : broken.at + 1][::-1]:
        if _GLUED_DASH.match(row.written):
            edit = Edit(Span(row.content + 1, row.content + 1), " ")
            message = "A space is missing after the dash of this list item."
            place = Span(row.content, row.content + 1)
            yield Proposal("yaml-syntax", place, message, "Add a space after the dash", (edit,), is_sure=True)


def _missing_dash(broken: Broken) -> Iterator[Proposal]:
    """Propose a dash at the fault, at the line above, or at the first line of the block around them."""
    for row in _without_dash(broken):
        start = row.start + row.column
        if row.column >= len("- "):
            yield _dash_at(row, (Edit(Span(start - len("- "), start), "- "),))
        yield _dash_at(row, (Edit(Span(start, start), "- "),))


def _missing_dash_of_block(broken: Broken) -> Iterator[Proposal]:
    """Propose a dash as well, with the other lines of the item moving to the right."""
    for row in _without_dash(broken):
        at, start = broken.rows.index(row), row.start + row.column
        for last in dict.fromkeys((broken.end_of_block(at, row.column), *_ends_of_run(broken, at))):
            below = tuple(Edit(Span(each.start, each.start), "  ") for each in broken.rows[at + 1 : last])
            yield _dash_at(row, (Edit(Span(start, start), "- "), *below))


def _without_dash(broken: Broken) -> Iterator[Row]:
    if broken.fault.code != "duplicate-key" or _repeats_first_key(broken):
        indexes = dict.fromkeys((broken.at, broken.at - 1, *_first_of_block(broken)))
        rows = (broken.rows[at] for at in indexes if 0 <= at < len(broken.rows))
        yield from (row for row in rows if not row.is_item)


def _dash_at(row: Row, edits: Edits) -> Proposal:
    place = Span(row.content, row.content + len(row.key or row.written))
    message, whole = sentence(MISSING_DASH), len(edits) > 1
    return Proposal("yaml-syntax", place, message, "Insert the dash", edits, (row.content,), whole)


def _repeats_first_key(broken: Broken) -> bool:
    """Return whether a key occurs again that opens a list item two columns to its left, or its list."""
    related = broken.fault.related[:1]
    first = next((row for row in broken.rows for each in related if row.content == each.span.start), None)
    return first is not None and first.is_item and first.inner == broken.rows[broken.at].column


def _first_of_block(broken: Broken) -> Iterator[int]:
    for at in range(broken.at - 1, max(-1, broken.at - _LOOKED_AT), -1):
        if at > 0 and _BARE_KEY.match(broken.rows[at - 1].written) and not broken.rows[at].is_item:
            yield at
            return


def _missing_dashes(broken: Broken) -> Iterator[Proposal]:
    """Propose the dashes of a list without any: each item begins with the same key."""
    tree, related = broken.tree, broken.fault.related
    key = tree.root.at(related[0].span.start) if tree.root is not None and related else None
    items = key.parent if key is not None and key.step is None else None
    if broken.fault.code != "duplicate-key" or items is None or items.style != "block":
        return
    shape, first = shape_of(broken.kind, items, broken.catalog), next(items.each_entry())
    if shape is None or shape.items is None or not shape.wants_list or not shape.items.fits("mapping"):
        return
    starts = [entry.key.span.start for entry in items.each_entry() if entry.key.value == first.key.value]
    if len(starts) > 1 and all(broken.text[start - 2 : start] == "  " for start in starts):
        edits = tuple(Edit(Span(start - 2, start), "- ") for start in starts)
        message = (
            f"Each item of `{items.step}` begins with a dash; write `- ` before each `{first.key.value}`."
        )
        place = Span(starts[1], starts[1] + len(first.key.value))
        yield Proposal("yaml-syntax", place, message, "Insert the dashes", edits, is_sure=True)


# Columns.


def _tabs(broken: Broken) -> Iterator[Proposal]:
    """Propose spaces for the tabs of the lines around the fault, each tab as one level."""
    first = last = broken.at
    while first > 0 and broken.rows[first - 1].tabbed:
        first -= 1
    while last + 1 < len(broken.rows) and broken.rows[last + 1].tabbed:
        last += 1
    rows = broken.rows[first : last + 1]
    if not first or not rows or not rows[0].tabbed:
        return
    above = broken.rows[first - 1]
    opens = above.written.endswith((":", "|", ">", "|-", ">-"))
    message = "These lines are indented with tabs; use spaces." if len(rows) > 1 else sentence(TAB)
    for base in dict.fromkeys((above.inner + 2 * opens, *_columns_around(broken, first))):
        for step in (2, 4):
            widths = [_width(broken, row, step) for row in rows]
            columns = (max(base + width - widths[0], 0) for width in widths)
            edits = tuple(
                Edit(Span(row.start, row.start + row.column), " " * column)
                for row, column in zip(rows, columns, strict=True)
            )
            place = Span(rows[0].start, rows[0].start + rows[0].column)
            known = (rows[0].content,) if rows[0].key in broken.keys else ()
            yield Proposal("yaml-tab", place, message, "Indent with spaces", edits, known, is_sure=True)


def _width(broken: Broken, row: Row, step: int) -> int:
    return len(broken.text[row.start : row.start + row.column].replace("\t", " " * step))


def _columns(broken: Broken) -> Iterator[Proposal]:
    """Propose lines near the fault at the columns of those around them, the smallest moves first."""
    if is_merge_mark(broken.text, broken.fault.span.start):
        return
    if (body := _dedented_body(broken)) is not None:
        item, below = broken.rows[body - 1], range(body + 1, len(broken.rows))
        alike = (at for at in below if broken.rows[at].is_item and broken.rows[at].column == item.column)
        for last in dict.fromkeys((next(alike, len(broken.rows)), *_ends_of_run(broken, body))):
            yield _moved_lines(broken, body, last, item.inner)
    moves: list[tuple[int, bool, int, int, int, int, int]] = []
    step = _step(broken)
    for rank, first in enumerate(dict.fromkeys(_heads(broken))):
        row = broken.rows[first]
        for column in _columns_around(broken, first):
            far = abs(column - row.column)
            if 0 < far <= _FAR:
                extents = enumerate(_extents(broken, first))
                odd = bool(column % step)
                moves += ((far, odd, rank, order, first, last, column) for order, last in extents)
    for *_, first, last, column in sorted(moves):
        yield _moved_lines(broken, first, last, column)


def _dedented_body(broken: Broken) -> int | None:
    """Return the first line below an item, at the fault or above it, that is to the left of its dash."""
    rows = broken.rows
    for at in range(broken.at, max(0, broken.at - _LOOKED_AT), -1):
        above = rows[at - 1]
        if above.is_item and not rows[at].is_item and rows[at].column < above.column:
            return at
    return None


def _heads(broken: Broken) -> Iterator[int]:
    """Yield the rows where misplaced lines may begin: at the fault, then the items near it."""
    rows, at = broken.rows, broken.at
    yield from (each for each in (at, at - 1, at + 1) if 0 <= each < len(rows))
    above = (each for each in range(at - 1, max(-1, at - _LOOKED_AT), -1) if rows[each].is_item)
    yield from islice((each for each in above if rows[each].column != rows[at].column), _MOST_ENDS)
    yield from (each for each in range(max(at, 0), min(len(rows), at + _BELOW)) if rows[each].is_item)


def _extents(broken: Broken, first: int) -> Sequence[int]:
    """Return where lines that move together may end, the likeliest first.

    A block moves with its key if its lines are one level to the right of it, as in the rest of the file.
    """
    rows, row = broken.rows, broken.rows[first]
    block = broken.end_of_block(first, row.column)
    has_its_lines = block > first + 1 and rows[first + 1].column - row.column == _step(broken)
    ends = (block, first + 1) if row.is_item or has_its_lines else (first + 1, block)
    return tuple(dict.fromkeys((*ends, *_ends_of_run(broken, first))))


def _ends_of_run(broken: Broken, first: int) -> Sequence[int]:
    """Return where the keys, or items, at the column of a row may end; all of them come first."""
    rows, last, ends = broken.rows, first + 1, list[int]()
    while last < len(rows) and rows[last].column >= rows[first].column:
        if rows[last].column == rows[first].column:
            ends.append(last)
            if rows[last].is_item != rows[first].is_item:
                break
        last += 1
    return (last, *ends[1:_MOST_ENDS][::-1])


def _step(broken: Broken) -> int:
    """Return the indentation of the first block at the margin; 2 without one."""
    for row, below in pairwise(broken.rows):
        if not row.inner and below.column and not below.is_item and _BARE_KEY.match(row.written):
            return below.column
    return 2


def _columns_around(broken: Broken, index: int) -> Sequence[int]:
    """Return the columns where a row may belong: those of the lines above that hold it, and below."""
    found: dict[int, None] = {}
    least = _FAR * _LOOKED_AT
    for row in broken.rows[max(0, index - _LOOKED_AT) : index][::-1]:
        if row.column < least:
            if _BARE_KEY.match(row.written):
                found[row.inner + _step(broken)] = None
            found |= {row.inner: None, row.column: None}
            least = row.column
    for row in broken.rows[index + 1 : index + 4]:
        found |= {row.column: None}
    return tuple(found)


def _moved_lines(broken: Broken, first: int, last: int, column: int) -> Proposal:
    row, end = broken.rows[first], broken.rows[last - 1]
    by = column - row.column
    starts = list(_line_starts(broken.text, row.start, end.content))
    indents = [len(broken.text[at:]) - len(broken.text[at:].lstrip(" ")) for at in starts]
    edits = tuple(
        Edit(Span(at, at), " " * by) if by > 0 else Edit(Span(at, at + min(-by, indent)), "")
        for at, indent in zip(starts, indents, strict=True)
    )
    known = (row.content,) if row.key or row.is_item else ()
    if last == first + 1:
        spaces = {0: "not at all", 1: "by 1 space"}.get(column, f"by {column} spaces")
        message = f"This line does not line up with those around it; indent it {spaces}."
        title = "Align the line"
    else:
        side = "left" if by > 0 else "right"
        what = "item is" if row.is_item else "block is"
        message = f"This {what} {counted(abs(by), 'space')} too far to the {side}; move all of its lines."
        title = "Align the lines"
    return Proposal("yaml-indentation", row.place, message, title, edits, known, whole=True)


def _line_starts(text: str, start: int, end: int) -> Iterator[int]:
    """Yield the starts of the lines with content, comments included, from ``start`` to ``end``."""
    for match in _LINE.finditer(text, start):
        if match.start() > end:
            return
        if match["rest"].strip() or match["dashes"]:
            yield match.start()


# Colons and texts.


def _dedented_text(broken: Broken) -> Iterator[Proposal]:
    """Propose to indent the lines of a block scalar that are not to the right of its key."""
    rows, at = broken.rows, broken.at
    for above in range(at - 1, max(-1, at - _LOOKED_AT), -1):
        head = rows[above]
        match = _OPENS_TEXT.match(head.written)
        if match is None:
            continue
        first = broken.end_of_block(above, head.inner)
        last = first
        while last < len(rows) and not (rows[last].column <= head.inner and _is_like(rows[last].key, broken)):
            last += 1
        if not first <= at <= last or first == last:
            return
        usual = rows[above + 1].column if first > above + 1 else head.inner + 2
        starts = _line_starts(broken.text, rows[first].start, rows[last - 1].content)
        edits = tuple(Edit(Span(start, start), " " * (usual - rows[first].column)) for start in starts)
        message = f"The text of `{match['key']}` must be further to the right than its key; indent it."
        yield Proposal("yaml-indentation", rows[first].place, message, "Indent the text", edits)
        return


def _is_like(key: str | None, broken: Broken) -> bool:
    return key is not None and (key in broken.keys or typo_of(key, broken.keys) is not None)


def _text_as_block(broken: Broken) -> Iterator[Proposal]:
    """Propose a block scalar for a plain text of several lines with ``: `` in it, around the fault."""
    least = _FAR * _LOOKED_AT
    for at in range(broken.at, max(-1, broken.at - _LOOKED_AT), -1):
        row = broken.rows[at]
        if row.column >= least:
            continue
        least = row.column
        match, end = _PLAIN_TEXT.match(row.written), broken.end_of_block(at, row.inner)
        below = broken.rows[at + 1 : end]
        if match is None or not below:
            continue
        parts = (match["value"], *(each.written for each in below))
        if not any(_COLON_IN_WORDS.match(part) for part in parts) and ": " not in match["value"]:
            continue
        place = Span(row.content + match.start("value"), row.content + match.end("value"))
        whole = Span(place.start, below[-1].content + len(below[-1].written))
        indent = " " * (row.inner + 2)
        lines = [line.strip() for line in broken.text[whole.start : whole.end].splitlines()]
        body = "".join(f"\n{indent}{line}" if line else "\n" for line in lines)
        if "\r\n" in broken.text:
            body = body.replace("\n", "\r\n")
        message = "This text has `: ` in it, so its lines are read as keys; write it as a block with `>-`."
        title = "Write the text as a block with `>-`"
        # A line below that begins with a known key may be misplaced instead.
        is_sure = not any(each.key in broken.keys for each in below)
        yield Proposal("yaml-syntax", place, message, title, (Edit(whole, f">-{body}"),), is_sure=is_sure)


@frozen()
class Kind:
    """A row of the table. ``replaces_fixes``: it is tried even if the fault has a fix of its own."""

    name: str
    recognise: Callable[[Broken], Iterator[Proposal]]
    codes: frozenset[str] = STRUCTURAL_CODES
    replaces_fixes: bool = False


_OF_COLUMNS = frozenset({"yaml-indentation", "yaml-tab"})

KINDS: tuple[Kind, ...] = (
    Kind("no space after a dash", _glued_dash, replaces_fixes=True),
    Kind("tabs for spaces", _tabs, frozenset({"yaml-tab"}), replaces_fixes=True),
    Kind("a text at the column of its key", _dedented_text),
    Kind("`: ` in a text of several lines", _text_as_block, replaces_fixes=True),
    Kind("a list without dashes", _missing_dashes, frozenset({"duplicate-key"})),
    Kind("a missing dash", _missing_dash, STRUCTURAL_CODES | {"duplicate-key"}),
    Kind("lines at another column", _columns, STRUCTURAL_CODES | {"duplicate-key"}),
    Kind("a line at another column", _columns, _OF_COLUMNS, replaces_fixes=True),
    Kind("a missing dash above other lines", _missing_dash_of_block, STRUCTURAL_CODES | {"duplicate-key"}),
)
"""Every kind of mistake in the layout. Quotes, escapes and brackets are explained where they are parsed."""
