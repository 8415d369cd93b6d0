"""What a language inside a string offers to the editor, and what it finds wrong: text in, text out.

Architecture invariant: no YAML here. Offsets count characters of the value; who asks brings them into the
document with a ``ScalarMap``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, Protocol


@dataclass(frozen=True, slots=True)
class Rewrite:
    """Another text for the value: several become several values of the list around it, none deletes it."""

    title: str
    expressions: tuple[str, ...]
    preferred: bool = False


@dataclass(frozen=True, slots=True)
class Finding:
    """What is wrong between two characters of a value; equal offsets mean anywhere in it."""

    code: str
    start: int
    end: int
    message: str
    rewrites: tuple[Rewrite, ...] = ()


@dataclass(frozen=True, slots=True)
class Word:
    """Something that can be written in place of the last ``typed`` characters before the cursor.

    ``documentation`` is Markdown. The rest of a name behind the cursor goes with what was typed.
    """

    text: str
    kind: Literal["variable", "function", "field"]
    detail: str
    documentation: str
    typed: int


@dataclass(frozen=True, slots=True)
class Explanation:
    """What the characters between two offsets mean, in Markdown."""

    start: int
    end: int
    text: str


class Language(Protocol):
    """A language as completion and hover know it; rules ask its own functions for findings."""

    def words(self, before: str) -> Iterator[Word]:
        """Yield what can be written behind this part of a value, the best first."""
        ...

    def explain(self, value: str, offset: int) -> Explanation | None:
        """Return what stands at an offset of a value means, None when there is nothing to say."""
        ...
