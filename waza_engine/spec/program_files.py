"""Files of grading programs, paths inside grader options, and rubrics. Light: the editor uses it too."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Sequence
from pathlib import Path, PurePath

from waza_engine.files import read_beginning

MODULE_SUFFIXES = (".ts", ".js", ".mjs", ".cjs")
"""Grader files whose ``grade`` is called."""
MODULE_WORDS = "`.ts`, `.js`, `.mjs` or `.cjs`"
MODULE_RUNTIMES = ("bun", "node")
"""The programs that can call it; the first that is there does."""
_ALIKE_MODULES = {".tsx": ".ts", ".mts": ".ts", ".cts": ".ts", ".jsx": ".js"}
"""Suffixes of other modules, which are started as programs, and what to write instead."""
_BINARIES = (b"\x7fELF", b"\xcf\xfa\xed\xfe", b"\xca\xfe\xba\xbe", b"\xce\xfa\xed\xfe")
_INTERPRETERS = frozenset(
    {"python", "python3", "node", "bun", "deno", "bash", "sh", "zsh", "ruby", "perl", "pwsh"}
)
_SHEBANG_BYTES = 256
# After an option, some interpreters accept it.
_CARRIAGE_RETURN = re.compile(rb"#![ \t]*(?:\S*/env[ \t]+)?\S+\r\n")
_SCRIPTS = frozenset({".py", ".js", ".mjs", ".cjs", ".ts", ".sh", ".rb", ".pl", ".ps1"})


def is_module(file: PurePath) -> bool:
    """Return whether a file is a module whose ``grade`` is called; the case of its suffix counts."""
    return file.suffix in MODULE_SUFFIXES


def why_not_started(file: Path) -> str:
    """Return why the system cannot start a grader file that is no module, "" if it can.

    On Windows nothing is known before it is tried.
    """
    if os.name == "nt":
        return ""
    reason = _why_no_program(file)
    suffix = file.suffix.lower()
    intended = _ALIKE_MODULES.get(suffix, suffix)
    if reason and intended in MODULE_SUFFIXES:
        return (
            f"{file.name} is started as a program, because modules end in {MODULE_WORDS}; "
            f"name it `{file.stem}{intended}`"
        )
    return reason


def _why_no_program(file: Path) -> str:
    if not os.access(file, os.X_OK):
        return f"{file.name} is not executable; run `chmod +x {file.name}` in its directory"
    try:
        start = read_beginning(file, _SHEBANG_BYTES)
    except OSError as error:
        return f"{file.name} cannot be read: {error.strerror}"
    if not start.startswith((b"#!", *_BINARIES)):
        return f"{file.name} does not say what runs it; make its first line one such as `#!/bin/sh`"
    if _CARRIAGE_RETURN.match(start):
        return (
            f"the first line of {file.name} ends in a carriage return, which the system takes as part of "
            "the interpreter's name; save the file with the line endings LF"
        )
    return ""


def script_of(command: str, arguments: Sequence[str]) -> str:
    """Return the script that a program is to run, "" when it is started for something else."""
    script = arguments[0] if arguments and PurePath(command).stem in _INTERPRETERS else ""
    return script if PurePath(script).suffix in _SCRIPTS else ""


def may_be_file(argument: str) -> bool:
    """Return whether an argument looks like the path of a file; if that exists, it is one."""
    plain = not argument.startswith("-") and argument.isprintable()
    return plain and (is_path(argument) or PurePath(argument).suffix in _SCRIPTS)


def split_command(command: str) -> list[str]:
    """Return the words of a command with its arguments in one string, [] for a program alone.

    A path may contain spaces: then an option, or a program that is not a path, shows that it is a command.
    """
    try:
        words = shlex.split(command)
    except ValueError:
        return []
    has_option = any(word.startswith("-") for word in words[1:])
    return words if len(words) > 1 and (has_option or not is_path(words[0])) else []


def is_path(command: str) -> bool:
    """Return whether a command is the path of a program; any other is looked up on PATH."""
    return "/" in command or "\\" in command


MARKDOWN_RUBRICS = (".md", ".markdown")
YAML_RUBRICS = (".yaml", ".yml", ".json")
_TEXT_RUBRICS = (".txt", ".prompt", ".prompty")


def example_rubric(written: str) -> str:
    """Return the name of a rubric in upstream's `examples/rubrics`, "" for another path."""
    found = re.search(r"(?:^|[\\/])examples[\\/]rubrics[\\/]([\w-]+)\.ya?ml$", written.strip())
    return found[1] if found else ""


def is_rubric_path(written: str) -> bool:
    """Return whether a rubric is written as a path: one line, and few spaces, before a known ending."""
    text = written.strip()
    if not text or "\n" in text:
        return False
    if text.lower().endswith((*MARKDOWN_RUBRICS, *YAML_RUBRICS, *_TEXT_RUBRICS)):
        return len(re.findall(r"\s", text)) < 4
    return not re.search(r"\s", text) and (text[0] in "./~" or "/" in text or "\\" in text)
