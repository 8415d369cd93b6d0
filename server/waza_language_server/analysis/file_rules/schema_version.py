"""Eval files of a newer version: reported as a hint, and their unknown keys are not errors."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from waza_engine.later_patterns import compiled_later
from waza_language_server.analysis.problem import Problem
from waza_language_server.analysis.rule import FileView, Found
from waza_language_server.schema.catalog import Catalog
from waza_language_server.syntax.nodes import Node

VERSION_KEY = "schemaVersion"
_MINOR = compiled_later(r"^\s*1\.([0-9]{1,9})\s*$")


def newer_version(view: FileView) -> Iterator[Problem]:
    """Yield the hint at a version that is newer than the newest known one."""
    node = _newer(view)
    if node is not None:
        known = _newest(view.catalog)
        message = f"`{node.value}` is newer than {known}, the newest known version; unknown keys are ignored."
        yield Problem("newer-format", node.span, message, "information")


def as_newer(view: FileView, found: Found) -> Found:
    """Yield problems adapted to the version of their file: in a newer one unknown keys are hints."""
    if _newer(view) is None:
        yield from found
        return
    for problem in found:
        if problem.code == "unknown-key" and problem.severity != "error":
            yield replace(problem, severity="hint")
        else:
            yield problem


def _newer(view: FileView) -> Node | None:
    root = view.tree.root
    node = root.get(VERSION_KEY) if view.kind == "eval" and root is not None else None
    if node is None or node.target.kind != "scalar":
        return None
    written, known = _MINOR.match(node.target.value), _MINOR.match(_newest(view.catalog))
    return node.target if written and known and int(written[1]) > int(known[1]) else None


def _newest(catalog: Catalog) -> str:
    """Return the default version, "" without schemas."""
    known = catalog.document("eval").properties.get(VERSION_KEY)
    return "" if known is None else str(known.shape.default)
