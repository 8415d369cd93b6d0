"""Python expressions in strings: parsing without running, and locations in characters.

``ast`` counts UTF-8 bytes and ``SyntaxError`` counts characters from one; this module returns only 0-based
character offsets into the author's text.

Architecture invariant: nothing here, or in any rule, evaluates an author's code.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
import warnings
from collections.abc import Callable, Sequence
from functools import cached_property, lru_cache
from itertools import accumulate, islice
from typing import Literal

from waza_engine.assertions.assertion_syntax import check_expression, check_size, parse_expression
from waza_engine.frozen import frozen
from waza_engine.later_patterns import compiled_later
from waza_language_server.embedded.language import Finding, Rewrite

_LAYOUT = frozenset(
    {tokenize.NEWLINE, tokenize.NL, tokenize.COMMENT, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
)
_LINE_IN_REASON = compiled_later(r" \(detected at line \d+\)$")
_UNCLOSED_TEXT = compiled_later(r"unterminated .*literal")
LONGEST = 20_000
"""In characters; a longer expression is skipped because of the parser's cost and recursion."""


@frozen()
class PythonFault:
    """The reason that a text is not an expression, in Python's own words, and its character offsets."""

    start: int
    end: int
    reason: str


@frozen()
class Token:
    """A token with character offsets."""

    kind: int
    text: str
    start: int
    end: int


Place = ast.expr | tuple[int, int]
"""A node, or the offsets of its first character and after its last one."""


@frozen(eq=False, slots=False)
class PythonSource:
    """A parsed text. ``lead`` whitespace characters at its start were dropped, as ``eval`` does."""

    text: str
    tree: ast.Expression | ast.Module
    lead: int

    def start(self, node: ast.expr | ast.stmt) -> int:
        """Return the offset of the first character of a node."""
        return self._offset(node.lineno, node.col_offset)

    def end(self, node: ast.expr | ast.stmt) -> int:
        """Return the offset after the last character of a node."""
        return self._offset(node.end_lineno or node.lineno, node.end_col_offset or node.col_offset)

    def segment(self, node: ast.expr | ast.stmt) -> str:
        """Return the source of a node."""
        return self.text[self.start(node) : self.end(node)]

    def span(self, place: Place) -> tuple[int, int]:
        """Return the offsets of a node."""
        return place if isinstance(place, tuple) else (self.start(place), self.end(place))

    def rewrite(self, place: Place, new: str, title: str = "", *, preferred: bool = False) -> Rewrite:
        """Return the text with other characters at a location."""
        start, end = self.span(place)
        changed = self.text[:start] + new + self.text[end:]
        return Rewrite(title or f"Write `{brief(new)}`", (changed,), preferred)

    def finding(self, code: str, place: Place, message: str, *rewrites: Rewrite) -> Finding:
        """Return a finding at a place."""
        return Finding(code, *self.span(place), message, rewrites)

    def brief(self, node: ast.expr | ast.stmt) -> str:
        """Return the source of a node in one line of at most 40 characters, for messages."""
        return brief(self.segment(node))

    @property
    def expression(self) -> ast.Expression:
        """Return the tree of a text that was parsed as an expression."""
        assert isinstance(self.tree, ast.Expression)
        return self.tree

    @cached_property
    def nodes(self) -> tuple[ast.AST, ...]:
        """Return all nodes of the expression, a level at a time."""
        return tuple(ast.walk(self.expression.body))

    @cached_property
    def parents(self) -> dict[ast.AST, ast.AST]:
        """Return the direct parent of each node."""
        return {child: node for node in ast.walk(self.tree) for child in ast.iter_child_nodes(node)}

    @cached_property
    def bound(self) -> frozenset[str]:
        """Return the names that the expression binds with ``:=``."""
        return frozenset(each.target.id for each in self.nodes if isinstance(each, ast.NamedExpr))

    @cached_property
    def tokens(self) -> tuple[Token, ...]:
        """Return the tokens, without white space, comments and line breaks."""
        return tokens_of(self.text[self.lead :], self.lead)

    @cached_property
    def _lines(self) -> list[str]:
        return _lines(self.text[self.lead :])

    @cached_property
    def _starts(self) -> list[int]:
        return _starts(self._lines, self.lead)

    def _offset(self, line: int, column: int) -> int:
        index = min(max(line, 1), len(self._lines)) - 1
        if index < 0:
            return self.lead
        characters = len(self._lines[index].encode()[:column].decode(errors="ignore"))
        return self._starts[index] + characters


_MOST_SHOWN = 40


def brief(text: str) -> str:
    """Return a text in one line of at most 40 characters."""
    plain = " ".join(text.split())
    return plain if len(plain) <= _MOST_SHOWN else f"{plain[: _MOST_SHOWN - 1]}…"


def first_tokens(text: str, end: int | None = None) -> tuple[Token, ...]:
    """Return the first tokens of ``text[:end]``, without the leading whitespace that ``eval`` drops."""
    lead = len(text) - len(text.lstrip(" \t"))
    return tokens_of(text[lead:end], lead, MOST_TOKENS)


@lru_cache(maxsize=64)
def parse_python(text: str, mode: Literal["eval", "exec"] = "eval") -> PythonSource | PythonFault:
    """Parse an expression (or statements) and check its syntax; nothing is compiled.

    The check finds mistakes that parsing alone accepts, such as a repeated keyword. With ``exec`` the text is
    only parsed, so that a ``return`` is accepted.
    """
    lead = len(text) - len(text.lstrip(" \t")) if mode == "eval" else 0
    source = text[lead:]
    if len(source) > LONGEST:
        return PythonFault(0, len(text), f"longer than {LONGEST:,} characters")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            check_size(source)
            if mode == "exec":
                return PythonSource(text, ast.parse(source, mode="exec"), lead)
            tree = parse_expression(source)
        check_expression(tree)
        return PythonSource(text, tree, lead)
    except SyntaxError as error:
        return _fault(text, lead, error)
    except (RecursionError, MemoryError):
        return PythonFault(lead, len(text), "nested too deeply")
    except ValueError:
        return _unreadable(text)


