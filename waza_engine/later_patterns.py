"""Patterns that are compiled on first use: most patterns of rules only match mistakes.

A pattern takes as long to compile as a small module to load, and the code that reads a file has three
hundred.
"""

from __future__ import annotations

import re
from typing import Any, AnyStr, cast


def compiled_later(pattern: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """Return a pattern that is compiled when something is first looked for with it."""
    return cast("re.Pattern[AnyStr]", _Later(pattern, flags))


class _Later:
    """A pattern compiled on first use; each method is cached after its first use."""

    def __init__(self, pattern: Any, flags: int) -> None:
        self._written = pattern, flags

    def __getattr__(self, name: str) -> Any:
        found: Any = getattr(re.compile(*self._written), name)
        self.__dict__[name] = found
        return found
