"""The YAML at the top of a ``SKILL.md``, between two lines of dashes."""

from __future__ import annotations

import re

from waza_engine.frozen import frozen

_OPENING = re.compile(r"\ufeff?---[^\r\n]*(?:\r\n|\r|\n|\Z)")
_CLOSING = re.compile(r"(?m)^---")
_ROW = re.compile(
    r"""(?:[\w-]+[ \t]*:(?:[ \t][^\r\n]*)?  # a key,
        |[ \t]+\S[^\r\n]*                  # what stands below it,
        |-[ \t][^\r\n]*                    # an item of a list at the margin
        )(?:\r\n|\r|\n|\Z)""",
    re.VERBOSE,
)
LONGEST = 50_000
"""Characters of a file in which the front matter ends."""


@frozen()
class FrontMatter:
    """The start of a text up to the line that closes its front matter, the opening line included.

    Of one that is not closed it goes as far as lines with keys go; without an opening line it is empty.
    """

    text: str
    opened: bool
    closed: bool


def front_matter(text: str) -> FrontMatter:
    """Return the front matter of a text; offsets in it are those in the text."""
    opening = _OPENING.match(text)
    if opening is None:
        return FrontMatter("", opened=False, closed=False)
    closing = _CLOSING.search(text, opening.end(), LONGEST)
    if closing is not None:
        return FrontMatter(text[: closing.start()], opened=True, closed=True)
    end = opening.end()
    while end < LONGEST and (row := _ROW.match(text, end)) is not None and row.end() > end:
        end = row.end()
    return FrontMatter(text[:end], opened=True, closed=False)
