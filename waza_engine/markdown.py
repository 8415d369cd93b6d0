"""Quote plain text in Markdown: the one place that does so, for editors and for GitHub.

Markdown fetches images, makes links (some from bare addresses), runs HTML and mentions people. In code it
does none of that, and text shows as written; so text from files and models is quoted as code.

Architecture invariant: light (the language server imports it).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import groupby

from waza_engine.later_patterns import compiled_later
from waza_engine.terminal import visible, visible_lines

_FENCE = compiled_later(r"[ \t]*(?P<marks>`{3,})[^`]*$")
_MARKED = compiled_later(
    r"(?P<ticks>`+)(?P<code>.+?)(?<!`)(?P=ticks)(?!`)"
    r"|\\(?P<sign>[!-/:-@\[-`{-~])"
    r"|\*\*(?P<strong>.+?)\*\*"
    r"|\[(?P<words>(?:`[^`]*`|[^\]`])*)\]\((?P<address>[^()\s]*)\)"
)
_ROW = compiled_later(r"[ \t]*\|.*[^\\]\|[ \t]*")
_RULE_OF_TABLE = compiled_later(r"[ \t]*\|(?:[ \t]*:?-+:?[ \t]*\|)+[ \t]*")
_BAR = compiled_later(r"(?<!\\)\|")
_BETWEEN_CELLS = " · "
_TICKS = compiled_later("`+")
_QUOTED = compiled_later("`([^`]+)`")
_BEFORE, _AFTER = "(“‘", ",;:.?!)”’"
_WORD = compiled_later(rf"[{_BEFORE}]*(?:[^\W\d_]+(?:['’-][^\W\d_]+)*|\d+(?:[.,]\d+)*|[%=–—])?[{_AFTER}]*")
_OPENS, _CLOSES = compiled_later(rf'[{_BEFORE}]*"'), compiled_later(rf'.*"[{_AFTER}]*', re.DOTALL)
_MOST_QUOTED_WORDS = 100
_BEGINS_A_BLOCK = compiled_later(r"\d+[.)]|=")


def code(text: str) -> str:
    """Return text on one line as inline code, "" for blank text. Runs of whitespace become one space."""
    text = visible(" ".join(text.split()))
    if not text:
        return ""
    ticks = "`" * (_longest_run(text) + 1)
    pad = " " if text[0] == "`" or text[-1] == "`" else ""
    return f"{ticks}{pad}{text}{pad}{ticks}"


def sentence(text: str) -> str:
    """Return a message on one line: backticks become code, and plain words stay words.

    A message quotes text from files and models, not always in backticks, so everything that is not a word of
    letters, number or punctuation between words is code as well: addresses, names of people, markup.
    """
    return _said(text, code)


def cell_sentence(text: str) -> str:
    """Return a message for a cell of a table."""
    return _said(text, cell)


def cell(text: str) -> str:
    """Return text as inline code for a cell of a table, where a bar needs a backslash even in code."""
    # A backslash before a bar is read in two ways, so it is written out.
    return code(text.replace("\\|", "\\x5c|")).replace("|", "\\|")


def fenced(text: str, language: str = "text") -> str:
    """Return multi-line text in a fence of code that it cannot leave."""
    text = visible_lines(text)
    fence = "`" * max(3, _longest_run(text) + 1)
    return f"{fence}{language}\n{text}\n{fence}"


def plain(markdown: str) -> str:
    """Return Markdown as plain text: the same words and lines, without its markup."""
    lines: list[str] = []
    fence, above = "", ""
    for line in markdown.split("\n"):
        marks = _FENCE.match(line)
        if fence and line.strip() == fence:
            fence = ""
        elif not fence and marks is not None:
            fence = marks["marks"]
        elif fence:
            lines.append(line)
        elif _RULE_OF_TABLE.fullmatch(line) and _ROW.fullmatch(above):
            # The header is above it, which two columns do without: a word and its description.
            head = lines.pop()
            lines += [head] if head.count(_BETWEEN_CELLS) > 1 else []
        else:
            lines.append(_row(line) if _ROW.fullmatch(line) else _MARKED.sub(_without_marks, line))
        above = line if not fence else ""
    return "\n".join(lines)


def _row(line: str) -> str:
    """Return a row of a table without its bars: a list of two columns, and more of them in one line."""
    cells = [each.strip().replace("\\|", "|") for each in _BAR.split(line.strip()[1:-1])]
    cells = [_MARKED.sub(_without_marks, each) for each in cells]
    return f"- {cells[0]}: {cells[1]}" if len(cells) == 2 else _BETWEEN_CELLS.join(cells)


def _without_marks(found: re.Match[str]) -> str:
    match found.lastgroup:
        case "code":
            inside = found["code"]
            padded = len(inside) > 2 and inside[0] == inside[-1] == " " and "`" in inside
            return inside[1:-1] if padded else inside
        case "address":
            words = plain(found["words"])
            return words if found["address"].startswith("command:") else f"{words} ({found['address']})"
        case "strong":
            return plain(found["strong"])
        case _:
            return found["sign"]


def _said(text: str, quoted: Callable[[str], str]) -> str:
    result = ""
    for at, part in enumerate(_QUOTED.split(" ".join(text.split()))):
        for piece in [quoted(part)] if at % 2 else _words(part, quoted):
            # Adjacent pieces of code would be read as one, or as none.
            apart = " " if result.endswith("`") and piece.startswith("`") else ""
            result += apart + piece
    return result if not _BEGINS_A_BLOCK.match(result) else quoted(text)


def _words(text: str, quoted: Callable[[str], str]) -> Iterator[str]:
    """Yield the words of a string as they are, and everything between them as code."""
    for at, (plain, tokens) in enumerate(groupby(_tokens(text), key=_is_plain)):
        if at:
            yield " "
        yield " ".join(tokens) if plain else quoted(" ".join(tokens))


def _tokens(text: str) -> Iterator[str]:
    """Yield the parts between spaces; a quoted part is one."""
    parts = text.split(" ")
    at = 0
    while at < len(parts):
        end = at + 1
        if (opened := _OPENS.match(parts[at])) is not None and not _CLOSES.fullmatch(parts[at], opened.end()):
            last = min(len(parts), end + _MOST_QUOTED_WORDS)
            end = next((place + 1 for place in range(end, last) if _CLOSES.fullmatch(parts[place])), end)
        yield " ".join(parts[at:end])
        at = end


def _is_plain(token: str) -> bool:
    return _WORD.fullmatch(token) is not None and visible(token) == token


def _longest_run(text: str) -> int:
    return max(map(len, _TICKS.findall(text)), default=0)
