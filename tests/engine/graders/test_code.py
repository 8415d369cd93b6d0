"""Assertions over the answer and the session: `code`, with the worked examples"""

import shutil
import threading
from typing import Any

import psutil
import pytest

from tests.engine.graders.grading import failed_paths, grade, refused, result
from waza_engine.assertions.evaluator import AssertionEvaluator
from waza_engine.graders.base import Verdict
from waza_engine.vocabulary import ToolCall

MEMORY = ("it crashed Node.js or needs too much memory", "it needs more than the allowed memory")
needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="Node.js is not installed")


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


@pytest.mark.parametrize(
    ("assertion", "told"),
    [
        ("len(output) < 3", "len(output) is 6"),
        ("not output", "output is 'answer'"),
        ("len(output) > 3 and duration_ms < 5", "duration_ms is 7"),
        ("'x' in output or errors", "output is 'answer', errors is []"),
        ("tool_calls[0]['name'] == 'grep'", "tool_calls[0]['name'] is 'bash'"),
        ("[c['name'] for c in tool_calls] == []", "[c['name'] for c in tool_calls] is ['bash']"),
        ("len(output)**5000 < 3", "len(output) is 6"),
        ("[len(output)**5000] == []", "len(output) is 6"),
        ("duration_ms ** 30 < 3", "duration_ms ** 30 is 22539340290692258087863249"),
        ("'x' in (  output  +  'y')", "output + 'y' is 'answery'"),
        ("any(w in output for output in [output] for w in ['q', 'z'])", ""),
        ("tool_calls == []", ""),
        ("1 > 2", ""),
        ("tool_calls.pop() is None", ""),
        ("(length := len(output)) < 3", ""),
    ],
)
def test_a_false_assertion_tells_what_its_parts_came_to_when_that_is_short(
    evaluator: AssertionEvaluator, assertion: str, told: str
) -> None:
    calls = (ToolCall("bash", {"command": "ls"}, success=True),)
    verdict = code(evaluator, assertion, output="answer", tool_calls=calls, duration_ms=7)
    assert verdict.feedback == f"not true: {assertion}{told and f' ({told})'}"


def test_what_changes_the_record_is_not_evaluated_again(evaluator: AssertionEvaluator) -> None:
    calls = tuple(ToolCall(name, {}, success=True) for name in ("first", "second"))
    verdict = code(evaluator, "tool_calls.pop()['name'] == 'first'", "len(tool_calls) == 1", tool_calls=calls)
    assert verdict.feedback == "not true: tool_calls.pop()['name'] == 'first'"


def test_a_long_assertion_is_not_taken_apart(evaluator: AssertionEvaluator) -> None:
    assertion = " or ".join(["'x' in output"] * 1_000)
    verdict = code(evaluator, assertion, "output == 'y'", output="answer")
    assert failed_paths(verdict) == [("assertions", 0), ("assertions", 1)]
    assert verdict.feedback.endswith("; not true: output == 'y'")


def test_what_took_long_is_not_evaluated_again(evaluator: AssertionEvaluator) -> None:
    assertion = "len([1 for letter in output for _ in letter * 3000]) == 0"
    assert code(evaluator, assertion, output="x" * 2_000).feedback == f"not true: {assertion}"


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
        ({"assertions": ["1"], "language": ""}, ["`config.language` is empty"]),
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
    with AssertionEvaluator(deadline_seconds=0.5) as shared:
        outcomes = shared.evaluate(assertions, {"output": ""}, "javascript")
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
    with AssertionEvaluator(deadline_seconds=60) as shared:
        outcomes = shared.evaluate(["1", hungry, "2"], {"output": ""}, "javascript")
    assert [outcome.passed for outcome in outcomes] == [True, False, True]
    assert outcomes[1].error in MEMORY


@needs_node
def test_javascript_memory_outside_of_the_heap_is_limited_too() -> None:
    hungry = "const kept = []; for (;;) kept.push(new Uint8Array(1e7).fill(1))"
    with AssertionEvaluator(deadline_seconds=60, memory_bytes=400_000_000) as shared:
        outcomes = shared.evaluate([hungry, "2"], {"output": ""}, "javascript")
    assert [(outcome.passed, outcome.timed_out) for outcome in outcomes] == [(False, False), (True, False)]
    assert outcomes[0].error in MEMORY


@needs_node
def test_one_node_serves_all_graders_and_forgets_each_of_them() -> None:
    with AssertionEvaluator() as shared:
        first = shared.evaluate(
            ["globalThis.left = 1; Array.prototype.left = 1; output = 'changed'; var kept = 1; kept"],
            {"output": "a"},
            "javascript",
        )
        one = shared.process_ids()
        second = shared.evaluate(
            [
                "typeof left === 'undefined'",
                "[].left === undefined",
                "output === 'b'",
                "typeof kept === 'undefined'",
            ],
            {"output": "b"},
            "javascript",
        )
        assert shared.process_ids() == one
    assert [outcome.passed for outcome in (*first, *second)] == [True] * 5


@needs_node
def test_what_node_itself_throws_leads_nowhere() -> None:
    reach = "var seen; import('fs').catch((error) => { seen = error }); true"
    with AssertionEvaluator() as shared:
        outcomes = shared.evaluate(
            [
                reach,
                "seen.constructor.constructor('return process')().exit(0)",
                "Object.getPrototypeOf(Object.getPrototypeOf(Object.getPrototypeOf(seen))).left = 1",
                "Promise.reject(new Error('nobody listens')); true",
            ],
            {},
            "javascript",
        )
        one = shared.process_ids()
        assert shared.evaluate(["({}).left === undefined"], {}, "javascript")[0].passed
        assert shared.process_ids() == one
    assert not outcomes[1].passed


@needs_node
def test_closing_ends_node_while_it_evaluates() -> None:
    shared = AssertionEvaluator(deadline_seconds=60)
    failures: list[str] = []

    def work() -> None:
        try:
            shared.evaluate(["for (;;) {}"], {}, "javascript")
        except RuntimeError as error:
            failures.append(str(error))

    thread = threading.Thread(target=work)
    thread.start()
    while not shared.process_ids():
        thread.join(0.01)
    identifiers = shared.process_ids()
    shared.close()
    thread.join(60)
    assert len(failures) == 1
    assert not any(psutil.pid_exists(identifier) for identifier in identifiers)


def test_javascript_without_node_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with refused("need Node.js"):
        grade("code", {"assertions": ["1"], "language": "javascript"})
