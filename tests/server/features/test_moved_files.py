"""Files and folders are renamed or moved: the paths of the suites that name them follow."""

from pathlib import Path

import pytest

from tests.server.features.suites import changed_texts
from tests.server.project.files import put, workspace_with
from waza_language_server.features.renames.moved_files import moved_files
from waza_language_server.project.index import Project

EVAL = """\
skill: deployer
config: {trials_per_task: 1, timeout_seconds: 60, executor: mock, model: none}
graders:
  - {type: script, name: own, config: {script: "graders/check.py"}}
tasks:
  - tasks/first.yaml # the first
  - more/*.yaml
"""
TASK = """\
id: first
name: First
inputs:
  prompt_file: prompts/first.md
  files: [{path: data.csv}]
"""


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    put(tmp_path, "evals/eval.yaml", EVAL)
    put(tmp_path, "evals/tasks/first.yaml", TASK)
    put(tmp_path, "evals/more/second.yaml", "id: second\ninputs: {prompt: Go}\n")
    put(tmp_path, "evals/graders/check.py", "")
    put(tmp_path, "evals/tasks/prompts/first.md", "Go")
    put(tmp_path, "evals/fixtures/data.csv", "")
    return tmp_path


def after(folder: Path, **moves: str) -> dict[str, str]:
    """Return the texts that change; ``__`` stands for a slash, ``_dot_`` for a point."""
    renames = {
        folder / old.replace("__", "/").replace("_dot_", "."): folder / new for old, new in moves.items()
    }
    return changed(folder, renames, folder)


def changed(folder: Path, renames: dict[Path, Path], *roots: Path) -> dict[str, str]:
    """Return the texts below a folder that change when ``roots`` are open."""
    return changed_texts(moved_files(workspace_with(roots=roots), renames), folder)


def test_a_task_that_is_listed_is_listed_under_its_new_name(suite: Path) -> None:
    assert after(suite, evals__tasks__first_dot_yaml="evals/tasks/1.yaml") == {
        "evals/eval.yaml": EVAL.replace("tasks/first.yaml", "tasks/1.yaml")
    }


def test_signs_of_globs_in_a_new_name_stand_for_themselves(suite: Path) -> None:
    text = after(suite, evals__tasks__first_dot_yaml="evals/tasks/[a*].yaml")["evals/eval.yaml"]
    assert "- tasks/[[]a[*]].yaml # the first" in text
    put(suite, "evals/eval.yaml", text)
    (suite / "evals/tasks/first.yaml").rename(suite / "evals/tasks/[a*].yaml")
    project = Project([suite])
    found = project.task_paths(project.suite(suite / "evals/eval.yaml")).value
    assert "[a*].yaml" in [path.name for path in found]
    assert "- m[[]1]/*.yaml" in after(suite, evals__more="evals/m[1]")["evals/eval.yaml"]


def test_a_script_is_named_anew_in_its_quotes(suite: Path) -> None:
    assert after(suite, evals__graders__check_dot_py="evals/graders/look.py") == {
        "evals/eval.yaml": EVAL.replace("check.py", "look.py")
    }


PROGRAMS = """\
skill: deployer
graders:
  - {type: program, name: a, config: {command: python, args: [graders/check.py, --strict, graders/]}}
  - {type: program, name: b, config: {command: ./graders/check.py, args: ["-c", "run graders/check.py"]}}
  - {type: program, name: c, config: {command: bash, args: [evals/graders/check.py, out/graders/check.py]}}
tasks: ["more/*.yaml"]
"""


def test_programs_and_their_arguments_follow_where_they_are_files(suite: Path) -> None:
    put(suite, "evals/eval.yaml", PROGRAMS)
    assert after(suite, evals__graders="evals/lib") == {
        "evals/eval.yaml": PROGRAMS.replace("[graders/", "[lib/")
        .replace("--strict, graders/", "--strict, lib/")
        .replace("./graders", "./lib")
        .replace("[evals/graders", "[evals/lib")
    }
    # What a run finds in the open folder stays so when the suite moves.
    assert (
        "[evals/graders/check.py, out"
        in after(suite, evals__eval_dot_yaml="evals/new/eval.yaml")["evals/eval.yaml"]
    )


