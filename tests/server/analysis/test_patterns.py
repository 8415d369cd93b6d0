"""Regular expressions: what cannot be read, what only Python reads, and what is written in another way."""

import pytest

from tests.server.analysis.drawing import drawn, fixed, graders, problems
from waza_language_server.analysis.value_rules.vacuous import matches_everything
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


@pytest.mark.parametrize("pattern", [".*", "(?s).*", "x*", "^", "$", "(b)?", "a|", r"\s*", "(?i).{0,}"])
def test_a_pattern_that_matches_every_answer_is_known(pattern: str) -> None:
    assert matches_everything(pattern)


@pytest.mark.parametrize(
    "pattern",
    [".+", "^$", r"^\s*$", r"\A.{0,80}\z", "deployed", r"\S", r"^[\x20-\x7e\s]*\z", "(?=x)", "(", "[^a]"],
)
def test_a_pattern_that_can_fail_is_not(pattern: str) -> None:
    assert not matches_everything(pattern)


def foreign(pattern: str) -> str:
    return graders(f"  - {{type: text, name: c, config: {{regex_match: ['{pattern}']}}}}\n")


@pytest.mark.parametrize(
    ("pattern", "right"),
    [
        ("/deployed to \\w+/i", "(?i)deployed to \\w+"),
        ("/a\\/b/gm", "(?m)a/b"),
        ("/ab/g", "ab"),
        (r"took \\d+ \\w{2}", r"took \d+ \w{2}"),
    ],
)
def test_what_is_meant_is_offered(pattern: str, right: str) -> None:
    (problem,) = problems(foreign(pattern))
    assert (problem.code, problem.severity) == ("unlikely-value", "information")
    assert fixed(foreign(pattern), "unlikely-value") == foreign(right)


@pytest.mark.parametrize(
    "pattern", ["/usr/lib/i", "/api/v1/", "a/b/i", r"C:\\windows", r"\\d", r"\d+\\", "/ab/x"]
)
def test_other_patterns_are_left_alone(pattern: str) -> None:
    assert problems(foreign(pattern)) == ()


HEAD = "  - type: text\n    name: a\n    config:\n"


def test_match_any_is_said_by_one_pattern() -> None:
    text = graders(f"{HEAD}      match_any: [done, 'all \\d+ tests']\n")
    assert drawn(text, fixes=True) == (
        "\n"
        "⋯\n"
        "      match_any: [done, 'all \\d+ tests']\n"
        "      ^^^^^^^^^ error unknown-key: `config` has no key `match_any`; "
        "`regex_match: ['(?:done)|(?:all \\d+ tests)']` says it. Without it nothing is checked.\n"
        "        = fix: Write one pattern in `regex_match`\n"
    )


@pytest.mark.parametrize(
    ("written", "pattern"),
    [
        ("match_any: [a, b]", "(?:a)|(?:b)"),
        ("must_match_any:\n        - a\n        - it's", "(?:a)|(?:it''s)"),
        ("must_match_any: a|b", "(?:a|b)"),
        ("contains_any: [a.b, C++]", "(?i)(?:a\\.b)|(?:C\\+\\+)"),
        ("contains_any: [10, 'x y']", "(?i)(?:10)|(?:x y)"),
    ],
)
def test_the_fix_keeps_the_meaning(written: str, pattern: str) -> None:
    repaired = fixed(graders(f"{HEAD}      {written}\n      contains: [c]\n"), "unknown-key")
    assert repaired == graders(f"{HEAD}      regex_match: ['{pattern}']\n      contains: [c]\n")
    assert problems(repaired) == ()


def test_patterns_that_are_there_are_not_written_over() -> None:
    text = graders(f"{HEAD}      match_any: [a, b]\n      regex_match: [c]\n")
    (problem,) = problems(text)
    assert (problem.severity, problem.fixes) == ("warning", ())


def test_an_empty_list_has_nothing_to_say() -> None:
    (problem,) = problems(graders(f"{HEAD}      match_any: []\n      contains: [c]\n"))
    assert "regex_match: [" not in problem.message
