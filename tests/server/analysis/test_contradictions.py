"""What cannot be meant: contradictions, prompts on both sides, ids taken twice, weights."""

import pytest

from tests.server.analysis.drawing import EVAL, TASK, fixed, marked


def grader(kind: str, config: str) -> str:
    return f"{TASK}graders:\n  - type: {kind}\n    name: g\n    config: {config}\n"


@pytest.mark.parametrize(
    ("text", "characters"),
    [
        (grader("text", "{contains: [Abc], not_contains: [x, b]}"), "b"),
        (grader("text", "{regex_match: ['a+'], regex_not_match: ['a+']}"), "'a+'"),
        (grader("file", "{must_exist: [a.md], must_not_exist: [a.md]}"), "a.md"),
        (grader("file", "{content_patterns: [{path: a, must_match: [x], must_not_match: [x]}]}"), "x"),
        (grader("behavior", "{required_tools: [bash], forbidden_tools: [bash]}"), "bash"),
        (grader("tool_constraint", "{expect_tools: [{tool: ^a}], reject_tools: [{tool: ^a}]}"), "{tool: ^a}"),
        (f"{TASK}expected:\n  output_contains: [abc]\n  output_not_contains: [b]\n", "b"),
        (f"{TASK}expected:\n  output_contains: [Abc]\n  output_not_contains: [abc]\n", "abc"),
        (f"{TASK}expected:\n  output_not_contains: ['']\n", "''"),
        (grader("text", "{regex_not_match: ['.*']}"), "'.*'"),
        (grader("text", "{not_contains: ['', a]}"), "''"),
        (f"{TASK}expected:\n  behavior:\n    required_tools: [a]\n    forbidden_tools: [a]\n", "a"),
    ],
)
def test_what_is_asked_for_and_forbidden_is_marked(text: str, characters: str) -> None:
    assert marked(text) == [("contradiction", characters)]


@pytest.mark.parametrize(
    "text",
    [
        grader("text", "{contains: [a], not_contains: [abc]}"),
        grader("text", "{contains_cs: [Abc], not_contains_cs: [abc]}"),
        grader("text", "{regex_match: ['a'], regex_not_match: ['^a']}"),
        grader("tool_calls", "{expect: [{tool: a, args: {n: {range: {gte: 2, lte: 2}}}}]}"),
        grader("tool_calls", "{expect: [{tool: a, args: {n: {range: {gt: 2, lt: 2.5}}}}]}"),
        grader("file", "{must_exist: [src/b], must_not_exist: [src/a, sr, src/b/c]}"),
    ],
)
def test_what_an_answer_can_do_is_left_alone(text: str) -> None:
    assert marked(text) == []


@pytest.mark.parametrize(
    ("bounds", "characters", "fixed_to"),
    [
        ("gte: 5, lt: 2", "5", "gte: 2, lt: 5"),
        ("lte: 1.5, gt: 3", "3", "lte: 3, gt: 1.5"),
        ("gt: 5, lte: 5", "5", None),
    ],
)
def test_bounds_that_hold_no_number_are_marked(bounds: str, characters: str, fixed_to: str | None) -> None:
    text = grader("tool_calls", f"{{expect: [{{tool: a, args: {{n: {{range: {{{bounds}}}}}}}}}]}}")
    assert marked(text) == [("bounds-reversed", characters)]
    assert not fixed_to or fixed(text, "bounds-reversed") == text.replace(bounds, fixed_to)


def test_long_lists_are_compared_in_proportion_to_their_length() -> None:
    words = ", ".join(f"w{at}" for at in range(3_000))
    codes = marked(grader("text", f"{{contains: [{words}], not_contains: [{words}]}}"))
    assert len(codes) == 3_000


def test_a_prompt_on_both_sides_is_marked() -> None:
    text = (
        "skill: s\nshould_trigger_prompts:\n  - prompt: Explain  this\n"
        "should_not_trigger_prompts:\n  - prompt: explain this\n  - prompt: other\n"
    )
    assert marked(text, "trigger_tests") == [("prompt-on-both-sides", "explain this")]


def test_an_id_of_two_inline_tasks_is_marked() -> None:
    tasks = "".join(f"- {{id: a, name: {name}, inputs: {{prompt: x}}}}\n" for name in "AB")
    text = EVAL.replace("tasks: [tasks/*.yaml]\n", f"tasks:\n{tasks}")
    assert ("duplicate-task-id", "a") in marked(text, "eval")


def judged(name: str) -> str:
    return (
        "graders:\n  - {type: prompt, name: judge, config: {prompt: Good?}}\n"
        f"  - {{type: human_calibration, name: c, config: {{calibrate_grader: {name}}}}}\n"
    )


def test_a_judge_that_is_not_there_is_marked() -> None:
    assert ("unknown-grader-name", "jugde") in marked(EVAL + judged("jugde"), "eval")
    assert "unknown-grader-name" not in dict(marked(EVAL + judged("judge"), "eval"))
    assert fixed(EVAL + judged("jugde"), "unknown-grader-name", "eval") == EVAL + judged("judge")


def metrics(*weights: str) -> str:
    entries = "".join(
        f"  - {{name: m{at}, threshold: 0.5, weight: {weight}}}\n" for at, weight in enumerate(weights)
    )
    return f"{EVAL}metrics:\n{entries}"


def test_weights_that_do_not_add_up_to_one_are_scaled() -> None:
    text = metrics("2", "1", "1")
    assert ("weights-not-one", "1") in marked(text, "eval")
    assert fixed(text, "weights-not-one", "eval") == metrics("0.5", "0.25", "0.25")


@pytest.mark.parametrize(
    "weights", [("0.5", "0.5"), ("0.33", "0.33", "0.33"), ("0.5", "0.2, enabled: false", "0.5"), ("1.0",)]
)
def test_weights_that_add_up_are_left_alone(weights: tuple[str, ...]) -> None:
    assert "weights-not-one" not in dict(marked(metrics(*weights), "eval"))


def test_a_bare_name_of_a_rejected_tool_is_anchored() -> None:
    text = grader("tool_constraint", "{reject_tools: [{tool: rm}, {tool: ^a$}]}")
    assert marked(text) == [("unanchored-tool", "rm")]
    assert fixed(text, "unanchored-tool") == text.replace("rm", "'^rm$'")
