"""What a run needs and has not, reported at its line: files, programs, skills, a judge."""

from importlib import import_module
from pathlib import Path

import pytest
import yaml

from tests.server.analysis.drawing import EVAL, TASK, graders, problems_in
from tests.server.project.files import put
from waza_engine.spec.executors import EXECUTORS
from waza_language_server.project.document import DocumentKind
from waza_language_server.syntax.tried_edits import apply

AGENT = EVAL.replace("executor: mock", "executor: copilot-sdk")
CODES = ("missing-file", "path-not-portable", "missing-program", "skill-not-found", "nobody-judges")


def reported(folder: Path, name: str, text: str) -> list[tuple[str, str]]:
    """Return the codes and the underlined words of a file of the suite in this folder."""
    kind: DocumentKind = "eval" if name.endswith("eval.yaml") else "task"
    found = problems_in(folder, name, text, kind)
    return [(each.code, text[each.span.start : each.span.end]) for each in found if each.code in CODES]


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    put(tmp_path, "eval.yaml", EVAL)
    put(tmp_path, "fixtures/app.py", "print()\n")
    put(tmp_path, "tasks/other.yaml", TASK.replace("id: t", "id: other"))
    return tmp_path


def test_fixtures_that_are_not_there_are_reported_each(suite: Path) -> None:
    task = f"{TASK}  files: [app.py, gone.py, {{path: deep/gone.py}}, {{path: made.py, content: x}}]\n"
    mistaken = task.replace("content: x", "content: {x: y}")
    assert reported(suite, "tasks/t.yaml", mistaken) == reported(suite, "tasks/t.yaml", task)
    assert reported(suite, "tasks/t.yaml", task) == [
        ("missing-file", "gone.py"),
        ("missing-file", "deep/gone.py"),
    ]


PROGRAMS = (
    "  - {type: program, name: a, config: {command: no-such-program, args: [x]}}\n"
    "  - {type: program, name: b, config: {command: sh, args: ['-c', 'true']}}\n"
)
MISSING: dict[str, tuple[str, str, list[tuple[str, str]]]] = {
    "files of an inline task": (
        "eval.yaml",
        EVAL.replace(
            "tasks: [tasks/*.yaml]\n",
            "tasks:\n  - id: a\n    inputs: {prompt: Go, files: [app.py, gone.py]}\n",
        ),
        [("missing-file", "gone.py")],
    ),
    "files in the context directory": (
        "tasks/t.yaml",
        f"{TASK}  files: [x.py, app.py]\ncontext_dir: more\n",
        [("missing-file", "app.py")],
    ),
    "a missing context directory, once": (
        "tasks/t.yaml",
        f"{TASK}  files: [a.py, b.py]\ncontext_dir: gone\n",
        [("missing-file", "gone")],
    ),
    "a task without a suite": ("../alone/task.yaml", f"{TASK}  files: [gone.py]\n", []),
    "a program that is not on the path": (
        "tasks/t.yaml",
        graders(PROGRAMS),
        [("missing-program", "no-such-program")],
    ),
    "skills of an executor without any": ("eval.yaml", EVAL, []),
}


@pytest.mark.parametrize(("name", "text", "expected"), MISSING.values(), ids=MISSING)
def test_what_is_not_there_is_reported(
    suite: Path, name: str, text: str, expected: list[tuple[str, str]]
) -> None:
    put(suite, "more/x.py", "")
    assert reported(suite, name, text) == expected


def test_prompts_instructions_and_context_fixtures_are_looked_for(suite: Path) -> None:
    task = (
        "id: t\nname: T\ninputs:\n  prompt_file: p.md\n  context: {fixture: nothing}\n"
        "instruction_files: [AGENTS.md]\n"
    )
    assert reported(suite, "tasks/t.yaml", task) == [
        ("missing-file", "p.md"),
        ("missing-file", "nothing"),
        ("missing-file", "AGENTS.md"),
    ]
    put(suite, "tasks/p.md", "Go")
    put(suite, "nothing/a", "")
    put(suite, "fixtures/AGENTS.md", "")
    assert reported(suite, "tasks/t.yaml", task) == []


