"""The program that replaces every mocked command: ``python -I command_shim.py ROOT NAME ARGUMENT…``.

It is started for every call, so it imports little and nothing of the engine. It answers as the mock of its
task says, and records the call. The environment says which task that is; agents that serve several tasks from
one process do not set it, then it is the task in whose workspace the call was made.
"""

from __future__ import annotations

import importlib
import json
import os
import re
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

SESSION_VARIABLE = "WAZA_COMMAND_MOCK_SESSION"
NOT_FOUND = 127
_HIDDEN = "[REDACTED]"
_SECRET = re.compile(
    r"(?i)gh[pousr]_[a-z0-9_]{20,}|sk-(?:proj-)?[a-z0-9_-]{20,}|AKIA[0-9A-Z]{16}"
    r"|eyJ[a-z0-9_-]+\.eyJ[a-z0-9_-]+\.[a-z0-9_-]+|bearer\s+[a-z0-9._\-+/=]{16,}"
)
_SECRET_NAME = re.compile(
    r"(?:^|-)(?:secret|token|passw(?:or)?d|credentials?|key|auth|authorization|sig|signature|connection"
    r"|connection-?string|(?:api|access|private)key|client(?:secret|password)|(?:access|refresh)token)$"
)
Json = dict[str, Any]


def main(root: Path, name: str, arguments: list[str]) -> int:
    """Execute one call and return its exit code."""
    folder, session = _session(root, name)
    mock = None if session is None else _mock(session, name)
    if mock is None or session is None:
        return _real_program(root, name, arguments)
    for position, response in enumerate(mock["responses"]):
        if not _fits(response, arguments, Path(session["workspace"])):
            continue
        output = response
        if response["steps"] is not None:
            step = _next_step(folder / "steps", f"{name}-{position}", len(response["steps"]))
            if step is None:
                return _fail(folder, name, arguments, position, "every step of its `sequence` is used up")
            output = response["steps"][step]
            time.sleep(output["delay_ms"] / 1000)
        sys.stdout.buffer.write(bytes.fromhex(output["stdout"]))
        sys.stdout.flush()
        sys.stderr.write(output["stderr"])
        _note(folder, name, arguments, output["exit_code"], position)
        return output["exit_code"]
    shown = " ".join(hidden(arguments, os.environ)) or "no argument"
    why = f"no response fits {shown}; add one to its `command_mocks.responses`"
    return _fail(folder, name, arguments, -1, why)


def hidden(arguments: Sequence[str], environment: Mapping[str, str]) -> list[str]:
    """Return arguments without likely secrets, and without values of variables with such a name."""
    values = [value for name, value in environment.items() if value and _names_secret(name)]
    shown: list[str] = []
    hide_next = False
    for argument in arguments:
        key, sign, _ = argument.partition("=")
        secret = key.startswith("-") and _names_secret(key.lstrip("-"))
        if hide_next or (secret and not sign):
            shown.append(_HIDDEN)
            hide_next = not hide_next
        elif secret:
            shown.append(f"{key}={_HIDDEN}")
        else:
            text = argument
            for value in values:
                text = text.replace(value, _HIDDEN)
            shown.append(_SECRET.sub(_HIDDEN, text))
    return shown


def _names_secret(name: str) -> bool:
    return _SECRET_NAME.search(name.lower().replace("_", "-")) is not None


def _session(root: Path, name: str) -> tuple[Path, Json | None]:
    """Return the folder and the mocks of the task that calls; no mocks when none mocks the program."""
    named = os.environ.get(SESSION_VARIABLE)
    if named:
        return Path(named), _read(Path(named))
    here = Path.cwd().resolve()
    others: list[tuple[Path, Json]] = []
    for folder in (root / "sessions").iterdir():
        session = _read(folder)
        if session is None:
            continue
        if here.is_relative_to(session["workspace"]):
            return folder, session
        if _mock(session, name) is not None:
            others.append((folder, session))
    if len(others) > 1:
        sys.exit(f"{name}: several tasks mock this program, and {here} is in the workspace of none of them")
    return others[0] if others else (root, None)


def _read(folder: Path) -> Json | None:
    try:
        return json.loads((folder / "config.json").read_text("utf-8"))
    except (OSError, ValueError):
        return None


def _mock(session: Json, name: str) -> Json | None:
    def key(text: str) -> str:
        return text.lower() if os.name == "nt" else text

    return next((mock for mock in session["mocks"] if key(mock["name"]) == key(name)), None)


def _fits(response: Json, arguments: list[str], workspace: Path) -> bool:
    if response["args"] is not None:
        if response["args"] != arguments:
            return False
    elif len(response["args_regex"]) != len(arguments) or not all(
        map(_matches, response["args_regex"], arguments)
    ):
        return False
    if any(os.environ.get(name) != value for name, value in response["environment"].items()):
        return False
    wanted = response["workdir"]
    return not wanted or Path.cwd().resolve() == (workspace / wanted).resolve()


def _matches(pattern: str, argument: str) -> bool:
    try:
        engine = importlib.import_module("re2")
        return engine.fullmatch(pattern, argument) is not None
    except Exception:  # noqa: BLE001 - what RE2 refuses is in Python's dialect
        return re.fullmatch(pattern, argument) is not None


def _next_step(folder: Path, name: str, steps: int) -> int | None:
    """Take the next step for this call alone; None when all are taken."""
    folder.mkdir(exist_ok=True)
    for step in range(steps):
        try:
            (folder / f"{name}-{step}").touch(exist_ok=False)
        except FileExistsError:
            continue
        return step
    return None


def _fail(folder: Path, name: str, arguments: list[str], position: int, why: str) -> int:
    sys.stderr.write(f"{name}: this program is mocked: {why}\n")
    _note(folder, name, arguments, NOT_FOUND, position)
    return NOT_FOUND


def _note(folder: Path, name: str, arguments: list[str], exit_code: int, position: int) -> None:
    call = {
        "command": name,
        "args": hidden(arguments, os.environ),
        "exit_code": exit_code,
        "response_index": position,
    }
    path = folder / "calls" / f"{time.time_ns():020d}-{os.getpid()}.new"
    path.write_text(json.dumps(call), "utf-8")
    path.rename(path.with_suffix(".json"))


def _real_program(root: Path, name: str, arguments: list[str]) -> int:
    """Start the real program: this task does not mock it."""
    import shutil
    import subprocess

    mine = (root / "bin").resolve()
    folders = [place for place in os.get_exec_path() if place and Path(place).resolve() != mine]
    environment = {**os.environ, "PATH": os.pathsep.join(folders)}
    program = shutil.which(name, path=environment["PATH"])
    if program is None:
        sys.stderr.write(f"{name}: there is no such program, and the task does not mock it\n")
        return NOT_FOUND
    if os.name != "nt":
        os.execve(program, [name, *arguments], environment)
    return subprocess.run([program, *arguments], env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2], sys.argv[3:]))
