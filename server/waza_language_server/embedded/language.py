"""What a language inside a string offers to the editor, and what it finds wrong: text in, text out.

Architecture invariant: no YAML here. Offsets count characters of the value; who asks brings them into the
document with a ``ScalarMap``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Literal, Protocol

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
"""Words of the Language Server Protocol, so that every editor has a colour for them."""
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
"""What a token is within its kind: two words of the protocol, and the parts of a pattern."""


@frozen()
class Rewrite:
    """Another text for the value: several become several values of the list around it, none deletes it."""

    title: str
    expressions: tuple[str, ...]
    preferred: bool = False


@frozen()
class Finding:
    """What is wrong between two characters of a value; equal offsets mean anywhere in it."""

    code: str
    start: int
    end: int
    message: str
    rewrites: tuple[Rewrite, ...] = ()


@frozen()
class Checked:
    """What is wrong with a value, and the names that the values after it in the same list know as well."""

    findings: tuple[Finding, ...] = ()
    names: frozenset[str] = frozenset()


@frozen()
class Word:
    """Something that can be written in place of the last ``typed`` characters before the cursor.

    ``documentation`` is Markdown. The rest of a name behind the cursor goes with what was typed; a file takes
    the place of the whole value.
    """

    text: str
    kind: Literal["variable", "function", "field", "file"]
    detail: str
    documentation: str
    typed: int


@frozen()
class Explanation:
    """What the characters between two offsets mean, in Markdown."""

    start: int
    end: int
    text: str


@frozen()
class Signature:
    """How a function is called; ``active`` is the parameter at the cursor, counted from 0.

    ``parameters`` are pieces of ``label``, ``documentation`` is Markdown.
    """

    label: str
    parameters: tuple[str, ...]
    documentation: str
    active: int


@frozen()
class Token:
    """Characters of a value that an editor colours. Tokens come in order and do not overlap."""

    start: int
    end: int
    kind: TokenKind
    part: TokenPart = ""


@frozen()
class Files:
    """Files that a glob matches: the paths of the first of them, and how many there are."""

    first: tuple[str, ...]
    count: int


def _unknown() -> None:
    return None


def _nowhere() -> Iterable[tuple[str, str]]:
    return ()


@frozen()
class Surroundings:
    """What a value can refer to. What costs something is asked for when it is needed, None means unknown.

    ``names`` are those that earlier values of the same list have bound, ``files`` those that the value
    matches as a glob, ``paths`` those that can be written as one, the best first, each with what it is.
    ``any_case`` is whether a pattern is searched without regard to upper and lower case.
    """

    names: frozenset[str] = frozenset()
    any_case: bool = False
    files: Callable[[], Files | None] = _unknown
    paths: Callable[[], Iterable[tuple[str, str]]] = _nowhere


NOWHERE = Surroundings()


class Language(Protocol):
    """What every language inside a string answers, about a value that may be half written."""

    def check(self, value: str, around: Surroundings = NOWHERE) -> Checked:
        """Return what is wrong with a value."""
        ...

    def complete(self, value: str, offset: int, around: Surroundings = NOWHERE) -> Iterator[Word]:
        """Yield what can be written at an offset, the best first."""
        ...

    def hover(self, value: str, offset: int, around: Surroundings = NOWHERE) -> Explanation | None:
        """Return what stands at an offset means, None when there is nothing to say."""
        ...

    def signature(self, value: str, offset: int) -> Signature | None:
        """Return how the function is called whose arguments stand at an offset, None outside of all."""
        ...

    def tokens(self, value: str) -> Iterator[Token]:
        """Yield what is to be coloured."""
        ...
