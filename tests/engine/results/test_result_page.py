"""The page of a run that people read to know why."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.engine.suites import recorded, run, task, write_suite
from tests.live.bed import recorded_bed
from waza_engine.commands.result_page import changed_page, recorded_page
from waza_engine.graders.base import GradingContext
from waza_engine.results.conclusion import conclude
from waza_engine.results.record import TrialOutcome
from waza_engine.results.reports.result_page import LEGEND, marked_answer, result_page
from waza_engine.runs.grading.graders import build_graders, grade_here
from waza_engine.spec.grader_entry import GraderEntry
from waza_engine.terminal import visible_lines

GRADERS = """\
- type: text
  name: polite
  config:
    contains: [Say hello, goodbye]
"""
JUDGE = "- {type: prompt, name: kind, config: {prompt: Was it kind?}}\n"


def page(directory: Path, tasks: dict[str, str]) -> str:
    path = write_suite(directory, tasks, graders=GRADERS)
    run(path)
    return recorded_page(path, None)["markdown"]


def test_it_tells_the_verdict_the_prompt_the_answer_and_why(tmp_path: Path) -> None:
    text = page(tmp_path, {"a": task("a")})
    assert "0 of 1 task passed, 1 failed" in text
    assert "## ✗ `Task a`: failed" in text
    assert "not passed: polite" in text
    assert "#### Prompt\n\n```text\nSay hello\n```" in text
    assert "#### Answer\n\n```marked-2\nMock response for: Say hello" in text
    assert "Executor: `mock`" in text


def test_why_nobody_could_grade_is_told_once(tmp_path: Path) -> None:
    path = write_suite(tmp_path, {"a": task("a")}, graders=JUDGE)
    outcome = run(path)[0].outcome
    found = conclude(outcome)
    assert found.words.startswith("could not grade: kind: the executor `mock` has no model that could judge;")
    head, _, _ = result_page(outcome.header, found).partition("#### Answer")
    assert head.count("has no model that could judge") == 1


def test_a_task_that_was_cut_off_has_passed_so_far_alone(tmp_path: Path) -> None:
    path = write_suite(tmp_path, {"a": task("a")}, graders=GRADERS.replace("goodbye", "Say"))
    outcome = run(path)[0].outcome
    cut = replace(
        outcome, tasks=(replace(outcome.tasks[0], error="the run was cancelled; 1 of 3 trials ran"),)
    )
    text = result_page(cut.header, conclude(cut))
    assert "## ✓ `Task a`: passed so far\n\nthe run was cancelled; 1 of 3 trials ran\n" in text
    assert "## ✓ `Task a`: passed\n" in result_page(outcome.header, conclude(outcome))
    assert "1 of 1 task passed so far\n" in result_page(cut.header, conclude(cut), goes_on=True)


def test_matches_are_marked_where_the_answer_has_them_and_misses_say_so(tmp_path: Path) -> None:
    rows = [line for line in page(tmp_path, {"a": task("a")}).splitlines() if line.startswith(("- ✓", "- ✗"))]
    assert rows[0].startswith("- ✓ `contains.0: Say hello` · line 1: ")
    assert "⟦Say hello⟧" in rows[0]
    assert rows[1].startswith("- ✗ `contains.1: goodbye` · ")
    assert "missing text" in rows[1]


RULES = """\
- {type: code, name: short, config: {assertions: ["len(output) < 3", "'hello' in output"]}}
- {type: code, name: older, assertions: ["len(output) > 0"]}
- {type: behavior, name: thrifty, config: {max_tool_calls: 4}}
- {type: tool_calls, name: calm, config: {max_calls: 2}}
- {type: tool_constraint, name: bounded, config: {allow_only: [bash, view], max_turns: 7}}
- {type: json_schema, name: shaped, config: {extract_json: true, schema: {type: object}}}
"""


def test_each_row_says_what_was_judged(tmp_path: Path) -> None:
    expected = "expected: {output_contains: [goodbye], output_contains_any: [no, nay]}\n"
    path = write_suite(tmp_path, {"a": task("a", expected, prompt="'{}'")}, graders=RULES)
    run(path)
    text = recorded_page(path, None)["markdown"]
    rules = [
        line[4:].split(" · ")[0].strip("`") for line in text.splitlines() if line.startswith(("- ✓", "- ✗"))
    ]
    assert sorted(rules) == [
        'allow_only: ["bash", "view"]',
        "assertions.0: len(output) < 3",
        "assertions.0: len(output) > 0",
        "assertions.1: 'hello' in output",
        "max_calls: 2",
        "max_tool_calls: 4",
        "max_turns: 7",
        "output_contains.0: goodbye",
        'output_contains_any: ["no", "nay"]',
        'schema: {"type": "object"}',
    ]


def test_a_long_schema_is_told_by_its_beginning(tmp_path: Path) -> None:
    names = ", ".join(f"name{index}" for index in range(1_000))
    config = f"{{extract_json: true, schema: {{required: [{names}]}}}}"
    grader = f"- {{type: json_schema, name: shaped, config: {config}}}\n"
    path = write_suite(tmp_path, {"a": task("a", prompt="'{}'")}, graders=grader)
    run(path)
    (row,) = (line for line in recorded_page(path, None)["markdown"].splitlines() if line.startswith("- ✗"))
    assert 'schema: {"required": ["name0", "name1"' in row
    assert "name999" not in row


def test_the_cause_of_a_red_task_names_its_graders_in_code(tmp_path: Path) -> None:
    text = page(tmp_path, {"a": task("a")})
    assert "`mock` answered instead of an agent with the skill; `polite` found the answer wrong." in text


def test_tasks_with_an_answer_are_named(tmp_path: Path) -> None:
    path = write_suite(tmp_path, {"a": task("a"), "b": task("b")}, graders=GRADERS)
    run(path)
    assert recorded_page(path, None)["answered"] == [
        {"id": "a", "name": "Task a"},
        {"id": "b", "name": "Task b"},
    ]
    alone = recorded_page(path, "b")
    assert alone["answered"] == [{"id": "b", "name": "Task b"}]
    assert "Task b" in alone["markdown"]
    assert "`Task a`" not in alone["markdown"]


def test_a_task_that_the_newest_run_left_out_is_found_in_an_older_one(tmp_path: Path) -> None:
    path = write_suite(tmp_path, {"a": task("a"), "b": task("b")}, graders=GRADERS)
    run(path)
    run(path, tasks=("b",))
    assert "## ✗ `Task a`" in recorded_page(path, "a")["markdown"]


def test_what_did_not_pass_is_shown_of_a_run_that_is_too_long_for_its_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tasks = {name: task(name, prompt=name * 3_000) for name in ("a", "b")} | {"c": task("c")}
    path = write_suite(tmp_path, tasks, graders="- {type: text, name: no, config: {not_contains: [Say]}}\n")
    outcome = run(path)[0].outcome
    monkeypatch.setattr("waza_engine.results.reports.result_page.LONGEST_CHARACTERS", 5_000)
    text = result_page(outcome.header, conclude(outcome))
    assert [line for line in text.splitlines() if line.startswith("## ")] == [
        "## ✗ `Task c`: failed",
        "## ✓ `Task a`: passed",
    ]
    assert "\nFor its length this page leaves out 1 of 3 tasks; the result file has all.\n" in text


def test_of_a_task_that_is_too_long_for_the_page_the_trials_that_failed_are_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    outcome = run(write_suite(tmp_path, {"a": task("a")}, graders=GRADERS))[0].outcome
    (failed,) = outcome.tasks[0].trials
    trials = tuple(
        replace(failed, number=number, output="x" * 4_000, status="failed" if number > 2 else "passed")
        for number in (1, 2, 3)
    )
    long = replace(outcome, tasks=(replace(outcome.tasks[0], trials=trials),))
    monkeypatch.setattr("waza_engine.results.reports.result_page.LONGEST_CHARACTERS", 10_000)
    text = result_page(long.header, conclude(long))
    assert [line for line in text.splitlines() if line.startswith("### ")] == [
        "### Trial 1: passed",
        "### Trial 3: failed",
    ]
    assert "\nFor its length this page leaves out 1 of 3 trials; the result file has all.\n" in text


def test_a_long_answer_is_cut_and_control_characters_are_shown(tmp_path: Path) -> None:
    text = page(tmp_path, {"a": task("a", prompt="x" * 50_000), "b": task("b", prompt='"a\\e[31mb"')})
    assert "more characters)" in text
    assert len(text) < 120_000
    assert "\x1b" not in text


@pytest.mark.parametrize(
    ("reason", "word"),
    [
        ("the run was cancelled; what was finished is kept", "cancelled"),
        ("the run was interrupted; what was finished is kept", "interrupted"),
        ("", "interrupted"),
    ],
)
def test_a_run_that_a_person_has_ended_was_cancelled(tmp_path: Path, reason: str, word: str) -> None:
    outcome = run(write_suite(tmp_path, {"a": task("a")}, graders=GRADERS))[0].outcome
    ended = conclude(replace(outcome, status="canceled", message=reason))
    assert result_page(outcome.header, ended).startswith(f"# `suite`: {word}\n")


def test_what_did_not_pass_stands_first_tasks_and_graders_alike(tmp_path: Path) -> None:
    graders = """\
