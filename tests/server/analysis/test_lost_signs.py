"""A line without its colon, options without the line above them, comments of other languages, a key twice."""

from __future__ import annotations

import pytest

from tests.server.analysis.drawing import EVAL, TASK, fixed, graders, problems
from waza_language_server.syntax.tried_edits import apply


@pytest.mark.parametrize("sign", [" ", ". ", ", ", "  ", "\t"])
@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_a_colon_that_is_missing_behind_a_known_key(sign: str, ending: str) -> None:
    text = EVAL.replace("executor: mock", f"executor{sign}mock # 🙂").replace("\n", ending)
    [problem] = problems(text, "eval")
    assert text[problem.span.start : problem.span.end] == "executor"
    assert problem.message.startswith("A colon is missing behind `executor`")
    meant = EVAL.replace("executor: mock", "executor: mock # 🙂").replace("\n", ending)
    assert fixed(text, "yaml-syntax", "eval") == meant


@pytest.mark.parametrize("sign", [" == ", " := ", " -> ", ":="])
def test_another_sign_than_a_colon_behind_a_known_key(sign: str) -> None:
    text = EVAL.replace("executor: mock", f"executor{sign}mock")
    [problem] = problems(text, "eval")
    assert problem.message == f"`{sign.strip()}` is no colon; write `executor: ` before the value."
    assert fixed(text, "yaml-syntax", "eval") == EVAL
    assert not [fix for fix in problem.fixes if fix.preferred]


@pytest.mark.parametrize("written", ["executr mock", "of course", "It is, then"])
def test_words_that_are_no_key_are_not_made_one(written: str) -> None:
    found = problems(EVAL.replace("executor: mock", written), "eval")
    assert not [fix.title for problem in found for fix in problem.fixes if fix.title.startswith("Write `")]


def test_a_block_whose_key_is_missing() -> None:
    text = EVAL.replace("config:\n", "")
    [problem] = problems(text, "eval")
    assert text[problem.span.start : problem.span.end] == "trials_per_task"
    assert problem.message == "`trials_per_task` belongs below `config:`, which is missing above this line."
    assert fixed(text, "yaml-indentation", "eval") == EVAL


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_options_whose_key_is_missing(ending: str) -> None:
    meant = graders(
        "  - name: a\n    type: text\n    config:\n      # these\n      contains: [b]\n"
        "  - type: behavior\n    name: c\n    config: {max_tokens: 3}\n"
    ).replace("\n", ending)
    text = meant.replace(f"    config:{ending}", "", 1)
    assert fixed(text, "yaml-indentation").replace("      # these", "").split() == (
        meant.replace("      # these", "").split()
    )


def test_a_prompt_whose_block_is_missing() -> None:
    text = TASK.replace("inputs:\n", "")
    assert fixed(text, "yaml-indentation") == TASK


def test_a_prompt_whose_block_is_missing_below_a_list() -> None:
    meant = TASK.replace("inputs:", "tags:\n  - a\n# it\n\ninputs:") + "  context:\n    a: b\n"
    assert fixed(meant.replace("inputs:\n", ""), "yaml-indentation") == meant


def test_a_block_of_text_whose_key_has_lost_its_colon() -> None:
    text = TASK + "description |-\n  Some: words\n\n  - more\nhint: x\n"
    assert fixed(text, "yaml-syntax") == text.replace(" |-", ": |-")


@pytest.mark.parametrize("sign", ["//", "--", ";", "/*", "<!--"])
def test_a_comment_of_another_language(sign: str) -> None:
    text = EVAL.replace("  executor", f"  {sign} a note\n  executor")
    [problem] = problems(text, "eval")
    assert problem.message == f"`{sign}` begins no comment in YAML; write `#`."
    assert fixed(text, "yaml-syntax", "eval") == text.replace(f"{sign} a", "# a")
    assert not any(fix.preferred for fix in problem.fixes)


def test_a_second_document_becomes_a_part_of_the_first() -> None:
    text = EVAL.replace("tasks:", "---\ntasks:")
    assert fixed(text, "several-documents", "eval") == text.replace("---", "")


@pytest.mark.parametrize(
    ("first", "second", "joined"),
    [
        ("tags:\n  - a # one\n", "tags:\n- b\n# two\n- c\n", "tags:\n  - a # one\n  - b\n  # two\n  - c\n"),
        ("tags: [a]\n", "tags: ['b, c']\n", "tags: [a, 'b, c']\n"),
        ("tags:\n- a\n", "tags: [b, c]\n", "tags:\n- a\n- b\n- c\n"),
        ("tags: [a]\n", "tags:\n  - b c\n", "tags: [a, b c]\n"),
    ],
)
def test_two_parts_of_a_list_are_joined(first: str, second: str, joined: str) -> None:
    text = TASK + first + "description: x\n" + second + "hint: y\n"
    assert fixed(text, "duplicate-key") == TASK + joined + "description: x\nhint: y\n"


def test_of_two_values_the_author_chooses() -> None:
    text = TASK + "description: x\ntags: [a]\ndescription: |\n  y\n\nhint: z\n"
    [problem] = problems(text)
    kept = {fix.title: apply(text, fix.edits) for fix in problem.fixes if fix.edits}
    assert kept == {
        "Keep the first `description`": text.replace("description: |\n  y\n", ""),
        "Keep this one": text.replace("description: x\n", ""),
    }
    assert not any(fix.preferred for fix in problem.fixes)


def test_a_list_with_an_anchor_is_not_joined() -> None:
    text = TASK + "tags: &t [a]\ntags: [b]\n"
    [problem] = problems(text)
    assert "Join the lists of `tags`" not in [fix.title for fix in problem.fixes if fix.edits]


@pytest.mark.parametrize("merged", ["*usual", "[*usual]"])
def test_a_merge_that_has_lost_its_colon(merged: str) -> None:
    usual = "- &usual {type: text, name: a, config: {contains: [b]}}\n"
    meant = graders(f"{usual}- name: c\n  <<: {merged}\n")
    assert not problems(meant)
    assert fixed(meant.replace("<<: ", "<< "), "yaml-syntax") == meant


@pytest.mark.parametrize("key", ["`{}`:", "**{}**:", "**{}:**", '"{}:"', "'{}:'", "`{}` :"])
@pytest.mark.parametrize("name", ["skill", "model", "tasks"])
def test_a_key_with_signs_around_it(name: str, key: str) -> None:
    right = EVAL.replace("tasks: [tasks/*.yaml]", "tasks:\n  - tasks/*.yaml")
    wrong = right.replace(f"{name}:", key.format(name), 1)
    (problem,) = problems(wrong, "eval")
    assert problem.code == "yaml-syntax"
    assert problem.fixes[0].title == f"Write `{name}:`"
    assert apply(wrong, problem.fixes[0].edits) == right
