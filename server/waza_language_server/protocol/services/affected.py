"""The tasks that have changed since their newest results, requested from the engine in the background.

The engine compares the disk with the records. It is asked when an input file of a run has changed, a task
has no result, or another executor or model would answer: a suite without changes starts no engine.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from waza_engine.checkpoint import checkpoint
from waza_engine.results.freshness import agent_differs
from waza_engine.results.json_values import Block, texts_of
from waza_language_server.features.runnables.code_lens import nothing_affected
from waza_language_server.project.changed_inputs import CurrentFiles
from waza_language_server.project.runnable_id import RunnableId
from waza_language_server.protocol.services.engine_answers import EngineAnswers

if TYPE_CHECKING:
    from waza_engine.results.reading.scores import RunResult
    from waza_language_server.engine.runs import Runs
    from waza_language_server.features.runnables.code_lens import Affected
    from waza_language_server.protocol.connection import ClientConnection
    from waza_language_server.protocol.services.refresh import RefreshRequests
    from waza_language_server.protocol.services.run_settings import RunSettings
    from waza_language_server.protocol.services.schedule import Diagnostics
    from waza_language_server.protocol.services.session import Session

ANSWER_WITHIN_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class AffectedSuite:
    """The ids of the tasks that have changed since their newest results, ``of`` so many."""

    tasks: tuple[str, ...]
    of: int

    def items(self, suite: Path) -> list[str]:
        """Return the ids to run: the tasks, or the suite if they are all."""
        if self.tasks and len(self.tasks) == self.of:
            return [str(RunnableId(suite))]
        return [str(RunnableId(suite, task)) for task in self.tasks]


class AffectedTasks(EngineAnswers[Path, tuple[int, int]]):
    """The changes in suites, as runs with the client's own settings would find them."""

    about = "The changes in"

    def __init__(
        self,
        client: ClientConnection,
        runs: Runs,
        refresh: RefreshRequests,
        run_settings: RunSettings,
        session: Session,
        diagnostics: Diagnostics,
    ) -> None:
        super().__init__(client, runs, refresh)
        self._run_settings = run_settings
        self._session = session
        self._diagnostics = diagnostics

    def of(self, suite: Path, recorded: RunResult | None) -> tuple[int, int] | None:
        """Return how many tasks of a suite have changed, of how many, as far as that is known."""
        if recorded is not None:
            self.want(suite, lambda: self._ask(suite, recorded))
        # An old number is worse than none.
        return self.fresh(suite)

    @property
    def for_lenses(self) -> Affected:
        """Return ``of`` for clients whose lenses show it."""
        return self.of if "affected" in self._client.options.lens else nothing_affected

    async def of_suite(self, suite: Path, options: Mapping[str, Any] | None = None) -> AffectedSuite:
        """Return the current changes in a suite for a run with these options, named as in ``eval.run``.

        Without ``options`` it is a run with the client's own. Raises ``EngineError``.
        """
        request = {"path": str(suite), **(self._run_settings.of(suite) if options is None else options)}
        answer = await self._runs.ask("run.affected", request, ANSWER_WITHIN_SECONDS)
        found = cast("Block", answer if isinstance(answer, Mapping) else {})
        names, of = texts_of(found.get("tasks")), found.get("of")
        return AffectedSuite(names, of if isinstance(of, int) else len(names))

    async def _ask(self, suite: Path, recorded: RunResult) -> tuple[int, int] | None:
        if not await self._diagnostics.compute(lambda: self._may_have_changed(suite, recorded)):
            return None
        changed = await self.of_suite(suite)
        return len(changed.tasks), changed.of

    def arrived(self, key: Path, before: tuple[int, int] | None, found: tuple[int, int] | None) -> None:
        """Draw the lenses again if there is one that runs the changed tasks."""
        if found is not None and 0 < found[0] < found[1]:
            self._refresh.ask_for_lenses()

    def _may_have_changed(self, suite: Path, recorded: RunResult) -> bool:
        """Return whether anything is not as the records say, be it a comment."""
        project = self._session.project
        outline = project.outline(suite)
        here = set(outline.inline_tasks)
        for task in project.tasks_of(project.suite(suite)).value:
            here.add(task.id)
            checkpoint()
        were_run = {task.id for task in recorded.tasks.values() if task.was_run}
        if not here <= were_run or self._run_settings.of(suite).keys() & {"executor", "model"}:
            return True
        origins = {task.origin for task in recorded.tasks.values() if task.origin is not None}
        today = CurrentFiles(project.disk, {})
        for origin in origins:
            if any(
                agent_differs(origin.executor, origin.model, outline.executor or None, outline.model or "")
            ):
                return True
            # Every input file of a run is compared, also those of the suite.
            if project.scores.inputs.changed(origin, suite, today, lambda _path: False):
                return True
        return False
