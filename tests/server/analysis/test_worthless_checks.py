"""Checks that decide nothing, or never pass, because of what the prompt, the program or the agent has."""

from pathlib import Path

import pytest

from tests.server.analysis.drawing import EVAL, TASK, graders, problems_in
from tests.server.project.files import put
from waza_language_server.analysis.problem import Problem
from waza_language_server.syntax.tried_edits import apply

AGENT = EVAL.replace("executor: mock", "executor: copilot-sdk")
CODES = ("skill-already-loaded", "answer-in-prompt", "unread-verdict")
NEEDS = "graders:\n  - type: skill_invocation\n    config: {mode: in_order, required_skills: [demo]}\n"
PROGRAM = (
    "graders:\n  - type: program\n    name: c\n    config:\n      command: python3\n      args: [check.py]\n"
)
PRINTS = "import json, sys\nok = 'x' in sys.stdin.read()\nprint(json.dumps({'passed': ok, 'score': 0.5}))\n"


def found(folder: Path, name: str, text: str) -> tuple[Problem, ...]:
    """Return the problems of a file of the suite in this folder that are about worthless checks."""
    problems = problems_in(folder, name, text, "eval" if name == "eval.yaml" else "task")
    return tuple(problem for problem in problems if problem.code in CODES)


def marked(folder: Path, name: str, text: str) -> list[tuple[str, str]]:
    """Return the codes and the underlined words of the same."""
    return [(each.code, text[each.span.start : each.span.end]) for each in found(folder, name, text)]


def repaired(folder: Path, name: str, text: str) -> str:
    (problem,) = found(folder, name, text)
    assert problem.severity == "information"
    return apply(text, problem.fixes[0].edits)


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    put(tmp_path, "eval.yaml", AGENT)
    put(tmp_path, "skills/demo/SKILL.md", "---\nname: demo\ndescription: d\n---\n")
    put(tmp_path, "tasks/other.yaml", TASK.replace("id: t", "id: other"))
    return tmp_path


def test_a_skill_that_the_agent_has_already_is_not_waited_for(suite: Path) -> None:
    assert marked(suite, "eval.yaml", AGENT + NEEDS) == [("skill-already-loaded", "demo")]
    text = repaired(suite, "eval.yaml", AGENT + NEEDS)
    assert "  model: m\n  inject_skill_body: false\n" in text
    assert not found(suite, "eval.yaml", text)
    written = AGENT.replace("  model: m", "  inject_skill_body: true\n  model: m") + NEEDS
    assert repaired(suite, "eval.yaml", written) == written.replace("body: true", "body: false")


def test_a_skill_that_the_agent_has_already_is_not_seen_to_be_left_alone(suite: Path) -> None:
    text = AGENT + NEEDS.replace("required_skills: [demo]", "required_skills: [a], forbidden_skills: [demo]")
    assert marked(suite, "eval.yaml", text) == [("skill-already-loaded", "demo")]
    assert not found(suite, "eval.yaml", repaired(suite, "eval.yaml", text))


def test_a_task_says_where_the_switch_belongs(suite: Path) -> None:
    (problem,) = found(suite, "tasks/t.yaml", TASK + NEEDS)
    assert problem.related[0].uri is not None
    assert problem.related[0].uri.endswith("/eval.yaml")


@pytest.mark.parametrize(
    "text",
    [
        (AGENT + NEEDS).replace("[demo]", "[another]"),
        AGENT.replace("  model: m", "  model: m\n  inject_skill_body: false") + NEEDS,
        AGENT.replace("  model: m", "  model: m\n  disabled_skills: ['*']") + NEEDS,
        AGENT.replace("skill: demo\n", "") + NEEDS,
        EVAL + NEEDS,
    ],
)
def test_a_skill_that_the_agent_has_to_load_can_be_waited_for(suite: Path, text: str) -> None:
    assert not found(suite, "eval.yaml", text)