@pytest.mark.parametrize(("executor", "key"), [("command", "adapter"), ("replay", "recording")])
def test_the_file_that_an_executor_needs_is_looked_for(suite: Path, executor: str, key: str) -> None:
    text = EVAL.replace("executor: mock", f"executor: {executor}\n  {key}: given.json")
    missing = ("missing-file", "given.json")
    assert missing in reported(suite, "eval.yaml", text)
    assert missing not in reported(suite, "eval.yaml", text.replace(executor, "mock"))
    put(suite, "given.json", "{}")
    assert missing not in reported(suite, "eval.yaml", text)


def test_instructions_of_the_suite_are_looked_for_in_the_folders_of_its_tasks(suite: Path) -> None:
    text = EVAL.replace("  model: m\n", "  model: m\n  instruction_files: [AGENTS.md, app.py]\n")
    assert reported(suite, "eval.yaml", text) == [("missing-file", "AGENTS.md")]
    put(suite, "tasks/other.yaml", f"{TASK}context_dir: more\n")
    put(suite, "more/AGENTS.md", "")
    assert reported(suite, "eval.yaml", text) == []


def test_nothing_is_reported_of_what_a_hook_may_make(suite: Path) -> None:
    put(suite, "eval.yaml", f"{EVAL}hooks:\n  before_run:\n    - command: make fixtures\n")
    assert reported(suite, "tasks/t.yaml", f"{TASK}  files: [gone.py]\n") == []


def test_the_similar_fixture_is_offered(suite: Path) -> None:
    text = f"{TASK}  files: [ap.py]\n"
    (problem,) = problems_in(suite, "tasks/t.yaml", text, "task")
    assert [(fix.title, fix.preferred) for fix in problem.fixes] == [("Change to `app.py`", True)]


@pytest.mark.parametrize(
    ("grader", "missing"),
    [
        ("{type: script, name: c, config: {script: graders/gone.py}}", "graders/gone.py"),
        ("{type: inline, name: c, config: {grader: graders/gone.py}}", "graders/gone.py"),
        ("{type: program, name: c, config: {command: sh, args: [graders/gone.sh]}}", "graders/gone.sh"),
        ("{type: program, name: c, config: {command: ./gone.sh}}", "./gone.sh"),
        ("{type: prompt, name: c, config: {rubric: rubrics/gone.md}}", "rubrics/gone.md"),
        ("{type: prompt, name: c, rubric: gone.yaml, config: {}}", "gone.yaml"),
        ("{type: json_schema, name: c, config: {schema_file: gone.json}}", "gone.json"),
        ("{type: diff, name: c, config: {expected_files: [{path: a, snapshot: gone/a}]}}", "gone/a"),
        ("{type: diff, name: c, config: {context_dir: s, expected_files: [{path: a, snapshot: b}]}}", "s/b"),
        ("{type: trigger, name: c, config: {skill_path: gone/SKILL.md, mode: positive}}", "gone/SKILL.md"),
    ],
)
def test_files_that_graders_name_are_looked_for(suite: Path, grader: str, missing: str) -> None:
    text = graders(f"  - {grader}\n")
    ((code, marked),) = reported(suite, "tasks/t.yaml", text)
    assert (code, missing.endswith(marked)) == ("missing-file", True)
    put(suite, missing, "")
    assert reported(suite, "tasks/t.yaml", text) == []


@pytest.mark.parametrize(
    "grader",
    [
        "{type: prompt, name: c, config: {rubric: factuality}}",
        "{type: prompt, name: c, config: {rubric: 'Rate it, see a/b for more'}}",
        "{type: prompt, name: c, config: {rubric: /elsewhere/rubric.md}}",
        "{type: json_schema, name: c, config: {schema: {type: object}, schema_file: gone.json}}",
        "{type: diff, name: c, config: {update_snapshots: true, expected_files: [{path: a, snapshot: b}]}}",
        "{type: diff, name: c, config: {expected_files: [{path: a, snapshot: app.py}]}}",
        "{type: diff, name: c, config: {expected_files: [{path: a, contains: [b]}]}}",
        "{type: diff, name: c, config: {context_dir: '${HOME}', expected_files: [{path: a, snapshot: b}]}}",
    ],
)
def test_what_is_no_file_or_may_be_there_is_left_alone(suite: Path, grader: str) -> None:
    assert reported(suite, "tasks/t.yaml", graders(f"  - {grader}\n")) == []


