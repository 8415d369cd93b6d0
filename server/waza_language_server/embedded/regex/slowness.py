"""Catastrophic backtracking: an unbounded repeat within an unbounded repeat.

Only Python backtracks; RE2 takes linear time. The part after the repeat must be able to fail, because only
then all ways to split the string are tried.
"""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Iterable, Sequence
from typing import Any, cast

_PARSER = cast("Any", importlib.import_module("re._parser"))
_C = cast("Any", importlib.import_module("re._constants"))


def is_catastrophic(pattern: str) -> bool:
    """Return whether Python may need exponential time to find that a string does not match."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            parsed = _PARSER.parse(pattern)
    except (ValueError, RecursionError, OverflowError, _C.error):
        return False
    return _in_sequence(list(parsed), can_fail=False)


def _in_sequence(items: Sequence[Any], *, can_fail: bool) -> bool:
    for index, item in enumerate(items):
        later = can_fail or any(_may_refuse(other) for other in items[index + 1 :])
        if _in_item(item, can_fail=later):
            return True
    return False


def _in_item(item: Any, *, can_fail: bool) -> bool:
    op, value = item
    if op in _repeats() and value[1] == _C.MAXREPEAT:
        body = list(value[2])
        return (can_fail and _is_elastic(body)) or _in_sequence(body, can_fail=can_fail)
    return any(
        _in_sequence(body, can_fail=can_fail and op not in (_C.ASSERT, _C.ASSERT_NOT))
        for body in _bodies(item)
    )


def _is_elastic(body: Sequence[Any]) -> bool:
    """Return whether a repeated part can be split anywhere: an unbounded repeat, nothing else required."""
    needed = [item for item in body if not _is_nullable(item)]
    if len(needed) > 1:
        return False
    elastic = needed or [item for item in body if _is_unbounded(item)]
    return any(_is_unbounded(item) for item in elastic)


def _is_unbounded(item: Any) -> bool:
    op, value = item
    if op in _repeats():
        return value[1] == _C.MAXREPEAT or _is_elastic(list(value[2]))
    if op == _C.SUBPATTERN:
        return _is_elastic(list(value[3]))
    if op == _C.BRANCH:
        return any(_is_elastic(list(branch)) for branch in value[1])
    return False


def _is_nullable(item: Any) -> bool:
    op, value = item
    if op in _repeats():
        return value[0] == 0 or all(_is_nullable(each) for each in value[2])
    if op == _C.SUBPATTERN:
        return all(_is_nullable(each) for each in value[3])
    if op == _C.BRANCH:
        return any(all(_is_nullable(each) for each in branch) for branch in value[1])
    return op in (_C.AT, _C.ASSERT, _C.ASSERT_NOT)


def _may_refuse(item: Any) -> bool:
    return item[0] in (_C.AT, _C.ASSERT, _C.ASSERT_NOT, _C.GROUPREF) or not _is_nullable(item)


def _bodies(item: Any) -> Iterable[list[Any]]:
    op, value = item
    if op in _repeats():
        yield list(value[2])
    elif op == _C.SUBPATTERN:
        yield list(value[3])
    elif op == _C.BRANCH:
        yield from (list(branch) for branch in value[1])
    elif op in (_C.ASSERT, _C.ASSERT_NOT):
        yield list(value[1])


def _repeats() -> tuple[Any, Any]:
    return _C.MAX_REPEAT, _C.MIN_REPEAT
