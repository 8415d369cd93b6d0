"""Items that stand too far to one side with all their lines, lines behind tabs, texts at the margin."""

from __future__ import annotations

import pytest
import yaml

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
    lists = f"metrics:\n  - name: pass_at_k\ngraders:\n{A}tasks:\n  - tasks/*.yaml"
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


def _moved(text: str, first: str, rows: int, by: int) -> str:
    """Return a text with some rows, from the one that begins with ``first``, at another column."""
    lines = text.splitlines(keepends=True)
    at = next(number for number, line in enumerate(lines) if line.startswith(first))
    part = _indented("".join(lines[at : at + rows]), by)
    return "".join((*lines[:at], part, *lines[at + rows :]))


@pytest.mark.parametrize("by", [-1, -2])
def test_all_keys_of_an_item_but_its_first_are_moved_as_one(by: int) -> None:
    right = graders(f"{A}{B}{C}")
    at = right.index("    name: b")
    wrong = right[:at] + _moved(right[at:], "    name: b", 4, by)
    [problem] = problems(wrong)
    assert problem.code == "yaml-indentation"
    assert wrong[problem.span.start :].startswith("name: b\n")
    assert apply(wrong, problem.fixes[0].edits) == right


@pytest.mark.parametrize("by", [2, 4])
@pytest.mark.parametrize("item", ["a", "b", "c"])
def test_a_dash_at_the_column_of_its_own_keys_is_moved_alone(item: str, by: int) -> None:
    right = graders(f"{A}{B}{C}")
    at = right.index(f"name: {item}") - len("  - type: text\n    ")
    wrong = right[:at] + " " * by + right[at:]
    [problem] = problems(wrong)
    assert problem.code == "yaml-indentation"
    assert problem.span.start == at + 2 + by
    assert apply(wrong, problem.fixes[0].edits) == right


@pytest.mark.parametrize("by", [1, 4])
@pytest.mark.parametrize("listed", ["[a]", "\n        - a"])
def test_a_key_too_far_right_behind_a_list_is_put_beside_the_others(listed: str, by: int) -> None:
    before = f"      required_skills:{' ' * (listed[0] == '[')}{listed}\n"
    options = f"{before}      mode: any_order\n      allow_extra: true\n"
    right = graders(f"  - type: skill_invocation\n    name: a\n    config:\n{options}")
    wrong = _moved(right, "      mode", 1, by)
    [problem] = problems(wrong)
    assert apply(wrong, problem.fixes[0].edits) == right


@pytest.mark.parametrize("by", [1, 2])
def test_a_block_goes_to_where_its_key_is_known(by: int) -> None:
    right = EVAL.replace("tasks: [", f"hooks:\n  before_run:\n    - command: ls\ngraders:\n{A}tasks: [")
    wrong = _moved(right, "hooks:", 3, by)
    found = problems(wrong, "eval")
    repaired = [apply(wrong, fix.edits) for problem in found for fix in problem.fixes]
    assert yaml.safe_load(right) in map(yaml.safe_load, repaired)


def test_a_key_is_no_line_of_the_text_above_it() -> None:
    right = TASK + "description: |\n  Two lines\n  of text.\nenabled: true\ntags:\n  - a\n"
    wrong = right.replace("tags:", "    tags:")
    for problem in problems(wrong):
        assert "enabled" not in wrong[problem.span.start : problem.span.end]


@pytest.mark.parametrize("line_break", ["\n", "\r\n"])
def test_an_item_that_is_read_as_a_line_of_the_one_above(line_break: str) -> None:
    right = (TASK + "tags:\n  - one\n  - two\n  - three\n").replace("\n", line_break)
    wrong = right.replace("  - two", "    - two")
    [problem] = problems(wrong)
    assert (problem.code, problem.severity) == ("yaml-indentation", "warning")
    assert wrong[problem.span.start :].startswith("- two")
    assert apply(wrong, problem.fixes[0].edits) == right
    first = right.replace("  - one", "- one")
    [problem] = problems(first)
    assert first[problem.span.start :].startswith("- one")
    assert apply(first, problem.fixes[0].edits) == right


def test_an_assertion_read_as_a_part_of_the_one_above_is_told_as_such() -> None:
    right = graders(
        "  - type: code\n    name: a\n    config:\n      assertions:\n"
        "        - len(output) > 4\n        - \"'a' in output\"\n"
    )
    wrong = right.replace("        - \"'a'", "          - \"'a'")
    [problem] = problems(wrong)
    assert (problem.code, problem.severity) == ("yaml-indentation", "error")
    assert apply(wrong, problem.fixes[0].edits) == right


@pytest.mark.parametrize("written", ["  - one - two\n", "  - one\n    and - two\n", '  - "one\n    - two"\n'])
def test_a_dash_in_a_text_is_none_of_a_list(written: str) -> None:
    assert not problems(f"{TASK}tags:\n{written}")


@pytest.mark.parametrize("place", [0, 1])
@pytest.mark.parametrize("inner", [6, 8])
def test_a_text_goes_back_into_its_list_and_not_among_the_graders(inner: int, place: int) -> None:
    rows = [f"{' ' * inner}- {word}\n" for word in ("TODO", "FIXME")]
    head = "  - type: text\n    name: a\n    config:\n      regex_not_match:\n"
    right = graders(f"{head}{''.join(rows)}{B}")
    rows[place] = "    " + rows[place].lstrip()
    wrong = graders(f"{head}{''.join(rows)}{B}")
    [problem] = problems(wrong)
    assert [apply(wrong, fix.edits) for fix in problem.fixes] == [right]


@pytest.mark.parametrize("by", [2, -2])
def test_an_item_at_the_column_of_the_options_above_it_is_marked_itself(by: int) -> None:
    first = "  - type: code\n    name: a\n    config:\n      assertions:\n        - len(output) > 3\n"
    text = graders(f"{first}{_indented(B, by)}" if by > 0 else f"{_indented(first, by)}{B}")
    [found] = problems(text)
    assert text[found.span.start :].startswith("- type: text\n")
    assert yaml.safe_load(apply(text, found.fixes[0].edits)) == yaml.safe_load(graders(f"{first}{B}"))
