"""The validation library, loaded without a module that it only needs for its own build date.

It parses that date with ``email.utils`` on import, and loading the standard library's ``email`` takes twice
as long as all the rest of it: a tenth of the time until a small file has its problems.
"""

from __future__ import annotations

import sys
from collections.abc import Generator
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from threading import RLock
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jsonschema_rs import Draft202012Validator

_DATES = "email.utils"
_loading = RLock()


@cache
def validator_class() -> type[Draft202012Validator]:
    """Return the class of the validator, for draft 2020-12; the first call imports the library."""
    with _loading, _dates_as_written():
        from jsonschema_rs import Draft202012Validator

    return Draft202012Validator


class _DatesAsWritten(ModuleType):
    """Replaces ``email.utils``; any use beyond the date of a build loads the real one."""

    @staticmethod
    def parsedate_to_datetime(date: str) -> str:
        return date

    def __getattr__(self, name: str) -> Any:
        if sys.modules.get(_DATES) is self:
            del sys.modules[_DATES]
        return getattr(import_module(_DATES), name)


@contextmanager
def _dates_as_written() -> Generator[None]:
    if _DATES in sys.modules:
        yield
        return
    standing = _DatesAsWritten(_DATES)
    sys.modules[_DATES] = standing
    try:
        yield
    finally:
        if sys.modules.get(_DATES) is standing:
            del sys.modules[_DATES]
