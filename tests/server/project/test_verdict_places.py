"""Messages about graders and tasks are shown on lines of theirs that have no inlay hint."""

from pathlib import Path

import pytest

from tests.server.project.files import project_with, put
from waza_language_server.project.verdict_places import VerdictLocations

EVAL = """\
name: my-eval
skill: my-skill
graders:
  - name: mentions
    type: text
    config:
      contains: [deployed]
  - config: {contains: [live]}
    name: untyped
tasks: [tasks/*.yaml]
"""
TASK = """\
id: first
name: First
inputs:
  prompt: Do it
"""


@pytest.mark.parametrize(
    ("grader", "line"), [("mentions", "text"), ("untyped", "config: {contains: [live]}"), (None, "inputs:")]
)
def test_a_message_is_shown_where_no_hint_stands(tmp_path: Path, grader: str | None, line: str) -> None:
    put(tmp_path, "tasks/first.yaml", TASK)
    suite = put(tmp_path, "eval.yaml", EVAL)
    place = VerdictLocations(project_with(), suite).of_message("first", grader)
    shown = place.text[place.span.start : place.span.end]
    assert place.text.splitlines()[place.text.count("\n", 0, place.span.start)].endswith(line), shown
