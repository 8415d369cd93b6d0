"""Assertions that can be read and cannot mean what they say, whatever the agent does."""

import pytest

from waza_language_server.embedded.python.assertion_problems import assertion_findings


@pytest.mark.parametrize(
    ("assertion", "code", "marked", "repaired"),
    [
        ("output.includes('x')", "assertion-javascript", "includes", "'x' in output"),
        ("output.length > 3", "assertion-javascript", "length", "len(output) > 3"),
        ("output.toLowerCase() == 'x'", "assertion-javascript", "toLowerCase", "output.lower() == 'x'"),
        ("output.lenght > 3", "assertion-attribute", "lenght", None),
        ("output.lowr() == 'x'", "assertion-attribute", "lowr", "output.lower() == 'x'"),
        ("tool_calls[0].name == 'x'", "assertion-attribute", "name", "tool_calls[0]['name'] == 'x'"),
        ("any(t.tool == 'x' for t in tool_calls)", "assertion-attribute", "tool",
         "any(t['name'] == 'x' for t in tool_calls)"),
        ("tool_calls[0]['args'] == {}", "assertion-key", "'args'", "tool_calls[0]['arguments'] == {}"),
        ("tool_calls['name'] == 'x'", "assertion-key", "'name'", None),
        ("outcome['status'] == 'x'", "assertion-key", "'status'", None),
        ("'x' in output.lower", "assertion-uncalled", "lower", "'x' in output.lower()"),
        ("output.strip", "assertion-uncalled", "strip", "output.strip()"),
        ("output.__class__.__mro__[0] == str", "assertion-internal", "__mro__", None),
        ("True", "assertion-constant", "True", None),
        (
            "('a' or 'b') in output",
            "assertion-constant",
            "'a' or 'b'",
            "('a' in output or 'b' in output)",
        ),
        (
            "len(output) > 3 and ('a' or 'b') not in output.lower()",
            "assertion-constant",
            "'a' or 'b'",
            "len(output) > 3 and ('a' not in output.lower() and 'b' not in output.lower())",
        ),
        ("'a' or 'b' in output", "assertion-constant", "'a'", "'a' in output or 'b' in output"),
        ("len(tool_calls) >= 0", "assertion-constant", "len(tool_calls) >= 0", None),
        ("len(output) < 0 or errors", "assertion-constant", "len(output) < 0", None),
        ("(output, 'none')", "assertion-constant", "(output, 'none')", "output"),
        ("'POST' in output.lower()", "assertion-case", "'POST'", "'post' in output.lower()"),
        ("'done' == output.strip().upper()", "assertion-case", "'done'", "'DONE' == output.strip().upper()"),
        ("'Ok' not in output.lower()", "assertion-case", "'Ok'", "'ok' not in output.lower()"),
    ],
)  # fmt: skip
def test_what_cannot_be_meant_is_marked_and_written_anew(
    assertion: str, code: str, marked: str, repaired: str | None
) -> None:
    (finding,) = assertion_findings(assertion)[0]
    assert (finding.code, assertion[finding.start : finding.end]) == (code, marked)
    assert (finding.rewrites[0].expressions[0] if finding.rewrites else None) == repaired
    assert repaired is None or assertion_findings(repaired)[0] == ()


@pytest.mark.parametrize(
    "assertion",
    [
        "output.lower().startswith('a')",
        "'azure' in output.lower() or 'https' in output",
        "tool_calls[0]['arguments'].get('command', '').startswith('ls')",
        "any(t.count('x') for t in output.split())",
        "any(output.name for output in [errors, outcome])",
        "len(output) >= 1",
        "[t for t in tool_calls if t.get('name') == 'x'] or not errors",
        "re.search('x', output, re.I) is not None",
        "outcome.get('status') == 'completed'",
        "output.__class__ is str",
        "'É' in output and 'POST' in output",
        "(lambda output: output.anything)(duration_ms)",
        "{output: tool_calls}[output] == [] or {duration_ms, output} == {1}",
        "'%d' % duration_ms in f'{output!r:>20}{output:>9}{duration_ms:d}'",
        "int(output) > float(duration_ms) and list(outcome) == list(output) and dict(outcome) == {}",
        "output[None:-duration_ms] in output.split(None, 1)",
        "any(k.isdigit() for k in output)",
        "(len(output) > 3) & (duration_ms < 9)",
        "0 < (len(output) & 7) < 5",
        "duration_ms & 1 == 0",
    ],
)
def test_what_may_be_meant_is_left_alone(assertion: str) -> None:
    assert assertion_findings(assertion)[0] == ()
