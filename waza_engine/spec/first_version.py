"""Graders in Python that were written for the first version, whose package is not here."""

from __future__ import annotations

import re

_NO_FIRST_VERSION = re.compile(r"No module named 'waza(?:\.[\w.]+)?'")
_FIRST_VERSION = (
    "`waza.graders` is the first version's package, which is not here: "
    "import `Grader`, `GradingContext` and `Verdict` from `waza_engine.graders.base`, "
    "`register` from `waza_engine.graders.registry` (docs/custom-graders.md)"
)


def first_version_words(said: str) -> str:
    """Return a replacement where Python misses the package of the first version, "" elsewhere."""
    return _FIRST_VERSION if _NO_FIRST_VERSION.search(said) else ""
