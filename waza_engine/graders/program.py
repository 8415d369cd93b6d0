"""The `program` grader: any program judges the run by its exit code."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, ClassVar, Literal, cast

from pydantic import Field

from waza_engine.counting import cut
from waza_engine.graders.base import Grader, GraderConfig, GradingContext, Verdict
from waza_engine.graders.paths import is_there
from waza_engine.graders.programs.input import (
    TimeLimit,
    program_input,
    starting_directory,
    time_limit,
)
from waza_engine.graders.programs.program_output import (
    LONGEST_FEEDBACK,
    UnusableAnswerError,
    answer_of,
    ending,
    run_program,
    verdict_of_answer,
    verdict_without_answer,
)
from waza_engine.graders.registry import register
from waza_engine.processes.programs import Finished
from waza_engine.spec.block import misspelt
from waza_engine.spec.fields import ArgumentList, PlainText, kind
from waza_engine.spec.limits import first_version_advice
from waza_engine.spec.program_files import is_path, script_of
from waza_engine.spec.reading.suite_reader import DISK, SuiteFiles
from waza_engine.vocabulary import Check, unjudged_details

_LONGEST_LINE = 200


class ProgramConfig(GraderConfig):
    """The program and its arguments."""

    command: Annotated[PlainText, kind("command")] = Field(
        description="The program to run; no shell is involved.",
        examples=["python3"],
        min_length=1,
    )
    args: ArgumentList = Field(
        default=(), description="The arguments, one an item.", examples=[["scripts/grade.py", "--strict"]]
    )
    timeout: TimeLimit = None
    protocol: Literal["exit-code", "harness-json", "waza-json", "auto"] = Field(
        default="exit-code",
        description=(
            "How the program answers. `exit-code`: it reads the answer and passes with exit code 0. The "
            "others read one JSON object and print one: `harness-json` with `pass`, `score`, `reasoning`, "
            "`outcome`; `waza-json` with `passed`, `score`, `message`, `details`; `auto` takes either."
        ),
    )

    misspellings: ClassVar = misspelt(
        {
            "timeout": ("timeout_seconds", "timeout_sec"),
            "command": ("cmd", "program", "run"),
            "args": "arguments",
        }
    )


@register
class ProgramGrader(Grader[ProgramConfig]):
    """Runs a program of your own. Exit code 0 passes, everything else fails, unless it answers in JSON.

    The agent's answer comes on standard input; the environment variable `WAZA_WORKSPACE_DIR` holds the folder
    with the agent's files.

    **Scoring:** 1.0 or 0.0. The program's output becomes the feedback: when it fails, the ends of its
    standard output and its standard error.

    **Worth knowing:**

    - The program starts in the current folder of the run or re-grading (usually the repository)
      and has your rights: a careless `rm -rf build` deletes there, not among the agent's files. Where it
      touches files, let it begin with `cd "$WAZA_WORKSPACE_DIR" &&`, as in the example.
    - When a file named in `command` or `args` lies only next to the eval file or above it, it starts there.
    - There is no shell: for `&&`, `|` or `$VARIABLES` write `command: bash` and `args: ['-c', '…']`.
    - After `timeout` seconds the program is killed with everything it started, and fails.
    - A program that does not exist fails the check.
    - With another `protocol` than `exit-code` the program gives a score: it reads the object that `inline`
      describes, prints its own, and exits with 0. Anything else is then an error of this grader. Upstream
      does not know `protocol`.
    """

    type = "program"
    title = "Program"
    other_names = ("custom", "command", "shell", "bash", "exec")
    config_model = ProgramConfig
    runs_program = True
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

    def notices(self, suite_directory: Path, files: SuiteFiles = DISK) -> tuple[str, ...]:
        """Return a warning if the program, or the script that it runs, does not exist before a run."""
        del files  # the program is read from the disk
        command, arguments = self.config.command, self.config.args
        cwd = starting_directory(GradingContext(suite_directory=suite_directory), (command, *arguments))
        if shutil.which(_executable(command, cwd)) is None:
            return (f"`{command}` cannot be started: there is no such program",)
        script = script_of(command, arguments)
        if script and not is_there(cwd / script):
            return (f"`{command}` cannot run `{script}`: there is no such file",)
        return ()

    def grade(self, context: GradingContext) -> Verdict:
        """Run the program; a program that cannot run is a failed check, not an error."""
        config = self.config
        timeout = time_limit(config.timeout, context)
        cwd = starting_directory(context, (config.command, *config.args))
        try:
            finished = run_program(
                [_executable(config.command, cwd), *config.args],
                f"`{config.command}`",
                context,
                stdin=context.output if config.protocol == "exit-code" else program_input(context),
                timeout_seconds=timeout,
                cwd=cwd,
            )
        except UnusableAnswerError as error:
            if config.protocol != "exit-code":
                return verdict_without_answer(error, "command")
            message = str(error)
            details = {**self._details(context), "exit_error": message, **unjudged_details("start", message)}
            return _verdict(False, message, details)
        if config.protocol == "exit-code":
            return self._by_exit_code(finished, context, timeout)
        try:
            answer = answer_of(finished, timeout_seconds=timeout)
            return verdict_of_answer(answer, config.protocol, "command")
        except UnusableAnswerError as error:
            return verdict_without_answer(error, "command")

    def _by_exit_code(self, finished: Finished, context: GradingContext, timeout: float) -> Verdict:
        command = self.config.command
        details: dict[str, object] = {
            **self._details(context),
            "stdout": finished.stdout,
            "stderr": finished.stderr,
        }
        if finished.exit_code == 0:
            feedback = finished.stdout.strip() or "The program exited with 0"
            return _verdict(True, feedback + _unread(finished.stdout), details)
        how = finished.ended_words(timeout)
        older = first_version_advice(finished.stderr)
        message = f"`{command}` {how}{f': {older}' if older else _describe_output(finished)}"
        details["exit_error"] = f"`{command}` {how}"
        if finished.timed_out or (finished.exit_code or 0) < 0:
            details |= unjudged_details("timeout" if finished.timed_out else "signal", f"`{command}` {how}")
        return _verdict(False, message, details)

    def _details(self, context: GradingContext) -> dict[str, object]:
        return {
            "command": self.config.command,
            "args": list(self.config.args),
            "workspace_dir": str(context.workspace) if context.workspace else "",
        }


def _unread(printed: str) -> str:
    """Return a note about a printed verdict that is ignored, "" when none was printed."""
    try:
        answer: object = json.loads(printed)
    except (ValueError, RecursionError):
        return ""
    block: Mapping[str, object] = cast("Mapping[str, object]", answer) if isinstance(answer, dict) else {}
    failed = [key for key in ("passed", "pass") if block.get(key) is False]
    if not failed:
        return ""
    protocol = "waza-json" if failed[0] == "passed" else "harness-json"
    return f" (only the exit code counts, and it is 0: exit with 1, or set `protocol: {protocol}`)"


def _executable(command: str, cwd: Path) -> str:
    """Return the program: a path from the starting directory, or a name on PATH."""
    if is_path(command):
        beside = cwd / command
        return str(beside) if beside.exists() else command
    return shutil.which(command) or command


def _describe_output(finished: Finished) -> str:
    """Return the last line that was written, then the ends of both outputs.

    A program prints at its end why it fails: scripts to standard error, test runners to standard output, an
    exception after its traceback. Lists and marks show the first line alone.
    """
    parts = [ending(text.strip()) for text in (finished.stdout, finished.stderr)]
    if not any(parts):
        return ""
    summary = f": {_last_line(parts[1] or parts[0])}"
    if all(parts):
        return f"{summary}\n--- standard output\n{parts[0]}\n--- standard error\n{parts[1]}"
    output = parts[0] or parts[1]
    return f"{summary}\n{output}" if "\n" in output else f": {output}"


def _last_line(output: str) -> str:
    line = output.rpartition("\n")[2].strip()
    return line if len(line) <= _LONGEST_LINE else f"…{line[-_LONGEST_LINE:]}"


def _verdict(passed: bool, feedback: str, details: dict[str, object]) -> Verdict:
    feedback = cut(feedback, LONGEST_FEEDBACK)
    check = Check(("command",), passed, "" if passed else feedback)
    return Verdict(1.0 if passed else 0.0, passed, feedback, details, (check,))
