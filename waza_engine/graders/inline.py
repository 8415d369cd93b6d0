"""The `inline` grader: a file of the suite judges one answer.

A ``.py`` file runs in the engine's Python. A module (``.ts .js .mjs .cjs``) runs in bun, else in Node.js,
through ``module_grader.mjs``, which calls its ``grade``: out of this process, so a hanging or broken module
costs its own grade. Everything else is started directly and must be executable.
"""

from __future__ import annotations

import functools
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, ClassVar, cast

from pydantic import Field

from waza_engine.graders.base import Grader, GraderConfig, GradingContext, Verdict
from waza_engine.graders.paths import is_there
from waza_engine.graders.programs.input import (
    AnswerWords,
    TimeLimit,
    program_input,
    time_limit,
)
from waza_engine.graders.programs.program_output import (
    UnusableAnswerError,
    answer_of,
    run_program,
    verdict_of_answer,
    verdict_without_answer,
)
from waza_engine.graders.registry import register
from waza_engine.processes.programs import Finished
from waza_engine.spec.block import misspelt
from waza_engine.spec.fields import PlainText, kind
from waza_engine.spec.program_files import is_module, why_not_started
from waza_engine.spec.reading.suite_reader import DISK, SuiteFiles

_SHIM = Path(__file__).parent / "programs" / "module_grader.mjs"
_NODE_WITH_TYPES = (22, 6)
_VERSION_SECONDS = 20.0


def command_of(file: Path) -> list[str]:
    """Return the command that runs a grader file. Raises ``UnusableAnswerError`` when it cannot be run."""
    if not file.is_file():
        raise UnusableAnswerError("not_found", f"Grader not found: {file}")
    if file.suffix == ".py":
        return [sys.executable, str(file)]
    if is_module(file):
        return _module_command(file)
    if reason := why_not_started(file):
        raise UnusableAnswerError("start", reason)
    return [str(file)]


def answer_of_file(file: Path, finished: Finished, *, timeout_seconds: float) -> object:
    """Return the JSON value with which a grader file answered. Raises ``UnusableAnswerError``."""
    answer = answer_of(finished, timeout_seconds=timeout_seconds)
    return _result_of_module(file, answer) if is_module(file) else answer


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


@functools.cache
def _node_version(node: str) -> tuple[int, int]:
    """Return the major and minor version, (0, 0) if unknown."""
    try:
        printed = subprocess.run(
            [node, "--version"], capture_output=True, text=True, timeout=_VERSION_SECONDS, check=False
        ).stdout
        major, minor, *_ = printed.strip().removeprefix("v").split(".")
        return int(major), int(minor)
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return (0, 0)


class InlineConfig(GraderConfig):
    """The grader file."""

    grader: Annotated[PlainText, kind("path.suite")] = Field(
        description="The grader file: relative to the eval file, else to the working directory.",
        examples=["graders/contains_hint.py"],
        min_length=1,
    )
    protocol: AnswerWords = "auto"
    timeout: TimeLimit = None

    misspellings: ClassVar = misspelt({"grader": ("file", "path", "script"), "timeout": "timeout_seconds"})
    uncertain: ClassVar = frozenset({"file", "path", "script"})


@register
class InlineGrader(Grader[InlineConfig]):
    """Runs a grader file that reads the answer as JSON and gives a score, as agent-eval-harness does.

    The suffix decides how the file is started:

    | file | how it runs |
    |---|---|
    | `.py` | in the engine's Python |
    | `.ts`, `.js`, `.mjs`, `.cjs` | its exported function `grade` is called, in bun or Node.js |
    | everything else | directly: it must be executable and start with a line such as `#!/bin/sh` |

    Standard input (or the function's argument) is one object: `input` (the prompt, a list for a
    conversation), `output`, `hint`, `reference` and `metadata` of the task, `trajectory`, `cwd` (the folder
    with the agent's files), and what `script` graders get: `task`, `transcript`, `tool_calls`, `errors`,
    `outcome`, `duration_ms`. Unknown values are left out.

    The answer is one object: `pass` (true or false) and `score` (0 to 1), with `reasoning` (text) and
    `outcome` (an object) if you like. `passed`, `message` and `details` are understood as well.

    **Scoring:** the file's own `score` and verdict; they do not depend on each other.

    **Worth knowing:**

    - `waza-engine new grader --kind hint` writes such a file and prints its entry; `--language` is `py`,
      `ts`, `mjs` or `sh`, and other kinds are `criteria`, `metadata`, `trajectory`, `judge` and `git`.
    - A file that exits with another code than 0, prints something else than one JSON object, or takes too
      long is an *error* of this grader, not a failed answer. The agent's answer and the other graders are
      kept.
    - A debugging line belongs on standard error: `print(..., file=sys.stderr)`. Output of
      `console.log` in a module is not part of its answer.
    - The file starts in the folder of the eval file; `WAZA_WORKSPACE_DIR` and `cwd` name the agent's folder.
    - TypeScript needs bun, or a Node.js that knows types (22.6 and later).
    - Upstream waza does not know this type.
    """

    type = "inline"
    title = "Grader file"
    config_model = InlineConfig
    runs_program = True
    example = """\
- type: inline
  name: contains_hint
  config:
    grader: graders/contains_hint.py
"""

    def notices(self, suite_directory: Path, files: SuiteFiles = DISK) -> tuple[str, ...]:
        """Return a warning if the file cannot be started before a run; a hook may still create it."""
        del files  # the program is read from the disk
        try:
            command_of(_place(suite_directory, self.config.grader))
        except UnusableAnswerError as error:
            return (str(error),)
        return ()

    def grade(self, context: GradingContext) -> Verdict:
        """Run the file; an unusable result is an error of this grader."""
        file = _place(context.suite_directory, self.config.grader)
        try:
            seconds = time_limit(self.config.timeout, context)
            finished = run_program(
                command_of(file),
                file.name,
                context,
                stdin=program_input(context),
                timeout_seconds=seconds,
                cwd=context.suite_directory,
            )
            answer = answer_of_file(file, finished, timeout_seconds=seconds)
            return verdict_of_answer(answer, self.config.protocol, "grader")
        except UnusableAnswerError as error:
            return verdict_without_answer(error, "grader")


def _place(suite_directory: Path, written: str) -> Path:
    """Return the file: next to the eval file, else from the working directory."""
    places = (suite_directory / written, Path.cwd() / written)
    return next((place for place in places if is_there(place)), places[0]).absolute()


def _result_of_module(file: Path, printed: object) -> object:
    answer = cast("Mapping[str, Any]", printed if isinstance(printed, Mapping) else {})
    if answer.get("fault") == "load":
        raise UnusableAnswerError("load", f"{file.name} cannot be loaded: {answer.get('message')}")
    if "fault" in answer:
        raise UnusableAnswerError("exit", f"`grade` of {file.name} failed: {answer.get('message')}")
    return answer.get("result")