@pytest.mark.parametrize(
    ("checks", "first"),
    [
        ("expected:\n  output_contains: [azure, The App]\n", "azure"),
        ("graders:\n  - {type: text, name: c, config: {contains_cs: [Azure]}}\n", "Azure"),
        (
            "graders:\n  - {type: text, name: c, config: {regex_match: ['(?i)deploy .* to']}}\n",
            "'(?i)deploy .* to'",
        ),
        ("graders:\n  - {type: text, name: c, config: {contains: [app], not_contains: [error]}}\n", "app"),
    ],
)
def test_a_prompt_that_holds_the_answer_is_reported(suite: Path, checks: str, first: str) -> None:
    task = TASK.replace("Go", "Deploy the app to Azure") + checks
    assert marked(suite, "tasks/t.yaml", task) == [("answer-in-prompt", first)]
    inline = AGENT.replace(" [tasks/*.yaml]\n", "\n  - " + task.replace("\n", "\n    ").rstrip(" "))
    assert marked(suite, "eval.yaml", inline) == [("answer-in-prompt", first)]
    put(suite, "eval.yaml", EVAL)
    assert not found(suite, "tasks/t.yaml", task)


@pytest.mark.parametrize(
    "checks",
    [
        "expected:\n  output_contains: [azure, resource group]\n",
        "expected:\n  output_not_contains: [bicep]\n",
        "graders:\n  - {type: text, name: c, config: {contains_cs: [azure]}}\n",
        "graders:\n  - {type: text, name: c, config: {contains: [azure], not_contains: [deploy the app]}}\n",
        "graders:\n  - {type: text, name: c, config: {contains: [azure], regex_match: ['https?://']}}\n",
    ],
)
def test_a_check_that_asks_for_more_than_the_prompt_is_left_alone(suite: Path, checks: str) -> None:
    assert not found(suite, "tasks/t.yaml", TASK.replace("Go", "Deploy the app to Azure") + checks)


def test_a_verdict_that_is_printed_and_not_read_is_reported(suite: Path) -> None:
    put(suite, "check.py", PRINTS)
    task = TASK + PROGRAM
    assert marked(suite, "tasks/t.yaml", task) == [("unread-verdict", "python3")]
    text = repaired(suite, "tasks/t.yaml", task)
    assert text.endswith("args: [check.py]\n      protocol: waza-json\n")
    assert not found(suite, "tasks/t.yaml", text)


@pytest.mark.parametrize(
    "script",
    [
        PRINTS + "sys.exit(not ok)\n",
        "import json\nassert 'x' in input()\nprint(json.dumps({'passed': True}))\n",
        "print('all passed: fine')\n",
    ],
)
def test_a_program_that_decides_by_its_exit_code_may_print(suite: Path, script: str) -> None:
    put(suite, "check.py", script)
    assert not found(suite, "tasks/t.yaml", TASK + PROGRAM)


def test_a_line_for_a_shell_is_read_to_its_last_command(suite: Path) -> None:
    line = "type: program\n    name: c\n    config: {command: bash, args: [-c, 'LINE']}\n"
    printing = graders("  - " + line.replace("LINE", 'grep x || echo "{\\"pass\\": false}"'))
    assert marked(suite, "tasks/t.yaml", printing) == [("unread-verdict", "bash")]
    deciding = graders("  - " + line.replace("LINE", 'echo "{\\"pass\\": false}"; grep -q x'))
    assert not found(suite, "tasks/t.yaml", deciding)


def test_slashes_are_written_for_backslashes_in_globs(suite: Path) -> None:
    text = AGENT.replace("[tasks/*.yaml]", r"['tasks\*.yaml']")
    problems = problems_in(suite, "eval.yaml", text, "eval")
    (problem,) = (each for each in problems if each.code == "no-matching-tasks")
    assert "Write `/` between folders" in problem.message
    assert problem.fixes[0].preferred
    assert apply(text, problem.fixes[0].edits) == AGENT.replace("[tasks/*.yaml]", "['tasks/*.yaml']")


def test_a_merge_key_in_quotes_is_a_key_like_others(suite: Path) -> None:
    text = TASK.replace("id: t\n", "id: t\n'<<': {id: x}\n")
    found = problems_in(suite, "tasks/t.yaml", text, "task")
    assert ("unknown-key", "'<<'") in {(each.code, text[each.span.start : each.span.end]) for each in found}


def test_a_blank_follow_up_prompt_asks_nothing(suite: Path) -> None:
    text = "id: t\nname: T\ninputs:\n  prompt: Go\n  follow_up_prompts: [on, '', \" \"]\n"
    blank = [each for each in problems_in(suite, "tasks/t.yaml", text, "task") if each.code == "empty-prompt"]
    assert [text[each.span.start : each.span.end] for each in blank] == ["''", '" "']
