"""The meaning of valid assertions: unknown attributes, wrong types, constant parts, uncalled methods.

Everything is found without running the assertion; if the type of a value is unknown, nothing is reported.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Sequence
from types import ModuleType

from waza_engine.assertions.names import ALLOWED_DUNDER_ATTRIBUTES as _DUNDERS
from waza_engine.assertions.names import (
    FUNCTION_NAMES,
    RE_FLAGS,
    RE_FUNCTIONS,
    RE_TYPES,
    READ,
    is_refused_attribute,
    is_refused_member,
    members_of,
)
from waza_engine.spec.pattern_syntax import PatternSyntaxError, check_python_syntax
from waza_engine.spelling import nearest, typo_of
from waza_language_server.embedded.language import Finding, Rewrite
from waza_language_server.embedded.python.inference import Types, infer, names_inside
from waza_language_server.embedded.python.members import (
    CONTEXT_TYPES,
    EVENT,
    OUTCOME,
    RE,
    TEXT,
    TOOL_CALL,
    ValueType,
    is_number,
)
from waza_language_server.embedded.python.python_source import PythonSource, brief
from waza_language_server.embedded.python.scopes import Comprehension, parameters, resolve_names

_JAVASCRIPT = {
    "length": "len(…)",
    "includes": "… in …",
    "toLowerCase": ".lower()",
    "toUpperCase": ".upper()",
    "indexOf": ".find(…)",
    "startsWith": ".startswith(…)",
    "endsWith": ".endswith(…)",
    "trimStart": ".lstrip()",
    "trimEnd": ".rstrip()",
    "trim": ".strip()",
    "some": "any(…)",
    "every": "all(…)",
    "filter": "[… for … in … if …]",
    "map": "[… for … in …]",
}
_ELSEWHERE = {
    "contains": "… in …",
    "matches": "re.search(…)",
    "match": "re.search(…)",
    "search": "re.search(…)",
    "test": "re.search(…)",
    "size": "len(…)",
    "len": "len(…)",
}
"""The Python equivalents of methods of other languages."""
_METHODS_WITH_ARGUMENTS = """
count endswith find get index join removeprefix removesuffix replace rfind rindex startswith
"""
_NEED_ARGUMENTS = frozenset(_METHODS_WITH_ARGUMENTS.split())
"""Methods of strings, lists and dicts that cannot be called without arguments."""
_CALL_KEYS = ("name", "arguments", "success", "result", "id")
_OTHER_WORDS = {
    "tool": "name",
    "tool_name": "name",
    "toolName": "name",
    "args": "arguments",
    "input": "arguments",
    "parameters": "arguments",
    "output": "result",
    "response": "result",
    "ok": "success",
}


def meaning_findings(source: PythonSource) -> tuple[Finding, ...]:
    """Return the findings about the values of an expression; none if it is nested too deeply."""
    try:
        names: Types = CONTEXT_TYPES
        if source.bound:
            names = {**names, **dict.fromkeys(source.bound)}
        found = [*_visit(source, source.expression.body, names)]
        return tuple(found) or tuple(constant_findings(source))
    except RecursionError:
        return ()


def _visit(source: PythonSource, node: ast.AST, names: Types, *, called: bool = False) -> Iterator[Finding]:
    match node:
        case ast.Attribute():
            if isinstance(node.value, ast.Name) and node.value.id == "re" and names.get("re") is RE:
                finding = unknown_of_re(source, node)
            else:
                finding = _attribute(source, node, infer(node.value, names), called=called)
            if finding is not None:
                yield finding
            yield from _visit(source, node.value, names)
        case ast.Subscript():
            finding = _subscript(source, node, infer(node.value, names))
            if finding is not None:
                yield finding
            yield from _visit(source, node.value, names)
            yield from _visit(source, node.slice, names)
        case ast.Call():
            yield from call_findings(source, node, names)
            yield from _visit(source, node.func, names, called=True)
            for part in (*node.args, *node.keywords):
                yield from _visit(source, part, names)
        case ast.ListComp() | ast.SetComp() | ast.GeneratorExp() | ast.DictComp():
            yield from _visit_comprehension(source, node, names)
        case ast.Lambda():
            arguments = [each.arg for each in parameters(node)]
            yield from _visit(source, node.body, {**names, **dict.fromkeys(arguments)})
        case _:
            yield from comparison_findings(source, node, names)
            for child in ast.iter_child_nodes(node):
                yield from _visit(source, child, names)


def _visit_comprehension(source: PythonSource, node: Comprehension, names: Types) -> Iterator[Finding]:
    first, *others = node.generators
    inner = names_inside(node.generators, names)
    yield from _visit(source, first.iter, names)
    for generator in others:
        yield from _visit(source, generator.iter, inner)
    for generator in node.generators:
        for condition in generator.ifs:
            yield from _visit(source, condition, inner)
    parts = (node.key, node.value) if isinstance(node, ast.DictComp) else (node.elt,)
    for part in parts:
        yield from _visit(source, part, inner)


def _attribute(
    source: PythonSource, node: ast.Attribute, kind: ValueType | None, *, called: bool
) -> Finding | None:
    name, end = node.attr, source.end(node)
    place = (end - len(name), end)
    if source.text[slice(*place)] != name:
        return None
    owner = kind.python if kind is not None else None
    if is_refused_attribute(name) or (owner is not None and is_refused_member(owner, name)):
        message = (
            f"This engine refuses `{name}`, which gives access to Python's internals; upstream evaluates it."
        )
        return source.finding("assertion-internal", place, message)
    if kind is not None and owner is not None and (name in members_of(owner) or name in _DUNDERS):
        is_method = name in members_of(owner) - READ.get(owner, frozenset())
        return _uncalled(source, node, kind) if is_method and not called else None
    if kind is not None and owner is dict and not called:
        return _key_as_attribute(source, node, kind)
    if name in _JAVASCRIPT:
        message = f"`.{name}` is JavaScript; Python writes `{_JAVASCRIPT[name]}`."
        return source.finding("assertion-javascript", place, message)
    if kind is None or owner is None:
        return None
    what = f"`{source.segment(node.value)[:40]}` is {kind.title}, which has no `{name}`"
    if name in _ELSEWHERE:
        return source.finding("assertion-attribute", place, f"{what}; Python writes `{_ELSEWHERE[name]}`.")
    intended = _intended(name, sorted(members_of(owner)))
    if intended is None:
        return source.finding("assertion-attribute", place, f"{what}.")
    rewrite = source.rewrite(place, intended, f"Change to `{intended}`")
    return source.finding("assertion-attribute", place, f"{what}; did you mean `{intended}`?", rewrite)


def _uncalled(source: PythonSource, node: ast.Attribute, kind: ValueType) -> Finding:
    """Return the finding of a method that is not called."""
    name, end = node.attr, source.end(node)
    place, what = (
        (end - len(name), end),
        f"`{name}` is not called, so this is the method, not its result",
    )
    if name not in _NEED_ARGUMENTS:
        rewrite = source.rewrite(place, f"{name}()", preferred=True)
        return source.finding("assertion-uncalled", place, f"{what}; write `{name}()`.", rewrite)
    if name == "count" and kind.python in {str, list}:
        message = (
            "`count` is not called, and it would count one value; for the number of items write `len(…)`."
        )
        rewrite = source.rewrite(node, f"len({source.segment(node.value)})", "Write `len(…)`")
        return source.finding("assertion-uncalled", place, message, rewrite)
    return source.finding("assertion-uncalled", place, f"{what}; write `{name}(…)`.")


def _intended(name: str, known: Sequence[str]) -> str | None:
    """Return the known name that is intended: a typo away, or one that contains the other."""
    near, plain = nearest(name, known), name.lower()
    if near is None or not (typo_of(name, known) == near or plain in near or near in plain):
        return None
    return near


def _key_as_attribute(source: PythonSource, node: ast.Attribute, kind: ValueType) -> Finding:
    name, end = node.attr, source.end(node)
    place = (end - len(name), end)
    if kind is OUTCOME:
        message = f"`outcome` is always an empty dict in current runs, it has no `{name}`."
        return source.finding("assertion-attribute", place, message)
    key = _OTHER_WORDS.get(name, name) if kind is TOOL_CALL else name
    message = (
        f"`{source.segment(node.value)[:40]}` is {kind.title}, whose values have keys; write `['{key}']`."
    )
    rewrite = source.rewrite((source.end(node.value), end), f"['{key}']", preferred=key in _CALL_KEYS)
    return source.finding("assertion-attribute", place, message, rewrite)


def _subscript(source: PythonSource, node: ast.Subscript, kind: ValueType | None) -> Finding | None:
    if kind is None or not isinstance(node.slice, ast.Constant) or not isinstance(node.slice.value, str):
        return None
    key = node.slice.value
    if kind is OUTCOME:
        message = f"`outcome` is always an empty dict in current runs, it has no key `{key}`."
        return source.finding("assertion-key", node.slice, message)
    if kind.python in {str, list}:
        message = f"`{source.segment(node.value)[:40]}` is {kind.title}, which has no keys such as `{key}`."
        return source.finding("assertion-key", node.slice, message)
    if kind is not TOOL_CALL or key in _CALL_KEYS:
        return None
    intended = _OTHER_WORDS.get(key) or nearest(key, _CALL_KEYS)
    if intended is None:
        known = ", ".join(f"`{each}`" for each in _CALL_KEYS)
        message = f"A tool call has no key `{key}`; its keys are {known}."
        return source.finding("assertion-key", node.slice, message)
    message = f"A tool call has no key `{key}`; did you mean `{intended}`?"
    quote = source.segment(node.slice)[-1]
    new = f"{quote}{intended}{quote}"
    rewrite = source.rewrite(node.slice, new, f"Change to `{intended}`", preferred=True)
    return source.finding("assertion-key", node.slice, message, rewrite)


_ORDERED = frozenset({str, list, tuple, set, bytes})
_SIZED = frozenset({str, list, tuple, set, dict})
_NO_CONTAINERS = frozenset({int, float, bool, re.Match, type(None)})
_SIGNS: dict[type[ast.cmpop], str] = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="}
_NAMES_OF_RE: frozenset[str] = RE_FUNCTIONS | RE_FLAGS | RE_TYPES
_WITH_PATTERN = RE_FUNCTIONS - {"escape"}


def comparison_findings(source: PythonSource, node: ast.AST, names: Types) -> Iterator[Finding]:
    """Yield the first comparison in a node that fails, or has the same result for all values."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitAnd | ast.BitOr):
        yield from _joined(source, node, names)
    if not isinstance(node, ast.Compare):
        return
    sides = [node.left, *node.comparators]
    for at, operator in enumerate(node.ops):
        left, right = sides[at], sides[at + 1]
        types = infer(left, names), infer(right, names)
        if types[0] is None or types[1] is None:
            continue
        # The comparison includes the brackets around its first and last side; the sides do not.
        start = source.start(node if at == 0 else left)
        end = source.end(node if right is sides[-1] else right)
        finding = _compared(source, left, operator, right, (types[0], types[1]), (start, end))
        if finding is not None:
            yield finding
            return


