"""Folders of small files for the tests of the project and of the features."""

from pathlib import Path
from textwrap import dedent

from waza_language_server.project.document import Document, DocumentKind
from waza_language_server.project.index import Project
from waza_language_server.project.uris import uri_of
from waza_language_server.project.workspace import Workspace
from waza_language_server.schema.catalog import default_catalog

EVAL = """\
    name: my-eval
    skill: my-skill
    config:
      trials_per_task: 1
      timeout_seconds: 60
      executor: mock
      model: claude-sonnet-4.6
    graders:
      - type: text
        name: mentions_deploy
        config:
          contains: [deployed]
    tasks:
      - tasks/*.yaml
"""
TASK = """\
    id: first
    name: First task
    inputs:
      prompt: Do it
"""


def write(folder: Path, **files: str) -> Path:
    """Write files, named with ``__`` for a slash; ``_yaml`` ends as ``.yaml``."""
    for name, text in files.items():
        put(folder, name.replace("__", "/").replace("_yaml", ".yaml"), text)
    return folder


def put(folder: Path, name: str, text: str) -> Path:
    """Write one file and return its path."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(dedent(text).encode())
    return path


def small_suite(folder: Path) -> Path:
    """Write a suite of one eval with one task and return the eval's path."""
    put(folder, "tasks/first.yaml", TASK)
    return put(folder, "eval.yaml", EVAL)


def opened(path: Path, kind: DocumentKind, text: str | None = None) -> Document:
    """Return the document of a file as it is on disk, or with another text in the editor."""
    if text is None:
        text = path.read_bytes().decode()
    return Document(uri_of(path), 1, text, kind)


def project_with(*documents: Document, roots: tuple[Path, ...] = ()) -> Project:
    """Return a project in which the documents are open."""
    project = Project(roots)
    for document in documents:
        project = project.with_document(document)
    return project


def workspace_with(*documents: Document, roots: tuple[Path, ...] = ()) -> Workspace:
    """Return a workspace in which the documents are open, with the catalog of the engine."""
    return Workspace(project_with(*documents, roots=roots), default_catalog())
