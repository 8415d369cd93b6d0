"""What decides the scores of a suite file, taken from its text, so that then and now can be compared."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from waza_engine.spec.reading.scalars import Json
from waza_engine.steps import Steps
from waza_language_server.project.suite_file import GraderEntry, SuiteFile

if TYPE_CHECKING:
    from waza_language_server.syntax.tree import Tree

INPUTS = "//inputs"
Values = Mapping[tuple[str, str], Json]
"""By task (`""` for the file itself) and by the name of a grader, or `//inputs` and the like."""


def values_in_steps(tree: Tree) -> Steps[Values]:
    """Return what decides the scores of a file: graders, inputs, expectations and metrics, by their place."""
    found: dict[tuple[str, str], Json] = {}
    suite = SuiteFile(tree)
    for grader in suite.graders():
        place = grader.task.id if grader.task is not None else ""
        if recorded_as := grader.recorded_as:
            found[place, recorded_as] = grader.node.to_python()
        found.setdefault((place, INPUTS), inputs_around(grader))
        yield
    places = [(task.id, task.node) for task in suite.tasks()]
    if tree.root is not None:
        places.append(("", tree.root))
    for place, node in places:
        for key in ("inputs", "expected", "metrics"):
            value = node.get(key)
            found[place, f"//{key}"] = value.to_python() if value is not None else None
        yield
    return found


def inputs_around(grader: GraderEntry) -> Json:
    """Return the ``inputs`` of the task around a grader entry."""
    node = (grader.task.node if grader.task is not None else grader.node.root).get("inputs")
    return node.to_python() if node is not None else None
