"""A quicker start: what ``attrs`` compiles for the classes of the protocol is compiled once, not every time.

``lsprotocol`` has more than five hundred classes, and ``attrs`` writes and compiles methods for each of them
while it is imported: a third of the whole start. The compiled code is kept beside the byte code of this file,
as Python keeps that of modules, and found again by its very source.
"""

from __future__ import annotations

import builtins
import marshal
import os
import sys
from collections.abc import Generator
from contextlib import contextmanager, suppress
from importlib import import_module
from importlib.util import MAGIC_NUMBER, cache_from_source
from types import CodeType
from typing import Any, cast

Compiled = dict[tuple[str, str], CodeType]


@contextmanager
def kept_compilations(path: str | None = None) -> Generator[Compiled]:
    """While this lasts, ``attrs`` finds what it compiled before in a file, by default beside this module.

    Yields what was found in the file, which what is compiled anew is added to. A file that cannot be read or
    written, or comes from another Python, is as good as none.
    """
    path = path or f"{cache_from_source(__file__)}.attrs"
    known = _read(path)
    fresh: set[str] = set()

    def compile_once(source: str, filename: str, mode: str) -> CodeType:
        code = known.get((filename, source))
        if not isinstance(code, CodeType):
            code = known[filename, source] = builtins.compile(source, filename, mode)
            fresh.add(filename)
        return code

    attrs = import_module("attr._make")
    attrs.__dict__["compile"] = compile_once
    try:
        yield known
    finally:
        del attrs.__dict__["compile"]
    if fresh and not sys.dont_write_bytecode:
        _write(path, known)


def _read(path: str) -> Compiled:
    with suppress(OSError, EOFError, ValueError, TypeError, MemoryError):
        with open(path, "rb") as file:  # noqa: PTH123 - pathlib is not loaded yet
            data = file.read()
        if data.startswith(MAGIC_NUMBER):
            known: Any = marshal.loads(data[len(MAGIC_NUMBER) :])
            return cast("Compiled", known) if isinstance(known, dict) else {}
    return {}


def _write(path: str, known: Compiled) -> None:
    temporary = f"{path}.{os.getpid()}"
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)  # noqa: PTH103, PTH120
        with open(temporary, "wb") as file:  # noqa: PTH123
            file.write(MAGIC_NUMBER + marshal.dumps(known))
        os.replace(temporary, path)  # noqa: PTH105
    except OSError:
        # A full disk has room for the beginning of it.
        with suppress(OSError):
            os.unlink(temporary)  # noqa: PTH108
