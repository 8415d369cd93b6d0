"""Patterns as Python's own parser reads them."""

from __future__ import annotations

import importlib
import re
import warnings
from typing import Any, cast

_PARSER = cast("Any", importlib.import_module("re._parser"))
SRE = cast("Any", importlib.import_module("re._constants"))
"""The constants of that parser: the kinds of parts of a pattern."""


def parsed_pattern(pattern: str) -> Any:
    """Return what Python's own parser makes of a pattern, None if it is invalid."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return _PARSER.parse(pattern)
    except (re.error, ValueError, RecursionError, OverflowError):
        return None
