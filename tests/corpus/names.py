"""Every name in the public suites through the real server: where it is defined and used, and renamed.

``python -m tests.corpus.names`` opens every location of definition and references, renames every grader,
task, skill and anchor, looks for new problems, takes the change back, and prints what was not as it must be.
``--each 1`` takes one definition of each kind of each repository.
"""

from __future__ import annotations

import argparse
import asyncio
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import AsyncGenerator, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from tests.protocol.editor import Editor, editing
from tests.protocol.workspace import Workspace as Files
from tests.shared_corpus import SUITES
from waza_language_server.check import check_paths, files_below, open_document
from waza_language_server.project.document import Document
from waza_language_server.project.index import Project
from waza_language_server.project.mentions import Mention, anchors
from waza_language_server.project.naming_places import mentions_in
from waza_language_server.project.suite_files import SuiteSource
from waza_language_server.project.uris import path_of
from waza_language_server.project.workspace import Workspace
from waza_language_server.schema.catalog import default_catalog
from waza_language_server.syntax.tree import parse
from waza_language_server.text.line_index import LineIndex

Problems = Counter[tuple[str, str]]
"""How often each code stands in each file, the file called as before a rename."""


@dataclass(frozen=True)
class Sweep:
    """What was looked at, and what was wrong; ``counts`` are of names, locations, renames and refusals."""

    counts: Counter[str] = field(default_factory=Counter[str])
    wrong: list[str] = field(default_factory=list[str])


@dataclass(frozen=True)
class Name:
    """A name in an open file of a repository."""

    uri: str
    position: types.Position
    mention: Mention

    def __str__(self) -> str:
        place = f"{self.uri.rpartition('/suites/')[2]}:{self.position.line + 1}"
        return f"{place} {self.mention.kind} `{self.mention.name}`"


async def sweep(repositories: list[Path], *, each: int | None = None) -> Sweep:
    """Look at the names of copies of repositories, at most ``each`` of a kind that define something."""
    found = Sweep()
    for repository in repositories:
        with _writable(repository) as copy:
            async with editing(copy) as editor:
                await _sweep(found, editor, copy, each)
    return found


@contextmanager
def _writable(repository: Path) -> Generator[Path]:
    with tempfile.TemporaryDirectory() as place:
        copy = Path(place).resolve() / "suites" / repository.name
        shutil.copytree(repository, copy, copy_function=shutil.copyfile)
        for folder in (copy, *(path for path in copy.rglob("*") if path.is_dir())):
            folder.chmod(0o755)
        yield copy


async def _sweep(found: Sweep, editor: Editor, repository: Path, each: int | None) -> None:
    files = Files(repository)
    before, problems = files.contents(), _problems(repository, {})
    seen: Counter[tuple[str, bool]] = Counter()
    async for name in _names(editor, repository):
        kind = name.mention.kind
        seen[kind, name.mention.defines] += 1
        if each is not None and seen[kind, name.mention.defines] > each:
            continue
        found.counts[f"{kind}s"] += 1
        used = await _check_places(found, editor, name)
        if kind == "file":
            continue
        try:
            change = await editor.text_document_rename_async(
                types.RenameParams(types.TextDocumentIdentifier(name.uri), name.position, _new_name(name))
            )
        except JsonRpcException as refused:
            found.counts["refused"] += 1
            found.wrong.append(f"{name}: refused: {refused.message}")
            continue
        if change is None:
            found.wrong.append(f"{name}: cannot be renamed")
            continue
        found.counts["renames"] += 1
        _check_edits(found, name, used, change)
        undo = files.carry_out(change)
        new = _problems(repository, _old_names(change)) - problems
        found.wrong.extend(f"{name}: {code} in {file} after the rename" for file, code in new)
        files.carry_out(undo)
        if files.contents() != before:
            found.wrong.append(f"{name}: not undone to the byte")


async def _names(editor: Editor, repository: Path) -> AsyncGenerator[Name]:
    """Open each file of a repository in turn and yield what it names."""
    for path in [*files_below(repository)]:
        workspace = Workspace(Project([repository]), default_catalog())
        document = open_document(workspace.project, path)
        if document is None:
            continue
        uri = editor.open(path)
        lines = LineIndex(document.text)
        for mention in _mentions(workspace.with_document(document), document):
            line, column = lines.position(mention.span.start, "utf-16")
            yield Name(uri, types.Position(line, column), mention)
        editor.close(uri)


def _mentions(workspace: Workspace, document: Document) -> Iterator[Mention]:
    yield from mentions_in(workspace, SuiteSource.of(document))
    yield from anchors(document.tree)


