"""Regular expressions of graders: upstream's dialect first, and no pattern can hang a run.

RE2 runs in linear time and is the dialect of upstream. What it refuses but Python accepts (look-around,
back-references) runs in ``regex`` with a deadline. What neither accepts is invalid.
"""

from __future__ import annotations

import functools
import importlib
import re
import warnings
from typing import Any, Protocol, cast

import regex

TIMEOUT_SECONDS = 2.0
_MEMORY_BYTES = 64_000_000
# Any byte, which only the C++ edition of RE2 knows.
_ANY_BYTE = re.compile(r"(?<!\\)(?:\\\\)*\\C")
_LITERAL_TEXT = re.compile(r"\\Q.*?(?:\\E|\Z)", re.DOTALL)
_re2: Any = importlib.import_module("re2")  # it has no types


class PatternError(ValueError):
    """The pattern is invalid or took too long; the text says which, in one sentence."""


class _Compiled(Protocol):
    def search(self, text: str) -> object: ...


def found(pattern: str, text: str, *, ignore_case: bool = False) -> bool:
    """Tell whether the pattern occurs anywhere in the text. Raises ``PatternError``."""
    compiled = compiled_pattern(pattern, ignore_case=ignore_case)
    try:
        return compiled.search(text) is not None
    except UnicodeEncodeError:
        # RE2 needs UTF-8, which has no form for half an emoji in an agent's output.
        return compiled.search(text.encode("utf-8", "replace").decode("utf-8")) is not None


@functools.lru_cache(maxsize=4096)
def compiled_pattern(pattern: str, *, ignore_case: bool = False) -> _Compiled:
    """Return the compiled pattern. Raises ``PatternError`` when it is invalid in both dialects."""
    compiled = _portable(pattern, ignore_case=ignore_case)
    return _BoundedPattern(pattern, ignore_case) if compiled is None else compiled


def _portable(pattern: str, *, ignore_case: bool) -> _Compiled | None:
    """Return the pattern compiled by RE2; None when it, or upstream's edition of it, refuses the pattern."""
    if _ANY_BYTE.search(_LITERAL_TEXT.sub("", pattern)):
        return None
    try:
        return cast("_Compiled", _re2.compile(pattern, _options(ignore_case)))
    except (_re2.error, UnicodeEncodeError):
        return None


class _BoundedPattern:
    def __init__(self, pattern: str, ignore_case: bool) -> None:
        flags = re.IGNORECASE if ignore_case else 0
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                re.compile(pattern, flags)
                self._compiled: Any = regex.compile(pattern, regex.IGNORECASE if ignore_case else 0)
        except (re.error, regex.error, RecursionError, OverflowError) as error:
            raise PatternError(f"invalid pattern `{_shortened(pattern)}`: {error}") from None
        self._pattern = pattern

    def search(self, text: str) -> object:
        try:
            return self._compiled.search(text, timeout=TIMEOUT_SECONDS, concurrent=True)
        except TimeoutError:
            raise PatternError(
                f"pattern `{_shortened(self._pattern)}` took longer than {TIMEOUT_SECONDS:g} seconds"
            ) from None


def _options(ignore_case: bool) -> Any:
    options = _re2.Options()
    options.log_errors = False
    options.max_mem = _MEMORY_BYTES
    options.case_sensitive = not ignore_case
    return options


def _shortened(pattern: str) -> str:
    return pattern if len(pattern) <= 200 else pattern[:200] + "…"
