"""Assertions of `code` graders that fail whatever the agent does: marked at the very characters, with fixes.

Findings and rewrites speak of the assertion as a value; here they are brought into the document, through
every style a YAML scalar may have.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial

from waza_language_server.analysis.assertion_rules.findings import (
    KNOWN_NAMES,
    Finding,
    Rewrite,
    assertion_findings,
)
from waza_language_server.analysis.assertion_rules.python_source import PythonSource, parse_python
from waza_language_server.analysis.problem import Problem
from waza_language_server.analysis.rule import Found, GraderView
from waza_language_server.syntax.edits import insert_entry, replace_scalar
from waza_language_server.syntax.nodes import Node
from waza_language_server.text.edit import Edit, Fix
from waza_language_server.text.line_index import LineIndex
from waza_language_server.text.scalar_map import ScalarMap
from waza_language_server.text.span import Span

LONGEST_ASSERTION = 10_000
"""Characters; a longer assertion is not looked into."""

_DASH = re.compile(r"([ \t]*(?:-[ \t]+)*)-[ \t]+\Z")


def assertions(view: GraderView) -> Found:
    """Yield the problems of the assertions of a grader; later ones know a name bound with ``:=``."""
    text = view.file.tree.text
    known = KNOWN_NAMES
    for node in _in_python(view):
        if node.kind != "scalar" or len(node.value) > LONGEST_ASSERTION:
            continue
        yield None
        findings, known = assertion_findings(node.value, known)
        if findings:
            scalar = ScalarMap.of(text, node)
            for finding in findings:
                yield _problem(text, node, scalar, finding)


def javascript_meant(view: GraderView) -> Iterator[Problem]:
    """Yield the advice to set ``language`` when all assertions of a grader are JavaScript."""
    tree, entry, written = view.file.tree, view.entry, _in_python(view)
    values = [
        node.value for node in written if node.kind == "scalar" and len(node.value) <= LONGEST_ASSERTION
    ]
    if len(values) < 2 or not all(_is_javascript_only(value) for value in values):
        return
    config = entry.get("config")
    language = entry.get("config", "language")
    if config is None or config.kind != "mapping":
        return
    if language is not None:
        repair = partial(replace_scalar, tree, language, "javascript")
    else:
        repair = partial(insert_entry, tree, config, "language", "javascript")
    message = (
        "All assertions of this grader are JavaScript, and without `language: javascript` they run as Python."
    )
    span = written[0].parent.step if written[0].parent is not None else None
    holder = config.entry(str(span)) if span is not None else None
    place = holder.key.span if holder is not None else written[0].span
    fix = Fix("Set `language: javascript`", repair, preferred=True)
    yield Problem("javascript-grader", place, message, "information", (fix,))


def _in_python(view: GraderView) -> list[Node]:
    """Return the assertions of a grader, none when they are in another language."""
    language = view.entry.get("config", "language")
    if language is not None and language.target.value not in {"", "python"}:
        return []
    return [node for node, shape in view.located if shape.kind == "python.assertion"]


def _is_javascript_only(value: str) -> bool:
    if isinstance(parse_python(value), PythonSource):
        return False
    return any(finding.code == "assertion-javascript" for finding in assertion_findings(value)[0])


def _problem(text: str, node: Node, scalar: ScalarMap, finding: Finding) -> Problem:
    span = scalar.source_span(finding.start, finding.end) if finding.end > finding.start else node.span
    edits = ((rewrite, _edits(text, node, scalar, rewrite)) for rewrite in finding.rewrites)
    fixes = tuple(Fix(rewrite.title, made, rewrite.preferred) for rewrite, made in edits if made)
    return Problem(finding.code, span, finding.message, "error", fixes)


def _edits(text: str, node: Node, scalar: ScalarMap, rewrite: Rewrite) -> tuple[Edit, ...]:
    """Return the edits of a rewrite; empty when the list is written in a way that leaves no room for it."""
    end = "\n" if scalar.value.endswith("\n") else ""
    written = [scalar.write(expression.strip() + end) for expression in rewrite.expressions]
    if len(written) == 1:
        return (Edit(node.span, written[0]),)
    items = node.parent
    if items is None or items.kind != "sequence":
        return ()
    if not written:
        return _without_item(text, node, items)
    if items.style == "flow":
        return (Edit(node.span, ", ".join(written)),)
    line_start = max(text.rfind("\n", 0, node.span.start), text.rfind("\r", 0, node.span.start)) + 1
    dash = _DASH.fullmatch(text[line_start : node.span.start])
    if dash is None:
        return ()
    line_break = "\r\n" if "\r\n" in text else "\n"
    lead = f"{line_break}{' ' * len(dash[1])}{text[line_start + len(dash[1]) : node.span.start]}"
    return (Edit(node.span, lead.join(written)),)


def _without_item(text: str, node: Node, items: Node) -> tuple[Edit, ...]:
    """Return the edit that deletes a list item with lines of its own, unless it is the only item."""
    if len(items.items) < 2 or items.style == "flow":
        return ()
    lines = LineIndex(text)
    first, last = lines.line_of(node.span.start), lines.line_of(max(node.span.end - 1, node.span.start))
    start = lines.line_span(first).start
    if _DASH.fullmatch(text[start : node.span.start]) is None or first + 1 >= lines.line_count:
        return ()
    if text[start : node.span.start].count("-") > 1:
        return ()
    end = lines.line_span(last + 1).start
    return (Edit(Span(start, end), ""),)
