"""The largest numbers that a run accepts, from a suite, a command line or an editor.

Architecture invariant: light, since the table of run settings and the models of suite files use it.
"""

from __future__ import annotations

import re

MOST_TRIALS = 1_000
MOST_WORKERS = 256
MOST_ATTEMPTS = 100
MOST_SHARDS = 1_000
LONGEST_SECONDS = 604_800
"""A week: the longest time limit. Clocks and timers of some platforms take no more than 49 days."""
MILLISECONDS = 1_000
"""In a second."""
LONGEST_MILLISECONDS = LONGEST_SECONDS * MILLISECONDS


_NO_FIRST_VERSION = re.compile(r"No module named 'waza(?:\.[\w.]+)?'")
_FIRST_VERSION = (
    "`waza.graders` is the first version's package, which is not here: "
    "import `Grader`, `GradingContext` and `Verdict` from `waza_engine.graders.base`, "
    "`register` from `waza_engine.graders.registry` (docs/custom-graders.md)"
)


def first_version_advice(output: str) -> str:
    """Return a replacement where Python misses the package of the first version, "" elsewhere."""
    return _FIRST_VERSION if _NO_FIRST_VERSION.search(output) else ""
