"""Evaluate expressions: a syntax tree becomes functions over frames, one method for each kind of node.

A frame is a list: the frame around it, then the variables of its scope (``assertion_syntax.py``). The
outermost frame holds the context and the names that the evaluation shares.

Architecture invariant: there is no ``eval``, no ``compile``, and no default for a kind of node. The
operations of values are in ``operations.py`` alone.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from typing import Any

from waza_engine.assertions import operations
from waza_engine.assertions.assertion_syntax import Comprehension, Scope, parameters_of

UNBOUND: Any = object()
"""The content of a variable that has no value yet."""


class Parameters:
    """The parameters of a lambda. Their variables are the first ones of its frame, in their order."""

    def __init__(self, node: ast.Lambda) -> None:
        self._only_positional = len(node.args.posonlyargs)
        self.positional = [each.arg for each in (*node.args.posonlyargs, *node.args.args)]
        self._named = [each.arg for each in node.args.kwonlyargs]
        self._takes_more = node.args.vararg is not None
        self._takes_keywords = node.args.kwarg is not None
        self.is_plain = not (self._named or self._takes_more or self._takes_keywords)

    def bind(
        self,
        args: tuple[Any, ...],
        keywords: dict[str, Any],
        defaults: Sequence[Any],
        named_defaults: Mapping[str, Any],
    ) -> list[Any]:
        """Return the values of all parameters. Raises ``TypeError``."""
        count = len(self.positional)
        values = [*args[:count], *[UNBOUND] * (count - len(args))]
        named = dict.fromkeys(self._named, UNBOUND)
        others: dict[str, Any] = {}
        for name, value in keywords.items():
            if name in self.positional[self._only_positional :]:
                index = self.positional.index(name)
                if values[index] is not UNBOUND:
                    raise TypeError(f"<lambda>() got multiple values for argument '{name}'")
                values[index] = value
            elif name in named:
                named[name] = value
            elif self._takes_keywords:
                others[name] = value
            elif name in self.positional:
                raise TypeError(
                    f"<lambda>() got some positional-only arguments passed as keyword arguments: '{name}'"
                )
            else:
                raise TypeError(f"<lambda>() got an unexpected keyword argument '{name}'")
        if len(args) > count and not self._takes_more:
            raise TypeError(
                f"<lambda>() takes {_counted(count, 'positional argument')} but {len(args)} "
                f"{'was' if len(args) == 1 else 'were'} given"
            )
        for index, value in enumerate(defaults, count - len(defaults)):
            if values[index] is UNBOUND:
                values[index] = value
        for name, value in named_defaults.items():
            if named[name] is UNBOUND:
                named[name] = value
        _check_complete("positional", self.positional, values)
        _check_complete("keyword-only", self._named, list(named.values()))
        more = [tuple(args[count:])] if self._takes_more else []
        return [*values, *named.values(), *more, *([others] if self._takes_keywords else [])]


def _check_complete(kind: str, names: Sequence[str], values: Sequence[Any]) -> None:
    missing = [repr(name) for name, value in zip(names, values, strict=True) if value is UNBOUND]
    if missing:
        *most, last = missing
        listed = f"{', '.join(most)} and {last}" if most else last
        raise TypeError(f"<lambda>() missing {_counted(len(missing), f'required {kind} argument')}: {listed}")


def _counted(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


Frame = list[Any]
Evaluate = Callable[[Frame], Any]
Bind = Callable[[Frame, Any], None]
Step = Callable[[Frame], None]
Turns = Callable[[Frame, Iterable[Any]], Generator[None]]
Context = dict[str, Any]
Note = Callable[[int, Any], Any]

_CONVERSIONS: Mapping[int, Callable[[Any], str]] = {ord("s"): str, ord("r"): repr, ord("a"): ascii}


class Expression:
    """An expression that can be evaluated in many contexts.

    ``noted`` numbers parts of the tree, whose values are handed to ``note`` of an evaluation.
    """

    def __init__(
        self,
        tree: ast.Expression,
        scopes: Mapping[ast.AST, Scope],
        noted: Mapping[ast.expr, int] | None = None,
    ) -> None:
        self._evaluate = _Builder(scopes, noted or {}).build(tree.body, scopes[tree])

    def __call__(self, context: Context, note: Note | None = None) -> Any:
        """Return the value. Raises whatever the expression raises."""
        return self._evaluate([context, {}, note])


class _Builder:
    """Builds the functions of nodes. ``scope`` is that of the node."""

    def __init__(self, scopes: Mapping[ast.AST, Scope], noted: Mapping[ast.expr, int]) -> None:
        self._scopes = scopes
        self._noted = noted
        self._kinds: Mapping[type[ast.expr], Callable[[Any, Scope], Evaluate]] = {
            ast.Constant: self._constant,
            ast.Name: self._name,
            ast.NamedExpr: self._walrus,
            ast.BoolOp: self._chain,
            ast.UnaryOp: self._sign,
            ast.BinOp: self._operation,
            ast.Compare: self._comparison,
            ast.IfExp: self._choice,
            ast.List: self._list,
            ast.Tuple: self._tuple,
            ast.Set: self._set,
            ast.Dict: self._dict,
            ast.Subscript: self._item,
            ast.Slice: self._slice,
            ast.Attribute: self._attribute,
            ast.Call: self._call,
            ast.Lambda: self._lambda,
            ast.ListComp: self._list_of,
            ast.SetComp: self._set_of,
            ast.DictComp: self._dict_of,
            ast.GeneratorExp: self._generator,
            ast.JoinedStr: self._text,
            ast.FormattedValue: self._formatted,
        }

    def build(self, node: ast.expr, scope: Scope) -> Evaluate:
        """Return the function that evaluates a node."""
        evaluate = self._kinds[type(node)](node, scope)
        number = self._noted.get(node)
        if number is None:
            return evaluate
        depth = _depth_of_top(scope)

        def noted(frame: Frame) -> Any:
            return _outward(frame, depth)[2](number, evaluate(frame))

        return noted

    def _all(self, nodes: Iterable[ast.expr], scope: Scope) -> list[Evaluate]:
        return [self.build(node, scope) for node in nodes]

    # Names

    def _constant(self, node: ast.Constant, scope: Scope) -> Evaluate:
        del scope
        value = node.value
        return lambda frame: value

    def _name(self, node: ast.Name, scope: Scope) -> Evaluate:
        name = node.id
        where, depth, index = scope.place_of(name)
        if where == "slot" and depth == 0:

            def variable(frame: Frame) -> Any:
                value = frame[index]
                if value is UNBOUND:
                    raise _unassigned(name)
                return value

            return variable
        if where == "slot":

            def outer(frame: Frame) -> Any:
                value = _outward(frame, depth)[index]
                if value is UNBOUND:
                    raise _missing_name(name)
                return value

            return outer
        if where == "nowhere":

            def nowhere(frame: Frame) -> Any:
                raise _missing_name(name)

            return nowhere

        def named(frame: Frame) -> Any:
            top = _outward(frame, depth) if depth else frame
            names = top[index]
            if name in names:
                return names[name]
            # As in Python, the names of the evaluation come after those of the context.
            if name in top[1]:
                return top[1][name]
            raise _missing_name(name)

        return named

    def _walrus(self, node: ast.NamedExpr, scope: Scope) -> Evaluate:
        value, bind = self.build(node.value, scope), self._binding(node.target, scope)

        def walrus(frame: Frame) -> Any:
            result = value(frame)
            bind(frame, result)
            return result

        return walrus

    def _binding(self, target: ast.expr, scope: Scope) -> Bind:
        if isinstance(target, ast.Name):
            name = target.id
            where, depth, index = scope.place_of(name)
            if where == "slot" and depth == 0:
                return lambda frame, value: frame.__setitem__(index, value)
            if where == "slot":
                return lambda frame, value: _outward(frame, depth).__setitem__(index, value)
            return lambda frame, value: _outward(frame, depth)[index].__setitem__(name, value)
        assert isinstance(target, ast.Tuple | ast.List)
        stars = [at for at, part in enumerate(target.elts) if isinstance(part, ast.Starred)]
        parts = [part.value if isinstance(part, ast.Starred) else part for part in target.elts]
        binds = [self._binding(part, scope) for part in parts]
        unpacked = _unpacking(len(parts), stars[0] if stars else None)

        def unpack(frame: Frame, value: Any) -> None:
            for bind, each in zip(binds, unpacked(value), strict=True):
                bind(frame, each)

        return unpack

    # Operators

    def _chain(self, node: ast.BoolOp, scope: Scope) -> Evaluate:
        *first, last = self._all(node.values, scope)
        if isinstance(node.op, ast.And):

            def conjunction(frame: Frame) -> Any:
                for clause in first:
                    value = clause(frame)
                    if not value:
                        return value
                return last(frame)

            return conjunction

        def disjunction(frame: Frame) -> Any:
            for clause in first:
                value = clause(frame)
                if value:
                    return value
            return last(frame)

        return disjunction

    def _sign(self, node: ast.UnaryOp, scope: Scope) -> Evaluate:
        operand, sign = self.build(node.operand, scope), operations.SIGNS[type(node.op).__name__]
        return lambda frame: sign(operand(frame))

    def _operation(self, node: ast.BinOp, scope: Scope) -> Evaluate:
        left, right = self.build(node.left, scope), self.build(node.right, scope)
        operate = operations.OPERATORS[type(node.op).__name__]
        return lambda frame: operate(left(frame), right(frame))

    def _comparison(self, node: ast.Compare, scope: Scope) -> Evaluate:
        left = self.build(node.left, scope)
        compares = [operations.COMPARISONS[type(each).__name__] for each in node.ops]
        rights = self._all(node.comparators, scope)
        if len(rights) == 1:
            compare, right = compares[0], rights[0]
            return lambda frame: compare(left(frame), right(frame))
        *first, last = zip(compares, rights, strict=True)

        def comparison(frame: Frame) -> Any:
            value = left(frame)
            for compare, right in first:
                other = right(frame)
                result = compare(value, other)
                if not result:
                    return result
                value = other
            return last[0](value, last[1](frame))

        return comparison

    def _choice(self, node: ast.IfExp, scope: Scope) -> Evaluate:
        test, yes, no = self._all((node.test, node.body, node.orelse), scope)
        return lambda frame: yes(frame) if test(frame) else no(frame)

    # Collections

    def _items(self, nodes: Iterable[ast.expr], scope: Scope) -> Callable[[Frame], list[Any]]:
        """Return a function that evaluates items with `*` among them."""
        nodes = list(nodes)
        if not any(isinstance(node, ast.Starred) for node in nodes):
            plain = self._all(nodes, scope)
            return lambda frame: [each(frame) for each in plain]
        parts = [(isinstance(node, ast.Starred), self.build(_without_star(node), scope)) for node in nodes]

        def items(frame: Frame) -> list[Any]:
            found: list[Any] = []
            for is_starred, part in parts:
                if is_starred:
                    found.extend(part(frame))
                else:
                    found.append(part(frame))
            return found

        return items

    def _list(self, node: ast.List, scope: Scope) -> Evaluate:
        return self._items(node.elts, scope)

    def _tuple(self, node: ast.Tuple, scope: Scope) -> Evaluate:
        items = self._items(node.elts, scope)
        return lambda frame: tuple(items(frame))

    def _set(self, node: ast.Set, scope: Scope) -> Evaluate:
        items = self._items(node.elts, scope)
        return lambda frame: set(items(frame))

    def _dict(self, node: ast.Dict, scope: Scope) -> Evaluate:
        pairs = [
            (None if key is None else self.build(key, scope), self.build(value, scope))
            for key, value in zip(node.keys, node.values, strict=True)
        ]

        def mapping(frame: Frame) -> dict[Any, Any]:
            found: dict[Any, Any] = {}
            for key, value in pairs:
                if key is not None:
                    at = key(frame)
                    found[at] = value(frame)
                    continue
                other = value(frame)
                if operations.exact_type(other) is not dict:
                    raise TypeError(f"'{operations.exact_type(other).__name__}' object is not a mapping")
                found.update(other)
            return found

        return mapping

    def _item(self, node: ast.Subscript, scope: Scope) -> Evaluate:
        value, index, item = self.build(node.value, scope), self.build(node.slice, scope), operations.item
        return lambda frame: item(value(frame), index(frame))

    def _slice(self, node: ast.Slice, scope: Scope) -> Evaluate:
        nothing = ast.Constant(None)
        parts = (node.lower or nothing, node.upper or nothing, node.step or nothing)
        lower, upper, step = self._all(parts, scope)
        return lambda frame: slice(lower(frame), upper(frame), step(frame))

    # Attributes and calls

    def _attribute(self, node: ast.Attribute, scope: Scope) -> Evaluate:
        value, name, attribute = self.build(node.value, scope), node.attr, operations.attribute
        return lambda frame: attribute(value(frame), name)

    def _call(self, node: ast.Call, scope: Scope) -> Evaluate:
        args = self._items(node.args, scope)
        keywords = self._keywords(node, scope)
        plain = None if any(isinstance(each, ast.Starred) for each in node.args) else len(node.args)
        if isinstance(node.func, ast.Attribute):
            value, name, method = self.build(node.func.value, scope), node.func.attr, operations.method
            if keywords is None and plain == 0:

                def called_alone(frame: Frame) -> Any:
                    owner = value(frame)
                    return method(owner, name)(owner)

                return called_alone
            if keywords is None and plain == 1:
                (first,) = self._all(node.args, scope)

                def called_with_one(frame: Frame) -> Any:
                    owner = value(frame)
                    return method(owner, name)(owner, first(frame))

                return called_with_one
            if keywords is None:

                def called(frame: Frame) -> Any:
                    owner = value(frame)
                    return method(owner, name)(owner, *args(frame))

                return called

            def called_with_keywords(frame: Frame) -> Any:
                owner = value(frame)
                function = method(owner, name)
                return function(owner, *args(frame), **keywords(frame))

            return called_with_keywords
        function, call = self.build(node.func, scope), operations.call
        if keywords is None:
            return lambda frame: call(function(frame), *args(frame))
        return lambda frame: call(function(frame), *args(frame), **keywords(frame))

    def _keywords(self, node: ast.Call, scope: Scope) -> Callable[[Frame], dict[str, Any]] | None:
        if not node.keywords:
            return None
        parts = [(each.arg, self.build(each.value, scope)) for each in node.keywords]

        def keywords(frame: Frame) -> dict[str, Any]:
            found: dict[str, Any] = {}
            for name, part in parts:
                value = part(frame)
                if name is not None:
                    _add_keyword(found, name, value)
                    continue
                kind = operations.exact_type(value)
                if kind is not dict:
                    raise TypeError(f"argument after ** must be a mapping, not {kind.__name__}")
                for key, each in value.items():
                    _add_keyword(found, key, each)
            return found

        return keywords

    def _lambda(self, node: ast.Lambda, scope: Scope) -> Evaluate:
        inner = self._scopes[node]
        parameters, body = Parameters(node), self.build(node.body, inner)
        defaults = self._all(node.args.defaults, scope)
        named = [
            (each.arg, self.build(default, scope))
            for each, default in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)
            if default is not None
        ]
        count = len(parameters.positional) if parameters.is_plain else -1
        spare = [UNBOUND] * (len(inner.slots) - sum(1 for _ in parameters_of(node)))

        def function_of(frame: Frame) -> Any:
            given = [default(frame) for default in defaults]
            given_by_name = {name: default(frame) for name, default in named}

            def function(*args: Any, **keywords: Any) -> Any:
                if len(args) == count and not keywords:
                    return body([frame, *args, *spare])
                return body([frame, *parameters.bind(args, keywords, given, given_by_name), *spare])

            function.__name__ = function.__qualname__ = "<lambda>"
            return function

        return function_of

    # Comprehensions

    def _list_of(self, node: ast.ListComp, scope: Scope) -> Evaluate:
        element, run = self.build(node.elt, self._scopes[node]), self._loops(node, scope)

        def listed(frame: Frame) -> list[Any]:
            found: list[Any] = []
            add = found.append
            run(frame, lambda inner: add(element(inner)))
            return found

        return listed

    def _set_of(self, node: ast.SetComp, scope: Scope) -> Evaluate:
        element, run = self.build(node.elt, self._scopes[node]), self._loops(node, scope)

        def collected(frame: Frame) -> set[Any]:
            found: set[Any] = set()
            add = found.add
            run(frame, lambda inner: add(element(inner)))
            return found

        return collected

    def _dict_of(self, node: ast.DictComp, scope: Scope) -> Evaluate:
        inner, run = self._scopes[node], self._loops(node, scope)
        key, value = self.build(node.key, inner), self.build(node.value, inner)

        def mapped(frame: Frame) -> dict[Any, Any]:
            found: dict[Any, Any] = {}

            def add(inner: Frame) -> None:
                at = key(inner)
                found[at] = value(inner)

            run(frame, add)
            return found

        return mapped

    def _loops(self, node: Comprehension, scope: Scope) -> Callable[[Frame, Step], None]:
        """Return a function that calls a step for each iteration of a comprehension's loops."""
        inner = self._scopes[node]
        first, *others = node.generators
        items, loop = self.build(first.iter, scope), self._loop(first, inner)
        loops = [(self.build(each.iter, inner), self._loop(each, inner)) for each in others]
        variables = [UNBOUND] * len(inner.slots)

        def run(frame: Frame, step: Step) -> None:
            for more, next_loop in reversed(loops):
                step = _nested(more, next_loop, step)
            loop([frame, *variables], items(frame), step)

        return run

    def _loop(self, loop: ast.comprehension, inner: Scope) -> Callable[[Frame, Iterable[Any], Step], None]:
        bind, passes = self._binding(loop.target, inner), self._conditions(loop, inner)
        slot = _slot_of(loop.target, inner)

        def run_slot(frame: Frame, items: Iterable[Any], step: Step) -> None:
            for frame[slot] in items:
                if passes is None or passes(frame):
                    step(frame)

        def run(frame: Frame, items: Iterable[Any], step: Step) -> None:
            for each in items:
                bind(frame, each)
                if passes is None or passes(frame):
                    step(frame)

        return run_slot if slot else run

    def _generator(self, node: ast.GeneratorExp, scope: Scope) -> Evaluate:
        inner = self._scopes[node]
        first, *others = node.generators
        items, slot = self.build(first.iter, scope), _slot_of(first.target, inner)
        bind, passes = self._binding(first.target, inner), self._conditions(first, inner)
        loops = [(self.build(each.iter, inner), self._turns(each, inner)) for each in others]
        element = self.build(node.elt, inner)
        variables = [UNBOUND] * len(inner.slots)

        def run_slot(frame: Frame, iterator: Iterable[Any]) -> Generator[Any]:
            for frame[slot] in iterator:
                if passes is None or passes(frame):
                    yield element(frame)

        def run(frame: Frame, iterator: Iterable[Any]) -> Generator[Any]:
            for each in iterator:
                bind(frame, each)
                if passes is None or passes(frame):
                    for _ in _each_turn(frame, loops):
                        yield element(frame)

        generate = run_slot if slot and not loops else run
        generate.__name__ = generate.__qualname__ = "<genexpr>"
        # Python takes the iterator immediately, and its items when they are needed.
        return lambda frame: generate([frame, *variables], iter(items(frame)))

    def _turns(self, loop: ast.comprehension, inner: Scope) -> Turns:
        bind, passes = self._binding(loop.target, inner), self._conditions(loop, inner)

        def turns(frame: Frame, items: Iterable[Any]) -> Generator[None]:
            for each in items:
                bind(frame, each)
                if passes is None or passes(frame):
                    yield

        return turns

    def _conditions(self, loop: ast.comprehension, inner: Scope) -> Evaluate | None:
        if len(loop.ifs) < 2:
            return self.build(loop.ifs[0], inner) if loop.ifs else None
        conditions = self._all(loop.ifs, inner)

        def passes(frame: Frame) -> bool:
            for condition in conditions:  # noqa: SIM110 - a generator would turn `StopIteration` into another error
                if not condition(frame):
                    return False
            return True

        return passes

    # Texts

    def _text(self, node: ast.JoinedStr, scope: Scope) -> Evaluate:
        parts = self._all(node.values, scope)
        return lambda frame: "".join([part(frame) for part in parts])

    def _formatted(self, node: ast.FormattedValue, scope: Scope) -> Evaluate:
        value, convert = self.build(node.value, scope), _CONVERSIONS.get(node.conversion)
        specification = self.build(node.format_spec or ast.Constant(""), scope)

        def formatted(frame: Frame) -> str:
            shown = value(frame)
            if convert is not None:
                shown = convert(shown)
            return format(shown, specification(frame))

        return formatted


