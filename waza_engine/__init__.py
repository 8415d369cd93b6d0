"""The engine of waza evaluation suites: models, graders, executors, runs, scores and results.

The Python API is ``waza_engine.api``; its names can be imported from here.

Architecture invariant: nothing here imports ``pygls``, ``lsprotocol`` or ``waza_language_server``, and
importing this package itself loads nothing heavy.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from waza_engine.version import __version__ as __version__

if TYPE_CHECKING:
    from waza_engine.api import (
        Finding,
        Result,
        ResultsError,
        Suite,
        SuiteError,
        SuiteFileError,
        check,
        grade,
        load_suite,
        run,
    )

__all__ = [
    "Finding",
    "Result",
    "ResultsError",
    "Suite",
    "SuiteError",
    "SuiteFileError",
    "check",
    "grade",
    "load_suite",
    "run",
]


def __getattr__(name: str) -> object:
    """Load the API with the first name that is used of it."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module("waza_engine.api"), name)
