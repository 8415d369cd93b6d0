"""Syntax errors of a value or a line, in one sentence with the fix, at the characters that cause it.

libyaml names the place where it gave up, often lines below the cause. Here a piece is already known to be one
value or one line, so the cause is found from its first characters. Fixes are offered for what authors of
public suites get wrong: quotes, `: ` in a plain value, escapes, brackets, commas in brackets.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from waza_engine.later_patterns import compiled_later
from waza_engine.spec.reading.yaml_faults import (
    DOES_NOT_FIT,
    ITEM_NEEDS_LINE,
    MERGE_MARK,
    MISSING_DASH,
    RESERVED,
    TOO_DEEP,
    UNMERGED,
    reserved_start,
    sentence,
    unclosed_quote,
)
from waza_language_server.syntax.escapes import (
    DOUBLE_BODY,
    LOOSE_DOUBLE,
    SINGLE_BODY,
    EscapedText,
    end_of_line,
    quoted,
    text_with_escapes,
    with_missing_quote,
    wrong_escapes,
)
from waza_language_server.syntax.fault import SyntaxFault
from waza_language_server.syntax.libyaml_events import ReadError
from waza_language_server.syntax.line_faults import explain_text_block
from waza_language_server.text.edit import Edit, Fix
from waza_language_server.text.span import Span

_COLON_IN_PLAIN = compiled_later(r":(?=[ \t]|$)", re.MULTILINE)
_ANCHOR_BEFORE_QUOTE = compiled_later(r"&[0-9A-Za-z_-]+[ \t]+(?=[\"'])")
_COMMENT = compiled_later(r"[ \t]+#[ \t]")
_DASH = compiled_later(r"[ ]*-[ ]+")
_QUOTE_IN_FLOW = compiled_later(r'(?<=[\s\[{,:])"')
_CLOSING = {"[": "]", "{": "}"}

_TOKEN = compiled_later(
    r"""(?P<quoted>"(?:[^"\\]|\\.)*"|'(?:[^']|'')*')|(?P<comment>(?<=\s)\#[^\r\n]*)|(?P<open>[\[{])|(?P<close>[\]}])"""
    r"""|(?P<comma>,)|(?P<colon>:(?=[\s,\[\]{}]|\Z))|(?P<word>(?:[^\s,\[\]{}:]|:(?![\s,\[\]{}]|\Z))+)""",
    re.DOTALL,
)
"""The parts of a value in brackets."""
_KEY_IN_FLOW = compiled_later(r"""(?:"(?:[^"\\\r\n]|\\.)*"|'(?:[^'\r\n]|'')*'|[\w.-]+)[ \t]*:(?=\s)""")
_BREAK = compiled_later(r"[\r\n]")
_WORDS_IN_FLOW = compiled_later(r"[^,\[\]{}#\r\n]+")
_ALIAS = compiled_later(r"\*[\w-]+\Z")


def explain_value(text: str, start: int, end: int, error: ReadError | None) -> SyntaxFault:
    """Return the fault of the value at ``text[start:end]``. ``error.at`` is an offset into ``text``."""
    end = start + len(text[start:end].rstrip())
    first_line = Span(start, end_of_line(text, start, end))
    head = text[start : start + 1]
    if error is not None and error.problem == "too deep":
        return too_deep(first_line)
    if head == '"':
        return _explain_double(text, start, end)
    if head == "'":
        return _explain_single(text, start, end)
    if head in _CLOSING:
        return _explain_brackets(text, start, end, error)
    if text_block := explain_text_block(text, start, end):
        return text_block
    quote = _in_quotes(text, first_line, end)
    if text.startswith("- ", start):
        return SyntaxFault(first_line, sentence(ITEM_NEEDS_LINE), fixes=quote)
    if (anchor := _ANCHOR_BEFORE_QUOTE.match(text, start, end)) is not None:
        return explain_value(text, anchor.end(), end, error)
    if head in RESERVED:
        return SyntaxFault(first_line, sentence(reserved_start(head)), fixes=quote)
    colon = _COLON_IN_PLAIN.search(text, start, end)
    if colon is not None:
        message = "A value with `: ` inside is read as a key of its own; put the value in quotes."
        place = first_line if colon.start() < first_line.end else Span(colon.start(), colon.end())
        return SyntaxFault(place, message, fixes=quote)
    return explain_error(text, error, first_line)