def test_a_folder_of_snapshots_may_be_written_from_the_folder_above(tmp_path: Path) -> None:
    put(tmp_path, "evals/demo/eval.yaml", EVAL)
    text = graders(
        "  - {type: diff, name: c, config: {context_dir: evals/demo/snapshots, "
        "expected_files: [{path: a, snapshot: b}]}}\n"
    )
    assert reported(tmp_path, "evals/demo/tasks/t.yaml", text) == [("missing-file", "b")]
    put(tmp_path, "evals/demo/snapshots/b", "")
    assert reported(tmp_path, "evals/demo/tasks/t.yaml", text) == []


def test_a_schema_lies_beside_the_eval_file_and_a_skill_anywhere_above(tmp_path: Path) -> None:
    put(tmp_path, "answer.json", "{}")
    put(tmp_path, "skills/demo/SKILL.md", "---\nname: demo\n---\nText\n")
    put(tmp_path, "skills/empty/notes.md", "")
    put(tmp_path, "evals/demo/eval.yaml", EVAL)
    text = graders(
        "  - {type: json_schema, name: a, config: {schema_file: answer.json}}\n"
        "  - {type: trigger, name: b, config: {skill_path: skills/demo, mode: positive}}\n"
        "  - {type: trigger, name: c, config: {skill_path: skills/empty, mode: positive}}\n"
    )
    assert reported(tmp_path, "evals/demo/tasks/t.yaml", text) == [
        ("missing-file", "answer.json"),
        ("missing-file", "skills/empty"),
    ]


def test_a_snapshot_may_lie_in_the_folder_of_any_task(suite: Path) -> None:
    put(suite, "more/kept.txt", "")
    text = EVAL + (
        "graders:\n  - {type: diff, name: c, config: {expected_files: [{path: a, snapshot: kept.txt}]}}\n"
    )
    assert reported(suite, "eval.yaml", text) == [("missing-file", "kept.txt")]
    put(suite, "tasks/other.yaml", f"{TASK}context_dir: more\n")
    assert reported(suite, "eval.yaml", text) == []


def test_the_similar_file_beside_is_offered(suite: Path) -> None:
    put(suite, "schemas/answer.json", "{}")
    text = graders("  - {type: json_schema, name: c, config: {schema_file: schemas/anwser.json}}\n")
    (problem,) = problems_in(suite, "tasks/t.yaml", text, "task")
    assert [(fix.title, fix.preferred) for fix in problem.fixes] == [
        ("Change to `schemas/answer.json`", True)
    ]


def test_a_script_may_lie_in_a_folder_above_the_suite(tmp_path: Path) -> None:
    put(tmp_path, "graders/check.py", "")
    put(tmp_path, "evals/demo/eval.yaml", EVAL)
    text = graders("  - {type: script, name: c, config: {script: graders/check.py}}\n")
    assert reported(tmp_path, "evals/demo/tasks/t.yaml", text) == []


