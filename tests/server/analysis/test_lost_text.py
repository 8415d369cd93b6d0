"""Text that YAML takes for something else: a comment, a tag, brackets, lines that are not indented."""

from __future__ import annotations

import pytest

from tests.server.analysis.drawing import TASK, drawn, fixed, graders, problems
from waza_language_server.syntax.tried_edits import apply


def listed(item: str) -> str:
    return graders(
        f"  - type: text\n    name: a\n    config:\n      contains:\n        - {item}\n        - b\n"
    )


def test_a_comment_sign_without_a_blank_was_meant_as_text() -> None:
    text = listed("#42 ")
    [problem] = problems(text)
    assert problem.message == "This item has no value: `#` begins a comment; put `#42` in quotes."
    assert fixed(text, "empty-value") == listed("'#42' ")


@pytest.mark.parametrize("item", ["", "# 42", "## 42", "&a #42", "!!str #42"])
def test_a_comment_is_a_comment(item: str) -> None:
    assert not any("comment" in each.message for each in problems(listed(item)))


def test_a_text_with_an_exclamation_mark_in_front_is_a_tag() -> None:
    text = listed("!important")
    assert (
        drawn(text, fixes=True)
        == """
⋯
        - !important
          ^^^^^^^^^^ warning unlikely-value: `!important` is a tag for YAML, and its value is empty; \
put it in quotes.
            = fix: Put it in quotes
"""
    )
    assert fixed(text, "unlikely-value") == listed("'!important'")


@pytest.mark.parametrize(
    "text",
    [
        TASK.replace("prompt: Go", "prompt: !important"),
        TASK.replace("prompt: Go", "prompt: !important # why"),
        TASK + "description: !important",
        graders("  - type: text\n    name: !important\n    config: {contains: [a]}\n"),
    ],
)
def test_a_tag_at_a_key_is_shown_where_it_stands(text: str) -> None:
    assert fixed(text, "unlikely-value") == text.replace("!important", "'!important'")


@pytest.mark.parametrize("item", ["!x y", "!!str", "! y", "!x ''"])
def test_a_tag_with_a_value_is_a_tag(item: str) -> None:
    assert not any("is a tag" in each.message for each in problems(listed(item)))


@pytest.mark.parametrize(
    ("item", "safe"), [("[a-z]+", False), ("{3}a", False), ("{{ name }} do", True), ("[x] # y [z]", None)]
)
def test_brackets_that_begin_a_text(item: str, safe: bool | None) -> None:
    fixes = [fix for each in problems(listed(item)) if each.code == "yaml-syntax" for fix in each.fixes]
    assert [fix.preferred for fix in fixes] == [safe for _ in fixes]
    for fix in fixes:
        assert apply(listed(item), fix.edits) == listed(f"'{item}'")
    assert bool(fixes) == (safe is not None)


@pytest.mark.parametrize("word", ["@user", "%d", "`a b`"])
def test_a_sign_in_brackets_with_which_no_text_begins(word: str) -> None:
    text = TASK + f"tags: [a, {word}, b]\n"
    assert fixed(text, "yaml-syntax") == TASK + f"tags: [a, '{word}', b]\n"


def test_quotes_behind_such_a_sign_may_hold_a_comma() -> None:
    found = [fix.preferred for each in problems(TASK + 'tags: [@"a, b"]\n') for fix in each.fixes]
    assert found == [False]


def test_no_comma_is_missing_in_front_of_a_colon() -> None:
    text = TASK.replace("inputs:\n  prompt: Go", 'inputs: {"prompt"\n  : Go}')
    assert not any("comma is missing" in each.message for each in problems(text))


@pytest.mark.parametrize("line_break", ["\n", "\r\n"])
def test_a_comma_that_is_missing_at_the_end_of_a_line(line_break: str) -> None:
    whole = '{"id": "t",\n "name": "T",\n "inputs": {"prompt": "Go"}}\n'.replace("\n", line_break)
    for comma in (f'"t",{line_break}', f'"T",{line_break}'):
        text = whole.replace(comma, comma.replace(",", ""))
        assert fixed(text, "yaml-syntax") == whole


@pytest.mark.parametrize("line_break", ["\n", "\r\n"])
@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("[\n  'a # b' # c\n  {d: e}\n  \"f\"\n]", "[\n  'a # b', # c\n  {d: e},\n  \"f\"\n]"),
        ("""["a" 'b' {c: d}]""", """["a", 'b', {c: d}]"""),
        ("[{a: b\n  c: [d]\n  'e': f}]", "[{a: b,\n  c: [d],\n  'e': f}]"),
    ],
)
def test_all_commas_that_are_missing_in_brackets(written: str, meant: str, line_break: str) -> None:
    text = f"{TASK}tags: {written}\n".replace("\n", line_break)
    assert fixed(text, "yaml-syntax") == f"{TASK}tags: {meant}\n".replace("\n", line_break)


