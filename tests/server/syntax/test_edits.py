"""Edits change what is meant and nothing else: comments, indentation and line breaks stay the author's."""

import io
import random
from typing import Any

import pytest
from ruamel.yaml import YAML

from tests.shared_corpus import suite_files
from waza_language_server.syntax import edits as edit
from waza_language_server.syntax.nodes import Entry, Node
from waza_language_server.syntax.tree import Tree, parse
from waza_language_server.text.edit import Edit
from waza_language_server.text.span import Span


def node_at(tree: Tree, *path: str | int) -> Node:
    assert tree.root is not None
    node = tree.root.get(*path)
    assert node is not None
    return node


def entry_at(tree: Tree, *path: str | int) -> Entry:
    entry = node_at(tree, *path[:-1]).entry(str(path[-1]))
    assert entry is not None
    return entry


def test_edits_are_applied_in_the_order_of_the_text() -> None:
    assert edit.apply("abc", [Edit(Span(2, 3), "z"), Edit(Span(0, 1), "x")]) == "xbz"


@pytest.mark.parametrize(
    ("before", "path", "key", "value", "after"),
    [
        ("a: 1\n", (), "b", "2", "a: 1\nb: 2\n"),
        ("a: 1", (), "b", "2", "a: 1\nb: 2"),
        ("a: 1 # why\n\n# end\n", (), "b", "2", "a: 1 # why\nb: 2\n\n# end\n"),
        ("a: |\n  text\n\nc: 1\n", (), "b", "2", "a: |\n  text\n\nc: 1\nb: 2\n"),
        ("config:\n", ("config",), "b", "2", "config:\n  b: 2\n"),
        ("config: # empty\nx: 1\n", ("config",), "b", "2", "config: # empty\n  b: 2\nx: 1\n"),
        ("config:\nx:\n    y: 1\n", ("config",), "b", "2", "config:\n    b: 2\nx:\n    y: 1\n"),
        ("g:\n  - name: x\n", ("g", 0), "type", "text", "g:\n  - name: x\n    type: text\n"),
        ("g:\n- name: x\n- name: y\n", ("g", 0), "type", "text", "g:\n- name: x\n  type: text\n- name: y\n"),
        ("g:\n  -\n", ("g", 0), "type", "text", "g:\n  - type: text\n"),
        ("c: {a: 1}\n", ("c",), "b", "2", "c: {a: 1, b: 2}\n"),
        ("c: {}\n", ("c",), "b", "2", "c: {b: 2}\n"),
        ("a: 1\r\nc: 1\r\n", (), "b", "\n  - x\n  - y", "a: 1\r\nc: 1\r\nb:\r\n  - x\r\n  - y\r\n"),
        ("g:\n  - a: 1\n", ("g", 0), "c", "\n  k:\n    - v", "g:\n  - a: 1\n    c:\n      k:\n        - v\n"),
    ],
)
def test_an_entry_is_inserted(
    before: str, path: tuple[str | int, ...], key: str, value: str, after: str
) -> None:
    tree = parse(before)
    assert edit.apply(before, edit.insert_entry(tree, node_at(tree, *path), key, value)) == after


def test_an_entry_is_inserted_behind_another_one() -> None:
    tree = parse("a: 1 # one\nc: 3\n")
    made = edit.insert_entry(tree, tree.root, "b", "2", entry_at(tree, "a"))
    assert edit.apply(tree.text, made) == "a: 1 # one\nb: 2\nc: 3\n"


def test_an_entry_is_inserted_into_an_empty_file() -> None:
    tree = parse("# nothing yet\n")
    assert edit.apply(tree.text, edit.insert_entry(tree, None, "name", "x")) == "# nothing yet\nname: x\n"


def test_an_entry_that_stands_there_already_is_not_inserted() -> None:
    tree = parse("a: 1\n")
    assert edit.insert_entry(tree, tree.root, "a", "2") == ()


@pytest.mark.parametrize(
    ("before", "path", "after"),
    [
        ("a: 1\nb: 2 # gone\nc: 3\n", ("b",), "a: 1\nc: 3\n"),
        ("a: 1\n# about b\nb: 2\n", ("b",), "a: 1\n# about b\n"),
        ("a: 1\nb: 2", ("b",), "a: 1"),
        ("a: |\n  x\n\n  y\nb: 2\n", ("a",), "b: 2\n"),
        ("a: 1\n", ("a",), ""),
        ("g:\n  - a: 1\n    b: 2\n", ("g", 0, "a"), "g:\n  - b: 2\n"),
        ("g:\n  - a: 1 # x\n    b: 2\n", ("g", 0, "a"), "g:\n  -  # x\n    b: 2\n"),
        ("g:\n  - a: 1\n", ("g", 0, "a"), "g:\n  - {}\n"),
        ("c:\n  a: 1\nd: 2\n", ("c", "a"), "c: {}\nd: 2\n"),
        ("c: {a: 1, b: 2}\n", ("c", "a"), "c: {b: 2}\n"),
        ("c: {a: 1, b: 2}\n", ("c", "b"), "c: {a: 1}\n"),
        ("c: {a: 1}\n", ("c", "a"), "c: {}\n"),
        ("a: 1\r\nb: 2\r\n", ("b",), "a: 1\r\n"),
    ],
)
def test_an_entry_is_deleted(before: str, path: tuple[str | int, ...], after: str) -> None:
    tree = parse(before)
    assert edit.apply(before, edit.delete_entry(tree, entry_at(tree, *path))) == after


