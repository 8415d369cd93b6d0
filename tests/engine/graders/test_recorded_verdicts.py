"""The same verdicts as upstream's engine, recorded for hundreds of graders; all differences are meant."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.engine.graders.grading import folder
from tests.shared_corpus import VERDICTS
from waza_engine.assertions.evaluator import AssertionEvaluator
from waza_engine.graders.base import GraderError, GradingContext
from waza_engine.graders.registry import create
from waza_engine.vocabulary import SkillInvocation, ToolCall, Usage

Answer = tuple[float | None, bool, bool]
"""Score, passed, and whether there was an error instead of a score."""

PYTHON_PATTERNS = "a pattern that RE2 refuses but Python accepts is searched, not failed (D8)"
NOTHING_TO_CHECK = "a grader that checks nothing is an error instead of a pass (12.2-1)"
NEGATIVE_SCORE = "a negative trigger scores 1 - relevance, so that a pass scores high (D16)"
OLDER_FORM = "the older pattern form of tool_calls is graded instead of ignored or refused (D2)"

DIFFERENCES = {
    "text-0124": PYTHON_PATTERNS,
    "text-0128": PYTHON_PATTERNS,
    "text-0131": PYTHON_PATTERNS,
    "text-0377": PYTHON_PATTERNS,
    "text-0389": PYTHON_PATTERNS,
    "text-0433": PYTHON_PATTERNS,
    "text-0440": PYTHON_PATTERNS,
    "file-0025": PYTHON_PATTERNS,
    "tool_constraint-0159": PYTHON_PATTERNS,
    "text-0449": NOTHING_TO_CHECK,
    "text-0450": NOTHING_TO_CHECK,
    "text-0451": NOTHING_TO_CHECK,
    "behavior-0114": "a negative limit is an error instead of being ignored",
    "tool_constraint-0184": "`allow_only` is graded, upstream does not know it (D6)",
    "tool_calls-0158": OLDER_FORM,
    "tool_calls-0159": OLDER_FORM,
    "tool_calls-0160": OLDER_FORM,
    "code-0244": "an empty `language` is an error instead of Python",
    "human-0000": "human reviews are pending instead of refused (D1, D13)",
    **dict.fromkeys(
        (
            "trigger-0010",
            "trigger-0020",
            "trigger-0028",
            "trigger-0038",
            "trigger-0041",
            "trigger-0042",
            "trigger-0043",
            "trigger-0057",
            "trigger-0069",
            "trigger-0071",
            "trigger-0077",
            "trigger-0084",
        ),
        NEGATIVE_SCORE,
    ),
}


def recorded() -> list[dict[str, Any]]:
    path = VERDICTS / "grader_cases.jsonl"
    if not path.is_file():
        return []
    cases = (json.loads(line) for line in path.read_text("utf-8").splitlines())
    return [case for case in cases if case["grader"]["type"] != "expected"]


CASES = recorded()
needs_records = pytest.mark.skipif(not CASES, reason="the recorded verdicts are not beside this checkout")


@pytest.fixture(scope="module")
def evaluator() -> Iterator[AssertionEvaluator]:
    with AssertionEvaluator() as shared:
        yield shared


@needs_records
@pytest.mark.parametrize("type_name", sorted({case["grader"]["type"] for case in CASES}))
def test_grades_as_recorded(
    type_name: str, evaluator: AssertionEvaluator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    unexpected: dict[str, tuple[Answer, Answer]] = {}
    cases = [case for case in CASES if case["grader"]["type"] == type_name]
    for case in cases:
        suite = folder(tmp_path / case["id"] / "suite", case["context"].get("suite_files", {}))
        suite.mkdir(parents=True, exist_ok=True)
        # Upstream resolves some paths from the working directory, then the suite.
        monkeypatch.chdir(suite)
        wanted, got = recorded_answer(case), answer(case, suite, evaluator)
        if (wanted == got) == (case["id"] in DIFFERENCES):
            unexpected[case["id"]] = (wanted, got)
    assert unexpected == {}


@needs_records
def test_every_listed_difference_is_recorded() -> None:
    assert set(DIFFERENCES) <= {case["id"] for case in CASES}


def recorded_answer(case: dict[str, Any]) -> Answer:
    expected = case["expected"]
    error = expected.get("error_kind") is not None
    return (None if error else round(expected["score"], 9), expected["passed"], error)


def answer(case: dict[str, Any], suite: Path, evaluator: AssertionEvaluator) -> Answer:
    try:
        verdict = create(case["grader"]).grade(context_of(case, suite, evaluator))
    except GraderError:
        return (None, False, True)
    return (round(verdict.score, 9), verdict.passed, False)


def context_of(case: dict[str, Any], suite: Path, evaluator: AssertionEvaluator) -> GradingContext:
    data = case["context"]
    workspace = folder(suite.parent / "workspace", data["files"])
    workspace.mkdir(exist_ok=True)
    transcript = data.get("transcript", [])
    # Upstream's re-grading shows assertions only those calls that are in the transcript.
    calls = calls_of(transcript) if case["grader"]["type"] == "code" else data["tool_calls"]
    usage = data["usage"]
    return GradingContext(
        output=data["output"],
        transcript=transcript,
        tool_calls=[ToolCall(call["name"], call["arguments"], success=call["success"]) for call in calls],
        skill_invocations=[SkillInvocation(skill["name"]) for skill in data["skill_invocations"]],
        usage=usage and Usage(usage["turns"], usage["input_tokens"], usage["output_tokens"]),
        duration_ms=data["duration_ms"],
        prompt=data["prompt"],
        workspace=workspace,
        suite_directory=suite,
        assertions=evaluator,
    )


def calls_of(transcript: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    complete = {
        event["tool_call_id"]: event for event in transcript if event["type"] == "tool.execution_complete"
    }
    return [
        {
            "name": event["tool_name"],
            "arguments": event["arguments"],
            "success": complete.get(event["tool_call_id"], {}).get("success", False),
        }
        for event in transcript
        if event["type"] == "tool.execution_start"
    ]
