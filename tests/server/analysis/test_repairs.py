"""Mistakes in the layout of YAML: each is one problem, and its fix restores what was there."""

import pytest

from tests.server.analysis.drawing import EVAL, TASK, graders, problems
from waza_language_server.analysis.problem import Problem
from waza_language_server.project.document import DocumentKind
from waza_language_server.syntax.tried_edits import apply
from waza_language_server.text.edit import Edit

TWO = graders(
    "  - type: text\n    name: a\n    config:\n      contains:\n        - x\n"
    "  - type: code\n    name: b\n    config:\n      assertions:\n        - output\n"
)
TAGS = f"{TASK}tags:\n  - a\n  - b c\n"
MORE = f"{TASK}tags:\n  - a\n  - b\n  - c\n"
HOOK = f"{EVAL}hooks:\n  before_run:\n    - command: 'grep Accept: /etc'\n      error_on_fail: true\n"
LONG = TASK.replace("prompt: Go", "prompt: |\n    Go on\n    and end")


def moved(text: str, part: str, by: int) -> str:
    """Return a text with the lines of a part at another column."""
    rows = part.split("\n")
    lines = "\n".join((" " * by + row if by > 0 else row[-by:]) if row else row for row in rows)
    assert part in text
    return text.replace(part, lines)


FIRST, BODY, SECOND = (
    "  - type: text\n",
    "    name: a\n    config:\n      contains:\n        - x\n",
    "  - type: code\n    name: b\n    config:\n      assertions:\n        - output\n",
)
KINDS: list[tuple[str, str, str, str, DocumentKind]] = [
    ("no space after a dash", TWO.replace("- type: code", "-type: code"), TWO, "yaml-syntax", "task"),
    ("no space after the dash of a text", TAGS.replace("- b", "-b"), TAGS, "yaml-syntax", "task"),
    ("no space after a colon", EVAL.replace("executor: ", "executor:"), EVAL, "yaml-syntax", "eval"),
    ("no colon of a block", EVAL.replace("config:", "config"), EVAL, "yaml-syntax", "eval"),
    ("no dash", TWO.replace("- type: code", "  type: code"), TWO, "yaml-syntax", "task"),
    ("no first dash", TWO.replace("- type: text", "  type: text"), TWO, "yaml-syntax", "task"),
    ("no dash of a text", TAGS.replace("- b c", "b c"), TAGS, "yaml-syntax", "task"),
    ("no dash of a text in between", MORE.replace("- b", "b"), MORE, "yaml-syntax", "task"),
    ("a tab", EVAL.replace("  model", "\tmodel"), EVAL, "yaml-tab", "eval"),
    ("tabs", TWO.replace("    name: b\n    ", "\t\tname: b\n\t\t"), TWO, "yaml-tab", "task"),
    ("a line at another column", EVAL.replace("  model", "   model"), EVAL, "yaml-indentation", "eval"),
    ("a line further left", EVAL.replace("  timeout", " timeout"), EVAL, "yaml-indentation", "eval"),
    ("a key below a number", EVAL.replace("  timeout", "   timeout"), EVAL, "yaml-indentation", "eval"),
    ("an item at another column", moved(TWO, SECOND, 1), TWO, "yaml-indentation", "task"),
    ("the first item at another column", moved(TWO, FIRST + BODY, 1), TWO, "yaml-indentation", "task"),
    ("a body at the dash", moved(TWO, BODY, -2), TWO, "yaml-indentation", "task"),
    ("a body at the margin", moved(TWO, BODY, -4), TWO, "yaml-indentation", "task"),
    ("a dash at the column of its keys", moved(TWO, FIRST, 2), TWO, "yaml-indentation", "task"),
    ("a text at its key", moved(LONG, "    and end\n", -4), LONG, "yaml-indentation", "task"),
    ("an open quote", TASK.replace("Go", '"Go'), TASK.replace("Go", '"Go"'), "yaml-syntax", "task"),
    (
        "the other quote at the end",
        TASK.replace("Go", "\"Go'"),
        TASK.replace("Go", '"Go"'),
        "yaml-syntax",
        "task",
    ),
    ("a quote in quotes", TASK.replace("Go", "'it's'"), TASK.replace("Go", "'it''s'"), "yaml-syntax", "task"),
    (
        "a colon in a text",
        TASK.replace("Go", "Go: on"),
        TASK.replace("Go", "'Go: on'"),
        "yaml-syntax",
        "task",
    ),
    (
        "a colon in the first key of an item",
        HOOK.replace("'", ""),
        HOOK,
        "yaml-syntax",
        "eval",
    ),
    (
        "a colon in a grader's name",
        TWO.replace("type: text\n    name: a", "name: a: b\n    type: text"),
        TWO.replace("type: text\n    name: a", "name: 'a: b'\n    type: text"),
        "yaml-syntax",
        "task",
    ),
    (
        "a colon in a text of several lines",
        TASK.replace("Go", "Go to it: now\n    and on"),
        TASK.replace("Go", ">-\n    Go to it: now\n    and on"),
        "yaml-syntax",
        "task",
    ),
    ("an escape", TASK.replace("Go", r'"a\d"'), TASK.replace("Go", r"'a\d'"), "yaml-escape", "task"),
    ("a bracket", EVAL.replace("yaml]", "yaml"), EVAL, "yaml-syntax", "eval"),
    (
        "a pattern in brackets",
        EVAL.replace("[tasks/*", "[*"),
        EVAL.replace("[tasks/*.yaml", "['*.yaml'"),
        "yaml-syntax",
        "eval",
    ),
    ("no comma", f"{TASK}tags: ['a' 'b']\n", f"{TASK}tags: ['a', 'b']\n", "yaml-syntax", "task"),
    ("a key twice", TASK + "name: T\n", TASK, "duplicate-key", "task"),
    ("two documents", TASK + "---\ntags: [a]\n", TASK + "tags: [a]\n", "several-documents", "task"),
]


