"""All uses of private parts of ``pygls`` are in this file.

``pygls`` dispatches messages that are well-formed and expected. This file handles the others: malformed
requests, responses without a pending request or of the wrong type, cancellations of requests that are not
the client's, and ``initialize`` with roots that are not URIs.
"""

from __future__ import annotations

import asyncio
import copy
import json
import logging
from collections.abc import Iterator, Sequence
from functools import cache, partial
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlsplit

import attrs
from cattrs.errors import (
    AttributeValidationNote,
    BaseValidationError,
    ClassValidationError,
    IterableValidationNote,
)
from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.protocol import LanguageServerProtocol, lsp_method
from pygls.protocol.json_rpc import JsonRPCRequestMessage
from pygls.uris import from_fs_path

from waza_engine.frozen import frozen
from waza_language_server.protocol.messages import (
    CONTENT_MODIFIED,
    REQUEST_CANCELLED,
    CancelledRequestError,
    Message,
    OutdatedError,
    WrittenAnswer,
)
from waza_language_server.protocol.own_requests import OWN_REQUESTS

if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from concurrent.futures import Future

    from waza_language_server.protocol.messages import Identifier, Message


class Protocol(LanguageServerProtocol):
    """The protocol of ``pygls``, for clients that make mistakes."""

    def __init__(self, *arguments: Any) -> None:
        cast("Any", super()).__init__(*arguments)
        self._features = cast("Any", self.fm)
        for method in _NOT_OFFERED:
            self._features.builtin_features.pop(method, None)
        converter = cast("Any", self._converter)
        for hooks in (converter._structure_func, converter._unstructure_func):
            _keep(hooks)

    @property
    def is_initialized(self) -> bool:
        """Return whether ``initialize`` has succeeded."""
        return hasattr(self, "server_capabilities")

    def knows(self, method: str) -> bool:
        """Return whether there is a handler for a method."""
        return method in self._features.builtin_features or method in self._features.features

    def keep_options(self, method: str) -> None:
        """Announce that a message is handled, without options; call it before ``initialize`` is answered."""
        self._features.feature_options.pop(method, None)

    def answer(self, identifier: Identifier | None, code: int, reason: str) -> None:
        """Answer a request with an error; None when it is not known which one."""
        # Written out, since the converter leaves out an id that is null, which must be there.
        error = {"code": code, "message": reason}
        self._send_data({"jsonrpc": "2.0", "id": identifier, "error": error})

    def handle_instead(self, method: str, handler: Callable[[Any], Any]) -> None:
        """Replace the built-in handler that ``pygls`` has for a message."""
        self._features.add_builtin_feature(method, handler)

    def structure_message(self, data: Message) -> Any:
        """Return a message with parameters of their types; raises what ``pygls`` does, or ``ValueError``."""
        wanted = OWN_REQUESTS.get(str(data.get("method")))
        if wanted is None:
            return self._structure(data)
        if "id" not in data:
            raise ValueError("a request needs an `id`")
        try:
            params: Any = cast("Any", self._converter).structure(data.get("params"), wanted)
        except Exception as error:
            raise ValueError(str(error)) from error
        return JsonRPCRequestMessage(data["id"], data["method"], "2.0", params)

    def _structure(self, data: Message) -> Any:
        """Return a message of the protocol, without unreadable parts that are not needed."""
        try:
            return super().structure_message(data)
        except JsonRpcException as error:
            rest = understood(data, error.__cause__)
            if rest is None:
                raise
        return self._structure(rest)

    def push_json(self, method: str, params: str) -> None:
        """Send a notification whose parameters are written as JSON already, in ASCII."""
        self._write(f'{{"jsonrpc": "2.0", "method": {json.dumps(method)}, "params": {params}}}')

    def _write_result(self, msg_id: Identifier, result: str) -> None:
        self._write(f'{{"id": {json.dumps(msg_id)}, "jsonrpc": "2.0", "result": {result}}}')

    def _write(self, body: str) -> None:
        header = f"Content-Length: {len(body)}\r\nContent-Type: {self.CONTENT_TYPE}; charset={self.CHARSET}"
        writer = cast("Any", self.writer)
        if writer is not None:
            writer.write(f"{header}\r\n\r\n{body}".encode("ascii"))

    def to_json(self, value: Any) -> str:
        """Return a value of the protocol as JSON, in ASCII."""
        return json.dumps(value, default=self._serialize_message)

    def take_response(self, message: Message) -> bool:
        """Resolve the pending request of a response, with an error if the response has the wrong type.

        Returns False if no request is pending.
        """
        identifier: object = message.get("id")
        if not isinstance(identifier, str) or identifier not in self._result_types:
            return False
        result_type = self._result_types.pop(identifier)
        waiting = self._request_futures.pop(identifier, None)
        if waiting is None or waiting.done():
            return False
        if message.get("error") is not None:
            waiting.set_exception(_error_of(message["error"]))
            return True
        if result_type is None:
            waiting.set_result(message.get("result"))  # of a request that is ours, who asked looks at it
            return True
        try:
            structured: Any = cast("Any", self._converter).structure(
                {"jsonrpc": "2.0", "id": identifier, "result": message.get("result")}, result_type
            )
        except Exception as error:  # noqa: BLE001 - the converter raises whatever a wrong value leads to
            refused = JsonRpcException(f"The client's answer has the wrong form: {error}")
            waiting.set_exception(refused)
        else:
            waiting.set_result(structured.result)
        return True

    def cancel(self, identifier: Identifier) -> None:
        """Cancel a request of the client; one that is not in flight has been answered."""
        future = self._request_futures.get(identifier)
        if isinstance(future, asyncio.Task):
            cast("asyncio.Task[Any]", future).cancel()

    def tasks(self) -> list[asyncio.Task[Any]]:
        """Return the client's requests and notifications that are being handled and wait for something."""
        futures = cast("dict[Identifier, Any]", self._request_futures).values()
        return [future for future in futures if isinstance(future, asyncio.Task)]

    @lsp_method(types.INITIALIZE)
    def lsp_initialize(self, params: types.InitializeParams) -> Generator[Any, Any, types.InitializeResult]:
        """Answer the introduction; folders that are no URIs count as none, the root is one of the folders."""
        root = params.root_uri or _uri_of(params.root_path)
        folders = params.workspace_folders or ([types.WorkspaceFolder(root, "")] if root else [])
        params.workspace_folders = [folder for folder in folders if _is_uri(folder.uri)]
        params.root_uri = params.root_path = None
        return (yield from super().lsp_initialize(params))

    def _execute_handler(
        self,
        msg_id: Identifier,
        handler: Callable[..., Any],
        callback: Callable[[Future[Any]], None],
        args: tuple[Any, ...] | None = None,
        kwargs: dict[str, Any] | None = None,
    ) -> None:
        def finish(future: Future[Any]) -> None:
            # The base class keeps the futures of notifications for ever.
            if self._request_futures.get(msg_id) is future:
                del self._request_futures[msg_id]
            callback(future)

        super()._execute_handler(msg_id, handler, finish, args, kwargs)

    def _send_handler_result(self, future: Future[Any], *, msg_id: Identifier) -> None:
        """Answer a request with the result of its handler, awaited if it is a coroutine.

        Such a handler begins when the message comes, and may see the text that the message is about.
        """
        error = None if future.cancelled() else future.exception()
        if isinstance(error, OutdatedError):
            self._request_futures.pop(msg_id, None)
            self.answer(msg_id, CONTENT_MODIFIED, "The document has changed meanwhile.")
        elif isinstance(error, CancelledRequestError):
            self._request_futures.pop(msg_id, None)
            self.answer(msg_id, REQUEST_CANCELLED, "The request was canceled.")
        elif error is None and not future.cancelled() and asyncio.iscoroutine(future.result()):
            rest = asyncio.ensure_future(future.result())
            self._request_futures[msg_id] = rest
            rest.add_done_callback(partial(self._send_handler_result, msg_id=msg_id))
        elif error is None and not future.cancelled() and isinstance(future.result(), WrittenAnswer):
            self._request_futures.pop(msg_id, None)
            self._write_result(msg_id, future.result().json)
        else:
            super()._send_handler_result(future, msg_id=msg_id)


