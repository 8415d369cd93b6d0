"""JSON-RPC 2.0 as lines of standard input and output, one JSON object each.

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
from collections.abc import Callable, Mapping
from types import FrameType
from typing import IO, Any, NoReturn, cast

from waza_engine.json_rpc import (
    INTERNAL_ERROR,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    PARSE_ERROR,
    Endpoint,
    Handler,
    Message,
)
from waza_engine.results.json_values import plain
from waza_engine.terminal import json_text, log_to_standard_error

LONGEST_LINE_BYTES = 64 * 2**20

log = logging.getLogger(__name__)


def serve_lines(connect: Callable[[IO[bytes]], LineConnection]) -> NoReturn:
    """Serve until the input ends or a termination signal comes, then end the connection; never returns.

    ``connect`` returns the connection that writes to a stream.
    """
    log_to_standard_error("CRITICAL")
    wire = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)
    connection = connect(wire)
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, _leave)
    try:
        connection.read(sys.stdin.buffer)
    except (KeyboardInterrupt, SystemExit):
        pass
    finally:
        connection.end()
        # Threads that never end must not keep the process alive.
        os._exit(0)


def _leave(number: int, frame: FrameType | None) -> NoReturn:
    del number, frame
    raise SystemExit


class LineConnection:
    """One connection. Messages are written whole, one at a time, from any thread."""

    def __init__(self, wire: IO[bytes], methods: Mapping[str, Handler], *, workers: int = 5) -> None:
        self._wire = wire
        self._lock = threading.Lock()
        self._endpoint = Endpoint(methods, self.send, workers)

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
        """End what is active, when the input has ended."""

    def notify(self, method: str, params: object) -> None:
        """Send a notification."""
        self._endpoint.notify(method, params)

    def handle(self, request: dict[str, Any]) -> None:
        """Handle a valid request or notification."""
        self._endpoint.consume(request)

    def send(self, message: Message) -> None:
        """Send a message."""
        line = json_text(plain(message)).encode() + b"\n"
        # A client that is gone closes the input too; what is active ends then.
        with self._lock, contextlib.suppress(OSError, ValueError):
            _write_all(self._wire, line)

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
        self.handle(request)

    def _refuse(self, identifier: object, code: int, message: str) -> None:
        self.send({"jsonrpc": "2.0", "id": identifier, "error": {"code": code, "message": message}})


def _refuse_constant(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")


def _skip_line(source: IO[bytes]) -> None:
    while (part := source.readline(2**20)) and not part.endswith(b"\n"):
        pass


def _write_all(wire: IO[bytes], line: bytes) -> None:
    rest = memoryview(line)
    while rest:
        rest = rest[wire.write(rest) or 0 :]
