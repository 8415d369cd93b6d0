"""Assertions over the answer and the session: `code`."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from typing import Any

import pytest

from tests.engine.graders.grading import failed_paths, grade, refused, result
from waza_engine.assertions import javascript
from waza_engine.assertions.evaluator import AssertionEvaluator
from waza_engine.graders.base import ToolCall, Verdict

needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="Node.js is not installed")


@pytest.fixture(scope="module")
def evaluator() -> Iterator[AssertionEvaluator]:
    with AssertionEvaluator() as shared:
        yield shared


def code(evaluator: AssertionEvaluator, *assertions: str, **context: Any) -> Verdict:
    return grade("code", {"assertions": list(assertions)}, assertions=evaluator, **context)


@pytest.mark.parametrize(
    ("assertions", "expected"),
    [
        (["1 == 1"], (1.0, True)),
        (["1 == 0"], (0.0, False)),
        (["1==1", "2==3", "3==3", "4==5"], (0.5, False)),
        (["len(output) > 0", "'hello' in output.lower()"], (1.0, True)),
        (["the output greets the user"], (0.0, False)),
    ],
)
def test_scores(evaluator: AssertionEvaluator, assertions: list[str], expected: tuple[float, bool]) -> None:
    assert result(code(evaluator, *assertions, output="Hello, World!")) == expected


def test_every_assertion_is_a_check_at_its_line(evaluator: AssertionEvaluator) -> None:
    verdict = code(evaluator, "1==1", "2==3", "nope")
    assert failed_paths(verdict) == [("assertions", 1), ("assertions", 2)]
    assert verdict.feedback == "not true: 2==3; not true: nope: the name `nope` does not exist here"
    assert verdict.details["passed_assertions"] == 1


def test_a_long_assertion_is_quoted_shortly(evaluator: AssertionEvaluator) -> None:
    verdict = code(evaluator, "output == '" + "x" * 5000 + "'")
    assert len(verdict.feedback) < 400


def test_numbers_and_booleans_are_read_as_upstream_reads_them(evaluator: AssertionEvaluator) -> None:
    verdict = grade("code", {"assertions": [True, 1]}, assertions=evaluator)
    assert failed_paths(verdict) == [("assertions", 0)]


def test_a_tool_call_has_the_known_arguments_and_no_others(evaluator: AssertionEvaluator) -> None:
    calls = (ToolCall("bash", {"command": "ls", "path": None, "limit": 5}, id="c1", success=True),)
    verdict = code(
        evaluator,
        "tool_calls[0]['arguments']['path'] == ''",
        "list(tool_calls[0]['arguments']) == ['path', 'file_text', 'command', 'description', 'skill']",
        "tool_calls[0]['id'] == 'c1'",
        "'result' not in tool_calls[0]",
        tool_calls=calls,
    )
    assert result(verdict) == (1.0, True)


def test_errors_are_events_that_speak_of_an_error(evaluator: AssertionEvaluator) -> None:
    transcript = (
        {"type": "session.error", "message": "boom"},
        {"type": "assistant.message", "content": "no error found"},
        {"type": "assistant.message", "content": "An Error"},
        {"type": "assistant.message", "message": "error"},
    )
    assert result(code(evaluator, "len(errors) == 2", transcript=transcript)) == (1.0, True)


def test_without_a_shared_evaluator_the_grader_starts_its_own() -> None:
    assert result(grade("code", {"assertions": ["duration_ms == 7"]}, duration_ms=7)) == (1.0, True)


def test_assertions_may_stand_beside_the_type() -> None:
    from waza_engine.graders.registry import create

    grader = create({"type": "code", "name": "g", "assertions": ["1 == 1"]})
    assert grader.config.assertions == ("1 == 1",)


@pytest.mark.parametrize(
    ("config", "words"),
    [
        (None, ["`config.assertions` is missing"]),
        ({"assertions": []}, ["`config.assertions` must not be empty"]),
        ({"assertions": None}, ["`config.assertions` must be a list"]),
        ({"assertions": [None]}, ["`config.assertions[0]` must be text"]),
        (
            {"assertions": ["1"], "language": "ruby"},
            ["`config.language` is `ruby`", "`python` or `javascript`"],
        ),
    ],
)
def test_code_that_cannot_be_graded(config: dict[str, Any] | None, words: list[str]) -> None:
    with refused(*words):
        grade("code", config)


@needs_node
def test_javascript() -> None:
    assertions = ["output.length > 3", "output.includes('Hello')", "tool_calls.length === 0", "len(output)"]
    verdict = grade("code", {"assertions": assertions, "language": "javascript"}, output="Hello")
    assert result(verdict) == (0.75, False)
    assert "ReferenceError: len is not defined" in verdict.feedback


@needs_node
@pytest.mark.parametrize(
    ("assertion", "passed"),
    [
        ("const a = 1; a === 1", True),
        ("console.log(1)", False),
        ("new Promise(() => {})", True),
        ("Array.isArray(tool_calls)", True),
        ("tool_calls instanceof Array", True),
        ("True && !False", True),
        ("throw null", False),
        ("process.exit(0)", False),
        ("require('fs')", False),
        ("output.constructor.constructor('return process')().exit(0)", False),
        ("new Set([1]).has(1) && Number.isInteger(duration_ms)", True),
        ("output ===", False),
    ],
)
def test_javascript_semantics(assertion: str, passed: bool) -> None:
    config = {"assertions": [assertion], "language": "javascript"}
    assert grade("code", config, output="x").passed is passed


@needs_node
def test_javascript_declarations_persist_and_a_hang_costs_one_assertion() -> None:
    assertions = ["var n = 3; n", "n === 3", "for (;;) {}", "(async () => { for (;;) await 0 })()", "n === 3"]
    outcomes = javascript.evaluate_javascript(assertions, {"output": ""}, deadline_seconds=0.5)
    assert [(outcome.passed, outcome.timed_out) for outcome in outcomes] == [
        (True, False),
        (True, False),
        (False, True),
        (False, True),
        (True, False),
    ]


@needs_node
def test_javascript_that_exhausts_memory_costs_one_assertion() -> None:
    hungry = "const kept = []; for (;;) kept.push(new Array(1e6).fill(kept.length))"
    outcomes = javascript.evaluate_javascript(["1", hungry, "2"], {"output": ""}, deadline_seconds=60)
    assert [outcome.passed for outcome in outcomes] == [True, False, True]
    assert outcomes[1].error == "it crashed Node.js or needs too much memory"


def test_javascript_without_node_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with refused("need Node.js"):
        grade("code", {"assertions": ["1"], "language": "javascript"})
