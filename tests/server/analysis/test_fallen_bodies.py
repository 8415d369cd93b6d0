"""Keys too far to the left of the item or block they belong to, and blocks too far to the right."""

from __future__ import annotations

import pytest
import yaml

from tests.server.analysis.drawing import EVAL, TASK, problems
from waza_language_server.project.document import DocumentKind
from waza_language_server.syntax.tried_edits import apply

GRADERS = """\
graders:
  - name: brief
    type: text
    config:
      contains: [refund]
  - name: polite
    type: prompt
    config:
      prompt: |
        Is the answer polite?
      model: gpt-4o
  - name: logic
    type: code
    config:
      assertions:
        - len(output) > 5
"""
FLAT = GRADERS.replace("\n  ", "\n")
PROJECT = """\
paths:
  skills: skills
  evals: evals
defaults:
  model: gpt-4o
  timeout: 60
cache:
  enabled: true
  dir: .cache
"""
TASK_OF_BLOCKS = """\
id: refund-1
name: Refund one
inputs:
  prompt: Give me my money back
  files:
    - path: a.txt
      content: hello
expected:
  output_contains:
    - refund
tags:
  - smoke
"""
TRIGGERS = """\
skill: refund
should_trigger_prompts:
  - prompt: I want my money back
    reason: asks for a refund
  - prompt: Return this order
should_not_trigger_prompts:
  - prompt: What is the weather
"""


def _shifted(text: str, first: str, last: str, by: int) -> str:
    """Return a text with the lines from one that begins with ``first`` up to ``last`` at another column."""
    rows = text.splitlines()
    start = next(at for at, row in enumerate(rows) if row.strip() == first)
    end = next(at for at, row in enumerate(rows) if at >= start and row.strip() == last)
    for at in range(start, end + 1):
        assert by > 0 or not rows[at][:-by].strip()
        rows[at] = " " * by + rows[at] if by > 0 else rows[at][-by:]
    return "\n".join(rows) + "\n"


def _one_problem_that_its_fix_undoes(text: str, slipped: str, first: str, kind: DocumentKind) -> str:
    before = problems(text, kind)
    found = [problem for problem in problems(slipped, kind) if problem.code not in {b.code for b in before}]
    [problem] = found
    assert slipped[problem.span.start :].startswith(first)
    assert yaml.safe_load(apply(slipped, problem.fixes[0].edits)) == yaml.safe_load(text)
    assert not any(fix.preferred for fix in problem.fixes)
    return problem.message


@pytest.mark.parametrize(
    ("first", "last"),
    [
        ("type: text", "contains: [refund]"),
        ("config:", "contains: [refund]"),
        ("type: prompt", "model: gpt-4o"),
        ("type: code", "- len(output) > 5"),
    ],
)
@pytest.mark.parametrize(("listed", "by"), [(GRADERS, -2), (GRADERS, -4), (FLAT, -2)])
def test_the_body_of_an_item_is_put_back_behind_its_dash(first: str, last: str, listed: str, by: int) -> None:
    text = EVAL + listed
    slipped = EVAL + _shifted(listed, first, last, by)
    _one_problem_that_its_fix_undoes(text, slipped, first, "eval")


def test_the_options_of_a_grader_are_put_back_below_config() -> None:
    text, slipped = (EVAL + each for each in (GRADERS, _shifted(GRADERS, "prompt: |", "model: gpt-4o", -4)))
    message = _one_problem_that_its_fix_undoes(text, slipped, "prompt: |", "eval")
    assert (
        message == "`prompt` belongs to the block above, so indent it by 6 spaces, with the lines below it."
    )


def test_a_key_of_the_file_below_a_list_stays_where_it_is() -> None:
    text = f"{EVAL}graders:\n  - name: a\n    type: text\nconfig_: 1\n  - name: b\n"
    assert not any("`config_` belongs" in problem.message for problem in problems(text, "eval"))
    assert not any("`tasks` belongs" in problem.message for problem in problems(text, "eval"))


def test_a_reason_at_the_margin_goes_back_to_its_prompt() -> None:
    slipped = TRIGGERS.replace("    reason", "reason")
    message = _one_problem_that_its_fix_undoes(TRIGGERS, slipped, "reason", "trigger_tests")
    assert message == "`reason` belongs to the block above, so indent it by 4 spaces."


