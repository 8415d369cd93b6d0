"""Which language a value is written in, by the kind that its schema states."""

from __future__ import annotations

from collections.abc import Mapping

from waza_language_server.embedded.language import Language
from waza_language_server.embedded.python.names import PythonAssertions

LANGUAGES: Mapping[str, Language] = {"python.assertion": PythonAssertions()}
LONGEST_VALUE = 10_000
"""Characters; a longer value is not looked into."""
