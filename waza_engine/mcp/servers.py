"""The MCP servers of ``config.mcp_servers``, checked and ready to be handed to an agent.

Secrets come from the environment: ``${NAME}`` in a string is replaced by the variable, and ``env`` may be a
list of names. Unusable servers are left out with a warning.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from waza_engine.files import from_home
from waza_engine.masking import keep_settings_secret

Server = dict[str, Any]
TYPES = ("stdio", "http", "sse")
_KEYS = {
    "stdio": ("type", "command", "args", "env", "cwd", "tools", "timeout"),
    "http": ("type", "url", "headers", "tools", "timeout"),
}
_OTHER_NAMES = {"working_directory": "cwd", "workingDirectory": "cwd", "cmd": "command"}
_FOREIGN_CHARACTERS = re.compile(r"[^A-Za-z0-9_-]")
_LONGEST_NAME = 64
_VARIABLE = re.compile(r"\$\{(?:env:)?([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")


def tool_display_name(server: str, tool: str) -> str:
    """Return the name under which a model sees a tool, as other agents form it: ``server-tool``."""
    return _FOREIGN_CHARACTERS.sub("_", f"{server}-{tool}")[:_LONGEST_NAME]


class _UnusableError(Exception):
    """The server cannot be used; the message completes "`mcp_servers.name` …"."""


def agent_servers(
    written: Mapping[str, object], suite_directory: Path, environment: Mapping[str, str] | None = None
) -> tuple[dict[str, Server], list[str]]:
    """Return the servers by name in one form, and a warning for each that cannot be used.

    A ``stdio`` server has ``type``, ``command``, ``args``, ``env``, ``tools`` and perhaps ``cwd``; an
    ``http`` or ``sse`` server ``type``, ``url``, ``headers`` and ``tools``. ``tools`` names those that the
    agent may see, ``["*"]`` all. ``timeout``, when given, is in milliseconds. A relative command or ``cwd``
    that lies next to the eval file is made absolute: agents start servers in the workspace.
    """
    variables = os.environ if environment is None else environment
    servers: dict[str, Server] = {}
    warnings: list[str] = []
    for name, block in written.items():
        where = f"`mcp_servers.{name}`"
        try:
            server, unknown = _server(block, suite_directory, variables)
        except _UnusableError as error:
            warnings.append(f"{where} {error}; the agent gets on without it")
            continue
        servers[name] = server
        if unknown:
            keys = ", ".join(f"`{key}`" for key in unknown)
            warnings.append(f"{where}: {keys} has no effect; known are {', '.join(keys_of_server(server))}")
    return servers, warnings


def _server(
    written: object, suite_directory: Path, variables: Mapping[str, str]
) -> tuple[Server, tuple[str, ...]]:
    if not isinstance(written, Mapping):
        raise _UnusableError("must be a block with `command`, or with `type` and `url`")
    block = with_usual_keys(cast("Mapping[str, object]", written))
    if (fault := fault_of_server(block)) is not None:
        raise _UnusableError(fault[1])
    server: Server = {"type": _type_of(block)}
    if server["type"] == "stdio":
        server["command"] = _command(_required(block, "command", variables), suite_directory)
        server["args"] = [
            _expanded(_text(item, "args"), variables) for item in _list(block.get("args"), "args")
        ]
        server["env"] = _environment(block.get("env"), variables)
        keep_settings_secret(server["env"])
        if block.get("cwd"):
            cwd = from_home(_required(block, "cwd", variables))
            server["cwd"] = str(suite_directory / cwd)
    else:
        server["url"] = _required(block, "url", variables)
        server["headers"] = _texts(block.get("headers"), "headers", variables)
        keep_settings_secret(server["headers"])
    tools = block.get("tools")
    server["tools"] = ["*"] if tools is None else [_text(item, "tools") for item in _list(tools, "tools")]
    timeout = block.get("timeout")
    if timeout is not None:
        if not isinstance(timeout, int | float) or isinstance(timeout, bool) or timeout <= 0:
            raise _UnusableError("has a `timeout` that is no positive number of milliseconds")
        server["timeout"] = int(timeout)
    return server, tuple(key for key in block if key not in keys_of_server(server))


def with_usual_keys(written: Mapping[str, object]) -> Mapping[str, object]:
    """Return the block of a server without other names of its keys."""
    return {_OTHER_NAMES.get(key, key): value for key, value in written.items()}


def fault_of_server(block: Mapping[str, object]) -> tuple[str, str] | None:
    """Return a key and a clause about why no environment can use a server, None if one may.

    It needs neither the disk nor the environment, so the editor calls it, too.
    """
    kind = _type_of(block)
    if kind not in TYPES:
        known = ", ".join(f"`{known}`" for known in TYPES)
        return "type", f"has the type `{kind}`; write one of {known}"
    key = "command" if kind == "stdio" else "url"
    value = block.get(key)
    return None if isinstance(value, str) and value.strip() else (key, f"needs `{key}`")


def keys_of_server(block: Mapping[str, object]) -> tuple[str, ...]:
    """Return the keys that a server may have."""
    return _KEYS["stdio" if _type_of(block) == "stdio" else "http"]


def _type_of(block: Mapping[str, object]) -> object:
    return block.get("type") or ("http" if block.get("url") and not block.get("command") else "stdio")


def _required(block: Mapping[str, object], key: str, variables: Mapping[str, str]) -> str:
    value = block.get(key)
    if not isinstance(value, str) or not value.strip():
        raise _UnusableError(f"needs `{key}`")
    return _expanded(value, variables)


def _command(written: str, suite_directory: Path) -> str:
    if not re.search(r"[/\\]", written):
        return written
    beside = suite_directory / from_home(written)
    return str(beside) if beside.exists() else written


def _environment(value: object, variables: Mapping[str, str]) -> dict[str, str]:
    if isinstance(value, list | tuple):
        names = [_text(item, "env") for item in cast("Sequence[object]", value)]
        return {name: _variable(name, variables) for name in names}
    return _texts(value, "env", variables)


def _texts(value: object, key: str, variables: Mapping[str, str]) -> dict[str, str]:
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise _UnusableError(f"has `{key}` that is no block of names and texts")
    block = cast("Mapping[str, object]", value)
    return {name: _expanded(_text(item, key), variables) for name, item in block.items()}


def _list(value: object, key: str) -> Sequence[object]:
    if value is None:
        return ()
    if not isinstance(value, list | tuple):
        raise _UnusableError(f"has `{key}` that is no list")
    return cast("Sequence[object]", value)


def _text(value: object, key: str) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if not isinstance(value, str | int | float):
        raise _UnusableError(f"has a value in `{key}` that is no text")
    return str(value)


def _expanded(text: str, variables: Mapping[str, str]) -> str:
    return _VARIABLE.sub(lambda found: _variable(found[1], variables, found[2]), text)


def _variable(name: str, variables: Mapping[str, str], default: str | None = None) -> str:
    value = variables.get(name)
    if not value and default is not None:
        return default
    if value is None:
        raise _UnusableError(f"needs the environment variable `{name}`, which is not set")
    return value
