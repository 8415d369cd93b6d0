"""The syntax of assertions: parsed by Python, and then checked here, never compiled.

CPython 3.12 and 3.13 crash while they compile some twenty nested comprehensions, and what is compiled can be
run. Light: the language server imports it too.

The rules are those of ``eval(text, {"__builtins__": {}}, context)``: the context is seen at the top alone.
Generators, lambdas and (before Python 3.12) the other comprehensions see their own names, those of enclosing
ones, and the names that a walrus within a comprehension bound: these are shared by one evaluation.

Architecture invariant: the messages of errors and the order of the checks are those of CPython's
``symtable.c``.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from typing import Literal, NoReturn

from waza_engine.later_patterns import compiled_later

COMPREHENSIONS_SEE_THE_CONTEXT = sys.version_info >= (3, 12)
"""True if list, set and dict comprehensions at the top see the names of the context."""
CONTEXT_BEFORE_SHARED = sys.version_info >= (3, 13)
"""True if such comprehensions see a name of the context before one that a walrus elsewhere shares."""

Comprehension = ast.GeneratorExp | ast.ListComp | ast.SetComp | ast.DictComp

_KNOWN_NODES: frozenset[type[ast.AST]] = frozenset(
    {
        *(ast.Expression, ast.Constant, ast.Name, ast.NamedExpr, ast.BoolOp, ast.UnaryOp, ast.BinOp),
        *(ast.Compare, ast.IfExp, ast.List, ast.Tuple, ast.Set, ast.Dict, ast.Starred, ast.Subscript),
        *(ast.Slice, ast.Attribute, ast.Call, ast.keyword, ast.Lambda, ast.arguments, ast.arg),
        *(ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.comprehension),
        *(ast.JoinedStr, ast.FormattedValue),
    }
)
_WITHOUT_SCOPE = (ast.expr_context, ast.operator, ast.unaryop, ast.boolop, ast.cmpop)
_WRITTEN = {"Yield": "yield", "YieldFrom": "yield from", "Await": "await"}


class RefusedSyntaxError(SyntaxError):
    """The expression is valid Python; assertions do not have a part of it."""


class Scope:
    """A scope: the top, a lambda, a generator, or another comprehension.

    ``slots`` are its variables with their index in a frame, whose first item is the frame around it.
    ``shared`` are the names that belong to the whole evaluation.
    """

    def __init__(
        self, kind: Literal["top", "lambda", "generator", "comprehension"], parent: Scope | None
    ) -> None:
        self.kind = kind
        self.parent = parent
        self.slots: dict[str, int] = {}
        self.shared: set[str] = set()
        self._targets: set[str] = set()
        self._outer: set[str] = set()

    def place_of(self, name: str) -> tuple[Literal["slot", "shared", "context", "nowhere"], int, int]:
        """Return the kind of a name's location, how many frames further out it is, and its index there."""
        depth, scope, sees, is_shared = 0, self, True, False
        while scope.parent is not None:
            is_shared = is_shared or name in scope.shared
            if name in scope.slots and not is_shared:
                return "slot", depth, scope.slots[name]
            sees = sees and scope.kind == "comprehension" and COMPREHENSIONS_SEE_THE_CONTEXT
            depth, scope = depth + 1, scope.parent
        if name in scope.shared and not (sees and self._looks_outward(name)):
            return "shared", depth, 1
        return ("context" if sees else "nowhere"), depth, 0

    def _looks_outward(self, name: str) -> bool:
        return CONTEXT_BEFORE_SHARED and self.parent is not None and name not in self.shared

    def add(self, name: str) -> None:
        """Make a name a variable of this scope."""
        self.slots.setdefault(name, len(self.slots) + 1)

    def add_target(self, node: ast.Name) -> None:
        """Make a name the variable of a loop. Raises ``SyntaxError``."""
        if node.id in self.shared | self._outer:
            _fail(f"comprehension inner loop cannot rebind assignment expression target '{node.id}'", node)
        self._targets.add(node.id)
        self.add(node.id)

    def bind(self, node: ast.Name) -> None:
        """Make a name the target of a walrus in this scope. Raises ``SyntaxError``."""
        name, owner = node.id, self
        while owner.parent is not None and owner.kind != "lambda":
            if name in owner._targets:
                _fail(f"assignment expression cannot rebind comprehension iteration variable '{name}'", node)
            owner = owner.parent
        if owner.parent is not None:
            owner.add(name)
            if owner is not self:
                self._outer.add(name)
        elif owner is not self:
            owner.shared.add(name)
            self.shared.add(name)


