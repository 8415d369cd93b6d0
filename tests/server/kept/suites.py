"""A workspace whose problems depend on all kinds of things around the documents."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.server.project.files import put
from waza_engine.steps import finished
from waza_language_server.analysis.diagnose import diagnose
from waza_language_server.kept.recording import Recorded, recorded_in_steps
from waza_language_server.project.document import Document
from waza_language_server.project.index import Project
from waza_language_server.project.uris import path_of, uri_of
from waza_language_server.project.workspace import Workspace
from waza_language_server.schema.catalog import default_catalog

if TYPE_CHECKING:
    from waza_engine.steps import Steps
    from waza_language_server.analysis.problem import Problem

WAIT_SECONDS = 30.0
EVAL = """\
name: explains
skill: explainer
config:
  trials_per_task: 1
  timeout_seconds: 60
  executor: mock
  model: none
  skill_directories: [../../skills]
tasks:
  - tasks/*.yaml
  - ../shared/tasks/*.yaml
  - tasks/gone.yaml
graders:
  - {type: text, name: greets, config: {contains: [hello]}}
  - {type: program, name: judges, config: {command: judge-of-this-test}}
  - {type: script, name: checks, config: {script: checks/check.py}}
"""
TASK = """\
id: first
name: First
inputs:
  prompt: Say hello
  files: [data.txt]
expected:
  graders: [greets]
"""
FILES = {
    "skills/explainer/SKILL.md": "---\nname: explainer\ndescription: Explains.\n---\n",
    "evals/one/eval.yaml": EVAL,
    "evals/one/tasks/first.yaml": TASK,
    "evals/one/tasks/second.yaml": TASK.replace("data.txt", "missing.txt"),
    "evals/one/fixtures/data.txt": "data\n",
    "evals/one/checks/check.py": "print('{}')\n",
    "evals/one/trigger_tests.yaml": "skill: explainer\nshould_trigger_prompts:\n  - prompt: Explain it\n",
    "evals/shared/tasks/third.yaml": TASK.replace("id: first", "id: third"),
    # What a misspelt key hides depends on the disk, too.
    "evals/two/eval.yaml": EVAL.replace("name: explains", "name: other")
    .replace("greets", "says")
    .replace("config: {script", "confg: {script"),
}


def make(root: Path) -> Path:
    """Write the files of the workspace."""
    for name, text in FILES.items():
        place = root / name
        place.parent.mkdir(parents=True, exist_ok=True)
        put(place.parent, place.name, text)
    return root


def documents_of(root: Path, project: Project) -> dict[Path, Document]:
    """Return the suite files of a workspace, as they are on the disk."""
    found: dict[Path, Document] = {}
    for path in sorted(root.rglob("*")):
        text = project.text(path)
        kind = project.claim(path, text.value) if text.known else None
        if kind is not None:
            found[path] = Document(uri_of(path), 1, text.value, kind)
    return found


def shown_in_steps(document: Document, problems: tuple[Problem, ...], project: Project) -> Steps[object]:
    """Return what a client is shown, with the texts of other files that it points at."""
    yield
    return [_shown(problem, project) for problem in problems]


def shown_by_new(path: Path, document: Document, roots: tuple[Path, ...]) -> object:
    """Return what a server shows that has just been started; None where it does not take the document."""
    if Project(roots).claim(path, document.text) != document.kind:
        return None
    again = Document(document.uri, document.version, document.text, document.kind)
    project = Project(roots, {path: again})
    problems = diagnose(again, Workspace(project, default_catalog()))
    return finished(shown_in_steps(again, problems, project))


def recorded(document: Document, project: Project, wait_seconds: float = WAIT_SECONDS) -> Recorded | None:
    """Return what is kept of a document, once its surroundings have been left alone for long enough."""
    workspace = Workspace(project, default_catalog())
    deadline = time.monotonic() + wait_seconds
    while (found := finished(recorded_in_steps(document, workspace, shown_in_steps))) == "later":
        assert time.monotonic() < deadline
        time.sleep(0.01)
    return found if isinstance(found, Recorded) else None


def _shown(problem: Problem, project: Project) -> list[Any]:
    related = [
        [place.uri, place.span.start, place.message, project.text(path).value if path else ""]
        for place in problem.related
        for path in [path_of(place.uri) if place.uri else None]
    ]
    return [problem.span.start, problem.span.end, problem.code, problem.severity, problem.message, related]
