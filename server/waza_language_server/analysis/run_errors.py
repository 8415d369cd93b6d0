"""Errors that make the verdict of a run meaningless: the user is asked before the run starts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from waza_engine.frozen import frozen
from waza_language_server.analysis.diagnose import diagnose
from waza_language_server.project.document import Document
from waza_language_server.project.suite_file import SuiteFile
from waza_language_server.project.uris import uri_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from pathlib import Path

    from waza_language_server.analysis.problem import Problem
    from waza_language_server.project.runnable_id import RunnableId
    from waza_language_server.project.workspace import Workspace
    from waza_language_server.syntax.tree import Tree

# Its grader may come with a plug-in that the server does not know yet.
_UNSURE = frozenset({"unknown-grader-type"})
_LISTS = ("`graders`", "`tasks`")


@frozen()
class RunError:
    """A problem with its location: ``line`` counts from 1; ``code`` is the diagnostic's code, or ""."""

    path: Path
    line: int
    code: str
    message: str

    @property
    def description(self) -> str:
        """Return the location, the code and the message in one line."""
        code = f"{self.code}: " if self.code else ""
        return f"{self.path.name}, line {self.line}: {code}{self.message}"


def run_errors(
    workspace: Workspace, target: RunnableId, judged_before: Collection[str]
) -> tuple[RunError, ...]:
    """Return the errors on disk that make the verdict of a run meaningless.

    ``judged_before`` are the names of the graders of the last run: if there are no graders now, they were
    removed.
    """
    if target.kind == "prompt":
        return ()
    suite = target.suite
    known = workspace.project.suite(suite)
    tasks = [task for task in workspace.project.tasks_of(known).value if target.task in (None, task.id)]
    found: list[RunError] = []
    for path in dict.fromkeys((suite, *(task.path for task in tasks))):
        found += _of_file(workspace, path)
    # The assertions of a case are no graders there, and a run refuses a case without any.
    if not found and judged_before and target.grader is None and suite.suffix != ".json":
        files = (suite, *(task.path for task in workspace.project.tasks_of(known).value))
        if not any(_judges(workspace.project.tree(path)) for path in files):
            names = ", ".join(f"`{name}`" for name in judged_before)
            found.append(RunError(suite, 1, "", f"no grader is left; the last run had {names}."))
    return tuple(found)


def _judges(tree: Tree) -> bool:
    """Return whether a file has a grader, or a task of it an expectation."""
    file = SuiteFile(tree)
    tasks = [task.node for task in file.tasks()] + ([] if tree.root is None else [tree.root])
    return any(grader.recorded_as for grader in file.graders()) or any(
        task.get("expected") is not None for task in tasks
    )


def _of_file(workspace: Workspace, path: Path) -> list[RunError]:
    workspace.project.read(path)
    text = workspace.project.disk.text(path)
    kind = workspace.project.claim(path, text.value) if text.known else None
    if kind not in ("eval", "task", "vally_eval"):
        return []
    document = Document(uri_of(path), 0, text.value, kind)
    problems = diagnose(document, workspace)
    return [
        RunError(path, document.lines.line_of(problem.span.start) + 1, problem.code, problem.message)
        for problem in _deciding(document, problems)
    ]


def _deciding(document: Document, problems: Collection[Problem]) -> Iterator[Problem]:
    """Yield the errors in graders, and the misspelt keys that remove all graders or tasks."""
    graders = [grader.node.span for grader in SuiteFile(document.tree).graders()]
    for problem in problems:
        in_grader = any(span.contains(problem.span.start) for span in graders)
        is_error = problem.severity == "error" and in_grader and problem.code not in _UNSURE
        takes_all_away = any(f"did you mean {key}?" in problem.message for key in _LISTS)
        if is_error or (problem.code == "unknown-key" and takes_all_away):
            yield problem
