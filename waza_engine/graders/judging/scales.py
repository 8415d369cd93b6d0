"""Scales of ratings: which ratings there are, and the score from 0 to 1 that each of them means."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from waza_engine.number_formats import is_finite

Raw = bool | int | float | str
"""A rating as a judge gives it, or as a rubric names it."""

_TRUE = frozenset({"true", "yes", "pass", "passed"})
_FALSE = frozenset({"false", "no", "fail", "failed"})
_FRACTION = re.compile(
    r"([-+]?\d+(?:\.\d+)?)\s*\(?\s*(?:/|out of|of)\s*(\d+(?:\.\d+)?)\)?", re.IGNORECASE | re.ASCII
)
_NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?", re.ASCII)


class RatingError(Exception):
    """A rating that is not on its scale; the message completes "the judge …"."""


class ScaleError(Exception):
    """A scale that makes no sense; the message is one sentence for the author of the rubric."""


@dataclass(frozen=True, slots=True)
class Scale:
    """Ratings and their scores: ``points`` are (rating, score from 0 to 1), in the order of the ratings.

    With ``between`` a rating between two points gets an interpolated score. On a scale of ``words`` (pass or
    fail, true or false) 1 means the good word of the reply, 0 the other one. ``labels`` are names of ratings,
    in lower case.
    """

    points: tuple[tuple[float, float], ...]
    between: bool = True
    words: bool = False
    labels: Mapping[str, float] = field(default_factory=dict[str, float])

    @property
    def text(self) -> str:
        """The scale as people write it: ``1-5``, ``0 or 1``, ``true or false``."""
        if self.words:
            return "true or false"
        ratings = [f"{rating:g}" for rating, _ in self.points]
        if self.between:
            return f"{ratings[0]}-{ratings[-1]}"
        return " or ".join(ratings) if len(ratings) < 3 else f"{', '.join(ratings[:-1])} or {ratings[-1]}"

    @property
    def allowed(self) -> str:
        """Return the ratings that the judge may give: ``a number from 1 to 5``."""
        if not self.between:
            return self.text
        return f"a number from {self.points[0][0]:g} to {self.points[-1][0]:g}"

    def format(self, rating: float) -> str:
        """Return a number on the scale as people write it."""
        if self.words:
            return "true" if rating == 1 else "false"
        return f"{rating:.4g}"

    def rating(self, raw: object) -> float:
        """Return the number that a reply means. Raises ``RatingError`` if it is not on the scale."""
        number = self._number(raw)
        low, high = self.points[0][0], self.points[-1][0]
        if not math.isfinite(number) or not low <= number <= high:
            raise RatingError(f"rated {_shown(raw)}, which is not on the scale {self.text}")
        if not self.between and all(number != rating for rating, _ in self.points):
            raise RatingError(f"rated {_shown(raw)}, and there is only {self.text}")
        return number

    def score(self, rating: float) -> float:
        """Return the score of a number on the scale: 0 to 1."""
        for (low, at_low), (high, at_high) in itertools.pairwise(self.points):
            if low <= rating <= high:
                if rating in (low, high):
                    return at_low if rating == low else at_high
                share = (rating - low) / (high - low)
                return min(1.0, max(0.0, at_low + share * (at_high - at_low)))
        return dict(self.points)[rating]

    def _number(self, raw: object) -> float:
        if isinstance(raw, bool):
            if not self.words and not self._is_zero_or_one:
                raise RatingError(f"rated {_shown(raw)}, which is not on the scale {self.text}")
            return float(raw)
        if isinstance(raw, int | float):
            return float(raw) if is_finite(raw) else math.inf
        if not isinstance(raw, str):
            raise RatingError("gave no single rating")
        return self._number_of_text(raw.strip())

    def _number_of_text(self, text: str) -> float:
        lowered = text.lower().strip(".!*_` ")
        if lowered in self.labels:
            return self.labels[lowered]
        if (self.words or self._is_zero_or_one) and lowered in _TRUE | _FALSE:
            return float(lowered in _TRUE)
        if fraction := _FRACTION.fullmatch(lowered):
            if float(fraction[2]) != self.points[-1][0]:
                raise RatingError(f"rated {text}, which is not on the scale {self.text}")
            return float(fraction[1])
        if _NUMBER.fullmatch(lowered):
            return float(lowered)
        raise RatingError(f"rated `{text[:60]}`, which is not on the scale {self.text}")

    @property
    def _is_zero_or_one(self) -> bool:
        return [rating for rating, _ in self.points] == [0.0, 1.0] and not self.between


def linear(low: float, high: float, at_low: float = 0.0, at_high: float = 1.0) -> Scale:
    """Return a scale on which equal steps of the rating are equal steps of the score.

    Raises ``ScaleError`` for bounds in the wrong order and scores outside of 0 to 1.
    """
    return scale_of({low: at_low, high: at_high}, between=True)


def scale_of(
    scores: Mapping[Raw, float], *, between: bool | None = None, labels: Mapping[str, Raw] | None = None
) -> Scale:
    """Return the scale of a table rating → score. Raises ``ScaleError``.

    Ratings may be numbers, also as strings, booleans, or words for them. By default, three numbers or more
    have values between them.
    """
    found: dict[float, float] = {}
    names: dict[str, float] = {}
    words = any(_truth(rating) is not None for rating in scores)
    for position, (rating, score) in enumerate(scores.items()):
        if not math.isfinite(score) or not 0 <= score <= 1:
            raise ScaleError(f"the rating {_shown(rating)} has the score {score:g}; scores are 0 to 1")
        number = _plain_number(rating)
        if number is None:
            # Levels without ratings are distinguished by their position.
            number = float(position)
            names[str(rating).strip().lower()] = number
        if number in found:
            raise ScaleError(f"the rating {_shown(rating)} is named twice")
        found[number] = score
    if len(found) < 2:
        raise ScaleError("a scale has two ratings or more")
    only_names = bool(names)
    if only_names and len(names) != len(found):
        raise ScaleError("a scale has either numbers or names as its ratings")
    for label, rating in (labels or {}).items():
        number = _plain_number(rating)
        if number is not None and number in found:
            names.setdefault(label.strip().lower(), number)
    if between is None:
        between = len(found) > 2
    return Scale(
        points=tuple(sorted(found.items())),
        between=between and not words and not only_names,
        words=words,
        labels=names,
    )


def scales_in(text: str) -> list[Scale]:
    """Return the distinct scales that a rubric in plain words mentions, in order.

    A scale starts at 0 or 1 and ends at 1, 3 or more: ``1-5``, ``from 1 to 10``, ``0–100``, ``1 or 0``.
    """
    found: dict[tuple[float, float], None] = {}
    for low, high in _ranges(text):
        found.setdefault((low, high), None)
    scales = [linear(low, high) for low, high in found if (low, high) != (0, 1)]
    if _EITHER.search(text):
        scales.append(scale_of({0: 0.0, 1: 1.0}))
    elif (0, 1) in found:
        scales.append(linear(0, 1))
    return scales


_RANGE = re.compile(
    r"(?<![\w.$–-])([01])(?:\.0)?\s*(?:-|–|—|to|through|\.\.\.?)\s*(\d{1,3})(?:\.0)?(?![\w%]|[.\d]\d|\s*(?:-|–)\s*\d)",
    re.ASCII | re.IGNORECASE,
)
_EITHER = re.compile(r"(?<![\w.])(?:0\s*(?:or|\|)\s*1|1\s*(?:or|\|)\s*0)(?![\w.]\d|\w)", re.IGNORECASE)
_RATING_WORDS = re.compile(r"\b(?:rat|scor|scale|grade|grading|point|assess|rank|level)", re.IGNORECASE)
_BRACKETS = {"(": ")", "<": ">", "[": "]", "{": "}"}
_ENDS = frozenset({1, 3, 4, 5, 6, 7, 8, 9, 10, 20, 50, 100})
_LINE_WORDS_REACH = 60


def _ranges(text: str) -> Iterator[tuple[float, float]]:
    """Yield the ranges of numbers that are scales: in brackets of their own, or near a word of rating."""
    for match in _RANGE.finditer(text):
        low, high = int(match[1]), int(match[2])
        if high not in _ENDS or low >= high:
            continue
        before, after = text[: match.start()].rstrip(), text[match.end() :].lstrip()
        bracketed = before[-1:] in _BRACKETS and after[:1] == _BRACKETS[before[-1:]]
        near = text[max(0, match.start() - _LINE_WORDS_REACH) : match.end() + 20]
        if bracketed or _RATING_WORDS.search(near):
            yield float(low), float(high)


def _plain_number(rating: Raw) -> float | None:
    truth = _truth(rating)
    if truth is not None:
        return float(truth)
    if isinstance(rating, int | float):
        return float(rating)
    return float(rating) if _NUMBER.fullmatch(rating.strip()) else None


def _truth(rating: object) -> bool | None:
    if isinstance(rating, bool):
        return rating
    if isinstance(rating, str) and rating.strip().lower() in _TRUE | _FALSE:
        return rating.strip().lower() in _TRUE
    return None


def _shown(raw: object) -> str:
    if isinstance(raw, bool):
        return "true" if raw else "false"
    return f"{raw:g}" if isinstance(raw, float) else str(raw)[:60]


def labels_of(levels: Sequence[tuple[Raw, str]]) -> dict[str, Raw]:
    """Return the ratings by their labels; an ambiguous label is left out."""
    found: dict[str, Raw] = {}
    twice: set[str] = set()
    for rating, label in levels:
        key = label.strip().lower()
        if key in found:
            twice.add(key)
        found[key] = rating
    return {label: rating for label, rating in found.items() if label and label not in twice}