@pytest.mark.parametrize("by", [2, 4])
def test_the_first_block_of_a_file_is_moved_to_the_margin(by: int) -> None:
    slipped = _shifted(PROJECT, "paths:", "evals: evals", by)
    message = _one_problem_that_its_fix_undoes(PROJECT, slipped, "paths:", "project_config")
    assert message.endswith(f" stands {by} spaces too far to the right, with the lines below it.")


@pytest.mark.parametrize("key", ["defaults", "cache"])
def test_the_line_of_a_block_alone_too_far_to_the_right(key: str) -> None:
    slipped = _shifted(PROJECT, f"{key}:", f"{key}:", 2)
    message = _one_problem_that_its_fix_undoes(PROJECT, slipped, key, "project_config")
    assert message == (
        f"`{key}` belongs at the top of the file; this line alone stands 2 spaces too far to the right."
    )


def test_the_line_of_a_list_alone_too_far_to_the_right() -> None:
    slipped = _shifted(TRIGGERS, "should_not_trigger_prompts:", "should_not_trigger_prompts:", 4)
    message = _one_problem_that_its_fix_undoes(TRIGGERS, slipped, "should_not", "trigger_tests")
    assert "this line alone stands 4 spaces too far to the right" in message


def test_blocks_below_the_wrong_one_are_told_once_and_move_together() -> None:
    slipped = _shifted(TASK_OF_BLOCKS, "expected:", "- smoke", 2)
    message = _one_problem_that_its_fix_undoes(TASK_OF_BLOCKS, slipped, "expected:", "task")
    assert message == "`expected` and the key below it belong at the top of the file, not under `inputs`."


def test_tags_at_the_end_of_another_block_belong_to_the_task() -> None:
    slipped = _shifted(TASK_OF_BLOCKS, "tags:", "- smoke", 2)
    message = _one_problem_that_its_fix_undoes(TASK_OF_BLOCKS, slipped, "tags:", "task")
    assert message == "`tags` belongs at the top of the file, not under `expected`."


def test_needed_keys_below_config_are_not_missed_as_well() -> None:
    text = EVAL.replace("tasks:", "  tasks:") + "\n".join(f"  {row}" for row in GRADERS.splitlines()) + "\n"
    [problem] = [each for each in problems(text, "eval") if each.severity == "error"]
    assert problem.message == (
        "`tasks` and the key below it belong at the top of the file, not under `config`. "
        "Without it the run fails."
    )


def test_keys_of_other_names_below_the_wrong_block_are_told_one_by_one() -> None:
    text = f"{TASK}  expected:\n    output_contains: [a]\n  colour: blue\n"
    assert [problem.code for problem in problems(text)] == ["misplaced-key", "unknown-key"]


def test_keys_at_the_margin_go_under_the_empty_block_above() -> None:
    slipped = PROJECT.replace("  model", "model").replace("  timeout", "timeout")
    found = problems(slipped, "project_config")
    assert [problem.message for problem in found] == [
        "`model` belongs under `defaults`.",
        "`timeout` belongs under `defaults`.",
    ]
    assert apply(slipped, found[0].fixes[0].edits) == PROJECT


@pytest.mark.parametrize(
    ("above", "fallen", "first", "by"),
    [
        ("  - name: a\n", "type: text\nconfig:\n  contains: [b]\n", "type", 4),
        ("  - name: a\n    type: code\n    config:\n", "assertions:\n  - len(output) > 5\n", "assertions", 6),
    ],
)
def test_the_body_of_the_last_grader_at_the_margin(above: str, fallen: str, first: str, by: int) -> None:
    text = f"{TASK}graders:\n{above}{fallen}"
    [problem] = problems(text)
    place = "the item" if first == "type" else "`config`"
    assert problem.message == (
        f"`{first}` belongs to {place} above, so indent it by {by} spaces, with the lines below it."
    )
    meant = f"{TASK}graders:\n{above}" + "".join(f"{' ' * by}{row}\n" for row in fallen.splitlines())
    assert apply(text, problem.fixes[0].edits) == meant


