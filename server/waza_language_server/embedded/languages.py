"""The languages, each under its name: a new one is a room here, a row, and a kind that schemas state."""

from __future__ import annotations

from collections.abc import Mapping

from waza_language_server.embedded.glob.globs import Globs
from waza_language_server.embedded.javascript.assertions import JavaScriptAssertions
from waza_language_server.embedded.language import Language
from waza_language_server.embedded.python.assertions import PythonAssertions
from waza_language_server.embedded.regex.patterns import Patterns

LANGUAGES: Mapping[str, Language] = {
    "python.assertion": PythonAssertions(),
    "javascript.assertion": JavaScriptAssertions(),
    "regex": Patterns(),
    "task.glob": Globs(),
}
"""By the kind of a value, as schemas state it."""
LONGEST_VALUE = 10_000
"""Characters; a longer value is not looked into."""