@pytest.mark.parametrize("written", ['["say "hello" now", b]', "['it's', b]", "[a b\n c: d: e]"])
def test_quotes_within_a_text_want_no_comma(written: str) -> None:
    assert not any("comma is missing" in each.message for each in problems(f"{TASK}tags: {written}\n"))


def test_what_stands_behind_a_fault_in_brackets_is_not_missing() -> None:
    text = graders("  - {\n    type: text,\n    name: 'c'\n    config: {contains: [a]}\n  }\n")
    [problem] = problems(text)
    assert problem.message == "A comma is missing in front of this."


def test_all_signs_in_brackets_with_which_no_text_begins() -> None:
    text = f"{TASK}tags: [@ann, '@b', `npm test`, c @d, [%e]]\n"
    assert fixed(text, "yaml-syntax") == f"{TASK}tags: ['@ann', '@b', '`npm test`', c @d, ['%e']]\n"


@pytest.mark.parametrize("line_break", ["\n", "\r\n"])
@pytest.mark.parametrize("sign", ["|", ">-  # why"])
def test_a_block_of_text_that_is_not_indented(sign: str, line_break: str) -> None:
    prompt = f"  prompt: {sign}\n    Go there\n\n      now\n    and on\n  context: {{a: 1}}\n"
    whole = f"id: t\nname: T\ninputs:\n{prompt}".replace("\n", line_break)
    text = whole.replace("    Go", "  Go").replace("      now", "    now").replace("    and", "  and")
    [problem] = problems(text)
    assert problem.message == "The text of `prompt` must stand further to the right than its key; indent it."
    assert fixed(text, "yaml-indentation") == whole


@pytest.mark.parametrize("behind", ["mode: pairwise", "mode:pairwise", "mode = pairwise"])
def test_a_text_that_is_not_indented_ends_at_an_option_of_the_grader(behind: str) -> None:
    options = f"    config:\n      prompt: |\n        Is it so?\n        - Yes\n      {behind}\n"
    text = graders(f"  - type: prompt\n    name: judge\n{options}").replace("        - Yes", "      - Yes")
    [fix] = [fix for each in problems(text) for fix in each.fixes if fix.title == "Indent the text"]
    assert apply(text, fix.edits) == text.replace("      - Yes", "        - Yes")


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_a_line_of_a_text_that_is_indented_with_tabs(ending: str) -> None:
    text = (TASK + "description: |\n  Some\n\t\t- x\n  more\nhint: y\n").replace("\n", ending)
    assert fixed(text, "yaml-tab") == text.replace("\t\t", "  ")
    assert [problem.code for problem in problems(text)] == ["yaml-tab"]


def test_keys_behind_a_block_without_text_are_keys() -> None:
    assert not any(
        "further to the right" in each.message
        for each in problems("id: t\nname: T\ninputs:\n  prompt: |\n  context: {a: 1}\n  now: [\n")
    )


@pytest.mark.parametrize(("sign", "ending"), [("|", "\n"), (">-", "\r\n")])
def test_a_text_behind_the_sign_of_a_block_begins_on_the_next_line(sign: str, ending: str) -> None:
    text = (TASK + f"description: {sign} Some words\n").replace("\n", ending)
    [problem] = problems(text)
    assert apply(text, problem.fixes[0].edits) == text.replace(f"{sign} Some", f"{sign}{ending}  Some")
    assert not any(fix.preferred for fix in problem.fixes)


@pytest.mark.parametrize(("first", "last"), ["\"'", "'\""])
def test_a_text_that_ends_with_the_other_quote(first: str, last: str) -> None:
    text = TASK + f"tags:\n  - {first}a b{last}\n"
    assert fixed(text, "yaml-syntax") == TASK + f"tags:\n  - {first}a b{first}\n"


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_a_block_of_text_that_is_indented_with_tabs(ending: str) -> None:
    text = (TASK + "description: >\n\tSome\n\n\t\tNote: more 🙂\n\t- x\nhint: y\n").replace("\n", ending)
    meant = TASK + "description: >\n  Some\n\n    Note: more 🙂\n  - x\nhint: y\n"
    assert fixed(text, "yaml-tab") == meant.replace("\n", ending)
    assert [problem.code for problem in problems(text)] == ["yaml-tab"]
