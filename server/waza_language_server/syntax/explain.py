"""Syntax errors of a value or a line, in one sentence with the fix, at the characters that cause it.

libyaml names the place where it gave up, often lines below the cause. Here a piece is already known to be one
value or one line, so the cause is found from its first characters.
"""

from __future__ import annotations

import re
from dataclasses import replace

from waza_engine.later_patterns import compiled_later
from waza_engine.spec.reading.yaml_faults import (
    DOES_NOT_FIT,
    ITEM_NEEDS_LINE,
    RESERVED,
    TOO_DEEP,
    reserved_start,
    sentence,
)
from waza_language_server.syntax.block_slips import explain_text_block
from waza_language_server.syntax.escapes import end_of_line, quoted
from waza_language_server.syntax.events import ReadError
from waza_language_server.syntax.explain_brackets import explain_brackets, odd_bracket
from waza_language_server.syntax.explain_quotes import explain_double, explain_single, is_unclosed, unclosed
from waza_language_server.syntax.fault import SyntaxFault
from waza_language_server.syntax.value_quotes import quote_fix
from waza_language_server.syntax.wrong_signs import dash_fix, dash_message, fence, merge_mark
from waza_language_server.text.edit import Edit, Fix
from waza_language_server.text.span import Span

_COLON_IN_PLAIN = compiled_later(r":(?=[ \t]|$)", re.MULTILINE)
_STAR_LINE = compiled_later(r"[\r\n][ ]*\*(?=[ \t])")
_BLOCK_SIGN = compiled_later(r"(?P<sign>[|>][-+]?)(?:[ \t]+(?=[^\s#])|(?P<glued>(?=[^\W\d_])))")
_SIGN_AND_NUMBER = compiled_later(r">=?[ \t]*(?P<number>\d+(?:\.\d+)?)")
_ANCHOR_BEFORE_QUOTE = compiled_later(r"&[0-9A-Za-z_-]+[ \t]+(?=[\"'])")
_BLANKS_BELOW = compiled_later(r"\n(?P<blanks>[ ]*)(?=[^\s])")
_BLANK = compiled_later(r"\s")
_LEAD = compiled_later(r"[ ]*(?:-[ ]+)*(?=[^\s-])")
_TEXT_AS_CODE = compiled_later(r"(?P<written>`(?P<inner>[^`\r\n]+)`)[ \t]*(?:[ \t]#.*)?\Z")
_WORD_AS_CODE = compiled_later(r"`(?P<word>[\w./-]+)`(?=[ \t]*(?:[ \t]#[^\n]*)?\Z)")


def explain_value(text: str, start: int, end: int, error: ReadError | None) -> SyntaxFault:
    """Return the fault of the value at ``text[start:end]``. ``error.at`` is an offset into ``text``."""
    end = start + len(text[start:end].rstrip())
    first_line = Span(start, end_of_line(text, start, end))
    head = text[start : start + 1]
    if error is not None and error.problem == "too deep":
        return too_deep(first_line)
    if head == '"':
        return explain_double(text, start, end)
    if head == "'":
        return explain_single(text, start, end)
    if head in ("[", "{"):
        return explain_brackets(text, start, end, error)
    if text_block := explain_text_block(text, start, end):
        return text_block
    quote = quote_fix(text, first_line, end)
    if text.startswith("- ", start):
        return SyntaxFault(first_line, sentence(ITEM_NEEDS_LINE), fixes=quote)
    if text.startswith(("* ", "*\t"), start):
        return _explain_stars(text, start, end, first_line)
    if (anchor := _ANCHOR_BEFORE_QUOTE.match(text, start, end)) is not None:
        return explain_value(text, anchor.end(), end, error)
    if head in RESERVED:
        return _explain_reserved(text, start, end, first_line, quote)
    colon = _COLON_IN_PLAIN.search(text, start, end)
    if colon is not None and colon.end() == end and not _BLANK.search(text, start, end):
        # Several words are a text that may end so.
        place = Span(colon.start(), end)
        message = "A value that ends with `:` is read as a key of its own; delete the colon, or use quotes."
        others = tuple(replace(fix, preferred=False) for fix in quote)
        return SyntaxFault(place, message, fixes=(Fix("Delete the colon", (Edit(place, ""),)), *others))
    if colon:
        return _explain_colon(text, start, end, first_line, Span(colon.start(), colon.end()), quote)
    return explain_error(text, error, first_line)


def explain_line(text: str, line: Span) -> SyntaxFault:
    """Return the fault of a line that should be ``key: value``."""
    foreign = merge_mark(text, line) or fence(text, line)
    if foreign is not None:
        return foreign
    head = text[line.start]
    if head in "]}":
        return odd_bracket(text, line.start)
    if head in "\"'" and is_unclosed(text, line.start, line.end):
        return unclosed(text, line.start, line.end, head)
    return SyntaxFault(
        line, "A key is expected here; write `key: value`, or quote the text above if this belongs to it."
    )


