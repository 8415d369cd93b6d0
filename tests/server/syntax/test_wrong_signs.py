"""Signs that look like those of YAML are named at their place, and what stands around them is read."""

from __future__ import annotations

import pytest

from waza_language_server.syntax.tree import Tree, parse
from waza_language_server.syntax.tried_edits import apply


def _fixed(tree: Tree) -> str:
    return apply(tree.text, tuple(edit for fault in tree.errors for edit in fault.fixes[0].edits))


def _loaded(tree: Tree) -> object:
    assert tree.root is not None
    return {entry.key.value: entry.value.value for entry in tree.root.entries}


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("name： T", "`：` is no colon; write `name: ` before the value."),
        ("name：T", "`：` is no colon; write `name: ` before the value."),
        ("name = T", "`=` is no colon; write `name: ` before the value."),
        ("name=T", "`=` is no colon; write `name: ` before the value."),
        ("name => T", "`=>` is no colon; write `name: ` before the value."),
        ("name; T", "`;` is no colon; write `name: ` before the value."),
        ("name :T", "The colon belongs to the key; write `name: ` before the value."),
        ("name:\u00a0T", "The blank after `name:` is none that YAML knows; write a plain one."),
    ],
)
def test_another_sign_than_a_colon(line: str, message: str) -> None:
    tree = parse(f"id: a\n{line}\ntags: x\n")
    assert [fault.message for fault in tree.errors] == [message]
    assert _fixed(tree) == "id: a\nname: T\ntags: x\n"
    assert _loaded(tree) == {"id": "a", "name": "T", "tags": "x"}


def test_another_sign_before_a_block() -> None:
    tree = parse("id: a\ninputs =\n  prompt: x\n")
    assert _fixed(tree) == "id: a\ninputs:\n  prompt: x\n"
    prompt = tree.root.get("inputs", "prompt") if tree.root is not None else None
    assert prompt is not None
    assert prompt.value == "x"


@pytest.mark.parametrize("line", ["name : T", "url: http://a", "ratio: 'a = b'", "rule: a = b", "x: a；b"])
def test_a_line_that_yaml_reads_is_left_alone(line: str) -> None:
    assert parse(f"id: a\n{line}\n").errors == ()


@pytest.mark.parametrize("bullet", ["–", "—", "•", "*"])
def test_a_bullet_before_mappings(bullet: str) -> None:
    tree = parse(f"graders:\n  {bullet} type: text\n    name: a\n  - type: code\n    name: b\n")
    assert [fault.message for fault in tree.errors] == [f"A list item starts with `-`, not with `{bullet}`."]
    assert _fixed(tree) == "graders:\n  - type: text\n    name: a\n  - type: code\n    name: b\n"
    names = [tree.root.get("graders", item, "name") for item in (0, 1)] if tree.root is not None else []
    assert [name.value for name in names if name is not None] == ["a", "b"]


def test_stars_for_dashes() -> None:
    tree = parse("tags:\n  * a\n  * b\n")
    assert {fault.message for fault in tree.errors} == {"A list item starts with `-`, not with `*`."}
    assert _fixed(tree) == "tags:\n  - a\n  - b\n"


@pytest.mark.parametrize("value", ['"x"', "'x'", "[x]", "{a: x}"])
@pytest.mark.parametrize("sign", [",", ";"])
def test_a_sign_behind_a_whole_value(value: str, sign: str) -> None:
    tree = parse(f"id: a\nname: {value}{sign}\ntags: x\n")
    assert [fault.message for fault in tree.errors] == [f"No `{sign}` follows a value here; delete it."]
    assert _fixed(tree) == f"id: a\nname: {value}\ntags: x\n"


@pytest.mark.parametrize(
    "text",
    [
        'id: a\nname: "x" // note\n',
        "id: a\ntags: [x] // note\n",
        "id: a\ninputs: // note\n  prompt: x\n",
        "id: a\ntags: // note\n  - a: b\n    c: d\n",
    ],
)
def test_a_comment_with_slashes(text: str) -> None:
    tree = parse(text)
    assert [fault.message for fault in tree.errors] == ["A comment starts with `#`, not with `//`."]
    assert _fixed(tree) == text.replace("//", "#")
    assert parse(_fixed(tree)).errors == ()


def test_a_bullet_in_text_is_text() -> None:
    assert parse("prompt: |\n  – one\n  • two\nother: – three\n").errors == ()


def test_a_line_that_is_indented_with_other_blanks() -> None:
    tree = parse("config:\n  mode: a\n\u00a0 skills: [x]\n  extra: b\n")
    [fault] = tree.errors
    assert fault.message == "This line is indented with blanks that YAML takes for letters; use spaces."
    assert _fixed(tree) == "config:\n  mode: a\n  skills: [x]\n  extra: b\n"


def test_the_marks_of_a_merge() -> None:
    tree = parse("inputs:\n<<<<<<< HEAD\n  prompt: a\n=======\n  prompt: b\n>>>>>>> other\n")
    lines = [tree.text[fault.span.start : fault.span.end] for fault in tree.errors]
    assert lines == ["<<<<<<< HEAD", "=======", ">>>>>>> other"]
    assert {fault.message for fault in tree.errors} == {
        "This line is from a merge with a conflict; keep one of the two sides, and delete the marks."
    }


def test_an_anchor_above_a_block_that_is_half_written() -> None:
    tree = parse("graders:\n  - &base\n    type: text\n    confi\n  - *base\n")
    assert [tree.text[fault.span.start : fault.span.end] for fault in tree.errors] == ["confi"]


def test_an_anchor_behind_a_key_whose_block_is_half_written() -> None:
    tree = parse("config: &base\n  model: m\n  exec\nother: *base\n")
    assert [tree.text[fault.span.start : fault.span.end] for fault in tree.errors] == ["exec"]