def explain_line(text: str, line: Span) -> SyntaxFault:
    """Return the fault of a line that should be ``key: value``."""
    if is_merge_mark(text, line.start):
        return SyntaxFault(line, sentence(UNMERGED))
    head = text[line.start]
    if head in "]}":
        return _unopened(text, line.start)
    if head in "\"'" and is_unclosed(text, line.start, line.end):
        return _unclosed(text, line.start, line.end, head)
    return SyntaxFault(
        line, "A key is expected here; write `key: value`, or quote the text above if this belongs to it."
    )


def explain_error(text: str, error: ReadError | None, fallback: Span) -> SyntaxFault:
    """Return the fault at the place where parsing stopped, when no better cause is known."""
    if error is not None and error.problem == "too deep":
        return too_deep(fallback)
    if error is not None and text.startswith("\t", error.at):
        end = error.at + len(text[error.at :]) - len(text[error.at :].lstrip("\t"))
        return SyntaxFault(Span(error.at, end), "A tab is not allowed here; use spaces.", "yaml-tab")
    if error is not None and fallback.start <= error.at < fallback.end:
        end = end_of_line(text, error.at, fallback.end)
        if end > error.at:
            fallback = Span(error.at, end)
    return SyntaxFault(fallback, sentence(DOES_NOT_FIT))


def too_deep(span: Span) -> SyntaxFault:
    """Return the fault of collections that nest too deep to be parsed."""
    return SyntaxFault(span, sentence(TOO_DEEP), "too-deep")


def is_merge_mark(text: str, at: int) -> bool:
    """Return whether one of git's conflict markers begins at an offset."""
    return MERGE_MARK.match(text, at) is not None


def is_unclosed(text: str, start: int, end: int) -> bool:
    """Return whether the quote at ``start`` has no partner before ``end``."""
    body = (DOUBLE_BODY if text[start] == '"' else SINGLE_BODY).match(text, start, end)
    return body is None or body.end() >= end


def end_of_brackets(text: str, start: int, end: int) -> int:
    """Return where the brackets that open at ``start`` are closed; ``end`` if they are not, or not there."""
    return _scan_flow(text, start, end)[2] if text[start] in _CLOSING else end


def text_after_brackets(text: str, start: int, closed: int, end: int) -> SyntaxFault:
    """Return the fault of text after the closing bracket of a value."""
    after = closed + len(text[closed:end]) - len(text[closed:end].lstrip())
    line_end = end_of_line(text, after, end)
    opening, closing = text[start], text[closed - 1]
    message = f"The value from `{opening}` to `{closing}` ends before this; quote it all or start a new line."
    # Double braces are a template in many tools, and invalid in YAML.
    is_template = text.startswith("{{", start)
    fixes = _in_quotes(text, Span(start, end_of_line(text, start, end)), end, sure=is_template)
    return SyntaxFault(Span(after, max(line_end, after + 1)), message, fixes=fixes)


def _in_quotes(text: str, line: Span, end: int, *, sure: bool = True) -> tuple[Fix, ...]:
    """Offer quotes around a value on one line; a comment after it stays outside."""
    if line.end < end:
        return ()
    comment = re.search(r"[ \t]+#", text[line.start : line.end])
    stop = line.start + comment.start() if comment else line.end
    written = text[line.start : stop]
    if not written:
        return ()
    edit = Edit(Span(line.start, stop), with_missing_quote(written) or quoted(written))
    return (Fix("Put the value in quotes", (edit,), preferred=sure),)


# Quotes.


def _explain_double(text: str, start: int, end: int) -> SyntaxFault:
    body = DOUBLE_BODY.match(text, start, end)
    stop = body.end() if body else start + 1
    if stop >= end:
        return _unclosed(text, start, end, '"')
    if text[stop] == '"':
        return _text_after_quote(text, start, stop + 1, end)
    return wrong_escapes(text, [text_with_escapes(text, start, stop, end)])


def _explain_single(text: str, start: int, end: int) -> SyntaxFault:
    body = SINGLE_BODY.match(text, start, end)
    stop = body.end() if body else start + 1
    if stop >= end:
        return _unclosed(text, start, end, "'")
    return _text_after_quote(text, start, stop + 1, end)


def _unclosed(text: str, start: int, end: int, quote: str) -> SyntaxFault:
    line_end = _before_comment(text, start, end_of_line(text, start, end))
    close = Fix(f"Add the closing `{quote}`", (Edit(Span(line_end, line_end), quote),))
    fixes = (close,)
    if line_end > start + 1 and text[line_end - 1] in "\"'" and text[line_end - 1] != quote:
        last = Edit(Span(line_end - 1, line_end), quote)
        fixes = (Fix(f"End with `{quote}`", (last,)), close)
    return SyntaxFault(Span(start, line_end), sentence(unclosed_quote(quote)), fixes=fixes)


