"""A model that answers by a script, behind a real loopback server that speaks the OpenAI wire format.

A script is a row of answers, played one a request in the order of arrival, or a function of the request::

    def test_reads_the_skill(scripted_model):
        model = scripted_model(call("skill", skill="code-explainer"), "It adds two numbers.")
        ...  # point the agent at model.base_url
        assert model.requests[0].tool_names == ["skill"]

A plain text is an answer; so is ``Answer(text, calls=…, usage=…)``. ``Status``, ``RateLimited``, ``Cut``,
``Garbage``, ``NoChoices``, ``Slow``, ``Held``, ``Stalled`` and ``Events`` are answers that go wrong. When
the script is over, requests get status 400, which no client tries again. Requests may come in parallel.
"""

from __future__ import annotations

import itertools
import json
import socket
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, TypeAlias

_WAIT_SECONDS = 60.0


@dataclass(frozen=True)
class Call:
    """A tool call; arguments that are a text go over the wire as they are, well formed or not."""

    name: str
    arguments: Mapping[str, Any] | str
    id: str = ""


@dataclass(frozen=True)
class Tokens:
    """The usage that an answer reports."""

    input: int = 10
    output: int = 5
    cached: int = 0


@dataclass(frozen=True)
class Answer:
    """An answer; ``usage`` None leaves the usage out."""

    text: str = ""
    calls: Sequence[Call] = ()
    usage: Tokens | None = field(default_factory=Tokens)
    finish_reason: str = ""
    refusal: str = ""


@dataclass(frozen=True)
class Status:
    """An HTTP error with OpenAI's error body; with ``body`` that text instead."""

    code: int
    message: str = "the script says so"
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    body: str | None = None


@dataclass(frozen=True)
class RateLimited:
    """Status 429; ``retry_after`` is in seconds, None leaves the header out."""

    retry_after: float | None = 0.05


@dataclass(frozen=True)
class Cut:
    """The connection breaks: before the answer, or in the middle of its body."""

    in_body: bool = False


@dataclass(frozen=True)
class Garbage:
    """Status 200 with something that is no completion."""

    body: bytes = b"<html>It works!</html>"
    content_type: str = "application/json"


@dataclass(frozen=True)
class NoChoices:
    """A completion without a choice."""


@dataclass(frozen=True)
class Slow:
    """An answer that comes after some seconds, or never when the server is closed before."""

    seconds: float
    answer: Reply = "late"


@dataclass(frozen=True)
class Held:
    """An answer that comes when the test calls ``model.release()``."""

    answer: Reply = "released"


@dataclass(frozen=True)
class Stalled:
    """A streamed answer that stops in the middle: its text is sent, its end when the server is closed."""

    text: str


@dataclass(frozen=True)
class Events:
    """A stream of just these lines, which ends with the last one."""

    lines: Sequence[str]


Reply: TypeAlias = (
    "str | Call | Answer | Status | RateLimited | Cut | Garbage | NoChoices | Slow | Held | Stalled | Events"
)


def call(tool: str, /, **arguments: Any) -> Call:
    """Return a tool call."""
    return Call(tool, arguments)


@dataclass(frozen=True)
class ModelRequest:
    """One request that came in."""

    path: str
    headers: Mapping[str, str]
    body: Mapping[str, Any]

    @property
    def model(self) -> str:
        return str(self.body.get("model", ""))

    @property
    def messages(self) -> list[dict[str, Any]]:
        return list(self.body.get("messages", ()))

    @property
    def tool_names(self) -> list[str]:
        return [tool["function"]["name"] for tool in self.body.get("tools") or ()]

    @property
    def system(self) -> str:
        """The texts of the system messages, one below the other."""
        return "\n".join(self._texts("system", "developer"))

    @property
    def prompt(self) -> str:
        """The text of the newest user message."""
        return next(iter(reversed(self._texts("user"))), "")

    @property
    def tool_results(self) -> list[str]:
        """The texts that tools gave back so far, in order."""
        return self._texts("tool")

    def _texts(self, *roles: str) -> list[str]:
        return [_text(message.get("content")) for message in self.messages if message.get("role") in roles]


