"""Assertions are marked and rewritten in the document, whatever the style of the YAML scalar."""

import pytest

from tests.server.analysis.drawing import TASK, drawn, fixed, marked, problems
from waza_language_server.embedded.python.javascript import javascript_mark


def grader(assertions: str, extra: str = "") -> str:
    return f"{TASK}graders:\n  - type: code\n    name: c\n    config:\n{extra}      assertions:\n{assertions}"


@pytest.mark.parametrize(
    ("written", "repaired"),
    [
        ("        - len(outptu) > 1\n", "        - len(output) > 1\n"),
        ("        - 'len(outptu) > 1'\n", "        - 'len(output) > 1'\n"),
        ('        - "len(outptu) > 1"\n', '        - "len(output) > 1"\n'),
        ("        - \"'é😋' in outptu\"\n", "        - \"'é😋' in output\"\n"),
        ("        - \"'\\u00e9\\t' in outptu\"\n", "        - \"'\\u00e9\\t' in output\"\n"),
        ("        - '''a'' in outptu'\n", "        - '''a'' in output'\n"),
        ("        - >-\n          len(outptu) > 1\n", "        - >-\n          len(output) > 1\n"),
        ("        - |\n          len(outptu) > 1\n", "        - |\n          len(output) > 1\n"),
        ("        - len(\n            outptu) > 1\n", "        - len(\n            output) > 1\n"),
        (
            "        - >-\n          len(\n          outptu) > 1\n",
            "        - >-\n          len(\n          output) > 1\n",
        ),
        ("        [len(outptu) > 1]\n", "        [len(output) > 1]\n"),
    ],
)
def test_the_name_is_marked_and_changed_in_every_style(written: str, repaired: str) -> None:
    text = grader(written)
    assert marked(text) == [("assertion-unknown-name", "outptu")]
    assert fixed(text, "assertion-unknown-name") == grader(repaired)


def test_a_rewrite_is_escaped_for_the_style_of_the_scalar() -> None:
    text = grader("        - \"any(k in output for k in ['é\\\"', 'b'])\"\n")
    repaired = fixed(text, "assertion-vanishing-name")
    assert problems(repaired) == ()
    assert "any(" not in repaired


def test_two_lines_become_two_assertions() -> None:
    text = grader(
        "        - |-\n          len(output) > 1\n          not errors\n        - duration_ms < 5\n"
    )
    repaired = fixed(text, "assertion-statement")
    assert problems(repaired) == ()
    assert repaired.count("        - ") == 3


def test_two_expressions_in_a_list_in_brackets_become_two_items() -> None:
    text = grader("        ['len(output) > 1; not errors']\n")
    repaired = fixed(text, "assertion-statement")
    assert "['len(output) > 1', 'not errors']" in repaired


def test_an_import_of_re_is_deleted_with_its_line() -> None:
    text = grader("        - import re\n        - re.search('x', output)\n")
    assert fixed(text, "assertion-statement") == grader("        - re.search('x', output)\n")


BOUND = "        - (n := len(output)) > 3\n"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (grader(f"{BOUND}        - n < 100\n"), []),
        (grader(f"        - n < 100\n{BOUND}"), [("assertion-unknown-name", "n")]),
        (grader("        - output.length > 1 && true\n", "      language: javascript\n"), []),
        (grader("        - true\n"), [("assertion-javascript", "true")]),
    ],
    ids=["a name of an earlier assertion", "of a later one", "JavaScript", "a boolean is text for Python"],
)
def test_an_assertion_is_read_with_those_before_it(text: str, found: list[tuple[str, str]]) -> None:
    assert marked(text) == found


def test_a_comprehension_says_which_python_it_needs() -> None:
    text = grader("        - len([w for w in ['a'] if w in output]) == 1\n")
    assert drawn(text, fixes=True) == (
        "\n⋯\n"
        "        - len([w for w in ['a'] if w in output]) == 1\n"
        "                                        ^^^^^^ error assertion-vanishing-name: `output` is not"
        " visible inside a list comprehension up to Python 3.11; only from Python 3.12 on it is.\n"
        "                                          = fix: Bind the names inside\n"
    )


@pytest.mark.parametrize("piece", [" ", "\n", "1", "( ", "(a,", '"\\"'])
def test_a_hostile_assertion_is_read_once(piece: str) -> None:
    assert javascript_mark("[" + piece * (100_000 // len(piece))) is None
    mark = javascript_mark("a " + " " * 5_000 + "&& b")
    assert mark is not None
    assert mark.python == "and"
