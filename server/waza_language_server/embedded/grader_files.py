"""Mistakes in grader files: Python programs that print their result, and modules in JavaScript or TypeScript.

Only what is certain from the source is reported. A Python program reads an object from standard input. A
module is searched for a few patterns, not parsed: it must export a function ``grade``.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from waza_engine.frozen import frozen
from waza_engine.later_patterns import compiled_later
from waza_engine.spec.grader_results import (
    HARNESS_KEYS,
    INPUT_KEYS,
    WAZA_KEYS,
    Vocabulary,
    is_harness_result,
    result_issues,
)
from waza_engine.spelling import slip_of
from waza_language_server.embedded.python.python_source import PythonSource

Place = tuple[int, int]
"""The offsets of the first character and after the last one."""
UNKNOWN = object()
"""A value that the source does not decide."""
LONGEST = 200_000
"""Characters; longer files are not read."""
_ACCEPTED: Mapping[str, Any] = {"pass": True, "passed": True, "score": 0.0, "reasoning": "", "outcome": {}}
_INSTEAD = {"message": "reasoning", "feedback": "reasoning", "details": "outcome", "passed": "pass"}


@frozen()
class GraderFinding:
    """A mistake in a grader file; ``message`` is a clause. ``is_advice`` if the file works all the same."""

    place: Place
    message: str
    is_advice: bool = False


@frozen()
class _Key:
    """A key of a result in the source, and its value if that is a constant."""

    name: str
    place: Place
    value: object = UNKNOWN


@frozen()
class _Result:
    """An object in the source that is a result; an ``open`` one may have more keys."""

    place: Place
    keys: tuple[_Key, ...]
    open: bool = False


_Function = ast.FunctionDef | ast.AsyncFunctionDef
_Scope = ast.Module | _Function
_INERT = ast.Import | ast.ImportFrom | ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
_WRITES = frozenset({"dump", "dumps", "write"})
_MOST_STEPS = 4
"""How many names and calls lead from what is printed to the object."""


def program_findings(text: str, vocabulary: Vocabulary) -> Iterator[GraderFinding]:
    """Yield what is wrong in a grader program."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text)
    except SyntaxError as error:
        lines = text.split("\n")
        number = min(max(error.lineno or 1, 1), len(lines))
        start = sum(len(line) + 1 for line in lines[: number - 1])
        place = start, start + len(lines[number - 1])
        yield GraderFinding(place, f"Python cannot read this line: {error.msg}")
        return
    except (ValueError, RecursionError, MemoryError):
        return
    program = _Program(PythonSource(text, tree, 0), tree)
    grade = program.functions.get("grade")
    if grade is not None and all(isinstance(each, _INERT) or _is_plain(each) for each in tree.body):
        start = program.source.start(grade)
        message = (
            "nothing calls `grade`: a Python grader is run as a program, which reads the object from "
            "standard input and prints its result as JSON"
        )
        yield GraderFinding((start, text.index(":", start)), message)
    for result in program.results():
        yield from _result_findings(result, vocabulary)
    yield from _input_findings(program.input_keys())


_MAY_EXPORT = compiled_later(
    r"\b(?:module|exports|require)\b"
    r"|\bexport\s*(?:\*|\{[^}]*\bgrade\b|(?!\s*default\b)[^;]{0,200}?\bgrade\b"
    r"|default\s++(?!async\b|function\b|\())"
)
"""An export that is, or may be, one of ``grade``."""
_MISTAKES = (
    (
        compiled_later(r"\bexport\s+(?P<place>default)\b"),
        "export the function under this name, not as the default",
    ),
    (
        compiled_later(r"\b(?:const|let|var|function)\s+(?P<place>grade)\b"),
        "write `export` before it, or list it in an `export`",
    ),
    (compiled_later(r"\A(?P<place>\w*)"), "export one"),
)
"""The likely mistakes in a module without such an export, and what to do instead."""


def module_findings(text: str) -> Iterator[GraderFinding]:
    """Yield the problem of a grader module that does not export ``grade``."""
    if _MAY_EXPORT.search(text) is not None:
        return
    for pattern, instead in _MISTAKES:
        if (found := pattern.search(text)) is not None:
            message = f"every answer ends in an error, because no function `grade` is exported; {instead}"
            yield GraderFinding(found.span("place"), message)
            return


