"""The entries of ``tasks`` in an eval file are marked with what their task files came to."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.server.features.results import RUN_AT, date, grade, write_results
from tests.server.project.files import opened, put, workspace_with
from waza_language_server.features.scores.marks import marks as marks_in

HEAD = "name: my-eval\nskill: my-skill\nconfig: {executor: mock}\ntasks:\n"
PASSED, FAILED = [[grade("a", 1.0)]], [[grade("a", 0.0)]]


def suite(folder: Path, *entries: str) -> Path:
    for name in ("one", "two", "three"):
        put(folder, f"tasks/{name}.yaml", f"id: {name}\ninputs: {{prompt: Do it}}\n")
    return put(folder, "eval.yaml", HEAD + "".join(f"- {entry}\n" for entry in entries))


def marks(path: Path) -> dict[str, tuple[str, bool]]:
    """Return the marks of the entries of ``tasks`` by their text."""
    document = opened(path, "eval")
    lines = document.text.splitlines()
    found = marks_in(document, workspace_with(document))
    return {lines[mark.line][2:]: (mark.state, mark.stale) for mark in found if lines[mark.line][0] == "-"}


def test_each_entry_has_the_mark_of_its_task(tmp_path: Path) -> None:
    path = suite(tmp_path, "tasks/one.yaml", "tasks/two.yaml", "tasks/three.yaml", "tasks/missing.yaml")
    write_results(path, {"one": PASSED, "two": FAILED})
    assert marks(path) == {"tasks/one.yaml": ("passed", False), "tasks/two.yaml": ("failed", False)}


@pytest.mark.parametrize(
    ("recorded", "expected"),
    [
        ({"one": PASSED, "two": FAILED, "three": PASSED}, {"tasks/*.yaml": ("failed", False)}),
        ({"one": PASSED, "two": PASSED, "three": PASSED}, {"tasks/*.yaml": ("passed", False)}),
        ({"one": PASSED, "two": PASSED}, {}),
    ],
    ids=["one failed", "all passed", "one was not run"],
)
def test_a_pattern_has_the_mark_of_the_worst_of_its_tasks(
    recorded: dict[str, list[list[dict[str, Any]]]],
    expected: dict[str, tuple[str, bool]],
    tmp_path: Path,
) -> None:
    path = suite(tmp_path, "tasks/*.yaml")
    write_results(path, recorded)
    assert marks(path) == expected


def test_the_mark_of_a_task_that_was_changed_since_is_stale(tmp_path: Path) -> None:
    path = suite(tmp_path, "tasks/one.yaml", "tasks/two.yaml")
    write_results(path, {"one": PASSED, "two": PASSED})
    changed = put(tmp_path, "tasks/two.yaml", "id: two\ninputs: {prompt: Do something else}\n")
    date(changed, RUN_AT + timedelta(minutes=1))
    assert marks(path) == {"tasks/one.yaml": ("passed", False), "tasks/two.yaml": ("passed", True)}


def test_without_results_there_are_no_marks(tmp_path: Path) -> None:
    assert marks(suite(tmp_path, "tasks/*.yaml")) == {}
