"""Assertions are flagged exactly where evaluating them fails with a syntax or name error on Python 3.11."""

from collections.abc import Iterable

import pytest

from tests.server.analysis.assertion_expressions import CONTEXT, MEANINGS, MEASURED, MORE
from tests.server.analysis.interpreters import Evaluated, evaluate, interpreters
from waza_language_server.embedded.language import Finding, Rewrite
from waza_language_server.embedded.python.assertion_problems import KNOWN_NAMES, assertion_findings
from waza_language_server.embedded.python.meaning import meaning_findings
from waza_language_server.embedded.python.python_source import PythonFault, parse_python

FLAGGED = {"SyntaxError", "IndentationError", "NameError", "UnboundLocalError"}
ATTRIBUTES = {"assertion-attribute", "assertion-javascript"}
ALL = [*MEASURED, *MORE]

needs_3_11 = pytest.mark.skipif("3.11" not in interpreters(), reason="no Python 3.11 at hand")


def flagged(texts: list[str]) -> list[bool]:
    """Whether each assertion of one grader has a finding; a walrus leaks into the later ones."""
    known = KNOWN_NAMES
    result: list[bool] = []
    for text in texts:
        findings, known = assertion_findings(text, known)
        result.append(bool(_of_names(text, findings)))
    return result


def _of_names(text: str, findings: Iterable[Finding]) -> list[Finding]:
    """Return the findings that say it cannot be read or a name is not there, none about its values."""
    source = parse_python(text)
    values = () if isinstance(source, PythonFault) else meaning_findings(source)
    places = {(each.code, each.start) for each in values}
    return [each for each in findings if (each.code, each.start) not in places]


@needs_3_11
def test_an_attribute_is_flagged_where_python_3_11_does_not_find_it() -> None:
    (outcomes,) = evaluate(interpreters()["3.11"], [MEASURED], CONTEXT)
    missed = {
        text
        for text, outcome in zip(MEASURED, outcomes, strict=True)
        if (outcome.error == "AttributeError")
        != any(each.code in ATTRIBUTES for each in assertion_findings(text)[0])
        and not flagged([text])[0]
    }
    assert missed == {"re.search('nomatch', output).group() == 'x'"}


@needs_3_11
def test_flags_exactly_what_python_3_11_refuses() -> None:
    (outcomes,) = evaluate(interpreters()["3.11"], [MEASURED], CONTEXT)
    expected = {text: outcome.error in FLAGGED for text, outcome in zip(MEASURED, outcomes, strict=True)}
    assert dict(zip(MEASURED, flagged(MEASURED), strict=True)) == expected


@needs_3_11
@pytest.mark.parametrize("text", MORE)
def test_flags_what_people_write_where_python_3_11_refuses_it(text: str) -> None:
    ((outcome,),) = _outcomes_3_11()[MORE.index(text) : MORE.index(text) + 1]
    assert flagged([text]) == [outcome.error in FLAGGED]


@pytest.mark.parametrize("version", sorted(interpreters()))
def test_every_rewrite_is_true_when_the_original_is_true_under_full_builtins(version: str) -> None:
    python = interpreters()[version]
    offered = [(text, rewrite) for text in ALL for rewrite in _rewrites(text) if rewrite.expressions]
    rewritten = evaluate(python, [list(rewrite.expressions) for _, rewrite in offered], CONTEXT)
    meant = evaluate(python, [_meaning(text) for text, _ in offered], CONTEXT, full_builtins=True)
    wrong: list[tuple[str, Rewrite, list[Evaluated], list[Evaluated]]] = []
    for (text, rewrite), got, wanted in zip(offered, rewritten, meant, strict=True):
        runs = all(outcome.error not in FLAGGED for outcome in got)
        if not runs or all(o.truth for o in got) != all(o.truth for o in wanted):
            wrong.append((text, rewrite, got, wanted))
    assert not wrong
    assert len(offered) >= 40


@pytest.mark.parametrize("version", sorted(interpreters()))
def test_names_bound_inside_keep_the_very_value(version: str) -> None:
    python = interpreters()[version]
    offered = [
        (text, rewrite)
        for text in ALL
        for rewrite in _rewrites(text)
        if rewrite.title == "Bind the names inside"
    ]
    rewritten = evaluate(python, [list(rewrite.expressions) for _, rewrite in offered], CONTEXT)
    meant = evaluate(python, [[text] for text, _ in offered], CONTEXT, full_builtins=True)
    assert [o[0].value for o in rewritten] == [o[0].value for o in meant]


@pytest.mark.parametrize(
    ("text", "rewritten"),
    [
        ("any(k in output for k in ['a', 'b'])", "'a' in output or 'b' in output"),
        ("all(k in output for k in ['a', 'b'])", "'a' in output and 'b' in output"),
        ("not any(k in output for k in ['a', 'b'])", "not ('a' in output or 'b' in output)"),
        ("any(k in output for k in ['a']) == True", "bool('a' in output) == True"),
        ("all(k in output or errors for k in ['a'])", "('a' in output or errors)"),
        ("any(k in output for k in [])", "False"),
        ("any(len(output) > k for k in [-1])", "len(output) > (-1)"),
    ],
)
def test_literal_any_and_all_are_written_out(text: str, rewritten: str) -> None:
    first = _rewrites(text)[0]
    assert first.expressions == (rewritten,)