def call_findings(source: PythonSource, call: ast.Call, names: Types) -> Iterator[Finding]:
    """Yield the problems of the first argument of a call."""
    match call:
        case ast.Call(func=ast.Name(id="int" | "float" as name), args=[ast.Constant(value=str(written))]) if (
            name not in names
        ):
            try:
                float(written) if name == "float" else int(written)
            except ValueError:
                yield _failing(source, call.args[0], f"`{source.brief(call.args[0])}` is no number")
        case ast.Call(func=ast.Name(id="len"), args=[argument], keywords=[]) if "len" not in names:
            kind = infer(argument, names)
            if kind is not None and kind.python not in _SIZED | {bytes}:
                yield _failing(
                    source, argument, f"`{source.brief(argument)}` is {kind.title}, without a length"
                )
        case ast.Call(
            func=ast.Attribute(value=ast.Name(id="re"), attr=name),
            args=[ast.Constant(value=str()) as pattern, *_],
        ) if name in _WITH_PATTERN and names.get("re") is RE:
            yield from _pattern(source, pattern)
        case _:
            return


def unknown_of_re(source: PythonSource, node: ast.Attribute) -> Finding | None:
    """Return a finding for a function that ``re`` does not have, or that assertions may not use."""
    end = source.end(node)
    start = end - len(node.attr)
    if node.attr in _NAMES_OF_RE or source.text[start:end] != node.attr:
        return None
    if is_refused_member(ModuleType, node.attr):
        message = f"This engine refuses `re.{node.attr}`; upstream evaluates it."
        return Finding("assertion-internal", start, end, message)
    intended = nearest(node.attr, sorted(_NAMES_OF_RE))
    if intended is None:
        message = f"There is no `{node.attr}` in `re`; it has `search`, `findall` and `sub`, for example."
        return Finding("assertion-attribute", start, end, message)
    message = f"There is no `{node.attr}` in `re`; did you mean `{intended}`?"
    rewrite = source.rewrite((start, end), intended, f"Change to `{intended}`")
    return source.finding("assertion-attribute", (start, end), message, rewrite)


