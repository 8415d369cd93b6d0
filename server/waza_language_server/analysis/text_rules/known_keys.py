"""The keys and strings that the schemas allow anywhere in a file: keys, keys of blocks, keys of strings."""

from __future__ import annotations

from collections.abc import Iterator
from weakref import WeakKeyDictionary

from waza_language_server.schema.catalog import Catalog, SchemaName
from waza_language_server.schema.shape import Shape

_LEVELS_BELOW = 2
"""Levels of nested blocks to search for keys that hold a string."""
_texts: WeakKeyDictionary[Catalog, dict[SchemaName, frozenset[str]]] = WeakKeyDictionary()
"""Cached: finding them walks all levels, which takes as long as all other checks of a broken file."""


def blocks_of(kind: SchemaName, catalog: Catalog) -> frozenset[str]:
    """Return the keys of a document, and of the tasks in it, that hold a list or a mapping."""
    top = catalog.document_root(kind).top
    lists = [each.shape.items for each in top.properties.values()]
    levels = [top, *(items.branch("mapping") for items in lists if items is not None)]
    return frozenset(
        name
        for level in levels
        for name, each in level.properties.items()
        if not {"array", "object"}.isdisjoint(each.shape.types)
    )


def keys_of(kind: SchemaName, catalog: Catalog) -> frozenset[str]:
    """Return the keys of a document, of the blocks and items in it, of graders and their options."""
    return frozenset(name for level in _levels(kind, catalog) for name in level.properties)


def _levels(kind: SchemaName, catalog: Catalog) -> Iterator[Shape]:
    """Yield the mappings of a document, the blocks and items in it, graders and their options."""
    top = catalog.document_root(kind).top
    below = [each.shape for each in top.properties.values()]
    items = [each.items for each in below if each.items is not None]
    for level in (top, catalog.any_grader, *below, *items):
        yield level.branch("mapping")
    if kind in ("eval", "task"):
        for name in catalog.grader_types:
            shape = catalog.grader(name)
            options = shape.properties.get("config") if shape is not None else None
            if options is not None:
                yield options.shape.branch("mapping")


def texts_of(kind: SchemaName, catalog: Catalog) -> frozenset[str]:
    """Return the keys that hold a string and nothing else wherever they are known."""
    known = _texts.setdefault(catalog, {})
    if kind not in known:
        known[kind] = _texts_of(kind, catalog)
    return known[kind]


def _texts_of(kind: SchemaName, catalog: Catalog) -> frozenset[str]:
    found: dict[str, bool] = {}
    levels = list(_levels(kind, catalog))
    for _ in range(_LEVELS_BELOW):
        for level in tuple(levels):
            below = (each.shape for each in level.properties.values())
            inner = (shape.branch("mapping") for each in below for shape in (each, each.items) if shape)
            levels += (shape for shape in inner if shape not in levels)
    for level in levels:
        for name, each in level.properties.items():
            types = each.shape.types
            is_text = "string" in types and types.isdisjoint({"array", "object"}) and not each.shape.enum
            found[name] = found.get(name, True) and is_text and each.shape.kind != "switch"
    return frozenset(name for name, is_text in found.items() if is_text)
