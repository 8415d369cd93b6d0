"""The one way to read and write a file: it ends, whatever the path is, and says in words why it cannot.

A repository can hold anything under any name: a pipe without a writer, a link to a device or to a descriptor
of this very process, a file without end. Nothing here waits for any of them: only regular files are read,
never more of them than a limit.

Files written ``within`` a boundary are opened from folder to folder, so that no link can be put in between
after the boundary was checked, and a link as the last part is not followed; files that are read are compared
once they are open. Without ``within`` a path was named by a person, or is in a folder that this program has
made.

Architecture invariant: light (the language server imports it): the standard library alone, and little of it.
"""

from __future__ import annotations

import codecs
import errno
import os
import secrets
import stat
import time
from collections.abc import Generator, Iterable
from contextlib import contextmanager, suppress
from io import BufferedReader, FileIO
from pathlib import Path

from waza_engine.boundary import Boundary, FileError

_CHUNK_BYTES = 1024 * 1024
_TRIES, _PAUSE_SECONDS = 50, 0.02
# ``O_NONBLOCK``: a pipe opens immediately and an empty file of the kernel does not wait. ``O_NOCTTY``: a
# terminal does not become ours.
_FLAGS = (
    getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_CLOEXEC", getattr(os, "O_NOINHERIT", 0))
    | getattr(os, "O_NOCTTY", 0)
    | getattr(os, "O_BINARY", 0)
)
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)
# Linux lets a folder be passed through that cannot be listed.
_FOLDER = getattr(os, "O_PATH", 0) | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_CLOEXEC", 0) | _NO_LINK
_OPENS_BELOW = os.open in os.supports_dir_fd and bool(_NO_LINK)
_IS_LINK = "this is a link, and nothing is written through one"
_SPECIAL = (
    (stat.S_ISFIFO, "pipe"),
    (stat.S_ISSOCK, "socket"),
    (stat.S_ISCHR, "device"),
    (stat.S_ISBLK, "device"),
)


def read_bytes(path: Path, limit: int, *, within: Boundary | None = None) -> bytes:
    """Return the content of a regular file of at most ``limit`` bytes. Raises ``FileError``.

    With ``within`` links are followed no further than its folders.
    """
    descriptor, status = _opened(path, os.O_RDONLY, within)
    try:
        # The file system's size is only a guess: files of the kernel report 0.
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
    """Return the content of a file as a string. Raises ``FileError``."""
    if _is_utf16(content):
        raise FileError("not UTF-8", "the file is UTF-16 text; save it as UTF-8", line=1)
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise FileError("not UTF-8", "the file is not UTF-8 text", line=line) from None
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise FileError("binary", "the file is binary, not text", line=line)
    return text


def _is_utf16(content: bytes) -> bool:
    """Return whether a file is UTF-16: it has a byte order mark, or letters as PowerShell may write them."""
    even, odd = content[:64:2], content[1:64:2]
    is_every_other_nul = bool(even.strip(b"\0")) != bool(odd.strip(b"\0"))
    marks = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
    return content.startswith(marks) or (len(content) > 3 and is_every_other_nul)


def read_beginning(path: Path, count: int, *, within: Boundary | None = None) -> bytes:
    """Return the first ``count`` bytes of a regular file, or all that there are. Raises ``FileError``."""
    descriptor, status = _opened(path, os.O_RDONLY, within)
    try:
        return _read(descriptor, status.st_size, count)
    except OSError as error:
        raise _fault(path, error) from None
    finally:
        os.close(descriptor)


def is_named(path: Path) -> bool:
    """Return whether anything but a directory has this name: a file, or something that cannot be read."""
    try:
        status = os.lstat(path)
        return not stat.S_ISDIR(status.st_mode) and not (stat.S_ISLNK(status.st_mode) and path.is_dir())
    except (OSError, ValueError):
        return False


def opened_to_read(path: Path, *, within: Boundary | None = None) -> BufferedReader:
    """Return a regular file opened, for content that need not be in memory. Raises ``FileError``."""
    return os.fdopen(_opened(path, os.O_RDONLY, within)[0], "rb")


def opened_to_append(path: Path, *, within: Boundary | None = None) -> FileIO:
    """Return a regular file opened for reading and appending; it is created if it does not exist.

    Each write goes to the file immediately. Raises ``FileError``; ``within`` a boundary also for a file with
    a second hard link, which may be outside.
    """
    descriptor, status = _opened(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, within)
    if within is not None and status.st_nlink > 1:
        os.close(descriptor)
        raise FileError("outside", "it is a hard link, so another file would be written to", errno.EMLINK)
    return os.fdopen(descriptor, "ab+", buffering=0)


