"""The server and the key for requests of the executor ``openai``."""

from __future__ import annotations

import os
from dataclasses import dataclass

from waza_engine.executors.base import ExecutorError
from waza_engine.executors.provider import host_of, is_near, named_key
from waza_engine.masking import keep_secret
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
