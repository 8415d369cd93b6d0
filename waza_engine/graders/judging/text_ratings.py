"""A rating in the prose of a judge: `Score: 4`, `Final rating = 4/5`, a number alone.

Ranges (`Score: 3-4`) and limits (`Maximum score: 5`) are not ratings.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

_NUMBER = r"[-+]?\d+(?:\.\d+)?(?:\s*\(?\s*(?:/|out of)\s*\d+(?:\.\d+)?)?"
_LABELLED = re.compile(
    r"(?:^|(?<=[\s*_#>(]))(?:overall |final )?(?:score|rating)[\s*_`]*(?::|=|is\b|-|–)[\s*_`]*"
    rf"({_NUMBER}|true\b|false\b|pass\b|fail\b)",
    re.IGNORECASE | re.ASCII,
)
_ALONE = re.compile(rf"[\s*_`]*({_NUMBER})[\s*_`.]*", re.ASCII)
_LINE = re.compile(
    rf"[\s*_#>]*(?:overall |final )?(?:score|rating)[\s*_`]*[:=][\s*_`]*{_NUMBER}\)?[\s*_`.]*",
    re.IGNORECASE | re.ASCII,
)
_WORDS_BEFORE = re.compile(r"^[\s*_#>(\-+\d.)|]*([^\W\d_][\w /&'-]*?)[\s*_`]*$")
_BOUND = re.compile(
    r"\b(?:max|maximum|min|minimum|highest|lowest|best|worst|possible|passing|required|perfect|previous|"
    r"threshold)(?:[ -](?:possible|achievable|passing|required))?[\s*_`]*$",
    re.IGNORECASE,
)
_OF_THE_WHOLE = frozenset(
    {"overall", "final", "total", "my", "the", "a", "your", "this", "so", "new", "revised", "updated"}
)
# More digits, the end of a range, a share, a decimal comma: the number before it is not the rating.
_GOES_ON = re.compile(
    r"[\w.]*\d|,\d|\s*%|[-–—]\d|\s+[-–—]\s*\d+(?:\.\d+)?(?![\d.]*\s*[^\W\d])|\s+(?:to|or)\s+\d|\s*/\s*\d",
    re.IGNORECASE,
)
_THOUGHT_END = re.compile(r"</(?:think|thinking|thought|reasoning)>", re.IGNORECASE)
_THOUGHT_START = re.compile(r"\s*<(?:think|thinking|thought|reasoning)>", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class TextRating:
    """A rating as it is written. With ``criteria`` there is no overall one, and ``raw`` is ""."""

    raw: str
    criteria: dict[str, str] = field(default_factory=dict[str, str])


def rating_in_text(text: str) -> TextRating | None:
    """Return the overall rating in a reply, the last one if there are several.

    None when there is none, and when the last one is not one number.
    """
    if alone := _ALONE.fullmatch(text):
        return TextRating(alone[1])
    whole: str | None = None
    criteria: dict[str, str] = {}
    for found in _LABELLED.finditer(text):
        before = text[text.rfind("\n", 0, found.start()) + 1 : found.start()]
        if _BOUND.search(before):
            continue
        unclear = _GOES_ON.match(text, found.end()) is not None
        name = _criterion(before)
        if name:
            criteria[name] = "" if unclear else found[1]
        else:
            whole = "" if unclear else found[1]
    if whole is None and len(criteria) == 1:
        whole = next(iter(criteria.values()))
    if whole is not None:
        return TextRating(whole) if whole else None
    return TextRating("", criteria) if criteria and all(criteria.values()) else None


def rating_line(text: str) -> bool:
    """Return whether a line of a reply is an overall rating and nothing else."""
    return any(_LINE.fullmatch(line) for line in text.splitlines())


def is_a_rating(text: str) -> bool:
    """Return whether a string is a number, or one of a scale, and nothing else."""
    return _ALONE.fullmatch(text) is not None


def without_thoughts(text: str) -> str:
    """Return a reply without the model's thoughts before it; "" for one that was still thinking."""
    ends = list(_THOUGHT_END.finditer(text))
    said = text[ends[-1].end() :] if ends else text
    return "" if _THOUGHT_START.match(said) else said


def _criterion(before: str) -> str:
    """Return the criterion that a line with this beginning rates, "" for the whole answer."""
    words = _WORDS_BEFORE.match(before)
    if words is None:
        return ""
    name = words[1].strip()
    return "" if not name or name.split()[-1].lower() in _OF_THE_WHOLE or len(name.split()) > 4 else name
