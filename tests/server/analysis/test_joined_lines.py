"""One line that holds two is divided where the schema knows the second key, or wants the list."""

from __future__ import annotations

import pytest

from tests.server.analysis.drawing import EVAL, TASK, drawn, fixed, problems
from waza_language_server.project.document import DocumentKind

TEXT = TASK + "graders:\n  - type: text\n    name: a\n    config:\n      contains: [x]\n"
EXPECTING = TASK + "expected:\n  output_contains: [a]\n"
INLINE = EVAL.replace(
    " [tasks/*.yaml]\n",
    """
  - id: one
    name: One
    inputs:
      prompt: Go
    expected:
      output_contains: [a]
  - id: two
    name: Two
    inputs: {prompt: Go}
    tags: [b]
graders:
  - {type: text, name: a, config: {contains: [x]}}
""",
)


def test_two_keys_on_one_line() -> None:
    text = EVAL.replace("mock\n  model", "mock model")
    assert (
        drawn(text, "eval", fixes=True)
        == """
⋯
  executor: mock model: m
                 ^^^^^ error yaml-syntax: `model` needs a line of its own.
                   = fix: Start a new line here
                   = fix: Put the value in quotes
"""
    )


def test_a_key_beside_the_key_that_holds_it() -> None:
    text = TASK.replace("inputs:\n  prompt", "inputs: prompt")
    assert (
        drawn(text, fixes=True)
        == """
⋯
inputs: prompt: Go
        ^^^^^^ error yaml-syntax: `prompt` needs a line of its own below `inputs`.
          = fix: Start a new line here
"""
    )


def test_a_list_beside_its_key() -> None:
    text = TEXT.replace("graders:\n  -", "graders: -")
    assert (
        drawn(text, fixes=True)
        == """
⋯
graders: - type: text
         ^ error yaml-syntax: The list of `graders` starts on a line of its own, below the key.
           = fix: Start a new line here
"""
    )


@pytest.mark.parametrize(
    ("whole", "joined", "kind"),
    [
        (TEXT, TEXT.replace("text\n    name", "text name"), "task"),
        (TEXT, TEXT.replace("a\n    config", "a config"), "task"),
        (TEXT, TEXT.replace("text\n    name", "text, name"), "task"),
        (TEXT, TEXT.replace("graders:\n  -", "graders: -"), "task"),
        (TASK, TASK.replace("inputs:\n  ", "inputs: "), "task"),
        (TASK + "tags: [a]\n", TASK.replace("inputs:\n  ", "inputs: ") + "tags: [a]\n", "task"),
        ("description: >-\n  A b\n" + TASK, "description: >-\n  A b\n" + TASK.replace("T\ni", "T i"), "task"),
        ("name: A b\ndescription: >-\n  C\n", "name: A b description: >-\n  C\n", "task"),
        (TASK + "tags:\n  - a\n  - b\n", TASK + "tags: - a\n  - b\n", "task"),
        (EVAL, EVAL.replace("config:\n  ", "config: "), "eval"),
        (EVAL, EVAL.replace("mock\n  model", "mock model").replace("60\n  exec", "60 exec"), "eval"),
        (EVAL, EVAL.replace("demo\nskill", "demo skill"), "eval"),
        (EXPECTING, EXPECTING.replace("Go\nexpected", "Go expected"), "task"),
        (TEXT, TEXT.replace("Go\ngraders", "Go graders"), "task"),
        (EVAL, EVAL.replace("m\ntasks", "m tasks"), "eval"),
        (INLINE, INLINE.replace("Go\n    expected", "Go expected"), "eval"),
        (INLINE, INLINE.replace("[b]\ngraders", "[b] graders"), "eval"),
    ],
)
@pytest.mark.parametrize("line_break", ["\n", "\r\n"])
def test_the_line_is_divided_where_it_was(
    whole: str, joined: str, kind: DocumentKind, line_break: str
) -> None:
    joined, whole = (text.replace("\n", line_break) for text in (joined, whole))
    assert fixed(joined, "yaml-syntax", kind) == whole


@pytest.mark.parametrize(
    "line",
    [
        "inputs:\n  prompt: Compare these files: a and b",
        "inputs:\n  prompt: Review these files:\n    - a.py",
        "inputs:\n  prompt: Go\nhint: Compare two tags: a and b",
    ],
)
def test_a_colon_in_prose_is_prose(line: str) -> None:
    messages = [problem.message for problem in problems(f"id: t\nname: T\n{line}\n")]
    assert len(messages) == 1
    assert "line of its own" not in messages[0]


def test_a_key_of_a_block_further_out_may_be_text_so_nothing_is_changed_unasked() -> None:
    [problem] = problems(EXPECTING.replace("Go\nexpected", "Go expected"))
    assert [(fix.title, fix.preferred) for fix in problem.fixes] == [
        ("Start a new line here", False),
        ("Put the value in quotes", False),
    ]


@pytest.mark.parametrize("prose", ["Explain the graders: how they work", "Explain graders:", "Tell tags:"])
def test_a_key_of_a_block_further_out_that_holds_no_block_is_prose(prose: str) -> None:
    [problem] = problems(TASK.replace("Go", prose))
    assert [fix.title for fix in problem.fixes] == ["Put the value in quotes"]


def test_an_unknown_word_before_a_colon_divides_nothing() -> None:
    [problem] = problems(EVAL.replace("model: m", "model: some words: m"), "eval")
    assert [fix.title for fix in problem.fixes] == ["Put the value in quotes"]
