"""Why a value or a line cannot be read, in one sentence with the cure, at the characters that cause it.

libyaml names the place where it gave up, often lines below the cause. Here a piece is already known to be one
value or one line, so the cause is found by looking at how it begins.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from waza_engine.spec.reading.yaml_faults import (
    DOES_NOT_FIT,
    ITEM_NEEDS_LINE,
    RESERVED,
    TOO_DEEP,
    reserved_start,
    sentence,
    unclosed_quote,
)
from waza_language_server.syntax.block_slips import explain_text_block
from waza_language_server.syntax.escapes import (
    DOUBLE_BODY,
    LOOSE_DOUBLE,
    EscapedText,
    end_of_line,
    quoted,
    text_with_escapes,
    wrong_escapes,
)
from waza_language_server.syntax.events import ReadError
from waza_language_server.syntax.fault import SyntaxFault
from waza_language_server.syntax.flow_quotes import items_to_quote
from waza_language_server.syntax.flow_signs import list_of_texts, slip_in_brackets
from waza_language_server.syntax.flow_slips import missing_commas, words_to_quote
from waza_language_server.syntax.wrong_signs import dash_fix, dash_message, fence, merge_mark, needless_sign
from waza_language_server.text.edit import Edit, Fix
from waza_language_server.text.span import Span

_QUOTE_IN_FLOW = re.compile(r'(?<=[\s\[{,:])"')
_COMMENT = re.compile(r"[ \t]+#[ \t]")
_SINGLE_BODY = re.compile(r"'(?:[^']|'')*")
_COLON_IN_PLAIN = re.compile(r":(?=[ \t]|$)", re.MULTILINE)
_WORD_IN_FLOW = re.compile(r"[^,\[\]{}#\r\n]+")
_STAR_LINE = re.compile(r"[\r\n][ ]*\*(?=[ \t])")
_BLOCK_SIGN = re.compile(r"(?P<sign>[|>][-+]?)[ \t]+(?=[^\s#])")
_SIGN_AND_NUMBER = re.compile(r">=?[ \t]*(?P<number>\d+(?:\.\d+)?)")
_SIGN_OF_BLOCK = re.compile(r"[|>][-+]?")
_ANCHOR_BEFORE_QUOTE = re.compile(r"&[0-9A-Za-z_-]+[ \t]+(?=[\"'])")
_BLANKS_BELOW = re.compile(r"\n(?P<blanks>[ ]*)(?=[^\s])")
_BLANK = re.compile(r"\s")
_LEAD = re.compile(r"[ ]*(?:-[ ]+)*(?=[^\s-])")
_MAY_END_SO = re.compile(r"(?:\d\"|[sxz]')\Z")
"""Inches, and what belongs to several."""
_WORD_AS_CODE = re.compile(r"`(?P<word>[\w./-]+)`(?=[ \t]*(?:[ \t]#[^\n]*)?\Z)")
_MORE_BRACKETS = re.compile(r"[\]})]{1,3}")
_ITEM_OR_KEY = re.compile(r"-[ ]+\S|[A-Za-z_][\w-]*:(?:\s|\Z)")
_CLOSING = {"[": "]", "{": "}"}


def explain_value(text: str, start: int, end: int, error: ReadError | None) -> SyntaxFault:
    """Say why the value at ``text[start:end]`` cannot be read. ``error.at`` is an offset into ``text``."""
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
        return _explain_flow(text, start, end, error)
    if text_block := explain_text_block(text, start, end):
        return text_block
    quote = _quote_fix(text, first_line, end)
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
        message = "A value with `: ` inside is read as a key of its own; put the value in quotes."
        return SyntaxFault(
            first_line if colon.start() < first_line.end else Span(colon.start(), colon.end()),
            message,
            fixes=quote,
        )
    return explain_error(text, error, first_line)


def _explain_reserved(
    text: str, start: int, end: int, first_line: Span, quote: tuple[Fix, ...]
) -> SyntaxFault:
    head = text[start]
    if (number := _SIGN_AND_NUMBER.fullmatch(text, start, end)) is not None:
        # A limit where a text may stand as well.
        cut = Fix(f"Write `{number['number']}`", (Edit(Span(start, number.start("number")), ""),))
        others = tuple(replace(fix, preferred=False) for fix in quote)
        return SyntaxFault(first_line, sentence(reserved_start(head)), fixes=(cut, *others))
    if head in "!&" and text.startswith(("[", "{"), start + 1):
        place = Span(start, start + 1)
        cut = Fix(f"Delete the `{head}`", (Edit(place, ""),), preferred=True)
        return SyntaxFault(place, f"No `{head}` stands in front of a bracket; delete it.", fixes=(cut,))
    if (word := _WORD_AS_CODE.match(text, start, first_line.end)) is not None:
        # In a text the backquotes may be meant.
        bare = Fix(f"Write `{word['word']}`", (Edit(Span(start, word.end()), word["word"]),))
        others = tuple(replace(fix, preferred=False) for fix in quote)
        return SyntaxFault(first_line, sentence(reserved_start(head)), fixes=(bare, *others))
    below = _text_below(text, start, first_line.end, end)
    others = tuple(replace(fix, preferred=fix.preferred and not below) for fix in quote)
    message = sentence(reserved_start(head))
    if below and first_line.end != end:
        message = f"The text of a block begins on the line below its `{head}`; move it there."
    return SyntaxFault(first_line, message, fixes=(*below, *others))


def _text_below(text: str, start: int, line_end: int, end: int) -> tuple[Fix, ...]:
    """Offer to begin a text below the sign of a block that a blank parts from it: `| some words`.

    It begins where the lines of the text stand that follow, up to ``end``.
    """
    sign = _BLOCK_SIGN.match(text, start, line_end)
    lead = _LEAD.match(text, text.rfind("\n", 0, start) + 1, start)
    if sign is None or lead is None:
        return ()
    ending = "\r\n" if "\r\n" in text else "\n"
    below = _BLANKS_BELOW.search(text, line_end, end)
    column = len(lead[0]) + 2 if below is None else len(below["blanks"])
    if column <= len(lead[0]):
        return ()
    edit = Edit(Span(sign.end("sign"), sign.end()), f"{ending}{' ' * column}")
    return (Fix("Begin the text on the next line", (edit,)),)


def _explain_stars(text: str, start: int, end: int, first_line: Span) -> SyntaxFault:
    stars = [start, *(match.end() - 1 for match in _STAR_LINE.finditer(text, start, end))]
    return SyntaxFault(first_line, dash_message("*"), fixes=(dash_fix(text, tuple(stars)),))


def explain_error(text: str, error: ReadError | None, fallback: Span) -> SyntaxFault:
    """Say that the text is unreadable where reading stopped, when no better cause is known."""
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
    """Say that collections nest deeper than is read."""
    return SyntaxFault(span, sentence(TOO_DEEP), "too-deep")


def _explain_double(text: str, start: int, end: int) -> SyntaxFault:
    body = DOUBLE_BODY.match(text, start, end)
    stop = body.end() if body else start + 1
    if stop >= end:
        return _unclosed(text, start, end, '"')
    if text[stop] == '"':
        return _text_behind_quote(text, start, stop + 1, end)
    return wrong_escapes(text, [text_with_escapes(text, start, stop, end)])


def _explain_single(text: str, start: int, end: int) -> SyntaxFault:
    body = _SINGLE_BODY.match(text, start, end)
    stop = body.end() if body else start + 1
    if stop >= end:
        return _unclosed(text, start, end, "'")
    return _text_behind_quote(text, start, stop + 1, end)


def _unclosed(text: str, start: int, end: int, quote: str) -> SyntaxFault:
    line_end = _before_comment(text, start, end_of_line(text, start, end))
    close = Fix(f"Add the closing `{quote}`", (Edit(Span(line_end, line_end), quote),))
    message = sentence(unclosed_quote(quote))
    fixes = (close,)
    written = text[start + 1 : line_end]
    if _SIGN_OF_BLOCK.fullmatch(written) is not None and line_end < end:
        message = f"A quote is opened before `{written}`, which begins a block of text only without it."
        return SyntaxFault(
            Span(start, line_end),
            message,
            fixes=(Fix("Delete the quote", (Edit(Span(start, start + 1), ""),)), close),
        )
    if line_end > start + 1 and text[line_end - 1] in "\"'" and text[line_end - 1] != quote:
        last = Edit(Span(line_end - 1, line_end), quote)
        fixes = (Fix(f"End with `{quote}`", (last,)), close)
    return SyntaxFault(Span(start, line_end), message, fixes=fixes)


def _text_behind_quote(text: str, start: int, closed: int, end: int) -> SyntaxFault:
    behind = closed + len(text[closed:end]) - len(text[closed:end].lstrip())
    line_end = end_of_line(text, behind, end)
    needless = (
        needless_sign(text, behind, _before_comment(text, behind, line_end)) if line_end == end else None
    )
    if needless is not None:
        return needless
    if empty := _empty_above(text, start, closed, behind):
        return empty
    fixes: tuple[Fix, ...] = ()
    if end_of_line(text, start, end) == line_end:
        text_end = _before_comment(text, start, line_end)
        whole = Edit(Span(start, text_end), quoted(_text_in_quotes(text[start:text_end], closed - start)))
        fixes = (
            *list_of_texts(text, Span(start, text_end)),
            Fix("Put the whole text in single quotes", (whole,)),
        )
    return SyntaxFault(
        Span(behind, line_end),
        "The quoted text ends before this; put the whole value in quotes, or double the quotes inside it.",
        fixes=fixes,
    )


def _text_in_quotes(written: str, closed: int) -> str:
    """Return the text that is meant by one in quotes which ends, for YAML, at ``closed`` in the middle."""
    quote = written[0]
    doubled = written.replace("''", "'") if quote == "'" else written
    if not written.endswith(quote):
        return doubled
    if written.startswith(quote * 3) and written.endswith(quote * 3) and len(written) > len(quote * 6):
        # So Python writes a text.
        return written[3:-3]
    # The quote that YAML takes for the last is an apostrophe, or begins a text inside: `'the users' log'`,
    # `"a "b" c"`, `""a" in b"`; in `'a' or 'b'` there are two texts.
    before, behind = written[closed - 2], written[closed]
    begins = behind.strip() and (before in ' "([{=' or (before.isalnum() and behind.isalnum()))
    return doubled[1:-1] if begins or doubled.count(quote) % 2 else doubled


def _explain_flow(text: str, start: int, end: int, error: ReadError | None) -> SyntaxFault:
    if escaped := list(_wrong_escapes_in_flow(text, start, end)):
        return wrong_escapes(text, escaped, within=Span(start, end))
    unclosed, strange, _ = _scan_flow(text, start, end)
    if strange is not None:
        return _odd_bracket(text, strange)
    if slip := slip_in_brackets(text, Span(start, end)):
        return slip
    if unclosed is not None:
        closing = _CLOSING[text[unclosed]]
        line_end = end_of_line(text, unclosed, end)
        close = Fix(f"Add the closing `{closing}`", (Edit(Span(line_end, line_end), closing),))
        return SyntaxFault(
            Span(unclosed, line_end),
            f"The `{text[unclosed]}` opened here is never closed; add a `{closing}`.",
            fixes=(close,),
        )
    at = min(max(error.at if error else start, start), max(end - 1, start))
    return (
        _needs_quotes(text, start, end, at)
        or _needs_comma(text, start, end, at)
        or _items_need_quotes(text, start, end, at)
        or _unread(text, at, end)
    )


def _wrong_escapes_in_flow(text: str, start: int, end: int) -> Iterator[EscapedText]:
    behind = start
    for opening in _QUOTE_IN_FLOW.finditer(text, start, end):
        body = DOUBLE_BODY.match(text, opening.start(), end)
        if opening.start() < behind or body is None or LOOSE_DOUBLE.match(text, opening.start(), end) is None:
            continue
        behind = body.end() + 1
        if text[body.end()] == "\\":
            escaped = text_with_escapes(text, opening.start(), body.end(), end, in_flow=True)
            behind = max(behind, escaped.closing + 1)
            yield escaped


def _needs_quotes(text: str, start: int, end: int, at: int) -> SyntaxFault | None:
    # Where a pattern is taken for an alias, reading stops behind its first letters.
    behind = next((each for each in words_to_quote(text, start, end) if each.start <= at <= each.end), None)
    at = behind.start if behind is not None and text[behind.start] == "*" else at
    if text[at] not in RESERVED or text[at] in ",]}" or (word := _WORD_IN_FLOW.match(text, at, end)) is None:
        return None
    if behind is None and text[at] == "*" and text[start:at].rstrip()[-1:] not in set("[{,:"):
        # Behind a value nobody knows what is one text with it.
        return None
    place = Span(at, at + len(word[0].rstrip()))
    places = [place, *(each for each in words_to_quote(text, start, end) if each.start > place.start)]
    # A comma between quotes would be in the middle of what is meant.
    is_whole = not any({'"', "'"} & set(text[each.start : each.end]) for each in places)
    edits = tuple(Edit(each, quoted(text[each.start : each.end])) for each in places)
    title = "Put it in quotes" if len(edits) == 1 else "Put them in quotes"
    return SyntaxFault(
        place, sentence(reserved_start(text[at])), fixes=(Fix(title, edits, preferred=is_whole),)
    )


def _items_need_quotes(text: str, start: int, end: int, at: int) -> SyntaxFault | None:
    edits = items_to_quote(text, start, end, at)
    if not edits:
        return None
    place = edits[0].span
    message = "A bracket in this text begins a list or a mapping; put the text in quotes."
    title = "Put it in quotes" if len(edits) == 1 else "Put them in quotes"
    if text[place.start] in "\"'":
        message = "A quote in this text ends it; double the quote, or put other ones around the text."
        title = "Quote the whole text" if len(edits) == 1 else "Quote the whole texts"
    return SyntaxFault(place, message, fixes=(Fix(title, edits),))


def _needs_comma(text: str, start: int, end: int, at: int) -> SyntaxFault | None:
    commas = list(missing_commas(text, start, end))
    # What comes before the first of them is another fault; libyaml may notice it at the colon behind a key.
    if not commas or not commas[0].value <= at <= end_of_line(text, commas[0].value, end):
        return None
    edits = tuple(Edit(Span(each.at, each.at), ",") for each in commas)
    fix = Fix("Add the comma" if len(edits) == 1 else "Add the commas", edits, preferred=True)
    first = commas[0].value
    span = Span(first, max(end_of_line(text, first, end), first + 1))
    return SyntaxFault(span, "A comma is missing in front of this.", fixes=(fix,))


def _unread(text: str, at: int, end: int) -> SyntaxFault:
    return SyntaxFault(
        Span(at, max(end_of_line(text, at, end), at + 1)),
        "The text in brackets cannot be read from here; put commas between its parts and quotes around text.",
    )


def _odd_bracket(text: str, at: int) -> SyntaxFault:
    return SyntaxFault(
        Span(at, at + 1), f"This `{text[at]}` closes nothing; delete it or add the opening bracket."
    )


def end_of_brackets(text: str, start: int, end: int) -> int:
    """Return where the brackets that open at ``start`` are closed.

    ``end`` when they are not, or there are none.
    """
    if text[start] not in _CLOSING:
        return end
    return _scan_flow(text, start, end)[2]


def text_behind_brackets(text: str, start: int, closed: int, end: int) -> SyntaxFault:
    """Say that something follows the closing bracket of a value."""
    behind = closed + len(text[closed:end]) - len(text[closed:end].lstrip())
    line_end = end_of_line(text, behind, end)
    needless = needless_sign(text, behind, line_end) if line_end == end else None
    if needless is not None:
        return needless
    if empty := _empty_above(text, start, closed, behind):
        return empty
    if line_end == end and (more := _MORE_BRACKETS.fullmatch(text, behind, line_end)) is not None:
        sign = more[0].strip()
        fix = Fix(f"Delete the `{sign}`", (Edit(Span(closed, line_end), ""),))
        message = f"Nothing is open here that `{sign}` closes; delete it."
        return SyntaxFault(Span(behind, line_end), message, fixes=(fix,))
    opening, closing = text[start], text[closed - 1]
    message = f"The value from `{opening}` to `{closing}` ends before this; quote it all or start a new line."
    # Two braces are a template in many tools, and nothing in YAML.
    is_template = text.startswith("{{", start)
    fixes = _quote_fix(text, Span(start, end_of_line(text, start, end)), end, sure=is_template)
    return SyntaxFault(Span(behind, max(line_end, behind + 1)), message, fixes=fixes)


def _empty_above(text: str, start: int, closed: int, behind: int) -> SyntaxFault | None:
    """Say that an empty value stands in front of what is written on the lines below it: `tasks: []`."""
    if text[start + 1 : closed - 1].strip() or _ITEM_OR_KEY.match(text, behind) is None:
        return None
    if end_of_line(text, start, behind) == behind:
        return None
    value = text[start:closed]
    blanks = len(text[:start]) - len(text[:start].rstrip(" \t"))
    fix = Fix(f"Delete the `{value}`", (Edit(Span(start - blanks, closed), ""),))
    message = f"`{value}` is the whole value, so what stands below cannot belong to it; delete the `{value}`."
    return SyntaxFault(Span(start, closed), message, fixes=(fix,))


def _scan_flow(text: str, start: int, end: int) -> tuple[int | None, int | None, int]:
    """Look for the partners of brackets.

    Return the offset of the innermost one never closed, that of a closing one without a partner, and where
    the first one is closed (``end`` when it is not).
    """
    stack: list[int] = []
    at = start
    while at < end:
        char = text[at]
        if char in "\"'" and text[at - 1 : at] in {"", " ", "[", "{", ",", ":", "\n"}:
            body = (DOUBLE_BODY if char == '"' else _SINGLE_BODY).match(text, at, end)
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


def _quote_fix(text: str, line: Span, end: int, *, sure: bool = True) -> tuple[Fix, ...]:
    """Offer quotes around a value that stands on one line; a comment behind it stays outside."""
    if line.end < end:
        return ()
    value = text[line.start : line.end]
    comment = re.search(r"[ \t]+#", value)
    stop = line.start + comment.start() if comment else line.end
    if stop <= line.start:
        return ()
    written = text[line.start : stop]
    last = written[-1:]
    if last in {'"', "'"} and written.count(last) == 1 and not _MAY_END_SO.search(written):
        # Its other quote is what was lost, or a printed one stands in its place.
        written = written[:-1].removeprefix("“").removeprefix("„").removeprefix("‘")
    edit = Edit(Span(line.start, stop), quoted(written))
    return (Fix("Put the value in quotes", (edit,), preferred=sure),)


def _before_comment(text: str, start: int, end: int) -> int:
    """Return where a text ends that a comment follows; a sign and a blank make one, ``#10`` does not."""
    comment = _COMMENT.search(text, start, end)
    return comment.start() if comment is not None else end


def is_unclosed(text: str, start: int, end: int) -> bool:
    """Whether the quote at ``start`` has no partner before ``end``."""
    body = (DOUBLE_BODY if text[start] == '"' else _SINGLE_BODY).match(text, start, end)
    stop = body.end() if body else end
    return stop >= end


def explain_line(text: str, line: Span) -> SyntaxFault:
    """Say why a line that should be ``key: value`` is none."""
    foreign = merge_mark(text, line) or fence(text, line)
    if foreign is not None:
        return foreign
    head = text[line.start]
    if head in "]}":
        return _odd_bracket(text, line.start)
    if head in "\"'" and is_unclosed(text, line.start, line.end):
        return _unclosed(text, line.start, line.end, head)
    return SyntaxFault(
        line, "A key is expected here; write `key: value`, or quote the text above if this belongs to it."
    )
