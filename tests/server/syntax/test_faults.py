"""Faults of the text: the right characters, one sentence with the cure, and repairs that work."""

import re
from pathlib import Path

import pytest
import yaml
from inline_snapshot import snapshot

from waza_engine.spec.problems import SuiteFileError
from waza_engine.spec.reading.yaml_faults import sentence
from waza_engine.spec.reading.yaml_reader import parse_yaml
from waza_language_server.features.annotated_source import Caret, annotate_source
from waza_language_server.syntax.fault import FAULT_CODES, SyntaxFault
from waza_language_server.syntax.tree import parse
from waza_language_server.syntax.tried_edits import apply

CARETS = re.compile(r" *\^+ ")


def drawn(text: str) -> str:
    """Return the source with its faults drawn under it."""
    return annotate_source(text, [_caret(fault) for fault in parse(text).errors])


def _caret(fault: SyntaxFault) -> Caret:
    assert fault.code in FAULT_CODES
    return Caret(fault.span, fault.message)


def repaired(text: str) -> str:
    """Apply the first repair of the only fault."""
    (fault,) = parse(text).errors
    return apply(text, fault.fixes[0].edits)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("a: b: c\n", "yaml-syntax"),
        ("a:\n  b: 1\n   c: 2\n", "yaml-indentation"),
        ("a:\n\tb: 1\n", "yaml-tab"),
        ('a: "\\d"\n', "yaml-escape"),
        ('a: ["x", "\\d", "y"]\n', "yaml-escape"),
        ("a: *b\n", "unknown-anchor"),
        ("a: 1\n---\nb: 2\n", "several-documents"),
    ],
)
def test_every_kind_of_fault_has_its_code(text: str, code: str) -> None:
    assert [fault.code for fault in parse(text).errors] == [code]


FAULTS = {
    "an open quote": """\
name: "x
      ^^ The quote opened here is never closed; end the text with `"`.
skill: y
""",
    "an open single quote": """\
name: 'x
      ^^ The quote opened here is never closed; end the text with `'`.
skill: y
""",
    "text behind a quote": """\
name: "x" y
          ^ The quoted text ends before this; put the whole value in quotes, or double the quotes inside it.
""",
    "a colon in a value": """\
prompt: Explain: the loop
        ^^^^^^^^^^^^^^^^^ A value with `: ` inside is read as a key of its own; put the value in quotes.
""",
    "an escape that yaml does not know": """\
- "\\d+"
   ^^ `\\d` means nothing in double quotes; put the text in single quotes or write `\\\\d`.
""",
    "an open bracket": """\
tags: [a, b
      ^^^^^ The `[` opened here is never closed; add a `]`.
name: x
""",
    "text behind a bracket": """\
tags: [a] b
          ^ The value from `[` to `]` ends before this; quote it all or start a new line.
""",
    "a bracket that closes nothing": """\
tags: a]
name: ]
      ^ This `]` closes nothing; put the value in quotes.
""",
    "a missing space after a colon": """\
name:x
^^^^^ A space is missing after `name:`; write one before the value.
skill: y
""",
    "a missing colon": """\
config
^^^^^^ A colon is missing here; write `config:`.
  model: x
""",
    "a half typed key": """\
name: x
ski
^^^ A key is expected here; write `ski: ` and a value.
tasks: []
""",
    "a line that does not line up": """\
graders:
  - name: x
     type: y
     ^^^^^^^ This line does not line up with the other keys of this mapping; indent it by 4 spaces.
    weight: 1
""",
    "an item that does not line up": """\
tasks:
  - a: 1
   - b
   ^^^ This line does not line up with the other items of this list; indent it by 2 spaces.
  - c
""",
    "a key of the file that is indented": """\
config:
  model: x
 tasks:
 ^^^^^^ This line does not line up with the other keys of the file; do not indent it.
  - a
""",
    "an item among keys": """\
name: x
- y
^^^ A list item cannot be among keys; indent it below the key it belongs to.
""",
    "an item without a dash": """\
graders:
  - name: x
  name: y
  ^^^^^^^ A list item starts with a dash; write `- ` before this.
""",
    "a value and lines below it": """\
config: x
  model: y
  ^^^^^^^^ `config` has a value already; do not indent this, or quote the text above if this belongs to it.
""",
    "a duplicate key of the file": """\
name: x
tasks: []
name: y
^^^^ `name` is set twice in this mapping; keep one of the two.
""",
    "an alias without an anchor": """\
a: *b
   ^^ No anchor `&b` is defined before this alias; put the value in quotes if it is a string.
c: &b 1
d: *b
""",
    "a second document": """\
---
name: x
---
^^^ A file holds one document; what follows this line is ignored, so move it to a file of its own.
name: y
""",
}


