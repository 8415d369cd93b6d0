"""The packages that agents and judges need: an extra of this one, for who edits suites needs none of them."""

from __future__ import annotations

import importlib.metadata
import re
from collections.abc import Iterator

_DISTRIBUTION = "waza-language-server"
_OF_AGENTS = re.compile(r"""(?P<wanted>(?P<name>[\w.-]+)[^;]*?)\s*;\s*extra == ['"]agents['"]""")


def missing_packages() -> tuple[str, ...]:
    """Return what agents and judges need and is not installed, as pip takes it: ``openai<4,>=3.54``.

    Nothing where nobody knows: of sources that were not installed.
    """
    try:
        required = importlib.metadata.requires(_DISTRIBUTION) or ()
    except importlib.metadata.PackageNotFoundError:
        return ()
    return tuple(wanted for line in required for wanted in _missing(line))


def _missing(line: str) -> Iterator[str]:
    needed = _OF_AGENTS.fullmatch(line)
    if needed is None:
        return
    try:
        importlib.metadata.version(needed["name"])
    except importlib.metadata.PackageNotFoundError:
        yield needed["wanted"]
