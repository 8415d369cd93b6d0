"""Code lenses: ``▶ Run suite``, ``▶ Run task`` and ``▶ Run grader`` above what they run.

While something runs its own lens reads ``✗ Cancel``; the number and the places of the lenses never change,
so that no line jumps under the pointer.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from waza_language_server.features.runnables import Runnable, runnables_in_steps
from waza_language_server.syntax.steps import Steps, finished, in_steps

if TYPE_CHECKING:
    from waza_language_server.project.document import Document
    from waza_language_server.project.workspace import Workspace
    from waza_language_server.text.span import Span

RUN = "waza.run"
CANCEL = "waza.cancel"

Running = tuple[Path, str | None, str | None]
"""The suite, task and grader of a run that goes on."""


@dataclass(frozen=True, slots=True)
class CodeLens:
    """A clickable line above ``span``: ``command`` is sent with one argument, the target of the run."""

    span: Span
    title: str
    command: str
    argument: dict[str, str | None]


def code_lenses(
    document: Document, workspace: Workspace, running: Collection[Running] = ()
) -> tuple[CodeLens, ...]:
    """Return the lenses of a document; ``running`` are the targets of the runs that go on."""
    return finished(code_lenses_in_steps(document, workspace, running))


def code_lenses_in_steps(
    document: Document, workspace: Workspace, running: Collection[Running] = ()
) -> Steps[tuple[CodeLens, ...]]:
    """Do the same with many pauses."""
    found = yield from runnables_in_steps(document, workspace)
    suites = {runnable.suite_path for runnable in found}
    yield
    lenses = yield from in_steps(_lens(runnable, running, tell_suite=len(suites) > 1) for runnable in found)
    return tuple(lenses)


def _lens(runnable: Runnable, running: Collection[Running], *, tell_suite: bool) -> CodeLens:
    target = (runnable.suite_path, runnable.task, runnable.grader)
    argument = {"suite": str(runnable.suite_path), "task": runnable.task, "grader": runnable.grader}
    if target in running:
        return CodeLens(runnable.span, "✗ Cancel", CANCEL, argument)
    suite = f" in {runnable.suite_path.parent.name}/{runnable.suite_path.name}" if tell_suite else ""
    return CodeLens(runnable.span, f"▶ Run {runnable.kind}{suite}", RUN, argument)
