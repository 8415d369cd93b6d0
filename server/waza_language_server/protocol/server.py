"""The language server: the state of one client, whose messages go to the handlers.

Architecture invariant: before the client is answered for the first time nothing is imported but ``pygls``;
handlers are imported with their first messages. Only this package knows the protocol.
"""

from __future__ import annotations

import asyncio
import logging
import sys
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Literal, cast

from lsprotocol import types
from pygls.exceptions import (
    FeatureRequestError,
    JsonRpcException,
    JsonRpcInternalError,
)
from pygls.lsp.server import LanguageServer

from waza_engine import __version__
from waza_language_server.protocol.capabilities import ClientAbilities
from waza_language_server.protocol.client_options import ClientOptions
from waza_language_server.protocol.feature_table import (
    COMMANDS,
    FEATURES,
    PULLED_DIAGNOSTICS,
    PULLED_WORKSPACE_DIAGNOSTICS,
)
from waza_language_server.protocol.pygls_internals import Protocol
from waza_language_server.protocol.turns import Turns

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterable
    from contextlib import AbstractContextManager
    from pathlib import Path

    from waza_language_server.engine.runs import Event, Run, RunKey, Runs
    from waza_language_server.protocol.handlers.live import LiveSessions
    from waza_language_server.protocol.services.affected import AffectedTasks
    from waza_language_server.protocol.services.chosen_beds import ChosenBeds
    from waza_language_server.protocol.services.estimates import Estimates
    from waza_language_server.protocol.services.model_prices import AskedPrices
    from waza_language_server.protocol.services.run_settings import RunSettings
    from waza_language_server.protocol.services.schedule import Diagnostics
    from waza_language_server.protocol.services.sent_tokens import SentTokens
    from waza_language_server.protocol.services.session import Session
    from waza_language_server.protocol.services.told_histories import ToldHistories
    from waza_language_server.protocol.services.unended_runs import UnendedRuns
    from waza_language_server.protocol.services.workspace_problems import WorkspaceProblems

log = logging.getLogger(__name__)