- {type: text, name: says, config: {contains: [Say]}}
- {type: text, name: waves, config: {contains: [bye]}}
"""
    tasks = {name: task(name, prompt=f"Say {word}") for name, word in (("a", "bye"), ("b", "hello"))}
    path = write_suite(tmp_path, tasks, graders=graders)
    run(path)
    answer = recorded_page(path, None)
    assert [each["id"] for each in answer["tasks"]] == ["b", "a"]
    told = [line for line in answer["markdown"].splitlines() if line.startswith(("## ", "**✓", "**✗"))]
    marks = [line.strip("#* ")[0] for line in told]
    assert marks == ["✗", "✗", "✓", "✓", "✓", "✓"]


def test_a_pattern_with_a_bar_is_told_as_it_is_written(tmp_path: Path) -> None:
    graders = "- {type: text, name: says, config: {regex_match: ['a\\|b|q', 'x`y|z']}}\n"
    path = write_suite(tmp_path, {"a": task("a")}, graders=graders)
    run(path)
    text = recorded_page(path, None)["markdown"]
    assert "- ✗ `regex_match.0: a\\|b|q` · " in text
    assert "- ✗ ``regex_match.1: x`y|z`` · " in text


# --- marks below the lines of an answer ---


ANSWER = "Hello, the function `add` is done.\nhello again, deployed to\thttps://example.org"


def marked(kind: str, config: dict[str, Any], answer: str = ANSWER) -> list[str]:
    """Return the lines that are added to an answer, as a run would have recorded the verdict."""
    built, _ = build_graders([GraderEntry(type=kind, name="it", config=config)])
    verdict = grade_here(built[0], GradingContext(output=answer))
    found = marked_answer(TrialOutcome(1, "passed", {"it": verdict}, output=answer), 20_000)
    lines = found.text.split("\n")
    kept = [line for number, line in enumerate(lines, start=1) if number not in found.marks]
    assert kept == answer.split("\n")
    return [lines[number - 1] for number in found.marks]


def test_every_match_of_a_text_is_marked_below_its_line() -> None:
    assert marked("text", {"contains": ["hello"]}) == [
        '^^^^^ ✓ it: contains "hello"',
        '^^^^^ ✓ it: contains "hello"',
    ]
    assert marked("text", {"contains_cs": ["hello"]}) == ['^^^^^ ✓ it: contains_cs "hello"']


def test_marks_stand_below_what_is_shown_of_signs_that_a_terminal_obeys() -> None:
    answer = "\x1b[31mred\x1b[0m \x07 \u202eharbour"
    (mark,) = marked("text", {"contains": ["harbour"]}, answer)
    assert mark.index("^") == visible_lines(answer).index("harbour")


def test_a_line_of_an_answer_that_looks_like_a_mark_is_none() -> None:
    faked = '^^^^^ ✗ it: contains "hello"'
    assert marked("text", {"contains": ["hello"]}, f"hello\n{faked}") == [
        '^^^^^ ✓ it: contains "hello"',
        '                      ^^^^^ ✓ it: contains "hello"',
    ]


def test_what_is_forbidden_is_marked_as_such() -> None:
    assert marked("keyword", {"must_not_contain": ["done"]}) == [
        '                             ^^^^ ✗ it: must_not_contain "done"'
    ]
    assert marked("keyword", {"must_not_contain": ["nothing of it"]}) == []


def test_a_miss_is_marked_where_the_answer_comes_nearest() -> None:
    assert marked("text", {"contains": ["function add is"]}) == [
        '           ^^^^^^^^^^^^^^^^^ ≈ it: contains "function add is": punctuation differs'
    ]
    assert marked("text", {"contains": ["zebra crossing"]}) == []


def test_patterns_are_marked_with_all_their_matches() -> None:
    assert marked("regex", {"must_match": ["(?i)HELLO"]}) == [
        '^^^^^ ✓ it: must_match "(?i)HELLO"',
        '^^^^^ ✓ it: must_match "(?i)HELLO"',
    ]
    assert marked("regex", {"must_match": ["Deployed to"]}) == [
        '             ^^^^^^^^^^^ ≈ it: must_match "Deployed to": upper and lower case ignored'
    ]
    assert marked("regex", {"must_match": [r"https\S+"]}) == [
        '                        \t^^^^^^^^^^^^^^^^^^^ ✓ it: must_match "https\\\\S+"'
    ]


def test_all_that_a_rule_finds_in_a_line_is_one_line_of_carets() -> None:
    told = marked("regex", {"must_match": ["[aeiou]"]})
    assert [line.split(" ✓ ")[0] for line in told] == [
        " ^  ^    ^  ^   ^^   ^    ^   ^ ^",
        " ^  ^ ^ ^^    ^  ^ ^   ^\t        ^",
    ]


def test_a_match_of_several_lines_is_marked_on_its_first() -> None:
    assert marked("text", {"contains": ["done.\nhello"]}) == [
        '                             ^^^^^ ✓ it: contains "done. hello"'
    ]


def test_the_page_shows_the_marks_with_what_they_mean(tmp_path: Path) -> None:
    graders = "- {type: text, name: greets, config: {contains: [hello]}}\n"
    path, record = recorded_bed(tmp_path / "suite", graders)
    page = recorded_page(record, "t0", path)["markdown"]
    assert LEGEND in page
    assert '\nHello, the function `add` is done.\n^^^^^ ✓ greets: contains "hello"\n' in page


# --- what changed between two runs ---


TWO_GRADERS = """\
- {type: text, name: "says|all", config: {contains: [Say]}}
- {type: text, name: polite, config: {contains: [hello]}}
"""


def test_a_row_a_task_and_a_grader_that_came_to_something_else(tmp_path: Path) -> None:
    files: list[Path] = []
    for word in ("hello", "bye"):
        tasks = {"a": task("a", prompt=f"Say {word}"), "b": task("b", prompt="Say hello")}
        record = recorded(write_suite(tmp_path, tasks, graders=TWO_GRADERS))
        files.append(record)
    text = changed_page(files[1], files[0], None)["markdown"]
    rows = [line for line in text.splitlines() if line.startswith(("| `", "| verdict"))]
    assert rows == [
        "| verdict | `passed` | `failed` |",
        "| `a` | ✓ passed 1.00 | ✗ failed 0.50 |",
        "| `a` `polite` | ✓ passed 1.00 | ✗ failed 0.00 |",
    ]
    assert "1 task did not change." in text
    alone = changed_page(files[1], files[0], "b")["markdown"]
    assert "| task |" not in alone


def test_a_task_that_only_one_run_had_is_told(tmp_path: Path) -> None:
    files: list[Path] = []
    for names in ("a", "ab"):
        record = recorded(write_suite(tmp_path, {name: task(name) for name in names}, graders=TWO_GRADERS))
        files.append(record)
    assert "| `b` | – | ✓ passed 1.00 |" in changed_page(files[1], files[0], None)["markdown"]


def test_a_run_of_one_grader_is_compared_by_that_grader_alone(tmp_path: Path) -> None:
    files: list[Path] = []
    for word, graders in (("hello", ()), ("bye", ("polite",))):
        suite = write_suite(tmp_path, {"a": task("a", prompt=f"Say {word}")}, graders=TWO_GRADERS)
        record = recorded(suite, graders=graders)
        files.append(record)
    text = changed_page(files[1], files[0], None)["markdown"]
    rows = [line for line in text.splitlines() if line.startswith("| `")]
    assert rows == ["| `a` `polite` | ✓ passed 1.00 | ✗ failed 0.00 |"]
