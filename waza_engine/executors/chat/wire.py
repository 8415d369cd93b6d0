"""Requests to an OpenAI-compatible server: with deadlines, streamed, retried where it helps.

Answers are streamed, so that partial output is not lost at the time limit. If a server cannot stream, or
reports no usage then, complete answers are requested from then on: every server supports those.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import openai
from tenacity import AsyncRetrying, RetryCallState, retry_if_exception, stop_after_attempt, stop_before_delay
from tenacity.wait import wait_exponential_jitter

from waza_engine.executors.base import ExecutorError
from waza_engine.executors.chat.answer import Answer
from waza_engine.executors.chat.errors import (
    RequestError,
    broken_off,
    failed_midway,
    no_completion,
    request_error,
)
from waza_engine.executors.chat.provider import Endpoint
from waza_engine.mcp.event_loop import LoopThread
from waza_engine.peers.bounds import Intake, PeerError
from waza_engine.peers.http import bounded_hooks

if TYPE_CHECKING:
    import httpx2

RETRIES = 3
_CONNECT_SECONDS = 10.0
_CLOSE_SECONDS = 1.0
_backoff = wait_exponential_jitter(multiplier=0.5, max=8, jitter=0.25)
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
        async with asyncio.timeout(seconds), self._opened_client().models.with_streaming_response.list():
            pass

    async def _fetch(self, body: Mapping[str, Any], answer: Answer, limits: Limits) -> None:
        _intake.set(limits.intake)
        seconds = limits.end - asyncio.get_running_loop().time()
        if seconds <= 0:
            raise TooLateError(begun=True)
        retrying = AsyncRetrying(
            retry=retry_if_exception(lambda error: isinstance(error, RequestError) and error.again),
            stop=stop_after_attempt(RETRIES + 1) | stop_before_delay(seconds),
            wait=_seconds_to_wait,
            reraise=True,
        )
        silence = asyncio.timeout_at(limits.begin)
        try:
            async with asyncio.timeout_at(limits.end), silence:
                await retrying(self._try, body, answer, silence)
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
            raise RequestError(f"`{self.endpoint.host}` answered without a choice", transient=True)

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
        # In the thread of the loop, which alone uses the client. Retries are decided here, not by the
        # library: it knows no time limit.
        if self._client is None:
            self._client = openai.AsyncOpenAI(
                base_url=self.endpoint.base_url,
                api_key=self.endpoint.key or "none",
                max_retries=0,
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


def _seconds_to_wait(state: RetryCallState) -> float:
    error = None if state.outcome is None else state.outcome.exception()
    asked = error.wait_seconds if isinstance(error, RequestError) else None
    return asked if asked is not None and asked > 0 else _backoff(state)
