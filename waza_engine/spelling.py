"""Spelling suggestions: the known word that is nearest to a misspelled one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from itertools import islice

from waza_engine.later_patterns import compiled_later

_DENIALS = frozenset({"not", "no", "never", "forbidden", "reject", "exclude", "excludes", "without"})
_PARTS = compiled_later(r"[A-Z]?[a-z]+|[A-Z]+|[0-9]+")
_SHORT = 5
"""Letters; in a word as short as this, one wrong letter is a typo, two are another word."""
_MOST_SLIPS = 2
LONGEST_WORD = 100
"""Characters; a longer word is not a typo, and comparing it takes quadratic time."""
MAX_CANDIDATES = 1_000
"""How many known words are compared with a written one."""
MOST_MEANT = 50
"""The most words of one text that get suggestions, as there may be thousands of unknown ones."""
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
    import difflib

    cutoff = 0.6 if len(target) > 4 else 0.7
    close = difflib.get_close_matches(target, list(plain), n=3, cutoff=cutoff)
    swapped = [word for word in close if sorted(word) == sorted(target)]
    return next((plain[word] for word in (*swapped, *close)), None)


def typo_of(written: str, known: Iterable[str]) -> str | None:
    """Return the known word that a written one is with one or two letters wrong; None for two such words.

    Upper and lower case and the signs between words do not count as letters, and two letters that are
    swapped are likelier than others. In short words one letter may be wrong. That is near enough to write
    the known word without asking.
    """
    near = typos_of(written, known)
    return near[0] if len(near) == 1 else None


def path_typo_of(written: str, known: Iterable[str]) -> str | None:
    """Return the known path or glob that a written one is with at most two characters wrong, signs too."""
    near = typo_of(written, known)
    return (
        near if near is not None and _distance(written.casefold(), near.casefold()) <= _MOST_SLIPS else None
    )


def typos_of(written: str, known: Iterable[str]) -> tuple[str, ...]:
    """Return the known words that are equally near to a written one, with one or two letters wrong."""
    if len(written) > LONGEST_WORD:
        return ()
    return _typos_of(written, tuple(islice(dict.fromkeys(known), MAX_CANDIDATES)))


@lru_cache(maxsize=4096)
def _typos_of(written: str, words: tuple[str, ...]) -> tuple[str, ...]:
    target = _plain(written)
    most = 0 if len(target) <= 2 else 1 if len(target) <= _SHORT else _MOST_SLIPS
    near: dict[int, list[str]] = {}
    letters, denies = set(target), _denies(written)
    for word in words:
        plain = _plain(word)
        if abs(len(plain) - len(target)) > most or len(letters ^ set(plain)) > 2 * most:
            continue
        # Two letters are not enough to take a "no" away.
        if _denies(word) or not denies:
            apart = _distance(target, plain)
            if apart == _MOST_SLIPS and target[:1] == plain[:1] and sorted(target) == sorted(plain):
                # A finger that was early or late: `neam`.
                apart = most
            near.setdefault(apart, []).append(word)
    best = min(near, default=most + 1)
    if not target or best > most:
        return ()
    swapped = [word for word in near[best] if sorted(_plain(word)) == sorted(target)]
    return tuple(swapped or near[best])


def alike_in_words(written: str, known: Iterable[str], fits: Callable[[str], bool]) -> str | None:
    """Return the known name that ``fits``, has every word of a written one, and denies what that denies.

    ``trigger_prompts`` is ``should_trigger_prompts`` without a word, and ``timeout_sec`` cuts one short; but
    ``output_contains_near`` says more than ``output_contains`` and does not match it.
    """
    if len(written) > LONGEST_WORD:
        return None
    parts = _words(written)
    if not parts or max(map(len, parts)) < 3:
        return None
    fitting = [
        (len(_words(word)), word)
        for word in islice(dict.fromkeys(known), MAX_CANDIDATES)
        if _denies(word) == _denies(written) and _are_among(parts, _words(word)) and fits(word)
    ]
    fitting.sort()
    return fitting[0][1] if fitting and fitting[0][0] not in [count for count, _ in fitting[1:]] else None


def article(word: str) -> str:
    """Return the article that a word has."""
    return "an" if word[:1] in "aeiou" else "a"


def listed(words: Sequence[object], conjunction: str = "or") -> str:
    """Return ``a, b or c`` with every word in backticks; of very many the first ones and how many others."""
    quoted = [f"`{word}`" for word in words[:MAX_LISTED]]
    if len(words) > MAX_LISTED:
        return f"{', '.join(quoted)} {conjunction} {len(words) - MAX_LISTED} others"
    if len(quoted) <= 1:
        return "".join(quoted)
    return f"{', '.join(quoted[:-1])} {conjunction} {quoted[-1]}"


def _distance(one: str, other: str) -> int:
    """Return how many letters have to be added, dropped, replaced or swapped with the next."""
    before: list[int] = []
    row = list(range(len(other) + 1))
    for at, letter in enumerate(one, 1):
        older, before, row = before, row, [at]
        for to, wanted in enumerate(other, 1):
            cost = min(before[to] + 1, row[to - 1] + 1, before[to - 1] + (letter != wanted))
            if at > 1 and to > 1 and letter == other[to - 2] and one[at - 2] == wanted:
                cost = min(cost, older[to - 2] + 1)
            row.append(cost)
    return row[-1]


def _are_among(parts: Sequence[str], words: Sequence[str]) -> bool:
    """Return whether each part is one of the words, or the beginning of one."""
    left = list(words)
    for part in parts:
        intended = next(
            (word for word in left if word == part or (len(part) > 2 and word.startswith(part))), None
        )
        if intended is None:
            return False
        left.remove(intended)
    return True


@lru_cache(maxsize=4096)
def _denies(word: str) -> bool:
    """Return whether a name asks for the absence of something."""
    return bool(_DENIALS & {part.lower() for part in _PARTS.findall(word)})


@lru_cache(maxsize=4096)
def _plain(word: str) -> str:
    return "".join(character for character in word.lower() if character.isalnum())


@lru_cache(maxsize=4096)
def _words(name: str) -> tuple[str, ...]:
    """Return the words of a name in lower case, without the sign of the plural."""
    words = (part.lower() for part in _PARTS.findall(name))
    return tuple(word[:-1] if len(word) > 3 and word.endswith("s") else word for word in words)
