"""Names in a Vally file of things elsewhere: environments of ``.vally.yaml``, skills and files."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from waza_engine.files import printable
from waza_engine.spelling import listed, nearest
from waza_language_server.analysis.problem import Problem
from waza_language_server.analysis.rule import Found, SuiteView
from waza_language_server.project.uris import path_of
from waza_language_server.project.vally_environments import environment_names
from waza_language_server.schema.locate import located_below
from waza_language_server.syntax.edits import replace_scalar
from waza_language_server.syntax.nodes import Node
from waza_language_server.text.edit import Fix


def references(view: SuiteView) -> Found:
    """Yield names of environments that ``.vally.yaml`` does not have, and paths where nothing is."""
    document, catalog = view.document, view.workspace.catalog.vally
    path, root = path_of(document.uri), document.tree.root
    if path is None or root is None or not view.workspace.project.roots:
        return
    known = environment_names(view.workspace.project, path)
    for node, shape in located_below(root, catalog.document(document.kind), catalog):
        if node.kind != "scalar" or not node.value.strip():
            continue
        if shape.kind == "vally.environment" and known is not None and node.value not in known:
            yield _unknown(view, node, known)
        elif shape.kind == "vally.path":
            yield from _missing(view, node, path)


def _unknown(view: SuiteView, node: Node, known: tuple[str, ...]) -> Problem:
    there = f"it has {listed(known, 'and')}" if known else "it has none"
    message = f"`.vally.yaml` has no environment `{node.value}`; {there}."
    intended = nearest(node.value, known)
    repair = partial(replace_scalar, view.document.tree, node, intended or "")
    fixes = (Fix(f"Change to `{intended}`", repair),) if intended else ()
    return Problem("vally-environment", node.span, message, "error", fixes)


def _missing(view: SuiteView, node: Node, path: Path) -> Iterator[Problem]:
    """Yield the problem of a relative path where nothing is; what cannot be seen is not missing."""
    disk = view.workspace.project.disk
    place = Path(os.path.normpath(path.parent / node.value.strip()))
    if Path(node.value).is_absolute() or "${" in node.value or any(sign in node.value for sign in "*?"):
        return
    names = disk.names(place.parent)
    if (names.known and not any(name == place.name for name, _ in names.value)) or names.absent:
        message = f"There is nothing called `{printable(node.value)}` beside this file."
        # A run copies files before it asks the agent; without a skill it runs.
        yield Problem("missing-file", node.span, message, "error" if node.step == "src" else "warning")
