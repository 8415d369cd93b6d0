"""Long strings of a result file: each is stored once, in a file next to it that is named by its content.

The result file holds a mark instead of the string. The folder has the name of the result file, so that it is
moved along with it; a mark without its file stays as it is, a string.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast

from waza_engine.boundary import Boundary
from waza_engine.files import read_text
from waza_engine.results.result_file_names import JOURNAL_SUFFIX, boundary_beside
from waza_engine.results.stored_lists import StoredList

LONGEST_INLINE = 256 * 1024
"""The length in characters of the longest string that is stored in a result file itself."""

LONGEST_BYTES = 256 * 1024 * 1024
"""Longer files are not attachments."""

_MOST_LEVELS = 100
"""Values that an agent has nested deeper are left as they are."""
_MARK = re.compile(r"attachment:sha256:([0-9a-f]{64}) \(\d+ characters\)")
_PLAIN = frozenset({int, float, bool, type(None)})
_ValueT = TypeVar("_ValueT")


def attachment_directory(results: Path) -> Path:
    """Return the directory of the long strings of a result file, or of a journal."""
    return results.with_name(results.name.removesuffix(JOURNAL_SUFFIX).removesuffix(".json") + ".attachments")


def mark_of(text: str) -> tuple[str, str]:
    """Return the file name of a string, and the mark that replaces it."""
    digest = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
    return f"{digest}.txt", f"attachment:sha256:{digest} ({len(text)} characters)"


def without_long_texts(value: _ValueT, keep: Callable[[str], str]) -> _ValueT:
    """Return a value of dataclasses, mappings and sequences, its long strings replaced by ``keep``.

    A value without long strings is returned itself. A string that is itself a mark, as an agent may answer,
    is replaced, too: it would be read as another string.
    """

    def kept(text: str) -> str:
        return keep(text) if len(text) > LONGEST_INLINE or _MARK.fullmatch(text) else text

    return cast("_ValueT", _changed(value, kept))


def with_attachments(document: _ValueT, results: Path) -> _ValueT:
    """Return the content of a result file with its long strings; each file is read once."""
    directory = attachment_directory(results)
    within = boundary_beside(results)
    if not (within.holds(directory) and directory.is_dir()):
        return document
    read: dict[str, str] = {}

    def text_of(text: str) -> str:
        found = _MARK.fullmatch(text) if text.startswith("attachment:") else None
        if found is None:
            return text
        if text not in read:
            read[text] = _content(directory / f"{found[1]}.txt", text, within)
        return read[text]

    return cast("_ValueT", _changed(document, text_of))


@cache
def _names_of(kind: type) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind) if field.init)


def _content(place: Path, mark: str, within: Boundary) -> str:
    """Return the string of a mark, or the mark if its file is missing or has another content."""
    try:
        text = read_text(place, LONGEST_BYTES, within=within)
    except OSError:
        return mark
    return text if mark_of(text)[1] == mark else mark


def _changed(value: Any, change: Callable[[str], str], depth: int = 0) -> Any:
    if depth > _MOST_LEVELS:
        return value
    if isinstance(value, str):
        return change(value)
    if value.__class__ in _PLAIN:
        return value
    if isinstance(value, Mapping):
        block = cast("Mapping[Any, Any]", value)
        items = {key: _changed(item, change, depth + 1) for key, item in block.items()}
        return items if any(items[key] is not item for key, item in block.items()) else block
    if isinstance(value, list | tuple):
        listed = cast("list[Any] | tuple[Any, ...]", value)
        found = [_changed(item, change, depth + 1) for item in listed]
        if all(new is old for new, old in zip(found, listed, strict=True)):
            return listed
        return found if isinstance(listed, list) else tuple(found)
    if isinstance(value, StoredList):
        stored = cast("StoredList[Any]", value)
        return stored.changed(lambda item: _changed(item, change, depth + 1))
    if is_dataclass(value) and not isinstance(value, type):
        old = {name: getattr(value, name) for name in _names_of(value.__class__)}
        new = {name: _changed(item, change, depth + 1) for name, item in old.items()}
        changes = {name: item for name, item in new.items() if item is not old[name]}
        return replace(value, **changes) if changes else value
    return value