@pytest.mark.parametrize("drawing", FAULTS.values(), ids=FAULTS)
def test_a_fault_is_marked_with_its_cure(drawing: str) -> None:
    source = "".join(line for line in drawing.splitlines(keepends=True) if not CARETS.match(line))
    assert drawn(source) == drawing


@pytest.mark.parametrize(
    ("escape", "shown", "message"),
    [
        (r"\ud800", r"\ud800", "is half of a character"),
        (r"\U0000DFFF", r"\U0000DFFF", "is half of a character"),
        (r"\ud83d\ude00 \u00e9", r"\ud83d\ude00", r"in two halves; write `😀` or `\U0001F600`"),
        (r"\U00110000", r"\U00110000", r"is no character, the last one is `\U0010FFFF`"),
    ],
)
def test_an_escape_that_is_no_character_is_marked_alone(escape: str, shown: str, message: str) -> None:
    for text in (f'a: "x \\u0041 {escape} y"\n', f'a: [b, "{escape}"]\n'):
        (fault,) = parse(text).errors
        assert (fault.code, text[fault.span.start : fault.span.end]) == ("yaml-escape", shown)
        assert message in fault.message
        assert f"`{shown}`" in fault.message
        for fix in fault.fixes:
            assert parse(apply(text, fix.edits)).errors == ()


def test_two_halves_of_a_character_become_the_character() -> None:
    assert repaired('a: "x \\ud83d\\ude00 y"\n') == 'a: "x 😀 y"\n'


def test_an_anchor_stays_in_front_of_a_text_that_is_quoted_anew() -> None:
    assert repaired('a: &p "x "y"\n') == "a: &p 'x \"y'\n"


def test_a_tab() -> None:
    assert drawn("config:\n\tmodel: x\n") == snapshot("""\
config:
    model: x
^^^^ This line is indented with a tab; use spaces.
""")


@pytest.mark.parametrize("value", ["@x", "`x` y", "%x", "*", "&", ", x", "|x", ">x", "- x"])
def test_a_value_that_cannot_start_so_is_put_in_quotes(value: str) -> None:
    assert repaired(f"a: {value}\nb: 1\n") == f"a: '{value}'\nb: 1\n"


def test_a_duplicate_key_names_both_places() -> None:
    text = "graders:\n  - name: x\n    name: y\n"
    (fault,) = parse(text).errors
    assert fault.code == "duplicate-key"
    assert [text[s.start : s.end] for s in (fault.span, fault.related[0].span)] == ["name", "name"]
    assert fault.related[0].span.start < fault.span.start


def test_the_merge_key_may_repeat() -> None:
    assert parse("a: &a {}\nb:\n  <<: *a\n  <<: *a\n").errors == ()


@pytest.mark.parametrize("text", ["---\na: 1\n", "a: 1\n---\n", "a: 1\n...\n# end\n", "a: |\n  ---\n"])
def test_one_document_with_markers_is_fine(text: str) -> None:
    assert parse(text).errors == ()


def test_a_line_break_that_is_none() -> None:
    assert drawn("name: a\u2028b\n") == snapshot("""\
name: a\\u2028b
       ^^^^^^ This is a line separator (U+2028), which parsers read as a line break; delete it.
""")


