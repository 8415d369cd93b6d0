"""Import of the rules: with the first problems, or before them when there is time."""

from __future__ import annotations

import sys
from importlib import import_module
from pkgutil import walk_packages

from waza_engine.checkpoint import checkpoint

_PACKAGE = __package__
_ROOMS = ("schema_rules", "value_rules", "file_rules", "suite_rules")
_LAST = f"{_PACKAGE}.diagnose"
"""This module imports all others."""


def load_rules() -> None:
    """Import the rules, a module at a time."""
    if _LAST in sys.modules:
        return
    for room in _ROOMS:
        package = import_module(f"{_PACKAGE}.{room}")
        checkpoint()
        for module in walk_packages(package.__path__, f"{package.__name__}."):
            import_module(module.name)
            checkpoint()
    import_module(_LAST)
    checkpoint()
