"""The embedded languages by name. A new one needs a package here, a row, and a kind in the schemas.

Architecture invariant: a language is imported when it is first used; most files have few of them.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from waza_language_server.embedded.language import Language

LANGUAGES = {
    "python.assertion": "python.assertions.PythonAssertions",
    "javascript.assertion": "javascript.assertions.JavaScriptAssertions",
    "regex": "regex.patterns.Patterns",
    "task.glob": "glob.task_glob_features.Globs",
}
"""The module and class of each language, by the kind of a value, as in schemas."""
LONGEST_VALUE = 10_000
"""In characters; a longer value is not parsed."""


@cache
def load_language(kind: str) -> Language:
    """Return the language of a kind of values, which is one of ``LANGUAGES``."""
    module, _, name = LANGUAGES[kind].rpartition(".")
    return getattr(import_module(f"waza_language_server.embedded.{module}"), name)()
