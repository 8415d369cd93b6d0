"""Lines of text that YAML does not read as one: no bar above them, or they stand at the column of keys."""

from __future__ import annotations

import pytest

from tests.server.analysis.drawing import TASK, graders, problems
from waza_language_server.project.document import DocumentKind
from waza_language_server.syntax.tried_edits import apply

PROSE = "Read the notes.\n\nNote: they are for users.\n- Is each line short?\n- Is it: true?\n"
SKILL = (
    "---\nname: notes\ndescription: |\n  Writes release notes from commits.\n  USE FOR: notes.\n---\n# N\n"
)


def _indented(text: str, by: int) -> str:
    return "".join(" " * by + row if row.strip() else row for row in text.splitlines(keepends=True))


@pytest.mark.parametrize("line_break", ["\n", "\r\n"])
@pytest.mark.parametrize("comment", ["", "  # asked first"])
def test_the_bar_above_lines_of_text(line_break: str, comment: str) -> None:
    lines = _indented(PROSE, 4)
    text, meant = (
        f"# a task\nid: t\nname: T\ninputs:\n  prompt:{sign}{comment}\n{lines}  context: {{a: b}}\n".replace(
            "\n", line_break
        )
        for sign in ("", " |")
    )
    [problem] = problems(text)
    assert problem.code == "yaml-syntax"
    assert text[problem.span.start : problem.span.end] == "prompt"
    assert apply(text, problem.fixes[0].edits) == meant


def test_the_bar_of_a_text_in_an_item_and_in_a_grader() -> None:
    file = f"{TASK}  files:\n    - path: a.md\n      content:\n{_indented(PROSE, 8)}"
    [problem] = problems(file)
    assert apply(file, problem.fixes[0].edits) == file.replace("content:", "content: |")
    judge = graders(f"- type: prompt\n  name: a\n  config:\n    prompt:\n{_indented(PROSE, 6)}")
    [problem] = problems(judge)
    assert apply(judge, problem.fixes[0].edits) == judge.replace("    prompt:\n", "    prompt: |\n")


def test_a_block_of_keys_is_no_text() -> None:
    text = "id: t\nname: T\ninputs:\n  prompt: Go\n  context:\n    a: b\n    some words\n    c: d\n"
    assert not any("|" in fix.title for problem in problems(text) for fix in problem.fixes)


def test_a_text_that_goes_on_at_the_margin() -> None:
    text = f"description: The repo\nhas no tag,\nand no branch.\n{TASK}"
    [problem] = problems(text)
    assert problem.code == "yaml-indentation"
    assert text[problem.span.start : problem.span.end] == "has no tag,"
    assert apply(text, problem.fixes[0].edits) == text.replace("\nhas", "\n  has").replace("\nand", "\n  and")


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (SKILL, "skill"),
        (graders(f"- type: prompt\n  name: a\n  config:\n    prompt: |\n{_indented(PROSE, 6)}"), "task"),
    ],
)
def test_a_line_that_fell_out_of_a_block_of_text(text: str, kind: DocumentKind) -> None:
    line = "  USE FOR: notes.\n" if kind == "skill" else "      Note: they are for users.\n"
    fallen = text.replace(line, line[2:])
    [problem] = problems(fallen, kind)
    key = line.strip().split(":")[0]
    assert fallen[problem.span.start :].startswith(key)
    repaired = apply(fallen, problem.fixes[0].edits)
    assert not problems(repaired, kind)
    # What stands below it was read as a part of its value, and moves with it.
    assert [row.strip() for row in repaired.split("\n")] == [row.strip() for row in text.split("\n")]


def test_a_key_below_a_block_of_text_stays_one() -> None:
    text = SKILL.replace("  USE FOR: notes.\n", "tools: all\n")
    assert not problems(text, "skill")


@pytest.mark.parametrize("line", ["--", "***", "—"])
def test_other_signs_in_place_of_the_closing_line(line: str) -> None:
    text = SKILL.replace("---\n# N", f"{line}\n\n# N")
    problem = next(each for each in problems(text, "skill") if each.code == "skill-frontmatter")
    assert apply(text, problem.fixes[0].edits) == text.replace(f"{line}\n\n# N", "---\n\n# N")


def test_a_key_above_lines_of_text_without_colon_and_bar() -> None:
    right = "id: t\nname: T\ninputs:\n  prompt: |\n    My query is slow:\n    SELECT x\n\n    What now?\n"
    [problem] = problems(text := right.replace("prompt: |", "prompt"))
    assert text[problem.span.start : problem.span.end] == "prompt"
    assert apply(text, problem.fixes[0].edits) == right


