"""Where a completion stands, shown as (role, container, key, prefix, replaced text, column)."""

import random

import pytest

from waza_language_server.syntax.cursor import Cursor, cursor_at
from waza_language_server.syntax.tree import parse


def at(marked: str) -> tuple[Cursor, str]:
    """Return the cursor at the ``|`` of a text and the text without it (``¦`` where the text has bars)."""
    mark = "¦" if "¦" in marked else "|"
    offset = marked.index(mark)
    text = marked[:offset] + marked[offset + 1 :]
    return cursor_at(parse(text), offset), text


def shown(marked: str) -> tuple[object, ...]:
    cursor, text = at(marked)
    replaced = text[cursor.replace.start : cursor.replace.end]
    return (cursor.role, cursor.container_path, cursor.key, cursor.prefix, replaced, cursor.indent)


ITEM = ("graders", 0)


@pytest.mark.parametrize(
    ("marked", "expected"),
    [
        ("|", ("key", (), None, "", "", 0)),
        ("# only a comment\n|", ("key", (), None, "", "", 0)),
        ("na|", ("key", (), None, "na", "na", 0)),
        ("name: x\n|", ("key", (), None, "", "", 0)),
        ("name: x\nsk|\ntasks:\n", ("key", (), None, "sk", "sk", 0)),
        ("na|me: x\n", ("key", (), "name", "na", "name", 0)),
        ("name|: x\n", ("key", (), "name", "name", "name", 0)),
        ("config:\n  |", ("key", ("config",), None, "", "", 2)),
        ("config:\n  tri|", ("key", ("config",), None, "tri", "tri", 2)),
        ("config:\n  model: x\n  |\n", ("key", ("config",), None, "", "", 2)),
        ("config:\n  model: x\n|\n", ("key", (), None, "", "", 0)),
        ("config:\n  |\n  model: x\n", ("key", ("config",), None, "", "", 2)),
        ("graders:\n  - name: a\n    |\n", ("key", ITEM, None, "", "", 4)),
        ("graders:\n  - name: a\n    ty|\n    config:\n", ("key", ITEM, None, "ty", "ty", 4)),
        ("graders:\n  - ty|pe: text\n", ("key", ITEM, "type", "ty", "type", 4)),
        ("graders:\n- name: a\n|", ("key", (), None, "", "", 0)),
        ("graders:\n  - name: a\n    config:\n      |\n", ("key", (*ITEM, "config"), None, "", "", 6)),
        ("graders:\n  - name: a\n    config:\n    |\n", ("key", ITEM, None, "", "", 4)),
    ],
)
def test_a_key(marked: str, expected: tuple[object, ...]) -> None:
    assert shown(marked) == expected


@pytest.mark.parametrize(
    ("marked", "expected"),
    [
        ("skill: |", ("value", (), "skill", "", "", 0)),
        ("skill:|", ("value", (), "skill", "", "", 0)),
        ("skill: fo|o # why\n", ("value", (), "skill", "fo", "foo", 0)),
        ('skill: "fo|o"\n', ("value", (), "skill", "fo", "foo", 0)),
        ('skill: "fo|\nname: x\n', ("value", (), "skill", "fo", "fo", 0)),
        ("skill: '|'\n", ("value", (), "skill", "", "", 0)),
        ("graders:\n  - type: te|\n", ("value", ITEM, "type", "te", "te", 4)),
        ("graders:\n  - name: a\n    type: |\n    config:\n", ("value", ITEM, "type", "", "", 4)),
        ("graders:\n  - name: a: b\n    type: |\n", ("value", ITEM, "type", "", "", 4)),
        ("prompt: ¦\n  some te", ("value", (), "prompt", "", "", 0)),
        ("prompt: |\n  one\n  tw¦o\nb: 1\n", ("value", (), "prompt", "tw", "two", 0)),
        ("prompt: |\n  one\n  ¦\n", ("value", (), "prompt", "", "", 0)),
        ("prompt: one\n  two th|ree\n", ("value", (), "prompt", "two th", "two three", 0)),
    ],
)
def test_a_value(marked: str, expected: tuple[object, ...]) -> None:
    assert shown(marked) == expected


