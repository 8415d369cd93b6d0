"""Fixes are offered where their problem is, only when they work, and all safe ones at once."""

from __future__ import annotations

from waza_language_server.analysis.diagnose import diagnose
from waza_language_server.analysis.problem import Problem
from waza_language_server.features.code_actions import CodeAction, code_actions, fix_all
from waza_language_server.project.document import Document
from waza_language_server.project.index import Project
from waza_language_server.syntax.edits import apply
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
    found = diagnose(opened, Project()) if problems is None else problems
    return code_actions(opened, Project(), Span(start, start + len(at)), found)


def test_a_misspelt_type_is_corrected_where_it_stands() -> None:
    first = offered(BROKEN, "txt")[0]
    assert apply(BROKEN, first.edits) == BROKEN.replace("txt", "text")


def test_a_misspelt_key_is_corrected_where_it_stands() -> None:
    first = offered(BROKEN, "max_tool_cals")[0]
    assert apply(BROKEN, first.edits) == BROKEN.replace("max_tool_cals", "max_tool_calls")


def test_problems_elsewhere_are_not_offered() -> None:
    assert offered(BROKEN, "skill: b") == ()


def test_safe_fixes_come_first() -> None:
    actions = offered(BROKEN, "txt")
    assert [action.preferred for action in actions] == sorted(
        (action.preferred for action in actions), reverse=True
    )


def test_a_fix_that_leaves_the_problem_is_not_offered() -> None:
    opened = document()
    (problem, *_) = diagnose(opened, Project())
    useless = Fix("Add a blank line", (Edit(Span(0, 0), "\n"),))
    claimed = Problem(problem.code, problem.span, problem.message, fixes=(useless,))
    assert offered(BROKEN, "txt", (claimed,)) == ()


def test_a_fix_that_breaks_the_syntax_is_not_offered() -> None:
    start = BROKEN.index("txt")
    breaking = Fix("Break it", (Edit(Span(start, start + 3), '"text'),))
    opened = document()
    (problem, *_) = diagnose(opened, Project())
    claimed = Problem(problem.code, problem.span, problem.message, fixes=(breaking,))
    assert offered(BROKEN, "txt", (claimed,)) == ()


def test_all_safe_fixes_are_applied_at_once() -> None:
    opened = document()
    action = fix_all(opened, Project(), diagnose(opened, Project()))
    assert action is not None
    assert apply(BROKEN, action.edits) == BROKEN.replace("txt", "text").replace(
        "max_tool_cals", "max_tool_calls"
    )


def test_fixes_that_touch_the_same_text_wait_for_the_next_round() -> None:
    start = BROKEN.index("txt")
    opened = document()
    (problem, *_) = diagnose(opened, Project())
    one = Fix("One", (Edit(Span(start, start + 3), "text"),), preferred=True)
    other = Fix("Other", (Edit(Span(start, start + 3), "code"),), preferred=True)
    problems = [Problem(problem.code, problem.span, problem.message, fixes=(one, other))]
    action = fix_all(opened, Project(), problems)
    assert action is not None
    assert action.edits == one.edits


def test_without_safe_fixes_there_is_no_such_action() -> None:
    text = BROKEN.replace("txt", "text").replace("max_tool_cals", "max_tool_calls")
    assert fix_all(document(text), Project(), diagnose(document(text), Project())) is None


def test_line_ends_and_broken_text_around_do_not_matter() -> None:
    text = BROKEN.replace("\n", "\r\n").replace("name: a", 'name: "a')
    actions = offered(text, "max_tool_cals")
    assert apply(text, actions[0].edits) == text.replace("max_tool_cals", "max_tool_calls")
