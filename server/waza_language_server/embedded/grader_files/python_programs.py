"""Grader files in Python: programs that read an object from standard input and print their result."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator

from waza_engine.spec.grader_results import Vocabulary
from waza_language_server.embedded.grader_files.findings import (
    UNKNOWN,
    GraderFinding,
    Key,
    ResultSource,
    StatusTest,
    input_findings,
    result_findings,
    status_findings,
)
from waza_language_server.embedded.python.python_source import PythonSource

_Function = ast.FunctionDef | ast.AsyncFunctionDef
_Scope = ast.Module | _Function
_INERT = ast.Import | ast.ImportFrom | ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
_WRITES = frozenset({"dump", "dumps", "write"})
_PURE = frozenset({"all", "any", "bool", "dict", "float", "int", "len", "max", "min", "round", "str", "sum"})
_METHODS = frozenset(
    {"count", "endswith", "get", "items", "keys", "lower", "startswith", "strip", "upper", "exit"}
)
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
    yield from program.unserialized_findings()
    for result in program.results():
        yield from result_findings(result, vocabulary)
    yield from input_findings(program.input_keys())
    yield from status_findings(program.status_tests())


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

    def results(self) -> Iterator[ResultSource]:
        """Yield the objects that are printed as JSON."""
        seen = set[ast.Dict]()
        for scope, nodes in self._bodies:
            for node in nodes:
                written = _printed(node) if isinstance(node, ast.Call) else None
                for literal, is_open in self._literals(written, scope) if written is not None else ():
                    if literal not in seen:
                        seen.add(literal)
                        yield self._result(literal, is_open=is_open)

    def unserialized_findings(self) -> Iterator[GraderFinding]:
        """Yield the object that is printed without ``json.dumps``, if the program writes nothing else."""
        if any(map(_may_redefine_print, self._nodes)):
            return
        # Anything that is called may write the result, except what ``_only_reads``.
        calls = [node for node in self._nodes if isinstance(node, ast.Call)]
        printed = [call for call in calls if _is_name(call.func, "print")]
        others = [call for call in calls if call not in printed and not _only_reads(call)]
        match printed:
            case [ast.Call(args=[ast.Dict() as literal], keywords=[])] if not others and any(
                map(_has_single_quotes, literal.keys)
            ):
                message = "`print` writes this object as Python, not as JSON; print `json.dumps` of it"
                yield GraderFinding(self.source.span(literal), message)
            case _:
                pass

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

    def _result(self, literal: ast.Dict, *, is_open: bool) -> ResultSource:
        keys: list[Key] = []
        for key, value in zip(literal.keys, literal.values, strict=True):
            if isinstance(key, ast.Constant) and isinstance(key.value, str):
                keys.append(Key(key.value, self.source.span(key), _constant(value)))
            else:
                is_open = True
        return ResultSource(self.source.span(literal), tuple(keys), is_open)

    def input_keys(self) -> Iterator[Key]:
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
                yield Key(str(key.value), self.source.span(key))

    def _is_input(self, value: ast.expr) -> bool:
        match value:
            case ast.Call(
                func=ast.Attribute(attr="load" | "loads") | ast.Name(id="load" | "loads"), args=[given]
            ):
                return "stdin" in self.source.segment(given)
            case _:
                return False

    def status_tests(self) -> Iterator[StatusTest]:
        """Yield the comparisons with the status of an item of a loop, in a file that reads a trajectory."""
        if "trajectory" not in self.source.text:
            return
        loops = [node for node in self._nodes if isinstance(node, ast.For | ast.AsyncFor | ast.comprehension)]
        items = {node.target.id for node in loops if isinstance(node.target, ast.Name)}
        for node in self._nodes:
            if isinstance(node, ast.Compare) and len(node.ops) == 1:
                sides = node.left, node.comparators[0]
                if any(_is_status(side, items) for side in sides):
                    for side in sides:
                        yield from self._words(side)

    def _words(self, side: ast.expr) -> Iterator[StatusTest]:
        listed = side.elts if isinstance(side, ast.Tuple | ast.List | ast.Set) else [side]
        for word in listed:
            if isinstance(word, ast.Constant) and isinstance(word.value, str):
                yield StatusTest(self.source.span(word), word.value)


def _may_redefine_print(node: ast.AST) -> bool:
    """Return whether a node may change what `print` and the methods of values do."""
    match node:
        case ast.Name(id="print", ctx=ast.Store()) | ast.Attribute(ctx=ast.Store()) | ast.ClassDef():
            return True
        case ast.FunctionDef(name=name):
            return name == "print" or name in _PURE
        case ast.alias(name=name, asname=other):
            return name == "*" or (other or name) == "print"
        case _:
            return False


def _has_single_quotes(key: ast.expr | None) -> bool:
    """Return whether Python prints a key in single quotes: with one inside, it takes double quotes."""
    return isinstance(key, ast.Constant) and isinstance(key.value, str) and "'" not in key.value


def _only_reads(call: ast.Call) -> bool:
    """Return whether a call reads the input or works on a value, and certainly prints nothing."""
    match call.func:
        case ast.Name(id=name):
            return name in _PURE
        case ast.Attribute(attr="load" | "loads", value=ast.Name(id="json")):
            return True
        case ast.Attribute(attr="read", value=stream):
            return isinstance(stream, ast.Attribute) and stream.attr == "stdin"
        case ast.Attribute(attr=name):
            return name in _METHODS
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


def _is_status(node: ast.expr, items: set[str]) -> bool:
    read = _read_key(node)
    if read is not None:
        owner, name = read[0], read[1].value
    elif isinstance(node, ast.Attribute):
        owner, name = node.value, node.attr
    else:
        return False
    return name == "status" and isinstance(owner, ast.Name) and owner.id in items
