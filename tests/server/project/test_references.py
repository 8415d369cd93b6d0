"""Globs that pick up nothing: an error when the suite has no task at all, else a hint."""

from pathlib import Path

import pytest

from tests.server.project.files import opened, put, workspace_with
from waza_language_server.analysis.grader_entries import GraderEntries
from waza_language_server.analysis.problem import Problem
from waza_language_server.analysis.rule import SuiteView
from waza_language_server.analysis.suite_rules.task_globs import task_globs
from waza_language_server.project.document import Document
from waza_language_server.project.workspace import Workspace
from waza_language_server.syntax.tried_edits import apply


def problems(folder: Path, text: str, name: str = "eval.yaml") -> tuple[Document, list[Problem]]:
    document = opened(put(folder, name, text), "eval")
    found = task_globs(view_of(document, workspace_with(document)))
    return document, list(found)


def view_of(document: Document, workspace: Workspace) -> SuiteView:
    return SuiteView(document, workspace, GraderEntries(document.tree, document.kind, workspace.catalog))


def with_task(folder: Path) -> Path:
    put(folder, "tasks/a.yaml", "id: a\nname: A\ninputs:\n  prompt: x\n")
    return folder


def test_a_glob_that_finds_tasks_is_fine(tmp_path: Path) -> None:
    assert problems(with_task(tmp_path), "skill: x\ntasks:\n  - tasks/*.yaml\n")[1] == []


def test_the_offered_glob_works_when_it_is_taken(tmp_path: Path) -> None:
    document, (problem,) = problems(with_task(tmp_path), "skill: x\r\ntasks:\r\n- 'tests/*.yaml'\r\n")
    (fix,) = problem.fixes
    text = apply(document.text, fix.edits)
    assert text == "skill: x\r\ntasks:\r\n- 'tasks/*.yaml'\r\n"
    assert problems(tmp_path, text)[1] == []


@pytest.mark.parametrize(("written", "safe"), [("taks/*.yaml", True), ('-5 - "tasks/*.yaml"', False)])
def test_only_a_slip_in_a_glob_is_repaired_unasked(tmp_path: Path, written: str, safe: bool) -> None:
    _, (problem,) = problems(with_task(tmp_path), f"skill: x\ntasks:\n  - '{written}'\n")
    assert [(fix.title, fix.preferred) for fix in problem.fixes] == [('Change to "tasks/*.yaml"', safe)]


def test_two_stars_are_explained(tmp_path: Path) -> None:
    _, (problem,) = problems(with_task(tmp_path), "skill: x\ntasks: ['**/**/*.yaml']\n")
    assert "** means one folder level" in problem.message


def test_several_globs_without_any_task_are_one_error(tmp_path: Path) -> None:
    _, found = problems(tmp_path, "skill: x\ntasks:\n  - a/*.yaml\n  - b/*.yaml\n")
    assert [(problem.severity, len(problem.related)) for problem in found] == [("error", 1)]


def test_an_item_with_an_empty_string_matches_no_file(tmp_path: Path) -> None:
    document, (problem,) = problems(with_task(tmp_path), "skill: x\ntasks: ['']\n")
    place = document.text[problem.span.start : problem.span.end]
    assert (problem.severity, place) == ("error", "''")
    _, (problem,) = problems(tmp_path, "skill: x\ntasks: ['', tasks/*.yaml]\n")
    assert problem.message == 'There is no file ""; a run leaves this task out.'


def test_one_glob_without_files_beside_others_is_a_hint(tmp_path: Path) -> None:
    _, (problem,) = problems(with_task(tmp_path), "skill: x\ntasks:\n  - tasks/*.yaml\n  - more/*.yaml\n")
    assert (problem.code, problem.severity, problem.tag) == ("no-matching-tasks", "hint", "unnecessary")