def _joined(source: PythonSource, node: ast.BinOp, names: Types) -> Iterator[Finding]:
    """Yield ``&`` and ``|`` next to strings, which bind more tightly than the comparisons around them."""
    if infer(node.left, names) != TEXT and infer(node.right, names) != TEXT:
        return
    sign, word = ("&", "and") if isinstance(node.op, ast.BitAnd) else ("|", "or")
    at = source.text.find(sign, source.end(node.left), source.start(node.right))
    message = f"`{sign}` combines numbers, not conditions, which need `{word}`, so the assertion fails."
    rewrite = source.rewrite((at, at + 1), word, preferred=True)
    yield source.finding("assertion-type", (at, at + 1), message, rewrite)


def _compared(
    source: PythonSource,
    left: ast.expr,
    operator: ast.cmpop,
    right: ast.expr,
    types: tuple[ValueType, ValueType],
    place: tuple[int, int],
) -> Finding | None:
    one, other = types
    are_alike = _family(one) is _family(other)
    both = f"`{source.brief(left)}` is {one.title} and `{source.brief(right)}` is {other.title}"
    rewrites = _of_one_type(source, (left, right), types)
    if isinstance(operator, ast.Lt | ast.LtE | ast.Gt | ast.GtE):
        if are_alike and (is_number(one) or one.python in _ORDERED):
            return None
        message = f"{both}; `{_SIGNS[type(operator)]}` cannot compare them, so the assertion fails."
        return Finding("assertion-type", *place, message, rewrites)
    if not isinstance(operator, ast.In | ast.NotIn):
        is_identity = isinstance(operator, ast.Is | ast.IsNot)
        if are_alike or is_identity or type(None) in {one.python, other.python}:
            return None
        outcome = "true" if isinstance(operator, ast.NotEq) else "false"
        message = f"{both}; they are never equal, so this is always {outcome}."
        return Finding("assertion-constant", *place, message, rewrites)
    if other.python in _NO_CONTAINERS:
        what = f"`{source.brief(right)}` is {other.title}, in which nothing can be"
        return Finding("assertion-type", *place, f"{what}, so the assertion fails.")
    if other.python is str and one.python is not str:
        message = f"{both}: only a string can be in a string, so the assertion fails."
        return Finding("assertion-type", *place, message)
    if other.python is not list or other.item not in (TOOL_CALL, EVENT) or one.python is not str:
        return None
    outcome = "true" if isinstance(operator, ast.NotIn) else "false"
    items = "tool calls" if other.item is TOOL_CALL else "events"
    message = (
        f"The items of `{source.brief(right)}` are {items}, each a dict, and "
        f"`{source.brief(left)}` is not a dict, so this is always {outcome}."
    )
    written = source.segment(right)
    new = f"[call['name'] for call in {written}]" if other.item is TOOL_CALL else f"str({written})"
    title = "Look for it in the names" if other.item is TOOL_CALL else f"Look for it in `{new}`"
    return source.finding("assertion-constant", place, message, source.rewrite(right, new, title))


