"""Where a name is defined and used, across the files of a suite.

The one place that definition, references, highlights, rename and the moving of files ask.

A grader is known in its suite: by name in the tasks of all suites that share them, unless a task has a
grader of its own that is called so. A task is known by its file or its place in the eval file, a skill by its
name in the whole workspace, an anchor in its document.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from waza_engine.checkpoint import checkpoint
from waza_engine.frozen import frozen
from waza_language_server.project.mentions import Mention, SymbolKind, anchors, mention_at
from waza_language_server.project.named_paths import PathsIn
from waza_language_server.project.naming_places import Reference, may_name, named, naming_file
from waza_language_server.project.skill_definitions import skills_called
from waza_language_server.project.suite_files import (
    SuiteSource,
    files_of_suite,
    files_of_workspace,
    read_suites,
)
from waza_language_server.text.span import Span
from waza_language_server.text.workspace_edit import FileLocation

if TYPE_CHECKING:
    from waza_language_server.project.document import Document
    from waza_language_server.project.index import Project
    from waza_language_server.project.suites import Suite
    from waza_language_server.project.workspace import Workspace

Scope = tuple[str, int | None, int | None]
"""Where a grader is known: the URI of a file, and the inline task and the checkpoint in it."""


@frozen()
class Symbol:
    """The thing that a name refers to; ``document`` and ``mention`` are where the cursor is."""

    kind: SymbolKind
    name: str
    document: Document
    mention: Mention


@frozen()
class _Named:
    """A grader's name in a file, the scopes in which it is looked up, the nearest first, and those meant."""

    reference: Reference
    scopes: tuple[tuple[Scope, ...], ...]
    targets: frozenset[Scope]

    @property
    def place(self) -> tuple[str, Span]:
        """The identity of its place."""
        return self.reference.place.uri, self.reference.mention.whole


def symbol_at(document: Document, workspace: Workspace, offset: int) -> Symbol | None:
    """Return the symbol that is named at an offset of a document, None if there is no known one."""
    found = mention_at(document, workspace.catalog, offset)
    return Symbol(found.kind, found.name, document, found) if found is not None else None


def references(
    workspace: Workspace, symbol: Symbol, *, with_overridden: bool = False
) -> tuple[Reference, ...]:
    """Return every place where a symbol is named, those of its own document first.

    ``with_overridden`` takes a task's grader and the suite's of the same name, whose verdict it replaces, for
    one: with different names both would judge the task.
    """
    read_suites(workspace.project)
    match symbol.kind:
        case "grader":
            graders = _graders(workspace, symbol)
            graders = _connected(_overriding(graders) if with_overridden else graders, symbol)
            found = [each.reference for each in graders]
        case "task":
            found = _of_task(workspace, symbol)
        case "skill":
            found = _of_skill(workspace, symbol)
        case "file":
            found = _of_file(workspace, symbol)
        case "anchor":
            found = _of_anchor(symbol)
    return tuple(found)


def references_in_document(workspace: Workspace, symbol: Symbol) -> tuple[Reference, ...]:
    """Return the places where a symbol is named in the document alone that it was pointed at in."""
    if symbol.kind == "anchor":
        return tuple(_of_anchor(symbol))
    own = SuiteSource.of(symbol.document)
    if symbol.kind == "grader":
        graders = _graders_in(workspace, (own,), symbol.name)
        return tuple(each.reference for each in _connected(graders, symbol))
    found = named(workspace, (own,), symbol.kind, symbol.name)
    if symbol.kind == "task":
        found = [each for each in found if each.mention.whole == symbol.mention.whole]
    return tuple(found)


def definitions(workspace: Workspace, symbol: Symbol) -> tuple[FileLocation, ...]:
    """Return where a symbol is defined; of a path the files that it means."""
    project = workspace.project
    if symbol.kind == "file":
        files = PathsIn(project, SuiteSource.of(symbol.document)).files(symbol.mention)
        return tuple(FileLocation(_uri(project, path), "", Span(0, 0)) for path in files)
    found = references(workspace, symbol)
    return tuple(each.place for each in found if each.defines)


def is_taken(workspace: Workspace, symbol: Symbol, name: str) -> bool:
    """Return whether a name is taken in the scope of the symbol, or in a part of it.

    The scope includes the places where it overrides, or is overridden.
    """
    other = replace(symbol, name=name)
    match symbol.kind:
        case "grader":
            mine = _overriding(_graders(workspace, symbol))
            others = _graders(workspace, other)
            home = frozenset[Scope]().union(*(each.targets for each in _connected(mine, symbol)))
            around = {scope for each in mine if each.targets & home for scope in chain(*each.scopes)}
            return any(
                each.reference.defines
                and not (home.isdisjoint(chain(*each.scopes)) and around.isdisjoint(each.scopes[0]))
                for each in others
            )
        case "task":
            path = SuiteSource.of(symbol.document).path
            return any(
                name in workspace.project.task_ids(suite).value for suite in _suites(workspace.project, path)
            )
        case "anchor":
            return any(each.defines for each in _of_anchor(other))
        case "skill" | "file":
            return False


def _graders(workspace: Workspace, symbol: Symbol) -> list[_Named]:
    """Return where the name is that of a grader, in all suites that share tasks with that of the document."""
    project, own = workspace.project, SuiteSource.of(symbol.document)
    files: dict[str, SuiteSource] = {own.uri: own}
    waiting = deque(_suites(project, own.path))
    seen: set[Path] = set()
    while waiting:
        suite = waiting.popleft()
        if suite.path in seen:
            continue
        seen.add(suite.path)
        for file in files_of_suite(project, suite):
            checkpoint()
            if file.uri not in files and may_name(workspace, file, symbol.name):
                files[file.uri] = file
                # Another suite that runs this task may have a grader of the same name.
                waiting += _suites(project, file.path)
    return _graders_in(workspace, files.values(), symbol.name)


