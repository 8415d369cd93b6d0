"""The nearest miss: the part of an answer that is most like a string, and looser patterns that match."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import partial
from itertools import combinations

from waza_engine.graders.matching.patterns import PatternError, check_syntax, find_first
from waza_engine.graders.matching.strings import lowered

LONGEST_SEARCHED = 400_000
LONGEST_WANTED = 2_000
"""The length in characters of the longest string that is compared letter by letter."""
_MOST_OFFSETS = 8
"""How many places of an n-gram in a string count: a line of dashes has one n-gram at all of them."""
_MOST_PAIRS = 1_000_000
"""The most pairs of equal letters that are compared at a place: text has fewer."""
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


def occurrences_of(wanted: str, answer: str, *, ignore_case: bool) -> tuple[tuple[int, int] | None, int]:
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
    found, _ = occurrences_of(wanted, answer, ignore_case=True)
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
    letters = Counter(small)
    best: Nearest | None = None
    for place in _likely_places(small, large):
        begin, end = max(0, place - len(small) // 2), min(len(large), place + 2 * len(small))
        if sum(letters[letter] for letter in large[begin:end]) > _MOST_PAIRS:
            continue
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
        offsets = grams.setdefault(wanted[offset : offset + size], [])
        if len(offsets) < _MOST_OFFSETS:
            offsets.append(offset)
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


LONGEST = 300
"""The length in characters of the longest pattern that is analyzed."""
LEAST_BEGINNING = 3
"""The shortest prefix of a pattern, in matched characters, that is worth showing."""
_PIECES = re.compile(r"\\Q.*?(?:\\E|\Z)|\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|.", re.DOTALL)
_FLAGS = re.compile(r"^\(\?[a-zA-Z-]+\)")
_SPECIAL = re.compile(r"(?<!\\)[.*+?()\[\]{}|^$]")


@dataclass(frozen=True, slots=True)
class Loosened:
    """A pattern that matches more, and what it additionally allows, in words."""

    pattern: str
    allows: str


def loosened(pattern: str) -> Iterator[Loosened]:
    """Yield patterns that match more than this one, the most similar first.

    They may match no more of a given string; some may be invalid.
    """
    if len(pattern) > LONGEST:
        return
    steps = [(change, words) for change, words in _STEPS if change(pattern) != pattern]
    seen = {pattern}
    for count in range(1, len(steps) + 1):
        for chosen in combinations(steps, count):
            changed = pattern
            for change, _ in chosen:
                changed = change(changed)
            if changed not in seen:
                seen.add(changed)
                yield Loosened(changed, ", ".join(words for _, words in chosen))
    if _SPECIAL.search(pattern):
        plain = re.sub(r"\\(?=\W)", "", pattern)
        for changed, words in (
            (escaped(plain), "its special characters as plain text"),
            (f"(?i){escaped(plain)}", "its special characters as plain text, upper and lower case ignored"),
        ):
            if changed not in seen:
                seen.add(changed)
                yield Loosened(changed, words)


def matching_loosened(
    pattern: str, text: str, *, ignore_case: bool = False
) -> tuple[Loosened, tuple[int, int]] | None:
    """Return the nearest looser pattern that occurs in a string, and where; None when none does."""
    for looser in loosened(pattern):
        place = _place(looser.pattern, text, ignore_case=ignore_case)
        if place is not None and place[1] > place[0]:
            return looser, place
    return None


def longest_beginning(
    pattern: str, text: str, *, ignore_case: bool = False
) -> tuple[str, tuple[int, int]] | None:
    """Return the longest prefix of a pattern that occurs in a string, and where; None when none does."""
    pieces = _PIECES.findall(pattern) if len(pattern) <= LONGEST else []
    try:
        if not pieces or _has_alternatives(pieces) or check_syntax(pattern) == "python":
            return None
    except PatternError:
        return None
    for count in range(len(pieces) - 1, 0, -1):
        beginning = "".join(pieces[:count])
        place = _place(beginning, text, ignore_case=ignore_case)
        if place is not None:
            return (beginning, place) if place[1] - place[0] >= LEAST_BEGINNING else None
    return None


def escaped(text: str) -> str:
    """Return a pattern for exactly this string, in syntax that RE2 and Python both read."""
    return re.sub(r"[.*+?()\[\]{}|^$\\]", lambda found: f"\\{found.group()}", text)


def _has_alternatives(pieces: Sequence[str]) -> bool:
    """Return whether the pattern as a whole is one of several, so that no part of it comes first."""
    depth = 0
    for piece in pieces:
        depth += (piece == "(") - (piece == ")")
        if piece == "|" and not depth:
            return True
    return False


def _place(pattern: str, text: str, *, ignore_case: bool) -> tuple[int, int] | None:
    try:
        return find_first(pattern, text, ignore_case=ignore_case)
    except PatternError:
        return None


def _flag(letter: str, pattern: str) -> str:
    written = _FLAGS.match(pattern)
    if written is None:
        return f"(?{letter}){pattern}"
    on = written.group()[2:-1].partition("-")[0]
    return (
        pattern
        if letter in on or "-" in written.group()
        else f"(?{letter}{written.group()[2:]}{pattern[written.end() :]}"
    )


def _any_space(pattern: str) -> str:
    pieces = _PIECES.findall(pattern)
    changed: list[str] = []
    for position, piece in enumerate(pieces):
        if piece not in (" ", "\\ "):
            changed.append(piece)
        elif pieces[position + 1 : position + 2] and pieces[position + 1] in "*+?{":
            changed.append(r"\s")
        elif changed[-1:] != [r"\s+"]:
            changed.append(r"\s+")
    return "".join(changed)


def _of_lines(pattern: str) -> str:
    anchored = {"^", "$"} & set(_PIECES.findall(pattern))
    return _flag("m", pattern) if anchored else pattern


def _without_anchors(pattern: str) -> str:
    flags = _FLAGS.match(pattern)
    start = flags.end() if flags is not None else 0
    pieces = _PIECES.findall(pattern[start:])
    if pieces and pieces[0] in ("^", r"\A"):
        pieces = pieces[1:]
    if pieces and pieces[-1] in ("$", r"\z", r"\Z"):
        pieces = pieces[:-1]
    return pattern[:start] + "".join(pieces) if pieces else pattern


def _single_backslashes(pattern: str) -> str:
    return re.sub(r"\\\\(?=\W|[dswbDSWB])", r"\\", pattern)


def _without_plural(pattern: str) -> str:
    return re.sub(r"(?<=[a-z]{2})s(?=$|\$$|\\b|\s|\\s)", "s?", pattern)


_STEPS: Sequence[tuple[Callable[[str], str], str]] = (
    (partial(_flag, "i"), "upper and lower case ignored"),
    (_any_space, "any white space between its words"),
    (_single_backslashes, "its backslashes not doubled"),
    (_of_lines, "its anchors for lines"),
    (_without_anchors, "without its anchors"),
    (_without_plural, "with or without the plural"),
)
