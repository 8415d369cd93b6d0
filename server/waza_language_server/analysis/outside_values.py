"""Checks of every value of a file outside its grader entries."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from waza_engine.checkpoint import checkpoint
from waza_language_server.analysis.problem import Problem
from waza_language_server.analysis.rule import NODES_AT_ONCE, Found
from waza_language_server.schema.locate import outside_graders
from waza_language_server.schema.shape import Shape
from waza_language_server.syntax.nodes import Node


def found_outside(root: Node, top: Shape, look: Callable[[Node, Shape], Iterable[Problem]]) -> Found:
    """Yield the problems that ``look`` finds at each value outside the grader entries, top down."""
    for number, (node, shape) in enumerate(outside_graders(root, top), 1):
        if not number % NODES_AT_ONCE:
            checkpoint()
        yield from look(node, shape)
