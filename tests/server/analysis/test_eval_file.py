"""What an eval file as a whole shows: rows that run backwards, mock servers of one name, its version."""

from pathlib import Path
from typing import Any, cast

import pytest

from tests.server.analysis.drawing import EVAL, drawn, fixed, problems
from waza_engine.mcp.servers import agent_servers
from waza_engine.spec.reading.yaml_reader import parse_yaml

ROWS = EVAL.replace("tasks: [tasks/*.yaml]\n", "tasks_from: rows.csv\n")


def test_rows_that_run_backwards() -> None:
    text = ROWS + "range: [10, 2]\n"
    assert (
        drawn(text, "eval", fixes=True)
        == """
⋯
range: [10, 2]
        ^^ error bounds-reversed: The first row of `range` (10) must not be after the last (2).
          = fix: Swap the two
"""
    )
    assert problems(fixed(text, "bounds-reversed", "eval"), "eval") == ()


@pytest.mark.parametrize("rows", ["[3, 3]", "[0, 0]"])
def test_rows_that_are_fine(rows: str) -> None:
    assert problems(f"{ROWS}range: {rows}\n", "eval") == ()


def test_tasks_next_to_a_dataset_have_no_effect() -> None:
    [problem] = problems(f"{ROWS}tasks: [tasks/*.yaml]\n", "eval")
    assert (problem.code, problem.severity) == ("key-without-effect", "warning")
    assert (
        problem.message == "`tasks` has no effect next to `tasks_from`: the tasks are those of the dataset."
    )
    assert fixed(f"{ROWS}tasks: [tasks/*.yaml]\n", "key-without-effect", "eval") == ROWS


def test_a_grader_may_be_advisory_and_a_task_may_fail_in_some_trials() -> None:
    lenient = EVAL.replace("  trials_per_task: 1\n", "  trials_per_task: 3\n  pass_rate: 0.66\n")
    assert "pass_rate" in lenient
    text = lenient + "graders:\n- {type: text, name: g, required: false, config: {contains: [a]}}\n"
    assert problems(text, "eval") == ()
    wrong = text.replace("0.66", "2").replace("required: false", "required: [a]")
    assert [(found.code, found.severity) for found in problems(wrong, "eval")] == [
        ("out-of-range", "error"),
        ("wrong-type", "error"),
    ]


def test_a_metric_that_nothing_computes_and_that_is_like_none_is_information() -> None:
    other = EVAL + "metrics:\n- {name: response_quality}\n"
    (problem,) = (found for found in problems(other, "eval") if found.code == "unknown-metric")
    assert problem.severity == "information"
    assert problem.message == (
        "The metric `response_quality` is not computed; `trigger_accuracy`, `task_completion`, "
        "`behavior_quality`, `pass_at_k` and `pass_exp_k` are."
    )


def test_two_mock_servers_of_one_name() -> None:
    text = EVAL + "mcp_mocks:\n  - {name: a, fixtures: x}\n  - {name: a, fixtures: y}\n"
    (problem,) = problems(text, "eval")
    assert (problem.code, text[problem.span.start : problem.span.end]) == ("duplicate-mock-name", "a")


SCENARIO = EVAL.replace("skill: demo\n", 'scenario: inventory\nschemaVersion: "2.0"\n')


def test_a_newer_version_is_one_mark_and_its_unknown_keys_are_hints() -> None:
    text = 'schemaVersion: "1.99"\n' + EVAL + "novelty: 1\ngraders:\n"
    text += "  - {type: text, name: a, config: {contains: [x], invented: 1}}\n"
    found = [(each.code, each.severity) for each in problems(text, "eval")]
    assert found == [("newer-format", "information"), ("unknown-key", "hint"), ("unknown-key", "hint")]


@pytest.mark.parametrize("version", ["1.0", "1.3", "1.5"])
def test_a_known_version_is_not_marked_and_its_unknown_keys_are_warnings(version: str) -> None:
    found = [
        (each.code, each.severity) for each in problems(f'schemaVersion: "{version}"\n{EVAL}a: 1\n', "eval")
    ]
    assert found == [("unknown-key", "warning")]


def test_a_suite_of_a_scenario_needs_no_skill() -> None:
    assert "scenario" in SCENARIO
    assert problems(SCENARIO, "eval") == ()


def test_a_scenario_in_an_older_version() -> None:
    assert "conflicting-keys: `scenario` needs `schemaVersion" in drawn(
        SCENARIO.replace('"2.0"', '"1.5"'), "eval"
    )


@pytest.mark.parametrize(
    ("block", "code", "place"),
    [
        ("{type: stdoi, command: node}", "value-not-allowed", "stdoi"),
        ("{type: http}", "missing-key", "orders"),
        ("{command: x, arguments: []}", "unknown-key", "arguments"),
        ("node", "wrong-type", "orders"),
        ("{cmd: x, args: [a], env: [A], cwd: ., tools: [a], timeout: 5}", "", ""),
        ("{url: 'http://127.0.0.1', headers: {a: b}}", "", ""),
        ("{command: '${PROGRAM}'}", "", ""),
    ],
)
def test_a_server_is_warned_about_as_a_run_does(tmp_path: Path, block: str, code: str, place: str) -> None:
    text = EVAL.replace("  model: m\n", f"  model: m\n  mcp_servers:\n    orders: {block}\n")
    found = [each for each in problems(text, "eval") if each.severity == "warning"]
    marked = [(each.code, text[each.span.start : each.span.end]) for each in found]
    assert marked == ([(code, place)] if code else [])
    written = cast("dict[str, Any]", parse_yaml(f"orders: {block}", tmp_path).value)
    _, warnings = agent_servers(written, tmp_path, {"A": "a", "PROGRAM": "x"})
    assert [each.partition(";")[0] for each in warnings] == [each.message.partition(";")[0] for each in found]
