"""The Copilot agent's program: where it is, its one process for a run, and the end of all that it started."""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import logging
import os
import secrets
import shutil
import socket
import sys
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlsplit

import psutil
from copilot import CopilotClient, RuntimeConnection
from copilot.session import ProviderConfig

from waza_engine.executors.executor import ExecutorError, MockedCommands, environment_with
from waza_engine.executors.provider import host_of, is_this_machine, named_key, nothing_answers
from waza_engine.masking import keep_secret
from waza_engine.processes.programs import run_bounded
from waza_engine.processes.trees import is_marked, kill_marked, program_begins, program_ended
from waza_engine.spec.eval_config import Provider

PREFIX = "COPILOT_PROVIDER_"
_CHOICES = {
    "TYPE": ("openai", "azure", "anthropic"),
    "WIRE_API": ("completions", "responses"),
    "TRANSPORT": ("http", "websockets"),
}
_TEXTS = ("API_KEY", "API_KEY_COMMAND", "BEARER_TOKEN", "MODEL_ID", "WIRE_MODEL")
_NUMBERS = ("MAX_PROMPT_TOKENS", "MAX_OUTPUT_TOKENS")
_SECRETS = ("API_KEY", "BEARER_TOKEN")


@dataclass(frozen=True, slots=True)
class CopilotProvider:
    """The provider of the agent's models. ``key_variable`` names the variable of its key, if it has one.

    ``names_model`` is true when the environment says which model runs, so that the suite need not.
    """

    config: ProviderConfig
    host: str
    key_variable: str = ""
    names_model: bool = False


def find_provider(written: Provider | None) -> CopilotProvider | None:
    """Return the provider of ``config.provider``, else of the environment, None for GitHub Copilot itself.

    Raises ``ExecutorError`` when it cannot be used.
    """
    if written is not None:
        return _from_suite(written)
    if not os.environ.get(f"{PREFIX}BASE_URL", "").strip():
        return None
    return _from_environment(
        {
            name.removeprefix(PREFIX): text.strip()
            for name, text in os.environ.items()
            if name.startswith(PREFIX) and text.strip()
        }
    )


def _from_suite(written: Provider) -> CopilotProvider:
    url = written.base_url.strip()
    config = ProviderConfig(type=written.type, base_url=url)
    if written.type != "anthropic":
        config["wire_api"] = written.wire_api
    host = host_of(url, "`provider.base_url`")
    variable, key = named_key(written)
    if not key:
        return CopilotProvider(config, host)
    config["api_key"] = key
    return CopilotProvider(config, host, variable)


def _from_environment(given: Mapping[str, str]) -> CopilotProvider:
    config: dict[str, object] = {"type": "openai", "base_url": given["BASE_URL"]}
    for name, choices in _CHOICES.items():
        if name in given:
            if given[name] not in choices:
                known = ", ".join(f"`{choice}`" for choice in choices)
                raise ExecutorError(f"`{PREFIX}{name}` is `{given[name]}`; set it to one of {known}")
            config[name.lower()] = given[name]
    config |= {name.lower(): given[name] for name in _TEXTS if name in given}
    for name in _NUMBERS:
        if name in given:
            if not given[name].isdecimal():
                raise ExecutorError(f"`{PREFIX}{name}` is `{given[name]}`; set it to a whole number")
            config[name.lower()] = int(given[name])
    if "AZURE_API_VERSION" in given:
        config["azure"] = {"api_version": given["AZURE_API_VERSION"]}
    headers = _headers(given.get("HEADERS", ""))
    if headers:
        config["headers"] = headers
    keep_secret(*(given[name] for name in _SECRETS if name in given), *headers.values())
    return CopilotProvider(
        config=cast("ProviderConfig", config),
        host=host_of(given["BASE_URL"], f"`{PREFIX}BASE_URL`"),
        key_variable=next((PREFIX + name for name in reversed(_SECRETS) if name in given), ""),
        names_model="MODEL_ID" in given,
    )


def _headers(text: str) -> dict[str, str]:
    headers: dict[str, str] = {}
    for line in text.replace("\\n", "\n").splitlines():
        if not line.strip():
            continue
        name, colon, value = line.partition(":")
        if not colon or not name.strip():
            raise ExecutorError(f"`{PREFIX}HEADERS` has a line that is no header; write `Name: value`")
        headers[name.strip()] = value.strip()
    return headers


