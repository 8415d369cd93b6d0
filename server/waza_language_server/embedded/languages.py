"""The embedded languages by name. A new one needs a package here, a row, and a kind in the schemas.

Architecture invariant: a language is imported when it is first used; most files have few of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from waza_language_server.embedded.language import Language

_ROOMS = {
    "python.assertion": "python.assertions.PythonAssertions",
    "javascript.assertion": "javascript.assertions.JavaScriptAssertions",
    "regex": "regex.patterns.Patterns",
    "task.glob": "glob.globs.Globs",
}
"""The module and class of each language, by the kind of a value, as in schemas."""
LONGEST_VALUE = 10_000
"""In characters; a longer value is not parsed."""


class _Languages(Mapping[str, "Language"]):
    def __init__(self) -> None:
        self._loaded: dict[str, Language] = {}

    def __getitem__(self, kind: str) -> Language:
        language = self._loaded.get(kind)
        if language is None:
            module, _, name = _ROOMS[kind].rpartition(".")
            language = getattr(import_module(f"waza_language_server.embedded.{module}"), name)()
            self._loaded[kind] = language
        return language

    def __contains__(self, kind: object) -> bool:
        return kind in _ROOMS

    def __iter__(self) -> Iterator[str]:
        return iter(_ROOMS)

    def __len__(self) -> int:
        return len(_ROOMS)


LANGUAGES: Mapping[str, Language] = _Languages()
"""By the kind of a value, as in schemas."""
