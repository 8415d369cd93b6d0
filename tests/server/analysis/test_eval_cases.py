"""``evals.json`` and trigger lists: every mistake at its characters, and fixes that keep every other byte."""

import json
from pathlib import Path

import pytest

from tests.server.analysis.drawing import fixed, problems, problems_in
from tests.server.project.files import put
from waza_language_server.analysis.problem import Problem
from waza_language_server.project.document import DocumentKind
from waza_language_server.syntax.tried_edits import apply

TRIGGER = '[{"query": "a", "should_trigger": true}]'
SKILL = "---\nname: csv\ndescription: Charts of CSV files.\n---\n"


def case(text: str) -> str:
    """Return an ``evals.json`` with one case that has these further entries."""
    return (
        '{\n  "skill_name": "csv",\n  "evals": [\n    {"id": 1, "prompt": "Sum a.csv", '
        + text
        + "}\n  ]\n}\n"
    )


def evals(*cases: str) -> str:
    """Return an ``evals.json`` with these cases on one line."""
    return '{"skill_name": "s", "evals": [' + ", ".join(cases) + "]}"


def marked(text: str, kind: DocumentKind = "evals_json") -> list[tuple[str, str, str]]:
    """Return severity, code and characters of each problem."""
    found = problems(text, kind)
    return [(each.severity, each.code, text[each.span.start : each.span.end]) for each in found]


def found_in(folder: Path, text: str) -> tuple[Problem, ...]:
    """Return the problems of a file in the ``evals`` folder of a skill."""
    put(folder, "csv/SKILL.md", SKILL)
    return problems_in(folder, "csv/evals/evals.json", text, "evals_json")


@pytest.mark.parametrize(
    "text",
    [
        case('"expected_output": "A sum."'),
        case('"assertions": ["It names the total."]'),
        case('"expectations": ["It names the total."], "files": []'),
        case('"assertions": [], "expected_output": "A sum.", "name": "sum", "tags": ["smoke"]'),
        case('"assertions": [{"type": "content", "pattern": "(?i)total"}, {"description": "It is short."}]'),
        case('"assertions": [{"name": "a", "type": "file_exists", "path": "out/a.md"}]'),
        case('"expected_output": "\\ud83d\\ude00 \\/ \\u00e9"'),
        case('"expected_output": "x"').replace(
            "{", '{"schema_version": "1", "metadata": {"any": [1, null]},', 1
        ),
    ],
)
def test_the_forms_in_use_have_no_problem(text: str) -> None:
    json.loads(text)
    assert problems(text, "evals_json") == ()


@pytest.mark.parametrize(
    "text",
    [
        '[{"query": "Chart this", "should_trigger": true}]',
        '{"evals": [{"prompt": "Chart this", "should_trigger": false, "note": "n"}]}',
        '{"skill_name": "csv", "evals": [{"prompt": "Chart this", "should_trigger": true}]}',
    ],
)
def test_both_forms_of_trigger_lists_have_no_problem(text: str) -> None:
    assert problems(text, "trigger_list") == ()


def test_mistakes_in_one_file_are_marked_at_their_characters() -> None:
    text = """\
{
  "skill": "csv",
  "evals": [
    {"id": 1, "promt": "Sum", "expected_output": "x", "owner": "me"},
    {"id": 1, "prompt": "Sum", "assertions": "It sums.", "files": [7, {"path": "/a", "content": ""}]},
    {"id": "", "prompt": "Name the total of it", "expectations": [
      {"type": "content", "pattern": "tot(al"},
      {"type": "contnet", "pattern": "x"},
      {"type": "file_exists"},
      {"type": "content", "pattern": "tot.l"},
      ""
    ]},
    {"id": 4, "prompt": "Sum"},
    "five"
  ]
}
"""
    assert marked(text) == [
        ("error", "unknown-key", '"skill"'),
        ("error", "unknown-key", '"promt"'),
        ("information", "unknown-key", '"owner"'),
        ("warning", "duplicate-task-id", "1"),
        ("error", "wrong-type", '"It sums."'),
        ("error", "wrong-form", '"/a"'),
        ("error", "wrong-form", '""'),
        ("warning", "invalid-pattern", "("),
        ("error", "value-not-allowed", '"contnet"'),
        ("error", "nothing-checked", '"file_exists"'),
        ("information", "answer-in-prompt", '"tot.l"'),
        ("error", "wrong-form", '""'),
        ("error", "nothing-checked", '"id"'),
        ("error", "wrong-type", '"five"'),
    ]


@pytest.mark.parametrize(
    ("text", "code", "after"),
    [
        (case('"assertion": ["x"]'), "unknown-key", case('"assertions": ["x"]')),
        (case('"assertions": "x"'), "wrong-type", case('"assertions": ["x"]')),
        (
            case('"assertions": [{"type": "contnet", "pattern": "x"}]'),
            "value-not-allowed",
            case('"assertions": [{"type": "content", "pattern": "x"}]'),
        ),
        (case('"files": []'), "nothing-checked", None),
        (
            '[\n\t{"query": "a"},\n\t{"query": "b", "should_trigger": true}\n]',
            "missing-key",
            '[\n\t{"query": "a", "should_trigger": true},\n\t{"query": "b", "should_trigger": true}\n]',
        ),
        (
            '[{"query": "a", "should_trigger": "false"}]',
            "wrong-type",
            '[{"query": "a", "should_trigger": false}]',
        ),
        (
            '[{"question": "a", "should_trigger": true}]',
            "unknown-key",
            '[{"query": "a", "should_trigger": true}]',
        ),
    ],
)
def test_a_fix_keeps_every_other_byte(text: str, code: str, after: str | None) -> None:
    kind: DocumentKind = "trigger_list" if text.startswith("[") else "evals_json"
    repaired = fixed(text, code, kind)
    json.loads(repaired)
    assert code not in {problem.code for problem in problems(repaired, kind)}
    if after is not None:
        assert repaired == after


