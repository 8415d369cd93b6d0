"""A typo that makes several lines unreadable is one problem, and its fix makes them all readable."""

from pathlib import Path

import pytest

from tests.server.analysis.drawing import TASK, fixed, graders, problems
from waza_engine.spec.problems import SuiteFileError
from waza_engine.spec.reading.yaml_reader import parse_yaml
from waza_language_server.syntax.tried_edits import apply


def test_a_key_that_is_only_set_twice_is_a_duplicate() -> None:
    text = TASK + "  prompt: Go again\n"
    assert [problem.code for problem in problems(text)] == ["duplicate-key"]


def test_a_closing_quote_goes_before_the_comment() -> None:
    text = TASK.replace("prompt: Go", 'prompt: "Fix #10 # the old one')
    assert fixed(text, "yaml-syntax") == TASK.replace("prompt: Go", 'prompt: "Fix #10" # the old one')


@pytest.mark.parametrize("line_break", ["\n", "\r\n"])
def test_items_without_a_space_behind_the_dash_among_others(line_break: str) -> None:
    whole = f"{TASK}tags:\n  - a\n  - b c\n  - 5\n".replace("\n", line_break)
    text = whole.replace("- b", "-b").replace("- 5", "-5")
    found = problems(text)
    assert [each.message for each in found] == ["A space is missing after the dash of this list item."] * 2
    assert apply(text, tuple(edit for each in found for edit in each.fixes[0].edits)) == whole


def test_a_dash_where_no_item_is_due_is_none() -> None:
    assert not any("dash" in each.message for each in problems(TASK + "  -x\n"))


@pytest.mark.parametrize("base", ["", "||||||| base\n    config: {contains: [old]}\n"])
@pytest.mark.parametrize("line_break", ["\n", "\r\n"])
def test_a_merge_in_a_grader_is_ended_by_keeping_a_side(base: str, line_break: str) -> None:
    first, second = "    config: {contains: [a]}\n", "    config: {contains: [b]} # why\n"
    grader = "  - type: text\n    name: c\n"
    text = graders(f"{grader}<<<<<<< HEAD\n{first}{base}=======\n{second}>>>>>>> other\n")
    text = text.replace("\n", line_break)
    found = problems(text)
    assert {each.code for each in found} == {"yaml-syntax"}
    for each in found:
        kept = [apply(text, fix.edits) for fix in each.fixes if fix.edits]
        assert kept == [graders(grader + side).replace("\n", line_break) for side in (first, second)]


def test_a_key_whose_value_is_in_a_merge_is_not_empty() -> None:
    text = "id: t\nname: T\ninputs:\n<<<<<<< HEAD\n  prompt: A\n=======\n  prompt: B\n>>>>>>> other\n"
    assert {each.code for each in problems(text)} == {"yaml-syntax"}


def test_a_second_document_behind_a_text_is_no_line_of_the_text() -> None:
    right = TASK.replace("  prompt: Go\n", "  prompt: |\n    Go on\n") + "tags:\n  - a\n"
    (problem,) = problems(right.replace("tags:", "---\ntags:"))
    assert (problem.code, [fix.title for fix in problem.fixes]) == ("several-documents", ["Delete the `---`"])


def test_a_key_at_the_column_of_the_dashes_may_be_one_of_the_item_above() -> None:
    text = graders("  - type: text\n  name: a\n    config: {contains: [x]}\n")
    assert not any(fix.title == "Insert the dash" for each in problems(text) for fix in each.fixes)


def test_a_key_outside_of_the_merge_is_reported() -> None:
    conflict = "<<<<<<< HEAD\nname: A\n=======\nname: B\n>>>>>>> other\n"
    for text in (TASK + conflict, TASK.replace("name: T\n", conflict) + "name: D\n"):
        assert "duplicate-key" in {problem.code for problem in problems(text)}
    twice = "<<<<<<< HEAD\nname: A\nname: C\n=======\ndescription: B\n>>>>>>> other\n"
    assert "duplicate-key" in {problem.code for problem in problems(TASK.replace("name: T\n", twice))}


def test_a_lone_mark_of_a_merge_is_deleted_alone() -> None:
    text = f"{TASK}<<<<<<< HEAD\ntags: [a]\n"
    [problem] = problems(text)
    titles = {fix.title: apply(text, fix.edits) for fix in problem.fixes if fix.edits}
    assert titles == {"Delete the conflict marker of the merge": f"{TASK}tags: [a]\n"}


@pytest.mark.parametrize(
    ("written", "meant"),
    [('""a b""', "'a b'"), ("''a' in output'", "'''a'' in output'"), ("''a' in 'b''", "'''a'' in ''b'''")],
)
def test_quotes_around_quotes_are_those_of_the_whole_text(written: str, meant: str) -> None:
    text = f"{TASK}description: {written}\n"
    assert fixed(text, "yaml-syntax") == f"{TASK}description: {meant}\n"


def test_a_repeated_line_at_the_end_of_a_file_without_a_line_break_is_deleted() -> None:
    [problem] = problems(f"{TASK}id: t")
    assert [(fix.title, fix.preferred) for fix in problem.fixes] == [("Delete the repeated entry", True)]
    assert apply(f"{TASK}id: t", problem.fixes[0].edits) == TASK.removesuffix("\n")


def test_quotes_with_backslashes_lose_them_with_the_fix() -> None:
    text = TASK.replace("Go", r"\d: b")
    [problem] = problems(text)
    [fix] = problem.fixes
    assert (apply(text, fix.edits), fix.preferred) == (TASK.replace("Go", r"'\d: b'"), True)


@pytest.mark.parametrize(
    ("written", "places"),
    [
        ("base", ["base"]),
        ("[*base, base]", ["base"]),
        ("[*base, 1, [a]]", ["1", "[a]"]),
        ("*tags", ["*tags"]),
        ("&base", ["<<"]),
        ("[*base, *base]", []),
        ("*bases", []),
    ],
)
def test_what_cannot_be_merged_is_one_error_at_its_place(written: str, places: list[str]) -> None:
    head = "x-base: &base {type: text, config: {contains: [a]}}\nx-bases: &bases [*base]\nx-tags: &tags [a]\n"
    text = head + graders(f"  - <<: {written}\n    name: a\n")
    found = [each for each in problems(text) if each.severity == "error"]
    assert [text[each.span.start : each.span.end] for each in found] == places
    assert all("`<<` needs a block" in each.message for each in found)
    if places:
        with pytest.raises(SuiteFileError, match="`<<` needs a block"):
            parse_yaml(text, Path("t.yaml"))
