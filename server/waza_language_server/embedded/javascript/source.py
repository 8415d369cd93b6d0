"""JavaScript in pieces: its words, texts, patterns and marks, and what is opened or closed wrongly.

Nothing is parsed beyond that. Where a slash could be a division as well as a pattern, nothing is said of what
follows (``doubtful``).
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal

from waza_engine.frozen import frozen
from waza_engine.later_patterns import compiled_later
from waza_language_server.embedded.brackets import CLOSERS

PieceKind = Literal["name", "number", "text", "template", "pattern", "comment", "mark"]
_WORDS = """
async await break case catch class const continue debugger default delete do else export extends false
finally for function if import in instanceof let new null of return static super switch this throw true
try typeof var void while with yield
"""
KEYWORDS = frozenset(_WORDS.split())
_WORDS_BEFORE_PATTERN = """
return typeof instanceof in of new delete void throw case do else
"""
_BEFORE_PATTERN = frozenset(_WORDS_BEFORE_PATTERN.split())
_NEXT = compiled_later(
    r"""(?P<blank>\s+)
    |(?P<comment>//[^\n\r\u2028\u2029]*|/\*.*?\*/)
    |(?P<number>(?:0[xX][\da-fA-F_]+|0[bB][01_]+|0[oO][0-7_]+|(?:\d[\d_]*\.?[\d_]*|\.\d[\d_]*)(?:[eE][+-]?\d+)?)n?)
    |(?P<name>[^\W\d][\w$]*|\$[\w$]*)
    |(?P<text>"(?:[^"\\\n\r]|\\(?:\r\n|.))*"|'(?:[^'\\\n\r]|\\(?:\r\n|.))*')
    |(?P<mark>=>|\?\?=?|\?\.(?!\d)|\.\.\.|[=!]==?|<<=?|>>>?=?|[<>]=?|\*\*=?|&&=?|\|\|=?|\+\+|--|[-+*%&|^]=?|.)""",
    re.VERBOSE | re.DOTALL,
)
_PATTERN = compiled_later(r"/(?![*/])(?:[^\\/\[\n\r]|\\[^\n\r]|\[(?:[^\]\\\n\r]|\\[^\n\r])*\])+/[A-Za-z]*")
_TEMPLATE = compiled_later(r"(?:[^`\\$]|\\.|\$(?!\{))*", re.DOTALL)


@frozen()
class Piece:
    """A word, a text, a mark; ``kind`` "template" is a piece of text between back quotes."""

    kind: PieceKind
    start: int
    end: int
    text: str


@frozen()
class Fault:
    """What no JavaScript can be, and why, as the end of a sentence."""

    start: int
    end: int
    why: str


@frozen()
class Source:
    """A text in pieces, in order; ``open_text`` is where the text begins that has no end, -1 without one."""

    pieces: tuple[Piece, ...]
    fault: Fault | None = None
    doubtful: bool = False
    open_text: int = -1

    @property
    def code(self) -> tuple[Piece, ...]:
        """The pieces that are no comments."""
        return tuple(piece for piece in self.pieces if piece.kind != "comment")


@lru_cache(maxsize=256)
def read(text: str) -> Source:
    """Return a text in pieces."""
    return _Reader(text).read()


class _Reader:
    """Takes one piece after the other; ``opened`` are the brackets and back quotes around the position."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._pieces: list[Piece] = []
        self._opened: list[Piece] = []
        self._fault: Fault | None = None
        self._doubtful = "<!--" in text or "-->" in text

    def read(self) -> Source:
        position = 0
        while 0 <= position < len(self._text):
            in_template = bool(self._opened) and self._opened[-1].text == "`"
            position = self._template(position) if in_template else self._next(position)
        last = self._opened[-1] if self._opened else None
        fault = self._fault
        if last is not None and (fault is None or last.text in {"`", '"', "'"}):
            fault = _unclosed(last.start, last.text)
        open_text = last.start if last is not None and last.text in {"`", '"', "'"} else -1
        return Source(tuple(self._pieces), fault, self._doubtful, open_text)

    def _next(self, position: int) -> int:
        found = _PATTERN.match(self._text, position) if _may_be_pattern(self._pieces) else None
        if found is not None:
            self._pieces.append(Piece("pattern", position, found.end(), found[0]))
            return found.end()
        found = _NEXT.match(self._text, position)
        if found is None:
            return -1
        piece = Piece("mark", position, found.end(), found[0])
        match found.lastgroup:
            case "comment" | "number" | "name" | "text" as kind:
                self._pieces.append(Piece(kind, position, found.end(), found[0]))
            case "mark":
                return self._mark(piece)
            case _:
                pass
        return found.end()

    def _mark(self, piece: Piece) -> int:
        """Take a mark; the position behind it, -1 at the start of a text that has no end."""
        opened, written = self._opened, piece.text
        if written in {'"', "'"}:
            opened.append(piece)
            return -1
        if written == "`":
            self._pieces.append(Piece("template", piece.start, piece.end, written))
            opened.append(piece)
            return piece.end
        if written == "/" and self._pieces and self._pieces[-1].text in {")", "}"}:
            self._doubtful = True
        if written in CLOSERS:
            opened.append(piece)
        elif written in CLOSERS.values():
            # The end of `${` leads back into the text around it.
            wanted = (
                "}" if opened and opened[-1].text == "${" else CLOSERS.get(opened[-1].text) if opened else ""
            )
            if wanted == written:
                opened.pop()
            elif self._fault is None:
                self._fault = Fault(piece.start, piece.end, f"`{written}` closes nothing here")
        self._pieces.append(piece)
        return piece.end

    def _template(self, position: int) -> int:
        found = _TEMPLATE.match(self._text, position)
        end = found.end() if found is not None else position
        if self._text.startswith("`", end):
            self._opened.pop()
            end += 1
        elif self._text.startswith("${", end):
            end += 2
            self._opened.append(Piece("mark", end - 2, end, "${"))
        else:
            end = len(self._text)
        if end > position:
            self._pieces.append(Piece("template", position, end, self._text[position:end]))
        return end


def _unclosed(start: int, opener: str) -> Fault:
    return Fault(
        start,
        start + len(opener),
        f"this `{opener}` is not closed"
        if opener != "`"
        else "the text that this back quote opens is not closed",
    )


def _may_be_pattern(pieces: list[Piece]) -> bool:
    for piece in reversed(pieces):
        if piece.kind == "comment":
            continue
        if piece.kind == "name":
            return piece.text in _BEFORE_PATTERN
        return piece.kind == "mark" and piece.text not in {")", "]", "}", "++", "--"}
    return True