def _of_one_type(
    source: PythonSource, sides: tuple[ast.expr, ast.expr], types: tuple[ValueType, ValueType]
) -> tuple[Rewrite, ...]:
    """Compare the length of a value with a number, or write the number that a string contains."""
    for side, mine, other in zip(sides, types, reversed(types), strict=True):
        if other.python not in {int, float}:
            continue
        if isinstance(side, ast.Constant) and isinstance(side.value, str):
            number = side.value.strip()
            if number.isdecimal() and number.isascii():
                return (source.rewrite(side, number, preferred=True),)
        elif mine.python in _SIZED:
            return (source.rewrite(side, f"len({source.segment(side)})"),)
    return ()


def _pattern(source: PythonSource, node: ast.Constant) -> Iterator[Finding]:
    written = source.segment(node)
    try:
        check_python_syntax(str(node.value))
    except PatternSyntaxError as error:
        yield source.finding("invalid-pattern", node, f"This regular expression is invalid: {error}.")
        return
    # In double quotes of YAML it is a backspace already, in Python's quotes it becomes one.
    if "\\\\" in written or "\b" not in f"{node.value}":
        return
    new = written.replace("\b", "\\b")
    new = new if written[0] not in "\"'" else f"r{new}"
    message = "`\\b` is a backspace here, but a word boundary is intended."
    yield source.finding("assertion-constant", node, message, source.rewrite(node, new, preferred=True))


