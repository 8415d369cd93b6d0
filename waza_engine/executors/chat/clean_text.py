"""Texts of models without lone surrogates: half characters, which no server and no file takes."""

from __future__ import annotations

import json


def clean(text: str) -> str:
    """Return the string with ``?`` in place of each lone surrogate."""
    return text.encode("utf-8", "replace").decode("utf-8")


def clean_escapes(document: str) -> str:
    """Return JSON text without escapes of lone surrogates.

    Raises ``ValueError`` or ``RecursionError`` when it is not JSON and there are such escapes.
    """
    if "\\ud" not in document.lower():
        return clean(document)
    return clean(json.dumps(json.loads(document), ensure_ascii=False))
