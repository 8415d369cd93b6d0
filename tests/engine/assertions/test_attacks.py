"""No assertion reaches what is not in the tables, and none costs more than it may; nothing is compiled."""

import builtins
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from tests.engine.assertions.attacks import COSTLY, REACHING
from tests.engine.assertions.expressions import CONTEXT
from waza_engine.assertions.operations import names_for_assertions
from waza_engine.assertions.worker import RECURSION_LIMIT, Evaluation


@pytest.fixture(autouse=True)
def _nothing_is_compiled(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    def refuse(*args: Any, **_: Any) -> Any:
        raise AssertionError(f"compiled: {args[:1]!r}")

    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(RECURSION_LIMIT)
    with monkeypatch.context() as patched:
        for name in ("eval", "exec"):
            patched.setattr(builtins, name, refuse)
        yield
    sys.setrecursionlimit(limit)


def outcome(text: str) -> tuple[bool, str | None]:
    return Evaluation(1_000_000_000, limited=True)(text, {**names_for_assertions(), **CONTEXT})


def test_there_are_many_of_them() -> None:
    assert len({text for text, _ in (*REACHING, *COSTLY)}) >= 250


@pytest.mark.parametrize(("text", "expected"), REACHING)
def test_what_is_not_in_the_tables_does_not_exist(text: str, expected: str) -> None:
    passed, error = outcome(text)
    assert not passed
    assert expected in str(error)


@pytest.mark.parametrize(("text", "expected"), COSTLY, ids=[text[:40] for text, _ in COSTLY])
def test_what_costs_without_end_is_refused(text: str, expected: str) -> None:
    passed, error = outcome(text)
    assert not passed
    assert expected in str(error)
