"""A score whose inputs have changed says which, by the digests in the record of its run."""

import json
import os
import time
from pathlib import Path

import pytest

from tests.engine.suites import run
from tests.server.project.files import opened, put, workspace_with
from waza_engine.results.result_file_names import results_directory
from waza_language_server.features.scores.inlay_hints import InlayHint, inlay_hints
from waza_language_server.project.document import DocumentKind

EVAL = """\
name: my-eval
skill: my-skill
config: {trials_per_task: 1, timeout_seconds: 20, executor: mock, model: some-model}
graders:
  - {type: text, name: says, config: {contains: [hello]}}
tasks: [tasks/*.yaml]
"""
SKILL = "---\nname: my-skill\ndescription: Does it.\n---\nDo it.\n\nSlowly.\n"


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    put(tmp_path, "SKILL.md", SKILL)
    put(tmp_path, "evals/fixtures/notes.txt", "one\n")
    put(tmp_path, "evals/tasks/a.yaml", "id: a\nname: a\ninputs: {prompt: hello, files: [notes.txt]}\n")
    put(tmp_path, "evals/tasks/b.yaml", "id: b\nname: b\ninputs: {prompt: hello}\n")
    path = put(tmp_path, "evals/eval.yaml", EVAL)
    run(path)
    return path


def hints(path: Path, kind: DocumentKind, *others: tuple[Path, str]) -> tuple[InlayHint, ...]:
    workspace = workspace_with()
    for other, text in others:
        workspace = workspace.with_document(opened(other, "project_config", text))
    document = opened(path, kind)
    return inlay_hints(document, workspace.with_document(document))


def labels(path: Path, kind: DocumentKind = "eval", *others: tuple[Path, str]) -> list[str]:
    return [hint.label for hint in hints(path, kind, *others)]


def test_nothing_is_stale_right_after_a_run(suite: Path) -> None:
    assert labels(suite) == ["✓ 2/2 tasks", "✓", "✓ 1.00"]


def test_a_changed_skill_makes_every_score_stale_and_says_how_much_changed(suite: Path) -> None:
    put(suite.parents[1], "SKILL.md", SKILL.replace("Slowly.\n", "Quickly.\nAnd well.\n"))
    assert labels(suite)[::2] == ["✓ 2/2 tasks · stale: SKILL.md +2 −1", "✓ 1.00 · stale: SKILL.md +2 −1"]
    assert labels(suite.parent / "tasks/b.yaml", "task")[0] == "✓ 1.00 · stale: SKILL.md +2 −1"


def test_the_text_of_an_editor_is_what_the_skill_says_now(suite: Path) -> None:
    skill = suite.parents[1] / "SKILL.md"
    assert labels(suite, "eval", (skill, SKILL + "More.\n"))[2] == "✓ 1.00 · stale: SKILL.md +1 −0"


def test_a_fixture_makes_only_the_tasks_stale_that_read_it(suite: Path) -> None:
    put(suite.parent, "fixtures/notes.txt", "two\n")
    assert labels(suite.parent / "tasks/a.yaml", "task")[0] == "✓ 1.00 · stale: notes.txt +1 −1"
    assert labels(suite.parent / "tasks/b.yaml", "task")[0] == "✓ 1.00"
    (suite.parent / "fixtures/notes.txt").unlink()
    assert labels(suite.parent / "tasks/a.yaml", "task")[0] == "✓ 1.00 · stale: notes.txt gone"


def test_a_task_file_with_another_name_is_what_it_was(suite: Path) -> None:
    before, today = suite.parent / "tasks/b.yaml", suite.parent / "tasks/c.yaml"
    before.rename(today)
    assert labels(suite)[0] == "✓ 2/2 tasks"
    assert labels(today, "task")[0] == "✓ 1.00"


def test_what_changed_in_a_task_file_with_another_name_is_told_as_in_any_other(suite: Path) -> None:
    before, today = suite.parent / "tasks/b.yaml", suite.parent / "tasks/c.yaml"
    before.write_text(before.read_text().replace("prompt: hello", "prompt: hello you"))
    stale = labels(before, "task"), labels(suite)
    before.rename(today)
    assert (labels(today, "task"), labels(suite)) == stale
    assert "gone" not in str(stale)
    assert "stale" in stale[0][0]


