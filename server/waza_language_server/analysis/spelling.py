"""Which word was meant: the nearest of the known ones."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import islice

_DENIALS = frozenset({"not", "no", "never", "forbidden", "reject", "exclude", "excludes", "without"})
_PARTS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")
_SLIP = 0.85
"""Likeness, 0 to 1, of a word and the same word with a letter or two wrong."""
LONGEST_WORD = 100
"""Characters; a longer word is nobody's slip of the pen, and comparing it costs its length squared."""
MAX_CANDIDATES = 1_000
"""How many known words are compared with a written one."""
MAX_LISTED = 50
"""How many words a sentence enumerates."""


def nearest(written: str, known: Iterable[str]) -> str | None:
    """Return the known word that a written one most likely means, or None when none is near.

    Upper and lower case and the signs between words (``shouldTrigger``, ``should-trigger``) do not count.
    """
    if len(written) > LONGEST_WORD:
        return None
    return _nearest(written, tuple(islice(dict.fromkeys(known), MAX_CANDIDATES)))


@lru_cache(maxsize=4096)
def _nearest(written: str, words: tuple[str, ...]) -> str | None:
    plain = {_plain(word): word for word in reversed(words)}
    target = _plain(written)
    if not target:
        return None
    if target in plain:
        return plain[target]
    cutoff = 0.6 if len(target) > 4 else 0.7
    close = difflib.get_close_matches(target, list(plain), n=3, cutoff=cutoff)
    swapped = [word for word in close if sorted(word) == sorted(target)]
    return next((plain[word] for word in (*swapped, *close)), None)


def nearest_in_sense(written: str, known: Iterable[str], *, surely: bool = False) -> str | None:
    """Return the nearest known word that does not say the opposite.

    ``must_contain`` is not meant for ``must_not_match``; only a slip of one or two letters is trusted across
    a "not". With ``surely`` such a slip is asked for in every case.
    """
    if len(written) > LONGEST_WORD:
        return None
    words = list(dict.fromkeys(known))
    alike = [word for word in words if _denies(word) == _denies(written)]
    close = nearest(written, words if surely else alike)
    slip = nearest(written, words)
    for word in (slip, close):
        if word is not None and _likeness(written, word) >= _SLIP:
            return word
    return None if surely else close


def listed(words: Sequence[object], conjunction: str = "or") -> str:
    """Return ``a, b or c`` with every word in backticks; of very many the first ones and how many others."""
    quoted = [f"`{word}`" for word in words[:MAX_LISTED]]
    if len(words) > MAX_LISTED:
        return f"{', '.join(quoted)} {conjunction} {len(words) - MAX_LISTED} others"
    if len(quoted) <= 1:
        return "".join(quoted)
    return f"{', '.join(quoted[:-1])} {conjunction} {quoted[-1]}"


def _likeness(one: str, other: str) -> float:
    return difflib.SequenceMatcher(None, _plain(one), _plain(other)).ratio()


def _denies(word: str) -> bool:
    """Whether a name asks for the absence of something."""
    return bool(_DENIALS & {part.lower() for part in _PARTS.findall(word)})


@lru_cache(maxsize=4096)
def _plain(word: str) -> str:
    return "".join(character for character in word.lower() if character.isalnum())
