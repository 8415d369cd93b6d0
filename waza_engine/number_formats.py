"""Format numbers for people: rounding never reaches a limit that the number does not. Light."""

from __future__ import annotations

import math
from collections.abc import Sequence

ROUNDING = 1e-9
"""The rounding error allowed in a mean: three scores of 0.7 have one of 0.6999999999999998."""
_MOST_DIGITS = 9
_NO_SCORE = 1e6
"""Larger numbers are not scores, and would be a line of digits."""


def is_finite(value: float) -> bool:
    """Return whether a number is finite; a whole one may have more digits than a float."""
    try:
        return math.isfinite(value)
    except OverflowError:
        return False


def reaches(value: float, threshold: float) -> bool:
    """Return whether a number is not below a threshold."""
    return value >= threshold - ROUNDING * min(1, abs(threshold))


def format_score(score: float, digits: int = 2) -> str:
    """Return a score of 0 to 1 with some digits; only a full one reads as ``1.00``."""
    if abs(score) >= _NO_SCORE:
        return f"{score:.{digits}g}"
    full = score >= 1 - ROUNDING or float(f"{score:.{digits}f}") < 1
    return f"{score if full else math.floor(score * 10**digits) / 10**digits:.{digits}f}"


def format_scores(score: float, plain: float, digits: int = 2) -> str:
    """Return a score, followed by the mean without weights if it is displayed differently."""
    weighted, unweighted = format_score(score, digits), format_score(plain, digits)
    return weighted if weighted == unweighted else f"{weighted} (plain mean {unweighted})"


def format_score_history(scores: Sequence[float | None], most: int) -> str:
    """Return the last of some scores, the oldest first: ``0.50 → – → 1.00``, a dash for a missing one."""
    last = ["–" if score is None else format_score(score) for score in scores[-most:]]
    return ("… " if len(scores) > most else "") + " → ".join(last)


def format_share(share: float, digits: int = 0) -> str:
    """Return a share of 0 to 1 in percent; only all of something reads as ``100%``."""
    return f"{format_percent(share, digits)}%"


def format_percent(share: float, digits: int = 0) -> str:
    """Return the same without the percent sign."""
    percent = share * 100
    full = share >= 1 - ROUNDING or float(f"{percent:.{digits}f}") < 100
    return f"{percent if full else math.floor(percent * 10**digits) / 10**digits:.{digits}f}"


def format_below(value: float, threshold: float) -> tuple[str, str]:
    """Return a value and the threshold that it misses, the value with so many digits that it is below.

    Two digits at least: ``0.50`` and ``0.9``, but ``0.896`` and ``0.9``.
    """
    for digits in range(2, _MOST_DIGITS):
        if float(text := f"{value:.{digits}f}") < threshold:
            return text, f"{threshold:g}"
    return repr(value), repr(threshold)


def format_above(value: float, limit: float) -> tuple[str, str]:
    """Return a value and the limit that it passes, both with so many digits, two at least, that it does."""
    for digits in range(2, _MOST_DIGITS):
        texts = f"{value:.{digits}f}", f"{limit:.{digits}f}"
        if float(texts[0]) > float(texts[1]):
            return texts
    return repr(value), repr(limit)


def format_threshold(threshold: float) -> str:
    """Return a threshold with two digits, or with those that it has."""
    return text if float(text := f"{threshold:.2f}") == threshold else f"{threshold:g}"
