"""Other values for a rule, derived from a record: shared by grader types.

Proposals are tried on the recorded trials before they are offered.
"""

from __future__ import annotations

import ast
import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import pairwise
from typing import Any, TypeAlias, cast

from waza_engine.assertions.assertion_syntax import parse_expression
from waza_engine.graders.matching.nearest import Loosened, matching_loosened, nearest_text, occurrences_of
from waza_engine.graders.matching.patterns import PatternError, find_first
from waza_engine.graders.matching.strings import shortened
from waza_engine.lab.insight import Proposal, RulePath

MOST = 3
LEAST_ALIKE = 0.75
LONGEST_TEXT = 200
LONGEST_SEQUENCE = 30
_MOST_ENUMERATED = 20


def propose_texts(
    path: RulePath, wanted: str, texts: Sequence[str], *, ignore_case: bool = True
) -> Iterator[Proposal]:
    """Propose a missing string in the form that really occurs."""
    written: Counter[str] = Counter()
    for text in texts:
        if occurrences_of(wanted, text, ignore_case=ignore_case)[0] is not None:
            continue
        near = nearest_text(wanted, text)
        if near is not None and near.alike >= LEAST_ALIKE and near.end - near.start <= LONGEST_TEXT:
            written[text[near.start : near.end]] += 1
    for found, _ in written.most_common(MOST):
        yield Proposal(f"Expect it as it was answered: `{shortened(found, 60)}`", path, found)


def propose_patterns(
    path: RulePath, pattern: str, texts: Sequence[str], *, ignore_case: bool = False
) -> Iterator[Proposal]:
    """Propose patterns that allow a little more, and match where this one does not."""
    counted: Counter[Loosened] = Counter()
    for text in texts:
        try:
            if find_first(pattern, text, ignore_case=ignore_case) is not None:
                continue
        except PatternError:
            return
        near = matching_loosened(pattern, text, ignore_case=ignore_case)
        if near is not None:
            counted[near[0]] += 1
    for looser, _ in counted.most_common(MOST):
        words = f"Loosen the pattern, {looser.allows}: `{shortened(looser.pattern, 60)}`"
        yield Proposal(words, path, looser.pattern)


def propose_maximum(path: RulePath, limit: int, observed: Sequence[int]) -> Iterator[Proposal]:
    """Propose the highest observed value for a limit, and the next round number."""
    most = max(observed, default=limit)
    if most > limit:
        name = path[-1]
        yield Proposal(f"Raise `{name}` to {most:,}, the most observed", path, most)
        above = round_above(most)
        if above != most:
            yield Proposal(f"Raise `{name}` to {above:,}, above the {most:,} observed", path, above)


def propose_minimum(path: RulePath, limit: int, observed: Sequence[int]) -> Iterator[Proposal]:
    """Propose the least that was observed for a lower limit."""
    least = min(observed, default=limit)
    if least < limit:
        yield Proposal(f"Lower `{path[-1]}` to {least:,}, the least observed", path, least)


def propose_names(path: RulePath, name: str, used: Sequence[Sequence[str]]) -> Iterator[Proposal]:
    """Propose a name as the agent really uses it."""
    others = Counter(one for names in used if name not in names for one in set(names))
    alike = [one for one in others if one.lower() == name.lower() or one.lower() in _same(name)]
    alike += get_close_matches(name, list(others), MOST, 0.6)
    for found in list(dict.fromkeys(alike))[:MOST]:
        yield Proposal(f"Name it as the agent does: `{shortened(found, 60)}`", path, found)


def propose_sequence(
    path: RulePath, wanted: Sequence[str], actual: Sequence[Sequence[str]], what: str
) -> Iterator[Proposal]:
    """Propose a sequence as it really was."""
    counted = Counter(tuple(names) for names in actual if names and list(names) != list(wanted))
    for found, _ in counted.most_common(MOST):
        if len(found) <= LONGEST_SEQUENCE:
            yield Proposal(
                f"Expect the {what} as they were: {shortened(', '.join(found), 80)}", path, list(found)
            )