@pytest.mark.parametrize(
    ("folder", "expected"),
    [
        ("skills", "path-not-portable"),
        ("../../skills", None),
        ("own", None),
        ("skillz", "missing-file"),
        ("none", None),
        ("/elsewhere/skills", None),
        ("$SKILLS", None),
        ("Skills", None),
    ],
)
def test_skill_directories_are_found_as_by_a_run(tmp_path: Path, folder: str, expected: str | None) -> None:
    put(tmp_path, "skills/demo/SKILL.md", "---\nname: demo\n---\n")
    put(tmp_path, "evals/demo/own/demo/SKILL.md", "---\nname: demo\n---\n")
    put(tmp_path, "evals/demo/tasks/t.yaml", TASK)
    text = AGENT.replace("tasks:", f"  skill_directories: ['{folder}']\ntasks:")
    found = [
        each for each in reported(tmp_path, "evals/demo/eval.yaml", text) if each[0] != "skill-not-found"
    ]
    assert found == ([] if expected is None else [(expected, f"'{folder}'")])
    task = f"{TASK}skill_directories: ['{folder}']\n"
    put(tmp_path, "evals/demo/eval.yaml", AGENT)
    assert reported(tmp_path, "evals/demo/tasks/t.yaml", task) == found
    for without in (EVAL, f"{AGENT}hooks: {{before_run: [{{command: make}}]}}\n"):
        put(tmp_path, "evals/demo/eval.yaml", without)
        assert reported(tmp_path, "evals/demo/tasks/t.yaml", task) == []


@pytest.mark.parametrize(
    ("command", "config"),
    [
        ("bash graders/a.sh -x 'a b'", {"command": "bash", "args": ["graders/a.sh", "-x", "a b"]}),
        ("./a.sh --strict", {"command": "./a.sh", "args": ["--strict"]}),
        ("cat a | grep b", {"command": "sh", "args": ["-c", "cat a | grep b"]}),
    ],
)
def test_a_command_for_a_shell_is_divided(suite: Path, command: str, config: dict[str, object]) -> None:
    put(suite, "a.sh", "")
    text = graders(f"  - type: program\n    name: a\n    config:\n      command: {command}\n")
    [found] = problems_in(suite, "tasks/t.yaml", text, "task")
    assert (found.code, text[found.span.start : found.span.end]) == ("missing-program", command)
    repaired = yaml.safe_load(apply(text, found.fixes[0].edits))
    assert repaired["graders"][0]["config"] == config


