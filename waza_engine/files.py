"""The one way to read a file: it ends, whatever lies at the path, and says in words why there is no content.

A repository can hold anything under any name: a pipe that nobody writes to, a link to a device or to a
descriptor of this very process, a file without end. Nothing here waits for any of them: only regular files
are read, never more of them than a limit, and a link may be kept from leading out of a folder.

Architecture invariant: light (the language server imports it): the standard library alone, and little of it.
"""

from __future__ import annotations

import codecs
import errno
import os
import stat
from io import BufferedReader, FileIO
from pathlib import Path
from typing import Literal

from waza_engine.frozen import frozen

Kind = Literal[
    "missing",
    "directory",
    "special",
    "too large",
    "permission",
    "outside",
    "unreadable",
    "not UTF-8",
    "binary",
]
"""Why a file has no content for us; ``special`` is a pipe, a socket or a device."""

_CHUNK_BYTES = 1024 * 1024
# ``O_NONBLOCK``: a pipe opens at once and a file of the kernel that has nothing to say yet does not wait.
# ``O_NOCTTY``: a terminal does not become ours.
_FLAGS = (
    getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_CLOEXEC", getattr(os, "O_NOINHERIT", 0))
    | getattr(os, "O_NOCTTY", 0)
    | getattr(os, "O_BINARY", 0)
)
_SPECIAL = (
    (stat.S_ISFIFO, "pipe"),
    (stat.S_ISSOCK, "socket"),
    (stat.S_ISCHR, "device"),
    (stat.S_ISBLK, "device"),
)


class FileError(OSError):
    """A file without content for us. ``why`` is one clause for a person, which fits after a colon.

    ``line`` counts from 1 where the content is at fault, and is 0 otherwise.
    """

    def __init__(self, kind: Kind, why: str, number: int = errno.EINVAL, *, line: int = 0) -> None:
        super().__init__(number, why)
        self.kind: Kind = kind
        self.why = why
        self.line = line

    def __str__(self) -> str:
        return self.why


@frozen()
class Boundary:
    """The folders that links must not lead out of, resolved; ``name`` is what a person calls them."""

    folders: tuple[str, ...]
    name: str

    @classmethod
    def around(cls, *folders: Path, name: str) -> Boundary:
        """Return the boundary around folders, which may be reached through links themselves.

        A path that no folder can have holds nothing.
        """
        possible = [folder for folder in folders if "\0" not in str(folder)]
        return cls(tuple(dict.fromkeys(os.path.realpath(folder) for folder in possible)), name)

    def holds(self, path: Path) -> bool:
        """Whether a path lies in one of the folders once all links in it are followed."""
        try:
            return self._holds(os.path.realpath(path))
        except (OSError, ValueError):
            return False

    def _holds(self, resolved: str) -> bool:
        return any(
            resolved == folder or resolved.startswith(folder if folder.endswith(os.sep) else folder + os.sep)
            for folder in self.folders
        )

    def resolved(self, path: Path) -> str:
        """Return the path with all links followed. Raises ``FileError`` when it leads out."""
        try:
            place = os.path.realpath(path)
        except (OSError, ValueError):
            raise FileError("missing", "no file can have this name", errno.ENOENT) from None
        if not self._holds(place):
            raise FileError("outside", f"a link leads out of {self.name}", errno.EACCES)
        return place


def read_bytes(path: Path, limit: int, *, within: Boundary | None = None) -> bytes:
    """Return the content of a regular file of at most ``limit`` bytes. Raises ``FileError``.

    With ``within`` links are followed no further than its folders.
    """
    descriptor, status = _opened(path, os.O_RDONLY, within)
    try:
        # What the file system says of the size is no more than a guess: files of the kernel say 0.
        data = b"" if status.st_size > limit else _read(descriptor, status.st_size, limit + 1)
    except OSError as error:
        raise _fault(path, error) from None
    finally:
        os.close(descriptor)
    if status.st_size > limit:
        raise _too_large(limit)
    return checked_size(data, limit)


def checked_size(content: bytes, limit: int) -> bytes:
    """Return content of at most ``limit`` bytes as it is. Raises ``FileError`` for more."""
    if len(content) > limit:
        raise _too_large(limit)
    return content


def read_text(path: Path, limit: int, *, within: Boundary | None = None) -> str:
    """Return the text of a UTF-8 file without its byte order mark, else as ``read_bytes``."""
    return text_of(read_bytes(path, limit, within=within)).removeprefix("\ufeff")


def text_of(content: bytes) -> str:
    """Return the text that the content of a file is. Raises ``FileError``."""
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise FileError("not UTF-8", "the file is not UTF-8 text", line=line) from None
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise FileError("binary", "the file is binary, not text", line=line)
    return text


def read_beginning(path: Path, count: int) -> bytes:
    """Return the first ``count`` bytes of a regular file, or all that there are. Raises ``FileError``."""
    descriptor, status = _opened(path, os.O_RDONLY, None)
    try:
        return _read(descriptor, status.st_size, count)
    except OSError as error:
        raise _fault(path, error) from None
    finally:
        os.close(descriptor)


def is_named(path: Path) -> bool:
    """Whether anything but a directory has this name: a file, or what reading it must complain of."""
    try:
        status = os.lstat(path)
        return not stat.S_ISDIR(status.st_mode) and not (stat.S_ISLNK(status.st_mode) and path.is_dir())
    except (OSError, ValueError):
        return False


