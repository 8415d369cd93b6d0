"""The reader of JSON Lines: each line is a document of its own, and a broken one harms no other."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.server.syntax.test_json_tree import drawn, in_order
from waza_language_server.syntax.json_lines import parse_json_lines
from waza_language_server.syntax.json_tree import parse_json
from waza_language_server.syntax.tree import Tree
from waza_language_server.text.line_index import LineIndex

STRINGS = st.text(
    st.characters(exclude_categories=["Cs"]) | st.sampled_from(["\\", '"', "\n", "\u2028", "\U0001f600"])
)
ROWS = st.lists(
    st.dictionaries(STRINGS, STRINGS | st.lists(st.integers(), max_size=3), max_size=4), max_size=6
)
BREAKS = st.sampled_from(["\n", "\r\n", "\n\n", "\r\n \r\n", "\n\t\n"])
LINES = "\n".join(json.dumps({"id": f"p{n}", "input": ["a \U0001f600", "b"], "timeout": n}) for n in range(5))


@given(ROWS, BREAKS, st.booleans(), st.booleans(), st.booleans())
def test_the_items_are_the_lines_as_the_json_module_reads_them(
    rows: list[dict[str, object]], line_break: str, mark: bool, ends: bool, ascii_only: bool
) -> None:
    written = [json.dumps(row, ensure_ascii=ascii_only) for row in rows]
    text = ("\ufeff" if mark else "") + line_break.join(written) + (line_break if ends else "")
    tree = parse_json_lines(text)
    if tree.root is None:
        assert not rows or tree.errors[0].code == "not-text"
        return
    assert tree.errors == ()
    assert tree.root.to_python() == rows
    assert [text[item.span.start : item.span.end] for item in tree.root.items] == written


EDITS = st.lists(
    st.tuples(
        st.integers(0, 300), st.integers(0, 60), st.text("{}[],:\"'\\ \n\r\tab1/\ufeff\U0001f600", max_size=4)
    ),
    max_size=10,
)


@given(EDITS)
@settings(max_examples=300)
def test_a_text_parsed_after_edits_is_the_text_parsed_fresh(edits: list[tuple[int, int, str]]) -> None:
    text, tree = LINES, parse_json_lines(LINES)
    for place, gone, new in edits:
        at = min(place, len(text))
        text = text[:at] + new + text[at + gone :]
        tree = parse_json_lines(text, tree)
        same(tree, parse_json_lines(text))


def same(tree: Tree, fresh: Tree) -> None:
    assert (tree.errors, tree.guesses) == (fresh.errors, fresh.guesses)
    assert drawn(tree.root) == drawn(fresh.root)
    in_order(tree.root)


def test_only_changed_lines_are_parsed_again() -> None:
    before = parse_json_lines(LINES)
    after = parse_json_lines(LINES.replace('"p2"', '"p22"'), before)
    assert before.root is not None
    assert after.root is not None
    kept = [old.green is new.green for old, new in zip(before.root.items, after.root.items, strict=True)]
    assert kept == [True, True, False, True, True]


@pytest.mark.parametrize(
    ("broken", "marked"),
    [
        ('{"id": "a", "input": "b"', "{"),
        ('{"id": "a" "input": "b"}', '"input"'),
        ('{"id": "a, "input": "b"}', None),
        ('{"id": "a"}}', "}"),
        ('{"id": "a"} {"id": "b"}', '{"id": "b"}'),
        ("{", "{"),
        ("nonsense", "nonsense"),
        ("\ufeff{}", "\ufeff"),
        ('{"id": "\\ud83d"}', '"\\ud83d"'),
    ],
)
def test_a_broken_line_harms_no_other(broken: str, marked: str | None) -> None:
    first, last = '{"id": "first"}', '{"id": "last"}'
    text = f"{first}\n{broken}\n{last}"
    tree = parse_json_lines(text)
    assert tree.root is not None
    values = tree.root.to_python()
    assert isinstance(values, list)
    assert (values[0], values[-1]) == ({"id": "first"}, {"id": "last"})
    second = range(len(first) + 1, len(first) + 1 + len(broken) + 1)
    assert tree.errors
    assert all(fault.span.start in second and fault.span.end <= second.stop for fault in tree.errors)
    if marked is not None:
        assert text[tree.errors[0].span.start : tree.errors[0].span.end] == marked
    assert not tree.broken(tree.root.items[0])
    assert not tree.broken(tree.root.items[-1])


def test_a_line_has_the_faults_that_it_has_as_a_json_file() -> None:
    line = '{"id": tru, "a": [1,, 2], "a": 3,}'
    alone, second = parse_json(line), parse_json_lines(f"{{}}\n{line}\n")
    assert [fault.shifted(3) for fault in alone.errors] == list(second.errors)


def test_positions_count_pairs_of_utf_16_and_windows_line_ends() -> None:
    text = '{"id": "\U0001f600", "x": 1}\r\n\r\n{"id": "\U0001f600", "y": 2}'
    root = parse_json_lines(text).root
    assert root is not None
    entry = root.items[1].entry("y")
    assert entry is not None
    assert LineIndex(text).position(entry.key.span.start) == (2, 13)


def test_faults_beyond_the_limit_are_left_out_and_the_lines_are_still_read() -> None:
    tree = parse_json_lines("\n".join(["{"] * 2_000 + ['{"id": "last"}']))
    assert tree.root is not None
    assert len(tree.errors) == 500
    assert tree.root.items[-1].to_python() == {"id": "last"}
    same(parse_json_lines(tree.text + "\n{}", tree), parse_json_lines(tree.text + "\n{}"))


@pytest.mark.parametrize("text", ["", "\n \r\n\t\n", "\ufeff", "\x00\x01\x02" * 20])
def test_text_without_a_line_has_no_tree(text: str) -> None:
    assert parse_json_lines(text).root is None