class WazaServer(LanguageServer):
    """One client's server, and the state that its handlers share; each part is made on demand."""

    protocol: Protocol  # pyright: ignore[reportIncompatibleVariableOverride] - set once, by the base class

    def __init__(self) -> None:
        cast("Any", super()).__init__("waza-language-server", __version__, protocol_cls=Protocol)
        self.abilities = ClientAbilities()
        self.options = ClientOptions()
        self.told: set[str] = set()
        """Messages that were shown to the user once and are not shown again."""
        self.runs_in_background: set[asyncio.Task[Any]] = set()
        self.progress_bars: dict[types.ProgressToken, RunKey] = {}
        """The run of each progress bar that the client shows."""
        self.confirmed_suites: set[Path] = set()
        """The suites outside the open folders that the user has let run."""
        self.asked_for_types = False
        """True if the grader types of plug-ins were requested from the engine."""
        self.ended = asyncio.Event()
        """Set when the server has nothing left to do but to exit."""
        self.is_closing = False
        """True if nothing may be started any more: the server is shutting down."""
        self.turns = Turns()
        """The order of analysis and answers."""
        self.hints_to_come: dict[str, Literal["reading", "read"]] = {}
        """Documents whose hints get a refresh request when their results are read, or got one (``read``)."""
        self.just_told: dict[str, bool] = {}
        """The refresh requests of the last moment, and whether something has changed since each."""
        self.news_of_trials: asyncio.TimerHandle | None = None
        """The timer of the next refresh of the marks of running tasks."""
        self._background: set[asyncio.Task[None]] = set()
        self.on_client: Callable[[int], None] = lambda _pid: None
        """Called with the process id of the client, which the server does not outlive."""

    @property
    def trusted(self) -> bool:
        """Return whether code of this workspace may run."""
        return self.options.trusted

    @cached_property
    def session(self) -> Session:
        """The open documents and the project around them."""
        from waza_language_server.protocol.services.client_session import begun_session

        session = begun_session(self)
        session.on_others = self._others_say_otherwise
        self.turns.set_aside(partial(_disk_as_it_is, session))
        return session

    def _others_say_otherwise(self) -> None:
        from waza_language_server.protocol.asking_again import ask_for_all

        ask_for_all(self)

    @cached_property
    def diagnostics(self) -> Diagnostics:
        """The problems of the open documents."""
        from waza_language_server.protocol.handlers.diagnostics import publisher
        from waza_language_server.protocol.services.schedule import Diagnostics

        publish = None if self.abilities.pulls_diagnostics else publisher(self)
        return Diagnostics(self.session, publish, self._meet_unknown_type, self.turns)

    @cached_property
    def workspace_problems(self) -> WorkspaceProblems[str]:
        """The problems of the suite files that are not open, as JSON."""
        from waza_language_server.protocol.handlers.diagnostics import written
        from waza_language_server.protocol.services.workspace_problems import WorkspaceProblems

        return WorkspaceProblems(
            self.session, lambda document, found: written(self, document, found, self.session.project)
        )

    def files_changed(self, paths: Iterable[Path] | None) -> None:
        """Compute the problems of closed files again near some paths, or everywhere."""
        if "workspace_problems" in self.__dict__:
            self.workspace_problems.changed(paths)

    @cached_property
    def sent_tokens(self) -> SentTokens:
        """The semantic tokens that the client has of each document."""
        from waza_language_server.protocol.services.sent_tokens import SentTokens

        return SentTokens()

    @cached_property
    def runs(self) -> Runs:
        """Return the runs of the engine."""
        from waza_language_server.engine.runs import Runs
        from waza_language_server.protocol.handlers.execute_command import note_event, show_run
        from waza_language_server.protocol.handlers.run_events import tell_event

        interpreter = self.options.interpreter or sys.executable

        def tell(run: Run, event: Event) -> None:
            note_event(self, run, event)
            for token in tuple(run.tokens):
                tell_event(self, run.target, event, token)

        return Runs(
            interpreter,
            on_change=lambda run: show_run(self, run),
            on_event=tell,
            may_start=lambda: self.trusted,
        )

    @cached_property
    def unended_runs(self) -> UnendedRuns:
        """The runs that others have begun."""
        from waza_language_server.protocol.handlers.watched_files import refresh_scores
        from waza_language_server.protocol.services.unended_runs import UnendedRuns

        def changed() -> None:
            if not self.is_closing:
                refresh_scores(self)

        return UnendedRuns(changed)

    @cached_property
    def live(self) -> LiveSessions:
        """Recorded answers, judged again as their suites are edited."""
        from waza_language_server.protocol.handlers.live import LiveSessions

        return LiveSessions(self)

    @cached_property
    def beds(self) -> ChosenBeds:
        """On which recorded runs the suites are judged live."""
        from waza_language_server.protocol.services.chosen_beds import ChosenBeds

        return ChosenBeds()

    @cached_property
    def estimates(self) -> Estimates:
        """Return the estimates of cost and duration of runs."""
        from waza_language_server.protocol.services.estimates import Estimates

        return Estimates(self)

    @cached_property
    def histories(self) -> ToldHistories:
        """Return the run histories of suites."""
        from waza_language_server.protocol.services.told_histories import ToldHistories

        return ToldHistories(self)

    def forget_histories(self) -> None:
        """Request the histories of suites again when they are next shown: results have changed."""
        if "histories" in self.__dict__:
            self.histories.forget()

    @cached_property
    def model_prices(self) -> AskedPrices:
        """Return the prices of models."""
        from waza_language_server.protocol.services.model_prices import AskedPrices

        return AskedPrices(self)

    @cached_property
    def affected(self) -> AffectedTasks:
        """Return the tasks that have changed since their newest results."""
        from waza_language_server.protocol.services.affected import AffectedTasks

        return AffectedTasks(self)

    @property
    def shows_affected(self) -> bool:
        """Return whether lenses depend on the changes since the newest results."""
        return "affected" in self.__dict__ and self.affected.in_use

    @cached_property
    def run_settings(self) -> RunSettings:
        """Return the client's settings for runs."""
        from waza_language_server.protocol.handlers.run_requests import settled_options
        from waza_language_server.protocol.services.run_settings import RunSettings

        return RunSettings(self.options, settled_options)

    def forget_estimates(self) -> None:
        """Request estimates and changed tasks again at their next use: their inputs have changed."""
        if "estimates" in self.__dict__:
            self.estimates.forget()
        if "affected" in self.__dict__:
            self.affected.forget()

    def _meet_unknown_type(self) -> None:
        # Requested once: a type that the engine of this client does not know is a mistake of the author.
        if self.trusted and not self.asked_for_types and not self.is_closing:
            self.asked_for_types = True
            from waza_language_server.protocol.handlers.grader_types import learn_types

            learn_types(self)

    def in_background(self, work: Coroutine[Any, Any, None]) -> None:
        """Begin work that no request waits for."""
        task = asyncio.get_running_loop().create_task(work)
        # The loop alone would not keep it alive.
        self._background.add(task)
        task.add_done_callback(self._background.discard)

    @property
    def judges_live(self) -> bool:
        """Return whether edits are graded on recorded trials: only where code of the workspace may run."""
        return self.trusted and self.options.live != "off" and not self.is_closing

    @property
    def active_runs(self) -> tuple[Run, ...]:
        """The runs that have not ended; asking starts nothing."""
        return self.runs.active if "runs" in self.__dict__ else ()

    def tell(self, kind: types.MessageType, text: str) -> None:
        """Show the user a message; text from files cannot create links in it."""
        from waza_language_server.text.labels import message

        self.window_show_message(types.ShowMessageParams(type=kind, message=message(text)))

    async def ask(self, kind: types.MessageType, text: str, titles: Iterable[str]) -> str | None:
        """Ask the user, and return the chosen title; None if there is none, or the client cannot ask."""
        from waza_language_server.text.labels import message

        if not self.abilities.asks_the_user:
            return None
        buttons = [types.MessageActionItem(title) for title in titles]
        question = types.ShowMessageRequestParams(kind, message(text), buttons)
        try:
            if self.options.confirms:
                from waza_language_server.protocol.own_requests import CONFIRM

                # A message may be hidden, and what waits for its answer would look dead.
                choices = [button.title for button in buttons]
                asked = {"message": text, "choices": choices, "pick": kind is types.MessageType.Info}
                chosen: object = await self.protocol.send_request_async(CONFIRM, asked)
                return chosen if isinstance(chosen, str) else None
            answer = await self.window_show_message_request_async(question)
        except JsonRpcException:
            return None
        return answer.title if answer is not None else None

    def tell_once(self, topic: str, kind: types.MessageType, text: str) -> None:
        """Show the user a message, at most once a session for each topic."""
        if topic not in self.told:
            self.told.add(topic)
            self.tell(kind, text)

    def report_server_error(self, error: Exception, source: Any) -> None:
        """Log what went wrong; failed requests are answered with it, of the others the user hears once."""
        if isinstance(error, JsonRpcException) and not isinstance(error, JsonRpcInternalError):
            log.info("A request was refused: %s", error.message)
            return
        details = cast("dict[str, Any]", getattr(error, "data", None) or {})
        log.error("%s\n%s", error, "".join(details.get("traceback", ())), exc_info=error.__cause__)
        if source is not FeatureRequestError:
            text = f"The Waza language server had an internal error; its log has the details. ({error})"
            self.tell_once("mistake", types.MessageType.Error, text)

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
        if "runs" in self.__dict__:
            await self.runs.close()

    def kill_now(self) -> None:
        """End everything that was started, without waiting."""
        self.is_closing = True
        if "runs" in self.__dict__:
            self.runs.kill_now()

    def keep_kinds_of_actions(self) -> None:
        """Offer actions without their kinds, which may only be sent to clients that support code actions."""
        self.protocol.keep_options(types.TEXT_DOCUMENT_CODE_ACTION)

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
    server.protocol.handle_instead(types.SHUTDOWN, server.shut_down)
    for command in COMMANDS:
        # This announces their names to the client; the handler of the request gets all of them.
        server.command(command)(_by_request)
    return server


def _disk_as_it_is(session: Session) -> AbstractContextManager[None]:
    # The disk may be another one when the client has opened other folders.
    return session.project.disk.as_it_is()


def _by_request(_ls: WazaServer, *_: object) -> None:
    """Do nothing: ``pygls`` requires a function for each command."""
