"""Fixes are offered where their problem is, only when they work, and all safe ones at once."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from tests.server.project.files import workspace_with
from waza_language_server.analysis.diagnose import diagnose
from waza_language_server.analysis.problem import Problem
from waza_language_server.features.actions import code_actions as code_actions_module
from waza_language_server.features.actions.code_actions import (
    CodeAction,
    code_actions,
    fix_all,
    fixed,
)
from waza_language_server.project.document import Document
from waza_language_server.project.index import Project
from waza_language_server.project.workspace import Workspace
from waza_language_server.schema.catalog import default_catalog
from waza_language_server.syntax.tried_edits import apply
from waza_language_server.text.edit import Edit, Fix
from waza_language_server.text.span import Span

BROKEN = """\
name: a
skill: b
config: {trials_per_task: 1, timeout_seconds: 60, executor: mock, model: x}
graders:
- type: txt
  name: one
  config: {contains: [a]}
- type: behavior
  name: two
  config: {max_tool_cals: 3}
tasks: [a.yaml]
"""


def document(text: str = BROKEN) -> Document:
    return Document("untitled:eval.yaml", 1, text, "eval")


def offered(text: str, at: str, problems: tuple[Problem, ...] | None = None) -> tuple[CodeAction, ...]:
    opened = document(text)
    start = text.index(at)
    found = diagnose(opened, workspace_with()) if problems is None else problems
    return code_actions(opened, workspace_with(), Span(start, start + len(at)), found)


def after(text: str, action: CodeAction) -> str:
    (file,) = action.change.files
    assert file.text == text
    return apply(text, file.edits)


def all_fixed(opened: Document, problems: Sequence[Problem] | None = None) -> CodeAction:
    """Return the action for all safe fixes of a document."""
    found = diagnose(opened, workspace_with()) if problems is None else problems
    action = fix_all(opened, fixed(opened, workspace_with(), found))
    assert action is not None
    return action


@pytest.mark.parametrize(("typo", "meant"), [("txt", "text"), ("max_tool_cals", "max_tool_calls")])
def test_a_misspelt_word_is_corrected_where_it_stands(typo: str, meant: str) -> None:
    assert after(BROKEN, offered(BROKEN, typo)[0]) == BROKEN.replace(typo, meant)


def test_problems_elsewhere_are_not_offered() -> None:
    assert offered(BROKEN, "skill: b") == ()


def test_safe_fixes_come_first() -> None:
    actions = offered(BROKEN, "txt")
    assert [action.preferred for action in actions] == sorted(
        (action.preferred for action in actions), reverse=True
    )


@pytest.mark.parametrize(
    ("at", "title", "new"),
    [("txt", "Break it", '"text'), ("max_tool_cals", "Change to `required_tools`", "required_tools")],
)
def test_a_fix_that_brings_another_mistake_is_not_offered(at: str, title: str, new: str) -> None:
    opened, start = document(), BROKEN.index(at)
    (problem,) = (each for each in diagnose(opened, workspace_with()) if each.span.start == start)
    worse = Fix(title, (Edit(problem.span, new),))
    claimed = Problem(problem.code, problem.span, problem.message, fixes=(worse,))
    assert offered(BROKEN, at, (claimed,)) == ()


def test_a_fix_that_leaves_the_problem_is_not_offered() -> None:
    (problem, *_) = diagnose(document(), workspace_with())
    useless = Fix("Add a blank line", (Edit(Span(0, 0), "\n"),))
    claimed = Problem(problem.code, problem.span, problem.message, fixes=(useless,))
    assert offered(BROKEN, "txt", (claimed,)) == ()


def test_all_safe_fixes_are_applied_at_once() -> None:
    assert after(BROKEN, all_fixed(document())) == BROKEN.replace("txt", "text").replace(
        "max_tool_cals", "max_tool_calls"
    )


def test_fixes_that_touch_the_same_text_wait_for_the_next_round() -> None:
    start = BROKEN.index("txt")
    opened = document()
    problem, *rest = diagnose(opened, workspace_with())
    one = Fix("One", (Edit(Span(start, start + 3), "text"),), preferred=True)
    other = Fix("Other", (Edit(Span(start, start + 3), "code"),), preferred=True)
    problems = [Problem(problem.code, problem.span, problem.message, fixes=(one, other)), *rest]
    action = all_fixed(opened, problems)
    assert after(BROKEN, action) == apply(BROKEN, one.edits).replace("max_tool_cals", "max_tool_calls")


def test_what_comes_to_light_by_a_safe_fix_is_repaired_with_it() -> None:
    opened = Document("untitled:test", 0, "pats:\n  reesults: a\n", "project_config")
    action = all_fixed(opened)
    assert [each.code for each in action.problems] == ["unknown-key"]
    assert after(opened.text, action) == "paths:\n  results: a\n"


def test_without_safe_fixes_there_is_no_such_action() -> None:
    text = BROKEN.replace("txt", "text").replace("max_tool_cals", "max_tool_calls")
    opened = document(text)
    assert fix_all(opened, fixed(opened, workspace_with(), diagnose(opened, workspace_with()))) is None


def test_line_ends_and_broken_text_around_do_not_matter() -> None:
    text = BROKEN.replace("\n", "\r\n").replace("name: a", 'name: "a')
    actions = offered(text, "max_tool_cals")
    assert after(text, actions[0]) == text.replace("max_tool_cals", "max_tool_calls")


def test_a_misspelt_type_is_corrected_though_more_is_wrong_in_the_grader() -> None:
    text = BROKEN.replace("contains", "contians").replace("  name: one\n", "")
    assert [action.title for action in offered(text, "txt")] == ["Change to `text`"]


def test_all_safe_fixes_leave_out_the_one_that_brings_another_mistake() -> None:
    opened = document()
    problems = list(diagnose(opened, workspace_with()))
    at = next(at for at, problem in enumerate(problems) if problem.code == "unknown-key")
    bad = Fix("Change", (Edit(problems[at].span, "required_tools"),), preferred=True)
    problems[at] = replace(problems[at], fixes=(bad,))
    action = all_fixed(opened, problems)
    assert problems[at] not in action.problems
    assert "required_tools" not in after(BROKEN, action)


def test_a_grader_type_of_a_plug_in_does_not_hinder_the_fix_of_another_grader() -> None:
    catalog = default_catalog().with_types({"acme": {"type": "object", "properties": {"type": {}}}})
    workspace = Workspace(Project(), catalog)
    text = BROKEN.replace("- type: behavior", "- type: acme\n  name: plug-in\n- type: txt")
    opened = document(text)
    start = text.index("txt")
    actions = code_actions(opened, workspace, Span(start, start + 3), diagnose(opened, workspace))
    assert actions[0].title == "Change to `text`"


def test_fewer_fixes_are_tried_in_a_text_that_is_not_yaml() -> None:
    text = "graders:\n" + "- type: txt\n" * 300
    assert code_actions_module.most_tried(document(text)) == 11
    assert code_actions_module.most_tried(document(f"{text}name: 'x\n")) == code_actions_module.FEWEST_TRIED


def test_what_is_tried_for_one_menu_is_bounded() -> None:
    graders = "".join(f"- type: txt\n  name: g{at}\n" for at in range(code_actions_module.MOST_TRIED + 50))
    opened = document(f"graders:\n{graders}")
    start = opened.text.index("txt")
    actions = code_actions(
        opened, workspace_with(), Span(start, len(opened.text)), diagnose(opened, workspace_with())
    )
    assert len(actions) == code_actions_module.most_tried(opened) < code_actions_module.MOST_TRIED
    assert actions[0].problems[0].span.start == start
