"""Numbers of JSON that cannot be read: one decision for a run and an editor. Light."""

from __future__ import annotations

import math
import sys


def unreadable_number(text: str) -> str:
    """Return why a number of JSON is refused, as a sentence without its first capital and full stop; or "".

    A number too large for a float becomes infinity, which cannot be written as JSON. Python limits the
    digits of integers, because reading them takes quadratic time.
    """
    digits = len(text.removeprefix("-"))
    if not text.removeprefix("-").isdecimal():
        is_too_large = math.isinf(float(text))
        return (
            "the number is too large; write a smaller one, or put it in double quotes" if is_too_large else ""
        )
    most = sys.get_int_max_str_digits()
    if not 0 < most < digits:
        return ""
    return f"the number has {digits:,} digits, at most {most:,} can be read; put it in double quotes"
