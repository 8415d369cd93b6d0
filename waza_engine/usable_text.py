"""Reject unusable strings of requests: with a NUL character, or with half of a surrogate pair.

No file system, environment or UTF-8 file accepts them, so they would end as an error of a library somewhere.

Architecture invariant: light. The engine checks every request, the language server its own ones.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping
from typing import cast

from waza_engine.later_patterns import compiled_later

_NUL = "\0"
_HALF = compiled_later("[\ud800-\udfff]")
# Python represents the bytes of a non-UTF-8 path like this, and a client sends them back as they came.
_HALF_IN_PATH = compiled_later("[\ud800-\udc7f\udd00-\udfff]")
_PATH = compiled_later(r"/|~|file:|[A-Za-z]:[/\\]|\\\\")


def why_unusable(value: object, contents: Container[str] = ()) -> str | None:
    """Return a sentence about the first unusable string of a JSON value, None without one.

    Strings below the keys in ``contents`` are contents of files, which may hold anything; keys there may not.
    """
    for key, text in _strings(value, contents):
        if _NUL in text:
            return f"{_place(key)} contains a NUL character; leave it out."
        if (_HALF_IN_PATH if _PATH.match(text) else _HALF).search(text):
            return f"{_place(key)} contains half of a surrogate pair, which is no character; leave it out."
    return None


def _strings(value: object, contents: Container[str]) -> Iterator[tuple[str, str]]:
    """Yield every string with the nearest key above it; without recursion, since requests may be nested."""
    rest: list[tuple[str, object]] = [("", value)]
    while rest:
        key, found = rest.pop()
        if isinstance(found, str):
            yield key, found
        elif isinstance(found, list):
            rest += ((key, item) for item in cast("list[object]", found))
        elif isinstance(found, Mapping):
            for name, item in cast("Mapping[str, object]", found).items():
                yield key, name
                if key not in contents:
                    rest.append((name, item))


def _place(key: str) -> str:
    return f"`{key:.100}`" if key else "The request"
