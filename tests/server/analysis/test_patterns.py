"""Regular expressions: invalid ones are errors, those that only Python reads are hints."""

import pytest

from tests.server.analysis.drawing import fixed, graders, problems
from waza_language_server.embedded.regex.patterns import pattern_fault
from waza_language_server.syntax.tried_edits import apply


@pytest.mark.parametrize(
    "pattern",
    [
        "",
        "deployed",
        r"https?://\S+",
        r"(?i)a.*b",
        r"\pL+",
        r"x{1000}",
        r"[[:alpha:]]",
        "日本",
        r"\z",
        "a{,3}",
    ],
)
def test_patterns_of_re2_are_fine(pattern: str) -> None:
    assert pattern_fault(pattern) is None


@pytest.mark.parametrize(
    ("pattern", "marked"),
    [("a(b", "("), ("[a", "["), ("a**", "*"), ("*a", "*"), ("a)", ")"), ("x\\", "\\"), ("é😋(", "(")],
)
def test_invalid_patterns_are_marked_where_they_break(pattern: str, marked: str) -> None:
    fault = pattern_fault(pattern)
    assert fault is not None
    assert (fault.kind, pattern[fault.start : fault.end]) == ("invalid", marked)


@pytest.mark.parametrize(
    ("pattern", "marked"),
    [
        (r"a(?=b)", "(?="),
        (r"(?<!a)b", "(?<!"),
        (r"(a)\1", r"\1"),
        (r"a++", "++"),
        (r"done\Z", r"\Z"),
        (r"\u00e9", r"\u"),
        (r"x{1001}", "{1001}"),
        (r"[(?=](?=b)", "(?="),
    ],
)
def test_patterns_of_python_alone_are_not_portable(pattern: str, marked: str) -> None:
    fault = pattern_fault(pattern)
    assert fault is not None
    assert (fault.kind, pattern[fault.start : fault.end]) == ("python-only", marked)


def test_the_end_of_text_is_rewritten_for_re2() -> None:
    fault = pattern_fault(r"done\Z")
    assert fault is not None
    assert fault.replacement == r"done\z"


def test_a_pattern_that_no_text_can_hold_is_survived() -> None:
    assert pattern_fault("\ud800") is not None


@pytest.mark.parametrize(
    ("pattern", "repaired"),
    [
        ("(a|b", ["(a|b)", r"\(a|b", "a|b"]),
        ("((a", ["((a))"]),
        ("[a-z", ["[a-z]", r"\[a-z", "a-z"]),
        (r"a\(b)", [r"a\(b\)", r"a\(b"]),
        ("*.py", [r"\*.py", ".py"]),
        ("a**", [r"a*\*", "a*"]),
        ("a" + chr(92), ["a" + chr(92) * 2, "a"]),
        ("a{2,1}", []),
    ],
)
def test_a_pattern_that_one_sign_repairs(pattern: str, repaired: list[str]) -> None:
    text = graders(f"  - type: text\n    name: a\n    config:\n      regex_match: ['{pattern}'] # 🙂\n")
    [problem] = [each for each in problems(text) if each.code == "invalid-pattern"]
    assert [apply(text, fix.edits) for fix in problem.fixes] == [
        text.replace(f"'{pattern}'", f"'{each}'") for each in repaired
    ]
    assert not any(fix.preferred for fix in problem.fixes)


def test_a_pattern_in_double_quotes_is_repaired_in_them() -> None:
    text = graders('  - type: text\n    name: a\n    config: {regex_match: ["a(b\\\\.md"]}\n')
    meant = text.replace('"a(b', '"a(b').replace('md"', 'md)"')
    assert fixed(text, "invalid-pattern") == meant


def test_flags_that_are_not_closed() -> None:
    text = graders("  - type: text\n    name: a\n    config:\n      regex_match: ['(?i lorem|TODO']\n")
    [problem] = problems(text)
    assert problem.message == "This regular expression is invalid: `(?i` is not closed; write `(?i)`."
    [fix] = problem.fixes
    assert apply(text, fix.edits) == text.replace("(?i lorem", "(?i)lorem")
