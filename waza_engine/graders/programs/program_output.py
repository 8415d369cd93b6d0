"""Output of grading programs: one JSON object in one of two vocabularies, parsed into a verdict."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn, cast

from waza_engine.counting import cut, in_seconds
from waza_engine.graders.base import GradingContext, Verdict
from waza_engine.graders.programs.input import grader_environment, program_input
from waza_engine.processes.programs import OUTPUT_LIMIT_BYTES, Finished, run_bounded
from waza_engine.spec.grader_results import (
    HARNESS_KEYS,
    WAZA_KEYS,
    Vocabulary,
    is_harness_result,
    result_issues,
)
from waza_engine.spec.limits import first_version_advice
from waza_engine.vocabulary import Check

_SHOWN_OF_NO_JSON = 100
_STDERR_TAIL = 2000
LONGEST_FEEDBACK = 4000
"""The most characters of a program's output that are its feedback."""
_LONGEST_OUTPUT = f"{OUTPUT_LIMIT_BYTES / 1e6:g} MB"
# Some shells begin their output with it.
_BYTE_ORDER_MARK = "\ufeff"
# For how it ended, and where which output begins.
_ROOM = 200
_WORDS = {
    **dict.fromkeys(("true", "yes", "on", "1"), True),
    **dict.fromkeys(("false", "no", "off", "0"), False),
}


TRACEBACK = "Traceback (most recent call last):"


class UnusableAnswerError(Exception):
    """A grading program printed nothing usable; the message is for people.

    ``kind`` is a word for programs, e.g. ``not_json``; ``details`` go into the result next to it.
    """

    def __init__(self, kind: str, text: str, details: Mapping[str, Any] | None = None) -> None:
        super().__init__(text)
        self.kind = kind
        self.details = dict(details or {})


def run_program(
    command: Sequence[str],
    shown: str,
    context: GradingContext,
    *,
    stdin: str,
    timeout_seconds: float,
    cwd: Path,
) -> Finished:
    """Run a grading program to its end. Raises ``UnusableAnswerError`` if it cannot be started.

    ``shown`` is its name in the message, ``cwd`` the folder that it starts in.
    """
    try:
        return run_bounded(
            list(command),
            stdin=stdin,
            timeout_seconds=timeout_seconds,
            cwd=cwd,
            environment=grader_environment(context),
        )
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise UnusableAnswerError("start", f"{shown} cannot be started: {reason}") from None


def ask_program(
    command: Sequence[str], shown: str, context: GradingContext, *, timeout_seconds: float, cwd: Path
) -> object:
    """Run a grading program with the trial as its input, and return the JSON value that it printed.

    ``shown`` is its name in messages. Raises ``UnusableAnswerError``.
    """
    finished = run_program(
        command,
        shown,
        context,
        stdin=program_input(context),
        timeout_seconds=timeout_seconds,
        cwd=cwd,
    )
    return answer_of(finished, timeout_seconds=timeout_seconds)