def test_a_file_of_another_open_folder_is_none_of_the_suite(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    for folder in (one, two):
        put(folder, "eval.yaml", PROGRAMS)
        put(folder, "graders/check.py", "")
    for folder in (one, two):
        moves = {folder / "graders/check.py": folder / "graders/look.py"}
        text = changed(tmp_path, moves, one, two)
        assert list(text) == [f"{folder.name}/eval.yaml"]
        assert "[graders/look.py" in text[f"{folder.name}/eval.yaml"]


def test_the_name_of_a_script_may_have_blanks(suite: Path) -> None:
    put(suite, "evals/eval.yaml", PROGRAMS.replace("[graders/check.py", '["graders/check it.py"'))
    put(suite, "evals/graders/check it.py", "")
    text = after(suite, **{"evals__graders__check it_dot_py": "evals/graders/look.py"})["evals/eval.yaml"]
    assert '"graders/look.py"' in text


def test_a_folder_takes_all_paths_into_it_along(suite: Path) -> None:
    assert after(suite, evals__tasks="evals/cases") == {
        "evals/eval.yaml": EVAL.replace("tasks/first", "cases/first")
    }
    assert after(suite, evals__more="evals/others") == {"evals/eval.yaml": EVAL.replace("more", "others")}


def test_the_whole_folder_of_a_suite_changes_nothing_in_it(suite: Path) -> None:
    assert after(suite, evals="suites") == {}


def test_an_eval_file_that_is_moved_names_the_same_files(suite: Path) -> None:
    text = after(suite, evals__eval_dot_yaml="eval.yaml")["evals/eval.yaml"]
    assert "- evals/tasks/first.yaml # the first" in text
    assert "- evals/more/*.yaml" in text
    assert 'script: "evals/graders/check.py"' in text


def test_a_prompt_file_and_a_fixture_follow(suite: Path) -> None:
    assert after(suite, evals__tasks__prompts="evals/tasks/words") == {
        "evals/tasks/first.yaml": TASK.replace("prompts/", "words/")
    }
    assert after(suite, evals__fixtures__data_dot_csv="evals/fixtures/in/rows.csv") == {
        "evals/tasks/first.yaml": TASK.replace("data.csv", "in/rows.csv")
    }


def test_what_nobody_names_changes_nothing(suite: Path) -> None:
    assert after(suite, evals__more__second_dot_yaml="evals/more/2.yaml") == {}
    assert after(suite, README_dot_md="about.md") == {}


def test_a_path_that_may_not_lead_upwards_is_left_alone(suite: Path) -> None:
    assert "evals/tasks/first.yaml" not in after(suite, evals__tasks__prompts="prompts")


def test_a_task_that_stays_below_the_folder_of_its_glob_stays_in_the_suite(suite: Path) -> None:
    listed = "  - more/*.yaml\n  - more/new/second.yaml\n"
    assert after(suite, evals__more__second_dot_yaml="evals/more/new/second.yaml") == {
        "evals/eval.yaml": EVAL.replace("  - more/*.yaml\n", listed)
    }
    assert after(suite, evals__more__second_dot_yaml="evals/more/[x]/second.yaml") == {
        "evals/eval.yaml": EVAL.replace("  - more/*.yaml\n", listed.replace("new", "[[]x]"))
    }
    put(suite, "evals/eval.yaml", 'tasks: ["more/s*.yaml"] # all\nskill: deployer\n')
    assert after(suite, evals__more__second_dot_yaml="evals/more/2.yaml") == {
        "evals/eval.yaml": 'tasks: ["more/s*.yaml", more/2.yaml] # all\nskill: deployer\n'
    }
    put(suite, "evals/eval.yaml", "tasks: [more/s*.yaml]\nskill: deployer\n")
    assert after(suite, evals="other", evals__more__second_dot_yaml="evals/more/s2.yaml") == {}


@pytest.mark.parametrize(
    "place",
    [
        "evals/old/second.yaml",
        "evals/more/_off/second.yaml",
        "evals/more/.s.yaml",
        "evals/more/second.yaml.bak",
    ],
)
def test_a_task_that_leaves_the_folder_of_its_glob_leaves_the_suite(suite: Path, place: str) -> None:
    assert "evals/eval.yaml" not in after(suite, evals__more__second_dot_yaml=place)


def test_a_task_that_another_suite_takes_up_leaves_its_own(suite: Path) -> None:
    put(suite, "evals/more/of/eval.yaml", "skill: other\nconfig: {}\ntasks: [tasks/*.yaml]\ngraders: []\n")
    assert after(suite, evals__more__second_dot_yaml="evals/more/of/tasks/second.yaml") == {}


def test_paths_with_backslashes_and_absolute_ones_follow(suite: Path) -> None:
    there = suite / "evals" / "graders" / "check.py"
    text = (
        "skill: deployer\ngraders:\n"
        "  - {type: script, name: a, config: {script: 'graders\\check.py'}}\n"
        f"  - {{type: script, name: b, config: {{script: {there}}}}}\n"
        "tasks: [more/*.yaml]\n"
    )
    put(suite, "evals/eval.yaml", text)
    assert after(suite, evals__graders="evals/lib") == {
        "evals/eval.yaml": text.replace("graders\\", "lib\\").replace("/graders/", "/lib/")
    }


def test_a_task_follows_its_suite_though_it_stays_where_it_is(suite: Path) -> None:
    put(suite, "one/eval.yaml", "skill: s\nconfig: {}\ngraders: []\ntasks: [../cases/*.yaml]\n")
    put(suite, "one/deep/prices.txt", "")
    grader = "{type: script, name: x, config: {script: deep/prices.txt}}"
    task = f"id: a\ninputs: {{prompt: Go}}\ngraders:\n  - {grader}\n"
    put(suite, "cases/a.yaml", task)
    changed = after(suite, one__eval_dot_yaml="two/eval.yaml")
    assert changed == {"cases/a.yaml": task.replace("deep/", "../one/deep/")}


def test_a_fixture_is_never_named_out_of_its_folder(suite: Path) -> None:
    """A run takes no path with ``..`` there: the problem at the old one says what is missing."""
    changed = after(suite, evals__fixtures__data_dot_csv="data.csv")
    assert "evals/tasks/first.yaml" not in changed


def test_programs_below_a_folder_that_is_renamed_are_still_found(suite: Path) -> None:
    put(suite, "a/tools/check.py", "")
    grader = "{type: program, name: p, config: {command: tools/check.py}}"
    text = f"skill: s\nconfig: {{}}\ngraders:\n  - {grader}\ntasks: [t/*.yaml]\n"
    put(suite, "a/b/eval.yaml", text)
    assert after(suite, a="c") == {}


SKILL = "---\nname: deployer\ndescription: Deploys. Use when asked to.\n---\nBody.\n"


def test_a_skill_is_called_like_its_folder(suite: Path) -> None:
    put(suite, "skills/deployer/SKILL.md", SKILL)
    assert after(suite, skills__deployer="skills/shipper") == {
        "evals/eval.yaml": EVAL.replace("deployer", "shipper"),
        "skills/deployer/SKILL.md": SKILL.replace("deployer", "shipper"),
    }
    # In another folder it is still called so.
    assert after(suite, skills__deployer="more/deployer") == {}


@pytest.mark.parametrize(
    ("folder", "other", "new"),
    [
        ("deployer", None, "Not A Skill's Name"),
        ("deployer", "skills/taken/SKILL.md", "taken"),
        ("called-otherwise", None, "shipper"),
        # Another folder would have to be renamed as well.
        ("deployer", "others/deployer/SKILL.md", "shipper"),
    ],
)
def test_a_skill_keeps_a_name_that_cannot_follow(
    suite: Path, folder: str, other: str | None, new: str
) -> None:
    put(suite, f"skills/{folder}/SKILL.md", SKILL)
    if other is not None:
        put(suite, other, SKILL.replace("deployer", other.split("/")[1]))
    assert after(suite, **{f"skills__{folder}": f"skills/{new}"}) == {}


WITH_INLINE = """\
tasks:
  - id: block
    inputs:
      prompt: Go
      files: [{path: data.csv}]
  - {id: flow, inputs: {prompt: Go, files: [{path: data.csv}]}}
  - id: none
    inputs: {prompt: Go}
  - id: own
    context_dir: fixtures
    inputs: {prompt: Go, files: [{path: data.csv}]}
"""


def test_tasks_say_where_the_fixtures_went(suite: Path) -> None:
    assert after(suite, evals__fixtures="evals/sample data") == {
        "evals/tasks/first.yaml": TASK.replace("inputs:", "context_dir: sample data\ninputs:")
    }
    moved = after(suite, evals__fixtures="evals/more/files")["evals/tasks/first.yaml"]
    assert moved == TASK.replace("inputs:", "context_dir: more/files\ninputs:")


def test_tasks_of_the_eval_file_say_where_the_fixtures_went(suite: Path) -> None:
    put(suite, "evals/eval.yaml", WITH_INLINE)
    after_block = WITH_INLINE.replace("block\n", "block\n    context_dir: data\n")
    after_flow = after_block.replace("id: flow,", "id: flow, context_dir: data,")
    assert after(suite, evals__fixtures="evals/data") == {
        "evals/eval.yaml": after_flow.replace("context_dir: fixtures", "context_dir: data")
    }


@pytest.mark.parametrize("new", ["data", "evals/fixtures", "archive/fixtures"])
def test_fixtures_that_leave_the_suite_or_stay_are_told_by_no_task(suite: Path, new: str) -> None:
    assert after(suite, evals__fixtures=new) == {}


def test_a_task_of_two_suites_with_files_of_their_own_is_left_alone(suite: Path) -> None:
    put(suite, "eval.yaml", "skill: deployer\ntasks: [evals/tasks/first.yaml]\n")
    put(suite, "fixtures/data.csv", "")
    assert after(suite, evals__fixtures="evals/data") == {}
