"""The engine for an editor: JSON-RPC 2.0 on standard input and output, one JSON object a line.

Requests have upstream's names; a run sends its events as ``run.event`` notifications, a live session its
verdicts as ``live.verdicts``. When the input ends, every run is cancelled and the process ends within two
seconds, with everything it started.
"""

from __future__ import annotations

import os
import time
from functools import partial
from typing import IO, Any, NoReturn

from waza_engine.commands.methods import Methods
from waza_engine.json_rpc import Message
from waza_engine.json_rpc_lines import LineConnection, serve_lines
from waza_engine.results.writing.store import remove_workspaces_of

_PATIENCE_SECONDS = 1.5


def serve() -> NoReturn:
    """Serve until the input ends or a termination signal comes; never returns."""
    serve_lines(Server)


class Server(LineConnection):
    """The connection of an editor."""

    def __init__(self, wire: IO[bytes]) -> None:
        self._methods = Methods(partial(self.notify, "run.event"), partial(self.notify, "live.verdicts"))
        super().__init__(wire, self._methods.table)

    def end(self) -> None:
        """Cancel every run, wait a moment for them to end, and remove their temporary files."""
        self._methods.cancel_all()
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while self._methods.running and time.monotonic() < deadline:
            time.sleep(0.01)
        self._methods.close()
        # A cluster may take longer to close, and the process ends now.
        remove_workspaces_of(os.getpid())

    def handle(self, request: dict[str, Any]) -> None:
        """Handle a valid request; a run may also be started by a notification."""
        if request["method"] == "eval.run" and "id" not in request:
            self._methods.start_unanswered(request.get("params"))
            return
        super().handle(request)

    def send(self, message: Message) -> None:
        """Send a message."""
        super().send(message)
        self._methods.answered(message)