@pytest.mark.parametrize(
    ("marked", "expected"),
    [
        ("tasks:\n  - |", ("item", ("tasks",), "tasks", "", "", 4)),
        ("tasks:\n  -|\n", ("item", ("tasks",), "tasks", "", "", 3)),
        ("tasks:\n- |\n", ("item", ("tasks",), "tasks", "", "", 2)),
        ('tasks:\n  - "tasks/|"\n', ("item", ("tasks",), "tasks", "tasks/", "tasks/", 4)),
        ("graders:\n  - name: a\n  - |\n  - name: c\n", ("item", ("graders",), "graders", "", "", 4)),
        ("graders:\n  - na|\n    type: x\n", ("item", ("graders",), "graders", "na", "na", 4)),
        ("graders:\n  - name: a\n  |\n", ("item", ("graders",), "graders", "", "", 2)),
        ("a:\n  - b:\n      - c|\n", ("item", ("a", 0, "b"), "b", "c", "c", 8)),
    ],
)
def test_an_item(marked: str, expected: tuple[object, ...]) -> None:
    assert shown(marked) == expected


@pytest.mark.parametrize(
    ("marked", "expected"),
    [
        ("tags: [a, |]\n", ("item", ("tags",), "tags", "", "")),
        ("tags: [a, b|c]\n", ("item", ("tags",), "tags", "b", "bc")),
        ("tags: [a, |\nname: x\n", ("item", ("tags",), "tags", "", "")),
        ('tags: ["a|b", c]\n', ("item", ("tags",), "tags", "a", "ab")),
        ("config: {mo|}\n", ("key", ("config",), None, "mo", "mo")),
        ("config: {model: |}\n", ("value", ("config",), "model", "", "")),
        ("config: {model: x, |\n", ("key", ("config",), None, "", "")),
        ("config: {a: [1, {b: x|}]}\n", ("value", ("config", "a", 1), "b", "x", "x")),
        ("config: {\n  a: 1,\n  |\n}\n", ("key", ("config",), None, "", "")),
        ("- {type: te|xt}\n", ("value", (0,), "type", "te", "text")),
    ],
)
def test_inside_brackets(marked: str, expected: tuple[object, ...]) -> None:
    assert shown(marked)[:5] == expected
    assert at(marked)[0].in_flow


@pytest.mark.parametrize("marked", ["# na|\n", "name: x # or|\n", "name: x\n---\nna|\n"])
def test_nothing_is_offered_in_comments_and_behind_the_document(marked: str) -> None:
    assert at(marked)[0].role == "none"


@pytest.mark.parametrize(
    ("marked", "keys"),
    [
        ("name: x\n|\nskill: y\n", ("name", "skill")),
        ("na|me: x\nskill: y\n", ("skill",)),
        ("graders:\n  - name: a\n    |\n    type: x\n  - weight: 1\n", ("name", "type")),
        ("graders:\n  - |\n    type: x\n", ("type",)),
        ("config: {a: 1, |}\n", ("a",)),
        ("config:\n  |", ()),
    ],
)
def test_the_keys_beside_the_cursor_are_known(marked: str, keys: tuple[str, ...]) -> None:
    assert at(marked)[0].existing_keys == keys


def test_an_item_without_its_dash_says_so() -> None:
    assert at("graders:\n  - name: a\n  |\n")[0].needs_dash
    assert not at("graders:\n  - name: a\n  - |\n")[0].needs_dash


def test_windows_line_breaks_change_nothing() -> None:
    cursor, _ = at("graders:\r\n  - name: a\r\n    |\r\n    type: x\r\n")
    assert (cursor.role, cursor.container_path, cursor.existing_keys) == ("key", ITEM, ("name", "type"))


def test_every_place_of_a_broken_file_has_an_answer() -> None:
    text = 'a: [x, {y: "z\nb:\n  - c: d: e\n    f: |\n     g\n\t- h\n  i\n? k\n: l\n"m: *n\n'
    randomness = random.Random(5)
    for _ in range(150):
        cut = randomness.randrange(len(text))
        broken = text[:cut] + text[cut + randomness.randrange(4) :]
        tree = parse(broken)
        for offset in range(len(broken) + 1):
            cursor = cursor_at(tree, offset)
            assert 0 <= cursor.replace.start <= offset <= cursor.replace.end <= len(broken)
            assert cursor.prefix == broken[cursor.replace.start : offset]