def scopes_of(tree: ast.Expression) -> dict[ast.AST, Scope]:
    """Return the scopes of an expression by their nodes. Raises ``SyntaxError``."""
    top = Scope("top", None)
    walk = _Walk(tree, top)
    walk.visit(tree.body, top, in_iterable=False)
    return walk.scopes


class _Walk:
    def __init__(self, tree: ast.Expression, top: Scope) -> None:
        self.scopes: dict[ast.AST, Scope] = {tree: top}

    def visit(self, node: ast.AST, scope: Scope, *, in_iterable: bool) -> None:
        match node:
            case ast.Name() | ast.Constant():
                return
            case ast.NamedExpr(target=target, value=value):
                if in_iterable:
                    _fail("assignment expression cannot be used in a comprehension iterable expression", node)
                _check_bound(target.id, target)
                scope.bind(target)
                self.visit(value, scope, in_iterable=in_iterable)
            case ast.Lambda():
                self._visit_lambda(node, scope, in_iterable=in_iterable)
            case ast.GeneratorExp() | ast.ListComp() | ast.SetComp() | ast.DictComp():
                self._visit_comprehension(node, scope, in_iterable=in_iterable)
            case ast.Starred():
                _fail("can't use starred expression here", node)
            case _ if type(node) not in _KNOWN_NODES:
                kind = type(node).__name__
                _refuse(f"`{_WRITTEN.get(kind, kind)}` is not allowed in an assertion", node)
            case _:
                if isinstance(node, ast.Call):
                    _check_keywords(node)
                takes_starred = isinstance(node, ast.Call | ast.List | ast.Tuple | ast.Set)
                for child in ast.iter_child_nodes(node):
                    if isinstance(child, _WITHOUT_SCOPE):
                        continue
                    part = child.value if takes_starred and isinstance(child, ast.Starred) else child
                    self.visit(part, scope, in_iterable=in_iterable)

    def _visit_lambda(self, node: ast.Lambda, scope: Scope, *, in_iterable: bool) -> None:
        for default in (*node.args.defaults, *node.args.kw_defaults):
            if default is not None:
                self.visit(default, scope, in_iterable=in_iterable)
        inner = self.scopes[node] = Scope("lambda", scope)
        for parameter in parameters_of(node):
            _check_bound(parameter.arg, parameter)
            if parameter.arg in inner.slots:
                _fail(f"duplicate argument '{parameter.arg}' in function definition", parameter)
            inner.add(parameter.arg)
        self.visit(node.body, inner, in_iterable=in_iterable)

    def _visit_comprehension(self, node: Comprehension, scope: Scope, *, in_iterable: bool) -> None:
        first, *others = node.generators
        self.visit(first.iter, scope, in_iterable=True)
        kind = "generator" if isinstance(node, ast.GeneratorExp) else "comprehension"
        inner = self.scopes[node] = Scope(kind, scope)
        for loop in (first, *others):
            if loop.is_async:
                _refuse("`async` is not allowed in an assertion", node)
            _add_targets(loop.target, inner)
            if loop is not first:
                self.visit(loop.iter, inner, in_iterable=True)
            for condition in loop.ifs:
                self.visit(condition, inner, in_iterable=in_iterable)
        for part in (node.value, node.key) if isinstance(node, ast.DictComp) else (node.elt,):
            self.visit(part, inner, in_iterable=in_iterable)


