"""Paths of graders outside the workspace: each is an error of the grader, in every trial."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from functools import partial

from waza_engine.files import shown
from waza_engine.later_patterns import compiled_later
from waza_language_server.analysis.problem import Problem
from waza_language_server.analysis.rule import GraderView
from waza_language_server.syntax.edits import replace_scalar
from waza_language_server.text.edit import Fix

_DRIVE = compiled_later(r"[A-Za-z]:[\\/]")


def workspace_paths(view: GraderView) -> Iterator[Problem]:
    """Yield the paths that lead out of the workspace, or to the workspace itself."""
    for node, shape in view.located:
        if shape.kind != "path.workspace" or node.kind != "scalar":
            continue
        written = node.value
        place = posixpath.normpath(written)
        if written.startswith("/"):
            meant = written.lstrip("/")
            repair = partial(replace_scalar, view.file.tree, node, meant)
            fixes = (Fix(f"Change to `{shown(meant)}`", repair),) if meant else ()
            message = f"`{shown(written)}` is an absolute path; write it relative to the workspace."
            yield Problem("outside-workspace", node.span, message, "error", fixes)
        elif place == ".." or place.startswith("../"):
            message = f"`{shown(written)}` is not in the workspace, so the grader cannot grade."
            yield Problem("outside-workspace", node.span, message, "error")
        elif place == ".":
            message = "This is the workspace itself, not a file in it, so the grader cannot grade."
            yield Problem("outside-workspace", node.span, message, "error")
        elif _DRIVE.match(written):
            message = (
                f"`{shown(written)}` is an absolute path on Windows; write it relative to the workspace."
            )
            yield Problem("path-not-portable", node.span, message, "warning")
        elif "\\" in written:
            meant = written.replace("\\", "/")
            repair = partial(replace_scalar, view.file.tree, node, meant)
            fixes = (Fix(f"Change to `{shown(meant)}`", repair),)
            message = f"Only Windows accepts `\\` between folders; `{shown(meant)}` works everywhere."
            yield Problem("path-not-portable", node.span, message, "warning", fixes)
