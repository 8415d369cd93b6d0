"""Scopes of an assertion: the names that exist when it runs, and those that vanish in a nested scope.

Assertions are evaluated with empty globals and the context as locals. A lambda or a comprehension is a
function of its own: it looks its free names up in the empty globals. Only its own variables and its first
iterable, which is evaluated outside, work. Since Python 3.12 list, set and dict comprehensions are inlined;
generator expressions and lambdas are still functions.

Architecture invariant: the rule of Python 3.11 is written out here, whatever Python runs the language server.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterator
from dataclasses import field
from typing import Literal

from waza_engine.frozen import frozen
from waza_language_server.embedded.python.python_source import PythonSource

Comprehension = ast.GeneratorExp | ast.ListComp | ast.SetComp | ast.DictComp
ScopeNode = Comprehension | ast.Lambda


@frozen()
class NameUse:
    """A name that does not exist when the assertion runs.

    ``scopes`` are the nested scopes around it that hide it, outermost first; empty at the top level.
    ``unknown`` names exist nowhere, ``vanishing`` ones exist at the top level only.
    """

    node: ast.Name
    reason: Literal["unknown", "vanishing"]
    scopes: tuple[ScopeNode, ...] = ()

    @property
    def since_3_12(self) -> bool:
        """Return whether Python 3.12 finds the name: only list, set and dict comprehensions hide it."""
        return self.reason == "vanishing" and all(
            isinstance(scope, ast.ListComp | ast.SetComp | ast.DictComp) for scope in self.scopes
        )


@frozen()
class Resolution:
    """The names that fail, and the names that later assertions of the grader see as well."""

    failing: tuple[NameUse, ...]
    leaked: frozenset[str]


def resolve_names(tree: ast.Expression, known: frozenset[str]) -> Resolution:
    """Resolve every name of an expression; ``known`` are the names at the top level."""
    walk = _Walk(known)
    walk.visit(tree.body, ())
    return Resolution(tuple(walk.failing), frozenset(walk.leaked))


@frozen()
class _Scope:
    """A nested scope: its node and the names it binds."""

    node: ScopeNode
    bound: set[str]


@frozen()
class _Walk:
    """Visits an expression in the order of evaluation, so that a walrus binds for later parts."""

    known: frozenset[str]
    failing: list[NameUse] = field(default_factory=list[NameUse])
    leaked: set[str] = field(default_factory=set[str])
    globals: set[str] = field(default_factory=set[str])

    def visit(self, node: ast.AST, scopes: tuple[_Scope, ...]) -> None:
        match node:
            case ast.Name():
                if isinstance(node.ctx, ast.Load):
                    self._use(node, scopes)
            case ast.NamedExpr():
                self.visit(node.value, scopes)
                self._bind(node.target.id, scopes)
            case ast.IfExp():
                for part in (node.test, node.body, node.orelse):
                    self.visit(part, scopes)
            case ast.Lambda():
                self._visit_lambda(node, scopes)
            case ast.GeneratorExp() | ast.ListComp() | ast.SetComp() | ast.DictComp():
                self._visit_comprehension(node, scopes)
            case _:
                for child in ast.iter_child_nodes(node):
                    self.visit(child, scopes)

    def _visit_lambda(self, node: ast.Lambda, scopes: tuple[_Scope, ...]) -> None:
        arguments = node.args
        for default in (*arguments.defaults, *arguments.kw_defaults):
            if default is not None:
                self.visit(default, scopes)
        self.visit(node.body, (*scopes, _Scope(node, {argument.arg for argument in parameters(node)})))

    def _visit_comprehension(self, node: Comprehension, scopes: tuple[_Scope, ...]) -> None:
        first, *others = node.generators
        self.visit(first.iter, scopes)
        inside = (*scopes, _Scope(node, set(targets(node))))
        for generator in (first, *others):
            if generator is not first:
                self.visit(generator.iter, inside)
            for condition in generator.ifs:
                self.visit(condition, inside)
        parts = (node.key, node.value) if isinstance(node, ast.DictComp) else (node.elt,)
        for part in parts:
            self.visit(part, inside)

    def _bind(self, name: str, scopes: tuple[_Scope, ...]) -> None:
        """Bind a walrus in the nearest function that is not a comprehension; at the very top it leaks."""
        owner = next((scope for scope in reversed(scopes) if isinstance(scope.node, ast.Lambda)), None)
        if owner is not None:
            owner.bound.add(name)
        elif scopes:
            self.globals.add(name)
        else:
            self.leaked.add(name)

    def _use(self, node: ast.Name, scopes: tuple[_Scope, ...]) -> None:
        name = node.id
        if name in self.globals or any(name in scope.bound for scope in scopes):
            return
        exists = name in self.known or name in self.leaked
        if exists and not scopes:
            return
        hiding = tuple(scope.node for scope in scopes)
        self.failing.append(NameUse(node, "vanishing" if exists else "unknown", hiding if exists else ()))


def parameters(node: ast.Lambda) -> Iterator[ast.arg]:
    """Yield every parameter of a lambda."""
    arguments = node.args
    yield from (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
    yield from (argument for argument in (arguments.vararg, arguments.kwarg) if argument is not None)


def targets(node: Comprehension) -> Iterator[str]:
    """Yield every name that the ``for`` clauses of a comprehension bind."""
    for generator in node.generators:
        for part in ast.walk(generator.target):
            if isinstance(part, ast.Name):
                yield part.id


def with_names_replaced(
    source: PythonSource, node: ast.expr, names: Collection[str], text_of: Callable[[ast.Name], str]
) -> str | None:
    """Return the source of a node with some names replaced; None if the node binds or hides names."""
    text, start = source.segment(node), source.start(node)
    uses = [each for each in ast.walk(node) if isinstance(each, ast.Name) and each.id in names]
    if uses and any(_hides(each, names) for each in ast.walk(node)):
        return None
    for use in sorted(uses, key=source.start, reverse=True):
        at = source.start(use) - start
        if text[at : at + len(use.id)] != use.id:
            return None
        text = text[:at] + text_of(use) + text[at + len(use.id) :]
    return text


def _hides(node: ast.AST, names: Collection[str]) -> bool:
    """Return whether a node binds one of the names, or contains a string with unknown offsets."""
    if isinstance(node, ast.Lambda):
        return any(argument.arg in names for argument in parameters(node))
    if isinstance(node, Comprehension):
        return any(name in names for name in targets(node))
    return isinstance(node, ast.JoinedStr | ast.NamedExpr)
