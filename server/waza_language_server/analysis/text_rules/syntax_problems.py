"""What cannot be read, as problems: one for each slip of the pen, however many lines it disturbs.

A forgotten dash, or a line pushed out of its column, makes the lines around it unreadable in their turn. The
reader of the text reports each of them; here a slip is repaired for trial, and the faults that go away with
it are not said.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice

from waza_engine.frozen import frozen
from waza_engine.spec.reading.scalars import MAX_ALIASED_NODES
from waza_engine.spec.reading.yaml_faults import MISSING_DASH, TOO_MANY_ALIASES, sentence
from waza_engine.steps import Steps
from waza_language_server.analysis.problem import Problem, Severity
from waza_language_server.analysis.rule import FileView, Found
from waza_language_server.analysis.text_rules.joined_lines import (
    JoinedLine,
    is_line_of_its_own,
    joined_lines,
    joined_with_outer,
)
from waza_language_server.analysis.text_rules.lost_signs import LostSign, lost_signs
from waza_language_server.analysis.text_rules.merge_marks import sides_of_merge, without_keys_of_both_sides
from waza_language_server.analysis.text_rules.plain_text import LIKE_A_BAR, blocks_meant
from waza_language_server.analysis.text_rules.repeated_keys import without_repetition
from waza_language_server.schema.catalog import Catalog, SchemaName
from waza_language_server.schema.locate import shape_at
from waza_language_server.syntax.aliases import aliased_nodes
from waza_language_server.syntax.characters import MAX_CHARACTERS
from waza_language_server.syntax.fault import SyntaxFault
from waza_language_server.syntax.tree import Tree, parse
from waza_language_server.syntax.tried_edits import apply
from waza_language_server.syntax.wrong_signs import has_odd_blank, is_merge_mark
from waza_language_server.text.edit import Edit, Fix
from waza_language_server.text.line_index import LineIndex
from waza_language_server.text.span import Span

_SEVERITY: dict[str, Severity] = {"control-character": "warning", "unknown-anchor": "error"}
"""How bad a fault is, where a run can still read the file."""
_GLUED_DASH = re.compile(r"[ \t]*-(?=(?:[A-Za-z_]\w*:(?:[ \t]|$)|[\"'].*[\"'][ \t]*$))")
_DASH_AND_TEXT = re.compile(r"[ ]*-(?=[^\s-])")
_KEY_TWICE = re.compile(r"[ ]*(?:-[ ]+)*(?P<key>[A-Za-z_][\w-]*):[ \t]+(?P=key):(?=[ \t\r\n]|\Z)")
_OPENS_TEXT = re.compile(
    r"(?P<lead>[ ]*(?:-[ ]+)*)(?P<key>[A-Za-z_][\w-]*):[ \t]+[|>][-+]?(?:[ \t]+#.*)?[ \t]*\Z"
)
_KEY_OR_ITEM = re.compile(r"[A-Za-z_][\w-]*:(?:\s|$)|- ")
_WRITTEN_LINE = re.compile(r"^(?=[^\r\n])", re.MULTILINE)
_MOST_LINES = 200
_LEAD = re.compile(r"( *)(?:- +)*(\S)")
_COLUMN_CODES = frozenset({"yaml-indentation", "yaml-tab"})
_DASH = sentence(MISSING_DASH)
_TRIALS = 10
_LONGEST = 30_000
"""Characters; in a longer text every fault is said as it is."""


@frozen()
class _Slip:
    """A mistake that may be behind several faults, and the single edit that repairs it."""

    problem: Problem
    edit: Edit
    moves: bool = False
    """Whether it moves a line: believed only when all can be read then, and the key is known there."""
    known_at: int | None = None
    """Where a key stands after the edit that must be known there; then all must be readable, too."""
    joined: JoinedLine | None = None
    """A line that it divides: believed only when the second part is known where it is put."""


def syntax(view: FileView) -> Found:
    """Yield the problems of the text itself."""
    yield from _syntax_problems(view.tree, view.kind, view.catalog)
    if (yield from multiplies_itself(view.tree)):
        yield _too_many_aliases(view.tree)


def multiplies_itself(tree: Tree) -> Steps[bool]:
    """Whether the aliases of a text stand for so many values that nothing else can be said of it."""
    if tree.root is None or not tree.anchored:
        return False
    return (yield from aliased_nodes(tree.root.green)) > MAX_ALIASED_NODES


def syntax_faults(tree: Tree) -> Iterator[Problem]:
    """Yield every fault of the text as it is: for when the schemas cannot be read."""
    for fault in tree.errors:
        problem = _problem(fault)
        # Nobody says that a very long file is wrong: a run may read it.
        yield problem if len(tree.text) <= MAX_CHARACTERS else replace(problem, severity="information")


def _syntax_problems(tree: Tree, kind: SchemaName, catalog: Catalog) -> Iterator[Problem]:
    faults = list(tree.errors)
    if len(tree.text) > MAX_CHARACTERS:
        yield from syntax_faults(tree)
        return
    if faults and len(tree.text) <= _LONGEST:
        for slip in islice(_slips(tree, kind, catalog), _TRIALS):
            repaired = parse(apply(tree.text, (slip.edit,)), tree)
            explained = _explained(tree, faults, repaired, slip.edit)
            if not explained:
                continue
            if slip.joined is not None and not is_line_of_its_own(slip.joined, repaired, kind, catalog):
                continue
            if slip.known_at is not None and not _surely_known(repaired, slip.known_at, kind, catalog):
                continue
            column = slip.edit.span.start + len(slip.edit.text)
            if not slip.moves or (len(explained) == len(faults) and _known(repaired, column, kind, catalog)):
                yield slip.problem
                faults = [fault for fault in faults if fault not in explained]
    for fault in without_keys_of_both_sides(tree.text, faults):
        problem = _problem(fault)
        if is_merge_mark(tree.text, fault.span.start):
            problem = replace(problem, fixes=(*problem.fixes, *sides_of_merge(tree.text, fault.span.start)))
        if fault.code == "several-documents" and tree.text.startswith("---", fault.span.start):
            problem = replace(problem, fixes=tuple(_as_one_document(tree, fault.span.start)))
        yield problem if fault.code != "duplicate-key" else without_repetition(tree, problem)


def _as_one_document(tree: Tree, mark: int) -> Iterator[Fix]:
    """Yield the fix that makes one document of two; there is none where both have the same key."""
    edit = Edit(Span(mark, mark + len("---")), "")
    if len(tree.text) <= _LONGEST and not parse(apply(tree.text, (edit,)), tree).errors:
        yield Fix("Delete the `---`", (edit,))


def _too_many_aliases(tree: Tree) -> Problem:
    place = (
        next((node.span for node in tree.root.walk() if node.kind == "alias"), None) if tree.root else None
    )
    message = sentence(TOO_MANY_ALIASES)
    return Problem("too-many-aliases", place or Span(0, min(1, len(tree.text))), message)


def _known(tree: Tree, offset: int, kind: SchemaName, catalog: Catalog) -> bool:
    """Whether the key at an offset stands in a mapping that knows it; list items may stand anywhere."""
    key = tree.root.at(offset) if tree.root is not None else None
    if key is None or key.parent is None or key.kind != "scalar" or key.step is not None:
        return True
    shape = shape_at(kind, key.parent.path, tree.root, catalog)
    return shape is None or not shape.properties or key.value in shape.properties


def _surely_known(tree: Tree, offset: int, kind: SchemaName, catalog: Catalog) -> bool:
    """Whether a key stands at an offset, in a mapping that knows it."""
    key = tree.root.at(offset) if tree.root is not None else None
    if key is None or key.parent is None or key.kind != "scalar" or key.step is not None:
        return False
    shape = shape_at(kind, key.parent.path, tree.root, catalog)
    return shape is not None and key.value in shape.properties


def _problem(fault: SyntaxFault) -> Problem:
    severity = _SEVERITY.get(fault.code, "error")
    return Problem(fault.code, fault.span, fault.message, severity, fault.fixes, fault.related)


def _explained(tree: Tree, faults: Sequence[SyntaxFault], repaired: Tree, edit: Edit) -> list[SyntaxFault]:
    """Return the faults that go away with an edit; none when it brings others instead."""
    longer = len(edit.text) - len(edit.span)
    left = {(fault.code, fault.span) for fault in repaired.errors}
    before = {(fault.code, _moved(fault.span, edit, longer)) for fault in tree.errors}
    if left - before:
        return []
    return [fault for fault in faults if (fault.code, _moved(fault.span, edit, longer)) not in left]


def _moved(span: Span, edit: Edit, longer: int) -> Span:
    return span.shifted(longer) if span.start >= edit.span.end else span


def _blocks(kind: SchemaName, catalog: Catalog) -> frozenset[str]:
    """Return the keys of a document, and of the tasks in it, that hold a list or a mapping."""
    top = catalog.document_root(kind).top
    lists = [each.shape.items for each in top.properties.values()]
    levels = [top, *(items.branch("mapping") for items in lists if items is not None)]
    return frozenset(
        name
        for level in levels
        for name, each in level.properties.items()
        if not {"array", "object"}.isdisjoint(each.shape.types)
    )


def _slips(tree: Tree, kind: SchemaName, catalog: Catalog) -> Iterator[_Slip]:
    """Yield what may have gone wrong, the surest first."""
    lines, blocks = LineIndex(tree.text), _blocks(kind, catalog)
    faults = tree.errors
    for fault in faults:
        yield from _glued_dash(tree.text, lines, lines.line_of(fault.span.start))
    for fault in faults[:_TRIALS]:
        yield from _lost_signs(lost_signs(tree.text, lines, fault, kind, catalog), fault)
        # Where the line is read with it, an item is due.
        yield from _glued_dash(tree.text, lines, lines.line_of(fault.span.start), any_text=True)
    for fault in faults[:_TRIALS]:
        yield from _tabbed_text(tree.text, lines, fault)
        yield from _block_at_margin(tree.text, lines, fault)
    for fault in faults[:_TRIALS]:
        # What is wrong shows only below it, when a dash makes another key of the line.
        yield from _glued_dash(tree.text, lines, max(0, lines.line_of(fault.span.start) - 1))
    for fault in faults[:_TRIALS]:
        yield from _repeated_key(tree.text, lines, fault)
    for fault in faults[:_TRIALS]:
        yield from _joined_lines(tree.text, joined_lines(tree.text, lines, fault), fault)
    for fault in faults[:_TRIALS]:
        joined = joined_with_outer(tree.text, lines, fault, blocks)
        yield from _joined_lines(tree.text, joined, fault)
    for fault in faults[:_TRIALS]:
        yield from _plain_text(tree.text, lines, fault)
    for fault in faults:
        if fault.message == _DASH or _repeats_first_key(tree.text, lines, fault):
            yield from _missing_dash(tree.text, lines, fault)
    if any(fault.code in _COLUMN_CODES for fault in faults):
        yield from _pushed_lines(tree.text, lines, faults[0])


def _glued_dash(text: str, lines: LineIndex, number: int, *, any_text: bool = False) -> Iterator[_Slip]:
    """Yield the space that is missing behind a dash, in front of ``any_text`` or what is none by itself."""
    line = lines.line_span(number)
    match = (_DASH_AND_TEXT if any_text else _GLUED_DASH).match(text[line.start : line.end])
    if match is not None:
        at = line.start + match.end()
        edit = Edit(Span(at, at), " ")
        fix = Fix("Add a space after the dash", (edit,), preferred=True)
        message = "A space is missing after the dash of this list item."
        yield _Slip(Problem("yaml-syntax", Span(at - 1, at), message, "error", (fix,)), edit)


def _repeated_key(text: str, lines: LineIndex, fault: SyntaxFault) -> Iterator[_Slip]:
    number = lines.line_of(fault.span.start)
    above = (lines.line_span(line) for line in range(number, max(-1, number - _TRIALS), -1))
    found = ((line, _KEY_TWICE.match(text, line.start, line.end)) for line in above)
    line, match = next(((line, match) for line, match in found if match is not None), (None, None))
    if line is None or match is None:
        return
    key = match["key"]
    edit = Edit(Span(match.end("key") + 1, match.end()), "")
    # In front of a value it may be the beginning of a text.
    is_bare = not text[match.end() : line.end].strip()
    fix = Fix(f"Write `{key}:` once", (edit,), preferred=is_bare)
    place = Span(match.end() - len(key) - 1, match.end())
    others = tuple(replace(each, preferred=False) for each in fault.fixes)
    problem = Problem("yaml-syntax", place, f"`{key}:` stands twice on this line.", "error", (fix, *others))
    yield _Slip(problem, edit)


def _tabbed_text(text: str, lines: LineIndex, fault: SyntaxFault) -> Iterator[_Slip]:
    """Yield the lines of a block of text that are indented with tabs."""
    first = lines.line_of(fault.span.start)
    above = first - 1
    while above > 0 and not text[lines.line_span(above).start : lines.line_span(above).end].strip():
        above -= 1
    opening = lines.line_span(max(above, 0))
    match = _OPENS_TEXT.match(text, opening.start, opening.end)
    if fault.code != "yaml-tab" or match is None or above < 0:
        return
    rows: list[str] = []
    margin = " " * (len(match["lead"]) + 2)
    last = first
    for number in range(first, min(lines.line_count, first + _MOST_LINES)):
        line = lines.line_span(number)
        row = text[line.start : line.end]
        if row.strip() and not row.startswith("\t"):
            break
        content = row.lstrip("\t")
        rows.append(f"{margin}{'  ' * (len(row) - len(content) - 1)}{content}" if row.strip() else row)
        last = number if row.strip() else last
    start, end = lines.line_span(first).start, lines.line_span(last).end
    ending = "\r\n" if "\r\n" in text else "\n"
    edit = Edit(Span(start, end), ending.join(rows[: last - first + 1]))
    if rows and end > start:
        fix = Fix("Indent the text with spaces", (edit,), preferred=True)
        yield _Slip(replace(_problem(fault), fixes=(fix,)), edit)


def _block_at_margin(text: str, lines: LineIndex, fault: SyntaxFault) -> Iterator[_Slip]:
    """Yield the lines of a block of text that stand at the column of its key."""
    first = lines.line_of(fault.span.start)
    above = first - 1
    while above > 0 and not len(lines.line_span(above)):
        above -= 1
    opening = lines.line_span(max(above, 0))
    match = _OPENS_TEXT.match(text, opening.start, opening.end)
    column = _column(text, lines.line_span(first))
    if match is None or above < 0 or column != len(match["lead"]):
        return
    last = first
    for number in range(first, min(lines.line_count, first + _MOST_LINES)):
        line = lines.line_span(number)
        written = text[line.start : line.end].strip()
        if written and (_column(text, line) < column or _KEY_OR_ITEM.match(written)):
            break
        last = number if written else last
    start = lines.line_span(first).start
    end = lines.line_span(last).end
    edit = Edit(Span(start, end), _WRITTEN_LINE.sub("  ", text[start:end]))
    if text[start:end] != edit.text:
        fix = Fix("Indent the text", (edit,))
        message = f"The text of `{match['key']}` must stand further to the right than its key; indent it."
        yield _Slip(Problem("yaml-indentation", fault.span, message, "error", (fix,)), edit)


def _lost_signs(found: Iterator[LostSign], fault: SyntaxFault) -> Iterator[_Slip]:
    for lost in found:
        # What YAML reads instead is no likelier than what a suite has.
        others = tuple(replace(each, preferred=False) for each in fault.fixes)
        fixes = (Fix(lost.title, (lost.edit,)), *others)
        problem = Problem(lost.code, lost.place, lost.message, "error", fixes)
        yield _Slip(problem, lost.edit, known_at=lost.known_at)


def _joined_lines(text: str, found: Iterator[JoinedLine], fault: SyntaxFault) -> Iterator[_Slip]:
    for joined in found:
        written = text[joined.place.start : joined.place.end]
        where = f" below `{joined.holder}`" if joined.below else ""
        fix = Fix("Start a new line here", (joined.edit,), preferred=joined.below)
        others = () if joined.below else tuple(replace(each, preferred=False) for each in fault.fixes)
        message = f"`{written}` needs a line of its own{where}."
        if written == "-":
            message = f"The list of `{joined.holder}` starts on a line of its own, below the key."
        problem = Problem("yaml-syntax", joined.place, message, "error", (fix, *others))
        yield _Slip(problem, joined.edit, joined=joined)


def _plain_text(text: str, lines: LineIndex, fault: SyntaxFault) -> Iterator[_Slip]:
    for place, edit in blocks_meant(text, lines, fault):
        if (letter := text[place.start : place.end]) in LIKE_A_BAR:
            bar = Edit(place, "|")
            fixes = (
                Fix(f"Write `|` for `{letter}`", (bar,)),
                Fix("Write the text as a block with `>-`", (edit,)),
            )
            message = f"`{letter}` begins no block of text; write `|`, which keeps the lines below."
            yield _Slip(Problem("yaml-syntax", place, message, "error", fixes), bar)
        fix = Fix("Write the text as a block with `>-`", (edit,), preferred=True)
        message = "This text has `: ` in it, so its lines are read as keys; write it as a block with `>-`."
        yield _Slip(Problem("yaml-syntax", place, message, "error", (fix,)), edit)


def _missing_dash(text: str, lines: LineIndex, fault: SyntaxFault) -> Iterator[_Slip]:
    line = lines.line_span(lines.line_of(fault.span.start))
    indent = fault.span.start - line.start
    before = text[line.start : fault.span.start]
    if not before.strip(" ") and not _KEY_OR_ITEM.match(text, fault.span.start):
        # A text at the column of the dashes; a key there may be one of the item above.
        edit = Edit(Span(fault.span.start, fault.span.start), "- ")
        fix = Fix("Insert the dash", (edit,))
        yield _Slip(Problem("yaml-syntax", fault.span, _DASH, "error", (fix,)), edit)
    if indent >= 2 and not text[line.start : fault.span.start].strip(" "):
        edit = Edit(Span(fault.span.start - 2, fault.span.start), "- ")
        fix = Fix("Insert the dash", (edit,))
        yield _Slip(Problem("yaml-syntax", fault.span, _DASH, "error", (fix,)), edit)


def _repeats_first_key(text: str, lines: LineIndex, fault: SyntaxFault) -> bool:
    """Whether a key stands twice that opens a list item two columns to its left: the next item begins."""
    if fault.code != "duplicate-key" or not fault.related:
        return False
    first = fault.related[0].span.start
    line = lines.line_span(lines.line_of(first))
    indent = fault.span.start - lines.line_span(lines.line_of(fault.span.start)).start
    return text[line.start : first] == " " * (indent - 2) + "- "


def _pushed_lines(text: str, lines: LineIndex, fault: SyntaxFault) -> Iterator[_Slip]:
    """Yield the lines at the first fault, each at the columns of the lines around it, the nearest first."""
    number = lines.line_of(fault.span.start)
    around = _written_lines(text, lines, number)
    place = lines.line_span(number)
    begun = text[place.start : place.end]
    if has_odd_blank(begun[: len(begun) - len(begun.lstrip())]):
        # Its blanks are to blame, not their number.
        return
    moves: list[tuple[int, bool, int, int]] = []
    for line in (number, *(other for other in around if abs(other - number) == 1)):
        column = _column(text, lines.line_span(line))
        columns = {usual for other in around if other != line for usual in around[other]}
        moves += [(abs(usual - column), line != number, -usual, line) for usual in columns]
    for _, _, outdent, line in sorted(moves):
        usual = -outdent
        span = lines.line_span(line)
        written = text[span.start : span.end]
        start = span.start + len(written) - len(written.lstrip(" \t"))
        edit = Edit(Span(span.start, start), " " * usual)
        if text[span.start : start] != edit.text:
            yield _Slip(_moved_line(text, span, start, edit), edit, moves=True)


def _moved_line(text: str, line: Span, start: int, edit: Edit) -> Problem:
    fix = Fix("Align the line", (edit,))
    if "\t" in text[line.start : start]:
        fix = Fix("Indent with spaces", (edit,), preferred=True)
        message = "This line is indented with a tab; use spaces."
        return Problem("yaml-tab", Span(line.start, start), message, "error", (fix,))
    usual = len(edit.text)
    spaces = {0: "not at all", 1: "by 1 space"}.get(usual, f"by {usual} spaces")
    message = f"This line does not line up with those around it; indent it {spaces}."
    place = Span(start, line.start + len(text[line.start : line.end].rstrip()))
    return Problem("yaml-indentation", place, message, "error", (fix,))


def _column(text: str, line: Span) -> int:
    """Return the column where a line begins; a tab counts as two, as most editors would have it."""
    written = text[line.start : line.end]
    return len(written[: len(written) - len(written.lstrip(" \t"))].replace("\t", "  "))


def _written_lines(text: str, lines: LineIndex, number: int) -> dict[int, tuple[int, ...]]:
    """Return the lines around one that hold something, with the columns where keys may stand in them."""
    found: dict[int, tuple[int, ...]] = {}
    for line in range(max(0, number - 3), min(lines.line_count, number + 4)):
        span = lines.line_span(line)
        match = _LEAD.match(text[span.start : span.end])
        if match is not None and match[2] != "#":
            dash = len(match[1])
            below = [dash + 2] if text[span.start : span.end].rstrip().endswith(":") else []
            found[line] = (match.start(2), dash, *below)
    return found
