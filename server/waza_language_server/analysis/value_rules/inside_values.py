"""Problems inside a value, mapped to document offsets for every style of a YAML scalar."""

from __future__ import annotations

from waza_engine.later_patterns import compiled_later
from waza_language_server.analysis.problem import Problem, Severity
from waza_language_server.embedded.language import Finding, Rewrite
from waza_language_server.syntax.edits import delete_item
from waza_language_server.syntax.nodes import Node
from waza_language_server.syntax.scalar_map import ScalarMap
from waza_language_server.syntax.tree import Tree
from waza_language_server.text.edit import Edit, Edits, Fix

_DASH = compiled_later(r"([ \t]*(?:-[ \t]+)*)-[ \t]+\Z")


def problem_inside(tree: Tree, node: Node, finding: Finding, severity: Severity) -> Problem:
    """Return the problem of a finding in the value of ``node``, with a fix for each possible rewrite."""
    scalar = ScalarMap.of(tree.text, node)
    span = scalar.source_span(finding.start, finding.end) if finding.end > finding.start else node.span
    edits = ((rewrite, edits_of_rewrite(tree, node, scalar, rewrite)) for rewrite in finding.rewrites)
    fixes = tuple(Fix(rewrite.title, made, rewrite.preferred) for rewrite, made in edits if made)
    return Problem(finding.code, span, finding.message, severity, fixes)


def edits_of_rewrite(tree: Tree, node: Node, scalar: ScalarMap, rewrite: Rewrite) -> Edits:
    """Return the edits of a rewrite; empty if the list's formatting does not allow it."""
    text, end = tree.text, "\n" if scalar.value.endswith("\n") else ""
    written = [scalar.write(expression.strip() + end) for expression in rewrite.expressions]
    if len(written) == 1:
        return (Edit(node.span, written[0]),)
    items = node.parent
    if items is None or items.kind != "sequence":
        return ()
    if not written:
        return delete_item(tree, node) if len(items.items) > 1 else ()
    if items.style == "flow":
        return (Edit(node.span, ", ".join(written)),)
    line_start = max(text.rfind("\n", 0, node.span.start), text.rfind("\r", 0, node.span.start)) + 1
    dash = _DASH.fullmatch(text[line_start : node.span.start])
    if dash is None:
        return ()
    line_break = "\r\n" if "\r\n" in text else "\n"
    lead = f"{line_break}{' ' * len(dash[1])}{text[line_start + len(dash[1]) : node.span.start]}"
    return (Edit(node.span, lead.join(written)),)
