"""The parts of a glob that stand for more than themselves."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from waza_language_server.embedded.language import Token

_PART = re.compile(r"(?P<wild>\*+|\?)|(?P<set>\[\^?(?:\\.|[^\]\\])+\])|(?P<escape>\\.)", re.DOTALL)


def glob_tokens(value: str) -> Iterator[Token]:
    """Yield the wildcards, the sets of characters and the escapes."""
    for found in _PART.finditer(value):
        if found.lastgroup == "set":
            yield Token(*found.span(), "regexp", "class")
        elif found.lastgroup == "escape":
            # Elsewhere a backslash separates folders.
            if os.sep == "/":
                yield Token(*found.span(), "regexp", "escape")
        else:
            yield Token(*found.span(), "operator")
