"""Items that stand too far to one side with all their lines, lines behind tabs, texts at the margin."""

from __future__ import annotations

import pytest

from tests.server.analysis.drawing import EVAL, TASK, graders, problems
from waza_language_server.syntax.tried_edits import apply

A, B, C = (
    f"  - type: text\n    name: {name}\n    config:\n      contains: [a]\n      not_contains: [b]\n"
    for name in "abc"
)


def _indented(text: str, by: int) -> str:
    rows = text.splitlines(keepends=True)
    return "".join(" " * by + row if by >= 0 else row[-by:] for row in rows)


@pytest.mark.parametrize("by", [2, 1, -1, -2])
@pytest.mark.parametrize("behind", ["", C])
def test_an_item_is_moved_with_all_its_lines(by: int, behind: str) -> None:
    text = graders(f"{A}{_indented(B, by)}{behind}")
    found = problems(text)
    assert [problem.code for problem in found] == ["yaml-indentation"]
    assert text[found[0].span.start :].startswith("- type: text\n")
    assert ("right" if by > 0 else "left") in found[0].message
    [fix] = found[0].fixes
    assert not fix.preferred
    assert apply(text, fix.edits) == graders(f"{A}{B}{behind}")


def test_lines_behind_tabs_are_one_problem() -> None:
    tabbed = (
        "\t- type: text\n\t  name: a\n\t  config:\n\t\t\tcontains:\n\t\t\t\t- a\n\n\t\t\tnot_contains: [b]\n"
    )
    [problem] = problems(graders(tabbed))
    assert problem.code == "yaml-tab"
    [fix] = problem.fixes
    assert fix.preferred
    after = apply(graders(tabbed), fix.edits)
    assert "\t" not in after
    assert not problems(after)


def test_an_item_with_a_tab_among_its_blanks_is_not_moved() -> None:
    text = graders(f"{A}    - type: text\n\t  name: b\n      config:\n        contains: [a]\n")
    assert not any(fix.title == "Align the item" for problem in problems(text) for fix in problem.fixes)


def test_blank_lines_above_lines_behind_tabs_stay() -> None:
    text = "id: t\nname: T\ninputs:\n\n\tprompt: a\n\tcontext: {a: b}\n"
    [problem] = problems(text)
    assert apply(text, problem.fixes[0].edits) == text.replace("\t", "  ")


def test_a_key_behind_tabs_keeps_its_level() -> None:
    text = "id: t\nname: T\ninputs:\n\tcontext:\n\t\tkind: a\n\tprompt: |\n\t\tx = 1\n\n\t\ty = 2\n"
    [problem] = problems(text)
    [fix] = problem.fixes
    assert apply(text, fix.edits) == text.replace("\t", "  ")


@pytest.mark.parametrize(
    "rows", ["Read it.\nERROR: it failed: twice\nScope: all\n", "Read it.\n\n- one: two\n- three\nDone\n"]
)
def test_a_text_at_the_margin_is_indented_as_a_whole(rows: str) -> None:
    text = f"id: t\nname: T\ninputs:\n  prompt: |\n{rows}expected:\n  output_contains: [a]\n"
    [problem] = problems(text)
    assert problem.code == "yaml-indentation"
    [fix] = problem.fixes
    assert not fix.preferred
    rows_meant = "".join(f"    {row}" if row.strip() else row for row in rows.splitlines(keepends=True))
    assert apply(text, fix.edits) == text.replace(rows, rows_meant)


def test_a_line_of_a_text_at_the_margin_goes_to_the_others() -> None:
    text = TASK.replace("prompt: Go", "prompt: |\n    Do this\nand that\n    and more")
    [problem] = problems(text)
    assert apply(text, problem.fixes[0].edits) == text.replace("\nand that", "\n    and that")


@pytest.mark.parametrize("quote", "\"'")
def test_a_line_in_quotes_loses_them(quote: str) -> None:
    text = EVAL.replace("executor: mock", f"{quote}executor: mock{quote}")
    [problem] = problems(text, "eval")
    [fix] = problem.fixes
    assert fix.title == "Remove the quotes"
    assert apply(text, fix.edits) == EVAL


