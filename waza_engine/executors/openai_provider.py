"""Where the executor ``openai`` sends its requests, and with which key."""

from __future__ import annotations

import ipaddress
import os
from dataclasses import dataclass
from urllib.parse import urlsplit

from waza_engine.executors.base import ExecutorError
from waza_engine.spec.eval_config import Provider

KEY_VARIABLE = "OPENAI_API_KEY"
_DEFAULT_URL = "https://api.openai.com/v1"
_URL_VARIABLE = "OPENAI_BASE_URL"
# Shorter ones are placeholders (`ollama`, `not-needed`), words that an answer may contain.
_LEAST_SECRET_LENGTH = 12


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

    def hide_key(self, text: str) -> str:
        """Return the text without the key, wherever it comes from."""
        return text.replace(self.key, "***") if len(self.key) >= _LEAST_SECRET_LENGTH else text


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
    variable = provider.api_key_env.strip() if provider else KEY_VARIABLE
    key = os.environ.get(variable, "").strip() if variable else ""
    if not key:
        _check_keyless(provider, host, variable)
    if not (key.isascii() and key.isprintable()):
        raise ExecutorError(f"`{variable}` holds characters that no key has; set it again")
    return Endpoint(url, host, key, variable, own=provider is not None or bool(from_environment))


def host_of(url: str, source: str) -> str:
    """Return the host of an address, with its port if it names one.

    ``source`` says where the address stands. Raises ``ExecutorError`` for what is none.
    """
    try:
        parts = urlsplit(url)
        name = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
        host = name if parts.port is None else f"{name}:{parts.port}"
    except ValueError:
        parts, host = urlsplit(""), None
    well_formed = url.isprintable() and not any(character.isspace() for character in url)
    if not well_formed or parts.scheme not in ("http", "https") or not parts.hostname or host is None:
        raise ExecutorError(f"{source} is no web address; write one like `http://127.0.0.1:11434/v1`")
    if parts.username or parts.password:
        raise ExecutorError(f"{source} holds a password; keep the key in an environment variable")
    if parts.query or parts.fragment:
        raise ExecutorError(f"{source} goes on after its path; write it without `?` and `#`")
    return host


def _check_keyless(provider: Provider | None, host: str, variable: str) -> None:
    if provider is not None and variable:
        raise ExecutorError(
            f"the environment variable `{variable}`, which `provider.api_key_env` names, is not set"
        )
    if _is_near(host):
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


def is_this_machine(host: str) -> bool:
    """Tell whether a host, perhaps with a port, is the machine that we are on."""
    name, address = _name_and_address(host)
    return name == "localhost" or name.endswith(".localhost") if address is None else address.is_loopback


def _is_near(host: str) -> bool:
    """Tell whether a host is this machine or its network: such servers need no key as a rule."""
    name, address = _name_and_address(host)
    if address is None:
        return "." not in name or name.endswith((".localhost", ".local", ".internal", ".lan"))
    return address.is_private or address.is_loopback or address.is_link_local


def _name_and_address(host: str) -> tuple[str, ipaddress.IPv4Address | ipaddress.IPv6Address | None]:
    name = urlsplit(f"//{host}").hostname or ""
    try:
        return name, ipaddress.ip_address(name)
    except ValueError:
        return name, None