def _nested(items: Evaluate, loop: Callable[[Frame, Iterable[Any], Step], None], step: Step) -> Step:
    return lambda frame: loop(frame, items(frame), step)


def _each_turn(frame: Frame, loops: Sequence[tuple[Evaluate, Turns]]) -> Generator[None]:
    """Yield for each turn of loops within each other, once when there are none."""
    if not loops:
        yield
        return
    (items, turns), *others = loops
    for _ in turns(frame, items(frame)):
        yield from _each_turn(frame, others)


def _slot_of(target: ast.expr, scope: Scope) -> int:
    """Return the index of a loop's only variable in the frame, 0 when the loop has several."""
    return scope.slots[target.id] if isinstance(target, ast.Name) else 0


def _outward(frame: Frame, depth: int) -> Frame:
    """Return the frame that is ``depth`` scopes further out."""
    for _ in range(depth):
        frame = frame[0]
    return frame


def _depth_of_top(scope: Scope) -> int:
    depth = 0
    while scope.parent is not None:
        depth, scope = depth + 1, scope.parent
    return depth


def _without_star(node: ast.expr) -> ast.expr:
    return node.value if isinstance(node, ast.Starred) else node


def _unpacking(count: int, star: int | None) -> Callable[[Any], list[Any]]:
    """Return a function that unpacks a value to so many targets, one of which may be starred."""

    def unpacked(value: Any) -> list[Any]:
        try:
            iterator = iter(value)
        except TypeError:
            raise TypeError(f"cannot unpack non-iterable {type(value).__name__} object") from None
        if star is not None:
            found = list(iterator)
            if len(found) < count - 1:
                raise ValueError(
                    f"not enough values to unpack (expected at least {count - 1}, got {len(found)})"
                )
            end = len(found) - (count - 1 - star)
            return [*found[:star], found[star:end], *found[end:]]
        taken: list[Any] = []
        for each in iterator:
            if len(taken) == count:
                raise ValueError(f"too many values to unpack (expected {count})")
            taken.append(each)
        if len(taken) < count:
            raise ValueError(f"not enough values to unpack (expected {count}, got {len(taken)})")
        return taken

    return unpacked


def _add_keyword(found: dict[str, Any], name: Any, value: Any) -> None:
    if type(name) is not str:
        raise TypeError("keywords must be strings")
    if name in found:
        raise TypeError(f"the call got multiple values for keyword argument '{name}'")
    found[name] = value


def _missing_name(name: str) -> NameError:
    return NameError(f"name '{name}' is not defined", name=name)


def _unassigned(name: str) -> UnboundLocalError:
    return UnboundLocalError(f"cannot access local variable '{name}' where it is not associated with a value")
