"""The server and the key of the executor ``openai``, and its errors as messages for people."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from typing import cast

import openai

from waza_engine.executors.executor import ExecutorError
from waza_engine.executors.provider import host_of, is_near, named_key, nothing_answers
from waza_engine.masking import keep_secret
from waza_engine.peers.bounds import refusal_in
from waza_engine.peers.proxies import proxy_in_the_way
from waza_engine.spec.eval_config import Provider

KEY_VARIABLE = "OPENAI_API_KEY"
_DEFAULT_URL = "https://api.openai.com/v1"
_URL_VARIABLE = "OPENAI_BASE_URL"


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A server that speaks OpenAI's chat completions. ``key`` is empty for one that needs none.

    ``own`` is true for a server that the user named: not OpenAI's own.
    """

    base_url: str
    host: str
    key: str
    key_variable: str
    own: bool


def find_endpoint(provider: Provider | None) -> Endpoint:
    """Return the server of ``config.provider``, else of ``OPENAI_BASE_URL``, else OpenAI's.

    ``OPENAI_API_KEY`` belongs to the servers that the environment names: a server that a suite names gets
    the key that ``api_key_env`` names, and no other. Raises ``ExecutorError``.
    """
    if provider is not None and provider.type != "openai":
        raise ExecutorError(
            f"the executor `openai` cannot talk to a provider of type `{provider.type}`; "
            "write `type: openai`, or use `copilot-sdk`"
        )
    from_environment = os.environ.get(_URL_VARIABLE, "").strip()
    if provider is not None:
        url, source = provider.base_url.strip(), "`provider.base_url`"
    else:
        url, source = from_environment or _DEFAULT_URL, f"`{_URL_VARIABLE}`"
    host = host_of(url, source)
    if provider is not None:
        variable, key = named_key(provider)
    else:
        variable, key = KEY_VARIABLE, os.environ.get(KEY_VARIABLE, "").strip()
        keep_secret(key)
    if not key:
        _check_keyless(provider, host)
    if not (key.isascii() and key.isprintable()):
        raise ExecutorError(f"`{variable}` holds characters that no key has; set it again")
    return Endpoint(url, host, key, variable, own=provider is not None or bool(from_environment))


def _check_keyless(provider: Provider | None, host: str) -> None:
    if is_near(host):
        return
    if provider is not None:
        raise ExecutorError(
            f"there is no key for `{host}`; name the environment variable that holds it "
            "in `provider.api_key_env`"
        )
    raise ExecutorError(
        f"there is no key for `{host}`; set `{KEY_VARIABLE}`, "
        "or name a server of your own in `provider.base_url`"
    )


_REASON_LENGTH = 300


def request_error(error: Exception, endpoint: Endpoint, model: str) -> ExecutorError:
    """Return the library's error in our words."""
    host = f"`{endpoint.host}`"
    if refusal := refusal_in(error):
        return ExecutorError(f"{host} {refusal}", transient=False)
    match error:
        case openai.APIStatusError():
            message, transient = _status_in_words(error, model, endpoint)
            reason = reason_in(error.response.text)
            return ExecutorError(f"{message}: {reason}" if reason else message, transient=transient)
        case openai.APITimeoutError():
            return ExecutorError(f"{host} did not answer in time", transient=True)
        case openai.APIConnectionError():
            return no_connection(error, endpoint)
        case _:
            # An invalid address only fails when it is used.
            return ExecutorError(f"no request can be sent to {host}; check `base_url`", transient=False)


def broken_off(endpoint: Endpoint) -> ExecutorError:
    """Return the error of a connection that ended in the middle of an answer."""
    return ExecutorError(
        f"the connection to `{endpoint.host}` broke before the answer was there", transient=True
    )


def failed_midway(endpoint: Endpoint, error: openai.APIError) -> ExecutorError:
    """Return the error of a server that reports a failure in the middle of an answer."""
    reason = reason_in(json.dumps({"error": error.body}))
    return ExecutorError(
        f"`{endpoint.host}` failed in the middle of the answer: {reason or error.message}",
        transient=True,
    )


def no_completion(endpoint: Endpoint) -> ExecutorError:
    """Return the error of a response that is not a completion."""
    return ExecutorError(
        f"`{endpoint.host}` answered something that is not a chat completion; does `{endpoint.base_url}` end "
        "with the version, as in `/v1`?",
        transient=False,
    )


def reason_in(body: str) -> str:
    """Return the server's own message, from the shapes that servers use; nothing of an HTML page."""
    try:
        found: object = json.loads(body)
    except (ValueError, RecursionError):
        found = "" if body.lstrip().startswith("<") else body
    for key in ("error", "message", "detail"):
        if isinstance(found, dict):
            found = cast("dict[str, object]", found).get(key, cast("object", found))
    reason = " ".join(found.split()) if isinstance(found, str) else ""
    return reason if len(reason) <= _REASON_LENGTH else reason[: _REASON_LENGTH - 1] + "…"


def _status_in_words(error: openai.APIStatusError, model: str, endpoint: Endpoint) -> tuple[str, bool]:
    """Return the error, and whether it may go away by itself."""
    status, host = error.status_code, f"`{endpoint.host}`"
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
            return f"{host} has had too many requests (status 429)", True
        case 408 | 409:
            return f"{host} could not answer now (status {status})", True
        case _ if status >= 500:
            return f"{host} failed (status {status})", True
        case _:
            return f"{host} refuses the request (status {status})", False


def no_connection(error: BaseException, endpoint: Endpoint) -> ExecutorError:
    """Return why there is no connection, in our words."""
    host, causes = f"`{endpoint.host}`", " ".join(_causes(error)).lower()
    if not never_connected(error):
        return broken_off(endpoint)
    if "certificate" in causes or "ssl" in causes:
        return ExecutorError(
            f"there is no safe connection to {host}: its certificate is not accepted", transient=False
        )
    if proxy := proxy_in_the_way(endpoint.base_url):
        return ExecutorError(f"there is no connection to {host}: {proxy}", transient=True)
    if "getaddrinfo" in causes or "gaierror" in causes or "name or service" in causes or "nodename" in causes:
        return ExecutorError(f"there is no host {host}; check `base_url`", transient=True)
    return ExecutorError(nothing_answers(endpoint.host), transient=True)


def never_connected(error: BaseException) -> bool:
    """Return whether a connection could not be made, and none broke."""
    return "connecterror" in " ".join(_causes(error)).lower()


def _causes(error: BaseException | None) -> list[str]:
    found: list[str] = []
    while error is not None and len(found) < 10:
        found.append(f"{type(error).__name__} {error}")
        error = error.__cause__ or error.__context__
    return found
