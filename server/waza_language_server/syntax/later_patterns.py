"""Lazy compilation of the YAML library's patterns, which its C parser does not need.

Compiling those of its Python scanner takes several milliseconds, a tenth of the time to the first problems.
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
    """Delay compiling the patterns of the YAML library's modules that are imported in this context."""
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
