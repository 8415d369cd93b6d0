"""Wrong characters in YAML: `name：x`, `name = x`, `name :x`, `– item`, non-standard whitespace.

Keyboards, word processors and web pages produce them. A parser reads them as letters without an error; here
the character is named, and replaced with the intended one.
"""

from __future__ import annotations

import re

from waza_engine.later_patterns import compiled_later
from waza_engine.spec.reading.yaml_faults import MERGE_MARK, UNMERGED, sentence
from waza_language_server.syntax.fault import SyntaxFault
from waza_language_server.text.edit import Edit, Fix
from waza_language_server.text.span import Span

KEY_WITH_SIGN = compiled_later(
    r"""(?P<key>[A-Za-z_][\w.-]*)
        (?P<sign>:[^\S \t\r\n][^\S\r\n]*
            |[^\S\r\n]*[：﹕︓][^\S\r\n]*
            |[^\S\r\n]+:(?=[^\s:=])
            |[ \t]*;(?:[ \t]+|(?=[\r\n]|\Z))
            |[ \t]*=>?(?![=>~])[ \t]*)""",
    re.VERBOSE,
)
"""A key followed by something other than a colon and a space."""
_SLASHES = compiled_later(r"//(?=[ \t\r\n]|\Z)")
_BULLET = compiled_later(r"(?P<bullet>[*\u2013\u2014\u2212\u2022\u2023\u25aa\u25cf\u25e6])(?=[^\S\r\n])")
_OTHER_SIGNS = frozenset({"--", "+"})
"""Characters that begin an item in other notations, and may begin a text."""
_ODD_BLANK = compiled_later(r"[^\S \t\r\n]")
"""Whitespace that YAML reads as letters."""
_FENCE = compiled_later(r"(?:`{3,}|~{3,})[ \t]*(?:ya?ml|json)?[ \t]*\Z")
_LINE_BREAK = compiled_later(r"[ \t]*(?:\r\n|\r|\n|\Z)")


def wrong_colon(match: re.Match[str]) -> SyntaxFault:
    """Return the fault of a key that ``KEY_WITH_SIGN`` has found."""
    key, sign = match["key"], match["sign"]
    span = Span(match.start("key"), match.start("sign") + len(sign.rstrip()) or match.end("key"))
    return SyntaxFault(span, sign_message(key, sign), fixes=(colon_fix(match),))


def sign_message(key: str, sign: str) -> str:
    """Return the message for a key that is not followed by a colon and a space."""
    bare = sign.strip()
    if bare != ":":
        return f"`{bare}` is no colon; write `{key}: ` before the value."
    if sign[0] != ":":
        return f"The colon belongs to the key; write `{key}: ` before the value."
    return f"The blank after `{key}:` is none that YAML knows; write a plain one."


def colon_fix(match: re.Match[str]) -> Fix:
    """Return the fix that writes a colon and a space."""
    at_end = match.string[match.end() : match.end() + 1] in {"", "\r", "\n"}
    edit = Edit(Span(match.start("sign"), match.end("sign")), ":" if at_end else ": ")
    return Fix(f"Write `{match['key']}: `", (edit,), preferred=True)


def has_odd_blank(text: str) -> bool:
    """Return whether a text has whitespace that YAML reads as letters."""
    return _ODD_BLANK.search(text) is not None


def bullet_at(text: str, offset: int) -> str | None:
    """Return the typographic bullet of a list item at an offset; None if there is none."""
    match = _BULLET.match(text, offset)
    return match["bullet"] if match is not None else None


def sign_of_item(text: str, offset: int) -> str | None:
    """Return the character, typographic or not, that begins an item at an offset; None for a dash."""
    other = next((sign for sign in _OTHER_SIGNS if text.startswith(f"{sign} ", offset)), None)
    return other or bullet_at(text, offset)


def wrong_dash(text: str, offset: int, line_end: int) -> SyntaxFault:
    """Return the fault of a list item that begins with another character than a dash."""
    span = Span(offset, offset + len(text[offset:line_end].rstrip()))
    return SyntaxFault(span, dash_message(text[offset]), fixes=(dash_fix(text, (offset,)),))


