"""The connection to one client: its abilities and options, messages to its user, and work for it.

Architecture invariant: nothing here knows a service or a handler; they all know this.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any, cast

from lsprotocol import types
from pygls.exceptions import FeatureRequestError, JsonRpcException, JsonRpcInternalError
from pygls.lsp.server import LanguageServer

from waza_engine.version import __version__
from waza_language_server.protocol.client import ClientAbilities, ClientOptions
from waza_language_server.protocol.pygls_internals import Protocol
from waza_language_server.protocol.turns import Turns

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterable

log = logging.getLogger(__name__)


class ClientConnection(LanguageServer):
    """The connection to one client."""

    protocol: Protocol  # pyright: ignore[reportIncompatibleVariableOverride] - set once, by the base class

    def __init__(self) -> None:
        cast("Any", super()).__init__("waza-language-server", __version__, protocol_cls=Protocol)
        self.abilities = ClientAbilities()
        self.options = ClientOptions()
        self._shown_once: set[str] = set()
        """Messages that were shown to the user once and are not shown again."""
        self.ended = asyncio.Event()
        """Set when the server has nothing left to do but to exit."""
        self.is_closing = False
        """True if nothing may be started any more: the server is shutting down."""
        self.turns = Turns()
        """The order of analysis and answers."""
        self._background: set[asyncio.Task[Any]] = set()
        self.on_client: Callable[[int], None] = lambda _pid: None
        """Called with the process id of the client, which the server does not outlive."""

    @property
    def trusted(self) -> bool:
        """Return whether code of this workspace may run."""
        return self.options.trusted

    @property
    def grades_live(self) -> bool:
        """Return whether edits are graded on recorded trials: only where code of the workspace may run."""
        return self.trusted and self.options.live != "off" and not self.is_closing

    def in_background(self, work: Coroutine[Any, Any, object]) -> None:
        """Begin work that no request waits for."""
        task = asyncio.get_running_loop().create_task(work)
        # The loop alone would not keep it alive.
        self._background.add(task)
        task.add_done_callback(self._background.discard)

    def show_message(self, kind: types.MessageType, text: str) -> None:
        """Show the user a message; text from files cannot create links in it."""
        from waza_language_server.text.label_escaping import message

        self.window_show_message(types.ShowMessageParams(type=kind, message=message(text)))

    async def ask_user(self, kind: types.MessageType, text: str, titles: Iterable[str]) -> str | None:
        """Ask the user, and return the chosen title; None if there is none, or the client cannot ask."""
        from waza_language_server.text.label_escaping import message

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

    def show_message_once(self, topic: str, kind: types.MessageType, text: str) -> None:
        """Show the user a message, at most once a session for each topic."""
        if topic not in self._shown_once:
            self._shown_once.add(topic)
            self.show_message(kind, text)

    def report_server_error(self, error: Exception, source: Any) -> None:
        """Log what went wrong; failed requests are answered with it, of the others the user hears once."""
        if isinstance(error, JsonRpcException) and not isinstance(error, JsonRpcInternalError):
            log.info("A request was refused: %s", error.message)
            return
        details = cast("dict[str, Any]", getattr(error, "data", None) or {})
        log.error("%s\n%s", error, "".join(details.get("traceback", ())), exc_info=error.__cause__)
        if source is not FeatureRequestError:
            text = f"The Waza language server had an internal error; its log has the details. ({error})"
            self.show_message_once("mistake", types.MessageType.Error, text)
