"""Texts of a suite inside a sentence."""

from __future__ import annotations

import json


def quoted(text: str) -> str:
    """Return a string in double quotes, on one line: its beginning and end are unambiguous."""
    return json.dumps(text, ensure_ascii=False)