_NOT_OFFERED = (
    types.NOTEBOOK_DOCUMENT_DID_OPEN,
    types.NOTEBOOK_DOCUMENT_DID_CHANGE,
    types.NOTEBOOK_DOCUMENT_DID_CLOSE,
)


def is_request(method: str) -> bool:
    """Return whether the protocol has a request of this name; False for notifications and unknown names."""
    known: Any = types.METHOD_TO_TYPES.get(method)
    return method in OWN_REQUESTS or (known is not None and known[1] is not None)


def names_things(method: str) -> bool:
    """Return whether a request is one of ours: its strings are ids, names and paths."""
    return method in OWN_REQUESTS or method == types.WORKSPACE_EXECUTE_COMMAND


def _keep(hooks: Any) -> None:
    """Let the converter keep the functions that it compiles for each class.

    It forgets all of them whenever it meets a list of something new, and compiles them again.
    """
    kept: Any = cache(hooks.dispatch_without_caching)
    kept.cache_clear = lambda: None
    hooks.dispatch = kept


def _error_of(error: object) -> JsonRpcException:
    given = cast("dict[str, Any]", error) if isinstance(error, dict) else {}
    code, reason = given.get("code"), given.get("message")
    return JsonRpcException(
        str(reason) if reason else "The client gave no reason.", code if isinstance(code, int) else 0
    )


