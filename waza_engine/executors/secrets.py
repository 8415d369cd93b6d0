"""Keeping credentials of the environment out of what is written down."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

_NAMES = re.compile(r"(KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE)(_[A-Z0-9]+)?$", re.IGNORECASE)
_SHORTEST = 8
_SHOWN = "***"


def hiding(environment: Mapping[str, str]) -> Callable[[str], str]:
    """Return a function that replaces the values of variables that are named like credentials.

    Short values stay: they are words that stand for other things, too. So do paths (of a key's file).
    """
    values = {
        value
        for name, value in environment.items()
        if len(value) >= _SHORTEST and _NAMES.search(name) and not value.startswith(("/", "~", "."))
    }
    # The longest first: one value may be the beginning of another.
    ordered = sorted(values, key=len, reverse=True)

    def hide(text: str) -> str:
        for value in ordered:
            if value in text:
                text = text.replace(value, _SHOWN)
        return text

    return hide
