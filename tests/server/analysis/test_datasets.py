"""What is wrong with a dataset is reported where the eval file names it."""

from pathlib import Path

import pytest

from tests.server.analysis.drawing import problems_in
from tests.server.project.files import put
from waza_engine.runs.loading.suite_on_disk import load_suite
from waza_engine.spec.problems import SuiteFileError

EVAL = "name: a\nskill: b\nconfig: {trials_per_task: 1, timeout_seconds: 60, executor: mock, model: x}\n"


def reported(root: Path, rows: str | None, name: str = "rows.csv") -> list[tuple[str, str]]:
    text = f"{EVAL}tasks_from: {name}\n"
    if rows is not None:
        put(root, name.partition("\n")[0], rows)
    found = problems_in(root, "eval.yaml", text, "eval")
    return [(text[each.span.start : each.span.end], each.message) for each in found if "dataset" in each.code]


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ("id,Prompt\na,x\n", "rename `Prompt` to `prompt`"),
        ("id,prompt\na,\n", "rows.csv, line 2: the cell `prompt` of this row is empty"),
        ("id;frage\na;x\n", "separate the columns with commas, not with `;`"),
        ("id,prompt\n", "rows.csv has only a header, so no task can be run."),
        (None, "There is no file `rows.csv`"),
    ],
)
def test_a_refused_dataset_is_an_error_at_its_name(tmp_path: Path, rows: str | None, said: str) -> None:
    [(place, message)] = reported(tmp_path, rows)
    assert (place, said in message) == ("rows.csv", True), message


@pytest.mark.parametrize(
    ("name", "rows"),
    [
        ("rows.csv", "id,prompt\na,x\nb,y\n"),
        ("p.jsonl", '{"id": "a", "input": "x"}\n{"id": "b", "input": "y"}\n'),
    ],
)
def test_a_range_after_the_last_row_is_an_error(tmp_path: Path, name: str, rows: str) -> None:
    [(place, message)] = reported(tmp_path, rows, f"{name}\nrange: [3, 9]")
    assert (place, "of 2, so no task can be run" in message) == ("3", True), message
    with pytest.raises(SuiteFileError, match="`range` starts at"):
        load_suite(tmp_path / "eval.yaml")
    assert reported(tmp_path, rows, f"{name}\nrange: [2, 9]") == []


def test_a_dataset_with_other_separators_that_are_certain_is_none(tmp_path: Path) -> None:
    assert reported(tmp_path, "id;prompt\na;x\n") == []


@pytest.mark.parametrize("written", ["../rows.csv", "/srv/rows.csv", "a/../../rows.csv"])
def test_a_dataset_outside_the_folder_of_the_suite_is_an_error(tmp_path: Path, written: str) -> None:
    put(tmp_path, "rows.csv", "id,prompt\na,x\n")
    text = f"{EVAL}tasks_from: {written}\n"
    found = problems_in(tmp_path, "suite/eval.yaml", text, "eval")
    assert [each.message for each in found if each.code == "unusable-dataset"] == [
        f"`{written}` is not in the folder of the suite; move the dataset there."
    ]


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ("", "line 1: the dataset has no tasks"),
        ('{"id": "a", "input": "x"}\n{"id": "b"}\n', "line 2: `input` is missing in this line"),
        ('{"id": "a", "input": "  "}\n', "line 1: `input` must not be blank"),
        ('{"id": "a", "input": "x"}\n\n{"id": "a", "input": "y"}\n', "line 3: The id `a` is taken by line 1"),
        ('{"id": "a"}\n{"id": 1, "input": "x"}\n', "; 1 more error below it."),
    ],
)
def test_lines_of_prompts_that_a_run_refuses_are_an_error(tmp_path: Path, lines: str, said: str) -> None:
    [(place, message)] = reported(tmp_path, lines, "prompts.jsonl")
    assert place == "prompts.jsonl"
    assert said in message
    with pytest.raises(SuiteFileError, match=r"prompts\.jsonl"):
        load_suite(tmp_path / "eval.yaml")


def test_lines_of_prompts_that_a_run_takes_are_taken(tmp_path: Path) -> None:
    lines = '{"id": "a", "input": ["x", "y"], "more": 1}\n\n{"id": "b", "input": "x"}\n'
    assert reported(tmp_path, lines, "prompts.jsonl") == []
    assert len(load_suite(tmp_path / "eval.yaml").tasks) == 2
