"""All grader entries of a file, and their types."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from functools import cached_property

from waza_language_server.schema.catalog import Catalog, SchemaName
from waza_language_server.schema.locate import grader_type, graders_in
from waza_language_server.syntax.nodes import Node
from waza_language_server.syntax.tree import Tree


class GraderEntries:
    """The entries in source order; their nodes are created on demand."""

    def __init__(self, tree: Tree, kind: SchemaName, catalog: Catalog) -> None:
        self._tree = tree
        self._kind: SchemaName = kind
        self._catalog = catalog

    def __iter__(self) -> Iterator[Node]:
        return iter(self._nodes)

    @cached_property
    def types(self) -> list[str | None]:
        """Return the type of each entry as written; None without one."""
        return [grader_type(entry) for entry in self._nodes]

    def of_types(self, types: Collection[str]) -> list[Node]:
        """Return the entries of some types."""
        return [entry for entry, written in zip(self._nodes, self.types, strict=True) if written in types]

    @cached_property
    def _nodes(self) -> list[Node]:
        root = self._tree.root
        return [] if root is None else list(graders_in(root, self._kind, self._catalog))
