"""Damaged byte code on the disk never prevents a start: it is compiled again.

Python writes byte code next to each module. On a full disk some versions leave a truncated file, and from
then on no import of that module succeeds, even when there is room again. Once this module is imported, its
process ignores damaged byte code, and leaves none behind.

Architecture invariant: imported before everything else, and imports only modules that are always loaded.
"""

from __future__ import annotations

import os
from _frozen_importlib_external import SourceFileLoader, cache_from_source

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType

_get_code = SourceFileLoader.get_code
_set_data = SourceFileLoader.set_data


def _code(self: SourceFileLoader, fullname: str) -> CodeType | None:
    try:
        return _get_code(self, fullname)
    except (EOFError, ValueError, TypeError, ImportError):
        source = self.get_filename(fullname)
        if _remove(cache_from_source(source)):
            return _get_code(self, fullname)
        return self.source_to_code(self.get_data(source), source)


def _write(self: SourceFileLoader, path: str, data: bytes, *, _mode: int = 0o666) -> None:
    _set_data(self, path, data, _mode=_mode)
    try:
        complete = os.stat(path).st_size == len(data)  # noqa: PTH116 - pathlib is not loaded yet
    except OSError:
        return
    if not complete:
        _remove(path)


def _remove(path: str) -> bool:
    """Delete a file; return whether there was one."""
    try:
        os.unlink(path)  # noqa: PTH108
    except OSError:
        return False
    return True


SourceFileLoader.get_code = _code
SourceFileLoader.set_data = _write  # pyright: ignore[reportAttributeAccessIssue] - it writes no other buffers
