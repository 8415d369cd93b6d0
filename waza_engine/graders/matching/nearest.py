"""Find a string in an answer, or else the nearest match and how it differs.

Everything is bounded: only the beginning of a long answer is searched.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from difflib import SequenceMatcher

from waza_engine.graders.matching.letter_case import lowered

LONGEST_SEARCHED = 400_000
LONGEST_WANTED = 2_000
"""The length in characters of the longest string that is compared letter by letter."""
LEAST_ALIKE = 0.6
_GRAM = 3
_MOST_PLACES = 4
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Nearest:
    """The characters of an answer nearest to a string; ``alike`` is 0..1, ``how`` in words."""

    start: int
    end: int
    alike: float
    how: str


def places_of(wanted: str, answer: str, *, ignore_case: bool) -> tuple[tuple[int, int] | None, int]:
    """Return where a string occurs first, in characters, and how often; None when it does not."""
    if ignore_case:
        wanted, answer = lowered(wanted), lowered(answer)
    start = answer.find(wanted)
    if start < 0:
        return None, 0
    return (start, start + len(wanted)), answer.count(wanted) if wanted else 1


def nearest_text(wanted: str, answer: str) -> Nearest | None:
    """Return the nearest match of a string that an answer does not contain; None without a similar one."""
    answer = answer[:LONGEST_SEARCHED]
    if not wanted.strip() or len(wanted) > LONGEST_WANTED:
        return None
    found, _ = places_of(wanted, answer, ignore_case=True)
    if found is not None:
        return Nearest(*found, 0.99, "upper and lower case differ")
    words = wanted.split()
    spaced = re.compile(r"\s+".join(map(re.escape, words)), re.IGNORECASE).search(answer)
    if spaced is not None:
        return Nearest(*spaced.span(), 0.98, "white space differs")
    plain = _WORD.findall(wanted)
    punctuated = re.compile(r"[^\w]{1,8}".join(map(re.escape, plain)), re.IGNORECASE) if plain else None
    marked = punctuated.search(answer) if punctuated is not None else None
    if marked is not None:
        return Nearest(*marked.span(), 0.97, "punctuation differs")
    return _most_alike(wanted, answer)


def _most_alike(wanted: str, answer: str) -> Nearest | None:
    """Return the part of an answer that has most letters in common with a string."""
    small, large = lowered(wanted), lowered(answer)
    best: Nearest | None = None
    for place in _likely_places(small, large):
        begin, end = max(0, place - len(small) // 2), min(len(large), place + 2 * len(small))
        blocks = SequenceMatcher(None, large[begin:end], small, autojunk=False).get_matching_blocks()
        # Letters that agree by chance, far from the others, are not part of it.
        near = [
            block
            for block in blocks
            if block.size and abs(block.a + begin - block.b - place) <= len(small) // 2
        ]
        if not near:
            continue
        start, stop = _whole_words(large, near[0].a + begin, near[-1].a + near[-1].size + begin)
        alike = SequenceMatcher(None, large[start:stop], small, autojunk=False).ratio()
        if alike >= LEAST_ALIKE and (best is None or alike > best.alike):
            best = Nearest(start, stop, alike, f"{alike:.0%} alike")
    return best


def _likely_places(wanted: str, answer: str) -> list[int]:
    """Return where a string might begin: where most of its n-grams occur in order."""
    size = min(_GRAM, len(wanted))
    width = max(4, len(wanted) // 4)
    grams: dict[str, list[int]] = {}
    for offset in range(len(wanted) - size + 1):
        grams.setdefault(wanted[offset : offset + size], []).append(offset)
    votes: Counter[int] = Counter()
    for position in range(len(answer) - size + 1):
        for offset in grams.get(answer[position : position + size], ()):
            votes[(position - offset) // width] += 1
    return [max(0, bucket * width) for bucket, _ in votes.most_common(_MOST_PLACES)]


def _whole_words(text: str, start: int, end: int) -> tuple[int, int]:
    """Return the range extended to whole words."""
    while start > 0 and text[start - 1].isalnum() and text[start].isalnum():
        start -= 1
    while end < len(text) and text[end].isalnum() and text[end - 1].isalnum():
        end += 1
    return start, end
