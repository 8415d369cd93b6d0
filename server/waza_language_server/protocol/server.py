"""The language server of one client: its services, and the handlers of its messages.

Architecture invariant: before the client is answered for the first time nothing is imported but ``pygls``;
handlers are imported with their first messages, services when they are first used. Only this package knows
the protocol.
"""

from __future__ import annotations

import asyncio
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from lsprotocol import types

from waza_language_server.protocol.connection import ClientConnection
from waza_language_server.protocol.feature_table import (
    COMMANDS,
    FEATURES,
    PULLED_DIAGNOSTICS,
    PULLED_WORKSPACE_DIAGNOSTICS,
    execute,
)

if TYPE_CHECKING:
    from waza_language_server.engine.runs import Run, RunKey, Runs
    from waza_language_server.protocol.services.active_runs import ExternalRuns
    from waza_language_server.protocol.services.affected import AffectedTasks
    from waza_language_server.protocol.services.changes import Changes
    from waza_language_server.protocol.services.engine_answers import (
        EnginePrices,
        Estimates,
        PlugInTypes,
        RunHistories,
    )
    from waza_language_server.protocol.services.live import LiveSessions
    from waza_language_server.protocol.services.live_sources import LiveBaselines
    from waza_language_server.protocol.services.pending_hints import PendingHints
    from waza_language_server.protocol.services.progress_bars import ProgressBars
    from waza_language_server.protocol.services.refresh import RefreshRequests
    from waza_language_server.protocol.services.run_settings import RunSettings
    from waza_language_server.protocol.services.schedule import Diagnostics
    from waza_language_server.protocol.services.sent_tokens import SentTokens
    from waza_language_server.protocol.services.session import Session
    from waza_language_server.protocol.services.workspace_problems import WorkspaceProblems


