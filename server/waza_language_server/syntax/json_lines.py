"""The tree of a text of JSON Lines: a list of its lines, each of them a document of its own.

A fault ends with its line. Whitespace between lines is no item, so the index of an item is not its line.

Architecture invariant: a tree depends on its text alone. The lines of the version before are only taken over
where their text is the same.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping

from waza_engine.checkpoint import checkpoint
from waza_language_server.syntax.fault import SyntaxFault
from waza_language_server.syntax.green import Green, Placed
from waza_language_server.syntax.json_tree import read_value
from waza_language_server.syntax.nodes import Node
from waza_language_server.syntax.tree import MOST_FAULTS, Tree, merged, unreadable
from waza_language_server.text.span import Span

_LINES_PER_CHECKPOINT = 100


def parse_json_lines(text: str, previous: Tree | None = None) -> Tree:
    """Parse a text. ``previous`` is the tree of an earlier version of the same document, if there is one."""
    advice = "; `waza-language-server check` reads it"
    if (refused := unreadable(text, parse_json_lines, advice)) is not None:
        return refused
    known = _known_lines(previous)
    children: list[Placed] = []
    faults: list[SyntaxFault] = []
    guesses: list[Span] = []
    for number, (start, line) in enumerate(lines_of(text)):
        if not number % _LINES_PER_CHECKPOINT:
            checkpoint()
        green = known.get(line)
        if green is None:
            root, of_line, unsure = read_value(line)
            if len(faults) < MOST_FAULTS:
                faults += (fault.shifted(start) for fault in of_line)
            guesses += (span.shifted(start) for span in unsure)
            green = root.green if root is not None else None
        if green is not None:
            children.append(Placed(green, start))
    errors, doubts = tuple(faults[:MOST_FAULTS]), merged(sorted(guesses))
    root = _root(children)
    return Tree(text, root, errors, guesses=doubts, read_again=parse_json_lines, is_lines=True)


def lines_of(text: str) -> Iterator[tuple[int, str]]:
    """Yield the lines that are not blank, and where each begins: after a byte order mark."""
    start = 1 if text.startswith("\ufeff") else 0
    for line in text[start:].split("\n"):
        if line.strip():
            yield start, line
        start += len(line) + 1


def _root(children: list[Placed]) -> Node | None:
    if not children:
        return None
    first, last = children[0], children[-1]
    start, end = first.green.start + first.offset, last.green.end + last.offset
    return Node(Green("sequence", start, end, "block", children=tuple(children)))


def _known_lines(previous: Tree | None) -> Mapping[str, Green]:
    """Return the lines without faults of a tree."""
    known: dict[str, Green] = {}
    if previous is None or previous.root is None or len(previous.errors) >= MOST_FAULTS:
        return known
    text = previous.text
    faulty = [fault.span.start for fault in previous.errors]
    for placed in previous.root.green.children:
        start = placed.offset
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        if not faulty or bisect_left(faulty, start) == bisect_right(faulty, end):
            known[text[start:end]] = placed.green
    return known
