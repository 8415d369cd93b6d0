"""The packages that agents and judges need: an extra of this one, for who edits suites needs none of them."""

from __future__ import annotations

import importlib.metadata
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from waza_engine.files import FileError, is_named, read_text

_DISTRIBUTION = "waza-language-server"
_MOST_BYTES = 1_000_000
_OF_AGENTS = re.compile(r"""(?P<wanted>(?P<name>[\w.-]+)[^;]*?)\s*;\s*extra == ['"]agents['"]""")


def missing_packages() -> tuple[str, ...]:
    """Return the missing packages of agents and judges, in pip's syntax: ``openai<4,>=3.54``.

    Empty if unknown: for sources that were not installed.
    """
    try:
        required = importlib.metadata.requires(_DISTRIBUTION) or ()
    except importlib.metadata.PackageNotFoundError:
        return ()
    return tuple(wanted for line in required for wanted in _missing(line))


def installing(packages: Iterable[str]) -> str:
    """Return the command that adds packages to the Python that runs: its maker's, where a tool made it."""
    wanted = [f'"{each}"' for each in packages]
    place = Path(sys.prefix)
    if is_named(place / "pipx_metadata.json"):
        return f"pipx inject {place.name} {' '.join(wanted)}"
    if is_named(receipt := place / "uv-receipt.toml"):
        return _installing_with_uv(receipt, wanted)
    return f"pip install {' '.join(wanted)}"


def _installing_with_uv(receipt: Path, wanted: Iterable[str]) -> str:
    """Return uv's command to reinstall a tool with more packages; uv has the source unless it is an index.

    uv would drop packages that are not named again, so those that were added before are named, too.
    """
    import tomllib

    try:
        required = tomllib.loads(read_text(receipt, _MOST_BYTES))["tool"]["requirements"]
        tool = next(each for each in required if each["name"] == _DISTRIBUTION)
        source = next(tool[key] for key in ("directory", "editable", "path", "url") if key in tool)
        kept = [f'"{each["name"]}{each.get("specifier", "")}"' for each in required if each is not tool]
    except (FileError, ValueError, LookupError, TypeError, StopIteration):
        return f'uv pip install --python "{sys.prefix}" {" ".join(wanted)}'
    editable = "--editable " if "editable" in tool else ""
    return f'uv tool install {" ".join(f"--with {each}" for each in (*kept, *wanted))} {editable}"{source}"'


def _missing(line: str) -> Iterator[str]:
    needed = _OF_AGENTS.fullmatch(line)
    if needed is None:
        return
    try:
        importlib.metadata.version(needed["name"])
    except importlib.metadata.PackageNotFoundError:
        yield needed["wanted"]
