"""What the tree of a document says: values, exact spans, and sense in every state of the text."""

import time
from pathlib import Path

import pytest
import yaml

from tests.patience import ON_A_BUSY_MACHINE
from tests.server.syntax.outline import outline
from tests.shared_corpus import needs_corpus, suite_files
from waza_engine.spec.reading.yaml_reader import parse_yaml
from waza_language_server.syntax import libyaml_events
from waza_language_server.syntax.nodes import Node
from waza_language_server.syntax.tree import Tree, parse


def root(text: str) -> Node:
    node = parse(text).root
    assert node is not None
    return node


def source(text: str, *path: str | int) -> str:
    """Return the characters of the node at a path."""
    node = root(text).get(*path)
    assert node is not None
    return text[node.span.start : node.span.end]


@pytest.mark.parametrize(
    ("text", "path", "expected"),
    [
        ("a: x # c\n", ("a",), "x"),
        ("a: 'x' # c\n", ("a",), "'x'"),
        ("a:\n  b: 1\n\n# end\n", ("a",), "b: 1"),
        ("a:\n- b\n- c # d\n\ne: 1\n", ("a",), "- b\n- c"),
        ("a: |\n  x\n\n  y\n\n\nb: 1\n", ("a",), "|\n  x\n\n  y"),
        ("a: [x,\n  y] # c\n", ("a",), "[x,\n  y]"),
        ("a: &n !!str x\n", ("a",), "x"),
        ("a: &n\n  b: 1\n", ("a",), "b: 1"),
        ("a: 😋 # é\nb: é\n", ("b",), "é"),
        ("a: one\n  two\n", ("a",), "one\n  two"),
        ("g:\n  - name: x\n    type: y\n  - z\n", ("g", 0), "name: x\n    type: y"),
        ("g:\n  - name: x\n    type: y\n  - z\n", ("g", 1), "z"),
    ],
)
def test_a_span_holds_the_node_and_nothing_more(
    text: str, path: tuple[str | int, ...], expected: str
) -> None:
    assert source(text, *path) == expected


@pytest.mark.parametrize(
    ("text", "path", "place"),
    [
        ("a:\nb: 1\n", ("a",), 2),
        ("a: \nb: 1\n", ("a",), 3),
        ("a:   # c\n", ("a",), 3),
        ("a:", ("a",), 2),
        ("a:\n  -\n  - b\n", ("a", 0), 6),
        ("a:\n  - \n", ("a", 0), 7),
        ("{a: , b: 1}\n", ("a",), 4),
    ],
)
def test_an_empty_value_is_where_one_would_type_it(
    text: str, path: tuple[str | int, ...], place: int
) -> None:
    node = root(text).get(*path)
    assert node is not None
    assert (node.kind, node.span.start, node.span.end) == ("scalar", place, place)
    assert node.to_python() is None


@pytest.mark.parametrize("text", ["", "\n", "# only a comment\n", "---\n", "---\n# x\n...\n"])
def test_nothing_to_read_has_no_root_and_no_fault(text: str) -> None:
    tree = parse(text)
    assert (tree.root, tree.errors) == (None, ())


def test_the_same_text_is_the_same_tree() -> None:
    tree = parse("a: 1\n")
    assert parse("a: 1\n", tree) is tree


def test_what_stands_around_a_fault_is_read_exactly() -> None:
    text = 'name: "x\ngraders:\n  - name: a: b\n    type: text\n  - name: c\n'
    node = root(text)
    assert node.get("graders", 0, "type") is not None
    assert source(text, "graders", 0, "name") == "a: b"
    assert node.to_python() == {
        "name": None,
        "graders": [{"name": None, "type": "text"}, {"name": "c"}],
    }


def test_broken_marks_what_touches_a_fault_and_what_holds_it() -> None:
    tree = parse("name: x\ngraders:\n  - name: a: b\n    type: text\n  - name: c\n    ty\n  - name: d\n")
    assert tree.root is not None
    broken = {
        path: tree.broken(node)
        for path in [
            ("name",),
            ("graders",),
            ("graders", 0),
            ("graders", 0, "type"),
            ("graders", 1),
            ("graders", 2),
        ]
        if (node := tree.root.get(*path))
    }
    assert broken == {
        ("name",): False,
        ("graders",): True,
        ("graders", 0): True,
        ("graders", 0, "type"): False,
        ("graders", 1): True,
        ("graders", 2): False,
    }


