"""New YAML is composed from a template: its comments stay, and every value is read back as it was."""

from pathlib import Path

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from waza_engine.scaffold.composing import compose, to_yaml
from waza_engine.spec.reading.yaml_reader import parse_yaml

TEMPLATE = """\
# The name.
name: $name  # short

items:
  - $name
  - [a, b]  # as it is
"""


def test_comments_quotes_and_flow_lists_stay() -> None:
    assert compose(TEMPLATE, name="a: b") == TEMPLATE.replace("$name  ", "'a: b' ").replace("$name", "'a: b'")


@given(st.text(st.characters(codec="utf-8", exclude_characters="\x00\x85\u2028\u2029\ufeff\ufffe\uffff")))
@example("on")
@example("12:30")
@example("first\nsecond\n")
@example("first\n\n  # second")
@example(" indented\nnot")
@example("trailing \nspace")
@example("---\n...")
@example("$name")
def test_every_string_is_read_back_by_both_versions_of_yaml(text: str) -> None:
    composed = compose("a: $a\nb:\n  - c: $a\n", a=text)
    assert parse_yaml(composed, Path("a.yaml")).value == {"a": text, "b": [{"c": text}]}
    assert yaml.safe_load(composed) == {"a": text, "b": [{"c": text}]}


@pytest.mark.parametrize(
    ("data", "text"),
    [
        ([{"a": [1, {"b": "x"}]}, "y"], "- a:\n    - 1\n    - b: x\n- y\n"),
        ({"a": {}, "b": [], "c": None}, "a: {}\nb: []\nc:\n"),
    ],
)
def test_plain_data_become_blocks(data: object, text: str) -> None:
    assert to_yaml(data) == text
