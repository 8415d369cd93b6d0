"""Times as upstream's users write them in the environment: ``1m30s``, ``500ms``, or whole seconds."""

from __future__ import annotations

import re

_UNIT_SECONDS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "μs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}
_PART = re.compile(r"(\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h)", re.ASCII)
_DURATION = re.compile(rf"\+?(?:{_PART.pattern})+", re.ASCII)
_LONGEST_SECONDS = 7 * 24 * 3600.0


def seconds_of(written: str) -> float | None:
    """Return the seconds of a duration of Go or of a whole number; None for zero, less, and anything else.

    A week is the longest; no judge takes that long.
    """
    text = written.strip()
    if re.fullmatch(r"\+?[0-9]+", text):
        seconds = float(text)
    elif _DURATION.fullmatch(text):
        seconds = sum(float(number) * _UNIT_SECONDS[unit] for number, unit in _PART.findall(text))
    else:
        return None
    return min(seconds, _LONGEST_SECONDS) if seconds > 0 else None
