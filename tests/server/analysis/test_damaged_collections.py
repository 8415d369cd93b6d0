"""Brackets, merges and tags that are read, and otherwise than they were meant."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.server.analysis.drawing import EVAL, TASK, graders, problems
from waza_engine.spec.problems import SuiteFileError
from waza_engine.spec.reading.yaml_reader import parse_yaml
from waza_language_server.project.document import DocumentKind
from waza_language_server.syntax.tried_edits import apply

USUAL = "- &usual {type: text, name: a, config: {contains: [b]}}\n"
OPTIONS = "mode: any_order\n    required_skills: [s]\n    allow_extra: !false\n"
SWITCH = f"- type: skill_invocation\n  name: a\n  config:\n    {OPTIONS}"


def repaired(text: str, kind: DocumentKind = "task") -> tuple[str, str, str]:
    """Return what is marked of a text with one problem, its code, and the text after its first fix."""
    [problem] = problems(text, kind)
    assert not problem.fixes[0].preferred
    after = apply(text, problem.fixes[0].edits)
    return text[problem.span.start : problem.span.end], problem.code, after


@pytest.mark.parametrize(
    ("written", "marked", "meant"),
    [
        ("tags: [x; y]", "x; y", "tags: [x, y]"),
        (
            "expected: {output_contains: [a.pdf; b.pdf;c]}",
            "a.pdf; b.pdf;c",
            "expected: {output_contains: [a.pdf, b.pdf, c]}",
        ),
        ("metadata: {db=postgres, a: b}", "db=postgres", "metadata: {db: postgres, a: b}"),
    ],
)
def test_signs_in_brackets_that_part_nothing(written: str, marked: str, meant: str) -> None:
    assert repaired(f"{TASK}{written}\n") == (marked, "unlikely-value", f"{TASK}{meant}\n")


def test_a_variable_whose_value_touches_its_colon() -> None:
    text = f'{TASK}  environment: {{DEBUG:"1"}}\n'
    assert repaired(text) == ('DEBUG:"1"', "unlikely-value", text.replace('DEBUG:"', 'DEBUG: "'))


@pytest.mark.parametrize(
    "written",
    [
        "tags: [x;y]",
        "tags:\n  - x; y",
        "tags: ['x; y']",
        "tags: [x; y, z]",
        "expected: {output_contains: [let a; let b]}",
        "expected: {output_contains: [return x;]}",
        "metadata: {'a=b', c: d}",
        "metadata: {a=b: c, d: e=f}",
        "metadata:\n  a=b:",
        "metadata: {a==b, =c, d=}",
    ],
)
def test_signs_that_may_be_meant(written: str) -> None:
    assert problems(f"{TASK}{written}\n") == ()


@pytest.mark.parametrize(
    ("written", "meant", "marked"),
    [
        ("<<: (*usual)", "<<: *usual", "(*usual)"),
        ("<<: (*usual, *usual)", "<<: [*usual, *usual]", "(*usual, *usual)"),
        ("<: *usual", "<<: *usual", "<"),
        ("<<<: *usual", "<<: *usual", "<<<"),
    ],
)
def test_a_merge_that_takes_over_nothing(written: str, meant: str, marked: str) -> None:
    text = graders(f"{USUAL}- name: c\n  {written}\n")
    assert repaired(text) == (marked, "yaml-syntax", text.replace(written, meant))


@pytest.mark.parametrize("written", ["base", "no base", "3", "'x'"])
def test_a_merge_of_a_text_is_refused_as_a_run_does(written: str) -> None:
    text = graders(f"- name: c\n  type: text\n  <<: {written}\n  config: {{contains: [b]}}\n")
    [problem] = problems(text)
    assert (problem.severity, text[problem.span.start : problem.span.end]) == ("error", written)
    with pytest.raises(SuiteFileError, match="`<<` needs a block"):
        parse_yaml(text, Path("t.yaml"))


@pytest.mark.parametrize("written", ["*usual", "[*usual]", "{weight: 2}"])
def test_a_merge_of_blocks_is_fine(written: str) -> None:
    assert (
        problems(graders(f"{USUAL}- name: c\n  <<: {written}\n  type: text\n  config: {{contains: [b]}}\n"))
        == ()
    )


def test_words_with_such_signs_in_a_text_are_none() -> None:
    assert problems(f"{TASK}description: |\n  <<: (*usual)\n  <: *x\ntags: ['<: *x', \"<<: y\"]\n") == ()


def test_a_switch_that_is_a_tag_is_told_once() -> None:
    text = graders(SWITCH)
    [problem] = problems(text)
    assert text[problem.span.start : problem.span.end] == "!false"
    assert (
        problem.message
        == "`allow_extra` must be `true` or `false`; `!false` is a tag for YAML, and no value."
    )
    assert [apply(text, fix.edits) for fix in problem.fixes] == [
        text.replace("!false", each) for each in ("true", "false")
    ]


def test_what_stands_for_a_value_is_not_made_a_list_unasked() -> None:
    text = graders(SWITCH.replace("    allow_extra: !false\n", "").replace("[s]", "<skill>"))
    [problem] = problems(text)
    assert [fix.preferred for fix in problem.fixes] == [False]


@pytest.mark.parametrize(
    ("broken", "meant"),
    [('description: "|\n  a\n  b\n', "description: |\n  a\n  b\n"), ("hint: '>-\n  a\n", "hint: >-\n  a\n")],
)
def test_a_quote_in_front_of_the_sign_of_a_block(broken: str, meant: str) -> None:
    text = f"id: t\nname: T\n{broken}inputs:\n  prompt: Go\n"
    [problem] = [each for each in problems(text) if each.severity == "error"]
    assert apply(text, problem.fixes[0].edits) == text.replace(broken, meant)


def test_a_limit_where_a_number_is_due() -> None:
    [problem] = problems(EVAL.replace("timeout_seconds: 60", "timeout_seconds: >120"), "eval")
    assert [(fix.title, fix.preferred) for fix in problem.fixes] == [
        ("Write `120`", False),
        ("Put the value in quotes", False),
    ]


def test_a_version_with_one_quote() -> None:
    text = EVAL.replace("skill: demo", 'skill: demo\nversion: 1.0"')
    assert repaired(text, "eval") == ('1.0"', "unlikely-value", text.replace('1.0"', '"1.0"'))


def test_keys_below_the_end_of_the_front_matter() -> None:
    text = "---\nname: s\n---\ndescription: Does things.\nlicense: MIT\n---\n# S\n"
    found = [each for each in problems(text, "skill") if each.code != "skill-name"]
    [problem] = found
    assert (
        problem.message
        == "The frontmatter ends above `description`, so that is text; delete the `---` there."
    )
    assert apply(text, problem.fixes[0].edits) == text.replace("s\n---\n", "s\n")


@pytest.mark.parametrize(
    "body", ["# S\nlicense: MIT\n---\n", "Note: this\n---\n", "license: MIT\n", "\nlicense: a\n---\n"]
)
def test_a_text_below_the_front_matter_may_have_lines(body: str) -> None:
    text = f"---\nname: s\ndescription: Does things.\n---\n{body}"
    assert not [each for each in problems(text, "skill") if each.code == "skill-frontmatter"]
