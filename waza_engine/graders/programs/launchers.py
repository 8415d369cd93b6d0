"""Start a grader file by its suffix.

A ``.py`` file runs in the engine's Python. A module (``.ts .js .mjs .cjs``) runs in bun, else in Node.js,
through ``module_grader.mjs``, which calls its ``grade``: out of this process, so a hanging or broken module
costs its own grade. Everything else is started directly and must be executable.
"""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
import sys
from pathlib import Path

from waza_engine.files import read_beginning
from waza_engine.graders.programs.answers import UnusableAnswerError
from waza_engine.spec.program_files import MODULE_SUFFIXES

_SHIM = Path(__file__).with_name("module_grader.mjs")
_NODE_WITH_TYPES = (22, 6)
_VERSION_SECONDS = 20.0


def is_module(file: Path) -> bool:
    """Return whether a file is a module whose ``grade`` is called; the case of its suffix counts."""
    return file.suffix in MODULE_SUFFIXES


def command_of(file: Path) -> list[str]:
    """Return the command that runs a grader file. Raises ``UnusableAnswerError`` when it cannot be run."""
    if not file.is_file():
        raise UnusableAnswerError("not_found", f"Grader not found: {file}")
    if file.suffix == ".py":
        return [sys.executable, str(file)]
    if is_module(file):
        return _module_command(file)
    if os.name != "nt":
        _check_executable(file)
    return [str(file)]


def _module_command(file: Path) -> list[str]:
    if (bun := shutil.which("bun")) is not None:
        return [bun, "run", str(_SHIM), str(file)]
    node = shutil.which("node")
    if node is None:
        raise UnusableAnswerError("start", f"{file.name} needs bun or Node.js; install one of them")
    if file.suffix != ".ts":
        return [node, str(_SHIM), str(file)]
    if _node_version(node) < _NODE_WITH_TYPES:
        wanted = ".".join(str(number) for number in _NODE_WITH_TYPES)
        raise UnusableAnswerError(
            "start",
            f"{file.name} is TypeScript, which needs bun or Node.js {wanted} and later; "
            "install one of them, or write the grader as `.mjs`",
        )
    return [node, "--experimental-strip-types", "--no-warnings", str(_SHIM), str(file)]


def _check_executable(file: Path) -> None:
    if not os.access(file, os.X_OK):
        raise UnusableAnswerError(
            "start", f"{file.name} is not executable; run `chmod +x {file.name}` in its directory"
        )
    try:
        start = read_beginning(file, 4)
    except OSError as error:
        raise UnusableAnswerError("start", f"{file.name} cannot be read: {error.strerror}") from None
    binary = start.startswith((b"\x7fELF", b"\xcf\xfa\xed\xfe", b"\xca\xfe\xba\xbe", b"\xce\xfa\xed\xfe"))
    if not start.startswith(b"#!") and not binary:
        raise UnusableAnswerError(
            "start",
            f"{file.name} does not say what runs it; make its first line one such as `#!/bin/sh`",
        )


@functools.cache
def _node_version(node: str) -> tuple[int, int]:
    """Return the major and minor version, (0, 0) if unknown."""
    try:
        told = subprocess.run(
            [node, "--version"], capture_output=True, text=True, timeout=_VERSION_SECONDS, check=False
        ).stdout
        major, minor, *_ = told.strip().removeprefix("v").split(".")
        return int(major), int(minor)
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return (0, 0)
