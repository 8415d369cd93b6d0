"""Scores over time as a few characters. Light."""

from __future__ import annotations

from collections.abc import Sequence

BARS = "▁▂▃▄▅▆▇█"
_NO_SCORE = "·"


def sparkline(scores: Sequence[float | None]) -> str:
    """Return a bar for each score from 0 to 1, a dot where there is none."""
    return "".join(
        _NO_SCORE if score is None else BARS[min(len(BARS) - 1, max(0, int(score * len(BARS))))]
        for score in scores
    )
