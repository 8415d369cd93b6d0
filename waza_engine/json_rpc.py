"""JSON-RPC 2.0 over any connection: requests both ways, in the order and threads that the caller chooses.

Light: the server and the engine's process for an editor share it.
"""

from __future__ import annotations

import itertools
import logging
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, cast

PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND = -32700, -32600, -32601
INVALID_PARAMS, INTERNAL_ERROR = -32602, -32603

Message = Mapping[str, Any]
Handler = Callable[[Any], Any]

log = logging.getLogger(__name__)


class RpcError(Exception):
    """A request is refused; the message is for its sender. ``data`` is None or JSON."""

    def __init__(self, message: str, code: int, data: object = None) -> None:
        super().__init__(message)
        self.message, self.code, self.data = message, code, data

    def document(self) -> dict[str, Any]:
        """Return the error as JSON."""
        more = {} if self.data is None else {"data": self.data}
        return {"code": self.code, "message": self.message, **more}


class Endpoint:
    """One side of a connection.

    A method gets the parameters of a request or notification, in the thread of ``consume``. It returns the
    result, or a function that computes it in one of ``workers`` threads. ``send`` must be safe in threads.
    """

    def __init__(
        self, methods: Mapping[str, Handler], send: Callable[[dict[str, Any]], object], workers: int = 5
    ) -> None:
        self._methods = methods
        self._send = send
        self._workers = ThreadPoolExecutor(workers)
        self._identifiers = itertools.count(1)
        self._requested: dict[object, Future[Any]] = {}

    def notify(self, method: str, params: object = None) -> None:
        """Send a notification."""
        self._send(_with_params({"jsonrpc": "2.0", "method": method}, params))

    def request(self, method: str, params: object = None) -> Future[Any]:
        """Send a request and return the future of its result, or of an ``RpcError``. Never cancel it."""
        identifier, answer = str(next(self._identifiers)), Future[Any]()
        self._requested[identifier] = answer
        self._send(_with_params({"jsonrpc": "2.0", "id": identifier, "method": method}, params))
        return answer

    def consume(self, message: Message) -> None:
        """Handle a request, a notification, or the answer to a request; others are logged."""
        method = message.get("method")
        if message.get("jsonrpc") != "2.0" or not isinstance(method, str | None):
            log.warning("a message that is not JSON-RPC 2.0: %.200r", message)
        elif method is None:
            self._take_answer(message)
        elif "id" in message:
            self._answer(message["id"], method, message.get("params"))
        else:
            self._handle_notification(method, message.get("params"))

    def shutdown(self) -> None:
        """Wait for the worker threads."""
        self._workers.shutdown()

    def _take_answer(self, message: Message) -> None:
        identifier: object = message.get("id")
        answer = self._requested.pop(identifier, None) if isinstance(identifier, str) else None
        if answer is None:
            log.warning("an answer to no request: %.200r", message)
            return
        error: object = message.get("error")
        if error is None:
            answer.set_result(message.get("result"))
            return
        known = cast("dict[str, Any]", error) if isinstance(error, dict) else {}
        code = known.get("code")
        answer.set_exception(
            RpcError(
                str(known.get("message") or cast("object", error)),
                code if isinstance(code, int) else INTERNAL_ERROR,
                known.get("data"),
            )
        )

    def _answer(self, identifier: object, method: str, params: object) -> None:
        if method not in self._methods:
            error = RpcError(f"There is no method {method}.", METHOD_NOT_FOUND)
            self._send({"jsonrpc": "2.0", "id": identifier, "error": error.document()})
            return
        later = self._respond(identifier, lambda: self._methods[method](params))
        if later is not None:
            self._workers.submit(self._respond, identifier, later)

    def _respond(self, identifier: object, work: Callable[[], Any]) -> Callable[[], Any] | None:
        """Send the result or error of some work; return the function that computes it when that is left."""
        answer: dict[str, Any] = {"jsonrpc": "2.0", "id": identifier}
        try:
            result = work()
            if callable(result):
                return result
            answer["result"] = result
        except RpcError as error:
            answer["error"] = error.document()
        except Exception as error:
            log.exception("a request could not be answered")
            answer["error"] = RpcError(f"{type(error).__name__}: {error}", INTERNAL_ERROR).document()
        self._send(answer)
        return None

    def _handle_notification(self, method: str, params: object) -> None:
        def work(handle: Callable[[], Any]) -> Any:
            try:
                return handle()
            except Exception:
                log.exception("a notification %s could not be handled", method)

        if method not in self._methods:
            log.warning("a notification of no known method: %.200s", method)
            return
        later = work(lambda: self._methods[method](params))
        if callable(later):
            self._workers.submit(work, later)


def _with_params(message: dict[str, Any], params: object) -> dict[str, Any]:
    return message if params is None else {**message, "params": params}
