"""A grader moves between suite and tasks: the same graders judge the same tasks, or the title says."""

from pathlib import Path

import pytest
import yaml

from tests.server.features.suites import Opened, open_at_cursor
from waza_language_server.features.actions.move_grader import moved_grader
from waza_language_server.text.span import Span

HEAD = """\
name: deploys
skill: deployer
config: {trials_per_task: 1, timeout_seconds: 60, executor: mock, model: none}
tasks:
  - tasks/*.yaml
"""
SECOND = """\
  # Somebody must be polite.
  - type: text # kind
    name: po<CURSOR>lite
    config:
      contains:
        - |
          please

          do
"""
FIRST = "graders:\n  - {type: text, name: short, config: {regex_match: ['^.{1,9}$']}}\n"
TASK = "id: {0}\nname: The {0}\ninputs: {{prompt: Go}}\n"


def opened(folder: Path, evaluation: str, *tasks: str) -> Opened:
    files = {"eval.yaml": evaluation}
    for name, text in zip(("one", "two", "three"), tasks, strict=False):
        files[f"tasks/{name}.yaml"] = text
    kind = "eval" if "<CURSOR>" in evaluation else "task"
    return open_at_cursor(folder, files, kind)


def offered(folder: Path, evaluation: str, *tasks: str) -> dict[str, dict[str, str]]:
    """Return the texts after each move, by its title."""
    found = opened(folder, evaluation, *tasks)
    cursor = Span(found.offset, found.offset)
    actions = moved_grader(found.document, found.workspace, cursor)
    assert all(action.kind == "refactor.move" for action in actions)
    return {action.title: found.after(action.change) for action in actions}


def one(text: str = TASK) -> str:
    return text.format("one")


def test_a_grader_moves_into_the_only_task_with_its_comments_and_back_to_the_byte(tmp_path: Path) -> None:
    evaluation = HEAD + FIRST + SECOND
    after = offered(tmp_path / "out", evaluation, one())
    assert after == {
        "Move `polite` into the task `one`": {
            "eval.yaml": HEAD + FIRST,
            "tasks/one.yaml": one() + "graders:\n" + SECOND.replace("<CURSOR>", ""),
        }
    }
    (moved,) = after.values()
    task = moved["tasks/one.yaml"].replace("polite", "po<CURSOR>lite", 2).replace("po<CURSOR>", "po", 1)
    assert offered(tmp_path / "back", moved["eval.yaml"], task) == {
        "Move `polite` into the suite": {
            "eval.yaml": evaluation.replace("<CURSOR>", ""),
            "tasks/one.yaml": one(),
        }
    }


PLAIN = SECOND.replace("  # Somebody must be polite.\n", "")
LISTS = {
    "the only one, in the middle of the file": HEAD.replace("tasks:", f"graders:\n{PLAIN}tasks:"),
    "the only one, at the end": f"{HEAD}graders: # why\n{PLAIN}",
    "at the margin": HEAD.replace("  - ", "- ") + ("graders:\n" + PLAIN).replace("\n  ", "\n"),
    "without a line break at the end": (
        f"{HEAD}{FIRST}  - type: text\n    name: po<CURSOR>lite\n    config: {{contains: [please]}}"
    ),
    "with carriage returns": f"{HEAD}{FIRST}{PLAIN}".replace("\n", "\r\n"),
    "apart by blank lines": (
        f"{HEAD}\n{FIRST}\n  - type: code\n    name: own\n    config: {{assertions: [output]}}\n\n{PLAIN}\n"
    ),
    "with comments behind it": HEAD.replace(
        "tasks:", f"{FIRST}{PLAIN}          # - please\n      # no more\n\n# The tasks\ntasks:"
    ),
    "in brackets": HEAD + FIRST.replace("short", "sho<CURSOR>rt"),
}


@pytest.mark.parametrize("evaluation", LISTS.values(), ids=LISTS)
@pytest.mark.parametrize("own", ["", "graders:\n- type: text\n  name: own\n  config: {contains: [a]}\n"])
def test_moving_into_a_task_and_back_changes_no_byte(tmp_path: Path, evaluation: str, own: str) -> None:
    task = one() + own
    if "\r" in evaluation:
        task = task.replace("\n", "\r\n")
    name = "short" if "sho<" in evaluation else "polite"
    (moved,) = offered(tmp_path / "out", evaluation, task).values()
    assert f"name: {name}" not in moved["eval.yaml"]
    marked = moved["tasks/one.yaml"].replace(f"name: {name}", f"name: <CURSOR>{name}")
    (back,) = offered(tmp_path / "back", moved["eval.yaml"], marked).values()
    assert back == {"eval.yaml": evaluation.replace("<CURSOR>", ""), "tasks/one.yaml": task}


