"""Fixes of faults that depend on more than their line."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from waza_engine.later_patterns import compiled_later
from waza_language_server.analysis.problem import Problem
from waza_language_server.analysis.text_rules.merge_marks import sides_of_merge
from waza_language_server.analysis.text_rules.repeated_keys import without_repetition
from waza_language_server.analysis.text_rules.syntax import fault_problem
from waza_language_server.spelling import slip_of
from waza_language_server.syntax.fault import SyntaxFault
from waza_language_server.syntax.tree import Tree, parse
from waza_language_server.syntax.tried_edits import apply
from waza_language_server.syntax.wrong_signs import is_merge_mark
from waza_language_server.text.edit import Edit, Fix
from waza_language_server.text.span import Span

_ANCHOR = compiled_later(r"(?<=[\s\[{,])&([^\s,\[\]{}]+)")
_ANCHOR_WITH_DOT = compiled_later(
    r"[ ]*(?:-[ ]+)?[A-Za-z_][\w-]*:[ ]+(?P<sign>&)(?P<word>[\w-]+\.[\w.-]+)(?=[ \t]*(?:[\r\n]|\Z))"
)
_END_ABOVE = compiled_later(r"(?:^|(?<=\r))(?P<mark>\.\.\.)[ \t]*(?:[\r\n]+(?:#[^\r\n]*)?)+\Z", re.MULTILINE)
"""The mark of the end of a document, followed only by comments."""
_NO_ANCHOR = "unknown-anchor"
LONGEST = 30_000
"""In characters; in a longer text every fault is reported unchanged."""


def with_fixes(tree: Tree, fault: SyntaxFault) -> Problem:
    """Return a fault as a problem, with the fixes that depend on more than its line."""
    problem = fault_problem(fault)
    if fault.code == "duplicate-key":
        return without_repetition(tree, problem)
    if is_merge_mark(tree.text, fault.span.start):
        return replace(problem, fixes=(*problem.fixes, *sides_of_merge(tree.text, fault.span.start)))
    if fault.code == "yaml-syntax" and not fault.fixes and (word := _word_as_anchor(tree.text, fault)):
        return word
    if fault.code == "several-documents":
        return replace(problem, fixes=tuple(_as_one_document(tree, fault.span)))
    if fault.code == "unknown-anchor" and len(tree.text) <= LONGEST:
        return replace(problem, fixes=tuple(_near_anchor(tree.text, fault.span)))
    return problem


def without_unread_anchors(text: str, faults: Sequence[SyntaxFault]) -> list[SyntaxFault]:
    """Return the faults without the aliases whose anchors are above in a part that was not parsed."""
    if len({fault.code == _NO_ANCHOR for fault in faults}) < 2:
        return list(faults)
    first: dict[str, int] = {}
    for match in _ANCHOR.finditer(text):
        first.setdefault(match[1], match.start())
    return [
        fault
        for fault in faults
        if fault.code != _NO_ANCHOR
        or first.get(text[fault.span.start + 1 : fault.span.end], len(text)) >= fault.span.start
    ]


def _word_as_anchor(text: str, fault: SyntaxFault) -> Problem | None:
    """Return the problem of a word with a `&` after a key, which cannot be parsed if it has a dot."""
    line = text.rfind("\n", 0, fault.span.start) + 1
    match = _ANCHOR_WITH_DOT.match(text, line)
    if match is None or not match.start("sign") <= fault.span.start <= match.end():
        return None
    place = Span(match.start("sign"), match.end())
    word = match["word"]
    message = f"`&{word}` names a value for YAML, and there is none; write `{word}`."
    fix = Fix(f"Change to `{word}`", (Edit(place, word),))
    return Problem("yaml-syntax", place, message, "error", (fix,))


def _as_one_document(tree: Tree, mark: Span) -> Iterator[Fix]:
    """Yield the fix that joins two documents; none if both have the same key."""
    ends = _END_ABOVE.search(tree.text, 0, mark.start)
    marks = (mark,) if ends is None else (Span(*ends.span("mark")), mark)
    edits = tuple(Edit(each, "") for each in marks)
    if len(tree.text) <= LONGEST and not parse(apply(tree.text, edits), tree).errors:
        signs = " and the ".join(f"`{tree.text[each.start : each.end]}`" for each in marks)
        yield Fix(f"Delete the {signs}", edits)


def _near_anchor(text: str, alias: Span) -> Iterator[Fix]:
    """Yield the anchor before an alias with a similar name."""
    names = list(dict.fromkeys(_ANCHOR.findall(text, 0, alias.start)))
    meant = slip_of(text[alias.start + 1 : alias.end], names)
    if meant is not None:
        yield Fix(f"Change to `*{meant}`", (Edit(Span(alias.start + 1, alias.end), meant),))