def _graders_in(workspace: Workspace, files: Iterable[SuiteSource], name: str) -> list[_Named]:
    found: list[tuple[Reference, tuple[tuple[Scope, ...], ...]]] = []
    defined: set[Scope] = set()
    for file in files:
        suites = _suites(workspace.project, file.path) if file.kind == "task" else ()
        evals = tuple((_uri(workspace.project, suite.path), None, None) for suite in suites)
        for each in named(workspace, (file,), "grader", name):
            scopes = _scopes(file, each.mention, evals)
            found.append((each, scopes))
            if each.defines:
                defined.update(scopes[0])
    return [_Named(each, scopes, _targets(each, scopes, defined)) for each, scopes in found]


def _scopes(file: SuiteSource, mention: Mention, evals: tuple[Scope, ...]) -> tuple[tuple[Scope, ...], ...]:
    if mention.of_suite:
        return (evals or ((file.uri, None, None),),)
    scopes: list[tuple[Scope, ...]] = []
    if mention.checkpoint is not None:
        scopes.append(((file.uri, mention.task, mention.checkpoint),))
    if mention.task is not None:
        scopes.append(((file.uri, mention.task, None),))
    scopes.append(((file.uri, None, None),))
    return (*scopes, evals) if evals else tuple(scopes)


def _targets(
    reference: Reference, scopes: tuple[tuple[Scope, ...], ...], defined: set[Scope]
) -> frozenset[Scope]:
    """Return the scopes whose grader is meant: where it is defined, or else the farthest ones."""
    if reference.defines:
        return frozenset(scopes[0])
    for level in scopes:
        if known := defined.intersection(level):
            return frozenset(known)
    return frozenset(scopes[-1])


def _overriding(graders: list[_Named]) -> list[_Named]:
    """Return the same, where a grader of a task means those that it overrides as well.

    Those of checkpoints override none: their verdicts are kept apart.
    """
    defined = {scope for each in graders if each.reference.defines for scope in each.scopes[0]}
    return [
        replace(each, targets=each.targets | defined.intersection(chain(*each.scopes)))
        if each.reference.defines and each.reference.mention.checkpoint is None
        else each
        for each in graders
    ]


def _connected(graders: list[_Named], symbol: Symbol) -> list[_Named]:
    """Return what shares a scope with the place of the symbol, or with what does so.

    One name in a text may be that of several graders: a task that two suites run names one of each.
    """
    at_place: dict[tuple[str, Span], set[Scope]] = {}
    for each in graders:
        at_place.setdefault(each.place, set()).update(each.targets)
    known = set(at_place.get((symbol.document.uri, symbol.mention.whole), ()))
    grown = True
    while grown:
        before = len(known)
        for scopes in at_place.values():
            if not known.isdisjoint(scopes):
                known |= scopes
        grown = len(known) > before
    found: dict[tuple[str, Span], _Named] = {}
    for each in graders:
        if not known.isdisjoint(each.targets) and (each.place not in found or each.reference.defines):
            found[each.place] = each
    return list(found.values())


def _of_task(workspace: Workspace, symbol: Symbol) -> list[Reference]:
    project, own = workspace.project, SuiteSource.of(symbol.document)
    found = named(workspace, (own,), "task", symbol.name)
    found = [each for each in found if each.mention.whole == symbol.mention.whole]
    if own.kind == "task" and own.path is not None:
        files = (SuiteSource.at(project, suite.path, "eval") for suite in _suites(project, own.path))
        found += naming_file(workspace, files, own.path)
    return found


def _of_skill(workspace: Workspace, symbol: Symbol) -> list[Reference]:
    project, seen = workspace.project, set[str]()

    def files() -> Iterator[SuiteSource]:
        for file in _own_first(symbol.document, files_of_workspace(project, symbol.document)):
            seen.add(file.uri)
            yield file

    found = named(workspace, files(), "skill", symbol.name)
    # A suite may find its skill in a folder that is not searched for suites, and as an agent's file.
    defined = skills_called(project, symbol.document, symbol.name)
    others = (SuiteSource.at(project, each.file, "skill") for each in defined if each.written)
    return found + (named(workspace, (each for each in others if each.uri not in seen), "skill", symbol.name))


def _of_file(workspace: Workspace, symbol: Symbol) -> list[Reference]:
    files = PathsIn(workspace.project, SuiteSource.of(symbol.document)).files(symbol.mention)
    if len(files) != 1:
        return named(workspace, (SuiteSource.of(symbol.document),), "file", symbol.name)
    around = _own_first(symbol.document, files_of_workspace(workspace.project, symbol.document))
    return naming_file(workspace, around, files[0])


def _of_anchor(symbol: Symbol) -> list[Reference]:
    """Return an anchor and its aliases: those up to the place where its name is given to something else."""
    found: list[Reference] = []
    document = symbol.document
    is_given = is_there = False
    for each in anchors(document.tree):
        checkpoint()
        if each.name != symbol.name:
            continue
        if each.defines and is_given:
            if is_there:
                break
            found.clear()
        is_given = is_given or each.defines
        is_there = is_there or each.span == symbol.mention.span
        found.append(Reference(FileLocation(document.uri, document.text, each.span), each))
    return found


def _own_first(document: Document, files: Iterator[SuiteSource]) -> Iterator[SuiteSource]:
    own = SuiteSource.of(document)
    yield own
    yield from (file for file in files if file.uri != own.uri)


def _suites(project: Project, path: Path | None) -> tuple[Suite, ...]:
    return project.every_suite_of(path) if path is not None else ()


def _uri(project: Project, path: Path) -> str:
    return SuiteSource.at(project, path, "task").uri
