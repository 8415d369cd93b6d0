"""The limits that every fix has to respect, whichever rule created it.

A text with a mistake is parsed by guessing, so a fix may be right about its problem and wrong about its
place. These checks look only at the characters.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from waza_engine.later_patterns import compiled_later
from waza_language_server.analysis.problem import Problem
from waza_language_server.syntax.frames import line_start_of
from waza_language_server.syntax.nodes import Node
from waza_language_server.syntax.placed_text import line_end
from waza_language_server.syntax.tried_edits import apply
from waza_language_server.text.span import Span

if TYPE_CHECKING:
    from waza_language_server.syntax.tree import Tree
    from waza_language_server.text.edit import Edit

_TOKEN = compiled_later(r"\w+|[^\w\s]")
_WORD = compiled_later(r"\w")
_BREAK = compiled_later(r"[\r\n]")
_DASH = compiled_later(r"-\s+\Z")
_BETWEEN = ",."
"""Deleted with an item, an entry, or when a key with a dot becomes a block."""
_OF_WHOLE_MAPPINGS = frozenset(
    {"deprecated-grader-type", "unknown-grader-type", "missing-grader-type", "repeated-item"}
)
"""Codes of problems at one value that are about the mapping around it."""


def stays_within(tree: Tree, problem: Problem, edits: Sequence[Edit]) -> bool:
    """Return whether edits delete no character outside of a problem's span, and rename no multi-line key.

    Characters that the edits insert again are moved, not deleted.
    """
    spans = [problem.span, *(each.span for each in problem.related if each.uri is None)]
    renamed = [problem.span, *(edit.span for edit in edits if _WORD.search(edit.text))]
    if any(_is_key_over_lines(tree, span) for span in renamed):
        return False
    covered = [_covered(tree, span, problem.code) for span in spans]
    lost = Counter(token for edit in edits for token in _outside(tree.text, edit.span, covered))
    return not lost - Counter(token for edit in edits for token in _TOKEN.findall(edit.text))


def keeps_data(text: str, edits: Sequence[Edit]) -> bool:
    """Return whether deleted text also occurs elsewhere, in the edits or in the rest of the text."""
    inserted = Counter(token for edit in edits for token in _TOKEN.findall(edit.text))
    for edit in edits:
        removed = text[edit.span.start : edit.span.end].strip().strip(_BETWEEN).strip()
        is_deleted = _WORD.search(removed) is not None and _WORD.search(edit.text) is None
        if is_deleted and Counter(_TOKEN.findall(removed)) - inserted and removed not in apply(text, edits):
            return False
    return True


def _covered(tree: Tree, span: Span, code: str) -> Span:
    """Return the entry or the item that holds a span, with the comment at its end."""
    node: Node | None = tree.root.at(span.start) if tree.root is not None else None
    while node is not None and not (node.span.start <= span.start and span.end <= node.span.end):
        node = node.parent
    if node is None or node.parent is None:
        return span
    if code in _OF_WHOLE_MAPPINGS:
        node = node.parent
    holder = node.holder
    around = node.span if holder is None else holder.span
    dash = (
        None
        if holder is not None
        else _DASH.search(tree.text, line_start_of(tree.text, around.start), around.start)
    )
    start = around.start if dash is None else dash.start()
    return Span(min(start, span.start), _behind_comment(tree, max(around.end, span.end)))


def _behind_comment(tree: Tree, at: int) -> int:
    """Return the end of a comment after an offset; the offset itself if there is none."""
    end = line_end(tree.text, at)
    return end if tree.text[at:end].lstrip().startswith("#") else at


def _outside(text: str, span: Span, covered: Sequence[Span]) -> Iterator[str]:
    for match in _TOKEN.finditer(text, span.start, span.end):
        if match[0] not in _BETWEEN and not any(
            each.start <= match.start() and match.end() <= each.end for each in covered
        ):
            yield match[0]


def _is_key_over_lines(tree: Tree, span: Span) -> bool:
    node: Node | None = tree.root.at(span.start) if tree.root is not None else None
    while node is not None and node.parent is not None:
        if node.step is None and node.span.start <= span.start < span.end <= node.span.end:
            return _BREAK.search(tree.text, node.span.start, node.span.end) is not None
        node = node.parent
    return False