PATH_VARIABLE = "COPILOT_CLI_PATH"
# All processes of the agent inherit it, even those that detach from their parents.
_MARK = "WAZA_AGENT_RUN"
_RUNTIME = "copilot-runtime"
_STOP_SECONDS = 0.8
_VERSION_SECONDS = 20.0
_CONNECT_SECONDS = 2.0
# A signal to the engine's process group must not reach the agent: killed itself, it leaves its shells
# running; at the end of its input it ends them.
_IN_OWN_SESSION = """
import os, sys
os.setsid()
try:
    os.execvp(sys.argv[1], sys.argv[1:])
except OSError as error:
    sys.exit(error.strerror)
"""

# Without a handler, Python would print the library's warnings and tracebacks in the middle of our output.
logging.getLogger("copilot").addHandler(logging.NullHandler())


@dataclass(frozen=True, slots=True)
class Program:
    """The agent's program. ``verified`` is false for one that is merely called ``copilot``."""

    path: str
    verified: bool = True


def find_program() -> Program:
    """Return the agent's program; nothing is downloaded or started. Raises ``ExecutorError``.

    The order is that of the agent's library (the variable, then its own download), with the ``PATH`` last in
    place of a download of its own: over 100 MB are not fetched unasked.
    """
    named = os.environ.get(PATH_VARIABLE, "").strip()
    if named:
        found = named if Path(named).is_file() else shutil.which(named)
        if found is None:
            raise ExecutorError(f"`{PATH_VARIABLE}` is `{named}`, where there is no program")
        if not (found.endswith(".js") or os.access(found, os.X_OK)):
            raise ExecutorError(f"`{PATH_VARIABLE}` is `{named}`, which is not executable")
        return Program(found)
    downloaded = _downloaded()
    if downloaded:
        return Program(downloaded)
    found = shutil.which("copilot")
    if found:
        return Program(found, verified=False)
    raise ExecutorError(
        "the GitHub Copilot agent is not installed; run `npm install -g @github/copilot` or "
        f"`{Path(sys.executable).as_posix()} -m copilot download-runtime` (both download over 100 MB), "
        f"or set `{PATH_VARIABLE}` to its program"
    )


class Runtime:
    """The agent's process. ``start`` and ``stop`` run in the event loop, ``kill`` in any thread."""

    def __init__(
        self, program: Program, provider: CopilotProvider | None, commands: MockedCommands | None = None
    ) -> None:
        self._program = program
        self._provider = provider
        # One process serves many trials: the working directory of a call tells whose mocked program it is.
        self._commands = None if commands is None else MockedCommands(commands.folder)
        self._token = secrets.token_hex(8)
        self.died = asyncio.Event()
        self.client = self._new_client()

    async def start(self) -> None:
        """Start the process and see whether it can be used. Raises ``ExecutorError``."""
        if self._provider is not None:
            await asyncio.to_thread(_check_listens, self._provider)
        if not self._program.verified:
            await asyncio.to_thread(_check_is_copilot, self._program.path)
        program_begins(self)
        try:
            await self.client.start()
        except Exception as error:  # noqa: BLE001 - the library raises many kinds
            await self.stop()
            raise ExecutorError(
                f"the Copilot agent did not start from `{self._program.path}`: {_one_line(error)}"
            ) from None
        self._watch()
        if self._provider is None:
            await self._check_login()

    async def stop(self) -> None:
        """Give the agent a moment to finish writing its files; ``kill`` comes next."""
        with contextlib.suppress(Exception):
            await asyncio.wait_for(self.client.stop(), _STOP_SECONDS)

    def kill(self) -> None:
        """Kill the process and all its descendants; may be called twice."""
        kill_marked(_MARK, self._token)
        program_ended(self)

    def _new_client(self) -> CopilotClient:
        provider = self._provider
        # The key is passed to the agent differently; the programs that it starts must not see it.
        key = "" if provider is None else provider.key_variable
        environment = {
            name: text for name, text in os.environ.items() if name != key and not name.startswith(PREFIX)
        }
        environment |= environment_with(self._commands, environment)
        environment[_MARK] = self._token
        path, arguments = _command(self._program.path)
        return CopilotClient(
            connection=RuntimeConnection.for_stdio(path=path, args=arguments),
            env=environment,
            log_level="error",
            use_logged_in_user=provider is None,
        )

    async def _check_login(self) -> None:
        try:
            status = await self.client.get_auth_status()
        except Exception as error:  # noqa: BLE001 - the library raises many kinds
            raise ExecutorError(f"the Copilot agent does not answer: {_one_line(error)}") from None
        if not status.isAuthenticated:
            login = await asyncio.to_thread(_login_command, self._program.path)
            how = f"run `{login}`" if login else "install its login (`npm install -g @github/copilot`)"
            raise ExecutorError(
                f"the Copilot agent is not logged in to GitHub; {how}, set "
                "`COPILOT_GITHUB_TOKEN`, or name a model provider of your own in `config.provider`"
            )

    def _watch(self) -> None:
        """Set ``died`` when the process ends: the library leaves those who wait for events waiting."""
        process = next(iter(self._children()), None)
        if process is None:
            self.died.set()
            return
        loop = asyncio.get_running_loop()

        def wait() -> None:
            with contextlib.suppress(psutil.Error):
                process.wait()
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(self.died.set)

        threading.Thread(target=wait, name="copilot runtime", daemon=True).start()

    def _children(self) -> Iterator[psutil.Process]:
        return (child for child in psutil.Process().children() if is_marked(child, _MARK, self._token))