def _result_findings(result: _Result, vocabulary: Vocabulary) -> Iterator[GraderFinding]:
    """Yield the keys that nothing reads, and why a run refuses the result."""
    names = {key.name for key in result.keys}
    known = HARNESS_KEYS if is_harness_result(names, vocabulary) else WAZA_KEYS
    if vocabulary == "auto":
        known |= {"pass"}
    values: dict[str, Any] = {}
    for key in result.keys:
        intended = None
        if key.name not in known:
            intended = _INSTEAD.get(key.name) or slip_of(key.name, known - names)
        name = key.name if intended is None or intended in names else intended
        values[name] = _ACCEPTED.get(name) if key.value is UNKNOWN else key.value
        # A result may have the words of both worlds.
        if key.name not in known and (intended is None or intended not in names):
            yield _unread(key, intended)
    if result.open:
        decides = "pass" if is_harness_result(values, vocabulary) or "passed" not in values else "passed"
        values = {decides: True, "score": 0.0, **values}
    if issues := result_issues(values, vocabulary):
        yield GraderFinding(result.place, f"a run refuses this result, because {', '.join(issues)}")


def _unread(key: _Key, intended: str | None) -> GraderFinding:
    if key.name in _INSTEAD:
        message = f"`{key.name}` is not read in a result with `pass`; write `{intended}`"
    elif intended is not None:
        message = f"a result has no key `{key.name}`; write `{intended}`"
    else:
        message = f"a result has no key `{key.name}`, so nothing reads it; move it into `outcome`"
    return GraderFinding(key.place, message, is_advice=intended is None)


def _input_findings(keys: Iterable[_Key]) -> Iterator[GraderFinding]:
    """Yield the misspelt keys among those that are read from the input."""
    for key in keys:
        slip = None if key.name in INPUT_KEYS else slip_of(key.name, INPUT_KEYS)
        if slip is not None:
            message = f"the input of a grader has no key `{key.name}`; write `{slip}`"
            yield GraderFinding(key.place, message)


def _is_plain(statement: ast.stmt) -> bool:
    """Return whether a statement calls nothing: a docstring, a constant."""
    return isinstance(statement, ast.Expr | ast.Assign | ast.AnnAssign) and not any(
        isinstance(node, ast.Call) for node in ast.walk(statement)
    )


class _Program:
    """The syntax tree of a program; every statement is looked at in its own function alone."""

    def __init__(self, source: PythonSource, tree: ast.Module) -> None:
        self.source = source
        self._nodes = list(ast.walk(tree))
        self.functions = {node.name: node for node in tree.body if isinstance(node, _Function)}
        scopes = [tree, *(node for node in self._nodes if isinstance(node, _Function))]
        self._bodies = [(scope, list(_own_nodes(scope))) for scope in scopes]

    def results(self) -> Iterator[_Result]:
        """Yield the objects that are printed as JSON."""
        seen = set[ast.Dict]()
        for scope, nodes in self._bodies:
            for node in nodes:
                written = _printed(node) if isinstance(node, ast.Call) else None
                for literal, is_open in self._literals(written, scope) if written is not None else ():
                    if literal not in seen:
                        seen.add(literal)
                        yield self._result(literal, is_open=is_open)

    def _literals(self, value: ast.expr, scope: _Scope, step: int = 0) -> Iterator[tuple[ast.Dict, bool]]:
        """Yield the objects that a value may be, each with whether keys are added to it elsewhere."""
        nodes = next(nodes for known, nodes in self._bodies if known is scope)
        match value:
            case ast.Dict():
                yield value, False
            case ast.IfExp():
                yield from self._literals(value.body, scope, step)
                yield from self._literals(value.orelse, scope, step)
            case ast.Name(id=name) if step < _MOST_STEPS:
                is_open = any(_changes(node, name) for node in nodes)
                for node in nodes:
                    if isinstance(node, ast.Assign) and any(_is_name(each, name) for each in node.targets):
                        for literal, more in self._literals(node.value, scope, step + 1):
                            yield literal, more or is_open
            case ast.Call(func=ast.Name(id=name)) if step < _MOST_STEPS and name in self.functions:
                function = self.functions[name]
                for node in _own_nodes(function):
                    if isinstance(node, ast.Return) and node.value is not None:
                        yield from self._literals(node.value, function, step + 1)
            case _:
                pass

    def _result(self, literal: ast.Dict, *, is_open: bool) -> _Result:
        keys: list[_Key] = []
        for key, value in zip(literal.keys, literal.values, strict=True):
            if isinstance(key, ast.Constant) and isinstance(key.value, str):
                keys.append(_Key(key.value, self.source.span(key), _constant(value)))
            else:
                is_open = True
        return _Result(self.source.span(literal), tuple(keys), is_open)

    def input_keys(self) -> Iterator[_Key]:
        """Yield the keys that are read from the object on standard input."""
        inputs = {
            target.id
            for node in self._nodes
            if isinstance(node, ast.Assign) and self._is_input(node.value)
            for target in node.targets
            if isinstance(target, ast.Name)
        }
        for node in self._nodes:
            read = _read_key(node)
            if read is None:
                continue
            owner, key = read
            if (isinstance(owner, ast.Name) and owner.id in inputs) or self._is_input(owner):
                yield _Key(str(key.value), self.source.span(key))

    def _is_input(self, value: ast.expr) -> bool:
        match value:
            case ast.Call(
                func=ast.Attribute(attr="load" | "loads") | ast.Name(id="load" | "loads"), args=[given]
            ):
                return "stdin" in self.source.segment(given)
            case _:
                return False


