"""Older spellings mean the same as the newest ones."""

from pathlib import Path
from typing import Any

from waza_engine.spec.eval_file import EvalFile
from waza_engine.spec.loading import canonical_eval, canonical_task, inline_task
from waza_engine.spec.reading.yaml_reader import parse_yaml
from waza_engine.spec.task_file import TaskElement, TaskFile

CONFIG = {"trials_per_task": 1, "timeout_seconds": 60, "executor": "mock"}


def suite(**keys: Any) -> EvalFile:
    return canonical_eval(EvalFile.model_validate({"config": CONFIG, "tasks": ["a.yaml"], **keys}))


def task(text: str) -> TaskFile:
    return canonical_task(TaskFile.model_validate(parse_yaml(text, Path("task.yaml")).value))


def test_max_workers_becomes_workers() -> None:
    assert suite(config={**CONFIG, "max_workers": 3}).config.workers == 3


def test_workers_wins_over_max_workers() -> None:
    assert suite(config={**CONFIG, "max_workers": 3, "workers": 2}).config.workers == 2


def test_the_include_prefix_of_a_pattern_is_dropped() -> None:
    assert suite(tasks=["include: tasks/*.yaml", "b.yaml"]).tasks == ("tasks/*.yaml", "b.yaml")


def test_blocks_of_task_files_become_patterns_in_their_place() -> None:
    tasks = suite(tasks=["a.yaml", {"task_files": ["b.yaml", "include:c/*.yaml"]}, "d.yaml"]).tasks
    assert tasks == ("a.yaml", "b.yaml", "c/*.yaml", "d.yaml")


def test_a_task_inside_the_suite_is_the_task_that_could_stand_in_a_file() -> None:
    (element,) = suite(
        tasks=[{"id": "a", "inputs": {"prompt": "Hi", "files": ["x.py"]}, "graders": [{"name": "g"}]}]
    ).tasks
    assert isinstance(element, TaskElement)
    written = inline_task(element)
    assert (written.id, written.inputs.prompt, written.enabled) == ("a", "Hi", True)
    assert written.graders[0].type == "code"
    assert written == task("id: a\ninputs: {prompt: Hi, files: [x.py]}\ngraders: [{name: g}]\n")


def test_a_plain_path_in_files_becomes_a_block() -> None:
    files = task("inputs: {prompt: Hi, files: [a.py, {path: b.py, content: x}]}").inputs.files
    assert [(file.path, file.content) for file in files if not isinstance(file, str)] == [
        ("a.py", ""),
        ("b.py", "x"),
    ]


def test_a_task_grader_without_a_type_is_a_code_grader() -> None:
    entry = task("inputs: {prompt: Hi}\ngraders:\n  - {name: long, assertions: ['len(output) > 1']}").graders[
        0
    ]
    assert (entry.type, entry.config) == ("code", {"assertions": ["len(output) > 1"]})


def test_a_suite_grader_without_a_type_stays_without() -> None:
    assert suite(graders=[{"name": "a"}]).graders[0].type == ""


def test_an_option_beside_the_type_fills_the_one_that_is_missing_in_config() -> None:
    grader = "{type: llm, rubric: outer, model: m, config: {rubric: inner, model: ~}}"
    entry = task(f"inputs: {{prompt: Hi}}\ngraders: [{grader}]").graders[0]
    assert entry.config == {"rubric": "inner", "model": "m"}
    assert (entry.rubric, entry.model) == (None, None)


def test_graders_of_expectations_and_checkpoints_are_brought_into_shape_too() -> None:
    text = """
inputs: {prompt: Hi}
expected: {graders: [by_name, {name: a, assertions: ['1 == 1']}]}
checkpoints: [{after_turn: 1, graders: [{name: b, assertions: ['1 == 1']}]}]
"""
    loaded = task(text)
    named, inline = loaded.expected.graders
    assert named == "by_name"
    assert not isinstance(inline, str)
    assert inline.config == loaded.checkpoints[0].graders[0].config == {"assertions": ["1 == 1"]}
