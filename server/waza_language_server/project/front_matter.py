"""The YAML at the top of a ``SKILL.md``, between two lines of dashes."""

from __future__ import annotations

import re

from waza_engine.frozen import frozen
from waza_engine.later_patterns import compiled_later
from waza_language_server.text.edit import Edit
from waza_language_server.text.span import Span

_OPENING = compiled_later(r"\ufeff?---[^\r\n]*(?:\r\n|\r|\n|\Z)")
_CLOSING = compiled_later(r"(?m)^---")
_ROW = compiled_later(
    r"""(?:[\w-]+[ \t]*:(?:[ \t][^\r\n]*)?  # a key,
        |[ \t]+\S[^\r\n]*                  # the text below it,
        |-[ \t][^\r\n]*                    # an item of a list at the margin
        )(?:\r\n|\r|\n|\Z)""",
    re.VERBOSE,
)
LONGEST = 50_000
"""Characters of a file in which the front matter ends."""


_MISSING_OPENING = compiled_later(
    r"""\ufeff?
        (?:(?P<blanks>\s+)---[ \t]*(?:\r\n|\r|\n)|(?P<dashes>--)[ \t]*(?:\r\n|\r|\n)|(?P<nothing>))
        (?:name|description):[ \t][^\r\n]*[\r\n](?s:.*?)
        ^(?P<closing>---)[ \t]*(?=[\r\n]|\Z)""",
    re.VERBOSE | re.MULTILINE,
)
"""The start of a text with the keys of a skill and the closing line, but no valid opening line."""


@frozen()
class FrontMatter:
    """The start of a text up to the line that closes its front matter, the opening line included.

    Of one that is not closed it goes as far as lines with keys go. Without an opening line it is empty, but
    where keys of a skill and a closing line show that there should be one.
    """

    text: str
    opened: bool
    closed: bool


def missing_opening(text: str) -> Edit | None:
    """Return the edit that opens the front matter of a text; None when it is open, or there is none."""
    if _OPENING.match(text) is not None:
        return None
    match = _MISSING_OPENING.match(text, 0, LONGEST)
    if match is None:
        return None
    if match["blanks"] is not None:
        return Edit(Span(match.start("blanks"), match.end("blanks")), "")
    if match["dashes"] is not None:
        return Edit(Span(match.start("dashes"), match.end("dashes")), "---")
    ending = "\r\n" if "\r\n" in text else "\n"
    return Edit(Span(match.start("nothing"), match.start("nothing")), f"---{ending}")


def front_matter(text: str) -> FrontMatter:
    """Return the front matter of a text; offsets in it are those in the text."""
    opening = _OPENING.match(text)
    if opening is None:
        missing = _MISSING_OPENING.match(text, 0, LONGEST)
        written = text[: missing.start("closing")] if missing is not None else ""
        return FrontMatter(written, opened=False, closed=missing is not None)
    closing = _CLOSING.search(text, opening.end(), LONGEST)
    if closing is not None:
        return FrontMatter(text[: closing.start()], opened=True, closed=True)
    end = opening.end()
    while end < LONGEST and (row := _ROW.match(text, end)) is not None and row.end() > end:
        end = row.end()
    return FrontMatter(text[:end], opened=True, closed=False)