def _own_nodes(scope: _Scope) -> Iterator[ast.AST]:
    """Yield the nodes of a function without those of functions in it."""
    left: list[ast.AST] = [*reversed(scope.body)]
    while left:
        node = left.pop()
        yield node
        if not isinstance(node, _Function | ast.Lambda | ast.ClassDef):
            left += reversed([*ast.iter_child_nodes(node)])


def _printed(call: ast.Call) -> ast.expr | None:
    """Return the value that a call writes to standard output as JSON."""
    match call:
        case ast.Call(func=ast.Attribute(attr="dump") | ast.Name(id="dump"), args=[value, stream, *_]):
            return value if _is_stdout(stream) else None
        case ast.Call(func=ast.Name(id="print"), args=[text], keywords=keywords):
            if any(keyword.arg == "file" and not _is_stdout(keyword.value) for keyword in keywords):
                return None
        case ast.Call(func=ast.Attribute(value=stream, attr="write"), args=[text]) if _is_stdout(stream):
            text = text.left if isinstance(text, ast.BinOp) else text
        case _:
            return None
    match text:
        case ast.Call(func=ast.Attribute(attr="dumps") | ast.Name(id="dumps"), args=[value, *_]):
            return value
        case _:
            return None


def _is_stdout(node: ast.expr) -> bool:
    return (isinstance(node, ast.Attribute) and node.attr == "stdout") or _is_name(node, "stdout")


def _is_name(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _changes(node: ast.AST, name: str) -> bool:
    """Return whether a node may add keys to the object with a name."""
    match node:
        case ast.Subscript(value=value, ctx=ast.Store() | ast.Del()) | ast.AugAssign(target=value):
            return _is_name(value, name)
        case ast.Call(func=ast.Attribute(value=value, attr=method), args=arguments) if method not in _WRITES:
            return _is_name(value, name) or any(_is_name(argument, name) for argument in arguments)
        case ast.Call(func=ast.Name(id=function), args=arguments) if function not in (*_WRITES, "print"):
            return any(_is_name(argument, name) for argument in arguments)
        case _:
            return False


def _constant(node: ast.expr) -> object:
    """Return the value of a constant, or one of the same type, else ``UNKNOWN``."""
    match node:
        case ast.Constant(value=value):
            return value
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as value)):
            return -value
        case ast.Dict():
            return {}
        case ast.List():
            return []
        case ast.JoinedStr():
            return ""
        case ast.IfExp():
            first, second = _constant(node.body), _constant(node.orelse)
            return first if type(first) is type(second) else UNKNOWN
        case _:
            return UNKNOWN


def _read_key(node: ast.AST) -> tuple[ast.expr, ast.Constant] | None:
    """Return an object and the constant key that is read from it."""
    match node:
        case ast.Subscript(value=owner, slice=ast.Constant(value=str()) as key, ctx=ast.Load()):
            return owner, key
        case ast.Call(
            func=ast.Attribute(value=owner, attr="get"), args=[ast.Constant(value=str()) as key, *_]
        ):
            return owner, key
        case _:
            return None
