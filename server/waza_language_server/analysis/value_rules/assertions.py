"""Assertions of `code` graders that fail whatever the agent does: marked at the exact characters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from types import MappingProxyType

from waza_engine.checkpoint import checkpoint
from waza_language_server.analysis.problem import Problem, Severity
from waza_language_server.analysis.rule import Found, GraderView
from waza_language_server.analysis.value_rules.inside_values import problem_inside
from waza_language_server.embedded.language import Surroundings
from waza_language_server.embedded.languages import LANGUAGES, LONGEST_VALUE, load_language
from waza_language_server.embedded.python.assertion_problems import assertion_findings
from waza_language_server.embedded.python.python_source import PythonSource, parse_python
from waza_language_server.schema.shape import language_kind_of
from waza_language_server.syntax.edits import insert_entry, replace_scalar
from waza_language_server.syntax.nodes import Node
from waza_language_server.text.edit import Fix

_ASSERTION = "python.assertion"
_SEVERITIES: Mapping[str, Severity] = MappingProxyType(
    {
        "assertion-constant": "warning",
        "assertion-case": "warning",
        "assertion-key": "warning",
        "assertion-internal": "warning",
    }
)
"""The severities of problems that break an assertion only in part, or in one of the two engines."""


def assertions(view: GraderView) -> Found:
    """Yield the problems of the assertions of a grader; later ones know the names that earlier ones bind."""
    known: frozenset[str] = frozenset()
    for node, kind in _written_in(view):
        if kind not in LANGUAGES or node.kind != "scalar" or len(node.value) > LONGEST_VALUE:
            continue
        checkpoint()
        checked = load_language(kind).check(node.value, Surroundings(names=known))
        known |= checked.names
        for finding in checked.findings:
            yield problem_inside(view.file.tree, node, finding, _SEVERITIES.get(finding.code, "error"))


def undeclared_javascript(view: GraderView) -> Iterator[Problem]:
    """Yield the hint to set ``language`` when all assertions of a grader are JavaScript."""
    tree, entry = view.file.tree, view.entry
    written = [node for node, kind in _written_in(view) if kind == _ASSERTION]
    values = [node.value for node in written if node.kind == "scalar" and len(node.value) <= LONGEST_VALUE]
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


def _written_in(view: GraderView) -> Iterator[tuple[Node, str | None]]:
    """Yield the assertions of a grader, each with the kind of its language."""
    last: tuple[Node | None, str | None] | None = None
    for node, shape in view.located:
        if shape.kind == _ASSERTION:
            if last is None or node.parent is not last[0]:
                last = node.parent, language_kind_of(node, _ASSERTION)
            yield node, last[1]


def _is_javascript_only(value: str) -> bool:
    if isinstance(parse_python(value), PythonSource):
        return False
    return any(finding.code == "assertion-javascript" for finding in assertion_findings(value)[0])
