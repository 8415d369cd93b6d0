"""Missing characters in brackets, all at once: commas between values, quotes around them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from waza_engine.frozen import frozen
from waza_engine.later_patterns import compiled_later
from waza_language_server.text.span import Span

_TOKEN = compiled_later(
    r"""(?P<quoted>"(?:[^"\\]|\\.)*"|'(?:[^']|'')*')|(?P<comment>(?<=\s)\#[^\r\n]*)|(?P<open>[\[{])|(?P<close>[\]}])"""
    r"""|(?P<comma>,)|(?P<colon>:(?=[\s,\[\]{}]|\Z))|(?P<word>(?:[^\s,\[\]{}:]|:(?![\s,\[\]{}]|\Z))+)""",
    re.DOTALL,
)
_KEY = compiled_later(r"""(?:"(?:[^"\\\r\n]|\\.)*"|'(?:[^'\r\n]|'')*'|[\w.-]+)[ \t]*:(?=\s)""")
_BREAK = compiled_later(r"[\r\n]")
_NO_START = frozenset("@`%|>")
"""Characters that no value in brackets can start with, and that have no other meaning there."""
_ALIAS = compiled_later(r"\*[\w-]+\Z")
_WORDS = compiled_later(r"[^,\[\]{}#\r\n]+")


@frozen()
class MissingComma:
    """A missing comma, and the offset of the value after it."""

    at: int
    value: int


@frozen()
class _Token:
    kind: str
    start: int
    end: int


def missing_commas(text: str, start: int, end: int) -> Iterator[MissingComma]:
    """Yield the places in brackets where one value ends and the next begins without a comma between.

    Consecutive words are one string, and quotes before a word on its line may be a part of it.
    """
    open_brackets: list[str] = []
    last = _Token("comma", start, start)
    for token in _tokens(text, start, end):
        is_new_line = _BREAK.search(text, last.end, token.start) is not None
        if token.kind in ("quoted", "open", "word") and (
            (last.kind in ("quoted", "close") and _divides(token, last, is_new_line=is_new_line))
            or (
                last.kind == "word"
                and is_new_line
                and open_brackets[-1:] == ["{"]
                and _KEY.match(text, token.start)
            )
        ):
            yield MissingComma(last.end, token.start)
        if token.kind == "open":
            open_brackets.append(text[token.start])
        elif token.kind == "close" and open_brackets:
            open_brackets.pop()
        last = token


def words_to_quote(text: str, start: int, end: int) -> Iterator[Span]:
    """Yield the values in brackets that start with a reserved character, or with a `*` of no alias."""
    last = ""
    for token in _tokens(text, start, end):
        if (
            token.kind == "word"
            and last in ("open", "comma", "colon")
            and (text[token.start] in _NO_START or _is_pattern(text[token.start : token.end]))
            and (words := _WORDS.match(text, token.start, end)) is not None
        ):
            yield Span(token.start, token.start + len(words[0].rstrip()))
        last = token.kind


def _is_pattern(word: str) -> bool:
    """Return whether a word starts with a `*` and cannot be the name of an alias: `*.yaml`, `**/*.md`."""
    return word[0] == "*" and _ALIAS.match(word) is None


def _tokens(text: str, start: int, end: int) -> Iterator[_Token]:
    for match in _TOKEN.finditer(text, start, end):
        if match.lastgroup != "comment":
            yield _Token(match.lastgroup or "", match.start(), match.end())


def _divides(token: _Token, last: _Token, *, is_new_line: bool) -> bool:
    return token.start > last.end and (is_new_line or token.kind != "word")