def test_a_task_file_that_is_named_and_missing_is_a_warning(tmp_path: Path) -> None:
    text = "skill: x\ntasks:\n  - tasks/*.yaml\n  - tasks/missing.yaml\n"
    _, (problem,) = problems(with_task(tmp_path), text)
    assert problem.severity == "warning"
    assert problem.message == ('There is no file "tasks/missing.yaml"; a run leaves this task out.')


NAMED = "skill: x\ntasks:\n  - tasks/one.yaml\n  - tasks/greets.yaml\n"


def with_tasks(directory: Path, **ids: str) -> Path:
    (directory / "tasks").mkdir()
    for name, identifier in ids.items():
        (directory / "tasks" / f"{name}.yaml").write_text(
            f"id: {identifier}\ninputs: {{prompt: x}}\n", "utf-8"
        )
    return directory


def test_a_task_file_that_was_renamed_elsewhere_is_found_by_its_id(tmp_path: Path) -> None:
    directory = with_tasks(tmp_path, one="one", hello="greets", more="more")
    _, (problem,) = problems(directory, NAMED)
    assert problem.message == 'There is no file "tasks/greets.yaml"; a run leaves this task out.'
    first, *_ = problem.fixes
    assert (first.title, first.preferred) == ('Change to "tasks/hello.yaml"', True)


def test_the_only_task_in_no_list_is_offered_and_not_taken_unasked(tmp_path: Path) -> None:
    _, (problem,) = problems(with_tasks(tmp_path, one="one", hello="other"), NAMED)
    assert next((fix.title, fix.preferred) for fix in problem.fixes) == (
        'Change to "tasks/hello.yaml"',
        False,
    )


@pytest.mark.parametrize("ids", [{"one": "one"}, {"one": "one", "two": "two", "more": "more"}])
def test_a_missing_task_file_that_any_or_none_may_be_is_missing(tmp_path: Path, ids: dict[str, str]) -> None:
    _, (problem,) = problems(with_tasks(tmp_path, **ids), NAMED)
    assert problem.message.endswith("leaves this task out.")


def test_among_more_tasks_than_are_looked_at_none_is_called_the_only_one(tmp_path: Path) -> None:
    listed = {f"task{number:02}": f"task{number:02}" for number in range(60)}
    directory = with_tasks(tmp_path, **listed)
    unlisted = {"task10", "task55"}
    names = "".join(f"  - tasks/{name}.yaml\n" for name in ({*listed} - unlisted) | {"greets"})
    _, (problem,) = problems(directory, f"skill: x\ntasks:\n{names}")
    assert problem.message.endswith("leaves this task out.")


def test_the_only_task_of_a_suite_that_was_renamed_is_found(tmp_path: Path) -> None:
    _, (problem,) = problems(with_tasks(tmp_path, hello="greets"), "skill: x\ntasks: [tasks/greets.yaml]\n")
    assert problem.severity == "error"
    assert ('Change to "tasks/hello.yaml"', True) in [(fix.title, fix.preferred) for fix in problem.fixes]


@pytest.mark.parametrize(
    "text",
    [
        "skill: x\ntasks_from: cases.csv\ntasks: [none/*.yaml]\n",
        "skill: x\ntasks:\n  - id: a\n    inputs: {prompt: x}\n",
        "skill: x\ntasks:\n",
        "skill: x\ntasks: []\n",
        "skill: x\n",
        "",
        "- a\n",
        "skill: x\ntasks:\n  - 'unclosed\n",
        "tasks: include:tasks/*.yaml\n",
    ],
)
def test_nothing_is_said_otherwise(tmp_path: Path, text: str) -> None:
    assert problems(with_task(tmp_path), text)[1] == []


def test_nothing_is_said_of_a_document_that_is_on_no_disk() -> None:
    document = Document("untitled:eval.yaml", 1, "skill: x\ntasks: [none/*.yaml]\n", "eval")
    assert list(task_globs(view_of(document, workspace_with()))) == []