class WazaServer(ClientConnection):
    """One client's server: it creates the services that the handlers share."""

    def __init__(self) -> None:
        super().__init__()
        self.harness_work: dict[RunKey, asyncio.Task[Any]] = {}
        """The active commands on files of agent-eval-harness."""

    @cached_property
    def session(self) -> Session:
        """The open documents and the project around them."""
        from waza_language_server.protocol.services.session import client_session

        return client_session(self, self.run_settings, self.refresh)

    @cached_property
    def changes(self) -> Changes:
        """The changes of files, results and settings, and what they make outdated."""
        from waza_language_server.protocol.services.changes import Changes

        return Changes(
            self, self.session, self.diagnostics, self.refresh, self.existing_service, lambda: self.live
        )

    @cached_property
    def refresh(self) -> RefreshRequests:
        """The refresh requests to the client."""
        from waza_language_server.protocol.services.refresh import RefreshRequests

        return RefreshRequests(self)

    @cached_property
    def diagnostics(self) -> Diagnostics:
        """The problems of the open documents."""
        from waza_language_server.protocol.services.shown_problems import client_diagnostics

        def need_types() -> None:
            self.plug_in_types.need()

        return client_diagnostics(self, self.session, need_types)

    @cached_property
    def workspace_problems(self) -> WorkspaceProblems[str]:
        """The problems of the suite files that are not open, as JSON."""
        from waza_language_server.protocol.services.shown_problems import client_workspace_problems

        return client_workspace_problems(self, self.session)

    @cached_property
    def plug_in_types(self) -> PlugInTypes:
        """The grader types of plug-ins."""
        from waza_language_server.protocol.services.engine_answers import PlugInTypes

        return PlugInTypes(self, self.runs, self.session, self.changes)

    @cached_property
    def sent_tokens(self) -> SentTokens:
        """The semantic tokens that the client has of each document."""
        from waza_language_server.protocol.services.sent_tokens import SentTokens

        return SentTokens()

    @cached_property
    def pending_hints(self) -> PendingHints:
        """The documents whose hints wait for results."""
        from waza_language_server.protocol.services.pending_hints import PendingHints

        return PendingHints(self, self.session, self.changes, self.refresh)

    @cached_property
    def runs(self) -> Runs:
        """The runs of the engine."""
        from waza_language_server.protocol.services.active_runs import client_runs

        return client_runs(self, self.session, self.changes, self.refresh)

    @cached_property
    def progress_bars(self) -> ProgressBars:
        """The progress bars of runs."""
        from waza_language_server.protocol.services.progress_bars import ProgressBars

        return ProgressBars(self)

    @cached_property
    def external_runs(self) -> ExternalRuns:
        """The runs that others have begun."""
        from waza_language_server.protocol.services.active_runs import ExternalRuns

        return ExternalRuns(lambda: None if self.is_closing else self.changes.scores_changed())

    @cached_property
    def live(self) -> LiveSessions:
        """The recorded answers that are graded again as their suites are edited."""
        from waza_language_server.protocol.services.live import LiveSessions

        return LiveSessions(self, self.session, self.diagnostics, self.refresh, self.runs, self.baselines)

    @cached_property
    def baselines(self) -> LiveBaselines:
        """The recorded baselines of live verdicts."""
        from waza_language_server.protocol.services.live_sources import LiveBaselines

        return LiveBaselines()

    @cached_property
    def estimates(self) -> Estimates:
        """The estimates of cost and duration of runs."""
        from waza_language_server.protocol.services.engine_answers import Estimates

        return Estimates(self, self.runs, self.refresh, self.run_settings)

    @cached_property
    def histories(self) -> RunHistories:
        """The run histories of suites."""
        from waza_language_server.protocol.services.engine_answers import RunHistories

        return RunHistories(self, self.runs, self.refresh, self.session)

    @cached_property
    def model_prices(self) -> EnginePrices:
        """The prices of models."""
        from waza_language_server.protocol.services.engine_answers import EnginePrices

        return EnginePrices(self, self.runs, self.refresh)

    @cached_property
    def affected(self) -> AffectedTasks:
        """The tasks that have changed since their newest results."""
        from waza_language_server.protocol.services.affected import AffectedTasks

        return AffectedTasks(self, self.runs, self.refresh, self.run_settings, self.session, self.diagnostics)

    @cached_property
    def run_settings(self) -> RunSettings:
        """The client's settings for runs."""
        from waza_language_server.protocol.services.run_settings import RunSettings

        return RunSettings(self)

    def existing_service(self, name: str) -> Any:
        """Return a service if it was used before, else None."""
        return self.__dict__.get(name)

    @property
    def active_runs(self) -> tuple[Run, ...]:
        """The runs that have not ended; asking starts nothing."""
        runs: Runs | None = self.existing_service("runs")
        return runs.active if runs is not None else ()

    def leave(self, _params: object = None) -> None:
        """End the server: what runs first, within little more than a second."""
        self.ended.set()

    async def shut_down(self, _params: object = None) -> None:
        """End what runs; afterwards no process of ours is left, and none is started any more."""
        if not self.is_closing:
            for task in self.protocol.tasks():
                if task is not asyncio.current_task():
                    task.cancel()
        await self.close()

    async def close(self) -> None:
        """End the engine and its runs, and start none any more; returns when they are gone."""
        self.is_closing = True
        self.turns.end()
        if self.existing_service("runs") is not None:
            await self.runs.close()

    def kill_now(self) -> None:
        """End everything that was started, without waiting."""
        self.is_closing = True
        if self.existing_service("runs") is not None:
            self.runs.kill_now()

    def register_pull_diagnostics(self) -> None:
        """Offer diagnostics on request: to clients that ask for them, which then get none pushed."""
        if not self.protocol.knows(PULLED_DIAGNOSTICS.method):
            for pulled in (PULLED_DIAGNOSTICS, PULLED_WORKSPACE_DIAGNOSTICS):
                self.feature(pulled.method, pulled.options)(pulled.function)


def create_server() -> WazaServer:
    """Return a server that knows its features and has loaded none of them."""
    server = WazaServer()
    for feature in FEATURES:
        if feature.built_in:
            server.protocol.handle_instead(feature.method, partial(feature.function, server))
        else:
            server.feature(feature.method, feature.options)(feature.function)
    server.protocol.handle_instead(types.WORKSPACE_EXECUTE_COMMAND, partial(execute, server))
    server.protocol.handle_instead(types.SHUTDOWN, server.shut_down)
    for command in COMMANDS:
        # This announces their names to the client; the handler of the request gets all of them.
        server.command(command)(_by_request)
    return server


def _by_request(_ls: WazaServer, *_: object) -> None:
    """Do nothing: ``pygls`` requires a function for each command."""