@pytest.mark.parametrize("key", ["colour: a", "type: text", "config: {}"])
def test_a_key_that_the_item_above_has_or_knows_not_is_none_of_it(key: str) -> None:
    text = f"{TASK}graders:\n  - name: a\n    type: text\n    config:\n      contains: [b]\n{key}\n"
    assert not any("above, so indent it" in problem.message for problem in problems(text))


@pytest.mark.parametrize(
    "above",
    [
        'inputs:\n  prompt: "Where is it?"\n',
        "inputs:\n  prompt: Go\nexpected:\n  should_trigger: true\n",
        "inputs:\n  prompt: Go\nexpected:\n  outcomes:\n    - type: task_completed\n",
        "inputs:\n  prompt: |\n    There is a project.\n    It works.\n",
        "inputs:\n  prompt: Go\n  context:\n    language: typescript\n",
    ],
)
def test_a_block_pushed_by_four_columns_is_moved_back(above: str) -> None:
    block = "graders:\n  - type: text\n    name: a\n    config:\n      contains: [b]\n"
    text = f"id: t\nname: T\n{above}{block}"
    slipped = f"id: t\nname: T\n{above}" + "".join(f"    {row}\n" for row in block.splitlines())
    found = problems(slipped)
    assert len(found) == 1
    assert slipped[found[0].span.start :].startswith("graders")
    assert apply(slipped, found[0].fixes[0].edits) == text


@pytest.mark.parametrize(
    "written",
    [
        "prompt: |\n    There is a project.\n    graders:\n      there are none of them\n",
        "prompt: |\n    Here is my file:\n    graders:\n      - type: text\n",
        "prompt: |\n    name: x\n    graders:\n      - type: text\n",
        "prompt: Go\n  context:\n    graders: [a, b]\n",
        "prompt: Go\n  context:\n    graders:\n      - colour: blue\n",
        "prompt: Go\n  context:\n    graders:\n      - type: text\n    language: typescript\n",
    ],
)
def test_a_text_or_free_keys_of_other_make_are_left_alone(written: str) -> None:
    assert not problems(TASK.replace("prompt: Go\n", written))


def test_the_list_of_several_lines_is_closed_behind_the_last() -> None:
    text = f"{TASK}tags: [smoke,\n  slow,\n  nightly\nexpected:\n  output_contains: [a]\n"
    [problem] = problems(text)
    assert apply(text, problem.fixes[0].edits) == text.replace("nightly", "nightly]")
    windows = text.replace("\n", "\r\n")
    [problem] = problems(windows)
    assert apply(windows, problem.fixes[0].edits) == windows.replace("nightly", "nightly]")


@pytest.mark.parametrize("mark", [">>>>>>> main", "=======", "<<<<<<< HEAD"])
def test_a_mark_of_a_merge_is_not_moved_into_a_value(mark: str) -> None:
    text = EVAL.replace("  model: m\n", f"  model: m\n{mark}\n")
    [problem] = [each for each in problems(text, "eval") if each.code == "yaml-syntax"]
    assert {fix.title for fix in problem.fixes} >= {"Delete the mark of the merge"}
    assert not any(fix.title == "Align the line" for fix in problem.fixes)


@pytest.mark.parametrize(
    ("by", "last"),
    [
        (1, "reason: asks for a refund"),
        (2, "reason: asks for a refund"),
        (1, "- prompt: Return this order"),
    ],
)
def test_the_first_items_of_a_list_are_moved_to_the_others(by: int, last: str) -> None:
    text = TRIGGERS.replace("this order\n", "this order\n  - prompt: Where is it\n", 1)
    slipped = _shifted(text, "- prompt: I want my money back", last, by)
    message = _one_problem_that_its_fix_undoes(text, slipped, "- prompt: I want", "trigger_tests")
    spaces = "1 space" if by == 1 else f"{by} spaces"
    assert message == f"This item stands {spaces} too far to the right of the others of its list."


def test_a_model_with_a_dot_behind_the_sign_of_an_anchor() -> None:
    text = EVAL.replace("model: m", "model: &gpt-5.4")
    [problem] = [each for each in problems(text, "eval") if each.code == "yaml-syntax"]
    assert problem.message == "`&gpt-5.4` names a value for YAML, and there is none; write `gpt-5.4`."
    assert apply(text, problem.fixes[0].edits) == text.replace("&", "")
