"""Errors with which a run would judge nothing, or not what is meant."""

from pathlib import Path

import pytest

from tests.server.project.files import put, workspace_with
from waza_language_server.analysis.run_errors import run_errors
from waza_language_server.project.runnable_id import RunnableId

HEAD = "name: s\nskill: k\nconfig: {executor: mock, trials_per_task: 1}\ntasks: ['tasks/*.yaml']\n"
FINE = "- {type: text, name: a, config: {contains: [x]}}\n"


def errors(directory: Path, graders: str, task: str = "", before: tuple[str, ...] = ("a",)) -> list[str]:
    put(directory, "tasks/t.yaml", f"id: t\nname: T\ninputs: {{prompt: Go}}\n{task}")
    suite = put(directory, "eval.yaml", HEAD + graders)
    return [each.description for each in run_errors(workspace_with(), RunnableId(suite), before)]


@pytest.mark.parametrize(
    ("graders", "task", "words"),
    [
        ("graders:\n- {name: a, config: {contains: [x]}}\n", "", "eval.yaml, line 6: missing-grader-type: "),
        ("graders:\n- {type: text, name: a, config: {}}\n", "", "eval.yaml, line 6: nothing-checked: "),
        (
            "graders:\n- {type: text, name: a, config: {contains: []}}\n",
            "",
            "eval.yaml, line 6: nothing-checked: ",
        ),
        ("graders:\n- {type: code, name: a}\n", "", "eval.yaml, line 6: missing-key: "),
        (f"graders:\n{FINE}", "graders:\n- {name: b}\n", "t.yaml, line 5: missing-grader-type: "),
        (f"gradesr:\n{FINE}", "", "eval.yaml, line 5: unknown-key: "),
        ("", "", "eval.yaml, line 1: no grader is left; the last run had `a`."),
    ],
)
def test_what_takes_the_meaning_of_a_verdict_is_named(
    graders: str, task: str, words: str, tmp_path: Path
) -> None:
    (found,) = errors(tmp_path, graders, task)
    assert found.startswith(words)


def test_a_suite_that_judges_what_it_says_is_not_asked_about(tmp_path: Path) -> None:
    assert errors(tmp_path, f"graders:\n{FINE}") == []
    assert errors(tmp_path, "", "expected: {output_contains: [x]}\n") == []
    assert errors(tmp_path, "", before=()) == []


def test_evals_of_other_tools_are_asked_about_by_what_they_judge(tmp_path: Path) -> None:
    case = '{"id": 1, "prompt": "Go", "assertions": ["It is short."]}'
    evals = put(tmp_path, "evals/evals.json", f'{{"skill_name": "k", "evals": [{case}]}}')
    assert run_errors(workspace_with(), RunnableId(evals), ("assertions",)) == ()
    stimulus = "stimuli:\n- name: a\n  prompt: Go\n  graders: [{type: output-contains, config: {%s}}]\n"
    stimuli = put(tmp_path, "a.eval.yaml", stimulus % "value: x")
    assert run_errors(workspace_with(), RunnableId(stimuli), ("output-contains",)) == ()
    (found,) = run_errors(workspace_with(), RunnableId(put(tmp_path, "a.eval.yaml", stimulus % "")), ())
    assert found.description.startswith("a.eval.yaml, line 4: nothing-checked: ")