def test_with_several_tasks_the_title_says_for_which_something_changes(tmp_path: Path) -> None:
    evaluation = HEAD + FIRST + SECOND
    tasks = [TASK.format(each) for each in ("one", "two", "three")]
    after = offered(tmp_path, evaluation, *tasks)
    assert list(after) == [
        "Move `polite` into each of the 3 tasks",
        "Move `polite` into `one`: the 2 other tasks lose it",
        "Move `polite` into `three`: the 2 other tasks lose it",
        "Move `polite` into `two`: the 2 other tasks lose it",
    ]
    assert set(after["Move `polite` into each of the 3 tasks"]) == {
        "eval.yaml",
        "tasks/one.yaml",
        "tasks/two.yaml",
        "tasks/three.yaml",
    }
    assert set(after["Move `polite` into `two`: the 2 other tasks lose it"]) == {
        "eval.yaml",
        "tasks/two.yaml",
    }


def test_what_all_tasks_have_becomes_one_of_the_suite(tmp_path: Path) -> None:
    own = "graders:\n" + SECOND.replace("<CURSOR>", "")
    first = TASK.format("one") + "graders:\n" + SECOND
    assert offered(tmp_path / "all", HEAD + FIRST, first, TASK.format("two") + own) == {
        "Move `polite` of all 2 tasks into the suite": {
            "eval.yaml": HEAD + FIRST + SECOND.replace("<CURSOR>", ""),
            "tasks/one.yaml": TASK.format("one"),
            "tasks/two.yaml": TASK.format("two"),
        }
    }
    assert list(offered(tmp_path / "one", HEAD + FIRST, first, TASK.format("two"))) == [
        "Move `polite` into the suite: the other task gets it, too"
    ]
    other = TASK.format("two") + own.replace("please", "thanks")
    assert offered(tmp_path / "other", HEAD + FIRST, first, other) == {}


CALIBRATES = "  - type: human_calibration\n    name: agreement\n    config: {calibrate_grader: polite}\n"


INLINE = """  # The short way
  - id: inline # here
    name: Inline
    inputs:
      prompt: |
        Go
"""
OWN = INLINE + "    graders:\n      - {type: text, name: own, config: {contains: [a]}}\n"
EMPTY = INLINE + "    graders: [] # none\n"
AT_FRONT = INLINE.replace("    name", "    graders: []\n    name")


def inline_only(text: str, graders: str, *, first: bool = False) -> str:
    """Return an eval file whose only task is an inline one, behind its graders or in front of them."""
    head, tasks = HEAD.partition("tasks:")[0], f"tasks:\n{text}"
    return f"{head}{graders}{tasks}" if first else f"{head}{tasks}{graders}"


@pytest.mark.parametrize("task", [INLINE, OWN, EMPTY, AT_FRONT, INLINE + "\n"], ids=range(5))
@pytest.mark.parametrize("graders", [FIRST + SECOND, f"graders:\n{SECOND}", f"graders:\n{PLAIN}\n"])
@pytest.mark.parametrize(("first", "ending"), [(True, "\r\n"), (False, "\n")])
def test_moving_into_an_inline_task_and_back_changes_no_byte(
    tmp_path: Path, task: str, graders: str, first: bool, ending: str
) -> None:
    evaluation = inline_only(task, graders, first=first).replace("\n", ending)
    after = offered(tmp_path / "out", evaluation)
    assert list(after) == ["Move `polite` into the task `inline`"]
    moved = after["Move `polite` into the task `inline`"]["eval.yaml"]
    (inline,) = yaml.safe_load(moved)["tasks"]
    assert inline["graders"][-1]["name"] == "polite"
    back = offered(tmp_path / "back", moved.replace("name: polite", "name: <CURSOR>polite"))
    assert list(back) == ["Move `polite` into the suite"]
    (again,) = back.values()
    wanted = evaluation.replace("<CURSOR>", "")
    assert again == {"eval.yaml": wanted}


def test_inline_tasks_and_task_files_count_alike(tmp_path: Path) -> None:
    evaluation = f"{HEAD}{INLINE}{FIRST}{SECOND}"
    after = offered(tmp_path / "out", evaluation, one())
    assert list(after) == [
        "Move `polite` into each of the 2 tasks",
        "Move `polite` into `one`: the other task loses it",
        "Move `polite` into `inline`: the other task loses it",
    ]
    moved = after["Move `polite` into each of the 2 tasks"]
    assert moved["eval.yaml"].startswith(f"{HEAD}{INLINE}    graders:\n      # Somebody must be polite.\n")
    assert moved["tasks/one.yaml"] == one() + "graders:\n" + SECOND.replace("<CURSOR>", "")
    back = offered(
        tmp_path / "back", moved["eval.yaml"].replace("polite\n", "<CURSOR>polite\n"), moved["tasks/one.yaml"]
    )
    assert back == {
        "Move `polite` of all 2 tasks into the suite": {
            "eval.yaml": evaluation.replace("<CURSOR>", ""),
            "tasks/one.yaml": one(),
        }
    }


