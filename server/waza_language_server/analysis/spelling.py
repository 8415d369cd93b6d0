"""Which word was meant: the nearest of the known ones."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence


def nearest(written: str, known: Iterable[str]) -> str | None:
    """Return the known word that a written one most likely means, or None when none is near.

    Upper and lower case and the signs between words (``shouldTrigger``, ``should-trigger``) do not count.
    """
    words = list(dict.fromkeys(known))
    plain = {_plain(word): word for word in reversed(words)}
    target = _plain(written)
    if not target:
        return None
    if target in plain:
        return plain[target]
    cutoff = 0.6 if len(target) > 4 else 0.7
    close = difflib.get_close_matches(target, list(plain), n=1, cutoff=cutoff)
    return plain[close[0]] if close else None


def listed(words: Sequence[object], conjunction: str = "or") -> str:
    """Return ``a, b or c`` with every word in backticks."""
    quoted = [f"`{word}`" for word in words]
    if len(quoted) <= 1:
        return "".join(quoted)
    return f"{', '.join(quoted[:-1])} {conjunction} {quoted[-1]}"


def _plain(word: str) -> str:
    return "".join(character for character in word.lower() if character.isalnum())
