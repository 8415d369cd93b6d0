"""The context of a string in an embedded language: the files that a glob matches or could name."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from waza_engine.files import printable
from waza_engine.frozen import frozen
from waza_engine.spec.reading.task_globs import literally
from waza_language_server.embedded.language import NOWHERE, Files, Language, Surroundings
from waza_language_server.embedded.languages import LANGUAGES, LONGEST_VALUE, load_language
from waza_language_server.project.claim import CONFIG_NAMES, TRIGGER_NAMES
from waza_language_server.project.disk import identity_of, stamp_of
from waza_language_server.project.nearby import Nearby
from waza_language_server.project.outline import pattern_of
from waza_language_server.project.uris import path_of
from waza_language_server.schema.locate import shape_at
from waza_language_server.schema.shape import language_kind_of
from waza_language_server.syntax.scalar_map import ScalarMap

if TYPE_CHECKING:
    from waza_language_server.embedded.language import Signature
    from waza_language_server.project.document import Document
    from waza_language_server.project.workspace import Workspace
    from waza_language_server.syntax.nodes import Node
    from waza_language_server.text.span import Span


MAX_LISTED = 20
"""Files of a glob that are listed by name."""
MAX_FILES = 500
_LEVELS = 3
TASK_GLOB = "task.glob"


def surroundings(
    document: Document, workspace: Workspace, kind: str | None, node: Node | None
) -> Surroundings:
    """Return the context of a value of a kind; ``node`` is None while it cannot be read."""
    if kind != TASK_GLOB:
        return NOWHERE
    return Surroundings(
        files=lambda: _files(document, workspace, node) if node is not None else None,
        paths=lambda: _paths(document, workspace),
    )


def _files(document: Document, workspace: Workspace, node: Node) -> Files | None:
    path, files = path_of(document.uri), workspace.project.matching_tasks(document, pattern_of(node))
    if path is None or not files.known:
        return None
    first = (printable(os.path.relpath(each, path.parent)) for each in files.value[:MAX_LISTED])
    return Files(tuple(first), len(files.value))


def _paths(document: Document, workspace: Workspace) -> Iterator[tuple[str, str]]:
    """Yield globs for the folders that have task files, then the files themselves."""
    path = path_of(document.uri)
    if path is None:
        return
    project, folders = workspace.project, dict[str, set[str]]()
    others = {*project.eval_names(path), *TRIGGER_NAMES, *CONFIG_NAMES}
    tasks = [
        file
        for file in _yaml_files(Nearby(project, document), path.parent)
        if file.name not in others and _looks_like_task(workspace, file)
    ]
    for file in tasks:
        parent = literally(str(PurePosixPath(_relative(file, path.parent)).parent))
        folders.setdefault("" if parent == "." else f"{parent}/", set()).add(file.suffix)
    for folder, suffixes in sorted(folders.items()):
        for suffix in sorted(suffixes):
            count = len(project.matching_tasks(document, f"{folder}*{suffix}").value)
            yield f"{folder}*{suffix}", "1 file" if count == 1 else f"{count} files"
    for file in tasks:
        task = project.outline(file)
        yield literally(_relative(file, path.parent)), task.name or task.id or ""


def _yaml_files(nearby: Nearby, folder: Path) -> Iterator[Path]:
    found = 0
    level: list[Path] = [folder]
    entered: set[tuple[int, int] | None] = {None}
    for _ in range(_LEVELS):
        below: list[Path] = []
        for here in level:
            if (identity := identity_of(stamp_of(here))) in entered:
                continue
            entered.add(identity)
            for name, is_folder in nearby.entries(here).value:
                if is_folder and not name.startswith(".") and name not in {"node_modules", "fixtures"}:
                    below.append(here / name)
                elif not is_folder and name.endswith((".yaml", ".yml")) and found < MAX_FILES:
                    found += 1
                    yield here / name
        level = below


def _looks_like_task(workspace: Workspace, file: Path) -> bool:
    outline = workspace.project.outline(file)
    return bool(outline.id or outline.name) and not outline.patterns and outline.skill is None


def _relative(file: Path, folder: Path) -> str:
    return PurePosixPath(*file.relative_to(folder).parts).as_posix()


@frozen()
class EmbeddedValue:
    """A string in an embedded language, short enough to be analyzed."""

    language: Language
    scalar: ScalarMap

    @staticmethod
    def of(text: str, node: Node, kind: str | None) -> EmbeddedValue | None:
        """Return the value of a node whose schema states a kind, None when it is in no language."""
        language = language_of(node, kind)
        if language is None or node.kind != "scalar" or len(node.span) > LONGEST_VALUE:
            return None
        return EmbeddedValue(language, ScalarMap.of(text, node))

    def explained(self, offset: int, around: Surroundings) -> tuple[Span, str] | None:
        """Return the explanation of the token at an offset of the document, and its span."""
        found = self.language.hover(self.scalar.value, self.scalar.to_value(offset), around)
        if found is None:
            return None
        span = self.scalar.source_span(found.start, found.end)
        # Quotes and indentation belong to no character of the value.
        return (span, found.text) if span.contains(offset) else None


def language_of(node: Node, kind: str | None) -> Language | None:
    """Return the language of a node whose schema states a kind."""
    kind = language_kind_of(node, kind) if kind in LANGUAGES else None
    return load_language(kind) if kind is not None else None


def signature_help(document: Document, workspace: Workspace, offset: int) -> Signature | None:
    """Return how a function is called, None outside of all calls."""
    root = document.tree.root
    node = root.at(offset) if root is not None else None
    if node is None or node.kind != "scalar":
        return None
    shape = shape_at(document.kind, node.path, root, workspace.catalog)
    value = EmbeddedValue.of(document.text, node, shape.kind) if shape is not None else None
    if value is None:
        return None
    return value.language.signature(value.scalar.value, value.scalar.to_value(offset))