def _family(kind: ValueType) -> type | None:
    return int if is_number(kind) else kind.python


def _failing(source: PythonSource, node: ast.expr, what: str) -> Finding:
    return source.finding("assertion-type", node, f"{what}, so the assertion fails.")


_FUNCTIONS = frozenset(FUNCTION_NAMES)
_CASE_METHODS: dict[str, Callable[[str], str]] = {
    "lower": str.lower,
    "casefold": str.casefold,
    "upper": str.upper,
}
_STRIP_METHODS = frozenset({"strip", "lstrip", "rstrip"})
_SPLIT_METHODS = frozenset({"split", "splitlines", "rsplit"})
_CONSTANT_TESTS: dict[tuple[type[ast.cmpop], int], bool] = {
    (ast.GtE, 0): True,
    (ast.Gt, -1): True,
    (ast.NotEq, -1): True,
    (ast.Lt, 0): False,
    (ast.LtE, -1): False,
    (ast.Eq, -1): False,
}
"""The results of comparing a value that is never negative with a number."""


def constant_findings(source: PythonSource) -> Iterator[Finding]:
    """Yield the parts of an assertion that are constant, and the strings whose case can never match."""
    yield from _condition(source, source.expression.body, None)
    for node in source.nodes:
        if isinstance(node, ast.Compare) and len(node.ops) == 1:
            yield from _strings_before_in(source, node)
            yield from _case(source, node)


def _condition(source: PythonSource, node: ast.expr, parent: ast.BoolOp | None) -> Iterator[Finding]:
    if isinstance(node, ast.BoolOp):
        for operand in node.values:
            yield from _condition(source, operand, node)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield from _condition(source, node.operand, None)
    elif isinstance(node, ast.GeneratorExp):
        yield _generator(source, node)
    elif (truth := _truth(node)) is not None:
        yield _constant(source, node, parent, truth=truth)
    elif _looks_at_nothing(source, node):
        message = "This does not depend on what the agent did, so its result is the same in every trial."
        yield source.finding("assertion-constant", node, message)


def _constant(source: PythonSource, node: ast.expr, parent: ast.BoolOp | None, *, truth: bool) -> Finding:
    written = source.segment(node)
    is_short = len(written) <= 40 and "\n" not in written
    message = f"{f'`{written}`' if is_short else 'This'} is always {str(truth).lower()}"
    container = _container(source, parent, node) if parent is not None else None
    if container is not None:
        new = f"{written} {container}"
        rewrite = source.rewrite(node, new, f"Write `{new}`", preferred=len(written) < 40)
        return source.finding(
            "assertion-constant", node, f"{message}; each string needs its own `in`.", rewrite
        )
    message = f"{message}, whatever the agent does."
    if isinstance(node, ast.Tuple) and len(node.elts) == 2 and _is_string(node.elts[1]):
        # The second part of an `assert`.
        rewrite = source.rewrite(node, source.segment(node.elts[0]), "Delete the string after the condition")
        return source.finding("assertion-constant", node, message, rewrite)
    return source.finding("assertion-constant", node, message)


def _generator(source: PythonSource, node: ast.GeneratorExp) -> Finding:
    message = "A generator is always true, whatever it yields; pass it to `any(…)` or `all(…)`."
    names = ("any", "all") if source.segment(node).startswith("(") else ()
    rewrites = (source.rewrite(node, name + source.segment(node), f"Write `{name}(…)`") for name in names)
    return source.finding("assertion-constant", node, message, *rewrites)


def _looks_at_nothing(source: PythonSource, node: ast.expr) -> bool:
    """Return whether a part uses no name but functions, and those that it binds itself."""
    if any(isinstance(each, ast.NamedExpr) for each in ast.walk(node)):
        # It may be there for the name, which later assertions see.
        return False
    return not resolve_names(ast.Expression(node), _FUNCTIONS).failing


def _truth(node: ast.expr) -> bool | None:
    match node:
        case ast.Name(id=name) if name in FUNCTION_NAMES:
            return True
        case ast.Attribute(value=ast.Name(id="re")) | ast.Lambda():
            return True
        case ast.Constant(value=value):
            return bool(value)
        case ast.Tuple(elts=elements) | ast.List(elts=elements) | ast.Set(elts=elements):
            return None if any(isinstance(each, ast.Starred) for each in elements) else bool(elements)
        case ast.Dict(keys=keys):
            return None if None in keys else bool(keys)
        case ast.JoinedStr(values=values):
            return True if any(isinstance(each, ast.Constant) and each.value for each in values) else None
        case ast.Compare(left=left, ops=[operator], comparators=[right]) if _is_never_negative(left):
            return _CONSTANT_TESTS.get((type(operator), _number(right)))
        case _:
            return None


