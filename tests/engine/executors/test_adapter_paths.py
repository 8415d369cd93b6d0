"""The small path language of adapter files."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from waza_engine.executors.adapter.output_lines import find, find_text, is_path
from waza_engine.results.json_values import value_text

EVENT: dict[str, Any] = {
    "type": "assistant",
    "message": {"text": "Hello", "parts": [{"type": "a"}, {"type": "b"}]},
    "items": [],
    "word": "text",
    "rows": [[1, 2], [3]],
    "none": None,
    "zero": 0,
}


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("$.message.text", "Hello"),
        ("$.missing.deep", None),
        ("'pending'", "pending"),
        ("''", ""),
        ("'", None),
        ("type", None),
        ("$", None),
        ("", None),
        ("$type", None),
        ("$.items[*]", []),
        ("$.word[*]", None),
        ("$.message.parts[1].type", "b"),
        ("$.message.parts[2].type", None),
        ("$.message.parts[*]", [{"type": "a"}, {"type": "b"}]),
        ("$.message.parts[*].type", [{"type": "a"}, {"type": "b"}]),
        ("$.message.parts[-1]", None),
        ("$.rows[0][1]", None),
        ("$.message.parts.length", 2),
        ("$.message.parts.1.type", "b"),
        ("$..type", "assistant"),
        ("$.none", None),
        ("$.zero", 0),
        ("$.word.length", None),
        ("$.[0]", None),
        ("$.rows[99999999999999999999]", None),
    ],
)
def test_a_path_leads_to_a_value_or_to_nothing(path: str, found: object) -> None:
    assert find(path, EVENT) == found


def test_the_root_may_be_a_list() -> None:
    assert find("$.[1].a", [{}, {"a": 5}]) == 5
    assert find("$.[*]", [1, 2]) == [1, 2]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (42, "42"),
        (1.0, "1"),
        (1.5, "1.5"),
        (True, "true"),
        (None, None),
        ("x", "x"),
        ("", ""),
        ({"a": 1}, '{"a":1}'),
        ([1, "é"], '[1,"é"]'),
        ("\ud800", "?"),
    ],
)
def test_a_value_as_text(value: object, text: str | None) -> None:
    assert value_text(value) == text


def test_no_path_is_no_text() -> None:
    assert find_text("", EVENT) is None


@pytest.mark.parametrize("path", ["type", "$", "", "$.a[-1]", "$.a[0][1]", "'open"])
def test_what_leads_nowhere_is_told_apart(path: str) -> None:
    assert not is_path(path)


NAMES = st.text("abcXYZ_09 é-", min_size=1, max_size=5).filter(lambda name: not name.isdigit())
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=12,
)


def places(value: Any, path: str = "$") -> list[tuple[str, Any]]:
    """Return every place in a value that a path can name, written with one index a part."""
    found: list[tuple[str, Any]] = []
    if isinstance(value, dict):
        for name, inner in value.items():
            found += [(f"{path}.{name}", inner), *places(inner, f"{path}.{name}")]
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            place = f"{path}.[{index}]"
            found += [(place, inner), *places(inner, place)]
    return found


@given(VALUES)
def test_every_place_in_a_value_can_be_named(value: Any) -> None:
    for path, inner in places(value):
        assert find(path, value) == inner


@given(st.text("$.[]*'ab0 \\", max_size=12), VALUES)
def test_any_path_over_any_value_leads_somewhere_or_nowhere(path: str, value: Any) -> None:
    found = find(path, value)
    assert found is None or isinstance(value_text(found), str)
    if path.startswith("$.") and path.endswith("[*]") and found is not None:
        assert isinstance(found, list)


@given(VALUES)
def test_text_of_blocks_is_json(value: Any) -> None:
    if isinstance(value, dict | list):
        text = value_text(value)
        assert text is not None
        assert json.loads(text) == value