def create_file(path: Path, *, within: Boundary | None = None) -> FileIO:
    """Return a new file opened for unbuffered writing; its folders are created.

    Raises ``OSError``, a ``FileExistsError`` when anything has this name.
    """
    with _entry(path, within, make=True) as (folder, name):
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | _NO_LINK | _FLAGS
        return os.fdopen(os.open(name, flags, 0o666, dir_fd=folder), "wb", buffering=0)


def write_bytes(path: Path, content: bytes, *, within: Boundary | None = None) -> None:
    """Make or overwrite a regular file. Raises ``FileError``."""
    with os.fdopen(_opened(path, os.O_WRONLY | os.O_CREAT, within)[0], "wb") as file:
        file.truncate(0)
        file.write(content)


def write_atomically(path: Path, parts: Iterable[bytes], *, within: Boundary | None = None) -> None:
    """Replace or create a file in one step: a reader sees the old content or the new one, never a part.

    Its folders are made. Raises ``OSError``; the old content is untouched then.
    """
    # A link that a person has named keeps leading to its file.
    with _entry(path if within else path.resolve(), within, make=True) as (folder, name):
        with suppress(FileNotFoundError):
            _check_replaceable(os.stat(name, dir_fd=folder, follow_symlinks=False))
        temporary = os.path.join(os.path.dirname(name), f".{secrets.token_hex(8)}.tmp")  # noqa: PTH118, PTH120
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NO_LINK | _FLAGS
        descriptor = os.open(temporary, flags, 0o666, dir_fd=folder)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.writelines(parts)
                file.flush()
                os.fsync(file.fileno())
            _replace(temporary, name, folder)
        except BaseException:
            with suppress(OSError):
                os.unlink(temporary, dir_fd=folder)
            raise
        _sync_directory(os.path.dirname(name) or os.curdir, folder)  # noqa: PTH120 - may be below a descriptor


def make_folder(path: Path, *, within: Boundary | None = None) -> None:
    """Make a folder and those above it, where they are missing. Raises ``OSError``."""
    with _entry(path / "file", within, make=True):
        pass


def remove_file(path: Path, *, within: Boundary | None = None) -> None:
    """Remove a file, or a link itself; it need not be there. Raises ``OSError``."""
    with suppress(FileNotFoundError), _entry(path, within) as (folder, name):
        os.unlink(name, dir_fd=folder)


def names_in(folder: Path, *, within: Boundary | None = None) -> list[str]:
    """Return the sorted names in a folder. Raises ``OSError``."""
    place = folder if within is None else within.resolved(folder)
    return sorted(os.listdir(place))  # noqa: PTH208 - names alone


def copy_file(source: str | Path, target: str | Path, *, within: Boundary | None = None) -> None:
    """Copy a regular file with its permissions; also for ``shutil.copytree``. Raises ``FileError``.

    ``within`` is the boundary of the source.
    """
    with opened_to_read(Path(source), within=within) as read:
        mode = stat.S_IMODE(os.fstat(read.fileno()).st_mode)
        with os.fdopen(_opened(Path(target), os.O_WRONLY | os.O_CREAT, None)[0], "wb") as written:
            written.truncate(0)
            while chunk := read.read(_CHUNK_BYTES):
                written.write(chunk)
    Path(target).chmod(mode)


def special_names(folder: str, names: list[str]) -> set[str]:
    """Return the names of special files, which ``shutil.copytree`` must leave out."""
    return {name for name in names if _is_special(Path(folder, name))}


def from_home(written: str) -> Path:
    """Return a path that may begin with ``~`` or ``~user``; as it is written where that home is not known."""
    return Path(os.path.expanduser(written))  # noqa: PTH111 - that of pathlib raises


def relative_name(place: Path, directory: Path) -> str:
    """Return a path with slashes, relative to a directory: the same in each checkout of a suite."""
    try:
        return Path(os.path.relpath(place, directory)).as_posix()
    except ValueError:  # On another drive.
        return place.as_posix()


def printable(name: str | Path) -> str:
    """Return a file's name as a valid string, even if it is not UTF-8."""
    return os.fsencode(name).decode("utf-8", "replace")