def explain_error(text: str, error: ReadError | None, fallback: Span) -> SyntaxFault:
    """Return the fault at the place where parsing stopped, when no better cause is known."""
    if error is not None and error.problem == "too deep":
        return too_deep(fallback)
    if error is not None and text.startswith("\t", error.at):
        end = error.at + len(text[error.at :]) - len(text[error.at :].lstrip("\t"))
        return SyntaxFault(Span(error.at, end), "A tab cannot stand here; use spaces.", "yaml-tab")
    if error is not None and fallback.start <= error.at < fallback.end:
        end = end_of_line(text, error.at, fallback.end)
        if end > error.at:
            fallback = Span(error.at, end)
    return SyntaxFault(fallback, sentence(DOES_NOT_FIT))


def too_deep(span: Span) -> SyntaxFault:
    """Return the fault of collections that nest too deep to be parsed."""
    return SyntaxFault(span, sentence(TOO_DEEP), "too-deep")


def _explain_colon(
    text: str, start: int, end: int, first_line: Span, colon: Span, quote: tuple[Fix, ...]
) -> SyntaxFault:
    if colon.start == start:
        value = colon.end + len(text[colon.end : end]) - len(text[colon.end : end].lstrip(" \t"))
        fix = Fix("Delete the second colon", (Edit(Span(start, value), ""),))
        return SyntaxFault(colon, "A colon stands here already; delete the second one.", fixes=(fix,))
    message = "A value with `: ` inside is read as a key of its own; put the value in quotes."
    return SyntaxFault(first_line if colon.start < first_line.end else colon, message, fixes=quote)


def _explain_reserved(
    text: str, start: int, end: int, first_line: Span, quote: tuple[Fix, ...]
) -> SyntaxFault:
    head = text[start]
    if head == "`" and (of_markdown := fence(text, first_line)) is not None:
        return of_markdown
    if (number := _SIGN_AND_NUMBER.fullmatch(text, start, end)) is not None:
        # A limit in a place where a text is allowed as well.
        cut = Fix(f"Write `{number['number']}`", (Edit(Span(start, number.start("number")), ""),))
        others = tuple(replace(fix, preferred=False) for fix in quote)
        return SyntaxFault(first_line, sentence(reserved_start(head)), fixes=(cut, *others))
    if head in "!&" and text.startswith(("[", "{"), start + 1):
        place = Span(start, start + 1)
        cut = Fix(f"Delete the `{head}`", (Edit(place, ""),), preferred=True)
        return SyntaxFault(place, f"No `{head}` stands in front of a bracket; delete it.", fixes=(cut,))
    if (word := _WORD_AS_CODE.match(text, start, first_line.end)) is not None:
        # The backquotes may be intended as a part of the text.
        bare = Fix(f"Write `{word['word']}`", (Edit(Span(start, word.end()), word["word"]),))
        others = tuple(replace(fix, preferred=False) for fix in quote)
        return SyntaxFault(first_line, sentence(reserved_start(head)), fixes=(bare, *others))
    if (code := _TEXT_AS_CODE.match(text, start, first_line.end)) is not None:
        # JavaScript quotes this way; in a text the backquotes may be intended.
        place = Span(start, code.end("written"))
        other = Fix("Write quotes for the backquotes", (Edit(place, quoted(code["inner"])),))
        others = tuple(replace(fix, preferred=False) for fix in quote)
        return SyntaxFault(first_line, sentence(reserved_start(head)), fixes=(other, *others))
    below = _text_below(text, start, first_line.end, end)
    others = tuple(replace(fix, preferred=fix.preferred and not below) for fix in quote)
    message = sentence(reserved_start(head))
    if below and first_line.end != end:
        message = f"The text of a block begins on the line below its `{head}`; move it there."
    return SyntaxFault(first_line, message, fixes=(*below, *others))


def _text_below(text: str, start: int, line_end: int, end: int) -> tuple[Fix, ...]:
    """Offer to begin a text on the line below its block indicator: `| some words`.

    It begins at the column of the text's lines that follow, up to ``end``. Without a space in between, as in
    `>all`, there must be such lines.
    """
    sign = _BLOCK_SIGN.match(text, start, line_end)
    lead = _LEAD.match(text, text.rfind("\n", 0, start) + 1, start)
    if sign is None or lead is None:
        return ()
    ending = "\r\n" if "\r\n" in text else "\n"
    below = _BLANKS_BELOW.search(text, line_end, end)
    if below is None and sign["glued"] is not None:
        return ()
    column = len(lead[0]) + 2 if below is None else len(below["blanks"])
    if column <= len(lead[0]):
        return ()
    edit = Edit(Span(sign.end("sign"), sign.end()), f"{ending}{' ' * column}")
    return (Fix("Begin the text on the next line", (edit,)),)


def _explain_stars(text: str, start: int, end: int, first_line: Span) -> SyntaxFault:
    stars = [start, *(match.end() - 1 for match in _STAR_LINE.finditer(text, start, end))]
    return SyntaxFault(first_line, dash_message("*"), fixes=(dash_fix(text, tuple(stars)),))
