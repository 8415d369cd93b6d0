"""A quicker start: what is compiled for the classes of the protocol, and for records, is compiled once.

``attrs`` writes and compiles methods for the classes that are wanted (``later_classes.py``), ``cattrs`` what
reads and writes them. The compiled code is kept beside the byte code of this file, as Python keeps that of
modules, and found again by its very source. Without it a start takes a little longer, and nothing else.
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

from waza_language_server.protocol.later_classes import classes_made_later

Compiled = dict[tuple[str, str], bytes]
"""Byte code by the name and the source that it was compiled from; a start needs a part of it."""
_COMPILERS = ("attr._make", "cattrs.gen", "waza_engine.frozen")


class KeptCode:
    """What was compiled, and the file it is kept in.

    A file that cannot be read or written, or comes from another Python, is as good as none.
    """

    def __init__(self, path: str | None = None) -> None:
        """``path`` is the file, by default one beside this module."""
        self._path = path or f"{cache_from_source(__file__)}.attrs"
        self.known = _read(self._path)
        self._has_more = False

    def use(self) -> None:
        """From now on compile nothing for a class of the protocol, or a record, that is known."""
        for module in _COMPILERS:
            import_module(module).__dict__["compile"] = self._compile

    def keep(self) -> None:
        """Write what was compiled, when that is more than was read, and Python may keep byte code."""
        if self._has_more and not sys.dont_write_bytecode:
            self._has_more = False
            _write(self._path, self.known)

    def _compile(self, source: str, filename: str, mode: str) -> CodeType:
        kept = self.known.get((filename, source))
        if kept is not None:
            with suppress(EOFError, ValueError, TypeError):
                code = marshal.loads(kept)
                if isinstance(code, CodeType):
                    return code
        code = builtins.compile(source, filename, mode)
        # A hash has a salt in its source, another one each time: that is never found again.
        if "def __hash__" not in source:
            self.known[filename, source] = marshal.dumps(code)
            self._has_more = True
        return code


@contextmanager
def loading_quickly(code: KeptCode) -> Generator[None]:
    """Import the protocol library without what nobody needs to start, and with compiled code that is kept.

    What uses it is imported inside.
    """
    _load_without_tls()
    with classes_made_later():
        code.use()
        yield


def _load_without_tls() -> None:
    """Import ``asyncio`` without TLS, which nothing here speaks: a library of 4 MB, a twentieth of the start.

    Who imports that afterwards gets it.
    """
    modules: dict[str, Any] = sys.modules
    if "ssl" not in modules and "asyncio" not in modules:
        modules["ssl"] = None
        try:
            import_module("asyncio")
        finally:
            del modules["ssl"]


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