def answer_of(finished: Finished, *, timeout_seconds: float) -> object:
    """Return the JSON value that a program printed. Raises ``UnusableAnswerError`` for the first fault."""
    tail = {"stderr_tail": finished.stderr[-_STDERR_TAIL:]} if finished.stderr.strip() else {}
    if finished.timed_out:
        raise UnusableAnswerError(
            "timeout", f"Grader was killed after {in_seconds(timeout_seconds)}", {"exit_code": None, **tail}
        )
    code = exit_code(finished)
    if code != 0:
        output = finished.stderr.strip() or "No error output"
        raise UnusableAnswerError(
            "exit",
            f"Grader exited with code {code}: {first_version_advice(output) or _reason_first(output)}",
            {"exit_code": code, **tail},
        )
    printed = finished.stdout.strip().removeprefix(_BYTE_ORDER_MARK)
    if not printed:
        raise UnusableAnswerError("no_output", "Grader produced no output", {"exit_code": code, **tail})
    try:
        return json.loads(printed, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        if finished.cut:
            raise UnusableAnswerError(
                "too_long", f"Grader output is longer than {_LONGEST_OUTPUT}", {"exit_code": code, **tail}
            ) from None
        shown = printed[:_SHOWN_OF_NO_JSON]
        raise UnusableAnswerError(
            "not_json", f"Grader output is not valid JSON: {shown}", {"exit_code": code, **tail}
        ) from None


def _reason_first(output: str) -> str:
    """Return an error output with the exception of a traceback of Python, its last line, before it."""
    return f"{output.splitlines()[-1].strip()}\n{output}" if TRACEBACK in output else output


def exit_code(finished: Finished) -> int:
    """Return the exit code as shells do: 128 plus the signal for a program that a signal ended."""
    code = finished.exit_code or 0
    return 128 - code if code < 0 else code


def verdict_of_answer(
    answer: object, vocabulary: Vocabulary, check: str, *, lenient: bool = False
) -> Verdict:
    """Return the verdict of a printed value; ``check`` is the option that named the program.

    ``lenient`` is the older rule of scripts: missing fields count as 0 and failed. Raises
    ``UnusableAnswerError``.
    """
    if not isinstance(answer, Mapping):
        _invalid(["it must be one JSON object"])
    block = cast("Mapping[str, Any]", answer)
    is_harness = is_harness_result(block, vocabulary)
    if lenient and not is_harness:
        block = {"score": 0.0, "passed": False, **block}
        block["passed"] = _verdict_of_word(block["passed"])
    if issues := result_issues(block, vocabulary):
        _invalid(issues)
    verdict = _harness_verdict(block) if is_harness else _waza_verdict(block)
    feedback = cut(verdict.feedback, LONGEST_FEEDBACK)
    passed = verdict.passed
    return Verdict(
        score=verdict.score,
        passed=passed,
        feedback=feedback,
        details=verdict.details,
        checks=(Check((check,), passed, "" if passed else feedback),),
    )


def verdict_without_answer(error: UnusableAnswerError, check: str) -> Verdict:
    """Return the verdict of a program that could not grade: an error of this grader, with score 0."""
    feedback = cut(str(error), LONGEST_FEEDBACK)
    return Verdict(
        score=0.0,
        passed=False,
        feedback=feedback,
        details={"error": {"kind": error.kind, **error.details}},
        checks=(Check((check,), False, feedback),),
        status="error",
    )


def ending(output: str) -> str:
    """Return the end of a program's output, short enough that two of them fit into one feedback."""
    most = LONGEST_FEEDBACK // 2 - _ROOM
    return output if len(output) <= most else "…" + output[-most:]


def _harness_verdict(answer: Mapping[str, Any]) -> Verdict:
    outcome = answer.get("outcome")
    details: dict[str, Any] = {"outcome": outcome} if outcome else {}
    return Verdict(
        _score(answer),
        answer["pass"],
        answer.get("reasoning") or _plain_word(answer["pass"]),
        {**details, **_extra(answer, HARNESS_KEYS)},
    )


def _waza_verdict(answer: Mapping[str, Any]) -> Verdict:
    feedback = answer.get("feedback") or answer.get("message") or answer.get("reasoning")
    written = answer.get("details")
    details = dict(cast("Mapping[str, Any]", written)) if isinstance(written, Mapping) else {}
    if isinstance(answer.get("outcome"), Mapping):
        details["outcome"] = answer["outcome"]
    return Verdict(
        _score(answer),
        answer["passed"],
        str(feedback) if feedback else _plain_word(answer["passed"]),
        {**details, **_extra(answer, WAZA_KEYS)},
    )


def _verdict_of_word(passed: object) -> object:
    """Return a verdict of older scripts, whose `passed` may be a word or 0 or 1; nothing means no."""
    if isinstance(passed, str):
        passed = passed.strip().lower()
    if passed in (None, "", 0, 1):
        return passed == 1
    return _WORDS.get(passed, passed) if isinstance(passed, str) else passed


def _score(answer: Mapping[str, Any]) -> float:
    """Return the score: the mean of full ones may have a last digit too many."""
    return min(1.0, max(0.0, float(answer["score"])))


def _extra(answer: Mapping[str, Any], known: frozenset[str]) -> dict[str, Any]:
    extra = {key: value for key, value in answer.items() if key not in known}
    return {"extra": extra} if extra else {}


def _plain_word(passed: bool) -> str:
    return "passed" if passed else "failed"


def _invalid(issues: list[str]) -> NoReturn:
    raise UnusableAnswerError("invalid", f"Invalid grader result: {', '.join(issues)}", {"exit_code": 0})


def _no_constant(name: str) -> NoReturn:
    raise ValueError(name)
