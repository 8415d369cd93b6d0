"""The versions that must be equal on all machines of a run, as each process reports its own."""

from __future__ import annotations

import hashlib
import importlib.metadata
import os
import platform
import shutil
import sys
import tempfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from waza_engine.files import read_bytes
from waza_engine.masking import is_secret_name
from waza_engine.version import __version__

_MOST_BYTES = 10_000_000
_PROGRAMS = ("git", "node", "bun", "docker")


@cache
def hello() -> Mapping[str, str]:
    """Return the versions of this process by their names for people."""
    found = {
        "waza-engine": __version__,
        "the formats of waza-engine": _schemas(),
        "Python": f"{sys.version_info.major}.{sys.version_info.minor}",
    }
    for point in importlib.metadata.entry_points(group="waza_engine.graders"):
        if point.dist is not None:
            found[f"the grader package {point.dist.name}"] = point.dist.version
    return found


def resource_of(versions: Mapping[str, str]) -> str:
    """Return the name of the resource that workers with these versions offer and trials ask for.

    So the scheduler itself gives no trial to a worker of another version, whenever it joins.
    """
    written = "\n".join(f"{name} {version}" for name, version in sorted(versions.items()))
    return f"waza-{hashlib.sha256(written.encode()).hexdigest()[:16]}"


def difference(worker: str, theirs: Mapping[str, str]) -> str:
    """Return a sentence about what a worker has in other versions than this process, "" when all is equal."""
    ours = hello()
    names = [name for name in {**ours, **theirs} if ours.get(name) != theirs.get(name)]
    if not names:
        return ""
    name = names[0]
    return (
        f"The worker {worker} has {name} {theirs.get(name, 'not at all')}, and this machine "
        f"{ours.get(name, 'not at all')}; install the same on both."
    )


def machine() -> str:
    """Return what this machine has for trials: its system, programs, free disk and keys, these by name."""
    programs = [name for name in _PROGRAMS if shutil.which(name)]
    keys = sorted(name for name, value in os.environ.items() if value and is_secret_name(name))
    free = shutil.disk_usage(tempfile.gettempdir()).free // 2**30
    return (
        f"{platform.node()}, {platform.system()} {platform.machine()}, "
        f"Python {platform.python_version()}, {free} GiB free, "
        f"programs: {', '.join(programs) or 'none'}, keys: {', '.join(keys) or 'none'}"
    )


def _schemas() -> str:
    digest = hashlib.sha256()
    for file in sorted((Path(__file__).parents[1] / "schemas").rglob("*.json")):
        digest.update(file.name.encode() + b"\0" + read_bytes(file, _MOST_BYTES))
    return digest.hexdigest()[:12]