def _number(node: ast.expr) -> int:
    """Return the value of a node that is a number, and for anything else one that is in no table."""
    try:
        value: object = ast.literal_eval(node)
    except (ValueError, TypeError, RecursionError):
        return 1
    return value if type(value) is int else 1


def _is_never_negative(node: ast.expr) -> bool:
    match node:
        case ast.Name(id="duration_ms") | ast.Call(func=ast.Name(id="len") | ast.Attribute(attr="count")):
            return True
        case _:
            return False


def _container(source: PythonSource, parent: ast.BoolOp, node: ast.expr) -> str | None:
    """Return the ``in …`` of another operand for a string that should have it too."""
    if not _is_string(node):
        return None
    after = parent.values[parent.values.index(node) + 1 :]
    for other in (*after, *parent.values):
        match other:
            case ast.Compare(left=ast.Constant(value=str()), ops=[ast.In() | ast.NotIn()]):
                return source.text[source.end(other.left) : source.end(other)].strip()
            case _:
                continue
    return None


def _strings_before_in(source: PythonSource, node: ast.Compare) -> Iterator[Finding]:
    """Yield strings joined by `or` or `and` before one `in`, which tests only one of them."""
    strings, operator = node.left, node.ops[0]
    if not isinstance(strings, ast.BoolOp) or not isinstance(operator, ast.In | ast.NotIn):
        return
    if not all(isinstance(each, ast.Constant) and each.value for each in strings.values):
        return
    is_or = isinstance(strings.op, ast.Or)
    only = source.segment(strings.values[0 if is_or else -1])
    rest = source.text[source.end(strings) : source.end(node)].lstrip(" )")
    # "Neither a nor b" means that neither of them is in it.
    word = "or" if is_or and isinstance(operator, ast.In) else "and"
    new = f" {word} ".join(f"{source.segment(each)} {rest}" for each in strings.values)
    message = f"`{source.brief(strings)}` is always `{brief(only)}`; each string needs its own `in`."
    rewrite = source.rewrite(node, f"({new})", f"Write `{brief(new)}`")
    yield source.finding("assertion-constant", strings, message, rewrite)


def _case(source: PythonSource, node: ast.Compare) -> Iterator[Finding]:
    operator, right = node.ops[0], node.comparators[0]
    if isinstance(operator, ast.In | ast.NotIn):
        always = isinstance(operator, ast.NotIn)
        yield from _wrong_case(source, node.left, right, always=always)
        if isinstance(right, ast.List | ast.Tuple | ast.Set):
            # Another element may be equal.
            for each in right.elts:
                yield from _wrong_case(source, each, node.left, always=False)
    elif isinstance(operator, ast.Eq | ast.NotEq):
        for string, changed in ((node.left, right), (right, node.left)):
            yield from _wrong_case(source, string, changed, always=isinstance(operator, ast.NotEq))


def _wrong_case(
    source: PythonSource, node: ast.expr, changed: ast.expr, *, always: bool
) -> Iterator[Finding]:
    """Yield a string that cannot occur in text that was changed to one case."""
    method = _case_method(changed)
    if method is None or not isinstance(node, ast.Constant) or not isinstance(node.value, str):
        return
    change = _CASE_METHODS[method]
    if node.value == change(node.value):
        return
    outcome = "it never occurs there, so this is always true" if always else "it never occurs there"
    message = f"`{node.value[:40]}` is compared with a string after `.{method}()`; {outcome}."
    new = change(source.segment(node))
    rewrites = (source.rewrite(node, new, f"Write `{new}`", preferred=len(new) < 40),)
    yield source.finding("assertion-case", node, message, *(rewrites if "\\" not in new else ()))


def _case_method(node: ast.expr) -> str | None:
    """Return the method that changed the case of a string, or of the string that was split."""
    passed = _STRIP_METHODS | _SPLIT_METHODS
    while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        if node.func.attr in _CASE_METHODS and not node.args:
            return node.func.attr
        if node.func.attr not in passed:
            return None
        passed = _STRIP_METHODS
        node = node.func.value
    return None


def _is_string(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)
