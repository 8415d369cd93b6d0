"""No pattern can bloat or hang a run or the editor, and both say the same of it."""

import random
import re
import resource
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from waza_engine.graders.matching.patterns import PatternError, check_syntax, is_match
from waza_engine.spec.pattern_syntax import (
    LARGEST_SIZE,
    PatternSyntaxError,
    dialect_of,
    literal_pattern,
    size_of,
)
from waza_language_server.embedded.regex.patterns import pattern_fault

MEMORY_BYTES = 1_500_000_000


def nested(levels: int, count: str = "{2}", opening: str = "(") -> str:
    return opening * levels + "a" + f"){count}" * levels


BOMBS = {
    "14 levels": nested(14),
    "16 levels": nested(16),
    "200 levels of 1000": nested(200, "{1,1000}"),
    "groups that catch nothing": nested(16, "{2}", "(?:"),
    "possessive": nested(16, "{2}+", "(?:"),
    "in a look-ahead": f"(?={nested(16)})",
    "in an alternation": f"(?!x)(b|{nested(16)})",
    "two large counts": "(?=x)(?:(?:ab){999}){999}",
    "a row of counts": "a{1,1000}" * 1000,
    "counts that may be none": "a{0,1000}" * 10_000,
    "a long alternation": "|".join(f"word{i}" for i in range(5000)),
    "classes of Unicode": r"\pL" * 30_000,
    "a megabyte": "a" * 1_000_000,
    "nested brackets": "(" * 10_000 + ")" * 10_000,
    "nested look-aheads": "(?=" * 400 + ")" * 400,
    "brackets of classes": "(?=x)" + "[" * 9_000,
}


@pytest.mark.usefixtures("pattern_library")
@pytest.mark.parametrize("pattern", BOMBS.values(), ids=BOMBS)
def test_a_pattern_that_is_too_large_is_invalid_in_editor_and_engine(pattern: str) -> None:
    fault = pattern_fault(pattern)
    assert fault is not None
    assert fault.kind == "invalid"
    with pytest.raises(PatternError, match="invalid pattern"):
        is_match(pattern, "aaaa")


@pytest.mark.parametrize(
    ("pattern", "text", "expected"),
    [
        (r"^(?!.*error).*done", "all done", True),
        (r"^(?!.*error).*done", "error, done", False),
        (r"(\w)\1", "hello", True),
        (r"(?<=\$)\d+", "costs $5", True),
        (r"(?=[[:alpha:]])x", "x", True),
        (r"(?=x){i}", "x{i}", True),
        (nested(9), "a" * 512, True),
        (r"^\pL{1000}$", "é" * 1000, True),
        ("\ud800(?=x)", "\ud800x", True),
    ],
)
def test_what_only_python_reads_or_needs_more_memory_is_found(
    pattern: str, text: str, expected: bool, pattern_library: str
) -> None:
    if pattern_library == "regex" and pattern == nested(9):
        pytest.skip("docs/compatibility.md: counts inside counts")
    assert is_match(pattern, text) is expected


def test_case_may_be_ignored_in_the_worker_too() -> None:
    assert is_match("A(?=B)", "ab", ignore_case=True)
    assert not is_match("A(?=B)", "ab")


def test_the_worker_is_replaced_when_a_search_takes_too_long() -> None:
    with pytest.raises(PatternError, match="took longer than 2 seconds"):
        is_match(r"(?:(\w+)\s?\1?)*(?=!)$", "ab " * 2000)
    assert is_match("a(?=b)", "ab")


def test_counts_and_unicode_classes_make_a_pattern_larger() -> None:
    assert size_of("ab") == 2
    assert size_of("a{2,30}") == 7 + 30
    assert size_of(r"\pL") == 3 + 100
    assert size_of("a{99999999}") > LARGEST_SIZE