@pytest.mark.parametrize("line_break", ["\n", "\r\n"])
@pytest.mark.parametrize(
    ("mistaken", "right", "code", "kind"), [row[1:] for row in KINDS], ids=[row[0] for row in KINDS]
)
def test_a_mistake_is_one_problem_and_its_fix_restores_the_text(
    mistaken: str, right: str, code: str, kind: DocumentKind, line_break: str
) -> None:
    text, wanted = mistaken.replace("\n", line_break), right.replace("\n", line_break)
    assert text != wanted
    found = [each for each in problems(text, kind) if each not in problems(wanted, kind)]
    assert [each.code for each in found if each.severity == "error"] == [code]
    assert apply(text, _first_fix(found[0])) == wanted


def _first_fix(problem: Problem) -> tuple[Edit, ...]:
    return next(fix.edits for fix in problem.fixes if fix.edits)


@pytest.mark.parametrize("line_break", ["\n", "\r\n"])
@pytest.mark.parametrize("base", ["", "||||||| base\nname: O\n"])
def test_one_side_of_a_merge_is_kept(base: str, line_break: str) -> None:
    text = f"id: t\n<<<<<<< HEAD\nname: A\n{base}=======\nname: B\n>>>>>>> main\ninputs:\n  prompt: Go\n"
    found = problems(text.replace("\n", line_break))
    assert {each.code for each in found} == {"yaml-syntax"}
    first, second = found[0].fixes[:2]
    for fix, name in ((first, "A"), (second, "B")):
        kept = apply(text.replace("\n", line_break), fix.edits)
        assert kept == f"id: t\nname: {name}\ninputs:\n  prompt: Go\n".replace("\n", line_break)


def test_of_two_repairs_the_one_wins_after_which_more_keys_are_known() -> None:
    # As an item of its own, `name: a` would be a grader without a type.
    text = moved(TWO, BODY, -2)
    [problem] = problems(text)
    assert problem.message == "This block is 2 spaces too far to the left; move all of its lines."


@pytest.mark.parametrize(
    "text",
    [
        TASK + "words that are neither\n",
        TASK + "```\n",
        TASK + "1. one\n",
        TASK.replace("inputs:", "**inputs**:"),
        TASK.replace("Go", "@Go"),
        "{\n",
        "- - - :\n\t:\n",
    ],
)
def test_any_other_text_has_a_message_at_the_first_line_that_cannot_be_read(text: str) -> None:
    found = [each for each in problems(text) if each.code.startswith("yaml")]
    assert found
    assert all(each.message.endswith(".") and len(each.span) for each in found)