def schema_of(values: Sequence[Any]) -> dict[str, Any] | None:
    """Return a JSON Schema that all values satisfy: their types, and keys of all objects are required."""
    kinds = {_kind(value) for value in values}
    if kinds == {"integer", "number"}:
        kinds = {"number"}
    if len(kinds) != 1:
        return {"type": sorted(kinds)} if kinds else None
    (kind,) = kinds
    if kind == "object":
        blocks = [cast("Mapping[str, Any]", value) for value in values]
        names = list(dict.fromkeys(name for block in blocks for name in block))
        if len(names) > _MOST_ENUMERATED:
            return {"type": "object"}
        required = [name for name in names if all(name in block for block in blocks)]
        properties = {name: schema_of([block[name] for block in blocks if name in block]) for name in names}
        return {
            "type": "object",
            **({"required": required} if required else {}),
            **({"properties": properties} if properties else {}),
        }
    if kind == "array":
        items = [item for value in values for item in cast("Sequence[Any]", value)]
        inner = schema_of(items)
        return {"type": "array", **({"items": inner} if inner is not None else {})}
    return {"type": kind}


def _kind(value: Any) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case int():
            return "integer"
        case float():
            return "number"
        case str():
            return "string"
        case Mapping():
            return "object"
        case _:
            return "array"


