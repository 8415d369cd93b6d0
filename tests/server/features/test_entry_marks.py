"""Marks say in one word what hints say in few; the entries of ``tasks`` have those of their files."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.server.features.results import RUN_AT, date, grade, write_results
from tests.server.project.files import opened, put, workspace_with
from waza_language_server.features.scores.inlay_hints import InlayHint
from waza_language_server.features.scores.marks import Mark, marks_of
from waza_language_server.features.scores.marks import marks as marks_in
from waza_language_server.features.scores.verdict_labels import HintKind
from waza_language_server.text.line_index import LineIndex

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


@pytest.mark.parametrize(
    ("label", "state"),
    [
        ("✓ 1.00", "passed"),
        ("⚡ ✗ 3 of 3", "failed"),
        ("↻ ◐ 1/2 trials", "failed"),
        ("⚡ ! too slow", "error"),
    ],
)
def test_a_verdict_has_its_mark_however_it_was_found(label: str, state: str) -> None:
    assert [mark.state for mark in marks_of([InlayHint(0, label, "")], LineIndex("name: a"))] == [state]


@pytest.mark.parametrize(("kind", "is_test"), [("score", True), ("verdict", True), ("check", False)])
def test_a_mark_says_whether_a_test_explorer_has_an_icon_there(kind: HintKind, is_test: bool) -> None:
    hints = [InlayHint(0, "✓", "", kind=kind)]
    assert [mark.is_test for mark in marks_of(hints, LineIndex("name: a"))] == [is_test]


def test_the_worst_of_a_line_stands_for_it_and_is_a_test_if_one_is() -> None:
    hints = [InlayHint(0, "✓ 1.00", ""), InlayHint(3, "✗", "", kind="check")]
    assert marks_of(hints, LineIndex("name: a")) == (Mark(0, "failed", stale=False, is_test=True),)
