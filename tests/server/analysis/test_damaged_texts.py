"""Plain texts that YAML reads otherwise than they were meant, by a sign at their end or beginning."""

from __future__ import annotations

import pytest

from tests.server.analysis.drawing import EVAL, TASK, drawn, graders, problems
from waza_language_server.syntax.tried_edits import apply

CHECK = "- type: text\n  name: a\n  config:\n    contains:\n"
TOOLS = "- type: behavior\n  name: a\n  config:\n    required_tools:\n"


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        (f"{CHECK}    - v2.0'\n", f"{CHECK}    - 'v2.0'\n"),
        (f'{CHECK}    - "a"\n    - done" # so\n', f'{CHECK}    - "a"\n    - "done" # so\n'),
        (
            "- type: text\n  name: a\n  config: {contains: ['x', all done']}\n",
            "- type: text\n  name: a\n  config: {contains: ['x', 'all done']}\n",
        ),
        (f'{CHECK}    - \\"all done\\"\n', f'{CHECK}    - "all done"\n'),
        (f"{TOOLS}    - view,\n", f"{TOOLS}    - view\n"),
        (
            f"{TOOLS}    - view,   # a\n    - edit,\n    - bash\n",
            f"{TOOLS}    - view   # a\n    - edit\n    - bash\n",
        ),
        (f"{CHECK}    - one,\n    - two,\n    - x\n", f"{CHECK}    - one\n    - two\n    - x\n"),
    ],
)
def test_a_sign_at_the_end_that_belongs_to_no_text(written: str, meant: str) -> None:
    text = graders(written)
    [problem] = problems(text)
    assert (problem.code, problem.severity) == ("unlikely-value", "warning")
    [fix] = problem.fixes
    assert not fix.preferred
    assert apply(text, fix.edits) == graders(meant)


@pytest.mark.parametrize("line_break", ["\n", "\r\n"])
@pytest.mark.parametrize(
    ("line", "meant"),
    [
        ("  prompt: Fix #1 and that", "  prompt: 'Fix #1 and that'"),
        ("  prompt: It's in \\a #12", "  prompt: 'It''s in \\a #12'"),
        ("  prompt: Post it as #news", "  prompt: 'Post it as #news'"),
    ],
)
def test_a_text_that_a_comment_cuts_off(line: str, meant: str, line_break: str) -> None:
    text = TASK.replace("  prompt: Go", line).replace("\n", line_break)
    [problem] = problems(text)
    assert problem.code == "unlikely-value"
    assert text[problem.span.start] == "#"
    assert apply(text, problem.fixes[0].edits) == text.replace(line, meant)


@pytest.mark.parametrize("line", ["  prompt: Fix it  #1", "  prompt: Fix it  #later"])
def test_a_comment_behind_two_blanks(line: str) -> None:
    assert not problems(TASK.replace("  prompt: Go", line))


@pytest.mark.parametrize(("sign", "meant"), [("I", "|"), ("l", "|"), ("->", ">-")])
def test_a_letter_for_the_sign_of_a_block(sign: str, meant: str) -> None:
    text = f"id: t\nname: T\ninputs:\n  prompt: {sign}\n    Read this.\n    Write that.\n"
    [problem] = problems(text)
    assert text[problem.span.start : problem.span.end] == sign
    assert apply(text, problem.fixes[0].edits) == text.replace(f": {sign}\n", f": {meant}\n")


def test_where_the_sign_is_marked() -> None:
    text = drawn(graders(f"{TOOLS}    - view,\n    - bash,\n"))
    assert "\n    - view,\n          ^ warning unlikely-value: The comma is a part of `view,`;" in text


@pytest.mark.parametrize(
    "written",
    [
        f"{CHECK}    - the users'\n    - a 24\"\n    - say \"hi\"\n    - n for 'no'\n",
        f"{CHECK}    - Dear all,\n    - done\n    - ok\n",
        f"{CHECK}    - C# #1\n".replace(" #1", "#1"),
        f"{CHECK}    - a # 1 comment\n    - b #comment\n",
        f"{TOOLS}    - view #1 before the next\n",
        f"{CHECK}    - I am\n      here\n",
        f'{CHECK}    - href="\n    - print(f"\n    - key="value\n',
        f"{CHECK}    - import React from '\n    - require('\n    - WHERE a = '\n",
        f"{CHECK}    - a door of 7'\n    - O'\n    - runnin'\n",
        f"{CHECK}    - break;\n    - continue;\n",
        f"{CHECK}    - using System;\n    - using System.Linq;\n    - int x\n",
        f"{CHECK}    - Dear Ana,\n    - Kind regards,\n",
        f"{CHECK}    - first  #1\n    - second\t #2\n",
    ],
)
def test_what_may_well_be_meant(written: str) -> None:
    assert not problems(graders(written))


