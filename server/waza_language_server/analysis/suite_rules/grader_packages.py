"""Graders of packages: ``ref`` is in a valid place, and the package exists as it is locked."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from waza_engine.checkpoint import checkpoint
from waza_engine.spec.reading.grader_packages import (
    LOCK_NAME,
    GraderPackageError,
    Read,
    packaged_entry,
    refuse_javascript,
)
from waza_language_server.analysis.problem import Problem
from waza_language_server.analysis.rule import Found, SuiteView
from waza_language_server.analysis.schema_rules.plain_values import entry_value
from waza_language_server.project.uris import path_of

if TYPE_CHECKING:
    from waza_language_server.project.index import Project
    from waza_language_server.schema.catalog import Catalog
    from waza_language_server.syntax.nodes import Node


def packages(view: SuiteView) -> Found:
    """Yield each ``ref`` that a run rejects, and None before reading each package."""
    path, project = path_of(view.document.uri), view.workspace.project
    for grader in view.graders.where(_is_packaged):
        node = _reference(grader)
        if node is None:
            continue
        checkpoint()
        span = node.span
        if view.document.kind != "eval" or grader.path[0] != "graders":
            message = "`ref` is for graders of the eval file; move this grader there, or give it a `type`."
            yield Problem("grader-package", span, message)
        elif path is not None:
            try:
                entry = packaged_entry(node.value, path, *_sources(project, path))
                _check_type(grader, entry["type"], view.workspace.catalog)
                own = grader.get("config", "language")
                config = entry.get("config") if own is None else {"language": entry_value(own.target)}
                refuse_javascript(entry["type"], config)
            except GraderPackageError as error:
                text = str(error)
                yield Problem("grader-package", span, f"{text[0].upper()}{text[1:]}.")


def _reference(grader: Node) -> Node | None:
    node = grader.get("ref")
    if node is None or node.target.kind != "scalar" or not node.target.value.strip():
        return None
    return node.target


def _is_packaged(grader: Node) -> bool:
    return _reference(grader) is not None


def _check_type(grader: Node, packaged: str, catalog: Catalog) -> None:
    node = grader.get("type")
    written = node.target.value if node is not None and node.target.kind == "scalar" else ""
    if written not in ("", "null", "~", packaged):
        raise GraderPackageError(
            f"the grader of the package is of type `{packaged}`, not `{written}`; leave `type` out"
        )
    shape = catalog.grader(packaged)
    if shape is not None and shape.runs_program:
        raise GraderPackageError(
            f"the grader of the package is of type `{packaged}`, which runs programs; "
            "write such a grader into the suite itself"
        )


def _sources(project: Project, path: Path) -> tuple[object, Read]:
    """Return the lock file's content, or None, and a function that reads files of packages."""

    def read(place: Path) -> object:
        tree = project.tree(place)
        if tree.errors:
            raise GraderPackageError(f"`{place.name}` cannot be read: {tree.errors[0].message}")
        return entry_value(tree.root.target) if tree.root is not None else None

    lock = path.parent / LOCK_NAME
    is_file = (lock.name, False) in project.disk.alike(lock.parent, lock.name)
    return read(lock) if is_file else None, read
