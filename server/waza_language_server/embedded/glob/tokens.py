"""The wildcards of a glob."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from waza_engine.later_patterns import compiled_later
from waza_language_server.embedded.language import Token

_PART = compiled_later(r"(?P<wild>\*+|\?)|(?P<open>\[)|(?P<escape>\\.)", re.DOTALL)
_SET = compiled_later(r"\[\^?(?:\\.|[^\]\\])++(?P<close>\])?", re.DOTALL)


def glob_tokens(value: str) -> Iterator[Token]:
    """Yield the wildcards, the character sets and the escapes; linear in the length of the value."""
    position = 0
    closes = True
    while found := _PART.search(value, position):
        position = found.end()
        if found.lastgroup == "open":
            # If one set is not closed until the end, no later one is.
            if closes and (of_set := _SET.match(value, found.start())):
                closes = of_set["close"] is not None
                if closes:
                    position = of_set.end()
                    yield Token(*of_set.span(), "regexp", "class")
        elif found.lastgroup == "escape":
            # On other systems a backslash separates folders.
            if os.sep == "/":
                yield Token(*found.span(), "regexp", "escape")
        else:
            yield Token(*found.span(), "operator")
