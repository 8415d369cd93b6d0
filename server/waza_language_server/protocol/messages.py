"""Validation of incoming data before it is used: a message, or the reason why it is malformed.

Malformed data gets the error response that JSON-RPC prescribes, unless it looks like a response: responses
are never answered, or two programs that do not understand each other would never stop.
"""

from __future__ import annotations

import json
from typing import Any, Literal, NoReturn, TypeGuard, cast

from pygls.exceptions import JsonRpcException

from waza_engine.frozen import frozen

Message = dict[str, Any]
Identifier = int | str

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
NOT_INITIALIZED = -32002
REQUEST_CANCELLED = -32800
CONTENT_MODIFIED = -32801
REQUEST_FAILED = -32803


class OutdatedError(Exception):
    """A newer text arrived before a request about the previous one was answered."""


class CancelledRequestError(Exception):
    """The client cancelled a request while it was answered."""


@frozen()
class WrittenAnswer:
    """The response to a request, already serialized as JSON in ASCII."""

    json: str


@frozen()
class Malformed:
    """A malformed message: the error that answers it, and the id of the intended message."""

    code: int
    reason: str
    identifier: Identifier | None = None


UNVERSIONED = -(2**31)
"""The version of a changed text if its client sends no version numbers."""
_UNNUMBERED = {"textDocument/didOpen": 0, "textDocument/didChange": UNVERSIONED}


def read_message(body: bytes) -> Message | Malformed:
    """Return the request, notification or response in a body, or why it is malformed.

    ``jsonrpc``, ``method`` and ``id`` of a request or notification are validated, nothing else of it,
    and nothing at all of a response.
    """
    try:
        found: object = json.loads(body.decode("utf-8"), parse_constant=_refuse)
    except RecursionError:
        return Malformed(PARSE_ERROR, "The message is nested too deeply.")
    except ValueError:
        return Malformed(PARSE_ERROR, "The message is not JSON in UTF-8.")
    if not isinstance(found, dict):
        return Malformed(INVALID_REQUEST, "A message must be one JSON object; there are no batches.")
    message = cast("Message", found)
    kind = kind_of(message)
    if kind == "response" or message.get("method") == "exit":
        return message
    identifier: object = message.get("id")
    if "id" in message and not is_identifier(identifier):
        return Malformed(INVALID_REQUEST, "The `id` of a request must be text or a whole number.")
    known = identifier if is_identifier(identifier) else None
    if not isinstance(message.get("method"), str):
        return Malformed(INVALID_REQUEST, "A message needs a `method`, as text.", known)
    if message.get("jsonrpc") != "2.0":
        return Malformed(INVALID_REQUEST, 'A message needs `"jsonrpc": "2.0"`.', known)
    return message


def kind_of(message: Message) -> Literal["request", "notification", "response"]:
    """Return the kind of a message."""
    if "method" not in message and ("result" in message or "error" in message):
        return "response"
    return "request" if "id" in message else "notification"


def is_identifier(value: object) -> TypeGuard[Identifier]:
    """Return whether a value can be the id of a request; true and false are not numbers here."""
    return isinstance(value, int | str) and not isinstance(value, bool)


def cancelled_id(message: Message) -> Identifier | None:
    """Return the id of the request that a ``$/cancelRequest`` takes back, None when it names none."""
    params: object = message.get("params")
    identifier: object = cast("Message", params).get("id") if isinstance(params, dict) else None
    return identifier if is_identifier(identifier) else None


def with_version(message: Message) -> Message:
    """Return a message about a text with a number for its version: clients of old leave it null or out.

    A change that was dropped for that would leave the text wrong from there on.
    """
    params: object = message.get("params")
    number = _UNNUMBERED.get(message.get("method", ""))
    if number is None or not isinstance(params, dict):
        return message
    named: object = cast("Message", params).get("textDocument")
    if not isinstance(named, dict) or cast("Message", named).get("version") is not None:
        return message
    numbered = {**cast("Message", named), "version": number}
    return {**message, "params": {**cast("Message", params), "textDocument": numbered}}


def refused(reason: str, code: int = INVALID_PARAMS) -> JsonRpcException:
    """Return the error that answers a command which is not carried out."""
    from waza_language_server.text.label_escaping import message

    return JsonRpcException(message=message(reason), code=code)


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")