def parameters_of(node: ast.Lambda) -> Iterator[ast.arg]:
    """Yield the parameters of a lambda: those of positions and names, then `*args` and `**keywords`."""
    yield from (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)
    yield from (each for each in (node.args.vararg, node.args.kwarg) if each is not None)


def _add_targets(target: ast.expr, scope: Scope) -> None:
    match target:
        case ast.Name():
            _check_bound(target.id, target)
            scope.add_target(target)
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            starred = [part for part in parts if isinstance(part, ast.Starred)]
            if len(starred) > 1:
                _fail("multiple starred expressions in assignment", target)
            for part in parts:
                _add_targets(part.value if isinstance(part, ast.Starred) else part, scope)
        case ast.Starred():
            _fail("starred assignment target must be in a list or tuple", target)
        case _:
            _refuse("a loop in an assertion binds names, not attributes or items", target)


def _check_keywords(node: ast.Call) -> None:
    seen: set[str] = set()
    for keyword in node.keywords:
        if keyword.arg is None:
            continue
        _check_bound(keyword.arg, keyword)
        if keyword.arg in seen:
            _fail(f"keyword argument repeated: {keyword.arg}", keyword)
        seen.add(keyword.arg)


def _check_bound(name: str, node: ast.expr | ast.arg | ast.keyword) -> None:
    if name == "__debug__":
        _fail("cannot assign to __debug__", node)


def _fail(message: str, node: ast.AST) -> NoReturn:
    raise SyntaxError(message, _position(node))


def _refuse(message: str, node: ast.AST) -> NoReturn:
    raise RefusedSyntaxError(message, _position(node))


def _position(node: ast.AST) -> tuple[str, int, int, None, int, int]:
    assert isinstance(node, ast.expr | ast.arg | ast.keyword)
    start, end = node.col_offset + 1, (node.end_col_offset or node.col_offset) + 1
    return "<assertion>", node.lineno, start, None, node.end_lineno or node.lineno, end


LONGEST = 100_000
"""Characters of an assertion."""
MOST_NESTED = 100
"""Brackets within brackets; Python's parser takes 200."""
_BRACKETS = compiled_later(
    r"""'''(?:[^\\]|\\.)*?'''|\"\"\"(?:[^\\]|\\.)*?\"\"\"|'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|\#[^\n]*|[()\[\]{}]""",
    re.DOTALL,
)


def parse_expression(text: str) -> ast.Expression:
    """Return the syntax tree of an assertion, unchecked, without whitespace before it.

    Raises ``SyntaxError``, ``ValueError`` for characters that Python rejects, and ``RecursionError`` when it
    is nested too deeply.
    """
    source = text.lstrip(" \t")
    check_size(source)
    try:
        return ast.parse(source, "<assertion>", "eval")
    except MemoryError:
        # The parser reports this when its own stack is full.
        raise RecursionError("nested too deeply") from None


def check_size(source: str) -> None:
    """Raise ``SyntaxError`` when a string is too long or nested too deeply for the parser."""
    if len(source) > LONGEST:
        message = f"the assertion is longer than {LONGEST:,} characters"
        raise RefusedSyntaxError(message, ("<assertion>", 1, 1, None))
    if sum(map(source.count, "([{")) <= MOST_NESTED:
        return
    depth = 0
    for found in _BRACKETS.finditer(source):
        if found[0] in "([{":
            depth += 1
            if depth > MOST_NESTED:
                line, column = source.count("\n", 0, found.start()), source.rfind("\n", 0, found.start())
                position = ("<assertion>", line + 1, found.start() - column, None)
                raise SyntaxError("too many nested parentheses", position)
        elif found[0] in ")]}":
            depth -= 1


def check_expression(tree: ast.Expression) -> dict[ast.AST, Scope]:
    """Return the scopes of an expression by their nodes.

    Raises ``SyntaxError`` for what Python's compiler rejects, and for what assertions do not have.
    """
    return scopes_of(tree)
