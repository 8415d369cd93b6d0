"""Reading files that are to be extended, and writing new ones: all of them, or none."""

from __future__ import annotations

import contextlib
import re
import unicodedata
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path

from waza_engine.boundary import boundary_of_named
from waza_engine.files import FileError, read_beginning, remove_file
from waza_engine.results.writing.store import ResultsError, write_atomically
from waza_engine.spec.reading.yaml_reader import read_text


class ScaffoldError(Exception):
    """The requested file cannot be created; the message is for the user.

    ``what`` is the sentence alone: an editor has no use for the option of the command line that helps.
    """

    def __init__(self, what: str, on_command_line: str = "") -> None:
        super().__init__(f"{what} {on_command_line}" if on_command_line else what)
        self.what = what


_LONGEST_SLUG = 48


def slug(text: str, fallback: str) -> str:
    """Return a string as a name for files and ids: lower-case ASCII letters, digits and single hyphens."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    hyphened = re.sub(r"[^a-z0-9]+", "-", plain).strip("-")
    if len(hyphened) > _LONGEST_SLUG:
        hyphened = hyphened[: _LONGEST_SLUG + 1].rpartition("-")[0] or hyphened[:_LONGEST_SLUG]
    return hyphened or fallback


def free_name(wanted: str, taken: Collection[str]) -> str:
    """Return a name that is not taken: the one wanted, or that with a number."""
    name, number = wanted, 1
    while name in taken:
        number += 1
        name = f"{wanted}_{number}"
    return name


_MARK = b"\xef\xbb\xbf"
_LOOKED_AT = 4096
"""The number of bytes that decide a file's line ends."""


def write_files(directory: Path, files: Mapping[str, str], *, force: bool) -> list[Path]:
    """Write files below a directory and return their paths.

    Raises ``ScaffoldError`` when one exists already and ``force`` is off, or cannot be written; files created
    until then are deleted again.
    """
    paths = [directory / name for name in files]
    taken = existing_files(paths) if force else []
    if not force:
        check_free(paths)
    made, within = list[Path](), boundary_of_named(directory)
    try:
        for path, text in zip(paths, files.values(), strict=True):
            write_atomically(path, text.encode("utf-8"), within=within)
            made.append(path)
    except ResultsError as error:
        for path in made:
            if path not in taken:
                with contextlib.suppress(OSError):
                    remove_file(path, within=within)
        raise _not_written(error) from None
    return paths


def check_free(paths: Iterable[Path]) -> None:
    """Raise ``ScaffoldError`` when a file is there already."""
    first, *others = existing_files(paths) or [None]
    if first is not None:
        names = f"{first} and {len(others)} more are" if others else f"{first} is"
        raise ScaffoldError(f"Nothing was written: {names} already there.", "Use --force to replace.")


def existing_files(paths: Iterable[Path]) -> list[Path]:
    """Return those of some paths at which something is."""
    return [path for path in paths if path.exists() or path.is_symlink()]


def as_beside(file: Path, text: str) -> str:
    """Return a string with the line ends of an existing file, to be written next to it."""
    try:
        is_crlf = b"\r\n" in read_beginning(file, _LOOKED_AT)
    except FileError:
        return text
    return text.replace("\r\n", "\n").replace("\n", "\r\n") if is_crlf else text


def write_content(path: Path, content: bytes) -> None:
    """Replace the content of a file. Raises ``ScaffoldError``; the old content is untouched then."""
    within = boundary_of_named(path.parent)
    try:
        # A link inside keeps leading to its file.
        write_atomically(Path(within.resolved(path)), content, within=within)
    except FileError as error:
        raise ScaffoldError(f"Nothing could be written to {path}: {error.why}.") from None
    except ResultsError as error:
        raise _not_written(error) from None


def mark_executable(path: Path) -> None:
    """Let those who may read a file run it. Raises ``ScaffoldError``."""
    try:
        mode = path.stat().st_mode
        path.chmod(mode | (mode & 0o444) >> 2)
    except OSError as error:
        raise ScaffoldError(f"{path} cannot be made executable: {error.strerror}.") from None


def original_text(path: Path) -> tuple[str, bytes]:
    """Return the text of a suite file and the byte order mark before it. Raises ``SuiteFileError``."""
    text = read_text(path)
    with contextlib.suppress(OSError):
        if read_beginning(path, len(_MARK)) == _MARK:
            return text, _MARK
    return text, b""


def restored(text: str, mark: bytes) -> bytes:
    """Return the bytes of a string that ``original_text`` has read."""
    return mark + text.encode("utf-8")


def _not_written(error: ResultsError) -> ScaffoldError:
    return ScaffoldError(str(error).replace("Results cannot be", "Nothing could be", 1))
