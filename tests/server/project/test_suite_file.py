"""Where tasks and graders may stand in a suite file; all that lists them lists the same ones."""

from pathlib import Path

import pytest

from tests.server.features.results import NOW, grade, write_results
from tests.server.project.files import opened, put, workspace_with
from waza_engine.runs.loading.suite_on_disk import load_suite
from waza_engine.vocabulary import checkpoint_grader
from waza_language_server.features.runnables.code_lens import code_lenses
from waza_language_server.features.runnables.runnables import runnables
from waza_language_server.features.scores.inlay_hints import inlay_hints
from waza_language_server.project.document_scores import scores
from waza_language_server.project.outline import outline
from waza_language_server.project.suite_file import GraderEntry, SuiteFile, TaskEntry
from waza_language_server.schema.catalog import default_catalog
from waza_language_server.schema.locate import graders_in
from waza_language_server.syntax.tree import parse

SUITE = """\
name: everything
skill: writer
config: {trials_per_task: 1, timeout_seconds: 60, executor: mock, model: none}
graders:
  - &polite
    type: text
    name: polite
    config: {contains: [please]}
  - type: text
    name: short
    config: {contains: [a]}
tasks:
  - tasks/*.yaml
  - task_files: [a.yaml, b.yaml]
  - &first
    id: first
    inputs: {prompt: Go}
    graders:
      - *polite
      - {type: text, name: own, config: {contains: [b]}}
    expected:
      graders:
        - short
        - {type: text, name: expected, config: {contains: [c]}}
    checkpoints:
      - after_turn: 1
        graders:
          - {type: text, name: midway, config: {contains: [d]}}
  - inputs: {prompt: Stop}
    graders: &both
      - {type: text, name: nameless, config: {contains: [e]}}
  - id: third
    inputs: {prompt: Wait}
    graders: *both
"""
TASKS = ["first", "task-5", "third"]
GRADERS = {
    (None, "polite"),
    (None, "short"),
    ("first", "polite"),
    ("first", "own"),
    ("first", "expected"),
    ("first", "midway"),
    ("task-5", "nameless"),
    ("third", "nameless"),
}
WITH_RESULTS = GRADERS - {("first", "midway")}

Named = set[tuple[str | None, str]]


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    return put(tmp_path, "eval.yaml", SUITE)


def entries(text: str = SUITE) -> SuiteFile:
    return SuiteFile(parse(text))


def test_every_place_of_a_task_and_of_a_grader_is_known() -> None:
    assert [task.id for task in entries().tasks()] == TASKS
    found = [(grader.task and grader.task.id, grader.name) for grader in entries().graders()]
    assert len(found) == len(GRADERS)
    assert set(found) == GRADERS


def test_the_outline_lists_them_all() -> None:
    said = outline(parse(SUITE))
    assert list(said.inline_tasks) == TASKS
    assert {(grader.task, grader.name) for grader in said.graders} == GRADERS
    assert [grader.name for grader in said.own_graders] == ["polite", "short"]


def test_what_can_be_run_are_all_but_those_of_checkpoints(suite: Path) -> None:
    document = opened(suite, "eval")
    found = [runnable.id for runnable in runnables(document, workspace_with(document))]
    assert [found[0].kind, len(found)] == ["suite", 1 + len(TASKS) + len(WITH_RESULTS)]
    assert {run.task for run in found if run.kind == "task"} == set(TASKS)
    assert {(run.task, run.grader) for run in found if run.kind == "grader"} == WITH_RESULTS
    assert len(code_lenses(document, workspace_with(document))) == len(found)


def test_scores_stand_at_the_same_graders(suite: Path) -> None:
    names = {task: [name for of, name in WITH_RESULTS if of in (None, task)] for task in TASKS}
    write_results(suite, {task: [[grade(name, 1.0) for name in set(names[task])]] for task in TASKS})
    document = opened(suite, "eval")
    workspace = workspace_with(document)
    known = scores(document, workspace.project)
    scored: Named = {
        (grader.task and grader.task.id, grader.name)
        for grader in SuiteFile(document.tree).graders()
        if known.of_grader(grader) is not None
    }
    assert scored == WITH_RESULTS
    assert len(inlay_hints(document, workspace, now=NOW)) >= len(WITH_RESULTS)


