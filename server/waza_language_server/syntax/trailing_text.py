"""Text after a value on its line, or on those below, where none is allowed."""

from __future__ import annotations

from waza_engine.later_patterns import compiled_later
from waza_engine.spec.reading.yaml_faults import MISSING_DASH, sentence
from waza_language_server.syntax.author_style import line_break
from waza_language_server.syntax.escapes import end_of_line, quoted
from waza_language_server.syntax.fault import SyntaxFault
from waza_language_server.syntax.flow_signs import list_of_texts
from waza_language_server.syntax.value_quotes import before_comment, quote_fix
from waza_language_server.syntax.wrong_signs import needless_sign
from waza_language_server.text.edit import Edit, Fix
from waza_language_server.text.span import Span

_DASH = compiled_later(r"[ ]*-[ ]+")
_MORE_BRACKETS = compiled_later(r"[\]})]{1,3}")
_ITEM_OR_KEY = compiled_later(r"-[ ]+\S|[A-Za-z_][\w-]*:(?:\s|\Z)")


def text_behind_quote(text: str, start: int, closed: int, end: int) -> SyntaxFault:
    """Return the fault of text after the closing quote of a value."""
    behind = closed + len(text[closed:end]) - len(text[closed:end].lstrip())
    line_end = end_of_line(text, behind, end)
    needless = (
        needless_sign(text, behind, before_comment(text, behind, line_end)) if line_end == end else None
    )
    if needless is not None:
        return needless
    if empty := _empty_above(text, start, closed, behind):
        return empty
    if item := _item_without_dash(text, start, behind, line_end) or _item_behind_key(
        text, start, closed, behind
    ):
        return item
    fixes: tuple[Fix, ...] = ()
    text_end = before_comment(text, start, line_end)
    if end_of_line(text, start, end) == line_end and text_end > closed:
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


def text_behind_brackets(text: str, start: int, closed: int, end: int) -> SyntaxFault:
    """Return the fault of text after the closing bracket of a value."""
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
    # Double braces are a template in many tools, and invalid in YAML.
    is_template = text.startswith("{{", start)
    fixes = quote_fix(text, Span(start, end_of_line(text, start, end)), end, sure=is_template)
    return SyntaxFault(Span(behind, max(line_end, behind + 1)), message, fixes=fixes)


def _item_without_dash(text: str, start: int, behind: int, line_end: int) -> SyntaxFault | None:
    """Return the fault of an item without its dash: a quoted string below one, at its column."""
    above, line = (text.rfind("\n", 0, at) + 1 for at in (start, behind))
    is_item = _DASH.fullmatch(text, above, start) is not None and text[behind] in "\"'"
    if not is_item or above == line or text[line:behind] != " " * (start - above):
        return None
    fix = Fix("Insert the dash", (Edit(Span(line, behind), text[above:start]),))
    return SyntaxFault(Span(behind, line_end), sentence(MISSING_DASH), fixes=(fix,))


def _item_behind_key(text: str, start: int, closed: int, behind: int) -> SyntaxFault | None:
    """Return the fault of a list whose first item follows its key, with the others below it."""
    line = text.rfind("\n", 0, behind) + 1
    key = text[text.rfind("\n", 0, start) + 1 : start].rstrip(" ")
    if line <= start or not text.startswith("- ", behind) or not key.endswith(":"):
        return None
    blanks = len(text[:start]) - len(text[:start].rstrip(" "))
    edit = Edit(Span(start - blanks, start), f"{line_break(text)}{text[line:behind]}- ")
    message = "A list stands below this, so it is its first item; write it there, behind a dash."
    return SyntaxFault(Span(start, closed), message, fixes=(Fix("Make it the first item", (edit,)),))


def _text_in_quotes(written: str, closed: int) -> str:
    """Return the intended string of a quoted one that ends, for YAML, in the middle, at ``closed``."""
    quote = written[0]
    doubled = written.replace("''", "'") if quote == "'" else written
    if not written.endswith(quote):
        return doubled
    if written.startswith(quote * 3) and written.endswith(quote * 3) and len(written) > len(quote * 6):
        # Python quotes strings this way.
        return written[3:-3]
    if closed == len(quote * 2):
        # `""a""` has too many quotes, `''a' in b'` begins with a quoted string.
        inner = written[2:-2]
        return inner if written.endswith(quote * 2) and quote not in inner else written[1:-1]
    # The quote that YAML reads as the closing one is an apostrophe, or begins an inner string:
    # `'the users' log'`, `"a "b" c"`; in `'a' or 'b'` there are two strings.
    before, behind = written[closed - 2], written[closed]
    begins = behind.strip() and (before in ' "([{=' or (before.isalnum() and behind.isalnum()))
    return doubled[1:-1] if begins or doubled.count(quote) % 2 else doubled


def _empty_above(text: str, start: int, closed: int, behind: int) -> SyntaxFault | None:
    """Return the fault of an empty value before its lines below: `tasks: []`."""
    if text[start + 1 : closed - 1].strip() or _ITEM_OR_KEY.match(text, behind) is None:
        return None
    if end_of_line(text, start, behind) == behind:
        return None
    value = text[start:closed]
    blanks = len(text[:start]) - len(text[:start].rstrip(" \t"))
    fix = Fix(f"Delete the `{value}`", (Edit(Span(start - blanks, closed), ""),))
    message = f"`{value}` is the whole value, so what stands below cannot belong to it; delete the `{value}`."
    return SyntaxFault(Span(start, closed), message, fixes=(fix,))
