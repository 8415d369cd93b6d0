"""The JSON reader: valid text gives what ``json.loads`` gives; damaged text keeps all that can be read."""

import json

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from waza_language_server.syntax.characters import is_binary
from waza_language_server.syntax.json_tree import parse_json
from waza_language_server.syntax.nodes import Node
from waza_language_server.syntax.tried_edits import apply
from waza_language_server.text.span import Span

PLAIN = (
    st.none()
    | st.booleans()
    | st.integers(-(10**30), 10**30)
    | st.floats(allow_nan=False, allow_infinity=False)
)
STRINGS = st.text(st.characters() | st.sampled_from(["\\", '"', "\n", "\t", "\x00", "/", "\U0001f600"]))
VALUES = st.recursive(
    PLAIN | STRINGS, lambda inner: st.lists(inner) | st.dictionaries(STRINGS, inner), max_leaves=20
)
LAYOUTS = st.sampled_from([{}, {"indent": 2}, {"indent": "\t"}, {"separators": (",", ":")}])
SUITE = json.dumps(
    {
        "skill_name": "s",
        "evals": [{"id": n, "prompt": "P \U0001f600", "files": ["a", "b"]} for n in range(3)],
    },
    indent=1,
)


def written(value: object, layout: dict[str, object], *, ascii_only: bool) -> str:
    return json.dumps(value, ensure_ascii=ascii_only, **layout)  # pyright: ignore[reportArgumentType]


@given(VALUES, LAYOUTS, st.booleans())
def test_valid_text_gives_what_the_json_module_gives(
    value: object, layout: dict[str, object], ascii_only: bool
) -> None:
    text = written(value, layout, ascii_only=ascii_only)
    assume(not is_binary(text))
    tree = parse_json(text)
    assert tree.errors == ()
    assert tree.root is not None
    assert tree.root.to_python() == json.loads(text)
    assert tree.root.span == Span(0, len(text))


@given(st.text("{}[],:\"'\\ \n\t\rtruefalsn10-.eu/*#é", max_size=60))
def test_any_text_gives_a_tree_in_order_and_no_fault_only_if_it_is_json(text: str) -> None:
    tree = parse_json(text)
    in_order(tree.root)
    try:
        value = json.loads(text)
    except ValueError:
        assert tree.errors or tree.root is None, text
    else:
        others = [fault for fault in tree.errors if fault.code != "duplicate-key"]
        assert others == []
        if not tree.errors:
            assert tree.root is not None
            assert tree.root.to_python() == value


EDITS = st.lists(
    st.tuples(st.integers(0, 400), st.integers(0, 12), st.text("{}[],:\"'\\ \nab1/", max_size=3)),
    max_size=8,
)


@given(EDITS)
@settings(max_examples=200)
def test_a_text_parsed_after_edits_is_the_text_parsed_fresh(edits: list[tuple[int, int, str]]) -> None:
    text, tree = SUITE, parse_json(SUITE)
    for place, gone, new in edits:
        at = min(place, len(text))
        text = text[:at] + new + text[at + gone :]
        tree = parse_json(text, tree)
        fresh = parse_json(text)
        assert (tree.errors, tree.guesses) == (fresh.errors, fresh.guesses)
        assert drawn(tree.root) == drawn(fresh.root)
        in_order(tree.root)


def test_items_that_an_edit_does_not_touch_keep_their_nodes() -> None:
    before = parse_json(SUITE)
    after = parse_json(SUITE.replace('"id": 1', '"id": 17'), before)
    assert before.root is not None
    assert after.root is not None
    same = [
        old.green is new.green
        for old, new in zip(before.root.get("evals").items, after.root.get("evals").items, strict=True)  # type: ignore[union-attr]
    ]
    assert same == [True, False, True]