def test_a_task_file_that_is_not_there_any_more_is_gone_though_another_one_is_new(suite: Path) -> None:
    (suite.parent / "tasks/b.yaml").unlink()
    put(suite.parent, "tasks/c.yaml", "id: c\nname: c\ninputs: {prompt: hello}\n")
    assert "b.yaml gone" in labels(suite)[0]


def test_what_a_task_asks_today_makes_the_suite_stale_and_its_graders(suite: Path) -> None:
    path = suite.parent / "tasks/b.yaml"
    text = path.read_text()
    path.write_text(text.replace("prompt: hello", "prompt: hello you"))
    assert labels(suite) == ["✓ 2/2 tasks · stale", "✓", "✓ 1.00 · stale"]
    whole, _, grader = hints(suite, "eval")
    assert "stale: a task of it was changed after the run" in whole.tooltip
    assert "the task was changed after the run" in grader.tooltip
    assert labels(path, "task") == ["✓ 1.00 · stale", "✓ 1 of the suite · stale"]
    assert labels(suite.parent / "tasks/a.yaml", "task") == ["✓ 1.00", "✓ 1 of the suite"]
    path.write_text(text + "# nothing that decides\n")
    assert labels(suite) == ["✓ 2/2 tasks", "✓", "✓ 1.00"]


def test_a_task_that_the_run_had_not_makes_the_suite_stale(suite: Path) -> None:
    put(suite.parent, "tasks/c.yaml", "id: c\nname: c\nenabled: false\ninputs: {prompt: hello}\n")
    assert labels(suite) == ["✓ 2/2 tasks", "✓", "✓ 1.00"]
    put(suite.parent, "tasks/c.yaml", "id: c\nname: c\ninputs: {prompt: hello}\n")
    assert labels(suite) == ["✓ 2/2 tasks · stale", "✓", "✓ 1.00"]
    assert "stale: the run had no task `c`." in hints(suite, "eval")[0].tooltip
    assert labels(suite.parent / "tasks/a.yaml", "task") == ["✓ 1.00", "✓ 1 of the suite"]
    (suite.parent / "tasks/c.yaml").unlink()
    assert labels(suite) == ["✓ 2/2 tasks", "✓", "✓ 1.00"]


def test_what_a_task_asks_in_an_editor_makes_the_suite_stale(suite: Path) -> None:
    path = suite.parent / "tasks/b.yaml"
    workspace = workspace_with()
    for document in (opened(path, "task", path.read_text().replace("hello", "bye")), opened(suite, "eval")):
        workspace = workspace.with_document(document)
    told = [hint.label for hint in inlay_hints(opened(suite, "eval"), workspace)]
    assert told == ["✓ 2/2 tasks · stale", "✓", "✓ 1.00 · stale"]


def test_a_grader_of_a_task_that_was_rewritten_leaves_those_of_the_suite_as_they_are(suite: Path) -> None:
    path = suite.parent / "tasks/b.yaml"
    path.write_text(path.read_text() + "expected: {output_contains: [hello]}\n")
    assert labels(suite) == ["✓ 2/2 tasks · stale", "✓", "✓ 1.00"]


def test_a_task_with_another_id_is_not_the_one_that_was_judged(suite: Path) -> None:
    path = suite.parent / "tasks/b.yaml"
    path.write_text(path.read_text().replace("id: b", "id: other"))
    assert labels(suite) == ["✓ 2/2 tasks · stale", "✓", "✓ 1.00 · stale"]


def test_a_record_without_its_files_tells_by_the_time_of_a_task(suite: Path) -> None:
    (file,) = results_directory(suite.parent).glob("*.json")
    document = json.loads(file.read_text())
    del document["metadata"]["engine"]["inputs"]
    file.write_text(json.dumps(document))
    assert labels(suite) == ["✓ 2/2 tasks", "✓", "✓ 1.00"]
    path = suite.parent / "tasks/b.yaml"
    os.utime(path, (time.time() + 60, time.time() + 60))
    assert labels(suite) == ["✓ 2/2 tasks · stale", "✓", "✓ 1.00 · stale"]


