"""The language server of one client: its services, and the handlers of its messages.

Architecture invariant: before the client is answered for the first time nothing is imported but ``pygls``;
handlers are imported with their first messages. Only this package knows the protocol.
"""

from __future__ import annotations

import asyncio
import logging
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, cast

from lsprotocol import types
from pygls.exceptions import (
    FeatureRequestError,
    JsonRpcException,
    JsonRpcInternalError,
)
from pygls.lsp.server import LanguageServer

from waza_engine import __version__
from waza_language_server.protocol.client import ClientAbilities, ClientOptions
from waza_language_server.protocol.feature_table import (
    COMMANDS,
    FEATURES,
    PULLED_DIAGNOSTICS,
    PULLED_WORKSPACE_DIAGNOSTICS,
    execute,
)
from waza_language_server.protocol.pygls_internals import Protocol
from waza_language_server.protocol.turns import Turns

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterable

    from waza_language_server.engine.runs import Run, RunKey, Runs
    from waza_language_server.protocol.services.active_runs import ExternalRuns
    from waza_language_server.protocol.services.affected import AffectedTasks
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
    from waza_language_server.protocol.services.refresh import Refresh
    from waza_language_server.protocol.services.run_requests import RunSettings
    from waza_language_server.protocol.services.schedule import Diagnostics
    from waza_language_server.protocol.services.sent_tokens import SentTokens
    from waza_language_server.protocol.services.session import Session
    from waza_language_server.protocol.services.workspace_problems import WorkspaceProblems

log = logging.getLogger(__name__)


class Service:
    """A service, made at its first use by a function of the server: ``place`` names it in ``services``."""

    def __init__(self, place: str) -> None:
        self._place = place
        self._name = ""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, ls: WazaServer | None, owner: type) -> Any:
        if ls is None:
            return self
        module, _, function = self._place.rpartition(".")
        make = getattr(import_module(f"waza_language_server.protocol.services.{module}"), function)
        # From now on the attribute of the object hides this one.
        made = ls.__dict__[self._name] = make(ls)
        return made


def service(place: str) -> Any:
    """Return a service as an attribute of the server, whose annotation is its type."""
    return Service(place)


class WazaServer(LanguageServer):
    """One client's server: the messages to the client, and the services that its handlers share."""

    protocol: Protocol  # pyright: ignore[reportIncompatibleVariableOverride] - set once, by the base class

    session: Session = service("session.begun_session")
    """The open documents and the project around them."""
    refresh: Refresh = service("refresh.Refresh")
    """The changes, and the refresh requests to the client."""
    diagnostics: Diagnostics = service("shown_problems.diagnostics")
    """The problems of the open documents."""
    workspace_problems: WorkspaceProblems[str] = service("shown_problems.workspace_problems")
    """The problems of the suite files that are not open, as JSON."""
    plug_in_types: PlugInTypes = service("engine_answers.PlugInTypes")
    """The grader types of plug-ins."""
    sent_tokens: SentTokens = service("sent_tokens.SentTokens")
    """The semantic tokens that the client has of each document."""
    pending_hints: PendingHints = service("pending_hints.PendingHints")
    """The documents whose hints wait for results."""
    runs: Runs = service("active_runs.active_runs")
    """The runs of the engine."""
    progress_bars: ProgressBars = service("progress_bars.ProgressBars")
    """The progress bars of runs."""
    external_runs: ExternalRuns = service("active_runs.external_runs")
    """The runs that others have begun."""
    live: LiveSessions = service("live.LiveSessions")
    """The recorded answers that are graded again as their suites are edited."""
    baselines: LiveBaselines = service("live_sources.LiveBaselines")
    """The recorded baselines of live verdicts."""
    estimates: Estimates = service("engine_answers.Estimates")
    """The estimates of cost and duration of runs."""
    histories: RunHistories = service("engine_answers.RunHistories")
    """The run histories of suites."""
    model_prices: EnginePrices = service("engine_answers.EnginePrices")
    """The prices of models."""
    affected: AffectedTasks = service("affected.AffectedTasks")
    """The tasks that have changed since their newest results."""
    run_settings: RunSettings = service("run_requests.RunSettings")
    """The client's settings for runs."""

    def __init__(self) -> None:
        cast("Any", super()).__init__("waza-language-server", __version__, protocol_cls=Protocol)
        self.abilities = ClientAbilities()
        self.options = ClientOptions()
        self._told: set[str] = set()
        """Messages that were shown to the user once and are not shown again."""
        self.ended = asyncio.Event()
        """Set when the server has nothing left to do but to exit."""
        self.is_closing = False
        """True if nothing may be started any more: the server is shutting down."""
        self.harness_work: dict[RunKey, asyncio.Task[Any]] = {}
        """The active commands on files of agent-eval-harness."""
        self.turns = Turns()
        """The order of analysis and answers."""
        self._background: set[asyncio.Task[Any]] = set()
        self.on_client: Callable[[int], None] = lambda _pid: None
        """Called with the process id of the client, which the server does not outlive."""

    @property
    def trusted(self) -> bool:
        """Return whether code of this workspace may run."""
        return self.options.trusted

    def made(self, name: str) -> Any:
        """Return a service if it was used before, else None."""
        return self.__dict__.get(name)

    def in_background(self, work: Coroutine[Any, Any, object]) -> None:
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
        runs: Runs | None = self.made("runs")
        return runs.active if runs is not None else ()

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
        if topic not in self._told:
            self._told.add(topic)
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
        if self.made("runs") is not None:
            await self.runs.close()

    def kill_now(self) -> None:
        """End everything that was started, without waiting."""
        self.is_closing = True
        if self.made("runs") is not None:
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
