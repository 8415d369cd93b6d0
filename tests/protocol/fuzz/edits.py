"""Edits as people and tools make them: letters, pastes, broken quotes, other line ends, the undo key."""

import random
from collections.abc import Callable, Sequence
from typing import Any

from tests.protocol.fuzz.model_text import Text

Change = dict[str, Any]
LONGEST_TEXT = 40_000
ODD_PIECES = (
    "\U0001f600",
    "\U0001f600\U0001f468\u200d\U0001f469",
    "e\u0301",
    "\u2028",
    "\u0085",
    "\ufeff",
    "\x00",
    "\t",
    "\r",
    "\r\n",
    "\ud83d",
    "\u202e",
    "日本語",
    "\f",
)
SYNTAX_PIECES = (
    "[",
    "]",
    "{",
    "}",
    "'",
    '"',
    ":",
    ": ",
    "- ",
    "#",
    " #",
    "|\n",
    ">-\n",
    "&a ",
    "*a",
    "!x ",
    "---\n",
)
WORDS = (
    "type: text",
    "name: greets",
    "config:",
    "contains: [hello]",
    "containz: [a]",
    "regex_match: ['(a+)+$']",
    "assertions:\n        - len(output) > 3",
    "- type: code",
    "- type: behavior\n    name: b\n    config: {max_tool_calls: 3}",
    "tasks: ['tasks/*.yaml']",
    "skill: x",
    "id: one",
    "inputs:\n  prompt: Say hello",
    "inputs: {files: [{path: a.txt}]}",
    "context_dir: ../..",
    "context_dir: ../outside",
    "inputs: {prompt: x, context_dir: /, files: [{path: }]}",
    "tasks: ['../outside/*.yaml']",
    "expected:\n  graders: [greets]",
    "weight: 1e999",
    "tags: a",
    "null",
    "true",
    "~",
    "0x1F",
)
GRADER = "\n  - type: text\n    name: typed\n    config:\n      contains:\n        - word"


def random_changes(
    chance: random.Random, text: Text, texts: Sequence[str], past: Sequence[Text]
) -> list[Change]:
    """Return the changes of one ``didChange``; each refers to the text after the one before."""
    changes: list[Change] = []
    for _ in range(chance.choice([1, 1, 1, 1, 2, 4])):
        if len(text.content) > LONGEST_TEXT:
            change: Change = {"text": chance.choice(texts)}
        else:
            change = _random_change(chance, text, texts, past)
        changes.append(change)
        text = text.changed(change)
    return changes


def typed(text: Text, offset: int, letters: str) -> list[Change]:
    """Return one change for each letter, written one after the other."""
    changes: list[Change] = []
    for letter in letters:
        changes.append(_replaced(text, offset, offset, letter))
        text = text.changed(changes[-1])
        offset += 1
    return changes


def _random_change(chance: random.Random, text: Text, texts: Sequence[str], past: Sequence[Text]) -> Change:
    if past and chance.random() < 0.06:
        return {"text": chance.choice(past[-5:]).content}
    if chance.random() < 0.03:
        return {"text": chance.choice(texts)}
    if chance.random() < 0.03:
        return _out_of_bounds(chance, text)
    return chance.choice(_KINDS)(chance, text)


def _letters(chance: random.Random, text: Text) -> Change:
    at = chance.randint(0, len(text.content))
    return _replaced(text, at, at, "".join(chance.choices("abcxyz_ :-", k=chance.randint(1, 3))))


def _word(chance: random.Random, text: Text) -> Change:
    start, line = chance.choice(text.lines)
    indent = " " * (len(line) - len(line.lstrip(" ")))
    return _replaced(text, start, start, f"{indent}{chance.choice(WORDS)}\n")


def _odd(chance: random.Random, text: Text) -> Change:
    at = chance.randint(0, len(text.content))
    return _replaced(text, at, at, chance.choice(ODD_PIECES))


def _syntax(chance: random.Random, text: Text) -> Change:
    at = chance.randint(0, len(text.content))
    return _replaced(text, at, at, chance.choice(SYNTAX_PIECES))


def _removed(chance: random.Random, text: Text) -> Change:
    at = chance.randint(0, len(text.content))
    return _replaced(text, at, min(len(text.content), at + chance.choice([1, 1, 2, 10, 80])), "")


def _line_removed(chance: random.Random, text: Text) -> Change:
    start, line = chance.choice(text.lines)
    return _replaced(text, start, min(len(text.content), start + len(line) + 1), "")


def _indented(chance: random.Random, text: Text) -> Change:
    start, line = chance.choice(text.lines)
    spaces = len(line) - len(line.lstrip(" "))
    return _replaced(text, start, start + min(spaces, chance.randint(0, 3)), " " * chance.randint(0, 3))


def _duplicated(chance: random.Random, text: Text) -> Change:
    first = chance.randrange(len(text.lines))
    last = min(len(text.lines) - 1, first + chance.randint(1, 6))
    start = text.lines[first][0]
    return _replaced(text, start, start, text.content[start : text.lines[last][0]])


def _key_misspelt(chance: random.Random, text: Text) -> Change:
    keys = [(start, line) for start, line in text.lines if ":" in line and line.strip()]
    if not keys:
        return _letters(chance, text)
    start, line = chance.choice(keys)
    key = line.index(line.strip()[0])
    return _replaced(text, start + key, start + key + 1, chance.choice(["", "x", line[key] * 2]))


def _line_ends(chance: random.Random, text: Text) -> Change:
    ends = chance.choice(["\n", "\r\n", "\r"])
    if chance.random() < 0.3:
        return {"text": ends.join(line for _, line in text.lines)}
    index = chance.randrange(len(text.lines))
    start, line = text.lines[index]
    following = text.lines[index + 1][0] if index + 1 < len(text.lines) else len(text.content)
    return _replaced(text, start + len(line), following, ends)


def _out_of_bounds(chance: random.Random, text: Text) -> Change:
    """Return an edit that ends behind its line or behind the text."""
    line = chance.randrange(len(text.lines))
    start = {"line": line, "character": text.width(text.lines[line][1])}
    end = chance.choice([{"line": line, "character": 2**31 - 1}, {"line": 2**31 - 1, "character": 0}])
    return {"range": {"start": start, "end": end}, "text": chance.choice(["", "x"])}


def _replaced(text: Text, start: int, end: int, new: str) -> Change:
    span = {"start": text.position(start), "end": text.position(end)}
    change: Change = {"range": span, "text": new}
    return change


_Kind = Callable[[random.Random, Text], Change]
_KINDS: tuple[_Kind, ...] = (
    *(_letters,) * 4,
    *(_word,) * 4,
    *(_removed,) * 3,
    *(_indented,) * 2,
    *(_key_misspelt,) * 2,
    *(_syntax,) * 2,
    *(_odd,) * 2,
    _line_removed,
    _duplicated,
    _line_ends,
)
