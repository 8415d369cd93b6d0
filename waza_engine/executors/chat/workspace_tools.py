"""The tools of ``workspace_tools``: reading, writing, listing and running within a trial's workspace.

Their names and arguments are those of the Copilot agent, so that graders read the same for both. No path
leads out of the workspace, also not through links; only started programs can go further.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from waza_engine.boundary import Boundary
from waza_engine.counting import without_middle
from waza_engine.executors.chat.agent_tools import (
    Tool,
    ToolError,
    ToolOutcome,
    parameters,
    text_argument,
)
from waza_engine.files import FileError, make_folder, read_bytes, write_bytes
from waza_engine.processes.programs import run_bounded
from waza_engine.processes.scope import ProcessScope, current_scope

_MOST_BYTES = 1_000_000
_MOST_SHOWN = 30_000
_MOST_LISTED = 1_000
_RUN_SECONDS = 120.0
_PATH = {"type": "string", "description": "A path below the working directory."}


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The surroundings of the tools.

    ``readable`` are more folders that may be read. Programs do not inherit the variables named in
    ``secrets``, get those of ``environment``, belong to ``scope`` and end at ``deadline``, a moment of
    ``time.monotonic()``.
    """

    workspace: Path
    start: Path
    scope: ProcessScope
    deadline: float
    readable: Sequence[Path] = ()
    secrets: Collection[str] = ()
    environment: Mapping[str, str] = field(default_factory=dict[str, str])


def workspace_tools(allowed: Collection[str], surroundings: Surroundings) -> list[Tool]:
    """Return the tools for the allowed actions, of ``read``, ``write``, ``list`` and ``run``."""
    files = _Files(surroundings)
    by_permission = {
        "read": [_view(files)],
        "write": [_create(files), _edit(files)],
        "list": [_glob(files)],
        "run": [_shell(surroundings)],
    }
    return [tool for permission, tools in by_permission.items() if permission in allowed for tool in tools]


class _Files:
    """The files that the model may touch."""

    def __init__(self, surroundings: Surroundings) -> None:
        self.start = surroundings.start
        self._workspace = surroundings.workspace.resolve()
        self._readable = [self._workspace, *(folder.resolve() for folder in surroundings.readable)]

    def place(self, written: str, *, to_write: bool = False) -> Path:
        """Return where a path really leads. Raises ``ToolError`` when that is outside."""
        try:
            place = (self.start / written).resolve()
        except (OSError, ValueError, RuntimeError):
            raise ToolError(f"`{written}` is no path") from None
        roots = [self._workspace] if to_write else self._readable
        if not any(place.is_relative_to(root) for root in roots):
            raise ToolError(f"`{written}` leads out of the working directory")
        return place

    def text(self, written: str, *, to_write: bool = False) -> tuple[Path, str]:
        """Return a file's path and text. Raises ``ToolError``."""
        place = self.place(written, to_write=to_write)
        try:
            within = Boundary.around(*self._readable, name="the workspace")
            content = read_bytes(place, _MOST_BYTES, within=within)
        except FileError as error:
            raise ToolError(_unreadable(error, written)) from None
        try:
            return place, content.decode("utf-8")
        except UnicodeDecodeError:
            raise ToolError(f"`{written}` is no text in UTF-8") from None

    def write(self, place: Path, written: str, text: str) -> None:
        """Write a file and the directories above it. Raises ``ToolError``."""
        try:
            if place.exists() and not place.is_file():
                raise ToolError(f"`{written}` is no ordinary file")
            within = Boundary.around(self._workspace, name="the workspace")
            make_folder(place.parent, within=within)
            write_bytes(place, text.encode("utf-8", "replace"), within=within)
        except OSError as error:
            raise ToolError(f"`{written}` cannot be written: {error.strerror}") from None


def _unreadable(error: FileError, written: str) -> str:
    match error.kind:
        case "directory":
            return f"`{written}` is a directory"
        case "missing":
            return f"there is no file `{written}`"
        case "special":
            return f"`{written}` is no ordinary file"
        case "too large":
            return f"`{written}` is larger than {_MOST_BYTES} bytes"
        case _:
            return f"`{written}` cannot be read: {error.why}"


def _view(files: _Files) -> Tool:
    def call(arguments: Mapping[str, Any]) -> ToolOutcome:
        _, text = files.text(text_argument(arguments, "path"))
        if arguments.get("view_range") is None:
            return ToolOutcome(without_middle(text, _MOST_SHOWN))
        first, last = _range(arguments["view_range"])
        lines = text.splitlines(keepends=True)
        return ToolOutcome(without_middle("".join(lines[first - 1 : last]), _MOST_SHOWN))

    return Tool(
        name="view",
        description="Read a text file.",
        parameters=parameters(
            ["path"],
            path=_PATH,
            view_range={
                "type": "array",
                "items": {"type": "integer"},
                "description": "The first and the last line to show, from 1; -1 as the last is the end.",
            },
        ),
        call=call,
    )


def _range(given: object) -> tuple[int, int | None]:
    match given:
        case [int(first), int(last)] if first >= 1 and (last == -1 or last >= first):
            return first, None if last == -1 else last
        case _:
            raise ToolError("`view_range` must be two line numbers, the first line and the last one")


