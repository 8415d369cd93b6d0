"""File URIs as editors write them, to paths and back; a name that is no UTF-8 keeps its bytes."""

from __future__ import annotations

import os
import re
from pathlib import Path
from urllib.parse import quote, unquote_to_bytes, urlsplit

_DRIVE = re.compile(r"/[A-Za-z]:")


def path_of(uri: str) -> Path | None:
    """Return the path of a ``file:`` URI, None for a document that is on no disk (``untitled:``)."""
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
    if "\0" in path:
        return None
    if _DRIVE.match(path):
        path = path[1:]
    elif parts.netloc and parts.netloc != "localhost":
        path = f"//{parts.netloc}{path}"
    return Path(os.path.normpath(path)) if path else None


def uri_of(path: Path) -> str:
    """Return the ``file:`` URI of an absolute path, with drive letter and colon as VS Code writes them."""
    text = path.absolute().as_posix()
    if text.startswith("//"):
        return f"file:{quote(os.fsencode(text), safe='/~')}"
    if not text.startswith("/"):
        text = f"/{text[0].lower()}{text[1:]}"
    return f"file://{quote(os.fsencode(text), safe='/~')}"
