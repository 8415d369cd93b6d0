"""A fix is validated on the whole document; the makers of fixes are named after their codes."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.server.analysis.drawing import TASK, problems
from tests.server.project.files import opened, put, workspace_with
from waza_language_server.analysis import fixes
from waza_language_server.analysis.codes import CODES
from waza_language_server.analysis.diagnose import diagnose
from waza_language_server.analysis.fix_validation import FixValidator
from waza_language_server.analysis.problem import Problem
from waza_language_server.analysis.rule import FileView
from waza_language_server.project.document import Document
from waza_language_server.project.index import Project
from waza_language_server.project.workspace import Workspace
from waza_language_server.schema.catalog import default_catalog
from waza_language_server.text.edit import Edit, Fix
from waza_language_server.text.span import Span


@pytest.mark.parametrize(
    ("head", "comment"),
    [
        ("", " # waza: ignore[unknown-key]"),
        ("# waza: severity[unknown-key=off]\n", ""),
        ("schemaVersion: '1.99'\n", ""),
    ],
)
def test_suppressed_problems_do_not_prevent_a_fix(head: str, comment: str) -> None:
    text = f"{head}{EVAL}graders:\n- type: text\n  config: {{contains: a}}\n  unheard_of: 1{comment}\n"
    document, workspace = Document("untitled:eval.yaml", 1, text, "eval"), workspace_with()
    problems = diagnose(document, workspace)
    text_for_list = next(problem for problem in problems if problem.code == "wrong-type" and problem.fixes)
    validator = FixValidator(document, workspace, problems)
    assert validator.repairs([(text_for_list, text_for_list.fixes[0])])
    assert validator.add_no_problem(text_for_list.fixes[0].edits)
    again = [Edit(Span(len(text), len(text)), "- type: nonsense\n")]
    assert not validator.add_no_problem(again)


def test_a_path_that_leads_nowhere_is_no_repair_of_a_grader_without_one(tmp_path: Path) -> None:
    text = f"{EVAL}graders:\n- type: trigger\n  name: a\n  config: {{mode: positive}}\n"
    document = opened(put(tmp_path, "eval.yaml", text), "eval")
    workspace = workspace_with(document, roots=(tmp_path,))
    problems = diagnose(document, workspace)
    missing = next(problem for problem in problems if problem.code == "missing-key" and problem.fixes)
    validator = FixValidator(document, workspace, problems)
    assert not validator.repairs([(missing, missing.fixes[0])], may_reveal=True)


@pytest.mark.parametrize(
    "added",
    [
        "ref: github.com/a/b/c.yaml",
        "type: program\n  config: {command: no-such-program-here}",
        "type: program\n  config: {command: ./nowhere.sh}",
        "type: human_calibration\n  config: {calibrate_grader: nobody}",
    ],
)
def test_what_other_files_say_of_a_touched_grader_is_known(tmp_path: Path, added: str) -> None:
    text = f"{EVAL}graders:\n- name: g\n  type: text\n  config: {{contains: [a]}}\n- name: h\n  type: text\n"
    text += "  config: {contains: [b]}\n"
    document = opened(put(tmp_path, "eval.yaml", text), "eval")
    workspace = workspace_with(document, roots=(tmp_path,))
    start, end = text.index("type:"), text.index("- name: h") - 1
    problems = diagnose(document, workspace)
    validator = FixValidator(document, workspace, problems)
    assert not validator.add_no_problem([Edit(Span(start, end), added)])


EVAL = "name: s\nskill: s\nversion: '1'\nconfig: {executor: mock, trials_per_task: 1, timeout_seconds: 9}\n"


def test_what_was_found_with_one_catalog_is_not_said_with_another() -> None:
    document = Document("untitled:t", 1, "graders:\n- type: acme\n  name: a\n", "task")

    def codes(known: str) -> set[str]:
        catalog = default_catalog().with_types({known: {"type": "object"}})
        return {problem.code for problem in diagnose(document, Workspace(Project(), catalog))}

    for _ in range(20):
        assert "unknown-grader-type" not in codes("acme")
        assert "unknown-grader-type" in codes("acme_2")


def test_a_misspelt_block_gets_its_key_whatever_else_is_wrong_in_it() -> None:
    config = "{trials_per_task: 1, timeout_seconds: 60, executor: mock, model: m}"
    text = f"name: demo\nskill: demo\nconfig: {config}\ntask: []\n"
    document = Document("untitled:test", 0, text, "eval")
    workspace = workspace_with(document)
    found = diagnose(document, workspace)
    problem = next(each for each in found if each.code == "unknown-key")
    validator = FixValidator(document, workspace, found)
    [fix] = problem.fixes
    assert validator.repairs([(problem, fix)], may_reveal=True)
    assert not validator.repairs([(problem, fix)])


def test_every_module_is_named_after_a_code() -> None:
    assert fixes.codes() <= set(CODES)
    assert all(callable(fixes.maker_of(code)) for code in fixes.codes())


def test_a_maker_that_fails_adds_no_fix(monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(view: FileView, problem: Problem) -> Iterator[Fix]:
        raise ValueError(problem.code)

    def maker_of(code: str) -> object:
        del code
        return failing

    monkeypatch.setattr(fixes, "maker_of", maker_of)
    [problem] = problems(f"{TASK}name: U\n")
    assert (problem.code, problem.fixes) == ("duplicate-key", ())
