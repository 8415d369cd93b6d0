"""Rules of mocks and requirements that upstream states: what it refuses is an error here and in a run."""

from pathlib import Path

import pytest

from tests.server.analysis.drawing import EVAL, TASK, marked, problems
from tests.server.project.files import put
from waza_engine.spec.loading import load_eval_file
from waza_engine.spec.problems import SuiteFileError
from waza_language_server.syntax.tried_edits import apply

SCENARIO = 'schemaVersion: "2.0"\nscenario: repair\n' + EVAL.replace("skill: demo\n", "")
COMMAND = "command_mocks:\n  - name: az\n    responses:\n      - args: [x]\n"
SERVER = "mcp_mocks:\n  - name: s\n    tools:\n      find:\n        responses:\n          - "


@pytest.mark.parametrize(
    ("mocks", "marked"),
    [
        (f"{COMMAND}        stdout: a\n        delay_ms: 5\n", "delay_ms"),
        (f"{COMMAND}        stdout: a\n        colour: red\n", "colour"),
        (f"{COMMAND}        sequence: null\n", "sequence"),
        (f"{SERVER}{{return: 1, delay_ms: 5}}\n", "delay_ms"),
        (f"{SERVER}sequence: [{{error: ''}}]\n", "{error: ''}"),
        (f"{SERVER}sequence: [{{delay_ms: 1}}]\n", "{delay_ms: 1}"),
        (f"{SERVER}sequence: null\n", "sequence"),
    ],
)
def test_what_a_scenario_refuses_is_an_error_in_both(tmp_path: Path, mocks: str, marked: str) -> None:
    text = SCENARIO + mocks
    found = [each for each in problems(text, "eval") if each.severity == "error"]
    assert [marked in text[each.span.start : each.span.end] for each in found] == [True]
    with pytest.raises(SuiteFileError):
        load_eval_file(put(tmp_path, "eval.yaml", text))


@pytest.mark.parametrize(
    "mocks",
    [
        f"{COMMAND}        sequence: [{{stdout: a, exit_code: 1, delay_ms: 2}}]\n",
        f"{SERVER}sequence: [{{return: null}}, {{error: busy}}, {{return: '', delay_ms: 1}}]\n",
        f"{COMMAND}        stdout: a\n        exit_code: 1.0\n",
    ],
)
def test_what_a_scenario_takes_is_taken_here(tmp_path: Path, mocks: str) -> None:
    assert not [each for each in problems(SCENARIO + mocks, "eval") if each.severity == "error"]
    load_eval_file(put(tmp_path, "eval.yaml", SCENARIO + mocks))


def test_elsewhere_a_key_without_effect_is_a_warning(tmp_path: Path) -> None:
    text = f"{EVAL}{COMMAND}        stdout: a\n        delay_ms: 5\n"
    assert [each.severity for each in problems(text, "eval") if each.code == "unknown-key"] == ["warning"]
    load_eval_file(put(tmp_path, "eval.yaml", text))


def test_requirements_that_make_no_sense_are_reported() -> None:
    beginning = "category: outcome, description: d, checks:"
    text = (
        f"{TASK}graders:\n  - {{type: text, name: greets, config: {{contains: [hi]}}}}\n"
        "requirements:\n"
        f"  - {{id: r, {beginning} [{{scope: task, grader: greet}}]}}\n"
        f"  - {{id: r, {beginning} [{{scope: task, grader: greets, after_turn: 1}}]}}\n"
        f"  - {{id: s, {beginning} [{{scope: checkpoint, grader: greets}}]}}\n"
    )
    found = marked(text)
    assert found == [
        ("unknown-grader-name", "greet"),
        ("repeated-item", "r"),
        ("key-without-effect", "after_turn"),
        ("unknown-grader-name", "greets"),
    ]
    (problem,) = (each for each in problems(text) if each.code == "key-without-effect")
    assert "grader: greets}]" in apply(text, problem.fixes[0].edits)
    inline = EVAL.replace(" [tasks/*.yaml]\n", "\n  - " + text.rstrip().replace("\n", "\n    ") + "\n")
    assert marked(inline, "eval") == found


def test_a_requirement_of_an_inline_task_names_a_grader_of_the_suite() -> None:
    requirement = "{id: r, category: outcome, description: d, checks: [{scope: eval, grader: polit}]}"
    text = EVAL.replace(
        " [tasks/*.yaml]\n",
        f"\n  - {{id: t, name: T, inputs: {{prompt: Go}}, requirements: [{requirement}]}}\n"
        "graders: [{type: text, name: polite, config: {contains: [please]}}]\n",
    )
    (problem,) = problems(text, "eval")
    assert problem.code == "unknown-grader-name"
    assert not problems(apply(text, problem.fixes[0].edits), "eval")