@pytest.mark.parametrize(
    ("written", "marked", "meant"),
    [
        ('context_dir: "fixtures\\big"', "\\b", 'context_dir: "fixtures/big"'),
        ('context_dir: "fixtures\\\\a\\top"', "\\t", 'context_dir: "fixtures/a/top"'),
    ],
)
def test_a_backslash_in_a_path_that_makes_a_sign_of_a_letter(written: str, marked: str, meant: str) -> None:
    text = f"{TASK}{written}\n"
    [problem] = problems(text)
    assert (problem.code, text[problem.span.start : problem.span.end]) == ("yaml-escape", marked)
    assert apply(text, problem.fixes[0].edits) == f"{TASK}{meant}\n"


@pytest.mark.parametrize("written", ['description: "a\\new.txt"', 'context_dir: "fixtures\\\\big"'])
def test_escapes_that_stand_where_they_may(written: str) -> None:
    assert "yaml-escape" not in {problem.code for problem in problems(f"{TASK}{written}\n")}


def test_a_list_within_what_people_read_is_information() -> None:
    text = graders(
        "- type: human\n  name: a\n  config:\n    criteria:\n"
        "      - Clear structure\n        - headings\n      - Correct\n"
    )
    [problem] = [problem for problem in problems(text) if problem.code == "yaml-indentation"]
    assert problem.severity == "information"


@pytest.mark.parametrize(
    ("written", "right"),
    [
        ("gpt-4o // best", "gpt-4o # best"),
        ("gpt-4o /* best */", "gpt-4o # best"),
        ("gpt-4o (latest)", "gpt-4o # (latest)"),
        ("gpt-4o -- the cheap one", "gpt-4o # the cheap one"),
        ("gpt-4o \\", "gpt-4o"),
    ],
)
def test_a_note_behind_the_name_of_a_model(written: str, right: str) -> None:
    (problem,) = problems(text := EVAL.replace("model: m\n", f"model: {written}\n"), "eval")
    assert problem.code == "unlikely-value"
    assert apply(text, problem.fixes[0].edits) == EVAL.replace("model: m\n", f"model: {right}\n")


@pytest.mark.parametrize("between", [" | ", ", ", "; ", " or "])
def test_several_models_for_one(between: str) -> None:
    (problem,) = problems(text := EVAL.replace("model: m\n", f"model: m{between}gpt-4o\n"), "eval")
    assert text[problem.span.start : problem.span.end] == f"m{between}gpt-4o"
    assert apply(text, problem.fixes[0].edits) == EVAL
    assert [fix.title for fix in problem.fixes] == ["Change to `m`", "Change to `gpt-4o`"]


def test_a_semicolon_behind_the_type_of_an_outcome() -> None:
    meant = f"{TASK}expected:\n  outcomes:\n    - type: task_completed\n"
    [problem] = problems(text := meant.replace("completed", "completed;"))
    assert apply(text, problem.fixes[0].edits) == meant


@pytest.mark.parametrize(
    "row",
    [
        "name: Orders (edge case)",
        "name: Orders -- a -- b",
        "description: Orders // see there",
        "id: orders//2",
        "tags: [a // b]",
    ],
)
def test_names_in_words_have_no_notes_behind_them(row: str) -> None:
    text = TASK.replace("name: T", row) if row.startswith("name") else f"{TASK}{row}\n"
    text = text.replace("id: t\n", "") if row.startswith("id") else text
    assert problems(text) == ()


@pytest.mark.parametrize(
    ("key", "written", "safe", "after"),
    [
        ("regex_match", r'["\bdone\b"]', [True], r"['\bdone\b']"),
        ("regex_match", r"""["it's \"a\" \\s\b"]""", [True], r"""['it''s "a" \s\b']"""),
        ("contains", r'["C:\bin"]', [False], r"['C:\bin']"),
        ("regex_match", '["a\\b\n        c"]', [], None),
        ("regex_match", r'["\\bdone", "\x08", "\n"]', None, None),
    ],
)
def test_a_backspace_that_is_meant_as_the_edge_of_a_word(
    key: str, written: str, safe: list[bool] | None, after: str | None
) -> None:
    text = graders(f"  - type: text\n    name: a\n    config:\n      {key}: {written}\n")
    found = [problem for problem in problems(text) if problem.code == "yaml-escape"]
    assert [[fix.preferred for fix in problem.fixes] for problem in found] == (
        [safe] if safe is not None else []
    )
    if after is not None:
        assert apply(text, found[0].fixes[0].edits) == text.replace(written, after)