class ScriptedModel:
    """The running server. ``requests`` holds every completion request, in the order of arrival.

    With ``api_key`` other keys get status 401. A server that does not stream gives whole answers to all.
    """

    def __init__(
        self,
        script: Callable[[ModelRequest], Reply] | Sequence[Reply],
        *,
        api_key: str = "",
        streams: bool = True,
    ) -> None:
        self.requests: list[ModelRequest] = []
        self.api_key = api_key
        self.streams = streams
        self.names = ["scripted-model"]
        self.closed = threading.Event()
        self._respond = script if callable(script) else _in_turn(script)
        self._arrived = threading.Condition()
        self._released = threading.Event()
        self._ids = itertools.count(1)
        self._server = _Server(("127.0.0.1", 0), _handler_of(self))
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def follow(self, script: Callable[[ModelRequest], Reply] | Sequence[Reply]) -> None:
        """Forget the requests so far, and answer those to come by another script."""
        with self._arrived:
            self.requests.clear()
            self._respond = script if callable(script) else _in_turn(script)

    def wait_for_requests(self, count: int = 1, seconds: float = _WAIT_SECONDS) -> None:
        """Return when so many requests have come in. Raises ``TimeoutError``."""
        with self._arrived:
            if not self._arrived.wait_for(lambda: len(self.requests) >= count, seconds):
                raise TimeoutError(f"{len(self.requests)} of {count} requests after {seconds:g} seconds")

    def release(self) -> None:
        """Let every held answer go, also those to come."""
        self._released.set()

    def close(self) -> None:
        """Stop the server and break its connections; waiting answers never come."""
        self.closed.set()
        self._released.set()
        self._server.shutdown()
        self._server.server_close()
        self._server.break_connections()
        self._thread.join()

    def reply_to(self, request: ModelRequest) -> Reply:
        """Note the request and return what the script says, when it is time."""
        with self._arrived:
            self.requests.append(request)
            self._arrived.notify_all()
            # Inside the lock: parallel requests get the script's answers in the order of arrival.
            reply = self._respond(request)
        while isinstance(reply, Slow | Held):
            _ = self.closed.wait(reply.seconds) if isinstance(reply, Slow) else self._released.wait()
            reply = Cut() if self.closed.is_set() else reply.answer
        return reply

    def completion(self, reply: Reply, request: ModelRequest) -> dict[str, Any]:
        """Return the body of a completion."""
        number = next(self._ids)
        head = {
            "id": f"chatcmpl-{number}",
            "object": "chat.completion",
            "created": 1_700_000_000,
            "model": request.model,
        }
        if isinstance(reply, NoChoices):
            return {**head, "choices": []}
        answer = _as_answer(reply)
        message: dict[str, Any] = {"role": "assistant", "content": answer.text or None}
        if answer.refusal:
            message["refusal"] = answer.refusal
        if answer.calls:
            message["tool_calls"] = [
                {
                    "id": made.id or f"call_{number}_{position}",
                    "type": "function",
                    "function": {"name": made.name, "arguments": _wire_arguments(made)},
                }
                for position, made in enumerate(answer.calls, 1)
            ]
        finish = answer.finish_reason or ("tool_calls" if answer.calls else "stop")
        body = {**head, "choices": [{"index": 0, "message": message, "finish_reason": finish}]}
        return body if answer.usage is None else {**body, "usage": _wire_usage(answer.usage)}


def _in_turn(script: Sequence[Reply]) -> Callable[[ModelRequest], Reply]:
    replies = iter(script)
    return lambda request: next(replies, Status(400, "the script has no more answers"))


def _as_answer(reply: Reply) -> Answer:
    match reply:
        case str():
            return Answer(reply)
        case Call():
            return Answer(calls=(reply,))
        case Answer():
            return reply
        case _:
            raise TypeError(f"no answer: {reply!r}")


def _wire_arguments(made: Call) -> str:
    return made.arguments if isinstance(made.arguments, str) else json.dumps(dict(made.arguments))


def _wire_usage(tokens: Tokens) -> dict[str, Any]:
    return {
        "prompt_tokens": tokens.input,
        "completion_tokens": tokens.output,
        "total_tokens": tokens.input + tokens.output,
        "prompt_tokens_details": {"cached_tokens": tokens.cached},
    }