def _create(files: _Files) -> Tool:
    def call(arguments: Mapping[str, Any]) -> ToolOutcome:
        written, text = text_argument(arguments, "path"), text_argument(arguments, "file_text")
        files.write(files.place(written, to_write=True), written, text)
        return ToolOutcome(f"`{written}` is written")

    return Tool(
        name="create",
        description="Write a text file; one that is there is replaced.",
        parameters=parameters(
            ["path", "file_text"],
            path=_PATH,
            file_text={"type": "string", "description": "The whole content of the file."},
        ),
        call=call,
    )


def _edit(files: _Files) -> Tool:
    def call(arguments: Mapping[str, Any]) -> ToolOutcome:
        written = text_argument(arguments, "path")
        old, new = text_argument(arguments, "old_str"), text_argument(arguments, "new_str", "")
        place, text = files.text(written, to_write=True)
        found = text.count(old) if old else 0
        if found != 1:
            raise ToolError(f"`old_str` must occur exactly once in `{written}`, it occurs {found} times")
        files.write(place, written, text.replace(old, new))
        return ToolOutcome(f"`{written}` is changed")

    return Tool(
        name="edit",
        description="Replace a piece of a text file that occurs exactly once in it.",
        parameters=parameters(
            ["path", "old_str", "new_str"],
            path=_PATH,
            old_str={"type": "string", "description": "The text to replace, with its line breaks."},
            new_str={"type": "string", "description": "The replacement."},
        ),
        call=call,
    )


def _glob(files: _Files) -> Tool:
    def call(arguments: Mapping[str, Any]) -> ToolOutcome:
        pattern, folder = text_argument(arguments, "pattern", "*"), text_argument(arguments, "path", ".")
        root = files.place(folder)
        if not root.is_dir():
            raise ToolError(f"there is no directory `{folder}`")
        if ".." in Path(pattern).parts:
            raise ToolError("`pattern` must not contain `..`")
        try:
            # Python 3.13 and newer treat `**x` as `*x`, older ones reject it.
            if any("**" in part and part != "**" for part in Path(pattern).parts):
                raise ValueError
            found = [place for place in islice(root.glob(pattern), _MOST_LISTED + 1) if place != root]
        except (ValueError, NotImplementedError, OSError):
            raise ToolError(f"`{pattern}` is no pattern; write one like `**/*.py`") from None
        # A link to the outside shows as a name, but nothing below it does.
        inside = [place for place in found if place.parent.resolve().is_relative_to(root)]
        names = sorted(_shown(place, root) for place in inside)
        more = [f"[… more than {_MOST_LISTED} …]"] if len(found) > _MOST_LISTED else []
        return ToolOutcome("\n".join([*names[:_MOST_LISTED], *more]) or "nothing matches")

    return Tool(
        name="glob",
        description="List files and directories; directories end with a slash.",
        parameters=parameters(
            pattern={"type": "string", "description": "Such as `*` (the default) or `**/*.py`."}, path=_PATH
        ),
        call=call,
    )


def _shown(place: Path, root: Path) -> str:
    name = place.relative_to(root).as_posix()
    return f"{name}/" if place.is_dir() and not place.is_symlink() else name


def _shell(surroundings: Surroundings) -> Tool:
    name, command_line = _system_shell()

    def call(arguments: Mapping[str, Any]) -> ToolOutcome:
        command = text_argument(arguments, "command")
        seconds = min(_RUN_SECONDS, surroundings.deadline - time.monotonic())
        token = current_scope.set(surroundings.scope)
        try:
            finished = run_bounded(
                command_line(command),
                stdin="",
                timeout_seconds=max(0.0, seconds),
                cwd=surroundings.start,
                environment={
                    "WAZA_WORKSPACE_DIR": str(surroundings.workspace),
                    **surroundings.environment,
                },
                without=surroundings.secrets,
            )
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else "it contains a NUL character"
            raise ToolError(f"the command cannot be started: {reason}") from None
        finally:
            current_scope.reset(token)
        output = "\n".join(part.rstrip("\n") for part in (finished.stdout, finished.stderr) if part)
        ending = (
            f"[stopped after {seconds:.0f} seconds]"
            if finished.timed_out
            else f"[exit code {finished.exit_code}]"
        )
        text = "\n".join([without_middle(output, _MOST_SHOWN), ending] if output else [ending])
        return ToolOutcome(text, success=finished.exit_code == 0)

    return Tool(
        name=name,
        description=(
            f"Run a command in the working directory with {name}. It gets no input and "
            f"at most {_RUN_SECONDS:.0f} seconds; programs left in the background end with it."
        ),
        parameters=parameters(
            ["command"],
            command={"type": "string", "description": "The command."},
            description={"type": "string", "description": "The purpose of the command, in a few words."},
        ),
        call=call,
    )


def _system_shell() -> tuple[str, Callable[[str], list[str]]]:
    """Return the name that the Copilot agent gives the tool on this system, and how to call the shell."""
    if os.name == "nt":
        return "powershell", lambda text: ["powershell", "-NoProfile", "-NonInteractive", "-Command", text]
    shell = shutil.which("bash") or "/bin/sh"
    return "bash", lambda text: [shell, "-c", text]
