"""Regular expressions that a run, or upstream, rejects."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from types import MappingProxyType

from waza_language_server.analysis.outside_values import found_outside
from waza_language_server.analysis.problem import Problem, Severity
from waza_language_server.analysis.rule import FileView, Found, GraderView
from waza_language_server.analysis.value_rules.inside_values import problem_inside
from waza_language_server.embedded.languages import LANGUAGES
from waza_language_server.schema.shape import Shape
from waza_language_server.syntax.nodes import Node
from waza_language_server.text.scalar_map import ScalarMap

_SEVERITIES: Mapping[str, Severity] = MappingProxyType(
    {"pattern-not-portable": "hint", "slow-pattern": "warning"}
)


def patterns_of_file(view: FileView) -> Found:
    """Yield the problems of the patterns outside of graders.

    An invalid one is a warning: a mock server with one is only left out of a run.
    """
    if view.tree.root is not None:
        top, look = view.catalog.document(view.kind), partial(_of_value, view.tree.text)
        yield from found_outside(view, view.tree.root, top, look, "patterns")


def _of_value(text: str, node: Node, shape: Shape) -> Iterable[Problem]:
    return _problems(text, node, "warning") if shape.kind == "regex" else ()


def patterns_of_grader(view: GraderView) -> Found:
    """Yield the problems of the patterns of a grader."""
    for node, shape in view.located:
        if shape.kind == "regex":
            yield None
            yield from _problems(view.file.tree.text, node, "error")


def _problems(text: str, node: Node, severity: Severity) -> Iterator[Problem]:
    if node.kind != "scalar":
        return
    for finding in LANGUAGES["regex"].check(node.value).findings:
        grave = severity if finding.code == "invalid-pattern" else _SEVERITIES[finding.code]
        yield problem_inside(text, node, ScalarMap.of(text, node), finding, grave)