def test_a_text_in_quotes_is_no_line_with_a_key() -> None:
    found = problems(EVAL.replace("tasks:", '"note: this"\ntasks:'), "eval")
    assert not any(fix.title == "Remove the quotes" for problem in found for fix in problem.fixes)


@pytest.mark.parametrize("key", ["graders", "tasks"])
def test_a_key_at_the_column_of_the_items_above_goes_out(key: str) -> None:
    lists = f"metrics:\n  - name: a\ngraders:\n{A}tasks:\n  - tasks/*.yaml"
    text = EVAL.replace("tasks: [tasks/*.yaml]", lists)
    pushed = text.replace(f"\n{key}:", f"\n  {key}:")
    problem = problems(pushed, "eval")[0]
    assert (problem.code, problem.fixes[0].title) == ("yaml-indentation", "Align the line")
    assert apply(pushed, problem.fixes[0].edits) == text


def test_a_key_with_the_dash_of_an_item_loses_it() -> None:
    text = EVAL.replace("  executor: mock", "  - executor: mock")
    [problem] = problems(text, "eval")
    [fix] = problem.fixes
    assert fix.title == "Delete the dash"
    assert apply(text, fix.edits) == EVAL


@pytest.mark.parametrize("key", ["id", "name"])
def test_a_file_whose_first_key_has_a_dash_is_no_list(key: str) -> None:
    text = TASK.replace(f"{key}:", f"- {key}:")
    [problem] = problems(text)
    [fix] = problem.fixes
    assert (fix.title, fix.preferred) == ("Delete the dash", False)
    assert apply(text, fix.edits) == TASK


def test_a_text_that_ends_before_a_line_at_the_margin_is_one_problem() -> None:
    text = "id: t\nname: T\ninputs:\n  prompt: |\n    One.\nNote: two\n    three\n  files:\n    - path: a\n"
    [problem] = problems(text)
    [fix] = problem.fixes
    assert fix.title == "Indent the text"
    assert apply(text, fix.edits) == text.replace("\nNote", "\n    Note")


def test_a_dash_with_a_blank_that_yaml_does_not_know() -> None:
    text = graders(
        "  - type: text\n    name: x\n    config:\n      contains:\n        - a\n        -\u00a0b\n"
    )
    [problem] = problems(text)
    [fix] = problem.fixes
    assert (fix.title, fix.preferred) == ("Write `- `", True)
    assert apply(text, fix.edits) == text.replace("\u00a0", " ")


CONFIG = "    config:\n      contains:\n        - a   # one\n\n      not_contains: [b]\n"


@pytest.mark.parametrize("by", [2, -2])
def test_a_key_is_moved_with_all_that_stands_below_it(by: int) -> None:
    text = graders(f"  - type: text\n    name: a\n{CONFIG}{B}")
    rows = CONFIG.splitlines(keepends=True)
    moved = "".join(row if not row.strip() else (" " * by + row if by > 0 else row[-by:]) for row in rows)
    changed = text.replace(CONFIG, moved, 1)
    [problem] = problems(changed)
    assert problem.code == "yaml-indentation"
    assert changed[problem.span.start :].startswith("config:")
    assert apply(changed, problem.fixes[0].edits) == text


def test_a_key_alone_too_far_to_the_right_is_moved_alone() -> None:
    text = graders(f"  - type: text\n    name: a\n{CONFIG}{B}")
    changed = text.replace("    config:\n", "     config:\n", 1)
    [problem] = problems(changed)
    assert apply(changed, problem.fixes[0].edits) == text


@pytest.mark.parametrize("line", ["- parallel: false\n", "  - parallel: false\n"])
def test_a_key_with_a_dash_is_marked_itself(line: str) -> None:
    text = f"paths:\n  skills: skills/\n  results: out/\n{line}\ndefaults:\n  model: m\n"
    [problem] = problems(text, "project_config")
    assert text[problem.span.start - 1 :].lstrip("\n ").startswith("- parallel")
    assert apply(text, problem.fixes[0].edits) == text.replace(line, "  parallel: false\n")
