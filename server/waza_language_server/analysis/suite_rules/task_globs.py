"""The globs of a suite for its tasks: no matches, unreadable and renamed tasks."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from functools import partial
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from waza_engine.checkpoint import checkpoint, collect
from waza_engine.files import printable
from waza_engine.frozen import frozen
from waza_engine.spec.reading.task_globs import is_literal, split_pattern
from waza_engine.spelling import path_typo_of
from waza_language_server.analysis.problem import Problem
from waza_language_server.analysis.rule import Found, SuiteView
from waza_language_server.embedded.language import Finding
from waza_language_server.embedded.languages import load_language
from waza_language_server.project.nearby import Nearby
from waza_language_server.project.outline import pattern_nodes, pattern_of
from waza_language_server.project.suites import picks_up
from waza_language_server.project.uris import path_of
from waza_language_server.syntax.edits import delete_item, replace_scalar
from waza_language_server.text.edit import Fix, Related

if TYPE_CHECKING:
    from waza_language_server.project.document import Document
    from waza_language_server.project.facts import Fact
    from waza_language_server.project.index import Project
    from waza_language_server.syntax.nodes import Node


MAX_RELATED = 20
"""The most other locations of one problem."""
MAX_GLOBS_WITH_FIXES = 20
"""The most globs without a match for which the disk is searched."""
CODE = "no-matching-tasks"
UNREADABLE = "unreadable-task"
_MOST_LOOKED_AT = 200
"""The most files of one glob that are checked for being readable."""
_SLASHES = " Write `/` between folders: `\\` escapes the next character."
_TASK_FOLDERS = ("tasks", "evals", "cases", "scenarios", "tests", ".")


@frozen()
class _Glob:
    node: Node
    files: Fact[tuple[Path, ...]]
    faults: tuple[Finding, ...] = ()


def task_globs(view: SuiteView) -> Found:
    """Yield the problems of an eval file's references; none for other files."""
    document, project, root = view.document, view.workspace.project, view.document.tree.root
    path = path_of(document.uri)
    if document.kind != "eval" or root is None or path is None or root.entry("tasks_from"):
        return
    globs = collect(_resolve(document, project, node) for node in pattern_nodes(root))
    yield from _faults(globs)
    yield from _unreadable(document, project, path, globs)
    yield from _picked_up_twice(document, globs)
    checkpoint()
    if any(glob.faults or document.tree.broken(glob.node) for glob in globs):
        return
    checkpoint()
    empty = [glob for glob in globs if glob.files.absent]
    if not empty:
        return
    if len(empty) == len(globs) and not _has_inline_tasks(root):
        yield _nothing_at_all(document, project, path, empty)
        return
    for index, glob in enumerate(empty):
        named = _is_named(glob)
        message = f'No file matches "{glob.node.value}"; the run leaves it out.'
        if named:
            message = f'There is no file "{glob.node.value}"; a run leaves this task out.'
        message += _SLASHES if "\\" in glob.node.value else ""
        fixes: tuple[Fix, ...] = ()
        if index < MAX_GLOBS_WITH_FIXES:
            fixes = tuple(_fixes(document, project, path, glob, globs))
        if named or any(fix.preferred for fix in fixes):
            yield Problem(CODE, glob.node.span, message, "warning", fixes)
        else:
            yield Problem(CODE, glob.node.span, message, "hint", fixes, tag="unnecessary")


def _resolve(document: Document, project: Project, node: Node) -> _Glob:
    faults = load_language("task.glob").check(pattern_of(node)).findings
    return _Glob(node, project.matching_tasks(document, "" if faults else pattern_of(node)), faults)


def _faults(globs: list[_Glob]) -> Found:
    for glob in globs:
        for fault in glob.faults:
            yield Problem(fault.code, glob.node.span, fault.message)


def _unreadable(document: Document, project: Project, path: Path, globs: list[_Glob]) -> Found:
    for glob in globs:
        for file in glob.files.value[:_MOST_LOOKED_AT]:
            why = project.outline(file).unreadable
            if why:
                name = printable(os.path.relpath(file, path.parent))
                message = f"The task file `{name}` cannot be used: {why}; in a run that task is an error."
                fixes = tuple(_files_in(document, project, path, glob, globs))
                yield Problem(UNREADABLE, glob.node.span, message, "warning", fixes)


def _files_in(
    document: Document, project: Project, path: Path, folder: _Glob, globs: list[_Glob]
) -> Iterator[Fix]:
    """Yield the globs of the task files in a folder that is listed as if it were one of them."""
    if not _is_named(folder):
        return
    taken = _taken(folder.node, globs)
    for ending in (".yaml", ".yml"):
        pattern = f"{pattern_of(folder.node).rstrip('/')}/*{ending}"
        if _picks_up_tasks(document, project, path, pattern, taken):
            repair = partial(replace_scalar, document.tree, folder.node, pattern)
            yield Fix(f'Change to "{pattern}"', repair)


def _taken(node: Node, globs: list[_Glob]) -> set[Path]:
    """Return the files that the other items of the list match."""
    return {file for each in globs if each.node is not node for file in each.files.value}


def _picked_up_twice(document: Document, globs: list[_Glob]) -> Found:
    """Yield the named files that another item of the list matches, too: they run twice."""
    found = [glob for glob in globs if glob.files.value]
    named: list[_Glob] = []
    first: dict[Path, _Glob] = {}
    for glob in found:
        if _is_named(glob):
            named.append(glob)
        else:
            first.update((file, glob) for file in glob.files.value if file not in first)
    # If a file is named and also matched by a pattern, the name is redundant; of two names, the second.
    for glob in named:
        for file in glob.files.value:
            other = first.setdefault(file, glob)
            if other is glob:
                continue
            message = f'"{other.node.value}" also matches this file, so its task runs twice.'
            related = (Related(other.node.span, "It is also matched here."),)
            fixes = (Fix("Delete the item", partial(delete_item, document.tree, glob.node)),)
            yield Problem("duplicate-task-id", glob.node.span, message, "warning", fixes, related)