@pytest.mark.parametrize(
    ("text", "value", "marked"),
    [
        ('{"a": 1 "b": 2}', {"a": 1, "b": 2}, ['"b"']),
        ('{"a": [1, 2,], "b": 3,}', {"a": [1, 2], "b": 3}, [",", ","]),
        ('{"a" 1, "b": 2}', {"a": 1, "b": 2}, ["1"]),
        ('{"a": , "b": 2}', {"a": None, "b": 2}, ['"a"']),
        ('{"a", "b": 2}', {"a": None, "b": 2}, ['"a"']),
        ('{"a" "b": 2}', {"a": None, "b": 2}, ['"a"', '"b"']),
        ('{a: 1, "b": 2}', {"a": 1, "b": 2}, ["a"]),
        ("{'a': 'it', \"b\": 2}", {"a": "it", "b": 2}, ["'a'", "'it'"]),
        ('{"a": True, "b": None}', {"a": True, "b": None}, ["True", "None"]),
        ('{"a": 01, "b": 2}', {"a": 1, "b": 2}, ["01"]),
        ('{"a": "x\n,"b": 2}', {"a": "x", "b": 2}, ['"x']),
        ('{"a": "x,\n"b": 2}', {"a": "x", "b": 2}, ['"x']),
        ('{"a": "x\ny z\n", "b": 2}', {"a": "x\ny z\n", "b": 2}, ["\n", "\n"]),
        (r'{"a": "\d+", "b": 2}', {"a": "\\d+", "b": 2}, ["\\"]),
        ('{"a": "x\ty", "b": 2}', {"a": "x\ty", "b": 2}, ["\t"]),
        ('{"a": [{"b": 1, {"b": 2}]}', {"a": [{"b": 1}, {"b": 2}]}, ["{"]),
        ('{"a": [1, {"b": 2]}', {"a": [1, {"b": 2}]}, ["{"]),
        ('{"a": [1, 2}', {"a": [1, 2]}, ["["]),
        ('{"a": [1, {"b": 2', {"a": [1, {"b": 2}]}, ["{"]),
        ('{"a": 1} // done', {"a": 1}, ["// done"]),
        ('// cases\n{"a": /* one */ 1}', {"a": 1}, ["// cases", "/* one */"]),
        ('{"a": 1}}', {"a": 1}, ["}"]),
        ('["a": 1, 2]', ["a", 1, 2], [":"]),
        ('{"a": 1, "a": 2}', {"a": 1}, ['"a"']),
        ('{"a": 1, [2, 3], "b": 4}', {"a": 1, "b": 4}, ["["]),
    ],
)
def test_one_mistake_leaves_the_rest_readable(text: str, value: object, marked: list[str]) -> None:
    tree = parse_json(text)
    assert tree.root is not None
    assert tree.root.to_python() == value
    assert [text[fault.span.start : fault.span.end] for fault in tree.errors] == marked


@pytest.mark.parametrize(
    ("broken", "whole"),
    [
        ('{"a": 1 "b": 2}', '{"a": 1, "b": 2}'),
        ("[1, 2,]", "[1, 2]"),
        ("[1,, 2]", "[1, 2]"),
        ('{"a" 1}', '{"a": 1}'),
        ("{a: 1}", '{"a": 1}'),
        ("['it \"is\"']", '["it \\"is\\""]'),
        ("[True, None, NaN]", "[true, null, null]"),
        (r'["\d"]', r'["\\d"]'),
        ('["x\ty\n z"]', '["x\\ty\\n z"]'),
        ('{"a": [1, {"b": 2', '{"a": [1, {"b": 2}]}'),
        ('["a\n]', '["a"\n]'),
        ("[1] // one", "[1] "),
    ],
)
def test_the_fixes_of_all_faults_together_make_the_text_json(broken: str, whole: str) -> None:
    edits = [edit for fault in parse_json(broken).errors for edit in fault.fixes[0].edits]
    assert json.loads(apply(broken, edits)) == json.loads(whole)


@pytest.mark.parametrize("text", ["", "  \n", "\x00\x01\x02" * 20])
def test_text_without_a_value_has_no_tree(text: str) -> None:
    assert parse_json(text).root is None


@pytest.mark.parametrize(
    "text", ["[" * 100_000, "[" * 5_000 + "]" * 5_000, '{"a": ' * 5_000 + "1" + "}" * 5_000]
)
def test_deep_nesting_ends_the_reading_and_is_the_only_fault(text: str) -> None:
    assert [fault.code for fault in parse_json(text).errors] == ["too-deep"]


@pytest.mark.parametrize("number", ["1e999", "-1E+400", "1" * 400 + ".5", "9" * 5_000])
def test_a_number_that_no_run_can_read_is_a_fault_with_a_fix(number: str) -> None:
    [fault] = parse_json(f'{{"a": {number}}}').errors
    assert fault.span == Span(6, 6 + len(number))
    assert [fix.title for fix in fault.fixes] == ["Write it in double quotes"]


@pytest.mark.parametrize("number", ["1e308", "-0.0", "1e-999", "9" * 4_300])
def test_other_numbers_are_not_faults(number: str) -> None:
    assert parse_json(f"[{number}]").errors == ()


def in_order(root: Node | None) -> None:
    """Assert that every node lies within its parent and after the one before."""
    if root is None:
        return
    for node in root.walk():
        at = node.span.start
        assert at <= node.span.end
        for child in node.children():
            assert at <= child.span.start <= child.span.end <= node.span.end
            at = child.span.end


def drawn(root: Node | None) -> list[tuple[object, ...]]:
    if root is None:
        return []
    return [(node.path, node.kind, node.span, node.value, node.style) for node in root.walk()]


def test_a_pair_of_escapes_is_one_character_and_half_of_one_is_a_fault() -> None:
    assert parse_json(r'["\ud83d\ude00"]').errors == ()
    tree = parse_json(r'["a\ud83d", "\ude00\ud83d", 1]')
    assert tree.root is not None
    assert tree.root.to_python() == ["a\ufffd", "\ufffd\ufffd", 1]
    assert [fault.code for fault in tree.errors] == ["json-syntax", "json-syntax"]