def test_a_file_that_is_added_to_a_folder_that_decides_makes_scores_stale(suite: Path) -> None:
    copied = "id: b\nname: b\ninputs: {prompt: hello, context: {fixture: fixtures/app}}\n"
    put(suite.parent, "tasks/b.yaml", copied)
    put(suite.parent, "fixtures/app/main.py", "print(1)\n")
    run(suite)
    assert labels(suite.parent / "tasks/b.yaml", "task")[0] == "✓ 1.00"
    new = put(suite.parent, "fixtures/app/lib/more.py", "print(2)\n")
    assert labels(suite.parent / "tasks/b.yaml", "task")[0] == "✓ 1.00 · stale: more.py added"
    assert labels(suite.parent / "tasks/a.yaml", "task")[0] == "✓ 1.00"
    assert labels(suite)[0] == "✓ 2/2 tasks · stale: more.py added"
    new.unlink()
    assert labels(suite)[0] == "✓ 2/2 tasks"


@pytest.mark.parametrize(
    ("folder", "said"),
    [("", ""), ("evals/fixtures/", " · stale: settings.json added")],
    ids=["skill", "fixture"],
)
def test_settings_of_an_editor_decide_nothing_beside_a_skill(suite: Path, folder: str, said: str) -> None:
    put(suite.parent, "tasks/b.yaml", "id: b\nname: b\ninputs: {prompt: hello, files: [fixtures]}\n")
    run(suite)
    put(suite.parents[1], f"{folder}.vscode/settings.json", "{}")
    assert labels(suite)[0] == f"✓ 2/2 tasks{said}"


@pytest.mark.parametrize(
    "name", [".DS_Store", "Thumbs.db", ".SKILL.md.swp", "SKILL.md~", ".#SKILL.md", "#a#"]
)
def test_what_programs_leave_in_a_folder_decides_nothing(suite: Path, name: str) -> None:
    put(suite.parents[1], name, "")
    assert labels(suite)[0] == "✓ 2/2 tasks"
    run(suite)  # and nothing is missed of what was there
    (suite.parents[1] / name).unlink()
    assert labels(suite)[0] == "✓ 2/2 tasks"


def test_a_file_that_the_suite_names_decides_by_any_name(suite: Path) -> None:
    put(suite.parent, "fixtures/notes~", "old\n")
    put(suite.parent, "tasks/b.yaml", "id: b\nname: b\ninputs: {prompt: hello, files: [fixtures/notes~]}\n")
    run(suite)
    put(suite.parent, "fixtures/notes~", "new\n")
    assert labels(suite)[0] == "✓ 2/2 tasks · stale: notes~ +1 −1"


def test_scores_are_fresh_again_when_the_change_is_taken_back(suite: Path) -> None:
    put(suite.parents[1], "SKILL.md", "other\n")
    put(suite.parents[1], "SKILL.md", SKILL)
    assert labels(suite)[2] == "✓ 1.00"


def test_a_suite_file_that_was_saved_again_as_it_was_is_not_stale(suite: Path) -> None:
    # Nothing but its time stamp is newer than the run.
    put(suite.parent, "eval.yaml", EVAL + "# a comment\n")
    assert labels(suite)[2] == "✓ 1.00"


def test_another_executor_makes_scores_stale_and_is_named(suite: Path) -> None:
    put(suite.parent, "eval.yaml", EVAL.replace("some-model", "new-model").replace("mock", "openai"))
    mark = hints(suite, "eval")[2]
    assert mark.label == "✓ 1.00 · stale"
    # The mock has asked no model.
    assert mark.tooltip.endswith("it was recorded with the executor `mock`.")


def test_marks_go_when_the_results_go(suite: Path) -> None:
    for file in results_directory(suite.parent).glob("*.json"):
        file.unlink()
    assert labels(suite) == []
