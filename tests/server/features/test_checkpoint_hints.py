"""What graders said in the middle of a conversation stands beside them, as for all others."""

from pathlib import Path

import pytest

from tests.engine.suites import run
from tests.server.project.files import opened, put, workspace_with
from waza_language_server.features.annotated_source import Hint, annotate_source
from waza_language_server.features.hover.hover import hover
from waza_language_server.features.scores.inlay_hints import inlay_hints

EVAL = """\
name: my-eval
skill: my-skill
config: {trials_per_task: 2, timeout_seconds: 20, executor: mock, model: some-model}
tasks: [tasks/*.yaml]
"""
TASK = """\
id: first
name: first
inputs: {prompt: Say hello, follow_up_prompts: [And goodbye]}
graders:
  - {type: text, name: says, config: {contains: [goodbye]}}
checkpoints:
  - after_turn: 1
    graders:
      - type: text
        name: says
        config:
          contains:
            - hello
            - farewell
"""


@pytest.fixture
def task(tmp_path: Path) -> Path:
    path = put(tmp_path, "tasks/first.yaml", TASK)
    run(put(tmp_path, "eval.yaml", EVAL))
    return path


def drawn(path: Path, text: str) -> str:
    document = opened(path, "task", text)
    hints = inlay_hints(document, workspace_with().with_document(document))
    return annotate_source(text, [Hint(hint.offset, hint.label) for hint in hints], context=0)


def test_each_grader_of_a_checkpoint_has_its_verdict_and_the_marks_of_its_rules(task: Path) -> None:
    assert (
        drawn(task, TASK)
        == """\
id: first  ‹✗ says after turn 1›
⋯
  - {type: text, name: says, config: {contains: [goodbye]}}  ‹✓›  ‹✓ 1.00›
⋯
        name: says  ‹✗ 0.50 1 of 2›
⋯
            - hello  ‹✓›
            - farewell  ‹✗›
"""
    )


def test_a_grader_of_a_checkpoint_that_was_changed_is_stale(task: Path) -> None:
    changed = TASK.replace("farewell", "see you")
    assert "        name: says  ‹✗ 0.50 1 of 2 · stale›" in drawn(task, changed)


def test_one_that_was_moved_to_another_turn_has_no_verdict_there(task: Path) -> None:
    moved = TASK.replace("after_turn: 1", "after_turn: 2")
    assert "        name: says  ‹" not in drawn(task, moved)


def test_its_hover_says_what_was_met(task: Path) -> None:
    document = opened(task, "task", TASK)
    workspace = workspace_with().with_document(document)
    found = hover(document, workspace, TASK.rindex("says"), documentation="")
    assert found is not None
    assert "farewell" in found.text
