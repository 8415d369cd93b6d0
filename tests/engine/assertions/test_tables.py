"""What values can do in assertions: closed tables, complete for each Python, and no way out of them."""

import ast
import re
import types
from random import Random
from typing import Any

import pytest

from tests.engine.assertions.attacks import REACHING
from tests.engine.assertions.generators import CONTEXT, GENERATORS, VALUES
from waza_engine.assertions.assertion_syntax import check_expression, parse_expression
from waza_engine.assertions.interpreter import Expression
from waza_engine.assertions.names import (
    MEMBERS,
    RE_FLAGS,
    RE_FUNCTIONS,
    RE_TYPES,
    READ,
    REFUSED,
    RefusedError,
)
from waza_engine.assertions.operations import KNOWN_TYPES, attribute, names_for_assertions

NOT_EVERYWHERE = {(int, "is_integer"), (bool, "is_integer"), (re.RegexFlag, "name"), (re.RegexFlag, "value")}
"""Members that Python has from 3.12 on, or that values have and their type has not."""


def unchanged(_number: int, value: Any) -> Any:
    return value


def public(kind: type) -> set[str]:
    return {name for name in dir(kind) if not name.startswith("_")}


@pytest.mark.parametrize("kind", MEMBERS, ids=[kind.__name__ for kind in MEMBERS])
def test_each_public_member_of_a_type_is_in_the_table_or_refused(kind: type) -> None:
    refused = REFUSED.get(kind, frozenset())
    assert public(kind) - refused - MEMBERS[kind] == set()
    assert {(kind, name) for name in MEMBERS[kind] - public(kind)} <= NOT_EVERYWHERE
    assert not MEMBERS[kind] & refused


def test_each_public_name_of_re_is_in_the_table_or_refused() -> None:
    exported = set(vars(re)["__all__"])
    known = RE_FUNCTIONS | RE_FLAGS | RE_TYPES
    assert exported <= known | REFUSED[types.ModuleType]
    assert known - {"DEBUG"} <= exported


@pytest.mark.parametrize("kind", READ, ids=[kind.__name__ for kind in READ])
def test_values_and_methods_are_told_apart(kind: type) -> None:
    value = evaluated(VALUES[kind][0], unchanged)
    methods = (MEMBERS[kind] & public(kind)) - READ[kind]
    assert all(callable(attribute(value, name)) for name in methods)
    assert not any(callable(attribute(value, name)) for name in READ[kind])


@pytest.mark.parametrize("kind", VALUES, ids=[kind.__name__ for kind in VALUES])
def test_each_member_can_be_read(kind: type) -> None:
    value = evaluated(VALUES[kind][0], unchanged)
    assert type(value) is kind
    for name in public(kind):
        if name in MEMBERS.get(kind, ()):
            attribute(value, name)
        else:
            with pytest.raises(RefusedError):
                attribute(value, name)


def evaluated(text: str, note: Any, context: dict[str, Any] | None = None) -> Any:
    """Evaluate, and hand the value of each part to ``note``."""
    tree = parse_expression(text)
    noted = dict.fromkeys(parts(tree), 0)
    names = {**names_for_assertions(), **CONTEXT} if context is None else context
    return Expression(tree, check_expression(tree), noted)(names, note)


def parts(tree: Any) -> list[Any]:
    calls = {node.func for node in ast.walk(tree) if isinstance(node, ast.Call)}
    return [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.expr)
        and not isinstance(node, ast.Slice | ast.Starred)
        and not isinstance(getattr(node, "ctx", None), ast.Store)
        and not (node in calls and isinstance(node, ast.Attribute))
    ]


def check(_number: int, value: Any) -> Any:
    todo = [value]
    for each in todo:
        assert type(each) in KNOWN_TYPES, type(each)
        if type(each) in (list, tuple, set) and len(each) < 50:
            todo += each
        if type(each) is dict and len(each) < 50:
            todo += [*each.keys(), *each.values()]
        assert len(todo) < 10_000
    return value


def test_each_value_of_random_assertions_and_attacks_has_a_type_of_the_tables() -> None:
    random = Random(5)
    texts = [text for generate in GENERATORS.values() for _ in range(200) for text in generate(random)]
    for text in (*texts, *(text for text, _ in REACHING)):
        try:
            evaluated(text, check)
        except AssertionError:
            raise AssertionError(text) from None
        except BaseException:  # noqa: BLE001 - what an assertion raises is no value
            continue


def test_no_member_of_a_member_leads_to_another_type() -> None:
    """A walk over all members of all values, and of what they are when they are called without arguments."""
    todo: list[Any] = [evaluated(text, unchanged) for texts in VALUES.values() for text in texts]
    todo += [*names_for_assertions().values(), *(each.__class__ for each in ("", b"", 1j, {1}, ()))]
    names = {*set[str]().union(*MEMBERS.values(), *REFUSED.values()), *RE_FUNCTIONS, *RE_FLAGS, *RE_TYPES}
    names |= {name for kind in KNOWN_TYPES for name in dir(kind)}
    seen: set[tuple[type, str]] = set()
    while todo:
        value = todo.pop()
        for name in sorted(names):
            key = (value if type(value) is type else type(value), name)
            if key in seen:
                continue
            seen.add(key)
            try:
                found = attribute(value, name)
            except (RefusedError, AttributeError):
                continue
            assert type(found) in KNOWN_TYPES, (value, name)
            todo.append(found)
            if callable(found) and type(found) is not type:
                try:
                    called = found()
                except BaseException:  # noqa: BLE001 - most of them need arguments
                    continue
                assert type(called) in KNOWN_TYPES, (value, name)
                todo.append(called)
