"""Errors in YAML text, one sentence for each: a run and an editor report the same. Light.

Each begins in lower case and has no full stop, because a run prints it after a file and a line; ``sentence``
makes it a sentence of its own.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Protocol, cast

from waza_engine.later_patterns import compiled_later
from waza_engine.spec.reading.scalars import MAX_ALIASED_NODES

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_DEPTH = 100
"""How deep collections may nest; a suite needs about six levels."""

TAB = "this line is indented with a tab; use spaces"
ITEM_NEEDS_LINE = "a list item needs its own line; start a new line before this `-`"
MISSING_DASH = "a list item starts with a dash; write `- ` before this"
DOES_NOT_FIT = "this does not fit the lines around it; check quotes, colons and indentation"
TOO_DEEP = f"lists and mappings are nested more than {MAX_DEPTH} levels deep here; no more is read"
TOO_MANY_ALIASES = (
    f"the aliases in this file expand to more than {MAX_ALIASED_NODES:,} values, so a run refuses it; "
    "write the values out"
)
SECOND_DOCUMENT = (
    "a file holds one document; what follows this line is ignored, so move it to a file of its own"
)
NO_BLOCK_TO_MERGE = "`<<` needs a block (or a list of blocks) to take keys from"
MERGE_MARK = compiled_later(r"(?:^|(?<=\r))(?:<{7}|\|{7}|={7}|>{7})(?=[ \t\r\n]|\Z)", re.MULTILINE)
"""A line that git has left where two changes meet."""
UNMERGED = "this line is from a merge with a conflict; keep one of the two sides, and delete the marks"
RESERVED: Mapping[str, str] = MappingProxyType(
    {
        "@": "a value cannot start with `@`",
        "`": "a value cannot start with a backquote",
        "%": "a value cannot start with `%`",
        ",": "a value cannot start with a comma",
        "]": "this `]` closes nothing",
        "}": "this `}` closes nothing",
        "&": "a value that starts with `&` is read as an anchor",
        "*": "a value that starts with `*` is read as an alias",
        "!": "a value that starts with `!` is read as a tag",
        "|": "a value that starts with `|` is read as a block of text that begins on the next line",
        ">": "a value that starts with `>` is read as a block of text that begins on the next line",
        "?": "a value that starts with `? ` is read as a key",
    }
)
"""Characters that no value without quotes can start with, and their effects."""


_CODE_POINT = compiled_later(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[dD][89a-fA-F][0-9a-fA-F]{2}|\\U[0-9a-fA-F]{8}"
)
_HALVES = compiled_later(r"\\u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})")
_LONGEST_CODE = len(r"\U0010FFFF")


def reserved_start(character: str) -> str:
    """Return the message for a value that starts with one of ``RESERVED``."""
    return f"{RESERVED[character]}; put the value in quotes"


def escape_at(text: str, backslash: int) -> str:
    """Return the escape at a backslash that means nothing, with its digits and its other half if any."""
    found = _CODE_POINT.match(text, backslash)
    return found[0] if found is not None else text[backslash : backslash + 2]


def joined_halves(escape: str) -> str | None:
    """Return the character that two escapes write in halves, as JSON does; None for anything else."""
    halves = _HALVES.fullmatch(escape)
    if halves is None:
        return None
    high, low = (int(half, 16) for half in halves.groups())
    return chr(0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00))


def wrong_escape(escape: str) -> str:
    """Return the message for an escape from ``escape_at`` that is invalid in double quotes."""
    character = joined_halves(escape)
    if character is not None:
        whole = f"\\U{ord(character):08X}"
        return f"`{escape}` writes one character in two halves; write `{character}` or `{whole}`"
    intended = f"write another one, or `\\{escape}` if the backslash is meant"
    if len(escape) == _LONGEST_CODE and int(escape[2:], 16) > sys.maxunicode:
        return f"`{escape}` is no character, the last one is `\\U{sys.maxunicode:08X}`; {intended}"
    if len(escape) > len("\\u"):
        return f"`{escape}` is half of a character, which no text can hold; {intended}"
    return f"`{escape}` means nothing in double quotes; put the text in single quotes or write `\\{escape}`"


def unclosed_quote(quote: str) -> str:
    """Return that the opening quote of a string is never closed."""
    return f"the quote opened here is never closed; end the text with `{quote}`"


def duplicate_key(key: str) -> str:
    """Return that a key occurs in one mapping for the second time."""
    return f"`{key}` is set twice in this mapping; keep one of the two"


def unknown_anchor(name: str) -> str:
    """Return the message for an alias without an anchor."""
    return f"no anchor `&{name}` is defined before this alias; put the value in quotes if it is a string"


def sentence(fault: str) -> str:
    """Return an error as a sentence of its own."""
    return f"{fault[:1].upper()}{fault[1:]}."


class Mark(Protocol):
    """A place in the text, both counted from 0; ``index`` in characters."""

    index: int
    line: int


class Event(Protocol):
    """An event, as ``yaml`` hands it over; which of the values it has depends on its class there."""

    start_mark: Mark
    end_mark: Mark
    anchor: str | None
    tag: str | None
    style: str | None
    value: str
    flow_style: bool | None


class _Parser(Protocol):
    def get_event(self) -> Event | None: ...


def events_of(text: str) -> Iterator[Event]:
    """Yield the events of YAML text in order. Raises ``yaml.YAMLError`` where it is broken."""
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    parser = cast("_Parser", loader(text))
    return iter(parser.get_event, None)