def test_a_backspace_for_the_edge_of_a_word_is_doubled() -> None:
    text = case(r'"assertions": [{"type": "content", "pattern": "\bsum\\b"}]')
    (problem,) = problems(text, "evals_json")
    assert problem.message == r"`\b` in double quotes is a backspace, not a word boundary; write `\\b`."
    assert apply(text, problem.fixes[0].edits) == text.replace(r"\bsum", r"\\bsum")


def test_a_missing_key_is_inserted_on_a_line_of_its_own() -> None:
    lines = ["{", '\t"skill_name": "csv",', '\t"evals": [', "\t\t{", '\t\t\t"id": 1,']
    lines += ['\t\t\t"expected_output": "\\ud83d\\ude00"', "\t\t}", "\t]", "}"]
    repaired = fixed("\r\n".join(lines), "missing-key", "evals_json")
    lines[5:6] = [lines[5] + ",", '\t\t\t"prompt": "Summarize orders.csv as a chart."']
    assert repaired == "\r\n".join(lines)


def test_no_fix_of_any_problem_makes_the_text_worse() -> None:
    text = case(
        '"expected_output": 7, "files": "a", "assertions": [{"type": "x", "pattern": "("}, ""], "tag": "a"'
    )
    for problem in problems(text, "evals_json"):
        for fix in problem.fixes:
            if fix.edits:
                json.loads(apply(text, fix.edits))


def test_files_are_found_in_the_folder_of_the_skill_and_of_the_file(tmp_path: Path) -> None:
    for name in ("csv/evals/files/a.csv", "csv/evals/files/c.csv", "csv/assets/b.csv"):
        put(tmp_path, name, "x")
    for right in (
        '["evals/files/a.csv", "assets/b.csv"]',
        '["files/a.csv"]',
        '["files"]',
        '["files/a.csv", "files/c.csv"]',
    ):
        assert found_in(tmp_path, case(f'"files": {right}, "expected_output": "x"')) == ()
    # A run takes the files of a case from one of the two.
    (problem,) = found_in(
        tmp_path, case('"files": ["files/aa.csv", "files/a.csv", "files/c.csv"], "expected_output": "x"')
    )
    assert (problem.code, problem.severity) == ("missing-file", "error")
    assert problem.message == "There is no file `files/aa.csv` in `evals`; the case is in error."
    assert [fix.title for fix in problem.fixes] == ["Change to `files/a.csv`"]
    inline = '"files": [{"path": "c.csv", "content": "x"}], "expected_output": "x"'
    assert found_in(tmp_path, case(inline)) == ()


def test_the_skill_is_the_one_around_the_file(tmp_path: Path) -> None:
    text = case('"expected_output": "x"').replace('"csv"', '"cvs"')
    (problem,) = found_in(tmp_path, text)
    assert problem.code == "skill-not-found"
    assert apply(text, problem.fixes[0].edits) == case('"expected_output": "x"')


def test_two_cases_with_one_id() -> None:
    text = evals(*(f'{{"id": {name}, "prompt": "a", "expected_output": "b"}}' for name in ("1", '"1"', "2")))
    assert marked(text) == [("warning", "duplicate-task-id", '"1"')]


def test_one_prompt_that_must_and_must_not_trigger() -> None:
    text = '[{"query": "A  b", "should_trigger": true}, {"prompt": "a b", "should_trigger": false}]'
    assert marked(text, "trigger_list") == [("warning", "prompt-on-both-sides", '"a b"')]


@pytest.mark.parametrize(
    ("assertion", "given"),
    [
        ('{"type": "content", "pattern": "(?i)total"}', '"(?i)total"'),
        ('"names the TOTAL."', '"names the TOTAL."'),
        ('{"type": "must_not", "pattern": "total"}', None),
        ('{"type": "content", "pattern": "total", "path": "a.md"}', None),
        ('{"type": "content", "pattern": "total: \\\\d+"}', None),
        ('"the total"', None),
        ('"It names the total of all rows."', None),
    ],
)
def test_an_assertion_that_the_prompt_gives_away(assertion: str, given: str | None) -> None:
    text = evals(f'{{"id": 1, "prompt": "Say what names the total", "assertions": [{assertion}]}}')
    assert marked(text) == ([("information", "answer-in-prompt", given)] if given else [])


def test_a_broken_case_hides_no_problem_of_another() -> None:
    text = evals(
        '{"id": 1, "prompt": "a" "expected_output": "b"}', '{"id": 2, "promt": "a", "expected_output": "b"}'
    )
    assert [code for _, code, _ in marked(text)] == ["json-syntax", "unknown-key"]
