"""The arguments, the prompt and the files with which a command-line agent is started for a turn."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from waza_engine.boundary import Boundary
from waza_engine.executors.chat.agent_tools import skill_folders
from waza_engine.executors.executor import ExecutionRequest, ExecutorError
from waza_engine.files import copy_file, is_named, read_text, special_names, write_atomically
from waza_engine.spec.adapter import AdapterFile, HistoryTemplate
from waza_engine.spec.reading.yaml_reader import MAX_BYTES

_TURN = "User: {{input}}\nAssistant: {{output}}"
_LEFT_OUT = shutil.ignore_patterns(".git", ".waza", "node_modules", ".venv", "__pycache__")


@dataclass(frozen=True, slots=True)
class PastTurn:
    """A prompt and its answer."""

    input: str
    output: str


def resolved_command(
    command: Sequence[str], directories: Sequence[Path], search_path: str | None
) -> list[str]:
    """Return the command with absolute paths for its program and for arguments that name the suite's files.

    A program without a slash is looked up on the search path; other relative paths, and arguments that look
    like one, in the directories. Raises ``ExecutorError`` when there is no such program.
    """
    written, *arguments = command
    program = _program(written, directories, search_path)
    return [program, *(str(_file_in(directories, argument) or argument) for argument in arguments)]


def arguments_of(
    adapter: AdapterFile,
    command: Sequence[str],
    request: ExecutionRequest,
    prompt: str,
    *,
    workdir: Path,
    session: str | None,
    mcp_config: Path | None,
) -> list[str]:
    """Return everything from the program's name to the prompt."""
    extensions, output = adapter.extensions, adapter.output
    arguments = [*command]
    if output is not None and output.flag:
        arguments += [output.flag, output.value]
    arguments += adapter.auto_approve
    if adapter.cwd_flag:
        arguments += [adapter.cwd_flag, str(workdir)]
    for flag, value in (
        (extensions.model_flag, request.model),
        (extensions.reasoning_effort_flag, request.reasoning_effort),
        (extensions.instructions_flag, request.instructions),
    ):
        if flag and value:
            arguments += [flag, value]
    if mcp_config is not None:
        flag = extensions.mcp_config_flag
        whole = flag.replace("{file}", str(mcp_config))
        arguments += [whole] if "{file}" in flag else [flag, str(mcp_config)]
    if adapter.resume is not None and adapter.session_mode == "stream" and session:
        arguments += [adapter.resume.flag, session] if adapter.resume.flag else [session]
    if adapter.prompt.stdin:
        return arguments
    return [*arguments, adapter.prompt.flag, prompt] if adapter.prompt.flag else [*arguments, prompt]


def prompt_of(
    adapter: AdapterFile, request: ExecutionRequest, history: Sequence[PastTurn], *, first: bool
) -> str:
    """Return the input of the agent: instructions, the conversation so far, the prompt.

    Every process of an ``iterative`` agent starts from scratch, so it gets its instructions each time.
    """
    parts: list[str] = []
    extensions = adapter.extensions
    has_own_way = extensions.instructions_flag or extensions.instructions_file
    iterative = adapter.session_mode == "iterative"
    if request.instructions and not has_own_way and (first or iterative):
        parts.append(request.instructions)
    template = adapter.history_template or HistoryTemplate.model_validate({"turnFormat": _TURN})
    if iterative and template.system:
        parts.append(template.system)
    if iterative and history:
        parts += [_past(template.turn_format, turn) for turn in history]
        parts.append(f"User: {request.prompt}")
    else:
        parts.append(request.prompt)
    return "\n\n".join(parts)


def prepare_workdir(
    adapter: AdapterFile, request: ExecutionRequest, workdir: Path, suite_directory: Path
) -> None:
    """Put the agent's files into its working directory: skills, instructions, MCP servers.

    Raises ``ExecutorError``.
    """
    extensions = adapter.extensions
    # A repository that was checked out there may have links.
    within = Boundary.around(workdir, name="the workspace")
    try:
        if extensions.skills_directory:
            _copy_skills(request.skill_directories, workdir / extensions.skills_directory, suite_directory)
        if extensions.instructions_file and request.instructions:
            file = workdir / extensions.instructions_file
            before = read_text(file, MAX_BYTES, within=within) if is_named(file) else ""
            written = before.rstrip("\n") + "\n\n" if is_named(file) else ""
            write_atomically(file, [f"{written}{request.instructions}\n".encode()], within=within)
        if extensions.mcp_config_file and request.mcp_servers:
            _add_servers(workdir / extensions.mcp_config_file, request.mcp_servers, within)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or "a file there is not UTF-8 text"
        raise ExecutorError(f"the agent's working directory cannot be prepared: {why}") from None


def mcp_document(servers: Mapping[str, Mapping[str, Any]]) -> str:
    """Return MCP servers as command-line agents read them from a file."""
    return json.dumps({"mcpServers": {name: dict(server) for name, server in servers.items()}}, indent=2)


def _program(written: str, directories: Sequence[Path], search_path: str | None) -> str:
    if "/" not in written and os.sep not in written:
        found = shutil.which(written, path=search_path)
        if found is None:
            raise ExecutorError(
                f"the program `{written}` is not on PATH; install it, or write where it is in `command`"
            )
        return found
    place = _file_in(directories, written)
    if place is None:
        raise ExecutorError(f"there is no program `{written}`; correct its path in `command`")
    if not os.access(place, os.X_OK):
        raise ExecutorError(f"the program `{written}` is not executable; run `chmod +x {place}`")
    return str(place)


def _file_in(directories: Sequence[Path], written: str) -> Path | None:
    """Return the file that a path names; a word without a slash or a dot is not a path."""
    if "/" not in written and "." not in written and os.sep not in written:
        return None
    for directory in directories:
        try:
            if (directory / written).is_file():
                return (directory / written).absolute()
        except (OSError, ValueError):
            return None
    return None


def _past(turn_format: str, turn: PastTurn) -> str:
    values = {"{{input}}": turn.input, "{{output}}": turn.output}
    return re.sub(r"\{\{(?:input|output)\}\}", lambda found: values[found[0]], turn_format)


def _copy_skills(directories: Sequence[Path], target: Path, suite_directory: Path) -> None:
    """Copy each skill's folder, without the suite that tests it and unneeded files."""
    suite = suite_directory.resolve()

    def left_out(folder: str, names: list[str]) -> set[str]:
        own = {name for name in names if (Path(folder) / name).resolve() == suite}
        return own | set(_LEFT_OUT(folder, names)) | special_names(folder, names)

    for folder in skill_folders(directories):
        shutil.copytree(
            folder,
            target / folder.resolve().name,
            ignore=left_out,
            copy_function=copy_file,
            symlinks=True,
            dirs_exist_ok=True,
        )


def _add_servers(file: Path, servers: Mapping[str, Mapping[str, Any]], within: Boundary) -> None:
    document: dict[str, Any] = {}
    if is_named(file):
        try:
            found: object = json.loads(read_text(file, MAX_BYTES, within=within))
        except (ValueError, RecursionError):
            found = None
        if not isinstance(found, dict):
            raise ExecutorError(f"`{file.name}` in the workspace is not a JSON object; MCP servers go there")
        document = cast("dict[str, Any]", found)
    known = document.get("mcpServers")
    before = cast("dict[str, Any]", known) if isinstance(known, dict) else {}
    document["mcpServers"] = {**before, **{name: dict(server) for name, server in servers.items()}}
    text = json.dumps(document, indent=2, ensure_ascii=False) + "\n"
    write_atomically(file, [text.encode()], within=within)
