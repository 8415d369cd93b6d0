"""Skills that an agent uses by reading their files, as agents do that have no tool for skills."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, cast

_WRITING = re.compile(r"write|edit|create|patch|replace|delete|remove", re.IGNORECASE)
_TOLD = re.compile(r"output|result", re.IGNORECASE)
"""Arguments in which some agents report the tool's result."""


def skills_read(tool: str, arguments: Mapping[str, Any], directory: str) -> Iterator[str]:
    """Yield the folders of skills whose ``SKILL.md`` a tool call reads, by its path or in a shell command."""
    if directory and not _WRITING.search(tool):
        given = {key: value for key, value in arguments.items() if not _TOLD.search(key)}
        for text in _texts(given):
            for found in _pattern(directory).finditer(text):
                yield found["read"] or found["entered"]


@lru_cache(maxsize=8)
def _pattern(directory: str) -> re.Pattern[str]:
    folder = r"[\\/]+".join(map(re.escape, re.split(r"[\\/]+", directory.strip("\\/"))))
    name = r"[^\\/\s'\"*?]+"
    path = rf"{folder}[\\/]+(?P<read>{name})[\\/]+SKILL\.md\b"
    # Into the folder first: `cd .agent/skills/writer && cat SKILL.md`.
    into = rf"\b(?:cd|pushd|Set-Location)\s[^;&|\n]*{folder}[\\/]+(?P<entered>{name})[\\/'\"\s;&|]"
    return re.compile(rf"{path}|{into}[^\n]*?(?<![\\/])\bSKILL\.md\b", re.IGNORECASE)


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for each in cast("Mapping[str, object]", value).values():
            yield from _texts(each)
    elif isinstance(value, list):
        parts = cast("list[object]", value)
        # A command may be a list of words.
        if parts and all(isinstance(part, str) for part in parts):
            yield " ".join(cast("list[str]", parts))
        else:
            for part in parts:
                yield from _texts(part)
