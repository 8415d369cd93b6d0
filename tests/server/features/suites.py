"""Suites of several small files with a ``<CURSOR>`` in one of them, for features that look at all of them."""

from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent

from tests.server.features.completing import CURSOR
from tests.server.project.files import opened, put
from waza_language_server.project.document import Document, DocumentKind
from waza_language_server.project.index import Project
from waza_language_server.project.uris import path_of
from waza_language_server.project.workspace import Workspace
from waza_language_server.schema.catalog import default_catalog
from waza_language_server.syntax.tried_edits import apply
from waza_language_server.text.line_index import LineIndex
from waza_language_server.text.workspace_edit import FileLocation, WorkspaceEdit

EVAL = """\
name: deploys
skill: deployer
config: {trials_per_task: 1, timeout_seconds: 60, executor: mock, model: none}
graders:
  - type: text
    name: polite
    config: {contains: [please]}
  - type: human_calibration
    name: agreement
    config: {calibrate_grader: polite}
tasks:
  - tasks/*.yaml
  - id: inline
    inputs: {prompt: Go}
    expected:
      graders: ["polite"]
"""
FIRST = "id: first\nname: First\ninputs: {prompt: Go}\nexpected:\n  graders: [polite] # kept\n"
OWN = """\
id: own
name: Own
inputs: {prompt: Go}
graders:
  - type: text
    name: polite
    config: {contains: [thanks]}
expected:
  graders: [polite]
"""


@dataclass(frozen=True)
class Opened:
    """A folder of files, one of them open with a cursor in it."""

    folder: Path
    document: Document
    workspace: Workspace
    offset: int

    def name(self, uri: str) -> str:
        """Return the path of a file, from the folder."""
        path = path_of(uri)
        assert path is not None
        return path.relative_to(self.folder).as_posix()

    def line(self, place: FileLocation) -> str:
        """Return the file of a place, its line, counted from one, and its text."""
        line = LineIndex(place.text).line_of(place.span.start) + 1
        return f"{self.name(place.uri)}:{line} {place.text[place.span.start : place.span.end]}".strip()

    def after(self, change: WorkspaceEdit) -> dict[str, str]:
        """Return the changed texts under the new names of their files, and all texts of renamed folders."""
        texts = {self.name(file.uri): apply(file.text, file.edits) for file in change.files}
        for rename in change.renames:
            path, new = path_of(rename.uri), self.name(rename.new_uri)
            assert path is not None
            for file in [path] if path.is_file() else [each for each in path.rglob("*") if each.is_file()]:
                name = file.relative_to(self.folder).as_posix()
                below = file.relative_to(path).as_posix()
                text = texts.pop(name, file.read_text("utf-8"))
                texts[new if file == path else f"{new}/{below}"] = text
        return texts


def changed_texts(change: WorkspaceEdit, folder: Path) -> dict[str, str]:
    """Return the texts of the files that an edit changes, by their paths from a folder."""
    found: dict[str, str] = {}
    for file in change.files:
        path = path_of(file.uri)
        assert path is not None
        found[path.relative_to(folder).as_posix()] = apply(file.text, file.edits)
    return found


def open_at_cursor(folder: Path, files: dict[str, str], kind: DocumentKind) -> Opened:
    """Write files, and open the one with the cursor; it is left out on the disk."""
    name, source = next((name, dedent(text)) for name, text in files.items() if CURSOR in text)
    for each, text in files.items():
        put(folder, each, text.replace(CURSOR, ""))
    document = opened(folder / name, kind)
    project = Project([folder]).with_document(document)
    workspace = Workspace(project, default_catalog())
    return Opened(folder, document, workspace, source.index(CURSOR))
