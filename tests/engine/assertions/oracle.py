"""What Python's own `eval` makes of assertions, and where the interpreter of assertions differs from it.

The old way of evaluating, which upstream has too. It is no sandbox: only generated expressions come here.
"""

from __future__ import annotations

import ast
import copy
import re
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from waza_engine.assertions.assertion_syntax import RefusedSyntaxError, check_expression, parse_expression
from waza_engine.assertions.interpreter import Expression
from waza_engine.assertions.names import RefusedError, is_refused_attribute
from waza_engine.assertions.operations import names_for_assertions

_ADDRESSES = re.compile(r"<method '\w+' of '\w+' objects>|<[^<>]*(?:<[^<>]*>[^<>]*)* at 0x[0-9a-f]+>")
_PROXIES = re.compile(r"mappingproxy\((\{[^{}]*\})\)")
_PUBLIC_OF_RE = (*vars(re)["__all__"], "DEBUG")


@dataclass(frozen=True)
class Result:
    """What an assertion came to: its verdict, its value as text, the kind of its error and what it says."""

    passed: bool
    value: str | None
    error: str | None
    message: str = ""

    def agrees_with(self, other: Result) -> bool:
        """Return whether verdict, value and kind of error are the same, or both failed for the encoding."""
        if other.error == "refused" and "the encoding `" in other.message:
            return True
        return (self.passed, self.value, self.error) == (other.passed, other.value, other.error)


def by_python(assertions: Sequence[str], context: dict[str, Any]) -> Iterator[Result]:
    """Yield what `eval` makes of assertions that share a context."""
    module = type(re)("re")
    module.__dict__.update({name: getattr(re, name) for name in _PUBLIC_OF_RE})
    names = {**names_for_assertions(), "re": module, "True": True, "False": False, **copy.deepcopy(context)}
    for text in assertions:
        yield _result(lambda text=text: _eval(text, names))
    yield Result(True, _shown({name: names[name] for name in context}), None)


def by_interpreter(assertions: Sequence[str], context: dict[str, Any]) -> Iterator[Result]:
    """Yield what the interpreter makes of assertions that share a context."""
    names = {**names_for_assertions(), **copy.deepcopy(context)}
    for text in assertions:
        yield _result(lambda text=text: _interpreted(text, names))
    yield Result(True, _shown({name: names[name] for name in context}), None)


def differences(assertions: Sequence[str], context: dict[str, Any]) -> list[tuple[str, Result, Result]]:
    """Return the assertions on which the two differ; the last stands for the context that they leave."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pairs = zip(
            (*assertions, "(the context)"),
            by_python(assertions, context),
            by_interpreter(assertions, context),
            strict=True,
        )
        return [
            (text, python, ours)
            for text, python, ours in pairs
            if not python.agrees_with(ours) and not _lacks_import(python)
        ]


def _lacks_import(result: Result) -> bool:
    """Return whether C code looked for what empty built-ins lack; the interpreter's functions find it."""
    return result.error == "KeyError" and "__import__" in result.message


def _result(evaluate: Any) -> Result:
    try:
        value = evaluate()
        return Result(bool(value), _shown(value), None)
    except (RefusedError, RefusedSyntaxError) as error:
        return Result(False, None, "refused", str(error))
    except BaseException as error:  # noqa: BLE001 - an assertion may raise anything
        # Python's words depend on how it compiles a comprehension; both say that the name has no value.
        kind = "NameError" if isinstance(error, NameError) else type(error).__name__
        return Result(False, None, kind, str(error))


def _shown(value: Any) -> str:
    return _PROXIES.sub(r"\1", _ADDRESSES.sub("<an object>", repr(value)))


def _eval(text: str, names: dict[str, Any]) -> Any:
    tree = ast.parse(text.lstrip(" \t"), mode="eval")
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and is_refused_attribute(node.attr):
            raise RefusedError(node.attr)
    return eval(compile(tree, "<assertion>", "eval"), {"__builtins__": {}}, names)


def _interpreted(text: str, names: dict[str, Any]) -> Any:
    tree = parse_expression(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and is_refused_attribute(node.attr):
            raise RefusedError(node.attr)
    return Expression(tree, check_expression(tree))(names)