def _is_uri(text: str) -> bool:
    try:
        urlsplit(text)
    except ValueError:
        return False
    return True


def _uri_of(path: str | None) -> str | None:
    try:
        return from_fs_path(path) if path else None
    except ValueError:
        return None


log = logging.getLogger(__name__)

_ANYWHERE = {"initialize"}
"""Messages whose optional parts may all be dropped."""
_BELOW = {"context"}
"""Parameters of other messages that may be dropped, entirely or in part."""
_BELOW_OF = {"workspace/didChangeWatchedFiles": {"changes"}}
_NARROWS = "only"
"""The key that limits a request to some kinds; a client that sends it must not get the others."""


def understood(message: Message, error: BaseException | None) -> Message | None:
    """Return a message without the parts that the converter could not read; None if one is needed."""
    params: object = message.get("params")
    if not isinstance(error, ClassValidationError) or not isinstance(params, dict):
        return None
    method = str(message.get("method"))
    if method in _ANYWHERE and not isinstance(cast("Message", params).get("capabilities"), dict):
        return {**message, "params": {**cast("Message", params), "capabilities": {}}}
    paths = {_left_out(message, steps, method) for steps in _failures(error)}
    if None in paths:
        return None
    names = [".".join(map(str, path)) for path in cast("set[tuple[Any, ...]]", paths)]
    log.info("Parts of %.100r are not understood and left out: %.1000s", method, sorted(names))
    changed = copy.deepcopy(message)
    # From the back, so that the items of a list keep their places until their turn.
    for path in sorted(cast("set[tuple[Any, ...]]", paths), reverse=True):
        holder: Any = changed
        for key in path[:-1]:
            holder = holder[key]
        del holder[path[-1]]
    return changed


@frozen()
class _Step:
    """The way from a value to one in it: the name of a field, or the index of an item."""

    name: str | int
    is_optional: bool


def _failures(error: BaseException, steps: tuple[_Step, ...] = ()) -> Iterator[tuple[_Step, ...]]:
    """Yield the way to each value that could not be read."""
    if not isinstance(error, BaseValidationError):
        yield steps
        return
    fields: dict[str, Any] = attrs.fields_dict(error.cl) if attrs.has(error.cl) else {}
    for each in error.exceptions:
        step: tuple[_Step, ...] = ()
        for note in getattr(each, "__notes__", ()):
            if isinstance(note, AttributeValidationNote):
                field = fields.get(note.name)
                step = (_Step(note.name, field is not None and field.default is not attrs.NOTHING),)
            elif isinstance(note, IterableValidationNote):
                step = (_Step(note.index, is_optional=True),)
        yield from _failures(each, (*steps, *step))


def _left_out(message: Message, steps: Sequence[_Step], method: str) -> tuple[str | int, ...] | None:
    """Return the way to the smallest part around a value that may be missing, None when none may."""
    path: list[str | int] = []
    value: Any = message
    smallest: int | None = None
    for step in steps:
        key = _key(value, step.name)
        if key is None:
            break
        path.append(key)
        value = value[key]
        if step.is_optional and _may_go(path, method):
            smallest = len(path)
    return None if smallest is None else tuple(path[:smallest])


def _key(value: object, name: str | int) -> str | int | None:
    """Return the key of a field as it is written, or an index; None when there is none."""
    if isinstance(name, int):
        return name if isinstance(value, list) and name < len(cast("list[object]", value)) else None
    keys = cast("Message", value) if isinstance(value, dict) else {}
    return next((key for key in keys if key.lower() == name.replace("_", "").lower()), None)


def _may_go(path: Sequence[str | int], method: str) -> bool:
    if len(path) < 2 or path[-1] == _NARROWS:
        return False
    return method in _ANYWHERE or path[1] in _BELOW_OF.get(method, _BELOW)