@pytest.mark.parametrize(
    ("written", "right"),
    [
        ("prompt\n    Is it slow?\n", "prompt:\n    Is it slow?\n"),
        ("promt\n    Is it slow?\n    Or not?\n", "prompt: |\n    Is it slow?\n    Or not?\n"),
    ],
)
def test_a_key_without_its_colon_is_no_prompt(written: str, right: str) -> None:
    text = f"id: t\nname: T\ninputs:\n  {written}"
    [problem] = problems(text)
    assert [apply(text, fix.edits) for fix in problem.fixes] == [f"id: t\nname: T\ninputs:\n  {right}"]
    assert not problem.fixes[0].preferred


@pytest.mark.parametrize("begun", ["prom", "prompt", "fil"])
def test_a_key_that_is_being_written_is_not_made_the_prompt(begun: str) -> None:
    [problem] = problems(f"id: t\nname: T\ninputs:\n  {begun}\n")
    assert problem.fixes == ()


def test_a_dash_that_one_of_several_lines_has_is_no_part_of_an_item() -> None:
    right = f"{TASK}tags:\n  - basic\n  - slow\n"
    [problem] = problems(text := right.replace("- basic", "basic"))
    assert apply(text, problem.fixes[0].edits) == right


def test_a_list_below_a_key_without_colon_is_no_part_of_the_text_above() -> None:
    right = "id: t\nname: T\ndescription: |\n  words\ntags:\n  - basic\n  - slow\ninputs:\n  prompt: Go\n"
    [problem] = problems(text := right.replace("tags:", "tags"))
    assert text[problem.span.start : problem.span.end] == "tags"
    assert apply(text, problem.fixes[0].edits) == right


@pytest.mark.parametrize("line_break", ["\n", "\r\n"])
@pytest.mark.parametrize("column", [0, 1, 2])
def test_a_text_between_three_quotes_that_stands_too_far_to_the_left(column: int, line_break: str) -> None:
    quotes, lead = '"' * 3, " " * column
    head, rest = "id: t\nname: T\ninputs:\n  prompt: ", "  context: {a: b}\n"
    right = f"{head}|\n    Go: to it\n\n      - and on\n{rest}".replace("\n", line_break)
    text = f"{head}{quotes}\n{lead}Go: to it\n\n{lead}  - and on\n{lead}{quotes}\n{rest}".replace(
        "\n", line_break
    )
    [problem] = problems(text)
    assert text[problem.span.start : problem.span.end] == "prompt"
    assert apply(text, problem.fixes[0].edits) == right


@pytest.mark.parametrize("line_break", ["\n", "\r\n"])
@pytest.mark.parametrize("between", ["", " "])
def test_a_text_that_begins_behind_the_sign_of_its_block(between: str, line_break: str) -> None:
    right = TASK.replace("Go", "|\n    Go: to it\n    and on").replace("\n", line_break)
    [problem] = problems(text := right.replace(f"|{line_break}    Go", f"|{between}Go"))
    assert problem.message == "The text of a block begins on the line below its `|`; move it there."
    assert apply(text, problem.fixes[0].edits) == right


def test_a_single_line_behind_the_sign_of_a_block_may_be_meant_with_it() -> None:
    [problem] = problems(TASK.replace("Go", ">Go"))
    assert [fix.title for fix in problem.fixes] == ["Put the value in quotes"]


@pytest.mark.parametrize("column", [2, 4])
def test_a_text_between_three_quotes_is_a_block(column: int) -> None:
    quotes = '"' * 3
    right = "id: t\nname: T\ninputs:\n  prompt: |\n    Go: to it\n\n    and on\n  context: {a: b}\n"
    text = right.replace("|", quotes).replace("on\n", f"on\n{' ' * column}{quotes}\n")
    [problem] = problems(text)
    assert text[problem.span.start : problem.span.end] == "prompt"
    assert apply(text, problem.fixes[0].edits) == right


def test_a_text_between_three_quotes_on_one_line() -> None:
    [problem] = problems(text := TASK.replace("Go", '"""Go: on"""'))
    assert apply(text, problem.fixes[0].edits) == TASK.replace("Go", '"Go: on"')


def test_a_line_of_markdown_above_the_mark_of_a_document_goes() -> None:
    text = f"```yaml\n---\n{TASK}"
    assert apply(text, problems(text)[0].fixes[0].edits) == f"---\n{TASK}"
