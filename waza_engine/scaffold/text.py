"""Names and values as they are written into new files."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Collection

_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9 /.,'()+_?!-]*[A-Za-z0-9.)?!]|[A-Za-z]{2,}")
_WORDS_WITH_A_MEANING = frozenset({"true", "false", "null", "yes", "no", "on", "off", "nan", "inf"})
_LONGEST_SLUG = 48


def scalar(text: str) -> str:
    """Return a string as a YAML value on one line: plain if that is safe, else in double quotes."""
    if _PLAIN.fullmatch(text) and text.lower() not in _WORDS_WITH_A_MEANING:
        return text
    return json.dumps(text, ensure_ascii=False)


def slug(text: str, fallback: str) -> str:
    """Return a string as a name for files and ids: lower-case ASCII letters, digits and single hyphens."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    hyphened = re.sub(r"[^a-z0-9]+", "-", plain).strip("-")
    if len(hyphened) > _LONGEST_SLUG:
        hyphened = hyphened[: _LONGEST_SLUG + 1].rpartition("-")[0] or hyphened[:_LONGEST_SLUG]
    return hyphened or fallback


def free_name(wanted: str, taken: Collection[str]) -> str:
    """Return a name that is not taken: the one wanted, or that with a number."""
    name, number = wanted, 1
    while name in taken:
        number += 1
        name = f"{wanted}_{number}"
    return name
