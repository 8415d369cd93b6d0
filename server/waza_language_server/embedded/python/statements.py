"""Statements in place of an expression, and their translation to expressions."""

from __future__ import annotations

import ast

from waza_language_server.embedded.python.python_source import PythonSource, parse_python
from waza_language_server.embedded.python.scopes import with_names_replaced

_ATOMS = (ast.Name, ast.Constant, ast.Call, ast.Attribute, ast.Subscript, ast.List, ast.Dict, ast.Set)


def is_statement(text: str) -> bool:
    """Return whether a text that is not an expression parses as Python statements."""
    source = parse_python(text.strip(), "exec")
    return isinstance(source, PythonSource) and isinstance(source.tree, ast.Module) and bool(source.tree.body)


def as_expressions(text: str) -> tuple[str, ...] | None:
    """Return expressions equivalent to the statements, one for each assertion, or None.

    ``assert`` and ``return`` are dropped, so are a trailing semicolon and ``import re``; ``x = E`` is inlined
    into its uses. An unused assignment has no equivalent.
    """
    source = parse_python(text.strip(), "exec")
    if not isinstance(source, PythonSource) or not isinstance(source.tree, ast.Module):
        return None
    meant: dict[str, str] = {}
    used: set[str] = set()
    expressions: list[str] = []
    for statement in source.tree.body:
        if _is_import_of_re(statement):
            continue
        value = _value(statement)
        if value is None:
            return None
        written = _inlined(source, value, meant, used)
        if written is None:
            return None
        if isinstance(statement, ast.Assign):
            (target,) = statement.targets
            assert isinstance(target, ast.Name)
            meant[target.id] = written if isinstance(value, _ATOMS) else f"({written})"
        else:
            expressions.append(written)
    return tuple(expressions) if used == set(meant) else None


def comparison_meant(text: str, known: frozenset[str]) -> str | None:
    """Return ``a == b`` for the single statement ``a = b`` when ``a`` is a name the assertion knows."""
    source = parse_python(text.strip(), "exec")
    if not isinstance(source, PythonSource) or not isinstance(source.tree, ast.Module):
        return None
    match source.tree.body:
        case [ast.Assign(targets=[target])]:
            root = target
            while isinstance(root, ast.Subscript | ast.Attribute):
                root = root.value
            if not isinstance(root, ast.Name) or root.id not in known:
                return None
            equals = [t for t in source.tokens if t.text == "=" and t.start >= source.end(target)]
            if not equals:
                return None
            return source.text[: equals[0].start] + "==" + source.text[equals[0].end :]
        case _:
            return None


def _is_import_of_re(statement: ast.stmt) -> bool:
    match statement:
        case ast.Import(names=[ast.alias(name="re", asname=None)]):
            return True
        case _:
            return False


def _value(statement: ast.stmt) -> ast.expr | None:
    match statement:
        case ast.Expr(value=value) | ast.Return(value=ast.expr() as value) | ast.Assert(test=value):
            return value
        case ast.Assign(targets=[ast.Name()], value=value):
            return value
        case _:
            return None


def _inlined(source: PythonSource, value: ast.expr, meant: dict[str, str], used: set[str]) -> str | None:
    """Return the source of an expression with the assigned names replaced by their values."""

    def value_of(use: ast.Name) -> str:
        used.add(use.id)
        return meant[use.id]

    text = with_names_replaced(source, value, meant.keys(), value_of)
    return f"({text})" if text is not None and "\n" in text else text
