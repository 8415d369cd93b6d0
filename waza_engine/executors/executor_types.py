"""The executors by name. Each is imported on first use: an agent's library costs start-up time.

``EXECUTORS`` of ``spec/executors.py`` lists them; each is in the file of its name.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TypeVar, cast

from waza_engine.executors.executor import Executor, ExecutorError, ExecutorSettings
from waza_engine.files import FileError, is_named, read_text
from waza_engine.peers.proxies import ask_this_machine_directly
from waza_engine.spec.executors import EXECUTORS

_DISTRIBUTION = "waza-language-server"
_MOST_BYTES = 1_000_000
_OF_EXTRA = re.compile(r"""(?P<wanted>(?P<name>[\w.-]+)[^;]*?)\s*;\s*extra == ['"](?P<extra>\w+)['"]""")


def missing_packages(extra: str = "agents") -> tuple[str, ...]:
    """Return the missing packages of an extra, in pip's syntax: ``openai<4,>=3.54``.

    Empty if unknown: for sources that were not installed.
    """
    try:
        required = importlib.metadata.requires(_DISTRIBUTION) or ()
    except importlib.metadata.PackageNotFoundError:
        return ()
    return tuple(wanted for line in required for wanted in _missing(line, extra))


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


def _missing(line: str, extra: str) -> Iterator[str]:
    needed = _OF_EXTRA.fullmatch(line)
    if needed is None or needed["extra"] != extra:
        return
    try:
        importlib.metadata.version(needed["name"])
    except importlib.metadata.PackageNotFoundError:
        yield needed["wanted"]


ClassT = TypeVar("ClassT", bound=type[Executor])
_registered: dict[str, Callable[[ExecutorSettings], Executor]] = {}


def register(executor: ClassT) -> ClassT:
    """Class decorator: make an executor known by its ``name``, one of ``EXECUTORS``.

    It takes its settings alone, and raises ``ExecutorError`` when it cannot be used here.
    """
    _registered[executor.name] = cast("Callable[[ExecutorSettings], Executor]", executor)
    return executor


def create_executor(name: str, settings: ExecutorSettings) -> Executor:
    """Return a new executor. Raises ``ExecutorError`` for one that is unknown or cannot be used here."""
    if name not in EXECUTORS:
        known = ", ".join(f"`{known}`" for known in EXECUTORS)
        wrong = f"`{name}` is not an executor" if name else "`executor` is empty"
        raise ExecutorError(f"{wrong}; write one of {known}")
    if EXECUTORS[name].has_model and (missing := missing_packages()):
        message = f"the executor `{name}` needs packages that are not installed"
        raise ExecutorError(f"{message}; `{installing(missing)}` adds them", remediation="install them")
    ask_this_machine_directly()
    try:
        importlib.import_module(f"waza_engine.executors.{name.replace('-', '_')}")
    except ImportError as error:
        raise ExecutorError(f"the executor `{name}` cannot be loaded: {error}") from None
    return _registered[name](settings)
