"""Graders under `expected` are run here and ignored upstream: they belong at the top of the task."""

import pytest

from tests.server.analysis.drawing import TASK, drawn, fixed

MISPLACED = """\
expected:
  output_contains: [done]
  graders:
    # Says when.
    - type: text
      name: a
      config: {contains: [done]}
"""


def test_whole_graders_under_expected_are_reported() -> None:
    shown = drawn(TASK + MISPLACED, fixes=True)
    assert (
        "  ^^^^^^^ warning misplaced-key: `graders` belongs at the top of the file, not under `expected`, "
        "where upstream ignores it.\n    = fix: Move to the top of the file\n"
    ) in shown


def test_they_move_with_their_comments() -> None:
    assert (
        fixed(TASK + MISPLACED, "misplaced-key")
        == TASK
        + """\
graders:
  # Says when.
  - type: text
    name: a
    config: {contains: [done]}
expected:
  output_contains: [done]
"""
    )


def test_names_of_the_graders_of_the_suite_are_fine() -> None:
    assert "misplaced-key" not in drawn(TASK + "expected:\n  graders: [format]\n")


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_graders_under_expected_join_those_that_the_task_has(ending: str) -> None:
    own = "graders:\n- type: text\n  name: a\n  config: {contains: [x]}\n"
    text = (
        TASK
        + own
        + (
            "expected:\n    graders:\n        # the second\n        - type: text\n          name: b\n"
            "          config:\n              contains: [y] # now\n    output_contains: [z]\n"
        )
    )
    meant = (
        TASK
        + own
        + (
            "# the second\n- type: text\n  name: b\n  config:\n      contains: [y] # now\n"
            "expected:\n    output_contains: [z]\n"
        )
    )
    assert fixed(text.replace("\n", ending), "misplaced-key") == meant.replace("\n", ending)
