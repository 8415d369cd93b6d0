"""What authors use is reported by the names the schemas know."""

import json
from importlib.resources import files
from typing import cast

import pytest

from waza_language_server import schema
from waza_language_server.schema.catalog import default_catalog
from waza_language_server.schema.usage import GRADER_TYPES, UNUSED, section_of, usage_rank
from waza_language_server.syntax.tree import parse

TASK = """\
graders:
  - type: text
    config: {contains: [a]}
checkpoints:
  - after_turn: 1
    graders:
      - name: typeless
"""
COUNTED = cast(dict[str, list[str]], json.loads(files(schema).joinpath("usage.json").read_text("utf-8")))


@pytest.mark.parametrize(
    ("path", "section"),
    [
        ((), "task"),
        (("graders", 0), "grader.text"),
        (("graders", 0, "config"), "grader.text.config"),
        (("checkpoints", 0), "task.checkpoints"),
        (("checkpoints", 0, "graders", 0), "grader.?"),
        (("inputs", "files", 3), "task.inputs.files"),
    ],
)
def test_a_section_is_named_by_keys_and_grader_type(path: tuple[str | int, ...], section: str) -> None:
    assert section_of("task", path, parse(TASK).root) == section


def test_what_nobody_uses_comes_last() -> None:
    assert usage_rank("eval", "no-such-key") == usage_rank("no-such-section", "name") == UNUSED
    assert usage_rank("eval", "name") < usage_rank("eval", "metrics") < UNUSED


def test_only_types_of_graders_are_counted_as_such() -> None:
    assert set(COUNTED[GRADER_TYPES]) <= set(default_catalog().grader_types)
