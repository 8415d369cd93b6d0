"""Names that files can have on every system."""

from __future__ import annotations

import re

_FILE_NAME = re.compile(r"[\w][\w.+=@~ -]*(?<![. ])")
LONGEST = 200


def is_file_name(name: str) -> bool:
    """Return whether a word can be the name of a file, with an ending behind it."""
    return len(name) <= LONGEST and _FILE_NAME.fullmatch(name) is not None
