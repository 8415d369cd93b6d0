"""The editor knows the assertions that the engine evaluates: its tables, and syntax without a compiler."""

import pytest

from waza_engine.assertions.names import MEMBERS, REFUSED
from waza_language_server.embedded.python.assertion_problems import assertion_findings
from waza_language_server.embedded.python.members import PATTERN, TEXT, members_of
from waza_language_server.embedded.python.python_source import PythonFault, PythonSource, parse_python


def codes(text: str) -> list[str]:
    return [finding.code for finding in assertion_findings(text)[0]]


@pytest.mark.parametrize(
    "text",
    [
        "re.template('a')",
        "re.purge()",
        "re.error",
        "re.RegexFlag.IGNORECASE",
        "(event for event in transcript).send(None)",
        "re.search('a', output).regs",
        "output._private",
        "output.__init__()",
    ],
)
def test_what_the_engine_refuses_is_found_while_it_is_written(text: str) -> None:
    assert "assertion-internal" in codes(text)


@pytest.mark.parametrize("name", ["__builtins__", "__debug__"])
def test_names_of_python_itself_are_unknown(name: str) -> None:
    assert codes(f"len({name}) > 1") == ["assertion-unknown-name"]


def test_completion_offers_what_the_tables_have() -> None:
    assert set(members_of(TEXT)) == set(MEMBERS[str])
    assert not set(members_of(PATTERN)) & REFUSED[PATTERN.python or object]


@pytest.mark.parametrize("count", [21, 22, 23, 60, 99])
def test_nested_comprehensions_are_read(count: int) -> None:
    assert isinstance(parse_python("[" * count + "x" + " for x in errors]" * count), PythonSource)
    assert isinstance(parse_python("[x for x in " * count + "[]" + "]" * count), PythonSource)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("[x for x in " * 150 + "[]" + "]" * 150, "too many nested parentheses"),
        ("not " * 4_000 + "output", "nested too deeply"),
        ("(yield)", "`yield` is not allowed in an assertion"),
        ("[0 for a.b in output]", "a loop in an assertion binds names, not attributes or items"),
        ("dict(a=1, a=2)", "keyword argument repeated: a"),
    ],
)
def test_what_cannot_be_read_has_a_reason(text: str, reason: str) -> None:
    fault = parse_python(text)
    assert isinstance(fault, PythonFault)
    assert fault.reason == reason
