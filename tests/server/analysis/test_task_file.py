"""What a task as a whole shows: turns that never come, paths without files, an id that is taken."""

from pathlib import Path

import pytest

from tests.server.analysis.drawing import EVAL, TASK, drawn, fixed, problems, problems_in
from tests.server.project.files import opened, put, workspace_with
from waza_language_server.analysis.diagnose import diagnose
from waza_language_server.project.document import DocumentKind

CHECKS = "    graders:\n      - {type: text, name: c, config: {contains: [done]}}\n"


def codes_beside_suite(folder: Path, text: str, suite: str = EVAL, **others: str) -> list[str]:
    put(folder, "eval.yaml", suite)
    for name, content in others.items():
        put(folder, f"tasks/{name}.yaml", content)
    return [problem.code for problem in problems_in(folder, "tasks/task.yaml", text, "task")]


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


LOOKS = TASK.replace("Go", "Look at ./src and ../lib")
NO_SUCH = "expected:\n  graders: [nosuch]\n"
OWN = "graders: [{type: text, name: own, config: {contains: [a]}}]\n"
BESIDE: dict[str, tuple[str, str, dict[str, str], list[str]]] = {
    "a relative path of a task without files": (LOOKS, EVAL, {}, ["relative-path-in-prompt"]),
    "one of a suite that brings files": (
        LOOKS,
        EVAL.replace("  model: m\n", "  model: m\n  instruction_files: [AGENTS.md]\n"),
        {},
        [],
    ),
    "two tasks of one id": (TASK, EVAL, {"other": TASK}, ["duplicate-task-id"]),
    "an id of another suite": (TASK, EVAL.replace("tasks/*.yaml", "tasks/task.yaml"), {"other": TASK}, []),
    "a grader of a suite without any": (TASK + NO_SUCH, EVAL, {}, ["unknown-grader-name"]),
    "a grader that is none of the task's": (TASK + OWN + NO_SUCH, EVAL, {}, ["unknown-grader-name"]),
}


@pytest.mark.parametrize(("text", "suite", "others", "codes"), BESIDE.values(), ids=BESIDE)
def test_a_task_beside_its_suite(
    tmp_path: Path, text: str, suite: str, others: dict[str, str], codes: list[str]
) -> None:
    assert codes_beside_suite(tmp_path, text, suite, **others) == codes


@pytest.mark.parametrize(
    "extra",
    ["  files: [{path: a.py}]\n", "  context: {fixture: demo}\n", "instruction_files: [AGENTS.md]\n"],
)
def test_a_relative_path_in_the_prompt_of_a_task_with_files(tmp_path: Path, extra: str) -> None:
    assert "relative-path-in-prompt" not in codes_beside_suite(tmp_path, LOOKS + extra)


def test_nothing_is_said_about_a_relative_path_without_a_known_suite() -> None:
    assert problems(TASK.replace("Go", "Look at ./src")) == ()


def test_expected_may_name_the_graders_of_the_suite_and_of_the_task(tmp_path: Path) -> None:
    suite = f"{EVAL}graders:\n  - {{type: text, name: polite, config: {{contains: [please]}}}}\n"
    own = "graders:\n  - {type: text, name: own, config: {contains: [a]}}\n"
    text = f"{TASK}{own}expected:\n  graders: [polite, own]\n"
    assert codes_beside_suite(tmp_path / "known", text, suite) == []
    other = text.replace("polite, own", "polite, owm")
    assert codes_beside_suite(tmp_path / "unknown", other, suite) == ["unknown-grader-name"]


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


MODELINE = "# yaml-language-server: $schema=https://raw.example/waza/schemas/{}.schema.json\n"


def codes_of_task(folder: Path, tasks: str, text: str = TASK) -> set[str]:
    put(folder, "tasks/first.yaml", TASK.replace("id: t", "id: f"))
    put(folder, "eval.yaml", EVAL.replace("[tasks/*.yaml]", tasks))
    task = opened(put(folder, "tasks/second.yaml", text), "task")
    return {problem.code for problem in diagnose(task, workspace_with(roots=(folder,)))}


def test_a_task_that_the_suite_beside_it_leaves_out_is_marked(tmp_path: Path) -> None:
    assert "orphan-task" in codes_of_task(tmp_path, "[tasks/first.yaml]")


@pytest.mark.parametrize(
    ("tasks", "text"),
    [
        ("[tasks/*.yaml]", TASK),
        ("[tasks/first.yaml]", TASK + "enabled: false\n"),
        ("[tasks/second.yaml]", TASK),
    ],
)
def test_a_task_that_runs_or_is_switched_off_is_left_alone(tmp_path: Path, tasks: str, text: str) -> None:
    assert "orphan-task" not in codes_of_task(tmp_path, tasks, text)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (MODELINE.format("task") + TASK, "task"),
        (MODELINE.format("eval") + EVAL, "eval"),
        (MODELINE.format("my") + TASK, "task"),
        ("# $schema=eval.schema.json\n" + TASK, "task"),
    ],
)
def test_other_modelines_are_left_alone(text: str, kind: DocumentKind) -> None:
    assert "wrong-schema" not in {problem.code for problem in problems(text, kind)}


MISPLACED = """\
expected:
  output_contains: [done]
  graders:
    # Says when.
    - type: text
      name: a
      config: {contains: [done]}
"""


def test_whole_graders_under_expected_are_reported() -> None:
    shown = drawn(TASK + MISPLACED, fixes=True)
    assert (
        "  ^^^^^^^ warning misplaced-key: `graders` belongs at the top of the file, not under `expected`, "
        "where upstream ignores it.\n    = fix: Move to the top of the file\n"
    ) in shown


def test_they_move_with_their_comments() -> None:
    assert (
        fixed(TASK + MISPLACED, "misplaced-key")
        == TASK
        + """\
graders:
  # Says when.
  - type: text
    name: a
    config: {contains: [done]}
expected:
  output_contains: [done]
"""
    )


def test_names_of_the_graders_of_the_suite_are_fine() -> None:
    assert "misplaced-key" not in drawn(TASK + "expected:\n  graders: [format]\n")


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_graders_under_expected_join_those_that_the_task_has(ending: str) -> None:
    own = "graders:\n- type: text\n  name: a\n  config: {contains: [x]}\n"
    misplaced = (
        "expected:\n    graders:\n        # the second\n        - type: text\n          name: b\n"
        "          config:\n              contains: [y] # now\n    output_contains: [z]\n"
    )
    right = (
        "# the second\n- type: text\n  name: b\n  config:\n      contains: [y] # now\n"
        "expected:\n    output_contains: [z]\n"
    )
    text, meant = TASK + own + misplaced, TASK + own + right
    assert fixed(text.replace("\n", ending), "misplaced-key") == meant.replace("\n", ending)
