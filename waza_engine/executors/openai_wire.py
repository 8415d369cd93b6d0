"""Requests to an OpenAI-compatible server: in time, tried again where it helps, errors in people's words.

The requests are not streamed: every server answers those, with usage and whole tool calls.
"""

from __future__ import annotations

import asyncio
import contextlib
import email.utils
import json
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import CancelledError, Future
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, cast

import openai
from pydantic import BaseModel, ConfigDict

from waza_engine.executors.base import ExecutorError
from waza_engine.executors.clean_text import clean_escapes
from waza_engine.executors.event_loop import LoopThread
from waza_engine.executors.openai_provider import Endpoint

if TYPE_CHECKING:
    import httpx2
    from openai.types.chat import ChatCompletionMessageParam

RETRIES = 3
_CONNECT_SECONDS = 10.0
_CLOSE_SECONDS = 1.0
_REASON_LENGTH = 300
_deadline: ContextVar[float] = ContextVar("deadline", default=float("inf"))


class CalledFunction(BaseModel):
    """The function of a tool call; some servers send the arguments as an object instead of JSON text."""

    model_config = ConfigDict(extra="allow")

    name: str = ""
    arguments: str | dict[str, Any] | None = None


class RequestedCall(BaseModel):
    """A tool call as the model asks for it. What a server adds must come back to it, so it is kept."""

    model_config = ConfigDict(extra="allow")

    id: str | None = None
    function: CalledFunction


class Message(BaseModel):
    """The message of an answer."""

    content: str | list[dict[str, Any]] | None = None
    refusal: str | None = None
    tool_calls: list[RequestedCall] | None = None

    @property
    def text(self) -> str:
        """The text, or the words of a refusal."""
        if isinstance(self.content, list):
            return "".join(str(part.get("text", "")) for part in self.content if part.get("type") == "text")
        return self.content or self.refusal or ""


class Choice(BaseModel):
    """One of the answers; more than one is never asked for."""

    message: Message
    finish_reason: str | None = None


class PromptDetails(BaseModel):
    """What became of the prompt's tokens."""

    cached_tokens: int | None = None


class Spent(BaseModel):
    """The tokens of one request; cached ones are among those of the prompt."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    prompt_tokens_details: PromptDetails | None = None


class Completion(BaseModel):
    """An answer of the server, as far as it is of use."""

    choices: list[Choice]
    usage: Spent | None = None


class Connection:
    """The connection to one server. ``ask`` may be called from several threads at the same time."""

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint = endpoint
        self.loop = LoopThread("openai")
        self._client: openai.AsyncOpenAI | None = None

    def ask(
        self,
        body: Mapping[str, Any],
        *,
        deadline: float,
        too_late: str,
        pending: Callable[[Future[str]], object],
    ) -> Completion:
        """Send a request body and return the answer.

        ``deadline`` is a moment of ``time.monotonic()``, ``too_late`` the error when it passes. ``pending``
        gets what can be cancelled while the request is under way.

        Raises:
            ExecutorError: when there is no answer.
            CancelledError: when it was cancelled.

        """
        request = self.loop.submit(self._send(body, deadline, too_late))
        pending(request)
        try:
            text = request.result()
        except openai.OpenAIError as error:
            raise self._in_words(error, str(body.get("model"))) from None
        except (ExecutorError, CancelledError):
            raise
        except Exception:  # noqa: BLE001 - an address that is none shows when it is used
            raise ExecutorError(
                f"no request can be sent to `{self.endpoint.host}`; check `base_url`"
            ) from None
        return self._parsed(text)

    def close(self) -> None:
        """Break off every request; can be called twice."""
        if self._client is not None:
            with contextlib.suppress(Exception):
                self.loop.submit(self._client.close()).result(_CLOSE_SECONDS)
        self.loop.close()

    async def _send(self, body: Mapping[str, Any], deadline: float, too_late: str) -> str:
        _deadline.set(deadline)
        seconds = deadline - time.monotonic()
        if seconds <= 0:
            raise ExecutorError(too_late, transient=True)
        try:
            async with asyncio.timeout(seconds):
                raw = await self._opened_client().chat.completions.with_raw_response.create(
                    model=str(body["model"]),
                    messages=cast("Sequence[ChatCompletionMessageParam]", body["messages"]),
                    extra_body={key: body[key] for key in body if key not in ("model", "messages")},
                    timeout=openai.Timeout(seconds, connect=_CONNECT_SECONDS),
                )
                return raw.text
        except TimeoutError:
            raise ExecutorError(too_late, transient=True) from None

    def _opened_client(self) -> openai.AsyncOpenAI:
        # In the thread of the loop, which alone uses the client.
        if self._client is None:
            self._client = openai.AsyncOpenAI(
                base_url=self.endpoint.base_url,
                api_key=self.endpoint.key or "none",
                max_retries=RETRIES,
                http_client=openai.DefaultAsyncHttpxClient(
                    event_hooks={"request": [self._without_foreign_credentials], "response": [_not_in_vain]}
                ),
            )
        return self._client

    async def _without_foreign_credentials(self, request: httpx2.Request) -> None:
        """Keep what the environment says about OpenAI's account from other servers."""
        unwanted = ["OpenAI-Organization", "OpenAI-Project"] if self.endpoint.own else []
        unwanted += [] if self.endpoint.key else ["Authorization"]
        for name in unwanted:
            request.headers.pop(name, None)

    def _parsed(self, text: str) -> Completion:
        try:
            completion = Completion.model_validate_json(clean_escapes(text))
        except (ValueError, RecursionError):
            raise ExecutorError(
                f"`{self.endpoint.host}` answered something that is no chat completion; does "
                f"`{self.endpoint.base_url}` end with the version, as in `/v1`?"
            ) from None
        if not completion.choices:
            raise ExecutorError(f"`{self.endpoint.host}` answered without a choice", transient=True)
        return completion

    def _in_words(self, error: openai.OpenAIError, model: str) -> ExecutorError:
        host = f"`{self.endpoint.host}`"
        if isinstance(error, openai.APIStatusError):
            reason = self.endpoint.hide_key(_reason(error.response.text))
            message, transient = _status_in_words(error, host, model, self.endpoint)
            return ExecutorError(f"{message}: {reason}" if reason else message, transient=transient)
        if isinstance(error, openai.APITimeoutError):
            return ExecutorError(f"{host} did not answer in time", transient=True)
        if isinstance(error, openai.APIConnectionError):
            return ExecutorError(_connection_in_words(error, host), transient=True)
        return ExecutorError(f"{host} answered something that cannot be understood", transient=True)