def _text_after_quote(text: str, start: int, closed: int, end: int) -> SyntaxFault:
    """Return the fault of text after the closing quote of a value."""
    after = closed + len(text[closed:end]) - len(text[closed:end].lstrip())
    line_end = end_of_line(text, after, end)
    if item := _item_without_dash(text, start, after, line_end):
        return item
    fixes: tuple[Fix, ...] = ()
    text_end = _before_comment(text, start, line_end)
    if end_of_line(text, start, end) == line_end and text_end > closed:
        whole = Edit(Span(start, text_end), quoted(_text_in_quotes(text[start:text_end], closed - start)))
        fixes = (Fix("Put the whole text in single quotes", (whole,)),)
    return SyntaxFault(
        Span(after, line_end),
        "The quoted text ends before this; put the whole value in quotes, or double the quotes inside it.",
        fixes=fixes,
    )


def _item_without_dash(text: str, start: int, after: int, line_end: int) -> SyntaxFault | None:
    """Return the fault of an item without its dash: a quoted string below one, at its column."""
    above, line = (text.rfind("\n", 0, at) + 1 for at in (start, after))
    is_item = _DASH.fullmatch(text, above, start) is not None and text[after] in "\"'"
    if not is_item or above == line or text[line:after] != " " * (start - above):
        return None
    fix = Fix("Insert the dash", (Edit(Span(line, after), text[above:start]),))
    return SyntaxFault(Span(after, line_end), sentence(MISSING_DASH), fixes=(fix,))


def _text_in_quotes(written: str, closed: int) -> str:
    """Return the intended string of a quoted one that ends, for YAML, in the middle, at ``closed``."""
    quote = written[0]
    doubled = written.replace("''", "'") if quote == "'" else written
    if not written.endswith(quote):
        return doubled
    if closed == len(quote * 2):
        # `""a""` has too many quotes, `''a' in b'` begins with a quoted string.
        inner = written[2:-2]
        return inner if written.endswith(quote * 2) and quote not in inner else written[1:-1]
    # The quote that YAML reads as the closing one is an apostrophe, or begins an inner string:
    # `'the users' log'`, `"a "b" c"`; in `'a' or 'b'` there are two strings.
    before, after = written[closed - 2], written[closed]
    begins = after.strip() and (before in ' "([{=' or (before.isalnum() and after.isalnum()))
    return doubled[1:-1] if begins or doubled.count(quote) % 2 else doubled


def _before_comment(text: str, start: int, end: int) -> int:
    """Return where a text ends before a comment; ` # ` begins one, ``#10`` does not."""
    comment = _COMMENT.search(text, start, end)
    return comment.start() if comment is not None else end


# Brackets.


def _explain_brackets(text: str, start: int, end: int, error: ReadError | None) -> SyntaxFault:
    if escaped := list(_wrong_escapes_in_flow(text, start, end)):
        return wrong_escapes(text, escaped, within=Span(start, end))
    unclosed, unopened, _ = _scan_flow(text, start, end)
    if unopened is not None:
        return _unopened(text, unopened)
    if unclosed is not None:
        closing, line_end = _CLOSING[text[unclosed]], end_of_line(text, unclosed, end)
        close = Fix(f"Add the closing `{closing}`", (Edit(Span(line_end, line_end), closing),))
        message = f"The `{text[unclosed]}` opened here is never closed; add a `{closing}`."
        return SyntaxFault(Span(unclosed, line_end), message, fixes=(close,))
    at = min(max(error.at if error else start, start), max(end - 1, start))
    if fault := _needs_quotes(text, start, end, at) or _needs_comma(text, start, end, at):
        return fault
    message = (
        "The text in brackets cannot be read from here; put commas between its parts and quotes around text."
    )
    return SyntaxFault(Span(at, max(end_of_line(text, at, end), at + 1)), message)


def _unopened(text: str, at: int) -> SyntaxFault:
    message = f"This `{text[at]}` closes nothing; delete it or add the opening bracket."
    return SyntaxFault(Span(at, at + 1), message)


