"""The syntax of assertions is checked without a compiler, as Python's compiler would."""

from typing import Any

import pytest

from waza_engine.assertions.assertion_syntax import (
    MOST_NESTED,
    RefusedSyntaxError,
    check_expression,
    check_size,
    parse_expression,
)
from waza_engine.assertions.interpreter import Expression


@pytest.mark.parametrize("count", [21, 22, 23, 40, MOST_NESTED - 1])
def test_nested_comprehensions_are_checked_without_a_crash(count: int) -> None:
    inside = "[" * count + "x" + " for x in errors]" * count
    around = "[x for x in " * count + "[]" + "]" * count
    for text in (inside, around):
        assert len(check_expression(parse_expression(text))) == count + 1


def test_nested_comprehensions_are_evaluated_without_a_crash() -> None:
    tree = parse_expression("[" * 40 + "x" + " for x in [1]]" * 40)
    value: Any = Expression(tree, check_expression(tree))({})
    for _ in range(40):
        [value] = value
    assert value == 1


@pytest.mark.parametrize(
    "text",
    [
        "[x := 1 for x in [1]]",
        "[[x := 1 for y in [1]] for x in [1]]",
        "[x for x in (y := [1])]",
        "[x for x in [(lambda: (y := 1))()]]",
        "[1 for a in [1] if (b := 1) for b in [1]]",
        "(lambda a, a: 1)",
        "(lambda a, *a: 1)",
        "f(a=1, a=2)",
        "f'{*a}'",
        "[0 for *a in b]",
        "[0 for *a, *b in c]",
        "(lambda __debug__: 1)",
    ],
)
def test_what_the_compiler_refuses_is_refused_with_its_words(text: str) -> None:
    with pytest.raises(SyntaxError) as ours:
        check_expression(parse_expression(text))
    with pytest.raises(SyntaxError) as compiler:
        compile(text, "<assertion>", "eval")
    assert ours.value.msg == compiler.value.msg


@pytest.mark.parametrize("text", ["(yield)", "(lambda: (yield))", "[0 for a.b in c]", "[0 for a[0] in c]"])
def test_what_assertions_do_not_have_is_refused(text: str) -> None:
    with pytest.raises(RefusedSyntaxError):
        check_expression(parse_expression(text))


def test_brackets_in_strings_are_no_nesting() -> None:
    parse_expression("'" + "(" * 500 + "' in output")
    with pytest.raises(SyntaxError, match="too many nested parentheses"):
        parse_expression("(" * (MOST_NESTED + 1) + "1" + ")" * (MOST_NESTED + 1))


def test_brackets_in_a_comment_are_not_counted() -> None:
    check_size("output # " + "(" * 300)
