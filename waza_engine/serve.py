"""The engine for an editor: JSON-RPC 2.0 on standard input and output, one JSON object a line.

Requests have upstream's names; a run sends its events as ``run.event`` notifications, a live session its
verdicts as ``live.verdicts``. When the input ends, every run is cancelled and the process ends within two
seconds, with everything it started.

Architecture invariant: nothing but the protocol is written to the original standard output. Descriptor 1 is
duplicated for it and then points to standard error, so that no ``print`` of a grader can break a message.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import signal
import sys
import threading
import time
from functools import partial
from types import FrameType
from typing import IO, Any, NoReturn, cast

from waza_engine.commands.methods import Methods
from waza_engine.json_rpc import (
    INTERNAL_ERROR,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    PARSE_ERROR,
    Endpoint,
    Message,
)
from waza_engine.results.json_values import plain
from waza_engine.terminal import json_text, log_to_standard_error

LONGEST_LINE_BYTES = 64 * 2**20
_PATIENCE_SECONDS = 1.5

log = logging.getLogger(__name__)


def serve() -> NoReturn:
    """Serve until the input ends or a termination signal comes; never returns."""
    log_to_standard_error("CRITICAL")
    wire = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)
    server = Server(wire)
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, _leave)
    try:
        server.read(sys.stdin.buffer)
    except (KeyboardInterrupt, SystemExit):
        pass
    finally:
        server.end()
        # Threads of graders that never end must not keep the process alive.
        os._exit(0)


def _leave(number: int, frame: FrameType | None) -> NoReturn:
    del number, frame
    raise SystemExit


class Server:
    """One connection. Messages are written whole, one at a time, from any thread."""

    def __init__(self, wire: IO[bytes]) -> None:
        self._wire = wire
        self._lock = threading.Lock()
        self._methods = Methods(partial(self._notify, "run.event"), partial(self._notify, "live.verdicts"))
        self._endpoint = Endpoint(self._methods.table, self._send)

    def read(self, source: IO[bytes]) -> None:
        """Handle messages until the input ends; none of them stops the others."""
        while line := source.readline(LONGEST_LINE_BYTES):
            if len(line) == LONGEST_LINE_BYTES and not line.endswith(b"\n"):
                _skip_line(source)
                megabytes = LONGEST_LINE_BYTES // 2**20
                self._refuse(None, INVALID_REQUEST, f"A message must be shorter than {megabytes} MB.")
            elif line.strip():
                try:
                    self._handle(line)
                except Exception:
                    log.exception("a message could not be handled: %.200r", line)
                    self._refuse(None, INTERNAL_ERROR, "The message could not be handled.")

    def end(self) -> None:
        """Cancel every run and wait a moment for them to end."""
        self._methods.cancel_all()
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while self._methods.running and time.monotonic() < deadline:
            time.sleep(0.01)
        self._methods.close()

    def _notify(self, method: str, document: dict[str, Any]) -> None:
        self._endpoint.notify(method, document)

    def _handle(self, line: bytes) -> None:
        try:
            message: object = json.loads(line.decode("utf-8"), parse_constant=_refuse_constant)
        except (ValueError, RecursionError):
            self._refuse(None, PARSE_ERROR, "This line is not JSON; write one JSON object a line.")
            return
        if not isinstance(message, dict):
            self._refuse(None, INVALID_REQUEST, "A message must be one JSON object.")
            return
        request = cast("dict[str, Any]", message)
        is_answer = "method" not in request and ("result" in request or "error" in request)
        if is_answer:
            return
        identifier: object = request.get("id")
        if identifier is not None and (not isinstance(identifier, int | str) or isinstance(identifier, bool)):
            self._refuse(None, INVALID_REQUEST, "The `id` of a request must be text or a whole number.")
            return
        if request.get("jsonrpc") != "2.0" or not isinstance(request.get("method"), str):
            reason = 'A request needs `"jsonrpc": "2.0"` and a `method`.'
            self._refuse(identifier, INVALID_REQUEST, reason)
            return
        if request["method"].startswith("$/"):
            # Cancellation is not supported, because no request takes long enough.
            if "id" in request:
                self._refuse(identifier, METHOD_NOT_FOUND, f"There is no method {request['method']}.")
            return
        if request["method"] == "eval.run" and "id" not in request:
            self._methods.start_unanswered(request.get("params"))
            return
        self._endpoint.consume(request)

    def _refuse(self, identifier: object, code: int, message: str) -> None:
        self._send({"jsonrpc": "2.0", "id": identifier, "error": {"code": code, "message": message}})

    def _send(self, message: Message) -> None:
        line = json_text(plain(message)).encode() + b"\n"
        # A client that is gone closes the input too; the runs end then.
        with self._lock, contextlib.suppress(OSError, ValueError):
            _write_all(self._wire, line)
        self._methods.answered(message)


def _refuse_constant(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")


def _skip_line(source: IO[bytes]) -> None:
    while (part := source.readline(2**20)) and not part.endswith(b"\n"):
        pass


def _write_all(wire: IO[bytes], line: bytes) -> None:
    rest = memoryview(line)
    while rest:
        rest = rest[wire.write(rest) or 0 :]
