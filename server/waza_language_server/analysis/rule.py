"""The definition of a rule: a function that reads one kind of view, and yields problems."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Generic, TypeVar

from waza_engine.checkpoint import checkpoint
from waza_engine.frozen import frozen
from waza_language_server.analysis.failures import note_rule_failure
from waza_language_server.analysis.grader_entries import GraderEntries
from waza_language_server.analysis.problem import Problem
from waza_language_server.schema.catalog import Catalog, SchemaName
from waza_language_server.schema.locate import outside_graders
from waza_language_server.schema.shape import Shape
from waza_language_server.syntax.nodes import Node
from waza_language_server.syntax.tree import Tree

if TYPE_CHECKING:
    from waza_language_server.project.document import Document
    from waza_language_server.project.workspace import Workspace


Found = Iterator[Problem]
"""The problems that a rule yields; it calls ``checkpoint()`` often."""


@frozen()
class FileView:
    """A file by itself.

    It has only the catalog of the workspace: its problems stay cached while other files change.
    """

    tree: Tree
    kind: SchemaName
    catalog: Catalog


@frozen()
class GraderView:
    """One grader entry of a file; ``located`` are its values with their shapes, top down."""

    file: FileView
    entry: Node
    located: Sequence[tuple[Node, Shape]]


@frozen()
class SuiteView:
    """A file among the other files of its suite; ``graders`` are all its grader entries."""

    document: Document
    workspace: Workspace
    graders: GraderEntries


View = TypeVar("View", contravariant=True)


@frozen()
class Rule(Generic[View]):
    """A row of the table. ``name`` is shown to the user when the rule fails.

    A rule of graders may list the grader ``types``, or the kinds of ``values``, that it is about;
    it is skipped for graders of other types and for those without such a value.
    """

    name: str
    find: Callable[[View], Found]
    types: frozenset[str] = frozenset()
    values: frozenset[str] = frozenset()

    def is_about(self, grader_type: str | None, shape: Shape) -> bool:
        """Return whether a rule of graders can find anything in a grader with this type and shape."""
        is_of_type = not self.types or grader_type in self.types
        return is_of_type and (not self.values or shape.may_hold(self.values))


def found_by(rules: Iterable[Rule[View]], view: View) -> Found:
    """Yield the problems that rules find in a view, with a checkpoint after each; a rule that fails has none.

    It repeats ``guarded``, whose generators cost as much as a rule when there is one for each grader.
    """
    for rule in rules:
        try:
            known = list(rule.find(view))
        except Exception as error:  # noqa: BLE001 - noted
            note_rule_failure(rule.name, error)
        else:
            yield from known
        checkpoint()


def found_outside(root: Node, top: Shape, look: Callable[[Node, Shape], Iterable[Problem]]) -> Found:
    """Yield the problems that ``look`` finds at each value outside the grader entries, top down."""
    for node, shape in outside_graders(root, top):
        yield from look(node, shape)
        checkpoint()
