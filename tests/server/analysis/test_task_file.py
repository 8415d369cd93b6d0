"""What a task as a whole shows: turns that never come, paths without files, an id that is taken."""

from pathlib import Path

import pytest

from tests.server.analysis.drawing import EVAL, TASK, drawn, problems
from tests.server.project.files import workspace_with
from waza_language_server.analysis.diagnose import diagnose
from waza_language_server.project.document import Document
from waza_language_server.project.uris import uri_of

CHECKS = "    graders:\n      - {type: text, name: c, config: {contains: [done]}}\n"


def codes_beside_suite(folder: Path, text: str, suite: str = EVAL, **others: str) -> list[str]:
    (folder / "tasks").mkdir(parents=True)
    (folder / "eval.yaml").write_text(suite, encoding="utf-8")
    for name, content in others.items():
        (folder / "tasks" / f"{name}.yaml").write_text(content, encoding="utf-8")
    path = folder / "tasks" / "task.yaml"
    path.write_text(text, encoding="utf-8")
    document = Document(uri_of(path), 0, text, "task")
    return [problem.code for problem in diagnose(document, workspace_with(document, roots=(folder,)))]


def test_two_checkpoints_at_one_turn() -> None:
    text = f"{TASK}checkpoints:\n  - after_turn: 1\n{CHECKS}  - after_turn: 1\n{CHECKS}"
    assert [problem.code for problem in problems(text)] == ["duplicate-turn"]


def test_a_turn_that_never_comes() -> None:
    text = f"{TASK}  follow_up_prompts: [More]\ncheckpoints:\n  - after_turn: 3\n{CHECKS}"
    assert drawn(text) == (
        "\n⋯\n"
        "  - after_turn: 3\n"
        "                ^ error turn-never-comes: Turn 3 never comes: there are only 2 turns; add "
        "`follow_up_prompts` or a `responder` to `inputs`.\n"
    )


def test_turns_under_a_misspelt_key_may_come() -> None:
    text = f"{TASK}  followups: [More]\ncheckpoints:\n  - after_turn: 2\n{CHECKS}"
    assert [problem.code for problem in problems(text)] == ["unknown-key"]


def test_a_turn_behind_the_last_answer_of_a_responder() -> None:
    responder = "  responder: {instructions: Answer, max_followups: 1}\n"
    text = f"{TASK}{responder}checkpoints:\n  - after_turn: 3\n{CHECKS}"
    assert drawn(text) == (
        "\n⋯\n"
        "  - after_turn: 3\n"
        "                ^ warning turn-never-comes: Turn 3 never comes: with this responder there are at "
        "most 2 turns.\n"
    )


@pytest.mark.parametrize(
    "inputs",
    [
        "  follow_up_prompts: [More, Even more]\n",
        "  responder: {instructions: Answer, max_followups: 2}\n",
        "  responder: {instructions: Answer, max_followups: many}\n",
        "  <<: *shared\n",
    ],
)
def test_a_turn_that_comes_or_may_come(inputs: str) -> None:
    text = f"{TASK}{inputs}checkpoints:\n  - after_turn: 3\n{CHECKS}"
    assert "turn-never-comes" not in {problem.code for problem in problems(text)}


def test_a_relative_path_in_the_prompt_of_a_task_without_files(tmp_path: Path) -> None:
    text = TASK.replace("Go", "Look at ./src and ../lib")
    assert codes_beside_suite(tmp_path, text) == ["relative-path-in-prompt"]


@pytest.mark.parametrize(
    "extra",
    ["  files: [{path: a.py}]\n", "  context: {fixture: demo}\n", "instruction_files: [AGENTS.md]\n"],
)
def test_a_relative_path_in_the_prompt_of_a_task_with_files(tmp_path: Path, extra: str) -> None:
    text = TASK.replace("Go", "Look at ./src") + extra
    assert "relative-path-in-prompt" not in codes_beside_suite(tmp_path, text)


def test_a_relative_path_in_the_prompt_when_the_suite_brings_files(tmp_path: Path) -> None:
    suite = EVAL.replace("  model: m\n", "  model: m\n  instruction_files: [AGENTS.md]\n")
    assert codes_beside_suite(tmp_path, TASK.replace("Go", "Look at ./src"), suite) == []


def test_nothing_is_said_about_a_relative_path_without_a_known_suite() -> None:
    assert problems(TASK.replace("Go", "Look at ./src")) == ()


def test_two_tasks_of_one_id(tmp_path: Path) -> None:
    assert codes_beside_suite(tmp_path, TASK, other=TASK) == ["duplicate-task-id"]


def test_tasks_of_two_suites_may_share_an_id(tmp_path: Path) -> None:
    suite = EVAL.replace("tasks/*.yaml", "tasks/task.yaml")
    assert codes_beside_suite(tmp_path, TASK, suite, other=TASK) == []


def test_expected_may_name_the_graders_of_the_suite_and_of_the_task(tmp_path: Path) -> None:
    suite = f"{EVAL}graders:\n  - {{type: text, name: polite, config: {{contains: [please]}}}}\n"
    own = "graders:\n  - {type: text, name: own, config: {contains: [a]}}\n"
    text = f"{TASK}{own}expected:\n  graders: [polite, own]\n"
    assert codes_beside_suite(tmp_path / "known", text, suite) == []
    other = text.replace("polite, own", "polite, owm")
    assert codes_beside_suite(tmp_path / "unknown", other, suite) == ["unknown-grader-name"]


@pytest.mark.parametrize("own", ["", "graders: [{type: text, name: own, config: {contains: [a]}}]\n"])
def test_expected_names_no_grader_of_a_suite_without_any(tmp_path: Path, own: str) -> None:
    text = f"{TASK}{own}expected:\n  graders: [nosuch]\n"
    assert codes_beside_suite(tmp_path, text, EVAL) == ["unknown-grader-name"]


def test_expected_of_a_task_in_the_eval_file_names_a_grader(tmp_path: Path) -> None:
    graders = "graders:\n- {type: text, name: polite, config: {contains: [please]}}\n"
    task = "tasks:\n- {id: a, name: A, inputs: {prompt: Go}, expected: {graders: [NAME]}}\n"
    head = "name: s\nskill: k\nconfig: {trials_per_task: 1, timeout_seconds: 9, executor: mock, model: m}\n"
    for name, expected in (("polite", []), ("polit", ["unknown-grader-name"])):
        text = head + graders + task.replace("NAME", name)
        assert [found.code for found in problems(text, "eval")] == expected


def test_a_check_of_a_requirement_names_a_grader_of_its_scope(tmp_path: Path) -> None:
    suite = f"{EVAL}graders:\n  - {{type: text, name: polite, config: {{contains: [please]}}}}\n"
    own = "graders:\n  - {type: text, name: own, config: {contains: [a]}}\n"
    inner = "graders: [{type: text, name: mid, config: {contains: [a]}}]"
    named = "{scope: eval, grader: polite}, {scope: task, grader: own}"
    checks = f"{named}, {{scope: checkpoint, grader: mid, after_turn: 1}}"
    requirement = f"requirements: [{{id: r, category: outcome, description: d, checks: [{checks}]}}]\n"
    text = f"{TASK}{own}checkpoints:\n  - after_turn: 1\n    {inner}\n{requirement}"
    assert codes_beside_suite(tmp_path / "known", text, suite) == []
    other = text.replace("eval, grader: polite", "eval, grader: own")
    assert codes_beside_suite(tmp_path / "unknown", other, suite) == ["unknown-grader-name"]