def _wrong_escapes_in_flow(text: str, start: int, end: int) -> Iterator[EscapedText]:
    after = start
    for opening in _QUOTE_IN_FLOW.finditer(text, start, end):
        body = DOUBLE_BODY.match(text, opening.start(), end)
        if opening.start() < after or body is None or LOOSE_DOUBLE.match(text, opening.start(), end) is None:
            continue
        after = body.end() + 1
        if text[body.end()] == "\\":
            escaped = text_with_escapes(text, opening.start(), body.end(), end, in_flow=True)
            after = max(after, escaped.closing + 1)
            yield escaped


def _needs_quotes(text: str, start: int, end: int, at: int) -> SyntaxFault | None:
    """Return the fault of values that begin with a reserved character, or with a `*` of no alias."""
    words = list(_words_to_quote(text, start, end))
    # If a pattern is read as an alias, parsing stops after its first letters.
    place = next((each for each in words if each.start <= at <= each.end), None)
    if place is None:
        return None
    places = [each for each in words if each.start >= place.start]
    # A comma between quotes would be in the middle of the intended text.
    is_whole = not any({'"', "'"} & set(text[each.start : each.end]) for each in places)
    edits = tuple(Edit(each, quoted(text[each.start : each.end])) for each in places)
    fix = Fix("Put it in quotes" if len(edits) == 1 else "Put them in quotes", edits, preferred=is_whole)
    return SyntaxFault(place, sentence(reserved_start(text[place.start])), fixes=(fix,))


def _words_to_quote(text: str, start: int, end: int) -> Iterator[Span]:
    last = ""
    for token in _tokens(text, start, end):
        written = token[0]
        is_pattern = written[0] == "*" and _ALIAS.match(written) is None
        if (
            token.lastgroup == "word"
            and last in ("open", "comma", "colon")
            and (written[0] in "@`%|>" or is_pattern)
            and (words := _WORDS_IN_FLOW.match(text, token.start(), end)) is not None
        ):
            yield Span(token.start(), token.start() + len(words[0].rstrip()))
        last = token.lastgroup or ""


def _needs_comma(text: str, start: int, end: int, at: int) -> SyntaxFault | None:
    commas = list(_missing_commas(text, start, end))
    # Anything before the first of them is another fault; libyaml may notice it at the colon after a key.
    if not commas or not commas[0][1] <= at <= end_of_line(text, commas[0][1], end):
        return None
    edits = tuple(Edit(Span(place, place), ",") for place, _ in commas)
    fix = Fix("Add the comma" if len(edits) == 1 else "Add the commas", edits, preferred=True)
    value = commas[0][1]
    span = Span(value, max(end_of_line(text, value, end), value + 1))
    return SyntaxFault(span, "A comma is missing before this.", fixes=(fix,))


def _missing_commas(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the places of missing commas, and the offsets of the values after them.

    Consecutive words are one string, and quotes before a word on its line may be a part of it.
    """
    opened: list[str] = []
    last, last_end = "comma", start
    for token in _tokens(text, start, end):
        kind, at = token.lastgroup or "", token.start()
        is_new_line = _BREAK.search(text, last_end, at) is not None
        if kind in ("quoted", "open", "word") and at > last_end:
            divides = last in ("quoted", "close") and (is_new_line or kind != "word")
            in_braces = is_new_line and opened[-1:] == ["{"]
            if divides or (last == "word" and in_braces and _KEY_IN_FLOW.match(text, at)):
                yield last_end, at
        if kind == "open":
            opened.append(token[0])
        elif kind == "close" and opened:
            opened.pop()
        last, last_end = kind, token.end()


def _tokens(text: str, start: int, end: int) -> Iterator[re.Match[str]]:
    return (match for match in _TOKEN.finditer(text, start, end) if match.lastgroup != "comment")


def _scan_flow(text: str, start: int, end: int) -> tuple[int | None, int | None, int]:
    """Find the partners of brackets.

    Return the offset of the innermost one never closed, that of a closing one without a partner, and where
    the first one is closed (``end`` when it is not).
    """
    stack: list[int] = []
    at = start
    while at < end:
        char = text[at]
        if char in "\"'" and text[at - 1 : at] in {"", " ", "[", "{", ",", ":", "\n"}:
            body = (DOUBLE_BODY if char == '"' else SINGLE_BODY).match(text, at, end)
            at = body.end() if body else at
        elif char in "[{":
            stack.append(at)
        elif char in "]}":
            if not stack or _CLOSING[text[stack[-1]]] != char:
                return (stack[-1], None, end) if stack else (None, at, end)
            stack.pop()
            if not stack:
                return None, None, at + 1
        at += 1
    return (stack[-1] if stack else None), None, end
