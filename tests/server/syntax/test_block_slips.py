"""Blocks of text that end too early: told at the line that ends them, and put right without a word lost."""

import pytest
import yaml

from waza_language_server.syntax.tree import parse
from waza_language_server.syntax.tried_edits import apply


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
