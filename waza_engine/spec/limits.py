"""The largest numbers that a run accepts, from a suite, a command line or an editor.

Architecture invariant: light, since the table of run settings and the models of suite files use it.
"""

from __future__ import annotations

MOST_TRIALS = 1_000
MOST_WORKERS = 256
MOST_ATTEMPTS = 100
LONGEST_SECONDS = 604_800
"""A week: the longest time limit. Clocks and timers of some platforms take no more than 49 days."""
LONGEST_MILLISECONDS = LONGEST_SECONDS * 1_000
