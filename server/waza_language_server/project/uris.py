"""File URIs as editors write them, to paths and back; a name that is not UTF-8 keeps its bytes."""

from __future__ import annotations

import os
import sys
from functools import lru_cache
from pathlib import Path
from urllib.parse import quote, unquote_to_bytes, urlsplit

from waza_engine.later_patterns import compiled_later

LONGEST_PATH = 4096
LONGEST_NAME = 255

_DRIVE = compiled_later(r"/[A-Za-z]:")


@lru_cache(maxsize=1024)
def path_of(uri: str) -> Path | None:
    """Return the path of a ``file:`` URI, None for a document that is on no disk (``untitled:``).

    That can be seen from the URI alone where no disk takes such names: with NUL, or longer than there are.
    """
    try:
        parts = urlsplit(uri)
    except ValueError:
        return None
    if parts.scheme != "file":
        return None
    try:
        path = os.fsdecode(unquote_to_bytes(parts.path.encode("utf-8", "surrogatepass")))
    except UnicodeDecodeError:
        return None
    if "\0" in path or _is_too_long(path):
        return None
    if _DRIVE.match(path):
        path = path[1:]
    elif parts.netloc and parts.netloc != "localhost":
        path = f"//{parts.netloc}{path}"
    return Path(os.path.normpath(path)) if path else None


def is_tool_view(uri: str) -> bool:
    """Return whether a document is neither a file nor a text to be saved: shown by git or a comparison."""
    return not uri.startswith(("file:", "untitled:"))


def uri_of(path: Path) -> str:
    """Return the ``file:`` URI of an absolute path, with drive letter and colon as VS Code writes them."""
    text = path.absolute().as_posix()
    if text.startswith("//"):
        return f"file:{quote(os.fsencode(text), safe='/~')}"
    if not text.startswith("/"):
        text = f"/{text[0].lower()}{text[1:]}"
    return f"file://{quote(os.fsencode(text), safe='/~')}"


def _is_too_long(path: str) -> bool:
    if len(path) <= LONGEST_NAME and path.isascii():
        return False
    names = path.split("/")
    if sys.platform != "win32":
        names = [os.fsencode(name) for name in names]
    return len(path) > LONGEST_PATH or any(len(name) > LONGEST_NAME for name in names)