def _text(content: Any) -> str:
    if isinstance(content, list):
        return "".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    return "" if content is None else str(content)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def __init__(self, *address_and_handler: Any) -> None:
        self._connections: set[socket.socket] = set()
        super().__init__(*address_and_handler)

    def get_request(self) -> tuple[socket.socket, Any]:
        connection, address = super().get_request()
        self._connections.add(connection)
        return connection, address

    def shutdown_request(self, request: Any) -> None:
        self._connections.discard(request)
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing: clients may go whenever they like."""

    def break_connections(self) -> None:
        for connection in list(self._connections):
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)


def _handler_of(model: ScriptedModel) -> type[BaseHTTPRequestHandler]:
    return type("Handler", (_Handler,), {"model": model})


class _Handler(BaseHTTPRequestHandler):
    model: ScriptedModel
    protocol_version = "HTTP/1.1"
    # Head and body in one packet: in two, the second waits 40 ms for the receipt of the first.
    wbufsize = 65_536
    disable_nagle_algorithm = True
    timeout = 60

    def do_GET(self) -> None:
        if not self.path.endswith("/models"):
            self._error(Status(404, f"no such path: {self.path}"))
            return
        models = [
            {"id": name, "object": "model", "created": 0, "owned_by": "tests"} for name in self.model.names
        ]
        self._send(200, _json({"object": "list", "data": models}))

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.path.partition("?")[0] != "/v1/chat/completions":
            self._error(Status(404, f"no such path: {self.path}"))
            return
        if self.model.api_key and self.headers.get("Authorization") != f"Bearer {self.model.api_key}":
            self._error(Status(401, "the key is wrong"))
            return
        headers = {name.lower(): value for name, value in self.headers.items()}
        request = ModelRequest(self.path, headers, json.loads(body))
        with suppress(ConnectionError):
            self._answer(self.model.reply_to(request), request)

    def _answer(self, reply: Reply, request: ModelRequest) -> None:
        match reply:
            case Cut(in_body=in_body):
                self._cut(in_body=in_body, streamed=self._streams(request))
            case Stalled(text=text):
                chunks = list(_chunks(self.model.completion(text, request), with_usage=False))
                self._stream([_event(chunk) for chunk in chunks[:-1]])
                self.model.closed.wait()
            case Events(lines=lines):
                self._stream(lines)
            case Status():
                self._error(reply)
            case RateLimited(retry_after=seconds):
                headers = {} if seconds is None else {"Retry-After": f"{seconds:g}"}
                self._error(Status(429, "too many requests", headers))
            case Garbage(body=body, content_type=content_type):
                self._send(200, body, content_type)
            case _:
                completion = self.model.completion(reply, request)
                if self._streams(request):
                    with_usage = bool((request.body.get("stream_options") or {}).get("include_usage"))
                    chunks = _chunks(completion, with_usage=with_usage)
                    self._stream([*map(_event, chunks), "data: [DONE]"])
                else:
                    self._send(200, _json(completion))

    def _streams(self, request: ModelRequest) -> bool:
        return self.model.streams and bool(request.body.get("stream"))

    def _stream(self, lines: Iterable[str]) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        for line in lines:
            self.wfile.write(line.encode() + b"\n\n")
            self.wfile.flush()

    def _cut(self, *, in_body: bool, streamed: bool) -> None:
        if in_body and streamed:
            self._stream([_event({"choices": [{"index": 0, "delta": {"content": "Half an ans"}}]})])
        elif in_body:
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", "1000")
            self.end_headers()
            self.wfile.write(b'{"id": "chatcmpl-')
            self.wfile.flush()
        self.close_connection = True
        with suppress(OSError):
            self.connection.shutdown(socket.SHUT_RDWR)

    def _error(self, status: Status) -> None:
        error = {"message": status.message, "type": "scripted_error", "code": None, "param": None}
        body = _json({"error": error}) if status.body is None else status.body.encode()
        self._send(status.code, body, headers=status.headers)

    def _send(
        self,
        code: int,
        body: bytes,
        content_type: str = "application/json",
        headers: Mapping[str, str] | None = None,
    ) -> None:
        self.send_response(code)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_args: Any, **_kwargs: Any) -> None:
        """Say nothing."""


def _chunks(completion: dict[str, Any], *, with_usage: bool) -> Iterator[dict[str, Any]]:
    head = {key: completion[key] for key in ("id", "created", "model")} | {"object": "chat.completion.chunk"}

    def chunk(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
        return {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}

    for choice in completion["choices"]:
        message = choice["message"]
        yield chunk({"role": "assistant", "content": ""})
        text = message["content"] or ""
        # In pieces, as real servers send it.
        yield from (chunk({"content": text[start : start + 16]}) for start in range(0, len(text), 16))
        if "refusal" in message:
            yield chunk({"refusal": message["refusal"]})
        for index, made in enumerate(message.get("tool_calls", ())):
            arguments = made["function"]["arguments"]
            opening = {"name": made["function"]["name"], "arguments": ""}
            yield chunk({"tool_calls": [{**made, "index": index, "function": opening}]})
            yield chunk({"tool_calls": [{"index": index, "function": {"arguments": arguments}}]})
        yield chunk({}, choice["finish_reason"])
    if with_usage and "usage" in completion:
        yield {**head, "choices": [], "usage": completion["usage"]}


def _event(chunk: Mapping[str, Any]) -> str:
    return f"data: {json.dumps(chunk)}"


def _json(value: Any) -> bytes:
    return json.dumps(value).encode()