_PIECES = (
    r"a b . \d \w \b \1 ( (?: (?= (?! (?<= (?<! (?> (?P<n> (?P=n) (?i) (?i: (?x) (?a) (?L) (?(1) ) * + ?"
    r" *? ++ {2} {2,9} {,3} {900} {1,999} { } {2}+ [ [^ ] - [a-z] [[:alpha:]] ^ $ \Z \z \Q \E \u00e9 \pL"
    r" \p{Greek} \C \g<1> \400 # é 😀 (?#c) && -- (? (?R) (?V1) {e<=1} {i} (?<n> \c | \ "
)
_WRITTEN = [*_PIECES.split(), r"\N{DIGIT ONE}", " "]


@pytest.mark.usefixtures("pattern_library")
@pytest.mark.parametrize("seed", range(4))
def test_editor_and_engine_say_the_same_of_random_patterns(seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(1000):
        pattern = "".join(chance.choices(_WRITTEN, k=chance.randint(1, 12)))
        pattern += ")" * max(0, pattern.count("(") - pattern.count(")"))
        fault = pattern_fault(pattern)
        try:
            dialect = dialect_of(pattern)
        except PatternSyntaxError:
            assert fault is not None
            assert fault.kind == "invalid"
            with pytest.raises(PatternError, match="invalid pattern"):
                check_syntax(pattern)
            continue
        assert (fault is None) == (dialect != "python"), pattern
        if dialect == "python":
            _search(pattern)


def _search(pattern: str) -> None:
    """What the editor takes, the engine compiles: a search ends, in time or with its one sentence."""
    complaint = ""
    try:
        is_match(pattern, "aab é1")
    except PatternError as error:
        complaint = str(error)
    assert "invalid" not in complaint, pattern


_LISTED = ", ".join(f"'{pattern}'" for pattern in BOMBS.values() if len(pattern) < 100_000)
SUITE = f"""\
name: bombs
skill: writer
config: {{trials_per_task: 1, timeout_seconds: 60, executor: mock}}
graders:
  - {{type: text, name: too_large, config: {{regex_match: [{_LISTED}]}}}}
  - {{type: text, name: looks_ahead, config: {{regex_match: ['Mock(?= |$)']}}}}
  - {{type: text, name: plain, config: {{contains: [Mock]}}}}
  - {{type: txet, name: misspelt}}
tasks: [{{id: a, inputs: {{prompt: Say hello}}}}]
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs limits of memory")
def test_a_run_and_grading_again_keep_the_other_verdicts(tmp_path: Path) -> None:
    suite = tmp_path / "eval.yaml"
    suite.write_text(SUITE, "utf-8")
    _limited("waza_engine", "run", str(suite))
    (results,) = (tmp_path / ".waza" / "results").glob("*.json")
    for said in (
        results.read_text("utf-8"),
        _limited("waza_engine", "grade", str(results), "-f", "json").stdout,
    ):
        assert "invalid pattern" in said
        assert "All text checks passed" in said


@pytest.mark.skipif(sys.platform == "win32", reason="needs limits of memory")
def test_a_check_says_the_other_problems_too(tmp_path: Path) -> None:
    suite = tmp_path / "eval.yaml"
    suite.write_text(SUITE, "utf-8")
    done = _limited("waza_language_server", "check", str(suite))
    assert done.stdout.count("invalid-pattern") == SUITE.count("'") // 2 - 1
    assert done.stdout.count("pattern-not-portable") == 1
    assert done.stdout.count("unknown-grader-type") == 1
    assert done.returncode == 1


def _limited(module: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    program = f"import sys, {module}.cli as cli; sys.argv = ['', *{list(arguments)!r}]; sys.exit(cli.main())"
    return subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES)),
    )


@given(st.text(max_size=30), st.text(max_size=30))
def test_a_literal_pattern_matches_its_text_alone(text: str, other: str) -> None:
    assert re.fullmatch(literal_pattern(text), text)
    assert (re.fullmatch(literal_pattern(text), other) is not None) == (text == other)
    assert not re.fullmatch(literal_pattern(text), f"{text}{other or '.'}")


def test_a_literal_pattern_is_written_as_people_do() -> None:
    assert literal_pattern("azure-mcp get it.") == r"azure-mcp get it\."
