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
