"""What fails or comes out the same whatever the agent does, and words of other languages."""

import pytest

from tests.server.analysis.assertion_expressions import CONTEXT
from tests.server.analysis.interpreters import evaluate, interpreters
from waza_language_server.embedded.python.assertion_problems import assertion_findings

ALWAYS_FAILS = [
    ("output > 5", "assertion-type", "output > 5", "len(output) > 5"),
    ("5 < tool_calls", "assertion-type", "5 < tool_calls", "5 < len(tool_calls)"),
    ("len(output) > '3'", "assertion-type", "len(output) > '3'", "len(output) > 3"),
    ("0 < len(output) < '3'", "assertion-type", "len(output) < '3'", "0 < len(output) < 3"),
    ("(output + 'x') > 5", "assertion-type", "(output + 'x') > 5", "(len(output + 'x')) > 5"),
    ("outcome < {}", "assertion-type", "outcome < {}", None),
    ("'x' in duration_ms", "assertion-type", "'x' in duration_ms", None),
    ("'x' in re.search('x', output)", "assertion-type", "'x' in re.search('x', output)", None),
    ("5 in output", "assertion-type", "5 in output", None),
    ("'x' in output & 'y' in output", "assertion-type", "&", "'x' in output and 'y' in output"),
    ("'x' in output | 'y' in output", "assertion-type", "|", "'x' in output or 'y' in output"),
    ("len(duration_ms) > 2", "assertion-type", "duration_ms", None),
    ("len(t for t in tool_calls) > 2", "assertion-type", "(t for t in tool_calls)", None),
    ("int('x') == 3", "assertion-type", "'x'", None),
    ("re.searh('x', output)", "assertion-attribute", "searh", "re.search('x', output)"),
    ("re.search('x', output, re.IGNORE)", "assertion-attribute", "IGNORE",
     "re.search('x', output, re.IGNORECASE)"),
    ("re.search('(', output)", "invalid-pattern", "'('", None),
    ("re.search('x(?i)', output)", "invalid-pattern", "'x(?i)'", None),
    ("re.compile('[a').search(output)", "invalid-pattern", "'[a'", None),
    ("output.contains('x')", "assertion-attribute", "contains", "'x' in output"),
    ("output.matches('x.*y')", "assertion-attribute", "matches", "re.search('x.*y', output)"),
    ("output.lower().search('x')", "assertion-attribute", "search", "re.search('x', output.lower())"),
    ("tool_calls.len() > 0", "assertion-attribute", "len", "len(tool_calls) > 0"),
    ("tool_calls.size > 0", "assertion-attribute", "size", "len(tool_calls) > 0"),
    ("output.content == 'x'", "assertion-attribute", "content", None),
    ("tool_calls.count > 3", "assertion-uncalled", "count", "len(tool_calls) > 3"),
    ("output.find > 3", "assertion-uncalled", "find", None),
    ("t['name'] == 'x' for t in tool_calls", "assertion-syntax", "for",
     "any(t['name'] == 'x' for t in tool_calls)"),
    ("output == 'x' AND not errors", "assertion-syntax", "AND", "output == 'x' and not errors"),
    ("'AND' in output OR NOT errors", "assertion-syntax", "OR", "'AND' in output or not errors"),
    ("len(output) =< 3", "assertion-syntax", "=", "len(output) <= 3"),
    ("output <> 'x'", "assertion-syntax", "<>", "output != 'x'"),
]  # fmt: skip
ALWAYS_THE_SAME = [
    ("len(tool_calls) == '2'", "assertion-constant", "len(tool_calls) == '2'", "len(tool_calls) == 2"),
    ("tool_calls == 2", "assertion-constant", "tool_calls == 2", "len(tool_calls) == 2"),
    ("output != []", "assertion-constant", "output != []", None),
    ("'bash' in tool_calls", "assertion-constant", "'bash' in tool_calls",
     "'bash' in [call['name'] for call in tool_calls]"),
    ("'error' not in transcript", "assertion-constant", "'error' not in transcript",
     "'error' not in str(transcript)"),
    ("output.count('x') >= 0", "assertion-constant", "output.count('x') >= 0", None),
    ("(t['name'] == 'x' for t in tool_calls)", "assertion-constant", "(t['name'] == 'x' for t in tool_calls)",
     "any(t['name'] == 'x' for t in tool_calls)"),
    ("len", "assertion-constant", "len", None),
    ("1 == 1", "assertion-constant", "1 == 1", None),
    ("'a' in 'abc' and len([1]) == 2", "assertion-constant", "'a' in 'abc'", None),
    ("any(k for k in ['a', 'b'])", "assertion-constant", "any(k for k in ['a', 'b'])", None),
    ("output.lower() in ['A', 'b']", "assertion-case", "'A'", "output.lower() in ['a', 'b']"),
    ("'A' in output.lower().split()", "assertion-case", "'A'", "'a' in output.lower().split()"),
    (r"re.search('\bx\b', output)", "assertion-constant", r"'\bx\b'", r"re.search(r'\bx\b', output)"),
    ("re.search(r'\bx', output)", "assertion-constant", "r'\bx'", r"re.search(r'\bx', output)"),
]  # fmt: skip
FINE = [
    "len(output) > 10 and len(output) < 12",
    "5 < len(output) <= 6",
    "duration_ms / 1000 > 1 and duration_ms / 1000 < 2",
    "len(output) >= 5 and len(output) <= 5",
    "len(output) > 1 and len(output) < 9 and len(output) != 5",
    "output.startswith('a') and output.startswith('ab')",
    "not output.startswith('ab') and output.startswith('a')",
    "output != 'a' and output != 'b'",
    "output == 'a' or output == 'b'",
    "'a' in output or 'A' not in output",
    "len(output) < 3 or len(output) > 5",
    "output[:1] == 'a' or output[:1] != 'a'",
    "not 5 < len(output) < len(errors) or len(output) <= 5",
    "(n := len(output)) > 5 and (n := 2) and n < 3",
    "output.find('x') == -1 or output.find('x') > 5",
    "output > 'a'",
    "'abc' < output < 'b'",
    "output * 2 == 'x'",
    "output % 3 if errors else not errors",
    "'%s' % 3 != output",
    "duration_ms / 1000 < 3.5",
    "1 < len(output) == True or not errors",
    "len(tool_calls) & 1 == 0",
    "tool_calls + errors != []",
    "{'a'} | {output} != {'a'}",
    "outcome | {'a': 1} == {'a': 1, **outcome}",
    "(errors == []) == True",
    "(not errors) is True",
    "tool_calls[0]['success'] is True",
    "re.search('x', output) is None",
    "re.search('x', output) == None",
    "output is not None and output != ''",
    "5 in [t['name'].count('a') for t in tool_calls]",
    "'bash' in [t['name'] for t in tool_calls]",
    "{'name': 'x'} in tool_calls",
    "'x' in tool_calls[0]['arguments']",
    "'message' in transcript[0]",
    "any([len(output) > 3, errors])",
    "all(t['success'] for t in tool_calls)",
    "len(*[output]) > 3",
    "re.search(**{'pattern': 'x', 'string': output})",
    "re.sub('x', 'y', output, 1, re.I) != ''",
    "re.sub('x', 'y', output, count=1, flags=2) != ''",
    "re.search(pattern='x', string=output, flags=re.I)",
    "re.compile('x', re.I).search(output)",
    "re.search(r'(?i)x(?=y)', output)",
    "re.escape('.') in output",
    "len({*output.split()}) > 1",
    "output.startswith('a', 1)",
    "output.strip(None) != ''",
    "output.split(None, 1) != []",
    "output.count('x', 1, 5) < 3",
    "','.join(t['name'] for t in tool_calls) == 'bash,edit'",
    "any(len > 3 for len, output in [(4, output)])",
    "any(re.search('x', output) for re, output in [(re, output)])",
    "(output := 5) > 3",
    "(n := 5) and n > len(output)",
    "any(k in output for output in [output] for k in ['a'])",
    "output.lower() in ['a', 'b']",
    "re.search('ABC', output.lower(), re.I)",
    "re.search('[A-Z]|\\\\S', output.lower())",
    "'AND' in output or 'contains' in output",
    "output.find('x') > -1",
    "output.index('x') >= 0 and errors",
    "float('1e3') > duration_ms",
    "str(5) in output",
    r"re.search(r'\bx', output) or re.search('\\bx', output)",
    "'{0} {w:{1}} {{x}}'.format(output, 7, w=5) != '{}'.format(*[output])",
    "'%d%% %s %*d' % (1, 2, 3, 4) != '%(k)s' % {'k': output}",
    "'{name[0].real}'.format(name=[1], **outcome) + 'x' % outcome == output",
]


