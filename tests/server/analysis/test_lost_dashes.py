"""Lists whose items lack their dashes: one problem, and a fix that gives every item its own."""

from __future__ import annotations

import pytest

from tests.server.analysis.drawing import EVAL, TASK, graders, problems
from waza_language_server.syntax.tried_edits import apply

FIRST = "type: text\n    name: a\n    config: {contains: [a]}\n"
SECOND = "type: text\n    name: b\n    config: {contains: [b]}\n"


def _option(text: str) -> str:
    return graders(f"  - type: text\n    name: x\n    config:\n      contains:\n{text}")


def test_graders_without_any_dash_become_items() -> None:
    text = graders(f"    {FIRST}    {SECOND}")
    found = problems(text)
    [fix] = [fix for problem in found for fix in problem.fixes if fix.preferred]
    assert fix.title == "Insert the dashes"
    after = apply(text, fix.edits)
    assert after == graders(f"  - {FIRST}  - {SECOND}")
    assert not problems(after)


def test_an_item_whose_first_line_is_gone_begins_with_a_dash_again() -> None:
    text = graders(f"  - {FIRST}    name: b\n    config: {{contains: [b]}}\n")
    [problem] = problems(text)
    assert (problem.code, text[problem.span.start :]) == ("yaml-syntax", text[text.index("name: b") :])
    [fix] = problem.fixes
    after = apply(text, fix.edits)
    assert after == text.replace("    name: b", "  - name: b")
    assert [each.code for each in problems(after)] == ["missing-grader-type"]


def test_a_key_that_stands_twice_elsewhere_is_no_item() -> None:
    found = problems(EVAL.replace("  executor: mock\n", "  executor: mock\n  trials_per_task: 1\n"), "eval")
    assert [problem.code for problem in found] == ["duplicate-key"]
    assert [fix.title for fix in found[0].fixes] == ["Delete the repeated entry"]


@pytest.mark.parametrize(
    ("rows", "meant"),
    [
        ("      one\n      two words\n", "      - one\n      - two words\n"),
        ('        "one"\n        "two words"\n', '        - "one"\n        - "two words"\n'),
        ("        one\n        two words\n", "        - one\n        - two words\n"),
        ("        one\n        [two] words\n", "        - one\n        - '[two] words'\n"),
    ],
)
def test_texts_without_dashes_become_items(rows: str, meant: str) -> None:
    [problem] = problems(_option(rows))
    [fix] = problem.fixes
    assert not fix.preferred
    assert apply(_option(rows), fix.edits) == _option(meant)
    assert not problems(_option(meant))


def test_lines_of_a_text_are_no_items() -> None:
    text = "id: t\nname: T\ndescription:\n  one\n  two\ninputs:\n  prompt: Go\n"
    assert not problems(text)


PROMPTS = (
    "skill: s\nshould_trigger_prompts:\n  - prompt: a\n    reason: x\n  - prompt: b\n    reason: y\n"
    "    confidence: high\nshould_not_trigger_prompts:\n  - prompt: c\n"
)


@pytest.mark.parametrize("prompt", ["a", "b"])
def test_an_item_without_its_dash_whose_other_keys_are_in_their_place(prompt: str) -> None:
    text = PROMPTS.replace(f"  - prompt: {prompt}", f"  prompt: {prompt}")
    [problem] = problems(text, "trigger_tests")
    assert text[problem.span.start : problem.span.end] == "prompt"
    [fix] = problem.fixes
    assert apply(text, fix.edits) == PROMPTS


@pytest.mark.parametrize("line", ["    reason: y\n", "    confidence: high\n"])
def test_a_key_at_the_column_of_the_dashes_belongs_to_the_item_above(line: str) -> None:
    text = PROMPTS.replace(line, line[2:])
    [problem] = problems(text, "trigger_tests")
    assert problem.code == "yaml-indentation"
    assert text[problem.span.start : problem.span.end] == line.strip()
    [fix] = problem.fixes
    assert apply(text, fix.edits) == PROMPTS


def test_an_item_at_the_margin_is_one_problem() -> None:
    text = EVAL.replace(
        "tasks:", "metrics:\n  - name: a\n    weight: 0.5\n- name: b\n    weight: 0.5\ntasks:"
    )
    [problem] = [each for each in problems(text, "eval") if each.severity == "error"]
    assert problem.message == "This item stands 2 spaces too far to the left of the others of its list."
    assert [fix.title for fix in problem.fixes] == ["Align the line"]


@pytest.mark.parametrize("empty", ["[]", "{}"])
def test_an_empty_value_above_the_items_is_deleted(empty: str) -> None:
    text = PROMPTS.replace("should_trigger_prompts:", f"should_trigger_prompts: {empty}")
    [problem] = problems(text, "trigger_tests")
    assert text[problem.span.start : problem.span.end] == empty
    [fix] = problem.fixes
    assert apply(text, fix.edits) == PROMPTS


def test_of_two_equal_keys_the_first_is_judged_where_it_stands() -> None:
    grader = "  - type: text\n    name: a\n    weight: 2\n    weight: x\n    config: {contains: [a]}\n"
    assert [each.code for each in problems(graders(grader))] == ["duplicate-key"]


def test_a_dash_in_place_of_the_blanks_of_a_key() -> None:
    text = "defaults:\n  engine: mock\n- parallel: false\n  workers: 4\n"
    [problem] = problems(text, "project_config")
    assert text[problem.span.start :].startswith("- parallel")
    [fix] = problem.fixes
    assert apply(text, fix.edits) == text.replace("- par", "  par")


@pytest.mark.parametrize(
    "written", ['"a"\n          "b"', "'a'\n          'b'", '"a", "b"', '"a" "b"', "'a','b'"]
)
def test_texts_in_quotes_that_lack_a_dash_become_items(written: str) -> None:
    text = _option(f"        - {written}\n        - c\n")
    [problem] = problems(text)
    quote = written[0]
    after = _option(f"        - {quote}a{quote}\n        - {quote}b{quote}\n        - c\n")
    assert apply(text, problem.fixes[0].edits) == after
    alone = text.replace("        - c\n", "")
    assert apply(alone, problems(alone)[0].fixes[0].edits) == after.replace("        - c\n", "")


@pytest.mark.parametrize("first", ["one", "one word", '"one"', "'one'"])
def test_the_first_item_behind_its_key_stands_among_the_others(first: str) -> None:
    text = graders(
        f"  - type: text\n    name: x\n    config:\n      contains: {first}\n        - two\n        - three\n"
    )
    [problem] = problems(text)
    [fix] = problem.fixes
    assert fix.title == "Make it the first item"
    assert apply(text, fix.edits) == text.replace(f"contains: {first}", f"contains:\n        - {first}")


def test_items_below_a_text_with_a_comment_are_told() -> None:
    found = problems(f'{TASK}tags: "a"  # more\n  - b\n')
    assert [each.code for each in found] == ["yaml-syntax"]
