"""Hover of a value that names something: a short description of a skill, a file, a task.

Architecture invariant: only files near the document are read, and nothing outside of the workspace.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from waza_engine.files import shown
from waza_engine.markdown import code, fenced
from waza_language_server.project.nearby import Nearby
from waza_language_server.project.skills import written_description
from waza_language_server.project.uris import path_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from waza_language_server.project.document import Document
    from waza_language_server.project.workspace import Workspace
    from waza_language_server.schema.catalog import Catalog
    from waza_language_server.syntax.nodes import Node

MAX_LINES = 15
MAX_WIDTH = 200
NAMING_KINDS = frozenset({"skill.name", "path.fixture", "path.suite", "task.id"})
"""The kinds of values that are explained here."""


def named_thing(document: Document, workspace: Workspace, node: Node, kind: str) -> str | None:
    """Return the description of the named thing in Markdown, None if nothing of that name is known."""
    path, value = path_of(document.uri), node.target.value
    if path is None or not value.strip():
        return None
    nearby = Nearby(workspace.project, document)
    match kind:
        case "skill.name":
            return _skill(workspace, nearby, path, value.strip())
        case "path.fixture":
            return _head(workspace, nearby, path, (folder / value for folder in nearby.fixture_folders()))
        case "path.suite":
            return _head(workspace, nearby, path, (path.parent / value,))
        case "task.id":
            return _task(workspace, path, value.strip())
        case _:
            return None


def grader_types_table(catalog: Catalog) -> str:
    """Return all grader types, one line each, in Markdown."""
    lines: list[str] = []
    for name in catalog.grader_types:
        shape = catalog.grader(name)
        if shape is not None:
            said = shape.description.strip().splitlines() or [shape.title]
            lines.append(f"- {code(name)}: {said[0]}")
    return "\n".join(lines)


def _skill(workspace: Workspace, nearby: Nearby, path: Path, name: str) -> str | None:
    for file, called in nearby.skill_files().items():
        if called == name:
            text = workspace.project.text(file)
            described = written_description(text.value) if text.known else None
            lines = [f"**Skill {code(name)}**", described and fenced(described), _place(path, file)]
            return "\n\n".join(line for line in lines if line)
    return None


def _task(workspace: Workspace, path: Path, wanted: str) -> str | None:
    project = workspace.project
    for suite in project.suites_of(path):
        if wanted in suite.outline.inline_tasks:
            return f"**Task {code(wanted)}**\n\nwritten in {code(suite.path.name)}"
        file = next(iter(project.tasks_with_id(suite, wanted)), None)
        if file is not None:
            name = project.outline(file).name or wanted
            return f"**Task {code(name)}**\n\n{_place(path, file)}"
    return None


def _head(workspace: Workspace, nearby: Nearby, path: Path, places: Iterable[Path]) -> str | None:
    """Return the first lines of the first of these files that there is."""
    for place in places:
        file = Path(os.path.normpath(place))
        text = workspace.project.text(file)
        if nearby.entries(file.parent).unknown or not text.known:
            continue
        lines = text.value.splitlines()
        if not lines:
            return f"{_place(path, file)} · empty"
        head = "\n".join(line[:MAX_WIDTH] for line in lines[:MAX_LINES])
        size = "1 line" if len(lines) == 1 else f"{len(lines)} lines"
        return f"{_place(path, file)} · {size}\n\n{fenced(head)}"
    return None


def _place(path: Path, file: Path) -> str:
    return code(shown(os.path.relpath(file, path.parent)))
