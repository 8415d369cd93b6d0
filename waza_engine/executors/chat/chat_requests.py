"""Requests to an OpenAI-compatible server: with deadlines, streamed, retried where it helps.

Answers are streamed, so that partial output is not lost at the time limit. If a server cannot stream, or
reports no usage then, complete answers are requested from then on: every server supports those.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import openai
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WrapValidator,
)

from waza_engine.executors.chat.errors import (
    Endpoint,
    broken_off,
    failed_midway,
    no_completion,
    request_error,
)
from waza_engine.executors.executor import ExecutorError
from waza_engine.mcp.event_loop import LoopThread
from waza_engine.peers.bounds import Intake, PeerError, bounded_hooks

if TYPE_CHECKING:
    import httpx2


def clean(text: str) -> str:
    """Return the string with ``?`` in place of each lone surrogate."""
    return text.encode("utf-8", "replace").decode("utf-8")


def clean_escapes(document: str) -> str:
    """Return JSON text without escapes of lone surrogates.

    Raises ``ValueError`` or ``RecursionError`` when it is not JSON and there are such escapes.
    """
    if "\\ud" not in document.lower():
        return clean(document)
    return clean(json.dumps(json.loads(document), ensure_ascii=False))


MOST_CALLS = 1_000
"""The most tool calls and choices of one answer: each takes fifty times the memory of its text."""


class CalledFunction(BaseModel):
    """The function of a tool call; some servers send the arguments as an object instead of a JSON string."""

    model_config = ConfigDict(extra="allow")

    name: str = ""
    arguments: str | dict[str, Any] | None = None


class RequestedCall(BaseModel):
    """A tool call of the model. Extra fields of the server must be sent back to it, so they are kept."""

    model_config = ConfigDict(extra="allow")

    id: str | None = None
    function: CalledFunction


def _or_none(value: object, validated: ValidatorFunctionWrapHandler) -> Any:
    """Return the value, None for an invalid one."""
    try:
        return validated(value)
    except ValidationError:
        return None


_OrNone = WrapValidator(_or_none)
_Count: TypeAlias = Annotated[int, Field(ge=0, lt=10**15)]


class Spent(BaseModel):
    """The tokens of one request; cached ones are among those of the prompt.

    A usage with an invalid count, such as ``-1`` or ``NaN``, counts as not reported: the answer is paid for.
    """

    prompt_tokens: _Count | None = None
    completion_tokens: _Count | None = None
    prompt_tokens_details: Annotated[_PromptDetails | None, _OrNone] = None

    def counts(self) -> dict[str, int]:
        """Return the tokens by the names of ``Usage``."""
        details = self.prompt_tokens_details
        return {
            "input_tokens": self.prompt_tokens or 0,
            "output_tokens": self.completion_tokens or 0,
            "cache_read_tokens": (details.cached_tokens or 0) if details else 0,
        }


class Answer:
    """An answer, complete or in progress; the text so far can be read from any thread.

    ``complete`` is true when all has arrived. ``usage`` is None when the server reports none.
    """

    def __init__(self) -> None:
        self.start_again()

    def start_again(self) -> None:
        """Drop the partial text of an answer that broke off."""
        self.complete = False
        self.calls: list[RequestedCall] = []
        self.finish_reason = ""
        self.usage: Spent | None = None
        self._texts: list[str] = []
        self._refusals: list[str] = []
        self._by_index: dict[int, RequestedCall] = {}

    @property
    def text(self) -> str:
        """Return the text, or that of a refusal."""
        return "".join(self._texts) or "".join(self._refusals)

    @property
    def refusal(self) -> str:
        """Return the text in the field for refusals."""
        return "".join(self._refusals)

    @property
    def has_choice(self) -> bool:
        """Return whether the server has answered at all, even with nothing."""
        return bool(self.finish_reason or self.calls or self.text)

    def take_whole(self, document: str) -> None:
        """Read a completion. Raises ``ValueError`` or ``RecursionError`` if it is not one."""
        completion = _Completion.model_validate_json(clean_escapes(document))
        self.usage = completion.usage
        for choice in completion.choices[:1]:
            self._say(choice.message)
            self.calls = choice.message.tool_calls or []
            self.finish_reason = choice.finish_reason or "stop"
        self.complete = True

    def take_piece(self, document: str) -> None:
        """Read the data of one event of a stream.

        Raises ``ValueError`` or ``RecursionError`` when it is not a chunk of a completion, and ``PeerError``
        for too many tool calls.
        """
        chunk = _Chunk.model_validate_json(clean_escapes(document))
        self.usage = chunk.usage or self.usage
        for choice in chunk.choices[:1]:
            self.finish_reason = choice.finish_reason or self.finish_reason
            if choice.delta is not None:
                self._say(choice.delta)
                for piece in choice.delta.tool_calls or ():
                    self._add_to_call(piece)

    def _say(self, message: _Spoken) -> None:
        if text := _text(message.content):
            self._texts.append(text)
        if message.refusal:
            self._refusals.append(message.refusal)

    def _add_to_call(self, piece: _CallPiece) -> None:
        """Add to the call with the same index.

        Some servers give the same index, or none, to all calls; a name begins a new one unless the id says
        that it is the same.
        """
        known = self._by_index.get(piece.index)
        if known is None or (piece.function.name and not _is_same(known, piece)):
            given = piece.model_dump(exclude={"index"}, exclude_none=True)
            if len(self.calls) == MOST_CALLS:
                raise PeerError(f"asked for more than {MOST_CALLS:,} tool calls in one answer")
            self._by_index[piece.index] = RequestedCall.model_validate(given)
            self.calls.append(self._by_index[piece.index])
            return
        function, more = known.function, piece.function.arguments
        if isinstance(function.arguments, str) and isinstance(more, str):
            function.arguments += more
        else:
            function.arguments = more or function.arguments


class _PromptDetails(BaseModel):
    cached_tokens: _Count | None = None


class _Spoken(BaseModel):
    content: str | list[dict[str, Any]] | None = None
    refusal: str | None = None


class _Message(_Spoken):
    tool_calls: Annotated[list[RequestedCall], Field(max_length=MOST_CALLS)] | None = None


class _Choice(BaseModel):
    message: _Message
    finish_reason: str | None = None


class _Completion(BaseModel):
    choices: Annotated[list[_Choice], Field(max_length=MOST_CALLS)]
    usage: Annotated[Spent | None, _OrNone] = None


class _CallPiece(BaseModel):
    model_config = ConfigDict(extra="allow")

    index: int = 0
    id: str | None = None
    function: CalledFunction = CalledFunction()


class _Delta(_Spoken):
    tool_calls: Annotated[list[_CallPiece], Field(max_length=MOST_CALLS)] | None = None


class _ChoicePiece(BaseModel):
    delta: _Delta | None = None
    finish_reason: str | None = None


class _Chunk(BaseModel):
    choices: Annotated[list[_ChoicePiece], Field(max_length=MOST_CALLS)] = []
    usage: Annotated[Spent | None, _OrNone] = None


def _is_same(known: RequestedCall, piece: _CallPiece) -> bool:
    return piece.id == known.id if piece.id else known.id is not None


def _text(content: str | Sequence[dict[str, Any]] | None) -> str:
    if isinstance(content, str):
        return content
    return "".join(str(part.get("text", "")) for part in content or () if part.get("type") == "text")


RETRIES = 3
_CONNECT_SECONDS = 10.0
_CLOSE_SECONDS = 1.0
_intake: ContextVar[Intake] = ContextVar("intake")


class TooLateError(Exception):
    """The answer was late; ``begun`` says whether it had to be complete, or only to begin."""

    def __init__(self, *, begun: bool) -> None:
        super().__init__()
        self.begun = begun


@dataclass(frozen=True, slots=True)
class Limits:
    """Deadlines by which an answer must be complete, and must have begun if set: ``time.monotonic()``.

    ``intake`` counts the bytes from the server; answers of one turn share it.
    """

    end: float
    begin: float | None = None
    intake: Intake = field(default_factory=Intake)


class Connection:
    """The connection to one server. ``ask`` may be called from several threads at the same time."""

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint = endpoint
        self.loop = LoopThread("openai")
        self._client: openai.AsyncOpenAI | None = None
        self._streams = True

    def ask(
        self,
        body: Mapping[str, Any],
        answer: Answer,
        limits: Limits,
        pending: Callable[[Future[None]], object],
    ) -> None:
        """Send a request body and fill in the answer, which keeps partial output in any case.

        ``pending`` gets the future to cancel while the request is active.

        Raises:
            ExecutorError: when there is no complete answer.
            TooLateError: when it was late.
            CancelledError: when it was cancelled.

        """
        request = self.loop.submit(self._fetch(body, answer, limits))
        pending(request)
        request.result()

    def probe(self, seconds: float) -> None:
        """Request the list of models, and read only the status.

        Raises:
            openai.OpenAIError: as the library does.
            TimeoutError: when there is no status in this time.

        """
        self.loop.submit(self._probe(seconds)).result()

    def close(self) -> None:
        """Break off every request; can be called twice."""
        if self._client is not None:
            with contextlib.suppress(Exception):
                self.loop.submit(self._client.close()).result(_CLOSE_SECONDS)
        self.loop.close()

    async def _probe(self, seconds: float) -> None:
        _intake.set(Intake())
        client = self._opened_client().with_options(max_retries=0)
        async with asyncio.timeout(seconds), client.models.with_streaming_response.list():
            pass

    async def _fetch(self, body: Mapping[str, Any], answer: Answer, limits: Limits) -> None:
        _intake.set(limits.intake)
        silence = asyncio.timeout_at(limits.begin)
        try:
            async with asyncio.timeout_at(limits.end), silence:
                await self._try(body, answer, silence)
        except TimeoutError:
            raise TooLateError(begun=not silence.expired()) from None

    async def _try(self, body: Mapping[str, Any], answer: Answer, silence: asyncio.Timeout) -> None:
        answer.start_again()
        streamed = self._streams
        more = {"stream": True, "stream_options": {"include_usage": True}} if streamed else {}
        try:
            # The library parses any body that is requested as a stream.
            async with await self._opened_client().post(
                "/chat/completions",
                cast_to=object,
                body={**body, **more},
                stream=True,
                stream_cls=openai.AsyncStream[object],
            ) as stream:
                await self._receive(stream, answer, silence)
        except ExecutorError:
            raise
        except Exception as error:  # noqa: BLE001 - an address may be none in many ways
            if streamed and _refuses_to_stream(error):
                self._streams = False
                await self._try(body, answer, silence)
                return
            raise request_error(error, self.endpoint, str(body["model"])) from None
        if streamed and answer.usage is None:
            self._streams = False
        if not answer.has_choice:
            raise ExecutorError(f"`{self.endpoint.host}` answered without a choice", transient=True)

    async def _receive(
        self, stream: openai.AsyncStream[object], answer: Answer, silence: asyncio.Timeout
    ) -> None:
        """Read an answer in the form in which it comes: a server may ignore the request to stream."""
        try:
            if "text/event-stream" not in stream.response.headers.get("content-type", ""):
                answer.take_whole((await stream.response.aread()).decode("utf-8"))
                return
            async for piece in stream:
                silence.reschedule(None)
                answer.take_piece(json.dumps(piece))
        except PeerError:
            raise
        except (ValueError, RecursionError):
            raise no_completion(self.endpoint) from None
        except openai.APIError as error:
            if error.body is None:
                raise broken_off(self.endpoint) from None
            raise failed_midway(self.endpoint, error) from None
        except Exception:  # noqa: BLE001 - the library lets errors of the layers below through
            raise broken_off(self.endpoint) from None
        # A connection that breaks may look like the end of the stream.
        if answer.has_choice and not answer.finish_reason:
            raise broken_off(self.endpoint)
        answer.complete = True

    def _opened_client(self) -> openai.AsyncOpenAI:
        # In the thread of the loop, which alone uses the client.
        if self._client is None:
            self._client = openai.AsyncOpenAI(
                base_url=self.endpoint.base_url,
                api_key=self.endpoint.key or "none",
                max_retries=RETRIES,
                timeout=openai.Timeout(None, connect=_CONNECT_SECONDS),
                http_client=openai.DefaultAsyncHttpxClient(
                    event_hooks=bounded_hooks(_intake.get, self._without_foreign_credentials)
                ),
            )
        return self._client

    async def _without_foreign_credentials(self, request: httpx2.Request) -> None:
        """Do not send the environment's OpenAI organization and project to other servers."""
        unwanted = ["OpenAI-Organization", "OpenAI-Project"] if self.endpoint.own else []
        unwanted += [] if self.endpoint.key else ["Authorization"]
        for name in unwanted:
            request.headers.pop(name, None)


def _refuses_to_stream(error: Exception) -> bool:
    return (
        isinstance(error, openai.APIStatusError)
        and error.status_code in (400, 422)
        and re.search(r"\bstream", error.response.text) is not None
    )