def test_a_grader_of_an_inline_task_alone_is_one_of_all_tasks_in_the_suite(tmp_path: Path) -> None:
    evaluation = HEAD + OWN.replace("own", "o<CURSOR>wn") + "\n# Of all\n" + FIRST
    own = "  - {type: text, name: own, config: {contains: [a]}}\n"
    after = offered(tmp_path, evaluation, one())
    assert after == {
        "Move `own` into the suite: the other task gets it, too": {
            "eval.yaml": f"{HEAD}{INLINE}\n# Of all\n{FIRST}{own}"
        }
    }


@pytest.mark.parametrize(
    ("evaluation", "titles"),
    [
        (HEAD + INLINE + "    requirements: []\n" + FIRST + SECOND, []),
        (
            HEAD + OWN.replace("own", "polite") + FIRST + SECOND,
            ["Move `polite` into `one`: the other task loses it"],
        ),
        (
            HEAD + "  - {id: inline, name: In, inputs: {prompt: Go}}\n" + FIRST + SECOND,
            ["Move `polite` into `one`: the other task loses it"],
        ),
        (
            HEAD + INLINE + "    expected: {graders: [polite]}\n" + FIRST + SECOND,
            [
                "Move `polite` into each of the 2 tasks",
                "Move `polite` into `inline`: the other task loses it",
            ],
        ),
    ],
)
def test_an_inline_task_is_left_as_a_task_file_is(tmp_path: Path, evaluation: str, titles: list[str]) -> None:
    assert list(offered(tmp_path, evaluation, one())) == titles


def test_a_grader_of_a_checkpoint_stays_there(tmp_path: Path) -> None:
    checkpoint = "    checkpoints:\n      - after_turn: 1\n        graders:\n"
    grader = "          - {type: text, name: <CURSOR>own, config: {contains: [a]}}\n"
    assert offered(tmp_path, HEAD + INLINE + checkpoint + grader + FIRST, one()) == {}


@pytest.mark.parametrize(
    ("evaluation", "task"),
    [
        (HEAD + FIRST + SECOND + CALIBRATES, one()),
        (HEAD + FIRST + SECOND, one() + FIRST.replace("short", "polite")),
        (HEAD + FIRST + SECOND, one() + "graders: &own []\n"),
        (HEAD + FIRST + SECOND, one() + "requirements: []\n"),
        (HEAD + FIRST + SECOND.replace("po<CURSOR>lite", "polite").replace("con", "<CURSOR>con"), one()),
        (HEAD.replace("tasks/*", "none/*") + FIRST + SECOND, one()),
        (HEAD + "graders: [{type: text, name: <CURSOR>a, config: {contains: [a]}}]\n", one()),
        (HEAD + "graders:\n  - type: tool_constraint\n    name: <CURSOR>a\n", one()),
    ],
)
def test_nothing_that_changes_the_suite_is_offered(tmp_path: Path, evaluation: str, task: str) -> None:
    assert offered(tmp_path, evaluation, task) == {}


def test_a_name_under_expected_means_the_same_grader_after_the_move(tmp_path: Path) -> None:
    task = one() + "expected:\n  graders: [polite, short]\n"
    (after,) = offered(tmp_path, HEAD + FIRST + SECOND, task).values()
    assert after["tasks/one.yaml"].startswith(task)


def test_a_task_that_names_the_grader_does_not_lose_it(tmp_path: Path) -> None:
    naming = TASK.format("two") + "expected:\n  graders: [polite]\n"
    assert list(offered(tmp_path, f"{HEAD}graders:\n{SECOND}", one(), naming)) == [
        "Move `polite` into each of the 2 tasks",
        "Move `polite` into `two`: the other task loses it",
    ]


def test_a_task_of_two_suites_keeps_its_graders(tmp_path: Path) -> None:
    files = {"eval.yaml": HEAD + FIRST + SECOND, "tasks/one.yaml": one(), "wazaEval.yaml": HEAD}
    found = open_at_cursor(tmp_path, files, "eval")
    cursor = Span(found.offset, found.offset)
    assert moved_grader(found.document, found.workspace, cursor) == ()


def test_no_blank_line_is_left_above_the_rest_of_the_list(tmp_path: Path) -> None:
    evaluation = HEAD + FIRST.replace("graders:\n", f"graders:\n{PLAIN}\n")
    (moved,) = offered(tmp_path, evaluation, one()).values()
    assert moved["eval.yaml"] == HEAD + FIRST
