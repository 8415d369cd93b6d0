"""Texts of a suite inside a sentence."""

from __future__ import annotations

import json


def quoted(text: str) -> str:
    """Return a text in double quotes, on one line: where it begins and ends cannot be mistaken."""
    return json.dumps(text, ensure_ascii=False)
