"""Patterns of the YAML library that nobody asks for are not compiled: its C parser does without them.

What its readers in Python look for takes several milliseconds to compile, a tenth of the way to the first
problems.
"""

from __future__ import annotations

import re
from collections.abc import Generator
from contextlib import contextmanager
from inspect import currentframe
from typing import Any

from waza_engine.later_patterns import compiled_later

_LIBRARY = "yaml."


@contextmanager
def patterns_compiled_later() -> Generator[None]:
    """While this lasts, modules of the YAML library that are imported get patterns that wait for a use."""
    compile_now: Any = re.compile

    def compile_later(pattern: Any, flags: Any = 0) -> Any:
        frame = currentframe()
        asking = frame.f_back if frame is not None else None
        if asking is not None and str(asking.f_globals.get("__name__")).startswith(_LIBRARY):
            return compiled_later(pattern, flags)
        return compile_now(pattern, flags)

    library: Any = re
    library.compile = compile_later
    try:
        yield
    finally:
        library.compile = compile_now