def opened_to_read(path: Path) -> BufferedReader:
    """Return a regular file opened, for content that need not be in memory. Raises ``FileError``."""
    return os.fdopen(_opened(path, os.O_RDONLY, None)[0], "rb")


def opened_to_append(path: Path) -> FileIO:
    """Return a regular file opened to be read and added to; it is made when there is none.

    Each write goes to the file at once. Raises ``FileError``.
    """
    return os.fdopen(_opened(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, None)[0], "ab+", buffering=0)


def write_bytes(path: Path, content: bytes) -> None:
    """Make or overwrite a regular file. Raises ``FileError``."""
    with os.fdopen(_opened(path, os.O_WRONLY | os.O_CREAT, None)[0], "wb") as file:
        file.truncate(0)
        file.write(content)


def copy_file(source: str | Path, target: str | Path) -> None:
    """Copy a regular file with its permissions; for ``shutil.copytree`` as well. Raises ``FileError``."""
    with opened_to_read(Path(source)) as read:
        mode = stat.S_IMODE(os.fstat(read.fileno()).st_mode)
        with os.fdopen(_opened(Path(target), os.O_WRONLY | os.O_CREAT, None)[0], "wb") as written:
            written.truncate(0)
            while chunk := read.read(_CHUNK_BYTES):
                written.write(chunk)
    Path(target).chmod(mode)


def special_names(folder: str, names: list[str]) -> set[str]:
    """Return the names that are no file, folder or link: what ``shutil.copytree`` must leave out."""
    return {name for name in names if _is_special(Path(folder, name))}


def from_home(written: str) -> Path:
    """Return a path that may begin with ``~`` or ``~user``; as it is written where that home is not known."""
    return Path(os.path.expanduser(written))  # noqa: PTH111 - that of pathlib raises


def shown(name: str | Path) -> str:
    """Return a file's name as text: of one that is no UTF-8 what can be shown and sent."""
    return os.fsencode(name).decode("utf-8", "replace")


def _is_special(place: Path) -> bool:
    try:
        mode = place.lstat().st_mode
    except OSError:
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode) or stat.S_ISLNK(mode))


def _opened(path: Path, flags: int, within: Boundary | None) -> tuple[int, os.stat_result]:
    """Return the descriptor and the state of a regular file. Raises ``FileError``."""
    descriptor = -1
    try:
        place = path if within is None else within.resolved(path)
        # Opening alone can do something, rewind a tape say: what is no file is not even opened.
        try:
            _check(os.stat(place))  # noqa: PTH116 - of a text as well
        except FileNotFoundError:
            if not flags & os.O_CREAT:
                raise
        descriptor = os.open(place, flags | _FLAGS, 0o666)
        status = os.fstat(descriptor)
        # It may have become something else meanwhile.
        _check(status)
    except (OSError, ValueError) as error:
        if descriptor >= 0:
            os.close(descriptor)
        raise _fault(path, error) from None
    return descriptor, status


def _check(status: os.stat_result) -> None:
    mode = status.st_mode
    if stat.S_ISREG(mode):
        return
    if stat.S_ISDIR(mode):
        raise FileError("directory", "this is a directory, not a file", errno.EISDIR)
    what = next((name for is_that, name in _SPECIAL if is_that(mode)), "thing of the system")
    raise FileError("special", f"this is a {what}, not a file")


def _read(descriptor: int, expected: int, most: int) -> bytes:
    """Return all that there is to read, ``most`` bytes of it; ``expected`` saves memory."""
    parts: list[bytes] = []
    wanted = min(expected + 1, most)
    while most > 0 and (part := os.read(descriptor, min(wanted, most))):
        parts.append(part)
        most -= len(part)
        wanted = _CHUNK_BYTES
    return parts[0] if len(parts) == 1 else b"".join(parts)


def _fault(path: Path, error: OSError | ValueError) -> FileError:
    if isinstance(error, FileError):
        return error
    if isinstance(error, ValueError):
        return FileError("missing", "no file can have this name", errno.ENOENT)
    number = error.errno or errno.EIO
    if isinstance(error, FileNotFoundError):
        dangling = path.is_symlink()
        why = "this is a link to a file that does not exist" if dangling else "the file does not exist"
        return FileError("missing", why, number)
    if isinstance(error, NotADirectoryError):
        return FileError("missing", "the file does not exist", number)
    if isinstance(error, PermissionError):
        return FileError("permission", "there is no permission to read it", number)
    if number == errno.ELOOP:
        return FileError("unreadable", "this is a link that leads to itself", number)
    if number == errno.ENXIO:
        return FileError("special", "this is a pipe or a device, not a file", number)
    return FileError("unreadable", f"the file cannot be read ({error.strerror or 'unknown reason'})", number)


def _too_large(limit: int) -> FileError:
    return FileError("too large", f"the file is larger than {_size(limit)}", errno.EFBIG)


def _size(limit: int) -> str:
    mib = limit / (1024 * 1024)
    return f"{mib:.0f} MiB" if limit % (1024 * 1024) == 0 else f"{limit / 1_000_000:.0f} MB"


def decoded(content: bytes) -> str:
    """Return bytes as text; every byte that is no UTF-8 is one U+FFFD, as in upstream."""
    return content.decode("utf-8", _EVERY_BYTE)


def _replaced(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeDecodeError):
        raise error
    return "\ufffd" * (error.end - error.start), error.end


_EVERY_BYTE = "waza_engine.every_byte"
codecs.register_error(_EVERY_BYTE, _replaced)
