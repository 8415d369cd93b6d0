"""Every character of a decoded value leads to the characters that wrote it."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from waza_language_server.syntax.nodes import Node
from waza_language_server.syntax.scalar_map import ScalarMap
from waza_language_server.syntax.tree import parse


def value_node(text: str, *path: str | int) -> Node:
    root = parse(text).root
    assert root is not None
    node = root.get(*path)
    assert node is not None
    return node


def map_of(text: str, *path: str | int) -> ScalarMap:
    return ScalarMap.of(text, value_node(text, *(path or ("a",))))


def written(text: str, start: int, end: int, *path: str | int) -> str:
    span = map_of(text, *path).source_span(start, end)
    return text[span.start : span.end]


ESCAPED = 'a: "x\\u00e9\\t\\"y"\n'
MAPPED: dict[str, tuple[str, str, dict[tuple[int, int], str]]] = {
    "plain text": ("a: hello\n", "hello", {(1, 4): "ell"}),
    "a folded line break": ("a: one  \n   two\n", "one two", {(3, 4): "  \n   ", (4, 7): "two"}),
    "a doubled single quote": ("a: 'it''s on'\n", "it's on", {(2, 3): "''", (5, 7): "on"}),
    "escapes in double quotes": (
        ESCAPED,
        'xé\t"y',
        {(0, 1): "x", (1, 2): "\\u00e9", (2, 3): "\\t", (3, 4): '\\"', (4, 5): "y"},
    ),
    "an escaped line break": ('a: "one \\\n   two"\n', "one two", {(4, 7): "two"}),
    "literal text": ("a: |\n    first\n      second\n", "first\n  second\n", {(8, 14): "second"}),
    "an indentation indicator": ("a: |2\n     deep\n  x\n", "   deep\nx\n", {(3, 7): "deep"}),
    "folded text": ("a: >-\n  one\n  two\n\n  three\n", "one two\nthree", {(8, 13): "three"}),
    "carriage returns": ("a: |\r\n  one\r\n  two\r\nb: 1\r\n", "one\ntwo\n", {(4, 7): "two"}),
    "half typed text": ('a: "len(out\n', '"len(out', {(1, 4): "len"}),
}


@pytest.mark.parametrize(("text", "value", "parts"), MAPPED.values(), ids=MAPPED)
def test_characters_lead_to_those_that_wrote_them(
    text: str, value: str, parts: dict[tuple[int, int], str]
) -> None:
    assert map_of(text).value == value
    assert {part: written(text, *part) for part in parts} == parts


def test_a_source_offset_inside_an_escape_belongs_to_its_character() -> None:
    text = 'a: "x\\u00e9y"\n'
    assert map_of(text).to_value(text.index("e9")) == 1


def test_indentation_belongs_to_the_character_behind_it() -> None:
    text = "a: |\n  one\n  two\n"
    scalar = map_of(text)
    assert scalar.value[scalar.to_value(text.index("two") - 1)] == "t"


@pytest.mark.parametrize(
    "text",
    [
        "a: x\n",
        "a:\n  one\n  two\n\n\n  three\nb: 1\n",
        "a: 'one\n\n  two '\n",
        'a: " one \\\n\n  two\n  \\x41 \\U0001F600"\n',
        "a: |+\n  one\n\n\nb: 1\n",
        "a: |-\n  one\n\n",
        "a: >\n  one\n   more\n  two\n\n\n  three\n\n",
        "a: >+\n\n  one\n  \ttwo\n\n",
        "a: |\n\n\n  one\n   \n",
        "a: |",
        "a: |\n  no break",
        "a: ''\n",
        "a: >3-\n     x\n    y\n   z\n",
        'a: "x\u2028y"\n',
    ],
)
def test_every_style_decodes_to_the_value_of_the_tree(text: str) -> None:
    scalar = map_of(text)
    assert scalar.value == value_node(text, "a").value
    offsets = [scalar.to_source(index) for index in range(len(scalar.value) + 1)]
    assert offsets == sorted(offsets)
    assert len(set(offsets[:-1])) == len(offsets[:-1])


TEXT = st.text(st.sampled_from("ab :#'\"\\\n\t-?[]{},&*!|>%@`é😋\x85~0.1yn"), max_size=12)
HOLDERS = [
    "a: {}\n",
    "a: 'x'\n",
    'a: "x"\n',
    "a: |\n  x\n",
    "a: >\n  x\n",
    "- b:\n    a: |2-\n       x\n",
    "a: [x, y]\n",
]


@settings(max_examples=400)
@given(st.sampled_from(["a: x\n", *HOLDERS[1:]]), TEXT, st.booleans())
def test_a_written_value_is_read_back(holder: str, value: str, windows: bool) -> None:
    read_back(holder, value, windows=windows)


def read_back(holder: str, value: str, *, windows: bool) -> None:
    text = holder.replace("\n", "\r\n") if windows else holder
    path = (0, "b", "a") if holder.startswith("- ") else ("a", 0) if "[" in holder else ("a",)
    node = value_node(text, *path)
    new = text[: node.span.start] + ScalarMap.of(text, node).write(value) + text[node.span.end :]
    tree = parse(new)
    assert tree.errors == ()
    assert value_node(new, *path).value == value
    assert isinstance(value_node(new, *path).to_python(), str)


LINES = [
    "a: one\n  two three\n\n  four\n",
    "a: 'one\n  it''s three\n\n  four'\n",
    'a: "\\u00e9ne\\t\n  two \\\n  three\n\n  four"\n',
    "a: |\n  one\n    two\n\n  three\n",
    "a: >-  # why\n  one\n  two\n\n   three\n  four\n",
    "a: [one\n  two three]\n",
]


@settings(max_examples=400)
@given(st.sampled_from(LINES), st.integers(0, 20), st.integers(0, 4), TEXT, st.booleans())
def test_a_part_written_among_lines_is_read_back(
    holder: str, start: int, length: int, part: str, windows: bool
) -> None:
    path = ("a", 0) if "[" in holder else ("a",)
    old = value_node(holder, *path).value
    value = old[:start] + part + old[start + length :]
    read_back(holder, value, windows=windows)


@pytest.mark.parametrize(
    ("before", "value", "after"),
    [
        ("a: x\n", "y z", "a: y z\n"),
        ("a: x\n", "b: c", "a: 'b: c'\n"),
        ("a: x\n", "true", "a: 'true'\n"),
        ("a: 0.5\n", "0.7", "a: 0.7\n"),
        ("a: 'x'\n", "it's", "a: 'it''s'\n"),
        ('a: "x"\n', 'say "hi"\\d', 'a: "say \\"hi\\"\\\\d"\n'),
        ("a: |\n    x\n", "y\n  z\n", "a: |\n    y\n      z\n"),
        ("a: |\n    x\n", "y", "a: |-\n    y\n"),
        ("a: |-  # why\n    x\n", "y\n", "a: |  # why\n    y\n"),
        ("a: >\n  x\n", "one\ntwo\n", "a: >\n  one\n\n  two\n"),
        ("a: [x]\n", "p, q", "a: ['p, q']\n"),
        ("a:\n", "x", "a: x\n"),
        ("a: >-\n  one\n  two\n", "one too", "a: >-\n  one\n  too\n"),
        ("a: one\n  two\n", "one to", "a: one\n  to\n"),
        ("a: 'one\n  two'\n", "one t'o", "a: 'one\n  t''o'\n"),
        ('a: "\\U0001F600\\t(x"\n', "😀\t(x)", 'a: "\\U0001F600\\t(x)"\n'),
    ],
)
def test_the_style_of_the_author_is_kept(before: str, value: str, after: str) -> None:
    path = ("a", 0) if "[" in before else ("a",)
    node = value_node(before, *path)
    new = before[: node.span.start] + ScalarMap.of(before, node).write(value) + before[node.span.end :]
    assert new == after
