"""An answer on the page of a run has every match and miss marked where it stands."""

from pathlib import Path
from typing import Any

from tests.live.bed import recorded_bed
from waza_engine.commands.result_page import recorded_page
from waza_engine.graders.base import GradingContext
from waza_engine.results.record import TrialOutcome
from waza_engine.results.reports.result_page import LEGEND, marked_answer
from waza_engine.runs.grading.graders import build_graders, grade_here
from waza_engine.spec.grader_entry import GraderEntry
from waza_engine.terminal import visible_lines

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
