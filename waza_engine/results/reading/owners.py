"""Find the suite of a recorded run: the eval file that the record names, or that file's new name.

If a record's eval file no longer exists it was renamed, perhaps while the run went on; then its runs belong
to the one file next to it that has the suite's name. Light.
"""

from __future__ import annotations

import re
from pathlib import Path

from waza_engine.boundary import suite_boundary
from waza_engine.files import FileError, is_named, read_beginning

_BEGINNING_BYTES = 16_000
_MOST_FILES = 100
_SUFFIXES = frozenset({".yaml", ".yml"})
_NAME = re.compile(r"^name:[ \t]+(\S.*?)[ \t]*(?:[ \t]#.*)?\r?$", re.MULTILINE)
_PARTS = re.compile(r"^(?:tasks|tasks_from|graders|config):", re.MULTILINE)


class Owner:
    """Decides which records belong to an eval file; lookups are cached."""

    def __init__(self, directory: Path, eval_file: str) -> None:
        self._directory = directory
        self._eval_file = eval_file
        self._gone: dict[str, bool] = {}
        self._by_name: dict[str, list[str]] | None = None

    def has(self, recorded: str, suite_name: str) -> bool:
        """Return whether a run is one of this eval file; ``recorded`` is the file that it names, "" if none.

        ``suite_name`` is the name of the suite that was run.
        """
        name = Path(recorded).name
        if name in ("", self._eval_file):
            return True
        if not suite_name or not self._is_gone(name):
            return False
        if self._by_name is None:
            self._by_name = _by_name(self._directory)
        return self._by_name.get(suite_name) == [self._eval_file]

    def _is_gone(self, name: str) -> bool:
        if name not in self._gone:
            self._gone[name] = not is_named(self._directory / name)
        return self._gone[name]


def name_now(directory: Path, recorded: str, suite_name: str) -> str:
    """Return the name that a renamed eval file has now, "" where that is not known."""
    known = _by_name(directory).get(suite_name, []) if suite_name else []
    return known[0] if len(known) == 1 and Owner(directory, known[0]).has(recorded, suite_name) else ""


def _by_name(directory: Path) -> dict[str, list[str]]:
    """Return the names of the eval files of a directory by the names of their suites."""
    found: dict[str, list[str]] = {}
    try:
        files = sorted(path for path in directory.iterdir() if path.suffix in _SUFFIXES)
    except OSError:
        return {}
    for path in files[:_MOST_FILES]:
        try:
            text = read_beginning(path, _BEGINNING_BYTES, within=suite_boundary(directory)).decode(
                "utf-8", "replace"
            )
        except (FileError, OSError):
            continue
        name = _NAME.search(text)
        if name is not None and _PARTS.search(text):
            found.setdefault(_unquoted(name[1]), []).append(path.name)
    return found


def _unquoted(written: str) -> str:
    """Return the value of a scalar on one line; one with escapes stays as it is written."""
    quote = written[:1]
    if quote in ("'", '"') and written[-1:] == quote and len(written) > 1:
        return written[1:-1].replace("''", "'") if quote == "'" else written[1:-1]
    return written