async def _check_places(found: Sweep, editor: Editor, name: Name) -> list[types.Location]:
    document = types.TextDocumentIdentifier(name.uri)
    context = types.ReferenceContext(include_declaration=True)
    params = types.ReferenceParams(context, document, name.position)
    used = await editor.text_document_references_async(params) or ()
    defined = await editor.text_document_definition_async(types.DefinitionParams(document, name.position))
    places = (
        [each for each in defined if isinstance(each, types.Location)] if isinstance(defined, list) else []
    )
    if not used:
        found.wrong.append(f"{name}: no references")
    if not any(each.uri == name.uri and each.range.start == name.position for each in used):
        found.wrong.append(f"{name}: is not among its references")
    if len({_key(each) for each in used}) != len(used):
        found.wrong.append(f"{name}: a place twice")
    known = {_key(each) for each in used}
    for each in used:
        found.counts["references"] += 1
        if not _says(each, name.mention):
            found.wrong.append(f"{name}: references {_key(each)}, which says `{_text(each)}`")
    for each in places:
        found.counts["definitions"] += 1
        path = path_of(each.uri)
        if name.mention.kind == "file":
            if path is None or not path.exists():
                found.wrong.append(f"{name}: defined in {each.uri}, which is not there")
        elif _key(each) not in known:
            found.wrong.append(f"{name}: defined at {_key(each)}, which is no reference")
    if not places:
        found.counts[f"{name.mention.kind}s without a definition"] += 1
    return [*used]


def _check_edits(found: Sweep, name: Name, used: list[types.Location], change: types.WorkspaceEdit) -> None:
    """A rename writes every place that says the name, and beside them only paths of what is renamed."""
    renamed = {old.name for old in _old_names(change).values()}
    left = [each for each in used if not _is_path(_text(each))]
    for file in change.document_changes or ():
        if not isinstance(file, types.TextDocumentEdit):
            continue
        for edit in file.edits:
            place = types.Location(file.text_document.uri, edit.range)
            here = [each for each in left if each.uri == place.uri and _holds(edit.range, each.range)]
            left = [each for each in left if each not in here]
            text = _text(place)
            if here:
                found.counts["edits of names"] += 1
            elif _is_path(text) and any(old in text for old in renamed):
                found.counts["edits of paths"] += 1
            else:
                found.wrong.append(f"{name}: the rename changes {_key(place)}, which says `{text}`")
    found.wrong.extend(f"{name}: the rename leaves {_key(each)}" for each in left)


def _holds(outer: types.Range, inner: types.Range) -> bool:
    starts, ends = (outer.start, inner.start), (inner.end, outer.end)
    return all((one.line, one.character) <= (other.line, other.character) for one, other in (starts, ends))


def _is_path(text: str) -> bool:
    return any(part in text for part in ("/", "*", ".yaml", ".yml"))


def _says(place: types.Location, mention: Mention) -> bool:
    """Whether a name stands at a place, in the style of its author; a path or glob that means it may."""
    text = _text(place)
    if text == mention.name:
        return True
    if mention.kind in {"file", "task"} and (_is_path(text) or text == mention.name.rpartition("/")[2]):
        return True
    root = parse(text).root
    return root is not None and root.kind == "scalar" and root.value.strip() == mention.name


def _text(place: types.Location) -> str:
    path = path_of(place.uri)
    if path is None or not path.is_file():
        return ""
    text = path.read_bytes().decode()
    lines, (start, end) = LineIndex(text), (place.range.start, place.range.end)
    return text[
        lines.offset(start.line, start.character, "utf-16") : lines.offset(end.line, end.character, "utf-16")
    ]


def _key(place: types.Location) -> str:
    start = place.range.start
    return f"{place.uri.rpartition('/suites/')[2]}:{start.line + 1}:{start.character + 1}"


def _new_name(name: Name) -> str:
    return f"{name.mention.name[:40].rstrip('-')}-anew"


def _old_names(change: types.WorkspaceEdit) -> dict[Path, Path]:
    """Return the old paths of what a change renames, by the new ones."""
    found: dict[Path, Path] = {}
    for each in change.document_changes or ():
        if isinstance(each, types.RenameFile):
            old, new = path_of(each.old_uri), path_of(each.new_uri)
            assert old is not None
            assert new is not None
            found[new] = old
    return found


def _problems(repository: Path, old_names: dict[Path, Path]) -> Problems:
    found: Problems = Counter()
    for report in check_paths([repository]):
        path = report.path
        for new, old in old_names.items():
            if path.is_relative_to(new):
                path = old / path.relative_to(new)
        name = path.relative_to(repository).as_posix()
        found.update((name, finding.code) for finding in report.findings)
    return found


def main(arguments: list[str]) -> int:
    """Print what was looked at and what was wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.corpus.names")
    parser.add_argument("--each", type=int)
    parser.add_argument("repositories", nargs="*", help="names of folders of the corpus; all without any")
    options = parser.parse_args(arguments)
    repositories = [
        path
        for path in sorted(SUITES.iterdir())
        if path.is_dir() and (not options.repositories or path.name in options.repositories)
    ]
    found = asyncio.run(sweep(repositories, each=options.each))
    for line in found.wrong:
        sys.stdout.write(f"{line}\n")
    sys.stdout.write(", ".join(f"{count} {what}" for what, count in found.counts.items()) + "\n")
    return 1 if found.wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