@pytest.mark.parametrize("char", ["\x85", "\u2028", "\x0c", "\x00", "\x1b", "\ufeff", "\ud800"])
def test_an_invisible_character_costs_nothing_else(char: str) -> None:
    text = f"name: a{char}b\ntasks: [c]\n"
    tree = parse(text)
    assert [(fault.code, fault.span.start) for fault in tree.errors] == [("control-character", 7)]
    assert tree.root is not None
    assert tree.root.to_python() == {"name": f"a{char}b", "tasks": ["c"]}
    assert repaired(text) == "name: ab\ntasks: [c]\n"


def test_a_byte_order_mark_at_the_start_is_fine() -> None:
    tree = parse("\ufeffname: x\ngraders:\n- y\n")
    assert tree.errors == ()
    assert tree.root is not None
    assert tree.root.span.start == 1
    assert tree.root.to_python() == {"name": "x", "graders": ["y"]}


@pytest.mark.parametrize(
    "text",
    [
        'name: "x\nskill: y\n',
        "name: x: y\n",
        'a: "\\d"\n',
        "a:\n\tb: 1\n\tc: 2\n",
        "name:x\nskill: y\n",
        "config\n  model: x\n",
        "a:\n  - b: 1\n   - c\n",
        "config:\n  model: x\n tasks:\n  - a\n",
        "a: [b\nc: 1\n",
        "a: 'it's'\n",
    ],
)
def test_the_first_repair_of_every_fault_leaves_no_fault(text: str) -> None:
    for _ in range(3):
        faults = parse(text).errors
        if faults:
            text = apply(text, faults[0].fixes[0].edits)
    assert parse(text).errors == ()


@pytest.mark.parametrize(
    "text",
    [
        "a: 1\na: 2\n",
        "a: *b\n",
        "a:\n\t- b\n",
        'a: "\\d"\n',
        "a: 'open\n",
        'a: "open\n',
        "a: `b`\n",
        "a: @b\n",
        "a: %b\n",
        "a: - b\n",
        "a: 1\n<<<<<<< HEAD\nb: 2\n=======\nb: 3\n>>>>>>> theirs\n",
        "a:\n  - 1\n<<<<<<< HEAD\n  - 2\nb: 2\n||||||| base\nb: 1\n=======\n  - 3\n>>>>>>> theirs\n",
        "[" * 101 + "]" * 101,
    ],
)
def test_a_run_and_the_editor_say_the_same_of_a_fault_at_the_same_line(text: str) -> None:
    fault = parse(text).errors[0]
    with pytest.raises(SuiteFileError) as refused:
        parse_yaml(text, Path("eval.yaml"))
    said = refused.value.message.removeprefix("the YAML is broken: ")
    assert (refused.value.line, sentence(said)) == (text.count("\n", 0, fault.span.start) + 1, fault.message)


@pytest.mark.parametrize(
    ("written", "marked", "code", "meant"),
    [
        ("    one\n  two\n", "one", "yaml-indentation", "one\ntwo\n"),
        ("    one\n\n  two\n   three\n", "one", "yaml-indentation", "one\n\ntwo\n three\n"),
        ("    one\n    two\n   three\n", "three", "yaml-indentation", "one\ntwo\nthree\n"),
        ("    one\n\t\ttwo\n", "\t\t", "yaml-tab", "one\ntwo\n"),
    ],
)
def test_lines_of_one_text(written: str, marked: str, code: str, meant: str) -> None:
    tree = parse(f"a: |\n{written}b: 1\n")
    (fault,) = tree.errors
    assert (tree.text[fault.span.start : fault.span.end], fault.code) == (marked, code)
    (fix,) = fault.fixes
    assert yaml.safe_load(apply(tree.text, fix.edits)) == {"a": meant, "b": 1}


def test_a_text_whose_first_lines_stand_further_in_needs_no_quotes() -> None:
    (fault,) = parse("a: |  # why\n    one\n  two\n").errors
    assert "quotes" not in fault.message
