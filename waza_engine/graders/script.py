"""The `script` grader of older suites: a Python script gives a score."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Mapping
from typing import Any, ClassVar, cast

from pydantic import Field

from waza_engine.graders.base import Check, Grader, GraderError, GradingContext, Verdict
from waza_engine.graders.code import assertion_context
from waza_engine.graders.config import GraderConfig
from waza_engine.graders.fields import PlainText
from waza_engine.graders.processes import run_bounded
from waza_engine.graders.programs import grader_environment, shortened, starting_directory
from waza_engine.graders.registry import register


class ScriptConfig(GraderConfig):
    """The script."""

    script: PlainText = Field(
        description="The Python script: relative to the working directory, else to the eval file.",
        examples=["graders/quality_checker.py"],
        min_length=1,
        json_schema_extra={"x-waza-kind": "path.suite"},
    )

    misspellings: ClassVar = {"path": "script", "file": "script", "command": "script"}


@register
class ScriptGrader(Grader[ScriptConfig]):
    """Runs a Python script that gives a score. Write `program` instead: upstream no longer runs `script`.

    The script reads a JSON object from standard input (`output`, `transcript`, `tool_calls`, `errors`,
    `outcome`, `duration_ms`, `task` with the prompt, `workspace`) and prints a JSON object: `score` (0 to 1),
    `passed`, `message` (or `feedback`) and `details`.

    **Scoring:** the script's own `score` and `passed`; both count as 0 and failed when absent. A script that
    exits with another code than 0, or runs longer than the time for programs, scores 0.0.

    **Worth knowing:** a score outside of 0 to 1, or output that is no JSON object, is an error. The `program`
    grader gets the plain answer on standard input and knows pass and fail only, so a script must be adapted
    to it.
    """

    type = "script"
    title = "Script (older form)"
    config_model = ScriptConfig
    entry_keys = ("script",)
    replaced_by = "program"
    example = """\
- type: script
  name: quality_checker
  config:
    script: graders/quality_checker.py
"""

    def grade(self, context: GradingContext) -> Verdict:
        """Run the script with this interpreter. Raises ``GraderError`` when its answer cannot be used."""
        script, timeout = self.config.script, context.program_timeout_seconds
        cwd = starting_directory(context, (script,))
        if not (cwd / script).is_file():
            return _failed(f"the script {script} does not exist")
        finished = run_bounded(
            [sys.executable, str(cwd / script)],
            stdin=json.dumps(_script_context(context), default=str),
            timeout_seconds=timeout,
            cwd=cwd,
            environment=grader_environment(context),
        )
        if finished.timed_out:
            return _failed(f"the script {script} was killed after {timeout:g} seconds")
        if finished.exit_code != 0:
            said = finished.stderr.strip()
            return _failed(
                f"the script {script} exited with {finished.exit_code}" + (f": {said}" if said else "")
            )
        return _verdict(_answer(finished.stdout, script), script)


def _script_context(context: GradingContext) -> dict[str, Any]:
    return {
        **assertion_context(context),
        "task": {"inputs": {"prompt": context.prompt}},
        "workspace": str(context.workspace) if context.workspace else "",
        "metadata": {},
    }


def _answer(printed: str, script: str) -> Mapping[str, Any]:
    try:
        answer = json.loads(printed)
    except (ValueError, RecursionError):
        answer = None
    if not isinstance(answer, dict):
        raise GraderError(
            f'the script {script} must print one JSON object such as {{"score": 1.0, "passed": true}}'
        )
    return cast("dict[str, Any]", answer)


def _verdict(answer: Mapping[str, Any], script: str) -> Verdict:
    score, passed = answer.get("score", 0.0), bool(answer.get("passed", False))
    if (
        isinstance(score, bool)
        or not isinstance(score, int | float)
        or not math.isfinite(score)
        or not 0 <= score <= 1
    ):
        raise GraderError(f"the script {script} gave the score `{score}`; it must be a number from 0 to 1")
    feedback = shortened(
        str(answer.get("feedback") or answer.get("message") or ("passed" if passed else "failed"))
    )
    details = answer.get("details")
    check = Check(("script",), passed, "" if passed else feedback)
    return Verdict(
        float(score),
        passed,
        feedback,
        cast("dict[str, Any]", details) if isinstance(details, dict) else {},
        (check,),
    )


def _failed(message: str) -> Verdict:
    message = shortened(message)
    return Verdict(0.0, False, message, {}, (Check(("script",), False, message),))