def test_the_rules_check_each_where_it_is_written() -> None:
    root = parse(SUITE).root
    assert root is not None
    checked = {entry.span for entry in graders_in(root, "eval", default_catalog())}
    assert checked == {grader.node.span for grader in entries().graders()}


def test_the_file_of_a_task_has_the_same_places(tmp_path: Path) -> None:
    put(tmp_path, "eval.yaml", SUITE)
    text = """\
id: alone
graders: [{type: text, name: own}]
expected: {graders: [short, {type: text, name: expected}]}
checkpoints: [{after_turn: 1, graders: [{type: text, name: midway}]}]
"""
    document = opened(put(tmp_path, "tasks/alone.yaml", text), "task")
    assert [grader.name for grader in SuiteFile(document.tree).graders()] == ["own", "expected", "midway"]
    found = [runnable.id for runnable in runnables(document, workspace_with(document))]
    assert [(run.task, run.grader) for run in found] == [
        ("alone", None),
        ("alone", "own"),
        ("alone", "expected"),
    ]


def test_what_a_place_belongs_to_is_told() -> None:
    def owner(text: str, of: str = SUITE) -> str:
        found = entries(of).owner_of(of.index(text) + 1)
        return found.id if isinstance(found, TaskEntry) else found.name if found is not None else ""

    assert [owner("skill: writer"), owner("- tasks/*"), owner("prompt: Stop")] == ["", "", "task-5"]
    assert [owner("name: own"), owner("name: midway"), owner("*polite")] == ["own", "midway", "polite"]
    assert isinstance(entries().owner_of(SUITE.index("name: short")), GraderEntry)


def test_what_a_merge_brings_in_counts() -> None:
    text = "base: &base {graders: [{type: text, name: shared}]}\ntasks:\n  - <<: *base\n    id: one\n"
    assert [(grader.task and grader.task.id, grader.name) for grader in entries(text).graders()] == [
        ("one", "shared")
    ]


@pytest.mark.parametrize(
    "text",
    ["", "- a", "graders: 3", "tasks: {a: 1}", "graders: *x", "tasks: [*x, 3, [a]]", "checkpoints: [1]"],
)
def test_odd_files_have_none(text: str) -> None:
    assert [*entries(text).tasks(), *entries(text).graders()] == []


def test_aliases_that_multiply_themselves_are_not_followed() -> None:
    graders = ", ".join("{type: text, name: a}" for _ in range(2_000))
    tasks = "\n".join(f"- {{id: t{number}, graders: *all}}" for number in range(5_000))
    found = entries(f"x-all: &all [{graders}]\ntasks:\n{tasks}\n")
    assert len(list(found.tasks())) == 5_000
    assert list(found.graders()) == []


VALLY = """\
environment: {skills: [skills/tea]}
graders:
  - type: completed
  - {type: tool-calls, turn: 0, config: {required: [bash]}}
stimuli:
  - name: Brews tea
    turns: [Brew., Serve.]
    expect_activation: true
    constraints:
      max_turns: 3
      max_duration: 5s
      expect_tools: [bash]
      reject_tools: []
      reject_skills: ["*"]
    graders:
      - type: completed
      - {type: output-contains, name: verdict, turn: 0, config: {value: tea}}
      - {type: output-contains, config: {value: tea}}
  - name: brews-tea
    prompt: Brew.
    graders: [{type: token-budget, name: completed, config: {max: 3}}]
    constraints: {max_tokens: 5, max_duration_ms: 3000, expect_skills: [tea]}
"""


def test_stimuli_and_their_graders_have_the_names_that_a_run_records(tmp_path: Path) -> None:
    path = put(tmp_path, "a.eval.yaml", VALLY)
    file = SuiteFile(parse(VALLY))
    found = {
        task.id: [
            grader.recorded_as
            for grader in (*file.own_graders(), *file.graders_of(task))
            if grader.place != "checkpoint"
        ]
        for task in file.tasks()
    }
    suite = load_suite(path)
    run = {task.id: [entry.name for entry in task.task.graders[:-1]] for task in suite.tasks if task.task}
    # A grader of the file that judges an earlier turn of one stimulus judges the end of others.
    run["brews-tea"].insert(1, "tool-calls")
    assert found == run
    early = [each.recorded_as for each in file.graders() if each.place == "checkpoint"]
    assert early == [checkpoint_grader("verdict-2", 1)]
