"""The same verdicts as upstream's engine, recorded for hundreds of graders; all differences are meant."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, cast

import pytest

from tests.engine.graders.grading import folder
from tests.shared_corpus import VERDICTS
from waza_engine.assertions.evaluator import AssertionEvaluator
from waza_engine.graders.base import GraderError, GradingContext
from waza_engine.graders.registry import create
from waza_engine.scoring.task_scores import effective_weight
from waza_engine.spec.grader_entry import GraderEntry
from waza_engine.spec.pattern_syntax import PatternSyntaxError, dialect_of
from waza_engine.vocabulary import SkillInvocation, ToolCall, Usage

WITHOUT_RE2 = {"text-0155", "text-0367"}
"""Cases whose patterns RE2 alone reads, or rejects; docs/compatibility.md names them."""

Answer = tuple[float | None, bool, bool]
"""Score, passed, and whether there was an error instead of a score."""

PYTHON_PATTERNS = "a pattern that RE2 refuses but Python accepts is searched, not failed"
NOTHING_TO_CHECK = "a grader that checks nothing is an error instead of a pass"
NEGATIVE_SCORE = "a negative trigger scores 1 - relevance, so that a pass scores high"
OLDER_FORM = "the older pattern form of tool_calls is graded instead of ignored or refused"
NEGATIVE_LIMIT = "a negative limit is an error instead of being ignored"
ALLOWED_TOOLS = "`allow_only` is graded, which upstream did not know yet"
EMPTY_WORD = "an empty `language` is an error instead of the default"
NO_TYPE = "a grader without a `type` is `code`, as in the first version, or an error of its own"
REVIEW = "reviews by people are pending instead of refused"


def recorded(path: Path = VERDICTS / "grader_cases.jsonl") -> list[dict[str, Any]]:
    if not path.is_file():
        return []
    cases = (json.loads(line) for line in path.read_text("utf-8").splitlines())
    return [case for case in cases if type_of(case) != "expected"]


def type_of(case: dict[str, Any]) -> str:
    return str(case["grader"].get("type") or "")


CASES = recorded()
needs_records = pytest.mark.skipif(not CASES, reason="the recorded verdicts are not beside this checkout")


@needs_records
@pytest.mark.parametrize("type_name", sorted({type_of(case) for case in CASES}))
def test_grades_as_recorded(
    type_name: str,
    evaluator: AssertionEvaluator,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    pattern_library: str,
) -> None:
    unexpected: dict[str, tuple[Answer, Answer]] = {}
    left_out = WITHOUT_RE2 if pattern_library == "regex" else set[str]()
    cases = [case for case in CASES if type_of(case) == type_name and case["id"] not in left_out]
    for case in cases:
        suite = suite_of(case, tmp_path)
        # Upstream resolves some paths from the working directory, then the suite.
        monkeypatch.chdir(suite)
        wanted, got = recorded_answer(case), answer(case, suite, evaluator)
        if wanted != got and reason(case, wanted, got) is None:
            unexpected[case["id"]] = (wanted, got)
    assert unexpected == {}


@needs_records
def test_every_reason_is_needed(
    evaluator: AssertionEvaluator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    needed: set[str] = set()
    for case in CASES:
        suite = suite_of(case, tmp_path)
        monkeypatch.chdir(suite)
        wanted, got = recorded_answer(case), answer(case, suite, evaluator)
        if wanted != got:
            needed.add(reason(case, wanted, got) or "none")
    assert needed == {
        PYTHON_PATTERNS,
        NOTHING_TO_CHECK,
        NEGATIVE_SCORE,
        OLDER_FORM,
        NEGATIVE_LIMIT,
        ALLOWED_TOOLS,
        EMPTY_WORD,
        REVIEW,
    }


def test_a_record_without_a_type_is_read_and_answered(evaluator: AssertionEvaluator, tmp_path: Path) -> None:
    context = {"output": "", "files": {}, "tool_calls": [], "skill_invocations": [], "usage": None}
    case = {
        "id": "none-0001",
        "grader": {"name": "g", "config": {"assertions": ["True"]}},
        "context": {**context, "duration_ms": 0, "prompt": ""},
        "expected": {"score": None, "passed": False, "error_kind": "load"},
    }
    (tmp_path / "cases.jsonl").write_text(json.dumps(case), "utf-8")
    (read,) = recorded(tmp_path / "cases.jsonl")
    assert type_of(read) == ""
    assert answer(read, suite_of(read, tmp_path), evaluator) == recorded_answer(read)


@needs_records
def test_a_grader_counts_as_much_as_recorded() -> None:
    different = {
        case["id"]: (case["expected"].get("weight", 1), weight)
        for case in CASES
        if "error_kind" not in case["expected"]
        and (weight := effective_weight(GraderEntry.model_validate(case["grader"]).weight))
        != case["expected"].get("weight", 1)
    }
    assert different == {}


def reason(case: dict[str, Any], wanted: Answer, got: Answer) -> str | None:
    """Return why this engine means to answer otherwise, None when nothing in the case says so."""
    config, (score, passed, error) = case["grader"].get("config") or {}, got
    match type_of(case):
        case "":
            return NO_TYPE
        case "human":
            return REVIEW
        case "tool_calls" if {"required", "forbidden"} & set(config):
            return OLDER_FORM
        case "tool_constraint" if "allow_only" in config:
            return ALLOWED_TOOLS
        case "code" if error and config.get("language") == "":
            return EMPTY_WORD
        case "behavior" if error and any(isinstance(v, int) and v < 0 for v in values_of(config)):
            return NEGATIVE_LIMIT
        case "trigger" if config.get("mode") == "negative" and None not in (score, wanted[0]):
            return NEGATIVE_SCORE if passed == wanted[1] and score == round(1 - (wanted[0] or 0), 9) else None
        case "text" if error and wanted == (1.0, True, False):
            return NOTHING_TO_CHECK
        case _:
            return PYTHON_PATTERNS if any(map(is_for_python_alone, values_of(config))) else None


def values_of(config: object) -> Iterator[object]:
    match config:
        case dict():
            for value in cast("dict[str, object]", config).values():
                yield from values_of(value)
        case list():
            for item in cast("list[object]", config):
                yield from values_of(item)
        case _:
            yield config


def is_for_python_alone(text: object) -> bool:
    try:
        return isinstance(text, str) and dialect_of(text) == "python"
    except PatternSyntaxError:
        return False


def suite_of(case: dict[str, Any], place: Path) -> Path:
    suite = folder(place / case["id"] / "suite", case["context"].get("suite_files", {}))
    suite.mkdir(parents=True, exist_ok=True)
    return suite


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
    calls = calls_of(transcript) if type_of(case) == "code" else data["tool_calls"]
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