def test_duplicate_keys_do_not_make_a_node_broken() -> None:
    tree = parse("a: 1\na: 2\n")
    assert tree.root is not None
    assert not tree.broken(tree.root)


@pytest.mark.parametrize(
    "text",
    [
        "[" * 100_000,
        "{a: " * 5_000,
        "- " * 20_000 + "x",
        "a:\n" + "".join(" " * depth + "b:\n" for depth in range(1, 1_500)),
        "? " * 5_000,
        "a: " + "[" * 2_000 + "]" * 2_000 + "\nb: 1\n",
    ],
)
def test_deep_nesting_is_refused_in_time(text: str) -> None:
    started = time.process_time()
    tree = parse(text)
    assert "too-deep" in {fault.code for fault in tree.errors}
    if tree.root is not None:
        tree.root.to_python()
    assert time.process_time() - started < 5 + ON_A_BUSY_MACHINE


def test_an_anchor_bomb_costs_nothing() -> None:
    rows = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    rows += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]" for i in range(1, 30)]
    started = time.process_time()
    tree = parse("\n".join(rows))
    assert tree.errors == ()
    assert tree.root is not None
    tree.root.to_python()
    assert time.process_time() - started < 2 + ON_A_BUSY_MACHINE


def test_an_alias_means_the_last_anchor_of_its_name_above() -> None:
    text = "a: &x 1\nb: *x\nc: &x {d: [2]}\ne: *x\nf: &x 3\ng: [*x, {h: *x}]\n"
    tree = parse(text)
    assert tree.root is not None
    assert tree.root.to_python() == parse_yaml(text, Path("eval.yaml")).value
    aliases = [node for node in tree.root.walk() if node.kind == "alias"]
    assert [node.target.to_python() for node in aliases] == [1, {"d": [2]}, 3, 3]


@pytest.mark.parametrize("text", ["\x00\x01\x02" * 50, "\ufffd\x00PNG\x0d\x0a\x1a" * 40])
def test_binary_data_gets_one_fault_at_its_start(text: str) -> None:
    tree = parse(text)
    assert tree.root is None
    assert [(fault.code, fault.span.start) for fault in tree.errors] == [("not-text", 0)]


def test_a_line_with_a_hundred_thousand_blanks_is_read_in_time() -> None:
    started = time.process_time()
    parse("a\n" + "b" + " " * 100_000 + "c: : d\n" + "'" * 50_000 + "\n- " + '"\\' * 20_000)
    assert time.process_time() - started < 3 + ON_A_BUSY_MACHINE


@needs_corpus
def test_public_suites_read_without_a_fault() -> None:
    for path in suite_files():
        text = path.read_bytes().decode()
        try:
            list(yaml.parse(text, Loader=yaml.SafeLoader))
        except yaml.YAMLError:
            assert parse(text).errors
        else:
            faults = [
                fault
                for fault in parse(text).errors
                if fault.code not in {"several-documents", "duplicate-key"}
            ]
            assert faults == [], path


SAMPLES = [
    "a: x\nb: [1, {c: 'd'}]\ne:\n  - f: |\n      g\n\n  - >-\n    h\n    i\n# end\n",
    'a: b: c\nd:\n  - e\n - f\ng: "h\n',
    "a: &x 1\nb: *x\nc: *y\n? d\n: e\n",
    "a:\n\tb: 1\n",
    "a: 😋\r\nb: é\r\n",
]


@pytest.mark.parametrize("text", SAMPLES)
def test_reading_works_without_the_compiled_parser(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    expected: Tree = parse(text)
    monkeypatch.delattr(libyaml_events.yaml, "CSafeLoader", raising=False)
    tree = parse(text)
    assert outline(tree) == outline(expected)
    assert [(f.code, f.span) for f in tree.errors] == [(f.code, f.span) for f in expected.errors]
