"""Write what a private environment installs, with hashes, cut out of the lock file of the repository.

    python scripts/requirements.py FOLDER

``server.txt`` has what the language server needs, ``agents.txt`` that and what agents and judges need, and
``installer.txt`` what installs them. The Python that runs this has all packages of the lock file.
"""

from __future__ import annotations

import importlib.metadata
import re
import sys
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path

from packaging.markers import Marker, default_environment
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

REPOSITORY = Path(__file__).resolve().parents[2]
_PLATFORMS = (("linux", "Linux", "posix"), ("darwin", "Darwin", "posix"), ("win32", "Windows", "nt"))
_PYTHONS = ("3.11", "3.12", "3.13", "3.14")
_PIN = re.compile(r"^([\w.-]+)==[^\n]*\n(?:[ \t]+[^\n]*\n)+", re.MULTILINE)


def requirement_files(lock: str, project: str) -> dict[str, str]:
    """Return the files by name, from the texts of the lock file and of ``pyproject.toml``.

    Raises ValueError for a package that the lock file or this Python lacks.
    """
    pins: dict[str, str] = {canonicalize_name(found[1]): found[0] for found in _PIN.finditer(lock)}
    described = tomllib.loads(project)
    server: list[str] = described["project"]["dependencies"]
    agents: list[str] = described["project"]["optional-dependencies"]["agents"]
    wanted = {
        "server.txt": server,
        "agents.txt": [*server, *agents],
        "installer.txt": described["dependency-groups"]["installer"],
    }
    return {
        name: "".join(pins[each] for each in sorted(_closure(requirements, pins)))
        for name, requirements in wanted.items()
    }


def _closure(requirements: Iterable[str], pins: dict[str, str]) -> set[str]:
    """Return the names of what is needed on any platform, by any Python."""
    done: set[tuple[str, str]] = set()
    rest = [Requirement(line) for line in requirements]
    while rest:
        requirement = rest.pop()
        name = canonicalize_name(requirement.name)
        if name not in pins:
            raise ValueError(f"requirements.lock has no {name}; write it again with `make lock`.")
        for extra in {"", *requirement.extras}:
            if (name, extra) not in done:
                done.add((name, extra))
                rest += _needed_by(name, extra, pins[name])
    return {name for name, _ in done}


def _needed_by(name: str, extra: str, pin: str) -> Iterator[Requirement]:
    try:
        lines = importlib.metadata.requires(name) or ()
    except importlib.metadata.PackageNotFoundError:
        # One for another platform is not here, and needs nothing itself.
        marker = pin.partition("\\")[0].partition(";")[2].strip()
        if not marker or Marker(marker).evaluate():
            raise ValueError(f"This Python has no {name}; use that of `make .venv/.ready`.") from None
        return
    for requirement in map(Requirement, lines):
        if requirement.marker is None or any(
            requirement.marker.evaluate({**environment, "extra": extra}) for environment in _environments()
        ):
            yield requirement


def _environments() -> Iterator[dict[str, str]]:
    here = {name: str(value) for name, value in default_environment().items()}
    for platform, system, name in _PLATFORMS:
        for version in _PYTHONS:
            yield {
                **here,
                "sys_platform": platform,
                "platform_system": system,
                "os_name": name,
                "python_version": version,
                "python_full_version": f"{version}.0",
            }


def _main(folder: Path) -> None:
    lock, project = (
        (REPOSITORY / name).read_text("utf-8") for name in ("requirements.lock", "pyproject.toml")
    )
    for name, content in requirement_files(lock, project).items():
        (folder / name).write_text(content, "utf-8", newline="\n")


if __name__ == "__main__":
    try:
        _main(Path(sys.argv[1]))
    except (ValueError, ImportError) as error:
        sys.exit(str(error))