MOST_TOKENS = 1_500
"""The most tokens to read while the editor waits for an answer; they take some milliseconds."""


def tokens_of(source: str, lead: int = 0, most: int | None = None) -> tuple[Token, ...]:
    """Return the tokens of a text up to the first syntax error, ``lead`` added to every offset.

    At most ``most`` of them.
    """
    starts = _starts(_lines(source), lead)
    found: list[Token] = []
    try:
        for token in islice(tokenize.generate_tokens(io.StringIO(source).readline), most):
            if token.type not in _LAYOUT:
                start = starts[token.start[0] - 1] + token.start[1]
                end = starts[token.end[0] - 1] + token.end[1]
                found.append(Token(token.type, token.string, start, end))
    except (tokenize.TokenError, SyntaxError, ValueError):
        # Since Python 3.12 a lone surrogate is a ``ValueError``.
        pass
    return tuple(found)


def _fault(text: str, lead: int, error: SyntaxError) -> PythonFault:
    if error.lineno is None or "null bytes" in error.msg:
        return _unreadable(text)
    end_of_text = lead + len(text[lead:].rstrip())
    lines = _lines(text[lead:])
    line = error.lineno
    if not error.offset or error.offset < 1 or not 1 <= line <= len(lines):
        return PythonFault(max(lead, end_of_text - 1), end_of_text, _reason(error, at_end=True))
    starts = _starts(lines, lead)
    shown = error.text.rstrip("\r\n") if error.text is not None else None
    if shown is not None and shown != lines[line - 1].rstrip("\r\n"):
        # Up to Python 3.11 this is an expression inside an f-string; columns count from its start.
        inside = shown.strip("()\n")
        at = text.find(inside, lead)
        return PythonFault(max(at, 0), at + len(inside) if at >= 0 else len(text), _reason(error))
    start = min(starts[line - 1] + error.offset - 1, end_of_text)
    end = start + 1
    if error.end_lineno == line and error.end_offset and error.end_offset > error.offset:
        end = starts[line - 1] + error.end_offset - 1
    if start >= end_of_text:
        return PythonFault(max(lead, end_of_text - 1), end_of_text, _reason(error, at_end=True))
    return PythonFault(start, min(max(end, start + 1), end_of_text), _reason(error))


def _reason(error: SyntaxError, *, at_end: bool = False) -> str:
    if error.msg == "invalid syntax" or error.msg.startswith("invalid syntax."):
        return "it ends too early" if at_end else ""
    reason = _LINE_IN_REASON.sub("", error.msg.removeprefix("f-string: "))
    return "this quote is never closed" if _UNCLOSED_TEXT.fullmatch(reason) else reason


def _unreadable(text: str) -> PythonFault:
    at = next((index for index, c in enumerate(text) if c == "\0" or "\ud800" <= c <= "\udfff"), 0)
    return PythonFault(at, at + 1, "a character that no Python text may hold")


def _lines(text: str) -> list[str]:
    """Return the lines as Python's tokenizer splits them: at line feed, carriage return, or both."""
    return re.findall(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+\Z", text)


def _starts(lines: Sequence[str], first: int) -> list[int]:
    """Return where lines begin, and where the last one ends."""
    return list(accumulate(map(len, lines), initial=first))


def conjuncts(value: str) -> tuple[str, ...]:
    """Return the operands of the outermost ``and``, as assertions; () without one.

    Also () if there is a comment, because it may be about either operand.
    """
    source = parse_python(value)
    if not isinstance(source, PythonSource):
        return ()
    body = source.expression.body
    if not isinstance(body, ast.BoolOp) or not isinstance(body.op, ast.And):
        return ()
    ends = [0, *map(source.end, body.values)]
    starts = [*map(source.start, body.values), len(value)]
    if any("#" in value[end:start] for end, start in zip(ends, starts, strict=True)):
        return ()
    parts = (source.segment(each) for each in body.values)
    found = tuple(
        f"({part})" if isinstance(each, ast.NamedExpr) else part
        for each, part in zip(body.values, parts, strict=True)
    )
    return () if any("\n" in part for part in found) else found


CLOSERS = {"(": ")", "[": "]", "{": "}"}


def unclosed(marks: Sequence[str]) -> list[int]:
    """Return the indexes of the brackets that are not closed, among the strings of tokens."""
    opened: list[int] = []
    for index, mark in enumerate(marks):
        if mark in CLOSERS:
            opened.append(index)
        elif opened and mark == CLOSERS[marks[opened[-1]]]:
            opened.pop()
    return opened


def open_call(marks: Sequence[str], is_callee: Callable[[int], bool]) -> tuple[int, int] | None:
    """Return the index of the bracket that opens the innermost call, and how many commas follow it.

    ``marks`` are the strings of the tokens before the cursor, "" for those that are neither bracket nor
    comma. ``is_callee`` returns whether a token can be called. Commas of a list or a group do not count for
    the call around it.
    """
    depth, commas = 0, 0
    for index in range(len(marks) - 1, 0, -1):
        mark = marks[index]
        if mark in CLOSERS.values():
            depth += 1
        elif mark in CLOSERS and depth:
            depth -= 1
        elif mark == "(" and is_callee(index - 1):
            return index, commas
        elif mark in CLOSERS:
            commas = 0
        elif mark == "," and not depth:
            commas += 1
    return None
