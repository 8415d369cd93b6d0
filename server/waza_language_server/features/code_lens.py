"""Code lenses: ``▶ Run suite``, ``▶ Run task`` and ``▶ Run grader`` above what they run.

While something runs its own lens reads ``✗ Cancel``; the number and the places of the lenses never change,
so that no line jumps under the pointer.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING

from waza_engine.steps import Steps, finished, in_steps
from waza_language_server.features.runnables import Runnable, runnables_in_steps

if TYPE_CHECKING:
    from waza_language_server.project.document import Document
    from waza_language_server.project.runnable_id import RunnableId
    from waza_language_server.project.workspace import Workspace
    from waza_language_server.text.span import Span

RUN = "waza.run"
CANCEL = "waza.cancel"


@dataclass(frozen=True, slots=True)
class CodeLens:
    """A clickable line above ``span``: ``command`` is sent with one argument, the id of what is run."""

    span: Span
    title: str
    command: str
    argument: dict[str, str]


def code_lenses(
    document: Document, workspace: Workspace, running: Collection[RunnableId] = ()
) -> tuple[CodeLens, ...]:
    """Return the lenses of a document; ``running`` is what the runs that go on run."""
    return finished(code_lenses_in_steps(document, workspace, running))


def code_lenses_in_steps(
    document: Document, workspace: Workspace, running: Collection[RunnableId] = ()
) -> Steps[tuple[CodeLens, ...]]:
    """Do the same with many pauses."""
    found = yield from runnables_in_steps(document, workspace)
    suites = {runnable.id.suite for runnable in found}
    yield
    lenses = yield from in_steps(_lens(runnable, running, tell_suite=len(suites) > 1) for runnable in found)
    return tuple(lenses)


def _lens(runnable: Runnable, running: Collection[RunnableId], *, tell_suite: bool) -> CodeLens:
    argument = {"id": str(runnable.id)}
    if runnable.id in running:
        return CodeLens(runnable.span, "✗ Cancel", CANCEL, argument)
    suite = f" in {runnable.id.suite.parent.name}/{runnable.id.suite.name}" if tell_suite else ""
    return CodeLens(runnable.span, f"▶ Run {runnable.id.kind}{suite}", RUN, argument)