def round_above(value: int) -> int:
    """Return the next round number: 10 for 7, 40 for 37, 1,500 for 1,250."""
    return -(-value // _step(value)) * _step(value)


def round_below(value: int) -> int:
    """Return the previous round number: 5 for 7, 35 for 37, 1,000 for 1,250."""
    return value // _step(value) * _step(value)


def _step(value: int) -> int:
    return max(5, 10 ** (len(str(value)) - 1) // 2)


def _same(name: str) -> frozenset[str]:
    """Return other names for the tools of agents that do the same."""
    for names in _SAME:
        if name.lower() in names:
            return names
    return frozenset()


_SAME = (
    frozenset({"bash", "shell", "sh", "run_command", "runcommand", "terminal", "powershell"}),
    frozenset({"view", "read", "read_file", "readfile", "cat", "open_file"}),
    frozenset({"edit", "write", "write_file", "writefile", "str_replace_editor", "create", "apply_patch"}),
    frozenset({"grep", "search", "rg", "ripgrep", "search_files"}),
    frozenset({"fetch", "web_fetch", "webfetch"}),
)


Names: TypeAlias = Mapping[str, Any]
"""The values that an assertion may use, of one trial."""

_LONGEST_ASSERTION = 4_000
_LONGEST_SHOWN = 100
_PLAIN_METHODS = frozenset({"lower", "upper", "casefold", "strip", "lstrip", "rstrip", "split", "splitlines"})
_INNER_NAMES = (ast.Lambda, ast.GeneratorExp, ast.ListComp, ast.SetComp, ast.DictComp)
_LIMITS: Mapping[type[ast.cmpop], str] = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="}
_TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


class _UnknownError(Exception):
    """The value of a part is unknown here."""


@dataclass(frozen=True, slots=True)
class _Assertion:
    """An assertion, and its path in the config."""

    path: RulePath
    text: str

    def proposal(self, words: str, node: ast.expr, written: str) -> Proposal:
        """Propose the same assertion with another number or string in one place."""
        start = _offset(self.text, node.lineno, node.col_offset)
        end = _offset(self.text, node.end_lineno, node.end_col_offset)
        changed = self.text[:start] + written + self.text[end:]
        return Proposal(f"{words}: `{shortened(changed, _LONGEST_SHOWN)}`", self.path, changed)

    def quoted(self, node: ast.expr, text: str) -> str:
        """Return a string as a literal, in the quotes of the one that it replaces if possible."""
        written = ast.get_source_segment(self.text, node) or ""
        mark = written[:1]
        plain = mark in ("'", '"') and written[:3] not in ("'''", '"""')
        return f"{mark}{text}{mark}" if plain and _fits(text, mark) else repr(text)


def propose_assertions(
    path: RulePath, assertion: str, trials: Sequence[Names], tools: Sequence[Sequence[str]]
) -> Iterator[Proposal]:
    """Propose assertions that allow the observed values; ``tools`` are the called names of each trial."""
    indent = len(assertion) - len(assertion.lstrip(" \t"))
    text = assertion[indent:]
    if len(text) > _LONGEST_ASSERTION or not all(line.isprintable() for line in text.split("\n")):
        # Python ends lines at other characters, too, and counts columns from there.
        return
    try:
        tree = parse_expression(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    if any(isinstance(node, ast.NamedExpr) for node in ast.walk(tree)):
        return
    seen: set[str] = set()
    for one in _of_node(_Assertion(path, text), tree.body, trials, tools):
        value = assertion[:indent] + str(one.value)
        if value not in seen and value != assertion:
            seen.add(value)
            yield Proposal(one.words, path, value)


def _of_node(
    assertion: _Assertion, node: ast.AST, trials: Sequence[Names], tools: Sequence[Sequence[str]]
) -> Iterator[Proposal]:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        # Proposing another string to be absent would not be a fix.
        return
    if isinstance(node, ast.Compare):
        for (left, right), operator in zip(pairwise((node.left, *node.comparators)), node.ops, strict=True):
            sign = _LIMITS.get(type(operator))
            if sign is not None:
                yield from _of_limit(assertion, left, sign, right, trials)
                yield from _of_limit(assertion, right, _TURNED[sign], left, trials)
            elif isinstance(operator, ast.In):
                yield from _of_text(assertion, left, right, trials, tools, _as_part)
            elif isinstance(operator, ast.Eq):
                yield from _of_text(assertion, right, left, trials, tools, _as_whole)
                yield from _of_text(assertion, left, right, trials, tools, _as_whole)
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and len(node.args) == 1:
        finds = {"startswith": _as_beginning, "endswith": _as_end}.get(node.func.attr)
        if finds is not None:
            yield from _of_text(assertion, node.args[0], node.func.value, trials, tools, finds)
    if isinstance(node, _INNER_NAMES):
        # The same names may have another meaning in there.
        trials = ()
    for child in ast.iter_child_nodes(node):
        yield from _of_node(assertion, child, trials, tools)


def _of_limit(
    assertion: _Assertion, counted: ast.expr, sign: str, limit: ast.expr, trials: Sequence[Names]
) -> Iterator[Proposal]:
    written = limit.value if isinstance(limit, ast.Constant) else None
    if isinstance(written, bool) or not isinstance(written, int | float) or not _names_something(counted):
        return
    observed = [value for value in _values(counted, trials) if _is_figure(value)]
    if sign in ("<", "<="):
        for figure, words in _raised(sign, written, observed):
            yield assertion.proposal(f"Raise the limit to {words}", limit, f"{figure}")
    else:
        for figure, words in _lowered(sign, written, observed):
            yield assertion.proposal(f"Lower the limit to {words}", limit, f"{figure}")


def _raised(sign: str, limit: float, observed: Sequence[float]) -> Iterator[tuple[float, str]]:
    most = max(observed, default=limit)
    if sign == "<=" and most > limit:
        yield most, f"{most:,}, the most observed"
    if most > limit or (sign == "<" and most == limit):
        above = round_above(math.floor(most) + 1) if sign == "<" else round_above(math.ceil(most))
        if above != most:
            yield above, f"{above:,}, above the {most:,} observed"


def _lowered(sign: str, limit: float, observed: Sequence[float]) -> Iterator[tuple[float, str]]:
    # To ask for nothing at all would be no limit.
    least = min((value for value in observed if value > 0), default=limit)
    if sign == ">=" and least < limit:
        yield least, f"{least:,}, the least observed that is not 0"
    if least < limit or (sign == ">" and least == limit):
        below = round_below(math.ceil(least) - 1) if sign == ">" else round_below(math.floor(least))
        if below > 0 and below != least:
            yield below, f"{below:,}, below the {least:,} observed"
        elif sign == ">" and least >= 1:
            one_less = math.ceil(least) - 1
            yield one_less, f"{one_less:,}, below the {least:,} observed"


_Finds: TypeAlias = Callable[[str, Sequence[str]], Iterator[str]]
"""Finds, in some strings, the nearest match of a string."""


def _of_text(
    assertion: _Assertion,
    wanted: ast.expr,
    within: ast.expr,
    trials: Sequence[Names],
    tools: Sequence[Sequence[str]],
    finds: _Finds,
) -> Iterator[Proposal]:
    if not isinstance(wanted, ast.Constant) or not isinstance(wanted.value, str) or not wanted.value.strip():
        return
    text = wanted.value
    if isinstance(within, ast.Constant):
        return
    texts = [value for value in _values(within, trials) if isinstance(value, str)]
    if texts:
        for found in dict.fromkeys(finds(text, texts)):
            words = "Expect it as it was answered"
            yield assertion.proposal(words, wanted, assertion.quoted(wanted, found))
        return
    for one in propose_names(assertion.path, text, tools):
        name = assertion.quoted(wanted, str(one.value))
        yield assertion.proposal("Name it as the agent does", wanted, name)


def _as_part(wanted: str, texts: Sequence[str]) -> Iterator[str]:
    for one in propose_texts((), wanted, texts, ignore_case=False):
        yield str(one.value)


def _as_whole(wanted: str, texts: Sequence[str]) -> Iterator[str]:
    for text in texts:
        near = _near(wanted, text)
        if near is not None and text != wanted and near[1] - near[0] >= LEAST_ALIKE * len(text):
            yield text


def _as_beginning(wanted: str, texts: Sequence[str]) -> Iterator[str]:
    for text in texts:
        near = _near(wanted, text)
        if near is not None and near[0] <= MOST:
            yield text[: near[1]]


def _as_end(wanted: str, texts: Sequence[str]) -> Iterator[str]:
    for text in texts:
        near = _near(wanted, text)
        if near is not None and len(text) - near[1] <= MOST:
            yield text[near[0] :]


def _near(wanted: str, text: str) -> tuple[int, int] | None:
    near = nearest_text(wanted, text)
    if near is None or near.alike < LEAST_ALIKE or near.end - near.start > LONGEST_TEXT:
        return None
    return near.start, near.end


def _values(node: ast.expr, trials: Sequence[Names]) -> list[Any]:
    """Return the values of a part of an assertion, for the trials in which they are known."""
    found: list[Any] = []
    for names in trials:
        try:
            found.append(_value(node, names))
        except _UnknownError:
            return []
    return found


def _value(node: ast.expr, names: Names) -> Any:
    """Return the value of a plain part of an assertion. Raises ``_UnknownError`` for all others."""
    match node:
        case ast.Name(id=name) if name in names:
            return names[name]
        case ast.Call(func=ast.Name(id="len"), args=[counted], keywords=[]):
            return len(_sized(_value(counted, names)))
        case ast.Call(func=ast.Attribute(value=value, attr=method), args=[], keywords=[]) if (
            method in _PLAIN_METHODS
        ):
            text = _value(value, names)
            if isinstance(text, str):
                return getattr(text, method)()
        case _:
            pass
    raise _UnknownError


def _sized(value: Any) -> Sequence[Any]:
    if not isinstance(value, str | list | dict):
        raise _UnknownError
    return cast("Sequence[Any]", value)


def _names_something(node: ast.expr) -> bool:
    return any(isinstance(each, ast.Name) for each in ast.walk(node))


def _is_figure(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _fits(text: str, mark: str) -> bool:
    return mark not in text and "\\" not in text and text.isprintable()


def _offset(text: str, line: int | None, column: int | None) -> int:
    """Return how many characters are before a place; Python counts lines from 1, and columns in bytes."""
    above = text.split("\n")[: (line or 1) - 1]
    before = text.split("\n")[len(above)].encode()[:column].decode()
    return sum(len(each) + 1 for each in above) + len(before)
