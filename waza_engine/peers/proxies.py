"""Proxies and certificates of the environment: check whether a client can use them, and bypass proxies.

Libraries fail on an invalid value with their own messages, wherever a client is first made.
"""

from __future__ import annotations

import importlib.util
import os
import ssl
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

_SCHEMES = ("http", "https", "all")
_HERE = ("localhost", "127.0.0.1", "::1")


def network_fault() -> str:
    """Return a clause about the first variable that no client can use, "" when there is none."""
    return next((fault for fault in (*_proxy_faults(), *_certificate_faults()) if fault), "")


def proxy_in_the_way(url: str) -> str:
    """Return a clause about the proxy that requests to an address take, "" when they take none."""
    parts = urlsplit(url)
    if urllib.request.proxy_bypass(parts.hostname or ""):
        return ""
    used = {scheme: variable for scheme, variable, _ in _proxies()}
    variable = used.get(parts.scheme) or used.get("all")
    if variable is None:
        return ""
    return f"the proxy that `{variable}` names does not answer, or does not reach it; correct or unset it"


def ask_this_machine_directly() -> None:
    """Bypass proxies for servers on this machine, for this process and all that it starts."""
    if not any(True for _ in _proxies()):
        return
    # If both spellings are set, readers differ in which one they use.
    for name in [name for name in ("no_proxy", "NO_PROXY") if name in os.environ] or ["NO_PROXY"]:
        listed = [each.strip() for each in os.environ.get(name, "").split(",") if each.strip()]
        if "*" not in listed:
            os.environ[name] = ",".join(dict.fromkeys((*listed, *_HERE)))


def _proxies() -> Iterator[tuple[str, str, str]]:
    """Yield for which scheme a variable names a proxy, the variable, and its value."""
    for scheme in _SCHEMES:
        name = f"{scheme}_proxy"
        variable = name if os.environ.get(name) else name.upper()
        if value := os.environ.get(variable, "").strip():
            yield scheme, variable, value


def _proxy_faults() -> Iterator[str]:
    for _, variable, value in _proxies():
        # Without a scheme it is `http`, as for curl.
        written = value if "://" in value else f"http://{value}"
        try:
            parts = urlsplit(written)
            is_address = bool(parts.hostname) and (parts.port is None or parts.port > 0)
        except ValueError:
            yield f"`{variable}` is no address of a proxy; write it as `http://host:port`"
            continue
        if parts.scheme not in {"http", "https", "socks5", "socks5h"} or not is_address:
            yield f"`{variable}` is no address of a proxy; write it as `http://host:port`"
        elif parts.scheme.startswith("socks") and importlib.util.find_spec("socksio") is None:
            yield f"`{variable}` names a SOCKS proxy, which needs the package `socksio`; install it"


def _certificate_faults() -> Iterator[str]:
    file, folder = os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR")
    if folder and not Path(folder).is_dir():
        yield "`SSL_CERT_DIR` names no folder; correct or unset it"
    try:
        if file:
            ssl.create_default_context(cafile=file)
    except OSError:
        yield "`SSL_CERT_FILE` names no file with certificates that can be read; correct or unset it"