def _command(program: str) -> tuple[str, tuple[str, ...]]:
    if os.name == "nt":
        return program, ()
    started = ("node", program) if program.endswith(".js") else (program,)
    return sys.executable, ("-I", "-S", "-c", _IN_OWN_SESSION, *started)


def _login_command(program: str) -> str | None:
    """Return the command to log in to GitHub: the library's own download has none."""
    on_path = shutil.which("copilot")
    if on_path is not None:
        with contextlib.suppress(ExecutorError):
            _check_is_copilot(on_path)
            return "copilot login"
    path = Path(program)
    if path.stem == _RUNTIME:
        return None
    shown = f'"{path.as_posix()}"' if " " in program else path.as_posix()
    return f"node {shown} login" if path.suffix == ".js" else f"{shown} login"


def _downloaded() -> str:
    """Return the program that the library has downloaded before, "" when it has not.

    The library itself offers no way to ask without downloading.
    """
    library: Any = importlib.import_module("copilot._cli_download")
    name = f"{_RUNTIME}.exe" if sys.platform == "win32" else _RUNTIME
    try:
        if not library.CLI_VERSION:
            return ""
        folder = library.get_cache_dir(library.CLI_VERSION) / "prebuilds" / library.get_runtime_platform()
        return str(folder / name) if library._runtime_bundle_is_complete(folder, name) else ""
    except (AttributeError, OSError, RuntimeError):
        return ""


def _check_listens(provider: CopilotProvider) -> None:
    """See whether a server on this machine is started: the agent would try for most of a minute.

    Raises ``ExecutorError``.
    """
    parts = urlsplit(provider.config.get("base_url", ""))
    if not is_this_machine(provider.host):
        return
    try:
        port = parts.port or (443 if parts.scheme == "https" else 80)
        socket.create_connection((parts.hostname or "", port), _CONNECT_SECONDS).close()
    except ConnectionRefusedError:
        raise ExecutorError(nothing_answers(provider.host), transient=True) from None
    except OSError:
        return


def _check_is_copilot(path: str) -> None:
    """Other programs are called ``copilot`` too. Raises ``ExecutorError``."""
    try:
        answer = run_bounded(
            [path, "--version"],
            stdin="",
            timeout_seconds=_VERSION_SECONDS,
            cwd=Path.cwd(),
            environment={},
        ).stdout
    except OSError as error:
        raise ExecutorError(f"`{path}` does not start: {error.strerror or error}") from None
    if "GitHub Copilot" not in answer:
        raise ExecutorError(
            f"`{path}` is not the GitHub Copilot agent; set `{PATH_VARIABLE}` to the right program"
        )


def _one_line(error: BaseException) -> str:
    text = str(error) or type(error).__name__
    # The program's own output is more helpful than the library's message.
    _, _, written = text.rpartition("stderr:")
    return " ".join((written.strip() or text).split())[:500].rstrip(".")
