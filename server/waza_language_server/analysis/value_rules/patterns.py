"""Regular expressions: invalid, not portable, slow, or written for another engine."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from types import MappingProxyType

from waza_engine.checkpoint import checkpoint
from waza_engine.files import shown
from waza_engine.later_patterns import compiled_later
from waza_language_server.analysis.problem import Problem, Severity
from waza_language_server.analysis.rule import FileView, Found, GraderView, found_outside
from waza_language_server.analysis.value_rules.inside_values import problem_inside
from waza_language_server.embedded.languages import LANGUAGES
from waza_language_server.schema.shape import Shape
from waza_language_server.syntax.edits import replace_scalar
from waza_language_server.syntax.nodes import Node
from waza_language_server.syntax.tree import Tree
from waza_language_server.text.edit import Fix
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
        yield from found_outside(view.tree.root, top, look)


def _of_value(text: str, node: Node, shape: Shape) -> Iterable[Problem]:
    return _problems(text, node, "warning") if shape.kind == "regex" else ()


def patterns_of_grader(view: GraderView) -> Found:
    """Yield the problems of the patterns of a grader."""
    for node, shape in view.located:
        if shape.kind == "regex":
            checkpoint()
            problems = _problems(view.file.tree.text, node, "error")
            # Vally runs patterns as JavaScript does, which has what RE2 lacks.
            of_vally = view.file.catalog.of_vally
            yield from (each for each in problems if not of_vally or each.code != "pattern-not-portable")


def _problems(text: str, node: Node, severity: Severity) -> Iterator[Problem]:
    if node.kind != "scalar":
        return
    for finding in LANGUAGES["regex"].check(node.value).findings:
        grave = severity if finding.code == "invalid-pattern" else _SEVERITIES[finding.code]
        yield problem_inside(text, node, ScalarMap.of(text, node), finding, grave)


_BETWEEN_SLASHES = compiled_later(r"/((?:[^/\\]|\\.)+)/([gimsuy]{1,6})")
_FLAGS = frozenset("ims")
_TWICE_ESCAPED = compiled_later(r"\\\\([dDsSwW])(?=[+*?{])")
"""An escaped backslash before a repeated letter: ``\\ddd`` is not what the author intended."""


def foreign_patterns(view: GraderView) -> Found:
    """Yield patterns between slashes and doubled backslashes."""
    for node, shape in view.located:
        if shape.kind == "regex" and node.kind == "scalar":
            checkpoint()
            yield from _between_slashes(view.file.tree, node)
            yield from _twice_escaped(view.file.tree, node)


def _between_slashes(tree: Tree, node: Node) -> Iterator[Problem]:
    match = _BETWEEN_SLASHES.fullmatch(node.value)
    if match is None:
        return
    flags = "".join(sorted(_FLAGS & set(match[2])))
    right = f"(?{flags}){match[1]}" if flags else match[1]
    right = right.replace("\\/", "/")
    message = (
        f"JavaScript writes patterns like this; here the slashes and `{match[2]}` are part of the pattern. "
        f"Write `{shown(right)}`."
    )
    yield _problem(tree, node, message, right)


def _twice_escaped(tree: Tree, node: Node) -> Iterator[Problem]:
    match = _TWICE_ESCAPED.search(node.value)
    if match is None:
        return
    right = _TWICE_ESCAPED.sub(r"\\\1", node.value)
    once = f"\\{match[1]}"
    message = f"`\\{once}` looks for a backslash before the letter `{match[1]}`; did you mean `{once}`?"
    yield _problem(tree, node, message, right)


def _problem(tree: Tree, node: Node, message: str, right: str) -> Problem:
    fix = Fix(f"Change to `{shown(right)}`", partial(replace_scalar, tree, node, right))
    return Problem("unlikely-value", node.span, message, "information", (fix,))
