"""Scores beside the lines that caused them: after a run, after edits, over trials and tasks."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.server.features.hinting import Editor
from tests.server.features.results import RUN_AT, date, grade, write_results
from tests.server.project.files import opened, put, small_suite, workspace_with
from waza_engine.results.reading import newest_scores, recordings
from waza_language_server.features.scores.inlay_hints import inlay_hints
from waza_language_server.text.span import Span

EVAL = """\
name: my-eval
skill: my-skill
config:
  model: some-model
graders:
  - type: text
    name: mentions # important
    config:
      contains:
        - deployed
        - live
tasks:
  - tasks/*.yaml
"""
TASK = """\
id: first
name: First
inputs:
  prompt: Do it
graders:
- name: own
  type: code
  config:
    assertions: [len(output) > 1, output != '']
"""


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    put(tmp_path, "tasks/first.yaml", TASK)
    put(tmp_path, "tasks/second.yaml", "id: second\nname: Second\ninputs: {prompt: Do it}\n")
    return put(tmp_path, "eval.yaml", EVAL)


def passing(name: str = "mentions") -> dict[str, Any]:
    return grade(name, 1.0, "all fine", [(["contains", 0], True, ""), (["contains", 1], True, "")])


def failing(name: str = "mentions") -> dict[str, Any]:
    checks: list[tuple[list[str | int], bool, str]] = [
        (["contains", 0], True, ""),
        (["contains", 1], False, 'the output lacks "live"'),
    ]
    return grade(name, 0.5, 'the output lacks "live"', checks)


def test_the_score_stands_at_the_name_and_the_marks_at_the_rules(suite: Path) -> None:
    write_results(suite, {"first": [[failing()]]})
    assert Editor().drawn(suite, "eval") == (
        """\
⋯
    name: mentions # important  ‹✗ 0.50 1 of 2›
⋯
        - deployed  ‹✓›
        - live  ‹✗›
"""
    )


def test_a_grader_of_the_suite_sums_up_its_tasks(suite: Path) -> None:
    write_results(suite, {"first": [[failing()]], "second": [[passing()]]})
    assert Editor().drawn(suite, "eval") == (
        """\
⋯
    name: mentions # important  ‹✗ 0.75 1 of 2 tasks›
⋯
        - deployed  ‹✓›
        - live  ‹✗ 1 of 2 tasks›
"""
    )


def test_the_tooltip_of_a_suite_grader_has_a_line_for_each_task_failures_first(suite: Path) -> None:
    write_results(suite, {"second": [[passing()]], "first": [[failing()]]}, model="some-model")
    assert Editor().hints(suite, "eval")[0].tooltip == (
        """\
**`mentions`** ✗ 0.75 1 of 2 tasks

- `first` ✗ 0.50 1 of 2: `the output lacks "live"`
- `second` ✓ 1.00

Recorded 5 minutes ago (`copilot-sdk` · `some-model`)."""
    )


def test_a_grader_of_a_task_has_the_score_of_its_task_alone(suite: Path) -> None:
    checks: list[tuple[list[str | int], bool, str]] = [
        (["assertions", 0], True, ""),
        (["assertions", 1], False, ""),
    ]
    write_results(suite, {"first": [[grade("own", 0.5, "", checks)]], "second": [[grade("own", 1.0)]]})
    assert Editor().drawn(suite.parent / "tasks/first.yaml", "task") == (
        """\
id: first  ‹✗ 0.50›
⋯
- name: own  ‹✗ 0.50 1 of 2›
⋯
    assertions: [len(output) > 1, output != '']  ‹✓›  ‹✗›
"""
    )


def test_a_task_grader_of_the_same_name_has_replaced_the_result_of_the_suite(suite: Path) -> None:
    put(suite.parent, "tasks/first.yaml", TASK.replace("own", "mentions"))
    write_results(suite, {"first": [[failing()]], "second": [[passing()]]})
    assert Editor().label(suite, "eval") == "✓ 1.00"


@pytest.mark.parametrize(
    ("trials", "label"),
    [
        ([[passing()], [passing()]], "✓ 1.00"),
        ([[passing()], [failing()], [passing()]], "◐ 2/3 trials"),
        ([[failing()], [failing()]], "✗ 0.50 1 of 2"),
        ([[grade("mentions", 0.0, "", status="pending")]], "◷ pending"),
        ([[grade("mentions", 0.0, "no such file", status="error")]], "! no such file"),
        ([[grade("mentions", 0.999)]], "✗ 0.99"),
        ([[grade("mentions", 2 / 3)]], "✗ 0.67"),
    ],
)
def test_labels(suite: Path, trials: list[list[dict[str, Any]]], label: str) -> None:
    write_results(suite, {"first": trials})
    assert Editor().label(suite, "eval") == label


def test_a_trial_in_which_a_grader_broke_was_found_neither_right_nor_wrong(suite: Path) -> None:
    broke = grade("mentions", 0.0, "no such file", status="error")
    write_results(suite, {"first": [[passing()], [broke]]})
    assert "Trials: ✓ 1.00, ! 0.00" in Editor().hints(suite, "eval")[0].tooltip
    # Where it failed an answer as well, that is what it says.
    write_results(suite, {"first": [[broke], [failing()]]})
    assert Editor().label(suite, "eval") == "✗ 0.25 1 of 2"


def test_what_the_agent_wrote_cannot_become_markdown(suite: Path) -> None:
    write_results(suite, {"first": [[grade("mentions", 0.0, "```\n[click](command:evil)")]]})
    assert "````text\n```\n[click](command:evil)\n````" in Editor().hints(suite, "eval")[0].tooltip


def test_editing_a_grader_makes_its_score_stale_and_taking_it_back_fresh(suite: Path) -> None:
    write_results(suite, {"first": [[passing()]]})
    editor = Editor()
    assert editor.label(suite, "eval") == "✓ 1.00"
    edited = EVAL.replace("- live", "- dead")
    hints = editor.hints(suite, "eval", edited)
    assert hints[0].label == "✓ 1.00 · stale"
    assert "stale: the grader was changed after the run" in hints[0].tooltip
    assert editor.label(suite, "eval", EVAL) == "✓ 1.00"


def test_saving_the_edit_keeps_it_stale_and_undoing_it_makes_it_fresh(suite: Path) -> None:
    write_results(suite, {"first": [[passing()]]})
    editor = Editor()
    editor.hints(suite, "eval")
    put(suite.parent, "eval.yaml", EVAL.replace("- live", "- dead"))
    assert editor.label(suite, "eval") == "✓ 1.00 · stale"
    put(suite.parent, "eval.yaml", EVAL)
    assert editor.label(suite, "eval") == "✓ 1.00"


def test_comments_and_layout_make_nothing_stale(suite: Path) -> None:
    write_results(suite, {"first": [[passing()]]})
    editor = Editor()
    edited = "# note\n" + EVAL.replace(
        "contains:\n        - deployed\n        - live", "contains: [deployed, 'live']"
    )
    assert editor.label(suite, "eval", edited) == "✓ 1.00"


def test_a_rule_that_was_rewritten_loses_its_mark_and_one_that_moved_keeps_it(suite: Path) -> None:
    write_results(suite, {"first": [[failing()]]})
    edited = EVAL.replace("- deployed\n        - live", "- brand new\n        - live\n        - other")
    assert Editor().drawn(suite, "eval", edited) == (
        """\
⋯
    name: mentions # important  ‹✗ 0.50 1 of 2 · stale›
⋯
        - live  ‹✗›
"""
    )


def test_a_file_changed_after_the_run_is_stale_when_nobody_knows_what_it_was(suite: Path) -> None:
    write_results(suite, {"first": [[passing()]]})
    date(suite, RUN_AT + timedelta(hours=1))
    hint = Editor().hints(suite, "eval")[0]
    assert hint.label == "✓ 1.00 · stale"
    assert "the file was changed after the run" in hint.tooltip


def test_the_checks_of_a_stale_score_are_stale_too(suite: Path) -> None:
    write_results(suite, {"first": [[failing()]], "second": [[passing()]]}, model="some-model")
    editor = Editor()
    assert [hint.stale for hint in editor.hints(suite, "eval")] == [False, False, False]
    changed = editor.hints(suite, "eval", EVAL.replace("some-model", "other-model"))
    assert [(hint.label, hint.stale) for hint in changed[1:]] == [("✓", True), ("✗ 1 of 2 tasks", True)]


def test_a_new_result_file_is_read_when_told(suite: Path) -> None:
    write_results(suite, {"first": [[failing()]]})
    editor = Editor()
    assert editor.label(suite, "eval") == "✗ 0.50 1 of 2"
    write_results(suite, {"first": [[passing()]]}, at=RUN_AT + timedelta(minutes=1))
    assert editor.label(suite, "eval") == "✗ 0.50 1 of 2"
    editor.workspace.project.scores.forget()
    assert editor.label(suite, "eval") == "✓ 1.00"


def test_a_run_of_one_grader_leaves_the_others_what_they_are(suite: Path) -> None:
    write_results(suite, {"first": [[failing(), failing("own")]]})
    editor = Editor()
    task = suite.parent / "tasks" / "first.yaml"
    alone = {"metadata": {"engine": {"eval_file": "eval.yaml", "graders": ["mentions"]}}}
    write_results(suite, {"first": [[passing()]]}, at=RUN_AT + timedelta(minutes=1), more=alone)
    editor.workspace.project.scores.forget()
    assert editor.label(suite, "eval") == "✓ 1.00"
    assert editor.label(task, "task").startswith("✗")


def test_a_verdict_is_of_the_grader_that_gave_it_and_not_of_its_namesake(suite: Path) -> None:
    broken = grade("mentions", 0.0, "no such program", type="program", status="error")
    write_results(suite, {"first": [[broken]], "second": [[passing()]]})
    # The task has had a grader of the suite's name when it ran.
    put(suite.parent, "tasks/first.yaml", "id: first\nname: First\ninputs: {prompt: Do it}\n")
    editor = Editor()
    assert editor.label(suite, "eval") == "✓ 1.00"
    other_type = EVAL.replace("type: text", "type: regex")
    assert not [hint for hint in editor.hints(suite, "eval", other_type) if hint.kind == "score"]


def test_only_the_hints_of_the_visible_part_are_made(suite: Path) -> None:
    write_results(suite, {"first": [[failing()]]})
    document = opened(suite, "eval")
    workspace = workspace_with(document)
    end = EVAL.index("config:\n      contains")
    assert [hint.label for hint in inlay_hints(document, workspace, Span(0, end))] == ["✗ 0.50 1 of 2"]


def test_a_broken_file_keeps_its_scores(suite: Path) -> None:
    write_results(suite, {"first": [[failing()]]})
    editor = Editor()
    broken = EVAL.replace("skill: my-skill", 'skill: "my-skill').replace("tasks:\n", "tas")
    assert editor.drawn(suite, "eval", broken) == editor.drawn(suite, "eval", EVAL)


def test_crlf_hints_stand_before_the_line_break(suite: Path) -> None:
    write_results(suite, {"first": [[passing()]]})
    text = EVAL.replace("\n", "\r\n")
    hint = Editor().hints(suite, "eval", text)[0]
    assert text[: hint.offset].endswith("# important")


def test_an_advisory_grader_that_does_not_pass_is_no_failure(suite: Path) -> None:
    trial = [grade("mentions", 0.5, "not found", required=False), grade("own", 1.0)]
    write_results(suite, {"first": [trial], "second": [trial]})
    labels = [hint.label for hint in Editor().hints(suite, "eval")]
    assert "○ 0.50 2 of 2 tasks · advisory" in labels


LONG = "word " * 200_000
"""A million characters."""


def labels_of(path: Path) -> list[str]:
    document = opened(path, "eval")
    return [hint.label for hint in inlay_hints(document, workspace_with(document))]


def test_a_record_of_more_than_32_mb_is_shown(tmp_path: Path) -> None:
    path = small_suite(tmp_path)
    write_results(path, {"first": [[grade("mentions_deploy", 1.0, details={"output": LONG * 34})]]})
    assert "✓ 1.00" in labels_of(path)


def test_a_record_beyond_the_limit_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = small_suite(tmp_path)
    record = write_results(path, {"first": [[grade("mentions_deploy", 1.0, details={"output": LONG * 3})]]})
    started = record.rename(record.with_name("20260701T120000Z-abcdef.json"))
    for module in (recordings, newest_scores):
        monkeypatch.setattr(module, "LONGEST_BYTES", 2 * 2**20)
    (label,) = [label for label in labels_of(path) if label.startswith("!")]
    found = newest_scores.latest_results(tmp_path, eval_file=path.name)
    assert found is not None
    assert found.reasons == (
        f"its results cannot be read: {started.name} has 3 MB; results of up to 2 MB are read.",
    )
    assert started.name in label