def test_a_module_needs_something_that_runs_it(suite: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(suite, "check.mjs", "")
    monkeypatch.setenv("PATH", str(suite))
    text = graders("  - {type: inline, name: a, config: {grader: check.mjs}}\n")
    assert reported(suite, "tasks/t.yaml", text) == [("missing-program", "check.mjs")]


def test_the_tested_skill_is_looked_for_where_a_run_does(suite: Path) -> None:
    assert reported(suite, "eval.yaml", AGENT) == [("skill-not-found", "demo")]
    put(suite, "skills/group/demo/SKILL.md", "---\nname: Demo\n---\n")
    assert reported(suite, "eval.yaml", AGENT) == []


def test_a_suite_in_the_folder_of_its_skill_has_it(tmp_path: Path) -> None:
    put(tmp_path, "demo/SKILL.md", "# no name\n")
    put(tmp_path, "demo/evals/tasks/t.yaml", TASK)
    assert reported(tmp_path, "demo/evals/eval.yaml", AGENT) == []


def test_listed_directories_are_the_only_ones(suite: Path) -> None:
    put(suite, "skills/demo/SKILL.md", "---\nname: demo\n---\n")
    listed = AGENT.replace("config:\n", "config:\n  skill_directories: [others]\n")
    assert reported(suite, "eval.yaml", listed) == [("missing-file", "others")]
    put(suite, "others/another/SKILL.md", "---\nname: another\n---\n")
    assert reported(suite, "eval.yaml", listed) == [("skill-not-found", "demo")]
    assert reported(suite, "eval.yaml", listed.replace("others", "skills")) == []


@pytest.mark.parametrize("switch", ["skill_directories: [none]", "disabled_skills: ['*']"])
def test_nothing_is_reported_when_skills_are_switched_off(suite: Path, switch: str) -> None:
    assert reported(suite, "eval.yaml", AGENT.replace("config:\n", f"config:\n  {switch}\n")) == []


@pytest.mark.parametrize(
    ("skill", "expected"),
    [
        ("demo-skil", "The tested skill `demo-skil` is not found; did you mean `demo-skill`?"),
        ("demo_skill", "The tested skill `demo_skill` is not found; did you mean `demo-skill`?"),
        ("Demo-Skill", None),
        ("demo-skill-2", None),
        ("other", None),
    ],
)
@pytest.mark.parametrize(("lies", "suite"), [(".", "evals"), ("skills/demo-skill", "evals/demo-skill")])
def test_a_typo_for_the_skill_that_a_suite_lies_with_is_reported_whatever_the_executor(
    tmp_path: Path, skill: str, expected: str | None, lies: str, suite: str
) -> None:
    put(tmp_path, f"{lies}/SKILL.md", "---\nname: demo-skill\n---\n")
    put(tmp_path, "skills/demo-skill-2/SKILL.md", "# no name\n")
    put(tmp_path, f"{suite}/tasks/t.yaml", TASK)
    text = EVAL.replace("skill: demo", f"skill: {skill}")
    found = problems_in(tmp_path, f"{suite}/eval.yaml", text, "eval")
    messages = [(each.message, [fix.preferred for fix in each.fixes]) for each in found if each.code in CODES]
    assert messages == ([] if expected is None else [(expected, [True])])


def test_a_skill_that_no_folder_of_the_suite_says_may_be_anywhere(tmp_path: Path) -> None:
    put(tmp_path, "skills/demi/SKILL.md", "---\nname: demi\n---\n")
    assert reported(tmp_path, "evals/one/eval.yaml", EVAL) == []


def test_required_skills_are_looked_for_whatever_the_executor(suite: Path) -> None:
    put(suite, "skills/demo/SKILL.md", "---\nname: demo\n---\n")
    text = EVAL.replace(
        "config:\n", "config:\n  skill_directories: [skills]\n  required_skills: [demo, gone]\n"
    )
    assert reported(suite, "eval.yaml", text) == [("skill-not-found", "gone")]


def test_an_executor_without_a_model_does_not_judge(suite: Path) -> None:
    judged = "graders:\n  - {type: prompt, name: c, config: {prompt: Good?}}\n"
    assert reported(suite, "eval.yaml", EVAL + judged) == [("nobody-judges", "mock")]
    put(suite, "skills/demo/SKILL.md", "---\nname: demo\n---\n")
    assert reported(suite, "eval.yaml", AGENT + judged) == []


def test_what_is_said_of_executors_is_what_they_say_themselves() -> None:
    said = {
        each.name: (each.costs, each.has_model)
        for name in EXECUTORS
        for each in vars(import_module(f"waza_engine.executors.{name.replace('-', '_')}")).values()
        if isinstance(each, type) and getattr(each, "name", None) == name
    }
    assert said == {name: (kind.costs, kind.has_model) for name, kind in EXECUTORS.items()}


def test_a_skill_directory_written_upwards_is_looked_for_from_the_eval_file(tmp_path: Path) -> None:
    put(tmp_path, ".git/HEAD", "")
    put(tmp_path, "skills/demo/SKILL.md", "---\nname: demo\ndescription: Does it\n---\n")
    text = AGENT.replace("executor:", "skill_directories: [../../skils]\n  executor:")
    put(tmp_path, "evals/demo/tasks/t.yaml", TASK)
    # What is missing is the folder; that no skill is found in it is not said once more.
    found = problems_in(tmp_path, "evals/demo/eval.yaml", text, "eval")
    (problem,) = (each for each in found if each.code in CODES)
    assert text[problem.span.start : problem.span.end] == "../../skils"
    assert problem.message == (
        "There is no folder `../../skils` beside the eval file; its skills are not loaded."
    )
    assert [fix.title for fix in problem.fixes] == ["Change to `../../skills`"]
    assert reported(tmp_path, "evals/demo/eval.yaml", text.replace("skils", "skills")) == []


def test_a_task_may_bring_its_own_skills(suite: Path) -> None:
    put(suite, "tasks/own.yaml", f"{TASK}skill_directories: [elsewhere]\n")
    assert reported(suite, "eval.yaml", AGENT) == []
