"""The `program` grader: any program judges the run by its exit code."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import ClassVar

from pydantic import Field

from waza_engine.graders.base import Check, Grader, GradingContext, Verdict
from waza_engine.graders.config import GraderConfig
from waza_engine.graders.fields import PlainText, TextList, WholeNumber
from waza_engine.graders.processes import run_bounded
from waza_engine.graders.programs import grader_environment, shortened, starting_directory
from waza_engine.graders.registry import register


class ProgramConfig(GraderConfig):
    """The program and its arguments."""

    command: PlainText = Field(
        description="The program to run; no shell is involved.",
        examples=["python3"],
        min_length=1,
        json_schema_extra={"x-waza-kind": "command"},
    )
    args: TextList = Field(
        default=(), description="The arguments, one an item.", examples=[["scripts/grade.py", "--strict"]]
    )
    timeout: WholeNumber | None = Field(
        default=None,
        description=(
            "The longest run allowed, in seconds. "
            "Default: `graders.programTimeout` of `.waza.yaml`, else 30; zero and less mean the default."
        ),
        examples=[60],
    )

    misspellings: ClassVar = {
        "timeout_seconds": "timeout",
        "timeout_sec": "timeout",
        "cmd": "command",
        "program": "command",
        "arguments": "args",
    }


@register
class ProgramGrader(Grader[ProgramConfig]):
    """Runs a program of your own. Exit code 0 passes, everything else fails.

    The agent's answer comes on standard input; the environment variable `WAZA_WORKSPACE_DIR` holds the folder
    with the agent's files.

    **Scoring:** 1.0 or 0.0. What the program prints becomes the feedback.

    **Worth knowing:**

    - The program starts in the working directory of the run (usually the repository). When a file named in
      `command` or `args` exists only beside the eval file, it starts there.
    - There is no shell: for `&&`, `|` or `$VARIABLES` write `command: bash` and `args: ['-c', '…']`.
    - After `timeout` seconds the program is killed with everything it started, and fails.
    - A program that does not exist fails the check.
    """

    type = "program"
    title = "Program"
    config_model = ProgramConfig
    example = """\
- type: program
  name: tests_pass
  config:
    command: bash
    args:
      - -c
      - cd "$WAZA_WORKSPACE_DIR" && npm test
    timeout: 120
"""

    def grade(self, context: GradingContext) -> Verdict:
        """Run the program; a program that cannot run is a failed check, not an error."""
        config = self.config
        timeout = (
            float(config.timeout)
            if config.timeout and config.timeout > 0
            else context.program_timeout_seconds
        )
        cwd = starting_directory(context, (config.command, *config.args))
        details: dict[str, object] = {
            "command": config.command,
            "args": list(config.args),
            "workspace_dir": str(context.workspace) if context.workspace else "",
        }
        try:
            finished = run_bounded(
                [_executable(config.command, cwd), *config.args],
                stdin=context.output,
                timeout_seconds=timeout,
                cwd=cwd,
                environment=grader_environment(context),
            )
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            message = f"`{config.command}` cannot be started: {reason}"
            return _verdict(False, message, {**details, "exit_error": message})
        details |= {"stdout": finished.stdout, "stderr": finished.stderr}
        if finished.exit_code == 0:
            return _verdict(True, finished.stdout.strip() or "The program exited with 0", details)
        how = (
            f"was killed after {timeout:g} seconds"
            if finished.timed_out
            else f"exited with {finished.exit_code}"
        )
        said = finished.stderr.strip()
        message = f"`{config.command}` {how}" + (f": {said}" if said else "")
        return _verdict(False, message, {**details, "exit_error": f"`{config.command}` {how}"})


def _executable(command: str, cwd: Path) -> str:
    """Return the program: a path from the starting directory, or a name on PATH."""
    if "/" in command or "\\" in command:
        beside = cwd / command
        return str(beside) if beside.exists() else command
    return shutil.which(command) or command


def _verdict(passed: bool, feedback: str, details: dict[str, object]) -> Verdict:
    feedback = shortened(feedback)
    check = Check(("command",), passed, "" if passed else feedback)
    return Verdict(1.0 if passed else 0.0, passed, feedback, details, (check,))