def dash_message(bullet: str) -> str:
    """Return the message for a list item that begins with another character than a dash."""
    return f"A list item starts with `-`, not with `{bullet}`."


def dash_fix(text: str, offsets: tuple[int, ...], bullet: str = "") -> Fix:
    """Return the fix that writes a dash and a space at each of these bullets."""
    bullet = bullet or text[offsets[0]]
    edits = tuple(_dash(text, at, at + len(bullet)) for at in offsets)
    return Fix(f"Write `-` for `{bullet}`", edits, preferred=bullet not in _OTHER_SIGNS)


def _dash(text: str, at: int, end: int) -> Edit:
    """Return the edit that replaces the bullet and at most one whitespace character after it."""
    behind = text[end : end + 1]
    if behind in {"", "\r", "\n"}:
        return Edit(Span(at, end), "-")
    return Edit(Span(at, end + 1 if behind.isspace() else end), "- ")


def wrong_indent(start: int, content: int, line_end: int, column: int | None = None) -> SyntaxFault:
    """Return the fault of a line that is indented with whitespace that YAML does not know.

    ``column`` is that of the lines around it; if None, as many spaces replace the whitespace.
    """
    spaces = Edit(Span(start, content), " " * (content - start if column is None else column))
    fixes = [Fix("Indent with spaces", (spaces,), preferred=True)]
    if column is None:
        fixes.append(Fix("Delete the blanks", (Edit(Span(start, content), ""),)))
    message = "This line is indented with blanks that YAML takes for letters; use spaces."
    return SyntaxFault(Span(start, line_end), message, "yaml-indentation", fixes=tuple(fixes))


def slashes_at(text: str, offset: int) -> bool:
    """Return whether two slashes at an offset begin a comment, as in other languages."""
    return _SLASHES.match(text, offset) is not None


def wrong_comment(offset: int, line_end: int) -> SyntaxFault:
    """Return the fault of a comment that begins with two slashes after whitespace."""
    fix = Fix("Write `#` for `//`", (Edit(Span(offset, offset + 2), "#"),), preferred=True)
    return SyntaxFault(Span(offset, line_end), "A comment starts with `#`, not with `//`.", fixes=(fix,))


def needless_sign(text: str, behind: int, line_end: int) -> SyntaxFault | None:
    """Return the fault of a comma, a semicolon or a comment with slashes, if nothing else follows a value."""
    rest = text[behind:line_end]
    if rest in {",", ";"}:
        start = behind - (len(text[:behind]) - len(text[:behind].rstrip(" \t")))
        fix = Fix(f"Delete `{rest}`", (Edit(Span(start, line_end), ""),), preferred=True)
        message = f"No `{rest}` follows a value here; delete it."
        return SyntaxFault(Span(behind, line_end), message, fixes=(fix,))
    is_comment = slashes_at(text, behind) and text[behind - 1 : behind] in {" ", "\t"}
    return wrong_comment(behind, line_end) if is_comment else None


def fence(text: str, line: Span) -> SyntaxFault | None:
    """Return the fault of a line that begins or ends a fenced code block in Markdown, or None."""
    if not is_fence(text, line):
        return None
    start = max(text.rfind(sign, 0, line.start) for sign in "\r\n") + 1
    behind = _LINE_BREAK.match(text, line.end)
    fix = Fix("Delete the line", (Edit(Span(start, behind.end() if behind else line.end), ""),))
    message = "This line is Markdown, which marks a block of code by it; delete it."
    return SyntaxFault(line, message, fixes=(fix,))


def is_fence(text: str, line: Span) -> bool:
    """Return whether a line begins or ends a fenced code block in Markdown."""
    return _FENCE.match(text, line.start, line.end) is not None


def merge_mark(text: str, line: Span) -> SyntaxFault | None:
    """Return the fault of a line that is one of git's conflict markers, or None."""
    if not is_merge_mark(text, line.start):
        return None
    return SyntaxFault(line, sentence(UNMERGED))


def is_merge_mark(text: str, at: int) -> bool:
    """Return whether one of git's conflict markers begins at an offset."""
    return MERGE_MARK.match(text, at) is not None
