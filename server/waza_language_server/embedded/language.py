"""The interface between the editor and a language inside a string: completion, hover, diagnostics.

Architecture invariant: no YAML here. Offsets count characters of the value; the caller maps them into the
document with a ``ScalarMap``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Literal

from waza_engine.frozen import frozen

TokenKind = Literal[
    "comment",
    "enumMember",
    "function",
    "keyword",
    "method",
    "namespace",
    "number",
    "operator",
    "parameter",
    "property",
    "regexp",
    "string",
    "type",
    "variable",
]
"""Token types of the Language Server Protocol, so that every editor has a colour for them."""
TokenPart = Literal[
    "",
    "declaration",
    "defaultLibrary",
    "group",
    "class",
    "quantifier",
    "anchor",
    "alternation",
    "escape",
]
"""A modifier of a token's kind: two token modifiers of the protocol, and the parts of a pattern."""


@frozen()
class Rewrite:
    """A replacement for the value: several expressions become several items of the list around it.

    Without an expression the item is deleted.
    """

    title: str
    expressions: tuple[str, ...]
    preferred: bool = False


@frozen()
class Finding:
    """A problem between two characters of a value; equal offsets mean anywhere in it."""

    code: str
    start: int
    end: int
    message: str
    rewrites: tuple[Rewrite, ...] = ()


@frozen()
class Checked:
    """The problems of a value, and the names that it defines for later values of the same list."""

    findings: tuple[Finding, ...] = ()
    names: frozenset[str] = frozenset()


@frozen()
class CompletionWord:
    """A completion that replaces the last ``typed`` characters before the cursor.

    ``documentation`` is Markdown. The rest of a name after the cursor is replaced as well; a file replaces
    the entire value.
    """

    text: str
    kind: Literal["variable", "function", "field", "file"]
    detail: str
    documentation: str
    typed: int


@frozen()
class Explanation:
    """The meaning of the characters between two offsets, in Markdown."""

    start: int
    end: int
    text: str


@frozen()
class Signature:
    """The signature of a function; ``active`` is the parameter at the cursor, counted from 0.

    ``parameters`` are substrings of ``label``, ``documentation`` is Markdown.
    """

    label: str
    parameters: tuple[str, ...]
    documentation: str
    active: int


@frozen()
class Token:
    """Characters of a value to highlight. Tokens are in order and do not overlap."""

    start: int
    end: int
    kind: TokenKind
    part: TokenPart = ""


@frozen()
class Files:
    """Files that a glob matches: the paths of the first ones, and the number of all."""

    first: tuple[str, ...]
    count: int


def _unknown() -> None:
    return None


def _nowhere() -> Iterable[tuple[str, str]]:
    return ()


@frozen()
class Surroundings:
    """The context of a value. Expensive parts are functions, called only when needed; None means unknown.

    ``names`` are those that earlier values of the same list have bound, ``files`` those that the value
    matches as a glob, ``paths`` those that can be completed, the best first, each with its description.
    ``any_case`` is true if a pattern is searched ignoring case.
    """

    names: frozenset[str] = frozenset()
    any_case: bool = False
    files: Callable[[], Files | None] = _unknown
    paths: Callable[[], Iterable[tuple[str, str]]] = _nowhere


NOWHERE = Surroundings()


class Language:
    """The features of a language inside a string; a value may be incomplete. By default it has none."""

    def check(self, value: str, around: Surroundings = NOWHERE) -> Checked:
        """Return the problems of a value."""
        return Checked()

    def complete(self, value: str, offset: int, around: Surroundings = NOWHERE) -> Iterator[CompletionWord]:
        """Yield the completions at an offset, the best first."""
        return iter(())

    def hover(self, value: str, offset: int, around: Surroundings = NOWHERE) -> Explanation | None:
        """Return the meaning of the part at an offset, or None."""
        return None

    def signature(self, value: str, offset: int) -> Signature | None:
        """Return the signature of the function whose arguments are at an offset, None outside of calls."""
        return None

    def tokens(self, value: str) -> Iterator[Token]:
        """Yield the tokens to highlight."""
        return iter(())