async def _not_in_vain(response: httpx2.Response) -> None:
    """Give up at once when the server asks to wait until after the deadline."""
    wait = _seconds_to_wait(response.headers)
    if wait is not None and time.monotonic() + wait >= _deadline.get():
        # The library asks this header whether to try again.
        response.headers["x-should-retry"] = "false"


def _seconds_to_wait(headers: Mapping[str, str]) -> float | None:
    for name, divisor in (("retry-after-ms", 1000), ("retry-after", 1)):
        try:
            return float(headers[name]) / divisor
        except (KeyError, ValueError):
            continue
    date = email.utils.parsedate_tz(headers.get("retry-after", ""))
    return None if date is None else email.utils.mktime_tz(date) - time.time()


def _status_in_words(
    error: openai.APIStatusError, host: str, model: str, endpoint: Endpoint
) -> tuple[str, bool]:
    """Return what is wrong, and whether it may go away by itself."""
    status = error.status_code
    match status:
        case 401 if endpoint.key:
            return f"{host} does not accept the key in `{endpoint.key_variable}`", False
        case 401:
            return f"{host} wants a key; name its environment variable in `provider.api_key_env`", False
        case 403:
            return f"{host} does not allow this request", False
        case 404:
            return f"{host} has no model `{model}`, or no chat completions at `{endpoint.base_url}`", False
        case 429 if error.code == "insufficient_quota":
            return f"the account at {host} has no quota left", False
        case 429:
            wait = _seconds_to_wait(error.response.headers)
            hint = "" if wait is None else f" and asks to wait {wait:g} seconds"
            return f"{host} has had too many requests (status 429){hint}", True
        case 408 | 409:
            return f"{host} could not answer now (status {status})", True
        case _ if status >= 500:
            return f"{host} failed (status {status})", True
        case _:
            return f"{host} refuses the request (status {status})", False


def _connection_in_words(error: openai.APIConnectionError, host: str) -> str:
    causes = " ".join(_causes(error)).lower()
    if "connecterror" not in causes:
        return f"the connection to {host} broke before the answer was there"
    if "certificate" in causes or "ssl" in causes:
        return f"there is no safe connection to {host}: its certificate is not accepted"
    if "getaddrinfo" in causes or "gaierror" in causes or "name or service" in causes or "nodename" in causes:
        return f"there is no host {host}; check `base_url`"
    return f"nothing answers at {host}; start the server, or check `base_url`"


def _causes(error: BaseException | None) -> list[str]:
    found: list[str] = []
    while error is not None and len(found) < 10:
        found.append(f"{type(error).__name__} {error}")
        error = error.__cause__ or error.__context__
    return found


def _reason(body: str) -> str:
    """Return the server's own words, from the shapes that servers use; nothing of a page of HTML."""
    try:
        found: object = json.loads(body)
    except ValueError:
        found = "" if body.lstrip().startswith("<") else body
    for key in ("error", "message", "detail"):
        if isinstance(found, dict):
            found = cast("dict[str, object]", found).get(key, cast("object", found))
    reason = " ".join(found.split()) if isinstance(found, str) else ""
    return reason if len(reason) <= _REASON_LENGTH else reason[: _REASON_LENGTH - 1] + "…"