def _is_named(glob: _Glob) -> bool:
    return all(map(is_literal, split_pattern(pattern_of(glob.node))))


def _nothing_at_all(document: Document, project: Project, path: Path, globs: list[_Glob]) -> Problem:
    first, *others = globs
    written = f'"{first.node.value}"' if not others else f"any of the {len(globs)} globs"
    slashes = _SLASHES if any("\\" in glob.node.value for glob in globs) else ""
    deep = " (** means one folder level here)" if any("**" in glob.node.value for glob in globs) else ""
    message = f"No file matches {written}{deep}, so the suite has no task and the run stops.{slashes}"
    related = tuple(Related(glob.node.span, "matches nothing either") for glob in others[:MAX_RELATED])
    fixes = tuple(_fixes(document, project, path, first, globs))
    return Problem(CODE, first.node.span, message, "error", fixes, related)


def _fixes(
    document: Document, project: Project, path: Path, glob: _Glob, globs: list[_Glob]
) -> Iterator[Fix]:
    """Offer existing files: the new name, another extension, or the usual folders of task files."""
    node, pattern, taken = glob.node, pattern_of(glob.node), _taken(glob.node, globs)
    renamed, is_sure = _renamed_to(document, project, path, pattern) if _is_named(glob) else (None, False)
    others = [*([renamed] if renamed else ()), *_candidates(document, project, path.parent, pattern)]
    found = [
        each
        for each in dict.fromkeys(others)
        if each != node.value and _picks_up_tasks(document, project, path, each, taken)
    ]
    slashed = pattern.replace("\\", "/")
    intended = renamed if is_sure else path_typo_of(node.value, found)
    intended = slashed if slashed in found else intended
    for each in found[:3]:
        repair = partial(replace_scalar, document.tree, node, each)
        yield Fix(f'Change to "{each}"', repair, preferred=intended == each)


def _candidates(document: Document, project: Project, folder: Path, pattern: str) -> Iterator[str]:
    if "\\" in pattern:
        yield pattern.replace("\\", "/")
    for ending, other in ((".yaml", ".yml"), (".yml", ".yaml")):
        if pattern.endswith(ending):
            yield pattern.removesuffix(ending) + other
    name = pattern.rpartition("/")[2]
    if name and all(map(is_literal, split_pattern(pattern))):
        yield from (f"{folder_name}/{name}" for folder_name in _TASK_FOLDERS if folder_name != ".")
    yield pattern.replace("**/", "")
    yield pattern.replace("**", "*/*")
    head, _, tail = pattern.rpartition("/")
    if tail and head:
        yield f"{head}/*/{tail}"
        yield tail
    for name in _TASK_FOLDERS:
        names = Nearby(project, document).entries(folder / name).value
        for ending in (".yaml", ".yml"):
            if any(entry.endswith(ending) for entry, is_folder in names if not is_folder):
                yield f"{name}/*{ending}" if name != "." else f"*{ending}"


def _picks_up_tasks(
    document: Document, project: Project, path: Path, pattern: str, taken: Collection[Path]
) -> bool:
    """Return whether a pattern matches task files, and none that another item of the list matches."""
    files = project.matching_tasks(document, pattern).value
    return (
        bool(files)
        and not any(file in taken for file in files)
        and path not in files
        and all(project.claim(file) == "task" for file in files[:50])
    )


def _has_inline_tasks(root: Node) -> bool:
    tasks = root.get("tasks")
    return tasks is not None and any(
        item.target.kind == "mapping" and not item.target.entry("task_files")
        for item in tasks.target.each_item()
    )


_ENDINGS = (".yaml", ".yml")
_MOST_RENAMED = 50


def _renamed_to(document: Document, project: Project, path: Path, pattern: str) -> tuple[str | None, bool]:
    """Return the most likely new file for a missing one, and whether its ``id`` says so.

    It is the one whose ``id`` the missing file was named after, or the only one that no suite lists.
    """
    siblings = list(islice(_siblings(document, project, path, pattern), _MOST_RENAMED + 1))
    unlisted = [name for name in siblings[:_MOST_RENAMED] if _is_unlisted(project, path, name)]
    stem = _plain(PurePosixPath(pattern).stem)
    named = [name for name in unlisted if _plain(project.outline(path.parent / name).id or "") == stem]
    if named:
        return (named[0], True) if len(named) == 1 else (None, False)
    # One of those that were not checked may be unlisted as well.
    is_only = len(unlisted) == 1 and len(siblings) <= _MOST_RENAMED
    return (unlisted[0] if is_only else None), False


def _siblings(document: Document, project: Project, path: Path, pattern: str) -> Iterator[str]:
    folder = PurePosixPath(pattern).parent
    names = Nearby(project, document).entries(path.parent / folder).value
    files = [name for name, is_folder in names if not is_folder and name.endswith(_ENDINGS)]
    for name in files:
        if is_literal(name):
            yield str(folder / name)


def _is_unlisted(project: Project, path: Path, name: str) -> bool:
    file = path.parent / name
    if file == path or project.claim(file) != "task":
        return False
    return not any(picks_up(suite, file) for suite in project.suites_of(file))


def _plain(name: str) -> str:
    return name.casefold().replace("_", "-")
