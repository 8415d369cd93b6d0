"""Names that files can have on every system."""

from __future__ import annotations

from waza_engine.later_patterns import compiled_later

_FILE_NAME = compiled_later(r"[\w][\w.+=@~ -]*(?<![. ])")
_DEVICE = compiled_later(r"(?i)(?:con|prn|aux|nul|com\d|lpt\d)(?:\..*)?")
"""Device names of Windows, with any extension."""
LONGEST = 200
"""In bytes; file systems allow 255 of them."""


def is_file_name(name: str) -> bool:
    """Return whether a word can be the name of a file, with an extension added."""
    is_short = len(name.encode(errors="replace")) <= LONGEST
    return is_short and _FILE_NAME.fullmatch(name) is not None and _DEVICE.fullmatch(name) is None
