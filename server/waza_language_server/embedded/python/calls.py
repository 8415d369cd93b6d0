"""Calls that fail whatever the agent does: too few arguments, or ones of a kind that the function refuses."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from types import MappingProxyType, ModuleType

from waza_engine.assertions.members import RE_FLAGS, RE_FUNCTIONS, RE_TYPES, is_refused_member
from waza_engine.assertions.names import FUNCTION_NAMES
from waza_engine.spec.pattern_syntax import PatternSyntaxError, check_python_syntax
from waza_language_server.embedded.language import Finding, Rewrite
from waza_language_server.embedded.python.kinds import (
    CALL,
    GENERATOR,
    MATCH,
    NOTHING,
    TEXT,
    TRUTH,
    Kinds,
    is_number,
    kind_of,
)
from waza_language_server.embedded.python.python_source import PythonSource
from waza_language_server.spelling import listed, nearest

_OF_ONE = ("len", "any", "all")
_MOST: Mapping[str, tuple[int, int]] = MappingProxyType(
    {
        **dict.fromkeys(["lower", "upper", "casefold", "title", "capitalize", "swapcase"], (0, 0)),
        **dict.fromkeys((name for name in dir(str) if name.startswith("is")), (0, 0)),
        **dict.fromkeys(["strip", "lstrip", "rstrip"], (0, 1)),
        **dict.fromkeys(["startswith", "endswith", "count", "find", "rfind", "index", "rindex"], (1, 3)),
        **dict.fromkeys(["removeprefix", "removesuffix", "join"], (1, 1)),
        **dict.fromkeys(["split", "rsplit"], (0, 2)),
        "splitlines": (0, 1),
        "replace": (2, 3),
    }
)
"""How many arguments methods of text take, at least and at most."""
_OF_TEXT = frozenset(["count", "find", "rfind", "index", "rindex", "replace", "removeprefix", "removesuffix"])
_OF_TEXT_OR_NOTHING = frozenset(["split", "rsplit", "strip", "lstrip", "rstrip"])
_PARAMETERS: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = MappingProxyType(
    {
        **dict.fromkeys(
            ["search", "match", "fullmatch", "findall", "finditer"], (("pattern", "string"), ("flags",))
        ),
        **dict.fromkeys(("sub", "subn"), (("pattern", "repl", "string"), ("count", "flags"))),
        "split": (("pattern", "string"), ("maxsplit", "flags")),
        "compile": (("pattern",), ("flags",)),
    }
)
"""What functions of ``re`` need, and what else they take; newer Pythons do not tell it alike."""
_NAMES_OF_RE: frozenset[str] = RE_FUNCTIONS | RE_FLAGS | RE_TYPES
_NEEDED_WORDS = {"pattern": "a pattern", "repl": "what to write instead", "string": "the text to search"}
_LETTERS = {"i": "re.I", "m": "re.M", "s": "re.S", "x": "re.X", "a": "re.A", "u": "re.U"}


NEEDS_ARGUMENTS = frozenset({name for name, (least, _) in _MOST.items() if least} | {"get"})
"""Methods of text, lists and dicts that cannot be called without any."""


def call_findings(source: PythonSource, call: ast.Call, names: Kinds) -> Iterator[Finding]:
    """Yield what is wrong with the arguments of a call, the first thing only."""
    if any(isinstance(each, ast.Starred) for each in call.args) or any(
        not each.arg for each in call.keywords
    ):
        return
    found: Iterator[Finding] = iter(())
    match call.func:
        case ast.Name(id=name) if name in FUNCTION_NAMES and name not in names:
            found = _of_function(source, call, name, names)
        case ast.Attribute(value=ast.Name(id="re"), attr=name) if "re" not in names:
            found = _of_re(source, call, name, names)
        case ast.Attribute(value=owner, attr=name) if kind_of(owner, names) is TEXT:
            found = _of_text(source, call, name, names)
        case _:
            pass
    first = next(found, None)
    if first is not None:
        yield first


def _of_function(source: PythonSource, call: ast.Call, name: str, names: Kinds) -> Iterator[Finding]:
    if name in ("int", "float"):
        yield from _number(source, call, name, names)
    elif name in ("list", "dict"):
        yield from _gone_through(source, call, name, names)
    if name not in _OF_ONE:
        return
    if len(call.args) != 1 or call.keywords:
        rewrites: tuple[Rewrite, ...] = ()
        if len(call.args) > 1 and not call.keywords and name != "len":
            start, end = source.start(call.args[0]), source.end(call.args[-1])
            listed_ones = f"[{source.text[start:end]}]"
            rewrites = (_replaced(source, start, end, listed_ones, f"Write `{name}([…])`"),)
        what = "one list" if name != "len" else "one value"
        yield _finding(source, call, f"`{name}` takes {what} and not {len(call.args)} arguments", rewrites)
        return
    (argument,) = call.args
    kind = kind_of(argument, names)
    if kind is None or not (
        is_number(kind) or kind in (MATCH, NOTHING) or (kind is GENERATOR and name == "len")
    ):
        return
    rewrites = ()
    inside = source.segment(argument)
    if kind is TRUTH and name != "len":
        title = f"Leave out `{name}(…)`"
        rewrites = (_replaced(source, source.start(call), source.end(call), f"({inside})", title),)
    elif kind is GENERATOR:
        start, end = source.start(argument), source.end(argument)
        bare = inside[1:-1] if inside.startswith("(") and inside.endswith(")") else inside
        new = f"([{bare}])" if source.text[start : start + 1] == "(" else f"[{bare}]"
        rewrites = (_replaced(source, start, end, new, "Write it as a list"),)
    does = "has no length" if name == "len" else f"is no list that `{name}` could go through"
    yield _finding(source, argument, f"`{source.brief(argument)}` is {kind.title}, which {does}", rewrites)


def _gone_through(source: PythonSource, call: ast.Call, name: str, names: Kinds) -> Iterator[Finding]:
    kind = kind_of(call.args[0], names) if len(call.args) == 1 else None
    if kind is not None and (is_number(kind) or kind is NOTHING):
        what = f"`{source.brief(call.args[0])}` is {kind.title}, of which `{name}` makes none"
        yield _finding(source, call.args[0], what, ())


def _number(source: PythonSource, call: ast.Call, name: str, names: Kinds) -> Iterator[Finding]:
    match call:
        case ast.Call(args=[ast.Constant(value=str(written)) as argument], keywords=[]):
            try:
                (int if name == "int" else float)(written)
            except ValueError:
                yield _finding(source, argument, f"`{source.brief(argument)}` is no number", ())
        case ast.Call(args=[argument], keywords=[]):
            kind = kind_of(argument, names)
            if kind is not None and not is_number(kind) and kind.owner not in (str, bytes):
                what = f"`{source.brief(argument)}` is {kind.title}, of which `{name}` makes no number"
                yield _finding(source, argument, what, ())
        case _:
            return


def _of_re(source: PythonSource, call: ast.Call, name: str, names: Kinds) -> Iterator[Finding]:
    if name not in _PARAMETERS:
        return
    needed, further = _PARAMETERS[name]
    given = dict(zip((*needed, *further), call.args, strict=False))
    given |= {each.arg or "": each.value for each in call.keywords if each.arg not in given}
    if len(given) < len(call.args) + len(call.keywords) or not set(needed) <= given.keys() <= {
        *needed,
        *further,
    }:
        needs = " and ".join(_NEEDED_WORDS[each] for each in needed)
        yield _finding(source, call, f"`re.{name}` needs {needs}", ())
        return
    yield from _pattern(source, given["pattern"], names)
    if "string" in given:
        yield from _searched(source, given["string"], names)
    if "flags" in given:
        yield from _flags(source, given["flags"], names)


def _pattern(source: PythonSource, node: ast.expr, names: Kinds) -> Iterator[Finding]:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        try:
            check_python_syntax(node.value)
        except PatternSyntaxError as error:
            start, end = source.start(node), source.end(node)
            message = f"This regular expression is invalid: {error}."
            yield Finding("invalid-pattern", start, end, message)
        else:
            yield from _backspace(source, node)
        return
    kind = kind_of(node, names)
    if kind is not None and (is_number(kind) or kind.owner in (list, dict, tuple, set)):
        yield _finding(source, node, f"`{source.brief(node)}` is {kind.title} and no pattern", ())


def _backspace(source: PythonSource, node: ast.expr) -> Iterator[Finding]:
    """Yield the edge of a word that is a backspace, for Python or already for the double quotes of YAML."""
    written = source.segment(node)
    if "\b" not in written and ("\\b" not in written or written[0] not in "\"'" or "\\\\" in written):
        return
    who = "The double quotes of YAML make" if "\b" in written else "Without an `r` in front Python makes"
    message = f"{who} a backspace of `\\b`, which is meant as the edge of a word."
    rewrites: tuple[Rewrite, ...] = ()
    if "\\\\" not in written:
        start, end = source.start(node), source.end(node)
        new = written.replace("\b", "\\b")
        new = new if written[0] not in "\"'" else f"r{new}"
        rewrites = (_replaced(source, start, end, new, f"Write `{new}`", preferred=True),)
    yield Finding("assertion-constant", source.start(node), source.end(node), message, rewrites)


def _searched(source: PythonSource, node: ast.expr, names: Kinds) -> Iterator[Finding]:
    kind = kind_of(node, names)
    if kind is None or kind.owner in (str, bytes):
        return
    start, end = source.start(node), source.end(node)
    rewrites = (_replaced(source, start, end, f"str({source.segment(node)})", "Write `str(…)`"),)
    what = f"`{source.brief(node)}` is {kind.title}, and only text can be searched"
    yield _finding(source, node, what, rewrites if kind.owner in (list, dict, tuple, int, float) else ())


def _flags(source: PythonSource, node: ast.expr, names: Kinds) -> Iterator[Finding]:
    if kind_of(node, names) is not TEXT:
        return
    rewrites: tuple[Rewrite, ...] = ()
    letters = node.value.lower() if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""
    if letters and set(letters) <= set(_LETTERS):
        new = " | ".join(_LETTERS[letter] for letter in letters)
        rewrites = (_replaced(source, source.start(node), source.end(node), new, f"Write `{new}`"),)
    yield _finding(source, node, "Flags are no text but `re.I`, `re.M`, `re.S`", rewrites)


def _of_text(source: PythonSource, call: ast.Call, name: str, names: Kinds) -> Iterator[Finding]:
    if name not in _MOST or call.keywords:
        return
    least, most = _MOST[name]
    given = len(call.args)
    if not least <= given <= most:
        takes = "nothing" if not most else f"{least}" if least == most else f"{least} to {most}"
        noun = "" if not most else " argument" if most == 1 else " arguments"
        yield _finding(source, call, f"`{name}` takes {takes}{noun} and not {given}", ())
        return
    if not given:
        return
    first = call.args[0]
    kind = kind_of(first, names)
    if kind is None or kind is TEXT:
        return
    if name == "join":
        if kind.item is CALL:
            what = f"`join` takes texts, and each item of `{source.brief(first)}` is {CALL.title}"
            yield _finding(source, first, what, (_names_joined(source, first),))
        elif is_number(kind) or kind is NOTHING:
            yield _finding(
                source, first, f"`join` takes texts, and `{source.brief(first)}` is {kind.title}", ()
            )
        return
    if name in ("startswith", "endswith"):
        if kind.owner is tuple:
            return
        rewrites: tuple[Rewrite, ...] = ()
        if isinstance(first, ast.List) and first.elts:
            start, end = source.start(first), source.end(first)
            inside = source.text[start + 1 : end - 1].rstrip().rstrip(",")
            inside += "," if len(first.elts) == 1 else ""
            rewrites = (
                _replaced(source, start, end, f"({inside})", "Write it in parentheses", preferred=True),
            )
        what = (
            f"`{name}` takes a text, or several in parentheses, and `{source.brief(first)}` is {kind.title}"
        )
        yield _finding(source, first, what, rewrites)
    elif name in _OF_TEXT or (name in _OF_TEXT_OR_NOTHING and kind is not NOTHING):
        what = f"`{name}` works with text, and `{source.brief(first)}` is {kind.title}"
        yield _finding(source, first, what, ())


def _names_joined(source: PythonSource, node: ast.expr) -> Rewrite:
    new = f"[call['name'] for call in {source.segment(node)}]"
    return _replaced(source, source.start(node), source.end(node), new, "Join the names")


def unknown_of_re(source: PythonSource, node: ast.Attribute, start: int, end: int) -> Finding | None:
    """Return a finding for a function that ``re`` has not, or that an assertion has not."""
    if node.attr in _NAMES_OF_RE:
        return None
    if is_refused_member(ModuleType, node.attr):
        return Finding(
            "assertion-internal", start, end, f"This engine refuses `re.{node.attr}`; upstream evaluates it."
        )
    meant = nearest(node.attr, sorted(_NAMES_OF_RE))
    usual = listed(["search", "match", "fullmatch", "findall", "sub", "split"], "and")
    advice = f"; did you mean `{meant}`?" if meant is not None else f", whose functions are {usual}."
    rewrites: tuple[Rewrite, ...] = ()
    if meant is not None:
        rewrites = (_replaced(source, start, end, meant, f"Change to `{meant}`"),)
    return Finding("assertion-attribute", start, end, f"There is no `{node.attr}` in `re`{advice}", rewrites)


def _finding(source: PythonSource, node: ast.expr, what: str, rewrites: tuple[Rewrite, ...]) -> Finding:
    return Finding(
        "assertion-type", source.start(node), source.end(node), f"{what}; that fails the assertion.", rewrites
    )


def _replaced(
    source: PythonSource, start: int, end: int, new: str, title: str, *, preferred: bool = False
) -> Rewrite:
    return Rewrite(title, (f"{source.text[:start]}{new}{source.text[end:]}",), preferred=preferred)