@pytest.mark.parametrize(
    ("before", "path", "after"),
    [
        ("t:\n  - a\n  - b # gone\n  - c\n", ("t", 1), "t:\n  - a\n  - c\n"),
        ("t:\n  - a\n", ("t", 0), "t: []\n"),
        ("t:\n- a\nx: 1\n", ("t", 0), "t: []\nx: 1\n"),
        ("t: [a, b]\n", ("t", 0), "t: [b]\n"),
        ("t:\n  - a: 1\n    b: 2\n  - c\n", ("t", 0), "t:\n  - c\n"),
        ("t:\n  -\n  - c\n", ("t", 0), "t:\n  - c\n"),
    ],
)
def test_an_item_is_deleted(before: str, path: tuple[str | int, ...], after: str) -> None:
    tree = parse(before)
    assert edit.apply(before, edit.delete_item(tree, node_at(tree, *path))) == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "g:\n  - name: x\n    pattern: y # why\n    config:\n      a: 1\n",
            "g:\n  - name: x\n    config:\n      a: 1\n      pattern: y # why\n",
        ),
        (
            "g:\n  - name: x\n    config:\n    pattern: y\n",
            "g:\n  - name: x\n    config:\n      pattern: y\n",
        ),
        (
            "g:\n  - name: x\n    pattern: |\n      y\n\n      z\n    type: t\n",
            "g:\n  - name: x\n    config:\n      pattern: |\n        y\n\n        z\n    type: t\n",
        ),
        (
            "g:\n- pattern:\n  - y\n  name: x\n  config: {a: 1}\n",
            None,
        ),
        (
            "g:\n- pattern: y\n  name: x\n  config: {a: 1}\n",
            "g:\n- name: x\n  config: {a: 1, pattern: y}\n",
        ),
        (
            "g:\r\n  - pattern:\r\n      - y\r\n    name: x\r\n",
            "g:\r\n  - config:\r\n      pattern:\r\n        - y\r\n    name: x\r\n",
        ),
    ],
)
def test_an_entry_moves_under_config(before: str, after: str | None) -> None:
    tree = parse(before)
    made = edit.move_entry_into(tree, entry_at(tree, "g", 0, "pattern"), node_at(tree, "g", 0), "config")
    assert (edit.apply(before, made) if made else None) == after


def test_a_replaced_scalar_keeps_its_style() -> None:
    tree = parse("a: 'x' # why\n")
    assert (
        edit.apply(tree.text, edit.replace_scalar(tree, node_at(tree, "a"), "it's")) == "a: 'it''s' # why\n"
    )


def test_edits_work_beside_faults() -> None:
    tree = parse("a: b: c\ng:\n  - name: x\n    tipe: text\n")
    made = edit.delete_entry(tree, entry_at(tree, "g", 0, "tipe"))
    assert edit.apply(tree.text, made) == "a: b: c\ng:\n  - name: x\n"


@pytest.mark.parametrize(
    ("before", "path", "after"),
    [
        ("a: 1\nb:\n  - 2\n  - 3 # three\nc: 4\n", ("b",), "a: 1\n# b:\n#   - 2\n#   - 3 # three\nc: 4\n"),
        ("- b: 1\n  c: 2\n", (0, "b"), "# b: 1\n- c: 2\n"),
        ("x:\n  m: {a: 1, b: [2, 3]}\n", ("x", "m", "b"), "x:\n  # b: [2, 3]\n  m: {a: 1}\n"),
        ("x:\n  only: 1\n", ("x", "only"), "# only: 1\nx: {}\n"),
        ("m: {a: 1, # one\n  b: 2}\n", ("m", "b"), "m: {a: 1, # one\n  # b: 2\n  }\n"),
    ],
    ids=["in place", "behind a dash", "from brackets", "the only key", "behind a comment"],
)
def test_an_entry_becomes_a_comment(before: str, path: tuple[str | int, ...], after: str) -> None:
    tree = parse(before)
    assert edit.apply(before, edit.comment_out_entry(tree, entry_at(tree, *path))) == after


