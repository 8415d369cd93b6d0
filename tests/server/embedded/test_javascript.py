"""Assertions in JavaScript are coloured, and nothing is said of them."""

import pytest

from waza_language_server.embedded.javascript.assertions import JavaScriptAssertions

LANGUAGE = JavaScriptAssertions()


def colours(value: str) -> str:
    return " | ".join(f"{value[each.start : each.end]} {each.kind}" for each in LANGUAGE.tokens(value))


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("output.length > 3", "output variable | length property | > operator | 3 number"),
        ("/a[/]b/i.test(output)", "/a[/]b/i regexp | test method | output variable"),
        ("duration_ms / 2 / 1", "duration_ms variable | / operator | 2 number | / operator | 1 number"),
        ("Math.max(1) // it's", "Math namespace | max method | 1 number | // it's comment"),
        ("(a) / b / 'x'", "a variable | / operator | b variable | / operator | 'x' string"),
        ("return /x/", "return keyword | /x/ regexp"),
        (
            "`${ {a: '}'} }.` in b",
            "` string | ${ string | a variable | '}' string | .` string | in keyword | b variable",
        ),
        ("a 'x", "a variable"),
        ("`a ${b} c", "` string | a ${ string | b variable |  c string"),
        ("})]", ""),
    ],
)
def test_words_are_coloured_up_to_a_string_without_an_end(value: str, expected: str) -> None:
    assert colours(value) == expected


@pytest.mark.parametrize("value", ["output.length >", "len(output)", "true", ""])
def test_nothing_is_said_of_them(value: str) -> None:
    assert LANGUAGE.check(value).findings == ()
    assert list(LANGUAGE.complete(value, 0)) == []
    assert LANGUAGE.hover(value, 0) is None
    assert LANGUAGE.signature(value, 0) is None