def _is_special(place: Path) -> bool:
    try:
        mode = place.lstat().st_mode
    except OSError:
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode) or stat.S_ISLNK(mode))


def _opened(path: Path, flags: int, within: Boundary | None) -> tuple[int, os.stat_result]:
    """Return the descriptor and the state of a regular file. Raises ``FileError``."""
    try:
        if within is None:
            return _regular(str(path), flags)
        if flags & os.O_CREAT:
            with _entry(path, within) as (folder, name):
                return _regular(name, flags | _NO_LINK, folder)
        # Links inside may be read.
        descriptor, status = _regular(within.resolved(path), flags | _NO_LINK)
        if os.path.samestat(status, os.lstat(within.resolved(path))):
            return descriptor, status
        os.close(descriptor)
        raise FileError("outside", "it became another file while it was opened", errno.EAGAIN)
    except (OSError, ValueError) as error:
        raise _fault(path, error) from None


def _regular(name: str, flags: int, folder: int | None = None) -> tuple[int, os.stat_result]:
    """Open a regular file, of an open folder if there is one. Raises ``OSError``."""
    # Opening alone can have an effect, such as rewinding a tape: only regular files are opened.
    try:
        _check(os.stat(name, dir_fd=folder, follow_symlinks=not flags & _NO_LINK))
    except FileNotFoundError:
        if not flags & os.O_CREAT:
            raise
    descriptor = os.open(name, flags | _FLAGS, 0o666, dir_fd=folder)
    try:
        status = os.fstat(descriptor)
        # It may have become something else meanwhile.
        _check(status)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor, status


@contextmanager
def _entry(path: Path, within: Boundary | None, *, make: bool = False) -> Generator[tuple[int | None, str]]:
    """Yield the open folder of a path, and its name there; without a boundary None and the path.

    ``make`` creates missing folders. Raises ``OSError``.
    """
    if within is None:
        if make:
            _make_folders(path.parent)
        yield None, str(path)
        return
    parent = within.resolved(path.parent)
    if not _OPENS_BELOW:
        if make:
            _make_folders(Path(parent))
            within.resolved(path.parent)
        yield None, str(Path(parent, path.name))
        return
    root = max((folder for folder in within.folders if Path(parent).is_relative_to(folder)), key=len)
    if make:
        _make_folders(Path(root))
    folder = os.open(root, _FOLDER & ~_NO_LINK)
    try:
        for step in Path(parent).relative_to(root).parts:
            if make:
                with suppress(FileExistsError):
                    os.mkdir(step, dir_fd=folder)
            above, folder = folder, os.open(step, _FOLDER, dir_fd=folder)
            os.close(above)
        yield folder, path.name
    finally:
        os.close(folder)


def _make_folders(folder: Path) -> None:
    """Create a folder and its parents. A `FileExistsError` would mean that the name of the file is taken."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except FileExistsError:
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(folder)) from None


def _check_replaceable(status: os.stat_result) -> None:
    if stat.S_ISLNK(status.st_mode):
        raise FileError("outside", _IS_LINK, errno.ELOOP)
    if not (stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode)):
        raise FileError("special", "a pipe or a device has this name")


def _replace(temporary: str, name: str, folder: int | None) -> None:
    """Give a file the name of another one; on Windows that has to wait while a program has the other open."""
    for left in range(_TRIES if os.name == "nt" else 1, 0, -1):
        try:
            os.replace(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
        except PermissionError:
            if left == 1:
                raise
            time.sleep(_PAUSE_SECONDS)
        else:
            return


def _sync_directory(name: str, folder: int | None) -> None:
    """Make the new name survive a crash too, where the file system can promise that."""
    with suppress(OSError):
        descriptor = os.open(name, os.O_RDONLY, dir_fd=folder)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _check(status: os.stat_result) -> None:
    mode = status.st_mode
    if stat.S_ISREG(mode):
        return
    if stat.S_ISDIR(mode):
        raise FileError("directory", "this is a directory, not a file", errno.EISDIR)
    if stat.S_ISLNK(mode):
        raise FileError("outside", _IS_LINK, errno.ELOOP)
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
    """Return bytes as a string; every byte that is not UTF-8 is one U+FFFD, as in upstream."""
    return content.decode("utf-8", _EVERY_BYTE)


def _replaced(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeDecodeError):
        raise error
    return "\ufffd" * (error.end - error.start), error.end


_EVERY_BYTE = "waza_engine.every_byte"
codecs.register_error(_EVERY_BYTE, _replaced)
