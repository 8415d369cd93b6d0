"""What a process opens, lists, makes and removes outside of a folder, as the interpreter itself tells."""

import os
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

_PATHS = {
    "open": (0,),
    "os.listdir": (0,),
    "os.scandir": (0,),
    "os.mkdir": (0,),
    "os.remove": (0,),
    "os.rmdir": (0,),
    "os.rename": (0, 1),
    "os.link": (0, 1),
    "os.symlink": (1,),
    "os.truncate": (0,),
    "os.chmod": (0,),
    "os.utime": (0,),
    "shutil.rmtree": (0,),
    "shutil.copyfile": (0, 1),
}
_watched: list[tuple[Path, list[tuple[str, str]]]] = []
_installed: list[bool] = []


@contextmanager
def touched_below(folder: Path) -> Generator[list[tuple[str, str]]]:
    """Note what happens below a folder that nobody may look into, whatever link leads there."""
    if not _installed:
        sys.addaudithook(_note)
        _installed.append(True)
    found: list[tuple[str, str]] = []
    _watched.append((folder.resolve(), found))
    try:
        yield found
    finally:
        _watched.pop()


def _note(event: str, arguments: tuple[Any, ...]) -> None:
    for position in _PATHS.get(event, ()) if _watched else ():
        written = arguments[position]
        path = Path(os.fsdecode(written)) if isinstance(written, str | bytes | os.PathLike) else Path()
        # Names below a descriptor tell nothing by themselves; no link is followed there.
        if path.is_absolute():
            folder, found = _watched[-1]
            is_entry = event in ("os.remove", "os.rename", "os.mkdir")
            real = path.parent.resolve() / path.name if is_entry else Path(os.path.realpath(path))
            if real.is_relative_to(folder):
                found.append((event, str(path)))
