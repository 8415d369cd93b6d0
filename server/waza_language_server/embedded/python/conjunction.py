"""The parts of an assertion in Python that all must hold."""

from __future__ import annotations

import ast

from waza_language_server.embedded.python.python_source import PythonSource, parse_python


def conjuncts(value: str) -> tuple[str, ...]:
    """Return the operands of the outermost ``and``, as assertions; () without one.

    Also () if there is a comment, because it may be about either operand.
    """
    source = parse_python(value)
    if not isinstance(source, PythonSource):
        return ()
    body = source.expression.body
    if not isinstance(body, ast.BoolOp) or not isinstance(body.op, ast.And):
        return ()
    ends = [0, *map(source.end, body.values)]
    starts = [*map(source.start, body.values), len(value)]
    if any("#" in value[end:start] for end, start in zip(ends, starts, strict=True)):
        return ()
    parts = (source.segment(each) for each in body.values)
    found = tuple(
        f"({part})" if isinstance(each, ast.NamedExpr) else part
        for each, part in zip(body.values, parts, strict=True)
    )
    return () if any("\n" in part for part in found) else found