@pytest.mark.parametrize(("assertion", "code", "marked", "repaired"), [*ALWAYS_FAILS, *ALWAYS_THE_SAME])
def test_it_is_marked_and_written_anew(assertion: str, code: str, marked: str, repaired: str | None) -> None:
    finding, *others = assertion_findings(assertion)[0]
    assert (finding.code, assertion[finding.start : finding.end]) == (code, marked)
    assert code == "assertion-constant" or not others
    assert (finding.rewrites[0].expressions[0] if finding.rewrites else None) == repaired
    assert repaired is None or assertion_findings(repaired)[0] == ()


@pytest.mark.parametrize("assertion", FINE)
def test_what_works_is_left_alone(assertion: str) -> None:
    assert assertion_findings(assertion)[0] == ()


@pytest.mark.parametrize("version", sorted(interpreters()))
def test_python_itself_refuses_what_is_said_to_fail_and_takes_the_rest(version: str) -> None:
    refused, fine = [assertion for assertion, *_ in ALWAYS_FAILS], [*FINE]
    python = interpreters()[version]
    # The attributes of methods are true by themselves.
    outcomes = evaluate(python, [[each] for each in refused], CONTEXT)
    assert [text for text, (one,) in zip(refused, outcomes, strict=True) if one.error is None] == []
    outcomes = evaluate(python, [[each] for each in fine], CONTEXT)
    assert [(text, one.error) for text, (one,) in zip(fine, outcomes, strict=True) if one.error] == []