@pytest.mark.parametrize(
    ("before", "key", "after"),
    [
        ("m: {a: 1, # one\n  b: 2, c: 3}\n", "b", "m: {a: 1, # one\n  c: 3}\n"),
        ("m: {a: 1, # one\n  b: 2, # two\n  c: 3}\n", "b", "m: {a: 1, # one\n   # two\n  c: 3}\n"),
        ("m: {a: 1, # one\n  b: 2 }\n", "b", "m: {a: 1, # one\n   }\n"),
        ("m: {a: 1, # one\n  b: 2}\n", "a", "m: { # one\n  b: 2}\n"),
        ("m: {a: 1, b: 2, # two\n  c: 3}\n", "b", "m: {a: 1, # two\n  c: 3}\n"),
    ],
)
def test_what_is_taken_out_of_brackets_takes_no_comment_along(before: str, key: str, after: str) -> None:
    tree = parse(before)
    assert edit.apply(before, edit.delete_entry(tree, entry_at(tree, "m", key))) == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("a: 1\nm: {b: 2} # why\n", "a: 1\nb: 2 # why\n"),
        ("a: 1\nm:\n  b: 2 # why\n", "a: 1\nb: 2 # why\n"),
        ("a: 1\nm: # all\n  # two\n  b: 2 # why\n", "a: 1\nb: 2 # why\nm: {} # all\n  # two\n"),
        ("a: 1\nm: {b: 2, c: 3} # why\n", "a: 1\nb: 2\nm: {c: 3} # why\n"),
        ("a: 1\nm: { # all\n  b: 2 }\n", "a: 1\nb: 2\nm: { # all\n   }\n"),
    ],
)
def test_an_entry_moves_up_with_the_comments_of_what_goes(before: str, after: str) -> None:
    tree = parse(before)
    assert tree.root is not None
    made = edit.move_entry_up(tree, entry_at(tree, "m", "b"), tree.root)
    assert edit.apply(before, made) == after


SAMPLES = [
    "# top\nname: x # n\nconfig:\n  a: 1 # one\n  # between\n  b: [x, y]\n\ngraders:\n  # first\n"
    "  - name: g # g\n    type: text\n    config:\n      pattern: 'a # b'\n      text: |\n"
    "        # no comment\n        x\n  - name: h\n",
    "a:\n- b: 1 # one\n  c: {d: 2, e: 3} # two\n# three\n- f: >-\n    x\n    y\n\ng: 'h'\n# end\n",
]


def oracle(text: str) -> tuple[Any, list[str]]:
    """Return value and comments as ruamel.yaml sees them."""
    value = YAML(typ="safe", pure=True).load(io.StringIO(text))
    tokens = YAML(typ="rt").scan(io.StringIO(text))
    return value, sorted(_comments(tokens, text))


def _comments(tokens: Any, text: str) -> list[str]:
    covered: set[int] = set()
    for token in tokens:
        if type(token).__name__ == "ScalarToken":
            covered.update(range(token.start_mark.index, token.end_mark.index))
    found: list[str] = []
    at = 0
    for row in text.splitlines(keepends=True):
        for column, char in enumerate(row):
            if char == "#" and at + column not in covered and (column == 0 or row[column - 1] == " "):
                found.append(row[column:].rstrip())
                break
        at += len(row)
    return found


def random_target(tree: Tree, randomness: random.Random) -> Entry | None:
    assert tree.root is not None
    entries = [entry for node in tree.root.walk() for entry in node.entries if entry.key.kind == "scalar"]
    return randomness.choice(entries) if entries else None


@pytest.mark.parametrize("windows", [False, True])
def test_every_edit_reads_as_intended_and_loses_no_other_comment(windows: bool) -> None:
    texts = [*SAMPLES, *(path.read_bytes().decode() for path in suite_files()[::9])]
    randomness = random.Random(11)
    made = 0
    for original in texts:
        text = original.replace("\r\n", "\n").replace("\n", "\r\n") if windows else original
        tree = parse(text)
        if tree.root is None or tree.errors:
            continue
        value, comments = oracle(text)
        for _ in range(12):
            target = random_target(tree, randomness)
            if target is None or target.value.parent is None:
                continue
            holder = target.value.parent
            kind = randomness.choice(["insert", "delete", "comment", "replace"])
            own = len(_comments(iter(()), text[target.span.start : target.span.end]))
            if kind == "insert":
                edits = edit.insert_entry(tree, holder, "new_key", "'v'", target)
                wanted, lost = {**lookup(value, holder.path), "new_key": "v"}, 0
            elif kind == "delete":
                edits = edit.delete_entry(tree, target)
                wanted, lost = dict(lookup(value, holder.path)), own + 1
                wanted.pop(target.key.value, None)
            elif kind == "comment":
                edits = edit.comment_out_entry(tree, target)
                wanted, lost = dict(lookup(value, holder.path)), 0
                wanted.pop(target.key.value, None)
            else:
                if target.value.kind != "scalar":
                    continue
                edits = edit.replace_scalar(tree, target.value, "new: value")
                wanted, lost = {**lookup(value, holder.path), target.key.value: "new: value"}, 0
            assert edits, (kind, text, target.key.value)
            new = edit.apply(text, edits)
            new_value, new_comments = oracle(new)
            assert (lookup(new_value, holder.path) or {}) == wanted, (kind, new)
            assert len(comments) - len(new_comments) <= lost, (kind, new)
            assert ("\r\n" in new) == windows or not new.strip()
            made += 1
    assert made >= 10


def lookup(value: Any, path: tuple[str | int, ...]) -> Any:
    for step in path:
        value = value[step]
    return value
