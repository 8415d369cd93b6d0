"""What a line of an agent's output means."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.engine.executors.agents import adapter
from waza_engine.executors.adapter.output_lines import (
    Line,
    Update,
    event_of,
    find,
    find_text,
    is_path,
    read_event,
)
from waza_engine.results.json_values import value_text
from waza_engine.spec.adapter import AdapterFile


def read(event: Any, *mappings: dict[str, Any], **keys: Any) -> Line:
    spec = AdapterFile.model_validate(adapter(outputEvents=list(mappings), **keys))
    return read_event(spec, event)


def mapping(path: str, value: str, emit_as: str = "message", **extract: str) -> dict[str, Any]:
    return {"match": {"path": path, "value": value}, "emitAs": emit_as, "extract": extract}


TOOL_USE = mapping("$.message.content[*].type", "tool_use", "tool_call", title="$.name", status="'pending'")


def test_a_wildcard_finds_the_typed_items_of_a_list() -> None:
    content = [
        {"type": "tool_use", "name": "Read"},
        {"type": "text", "text": "hm"},
        "tool_use_item",
        {"name": "no type"},
        None,
        {"type": "tool_use", "name": "Write"},
    ]
    found = read({"message": {"content": content}}, TOOL_USE).updates
    assert [(update.tool, update.state) for update in found] == [("Read", "pending"), ("Write", "pending")]


@pytest.mark.parametrize("content", [[], [{"type": "text"}], "tool_use", None])
def test_a_wildcard_over_nothing_that_fits_means_nothing(content: object) -> None:
    assert read({"message": {"content": content}}, TOOL_USE).updates == ()


def test_a_star_fits_every_item() -> None:
    event = {"items": [{"text": "a"}, {"text": "b"}, None, {"text": "c"}]}
    found = read(event, mapping("$.items[*]", "*", content="$.text")).updates
    assert [update.content for update in found] == ["a", "b", "c"]


def test_an_item_without_a_type_fits_when_it_is_the_word() -> None:
    found = read({"items": ["yes", "no"]}, mapping("$.items", "yes", content="'said'")).updates
    assert [update.content for update in found] == ["said"]


def test_the_first_mapping_that_fits_ends_the_search() -> None:
    event = {"message": {"content": [{"type": "text", "text": "T"}, {"type": "tool_use", "name": "Read"}]}}
    text = mapping("$.message.content[*]", "text", content="$.text")
    assert [update.kind for update in read(event, TOOL_USE, text).updates] == ["tool_call"]


def test_all_mappings_count_in_the_order_of_the_list_when_asked_to() -> None:
    event = {"message": {"content": [{"type": "text", "text": "T"}, {"type": "tool_use", "name": "Read"}]}}
    text = mapping("$.message.content[*]", "text", content="$.text")
    found = read(event, TOOL_USE, text, **{"x-waza": {"event_matching": "all"}}).updates
    assert [update.kind for update in found] == ["message", "tool_call"]


@pytest.mark.parametrize(
    ("value", "wanted", "fits"),
    [("1", "1", True), (1, "1", False), (False, "*", True), (None, "*", False), (True, "true", False)],
)
def test_values_are_compared_strictly(value: object, wanted: str, *, fits: bool) -> None:
    assert bool(read({"a": value}, mapping("$.a", wanted)).updates) is fits


def test_a_second_condition_looks_at_the_whole_event() -> None:
    only_assistant = {
        **mapping("$.parts[*]", "text", content="$.text"),
        "when": {"path": "$.role", "value": "assistant"},
    }
    parts = [{"type": "text", "text": "x"}]
    assert read({"role": "assistant", "parts": parts}, only_assistant).updates
    assert not read({"role": "user", "parts": parts}, only_assistant).updates


def test_a_missing_text_is_still_an_event() -> None:
    assert read({"type": "text"}, mapping("$.type", "text", content="$.text")).updates == (
        Update("message", None),
    )


@pytest.mark.parametrize(
    ("event", "answer"),
    [
        ({"type": "result", "content": "done"}, "done"),
        ({"type": "result"}, ""),
        ({"type": "result", "content": {"a": 1}}, '{"a":1}'),
        ({"type": "other"}, None),
        ([], None),
        ("result", None),
    ],
)
def test_the_result_ends_the_turn(event: object, answer: str | None) -> None:
    assert read(event).answer == answer


@pytest.mark.parametrize(
    ("status", "error", "state"),
    [
        ("completed", None, "completed"),
        ("SUCCESS", None, "completed"),
        (True, None, "completed"),
        ("failed", None, "failed"),
        (False, None, "failed"),
        ("completed", True, "failed"),
        ("completed", "it broke", "failed"),
        ("completed", False, "completed"),
        ("completed", "", "completed"),
        (None, None, "pending"),
        ("whatever", None, "pending"),
        ("in_progress", None, "in_progress"),
    ],
)
def test_the_state_of_a_tool_call(status: object, error: object, state: str) -> None:
    tool = mapping("$.type", "tool", "tool_call", title="$.name", status="$.status", error="$.error")
    event = {"type": "tool", "name": "x", "status": status, "error": error}
    assert read(event, tool).updates[0].state == state


@pytest.mark.parametrize(
    ("written", "arguments"),
    [
        ({"path": "a"}, {"path": "a"}),
        ('{"path": "a"}', {"path": "a"}),
        ("ls -l", {"input": "ls -l"}),
        ([1], {"input": [1]}),
        (None, None),
    ],
)
def test_the_arguments_of_a_tool_call(written: object, arguments: object) -> None:
    tool = mapping("$.type", "tool", "tool_call", title="$.name", input="$.input")
    assert read({"type": "tool", "name": "x", "input": written}, tool).updates[0].arguments == arguments


@pytest.mark.parametrize(
    ("written", "result"),
    [
        ("text", "text"),
        ([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}], "a\nb"),
        ([{"type": "image"}], '[{"type":"image"}]'),
        ({"a": 1}, '{"a":1}'),
    ],
)
def test_the_result_of_a_tool_call(written: object, result: str) -> None:
    tool = mapping("$.type", "tool", "tool_call", title="$.name", output="$.output")
    assert read({"type": "tool", "name": "x", "output": written}, tool).updates[0].result == result


def test_ids_by_kind_of_event_stand_in_for_those_of_the_mapping() -> None:
    tool = mapping("$.type", "tool", "tool_call", title="$.name")
    found = read(
        {"type": "tool", "name": "x", "data": {"id": 7}},
        tool,
        **{"x-waza": {"event_ids": {"tool": "$.data.id"}}},
    )
    assert found.updates[0].id == "7"


RESUME = {"flag": "--resume", "sessionIdPath": "$.session.id"}


def test_the_session_is_found_by_its_path_in_any_event() -> None:
    assert read({"session": {"id": "S1"}}, resume=RESUME).session == "S1"
    assert read({"session": {"id": 5}}, resume=RESUME).session == "5"


def test_the_session_of_the_harness_is_a_key_of_mapped_events() -> None:
    strict = {"x-waza": {"honor_session_id_path": False}}
    text = mapping("$.type", "text")
    assert read({"type": "text", "session_id": "S"}, text, resume=RESUME, **strict).session == "S"
    assert read({"type": "other", "session_id": "S"}, text, resume=RESUME, **strict).session == ""
    assert read({"session": {"id": "S1"}}, text, resume=RESUME, **strict).session == ""


USAGE = {"input_tokens": "$.usage.in", "cost_usd": "$.cost"}


def test_usage_is_read_from_the_result() -> None:
    found = read({"type": "result", "usage": {"in": 5}, "cost": 0.25}, **{"x-waza": {"usage": USAGE}})
    assert found.usage == {"input_tokens": 5, "cost_usd": 0.25}


def test_usage_is_read_from_the_events_that_are_meant() -> None:
    extension = {"x-waza": {"usage": {**USAGE, "match": {"path": "$.type", "value": "turn"}}}}
    assert read({"type": "turn", "usage": {"in": 5}}, **extension).usage == {"input_tokens": 5}
    assert read({"type": "result", "usage": {"in": 5}}, **extension).usage is None


@pytest.mark.parametrize("value", ["5", True, -1, None, [5], 1e300])
def test_what_is_no_count_is_no_usage(value: object) -> None:
    assert read({"type": "result", "usage": {"in": value}}, **{"x-waza": {"usage": USAGE}}).usage is None


def test_passed_through_events_have_our_kinds() -> None:
    keys = {"outputMode": "passthrough", "passthroughTypeMap": {"typeValues": {"say": "message"}}}
    assert read({"type": "say", "content": "x"}, **keys).updates == (Update("message", "x"),)
    assert read({"type": "thought", "content": 5}, **keys).updates == (Update("thought", None),)
    (tool,) = read({"type": "tool_call", "title": "t", "status": "completed"}, **keys).updates
    assert (tool.tool, tool.state) == ("t", "completed")
    assert read({"type": "noise"}, **keys).updates == ()
    assert read({"type": 5}, **keys).updates == ()


def test_passthrough_without_a_map_reads_mappings() -> None:
    found = read({"type": "text"}, mapping("$.type", "text"), outputMode="passthrough").updates
    assert [update.kind for update in found] == ["message"]


@pytest.mark.parametrize("line", ["Loading…", "", "5", '"text"', "{", "[" * 100_000, "\x00\x01"])
def test_what_is_no_event_is_noise(line: str) -> None:
    assert event_of(line) is None


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