@pytest.mark.parametrize(
    ("text", "rewritten"),
    [
        ("[k for k in ['a'] if k in output]", "[k for output in [output] for k in ['a'] if k in output]"),
        (
            "all(len(t) > 2 for t in tool_calls)",
            "all(len(t) > 2 for len, tool_calls in [(len, tool_calls)] for t in tool_calls)",
        ),
    ],
)
def test_names_are_bound_inside(text: str, rewritten: str) -> None:
    assert [rewrite.expressions for rewrite in _rewrites(text)] == [(rewritten,)]


@pytest.mark.parametrize(
    ("text", "expressions"),
    [
        ("assert len(output) > 0", ("len(output) > 0",)),
        ("return output", ("output",)),
        ("len(output) > 0;", ("len(output) > 0",)),
        ("import re; re.search('x', output)", ("re.search('x', output)",)),
        ("len(output) > 0\nnot errors", ("len(output) > 0", "not errors")),
        ("output = 'x'", ("output == 'x'",)),
        ("len(output) = 3", ("len(output) == 3",)),
        ("not errors and len(output) = 3", ("not errors and len(output) == 3",)),
        ("assert any(k in output for k in ['a'])", ("'a' in output",)),
        ("import re", ()),
    ],
)
def test_statements_become_expressions(text: str, expressions: tuple[str, ...]) -> None:
    assert [rewrite.expressions for rewrite in _rewrites(text)] == [expressions]


@pytest.mark.parametrize(
    ("text", "python"),
    [
        ("len(output) > 0 && !errors", "len(output) > 0 and not errors"),
        ("!output.includes('x')", "not ('x' in output)"),
        ("output.trim() === 'x'", "output.strip() == 'x'"),
        ("'a && b' in output && true", "'a && b' in output and True"),
        ("output == true", "output == True"),
        ("null", "None"),
    ],
)
def test_javascript_becomes_python(text: str, python: str) -> None:
    assert [rewrite.expressions for rewrite in _rewrites(text)] == [(python,)]


@pytest.mark.parametrize(
    ("text", "python"),
    [
        ("len(response) > 5", "len(output) > 5"),
        ("length(output) > 5", "len(output) > 5"),
        ("len(output) > 5)", "len(output) > 5"),
        ("len(output) > 5, 'too short'", "len(output) > 5"),
    ],
)
def test_words_of_other_languages_become_those_of_python(text: str, python: str) -> None:
    assert [rewrite.expressions for rewrite in _rewrites(text)] == [(python,)]


@pytest.mark.parametrize("text", ["output.lower() in 'feat'", "any(len[0] for len in [output])"])
def test_what_may_be_meant_is_left_alone(text: str) -> None:
    assert not [finding for finding in assertion_findings(text)[0] if finding.rewrites]


@pytest.mark.parametrize(
    ("text", "marked", "code"),
    [
        ("output ==", "=", "assertion-syntax"),
        ("len(output > 0", "(", "assertion-syntax"),
        ("'é😋' in output &", "&", "assertion-syntax"),
        ("'é😋' in outptu", "outptu", "assertion-unknown-name"),
        ("f'é😋 {outptu}'", "outptu", "assertion-unknown-name"),
        ("any('😋' in output for k in [1])", "output", "assertion-vanishing-name"),
        ("output && errors", "&&", "assertion-javascript"),
        ("!errors", "!", "assertion-javascript"),
        ("'&&' == output === 1", "===", "assertion-javascript"),
        ("null", "null", "assertion-javascript"),
        ("n = 3", "=", "assertion-statement"),
        ("import json", "import", "assertion-statement"),
        ("output\nTrue", "True", "assertion-statement"),
    ],
)
def test_the_exact_characters_are_marked(text: str, marked: str, code: str) -> None:
    (finding,) = assertion_findings(text)[0]
    assert (text[finding.start : finding.end], finding.code) == (marked, code)


@pytest.mark.parametrize("text", ["'a", '"a in output', "'''a", "f'{output}"])
def test_an_open_quote_is_said_without_the_words_of_python(text: str) -> None:
    (finding,) = assertion_findings(text)[0]
    assert finding.message == "This is not a Python expression: this quote is never closed."


def test_a_comprehension_says_that_python_3_12_sees_the_name() -> None:
    (finding,) = assertion_findings("[k for k in ['a'] if k in output]")[0]
    assert "3.12" in finding.message


def test_a_generator_expression_does_not_promise_python_3_12() -> None:
    (finding,) = assertion_findings("any([k in output for k in 'a'] for x in 'b')")[0]
    assert "3.12" not in finding.message


def test_an_unknown_name_beside_a_vanishing_one_offers_no_rewrite() -> None:
    findings = assertion_findings("any(k in output and qux for k in ['a'])")[0]
    assert {finding.code for finding in findings} == {"assertion-vanishing-name", "assertion-unknown-name"}
    assert not any(finding.rewrites for finding in findings)


def test_a_very_deep_expression_is_survived() -> None:
    deep = assertion_findings("(" * 500 + "output" + ")" * 500)[0]
    assert [finding.code for finding in deep] == ["assertion-syntax"]
    assertion_findings("-" * 5000 + "1")
    assertion_findings("+".join(["output"] * 3000))


def _rewrites(text: str) -> tuple[Rewrite, ...]:
    findings, _ = assertion_findings(text)
    return tuple(dict.fromkeys(rewrite for finding in findings for rewrite in finding.rewrites))


def _meaning(text: str) -> list[str]:
    """Return the expressions, to be run with all of Python, that say what a text is meant to say."""
    return MEANINGS.get(text, [text])


def _outcomes_3_11() -> list[list[Evaluated]]:
    return evaluate(interpreters()["3.11"], [[text] for text in MORE], CONTEXT)
