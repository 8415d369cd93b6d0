"""The `script` grader of older suites: a Python script gives a score."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, ClassVar

from pydantic import Field

from waza_engine.graders.base import Grader, GraderConfig, GradingContext, Verdict
from waza_engine.graders.paths import from_working_directory, is_there
from waza_engine.graders.programs.input import (
    AnswerWords,
    starting_directory,
)
from waza_engine.graders.programs.program_output import (
    UnusableAnswerError,
    ask_program,
    verdict_of_answer,
    verdict_without_answer,
)
from waza_engine.graders.registry import register
from waza_engine.spec.block import misspelt
from waza_engine.spec.fields import PlainText, kind
from waza_engine.spec.reading.suite_reader import DISK, SuiteFiles


class ScriptConfig(GraderConfig):
    """The script."""

    script: Annotated[PlainText, kind("path.suite")] = Field(
        description="The Python script: relative to the working directory, else to the eval file.",
        examples=["graders/quality_checker.py"],
        min_length=1,
    )
    protocol: AnswerWords = "auto"

    misspellings: ClassVar = misspelt({"script": ("path", "file", "command")})


# It keeps its own `grade`: `program` needs the interpreter as its command, and refuses an answer without
# `score` or `passed`.
@register
class ScriptGrader(Grader[ScriptConfig]):
    """Runs a Python script that gives a score. Write `program` instead: upstream no longer runs `script`.

    The script reads a JSON object from standard input (`output`, `transcript`, `tool_calls`, `errors`,
    `outcome`, `duration_ms`, `task` with the prompt, `workspace`, and what `inline` describes) and prints a
    JSON object: `score` (0 to 1), `passed`, `message` (or `feedback`) and `details`.

    **Scoring:** the script's own `score` and `passed`, which may be a word or number of that meaning (`"no"`,
    0) as well; both count as 0 and failed when absent.

    **Worth knowing:** a script that exits with another code than 0, runs longer than the time for programs,
    prints something else than one JSON object, or a score outside of 0 to 1, scores 0.0 as an error of this
    grader. The `program` grader with `protocol: waza-json` runs the same script.
    """

    type = "script"
    title = "Script (older form)"
    config_model = ScriptConfig
    entry_keys = ("script",)
    replaced_by = "program"
    runs_program = True
    example = """\
- type: script
  name: quality_checker
  config:
    script: graders/quality_checker.py
"""

    def notices(self, suite_directory: Path, files: SuiteFiles = DISK) -> tuple[str, ...]:
        """Return a warning if the script does not exist before a run; a hook may still create it."""
        del files  # the program is read from the disk
        script = self.config.script
        there = is_there(from_working_directory(suite_directory, script, "config.script"))
        return () if there else (f"the script {script} does not exist",)

    def grade(self, context: GradingContext) -> Verdict:
        """Run the script with this interpreter; an unusable result is an error of this grader."""
        script = self.config.script
        cwd = starting_directory(context, (script,))
        from_working_directory(context.suite_directory, script, "config.script")
        try:
            if not (cwd / script).is_file():
                raise UnusableAnswerError("not_found", f"the script {script} does not exist")
            answer = ask_program(
                [sys.executable, str(cwd / script)],
                f"the script {script}",
                context,
                timeout_seconds=context.program_timeout_seconds,
                cwd=cwd,
            )
            return verdict_of_answer(answer, self.config.protocol, "script", lenient=True)
        except UnusableAnswerError as error:
            return verdict_without_answer(error, "script")
