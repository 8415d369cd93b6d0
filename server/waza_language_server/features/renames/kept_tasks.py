"""Tasks that move below the folder of a glob to where it does not match: their suite lists them by name.

``tasks/*.yaml`` silently loses ``tasks/a.yaml`` if it moves to ``tasks/new/a.yaml``, and a run passes without
it. Moving a task out of that folder takes it out of the suite on purpose, and so does a new name that begins
with a dot or an underscore, or is not that of a YAML file.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from waza_engine.checkpoint import checkpoint
from waza_engine.spec.reading.task_globs import GlobError, is_literal, literally, matches, split_pattern
from waza_language_server.features.actions.moving_items import added
from waza_language_server.project.named_paths import PathsIn, moved_path
from waza_language_server.project.naming_places import mentions_in
from waza_language_server.project.suite_files import document_at
from waza_language_server.syntax.edits import insert_item
from waza_language_server.syntax.tree import parse
from waza_language_server.syntax.tried_edits import apply
from waza_language_server.text.scalar_writing import plain_or_quoted
from waza_language_server.text.span import Span
from waza_language_server.text.workspace_edit import FilePlace

if TYPE_CHECKING:
    from waza_engine.spec.reading.scalars import Json
    from waza_language_server.project.document import Document
    from waza_language_server.project.mentions import Mention
    from waza_language_server.project.suite_files import SuiteSource
    from waza_language_server.project.workspace import Workspace
    from waza_language_server.text.edit import Edits

MOST_TASKS = 100
"""That an eval file is given by name at once."""
_KEY = "tasks"
_ENDINGS = frozenset({".yaml", ".yml"})


def kept_tasks(
    workspace: Workspace, file: SuiteSource, moves: Mapping[Path, Path]
) -> list[tuple[FilePlace, str]]:
    """Return what to write into an eval file for its tasks to stay in it, and where.

    The paths that it names follow the moves by other edits.
    """
    project = workspace.project
    if file.path is None:
        return []
    suite = project.suite(file.path)
    moved = [path for path in project.task_paths(suite).value if moved_path(path, moves) != path]
    if not moved:
        return []
    paths = PathsIn(project, file)
    globs: list[Mention] = []
    for each in mentions_in(workspace, file):
        checkpoint()
        globs += [each] if each.schema_kind == "task.glob" else []
    folder = moved_path(file.path, moves).parent
    after = [(paths.rewritten(each, moves) or each.name).removeprefix("include:").strip() for each in globs]
    lost: list[str] = []
    for task in moved:
        checkpoint()
        new = moved_path(task, moves)
        if any(_matches(folder, pattern, new) for pattern in after):
            continue
        stays = any(_stays_below(file.path.parent, each.name, task, new, moves) for each in globs)
        others = {other.path for other in project.suites_of(new)} - {file.path}
        if stays and not others and (written := _written(new, folder)) is not None:
            lost.append(written)
    document = document_at(project, file.path, "eval") if 0 < len(lost) <= MOST_TASKS else None
    return _listed(document, lost) if document is not None else []


def _matches(folder: Path, pattern: str, path: Path) -> bool:
    try:
        return matches(folder, pattern, path)
    except GlobError:
        return False


def _stays_below(folder: Path, pattern: str, old: Path, new: Path, moves: Mapping[Path, Path]) -> bool:
    """Return whether a glob picks a task up and begins in a folder that the task does not leave."""
    pattern = pattern.removeprefix("include:").strip()
    if not _matches(folder, pattern, old):
        return False
    levels = split_pattern(pattern)
    literal = next((at for at, each in enumerate(levels) if not is_literal(each)), len(levels))
    start = moved_path(Path(os.path.normpath(folder.joinpath(*levels[:literal]))), moves)
    steps = new.relative_to(start).parts if new.is_relative_to(start) else ()
    return bool(steps) and new.suffix in _ENDINGS and not any(step[0] in "._" for step in steps)


def _written(path: Path, folder: Path) -> str | None:
    """Return what picks up a path from the folder of a suite, None on another drive of Windows."""
    try:
        return literally(PurePosixPath(*Path(os.path.relpath(path, folder)).parts).as_posix())
    except ValueError:
        return None


def _listed(document: Document, written: list[str]) -> list[tuple[FilePlace, str]]:
    tree = document.tree
    tasks = tree.root.get(_KEY) if tree.root is not None else None
    if tree.root is None or tree.errors or tasks is None or tasks.kind != "sequence":
        return []
    items = [plain_or_quoted(each) for each in written]
    edits: Edits = ()
    if tasks.style == "flow":
        edits = insert_item(tree, tasks, ", ".join(items))
    elif (edit := added(document, tree.root, _KEY, tuple(f"- {each}" for each in items))) is not None:
        edits = (edit,)
    changed = parse(apply(document.text, edits), tree)
    after = changed.root.get(_KEY) if changed.root is not None else None
    if changed.errors or after is None or after.to_python() != [*_items(tasks.to_python()), *written]:
        return []
    place = FilePlace(document.uri, document.text, Span(0, 0))
    return [(replace(place, span=edit.span), edit.text) for edit in edits]


def _items(value: Json) -> list[Json]:
    return value if isinstance(value, list) else []
