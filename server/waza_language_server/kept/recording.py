"""Judges a document as a server does that has just been started, and notes what that depends on.

That is cheap: what was found out about its graders and its surroundings is in memory.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal, TypeVar

from waza_engine.frozen import frozen
from waza_language_server.analysis.diagnose import diagnose_in_steps
from waza_language_server.analysis.failures import failures_noted
from waza_language_server.kept.conditions import MOST, Conditions
from waza_language_server.kept.noting import Notes, NotingProject
from waza_language_server.project.uris import path_of
from waza_language_server.project.workspace import Workspace

if TYPE_CHECKING:
    from waza_engine.steps import Steps
    from waza_language_server.analysis.problem import Problem
    from waza_language_server.project.document import Document
    from waza_language_server.project.index import Project

Shown = TypeVar("Shown")
"""What the client is shown."""
Convert = Callable[["Document", "tuple[Problem, ...]", "Project"], "Steps[Shown]"]


@frozen()
class Recorded:
    """What a client is shown of a document, and what that depends on."""

    shown: object
    conditions: Conditions


def recorded_in_steps(
    document: Document, workspace: Workspace, convert: Convert[object]
) -> Steps[Recorded | Literal["later", "never"]]:
    """Return the problems of a document as a new server shows them first.

    ``workspace`` is one that knows no grader types of plug-ins. It is ``later`` when something has changed
    too recently for the next change to be noticed, ``never`` when the problems depend on what no file tells,
    a rule has failed, or they depend on too much.
    """
    path = path_of(document.uri)
    if path is None or not document.text.strip():
        return "never"
    notes = Notes()
    if NotingProject(notes, workspace.project, {}).claim(path, document.text) != document.kind:
        return "never"
    yield
    project = NotingProject(notes, workspace.project, {path: document})
    as_new = Workspace(project, workspace.catalog, severities=workspace.severities)
    problems = yield from _without_failures(diagnose_in_steps(document, as_new))
    if problems is None or any(problem.code == "unknown-grader-type" for problem in problems):
        # A plug-in may know the type: its engine is asked after that was said.
        return "never"
    shown = yield from convert(document, problems, project)
    yield
    conditions = notes.conditions()
    if not notes.is_complete or len(conditions) > MOST:
        return "never"
    return Recorded(shown, conditions) if notes.is_settled else "later"


def _without_failures(steps: Steps[tuple[Problem, ...]]) -> Steps[tuple[Problem, ...] | None]:
    """Return what comes out, None when a rule fails."""
    while True:
        with failures_noted() as failed:
            try:
                next(steps)
            except StopIteration as end:
                return None if failed else end.value
        if failed:
            return None
        yield
