"""Keys that are not there, have no value, or have no effect beside others."""

import pytest

from tests.server.analysis.drawing import EVAL, TASK, drawn, fixed, graders, problems
from waza_language_server.text.span import Span


def test_a_missing_config_is_reported_at_the_first_key() -> None:
    text = "name: demo\nskill: demo\ntasks: [a.yaml]\n"
    assert drawn(text, "eval", fixes=True) == (
        "\n"
        "name: demo\n"
        "^^^^ error missing-key: `config` is missing in the file: how the suite runs: trials, time limit"
        ", executor, model.\n"
        "  = fix: Insert `config`\n"
    )


def test_a_key_without_value_is_missing() -> None:
    text = EVAL.replace("executor: mock", "executor:")
    assert (
        drawn(text, "eval", fixes=True)
        == """
⋯
  executor:
  ^^^^^^^^ error empty-value: `executor` has no value: write `mock`, \
`copilot-sdk`, `openai`, `command` or `replay`.
"""
    )


def test_an_optional_key_without_value_is_fine() -> None:
    text = TASK + ("tags:\ndescription:\n")
    assert problems(text) == ()


def test_an_empty_config_is_an_error() -> None:
    text = graders("  - type: text\n    name: a\n    config:\n")
    assert drawn(text, fixes=True) == (
        "\n"
        "⋯\n"
        "    config:\n"
        "    ^^^^^^ error empty-value: `config` has no value: strings that must or must not appear in th"
        "e answer; every item of every list is one check.\n"
    )


def test_an_inserted_key_is_where_the_documentation_lists_it() -> None:
    text = graders("  - config:\n      contains: [done]\n    type: text\n")
    assert fixed(text, "recommended-key") == graders(
        "  - config:\n      contains: [done]\n    type: text\n    name: text_check\n"
    )


def test_an_empty_key_that_leaves_nothing_to_check_is_marked_itself() -> None:
    text = graders("  - type: text\n    name: a\n    config:\n      contains:\n")
    (problem,) = problems(text)
    assert text[problem.span.start : problem.span.end] == "contains"
    assert problem.message.startswith("`contains` is empty, and `config` checks nothing")


def test_a_limit_of_0_is_said_to_have_no_effect() -> None:
    text = graders("  - type: behavior\n    name: a\n    config: {max_tool_calls: 0}\n")
    (problem,) = problems(text)
    assert text[problem.span.start : problem.span.end] == "0"
    assert problem.message.startswith("`max_tool_calls: 0` has no effect, and `config` checks nothing")


def test_nothing_is_missing_where_a_line_could_not_be_read() -> None:
    assert [problem.code for problem in problems(TASK.replace("id: t", "id t"))] == ["yaml-syntax"]
    text = EVAL.replace("  executor: mock", "  executor mock")
    assert [problem.code for problem in problems(text, "eval")] == ["yaml-syntax"]


def test_a_key_that_a_run_supplies_is_a_warning() -> None:
    text = EVAL.replace("  trials_per_task: 1\n", "")
    assert [(each.code, each.severity) for each in problems(text, "eval")] == [("missing-key", "warning")]


@pytest.mark.parametrize("written", ["", " null", " ~"])
def test_a_recommended_key_without_a_value(written: str) -> None:
    text = TASK.replace("name: T", f"name:{written}")
    [problem] = problems(text)
    assert (problem.code, problem.severity, problem.span) == ("recommended-key", "warning", Span(6, 10))
    assert problem.message == "`name` has no value: reports and the mock agent show the task by its name."


@pytest.mark.parametrize(("line", "name"), [("skill: pdf-tools\n", " pdf-tools-eval"), ("", "")])
def test_the_name_of_a_suite_is_that_of_its_skill_or_left_to_the_author(line: str, name: str) -> None:
    text = EVAL.replace("name: demo\n", "").replace("skill: demo\n", line)
    assert f"name:{name}\n" in fixed(text, "recommended-key", "eval")


def test_an_empty_text_for_a_recommended_key_is_a_value() -> None:
    assert problems(TASK.replace("name: T", 'name: ""')) == ()


JUDGE = "  - type: prompt\n    name: a\n    config:\n"


@pytest.mark.parametrize(
    "config",
    [
        "      rubric: Rate it\n      threshold: 0.5\n",
        "      rubric: Rate it\n      prompt: ''\n      threshold: 0.5\n",
        "      rubric: Rate it\n      continue_session: true\n      threshold: 0.5\n",
        "      prompt: Is it good?\n      threshold:\n",
    ],
)
def test_a_rating_form_is_as_it_should_be(config: str) -> None:
    assert problems(graders(JUDGE + config)) == ()
