"""Shared by executors with a model of one's own: the address of its server, and its key."""

from __future__ import annotations

import ipaddress
import os
from urllib.parse import urlsplit

from waza_engine.executors.executor import ExecutorError
from waza_engine.masking import keep_secret
from waza_engine.spec.eval_config import Provider


def host_of(url: str, source: str) -> str:
    """Return the host of an address, with its port if it names one.

    ``source`` says where the address is written. Raises ``ExecutorError`` for an invalid one.
    """
    try:
        parts = urlsplit(url)
        name = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
        host = name if parts.port is None else f"{name}:{parts.port}"
    except ValueError:
        parts, host = urlsplit(""), None
    well_formed = url.isprintable() and not any(character.isspace() for character in url)
    if not well_formed or parts.scheme not in ("http", "https") or not parts.hostname or host is None:
        raise ExecutorError(f"{source} is not a web address; write one like `http://127.0.0.1:11434/v1`")
    if parts.username or parts.password:
        raise ExecutorError(f"{source} holds a password; keep the key in an environment variable")
    if parts.query or parts.fragment:
        raise ExecutorError(f"{source} goes on after its path; write it without `?` and `#`")
    return host


def named_key(provider: Provider) -> tuple[str, str]:
    """Return the variable of ``api_key_env`` and the key in it, both empty when none is named.

    Raises ``ExecutorError`` when it is not set.
    """
    variable = provider.api_key_env.strip()
    if not variable:
        return "", ""
    key = os.environ.get(variable, "").strip()
    if not key:
        raise ExecutorError(
            f"the environment variable `{variable}`, which `provider.api_key_env` names, is not set",
            remediation="set it",
        )
    keep_secret(key)
    return variable, key


def nothing_answers(host: str) -> str:
    """Return the message for a server that is not started."""
    return f"nothing answers at `{host}`; start the server, or check `base_url`"


def is_this_machine(host: str) -> bool:
    """Return whether a host, perhaps with a port, is this machine."""
    name, address = _name_and_address(host)
    return name == "localhost" or name.endswith(".localhost") if address is None else address.is_loopback


def is_near(host: str) -> bool:
    """Return whether a host is this machine or in its network: such servers usually need no key."""
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
