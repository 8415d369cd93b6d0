"""Installs, once per user, the GitHub Copilot agent that the executor tests drive.

It lands in the user's cache folder, in a folder named after the lock file, so that only the first run pays
(one download of 130 MB). A folder appears there complete or not at all: it is filled under another name and
renamed.
"""

import hashlib
import platform
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.installations import one_at_a_time, user_cache

HERE = Path(__file__).parent
MANIFESTS = (".npmrc", "package.json", "package-lock.json")
_SYSTEMS = {"linux": "linux", "darwin": "darwin", "win32": "win32"}
_MACHINES = {"x86_64": "x64", "amd64": "x64", "aarch64": "arm64", "arm64": "arm64"}


def installed_copilot() -> Path:
    """Return the agent's program; skip the test on a machine that cannot have it."""
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("npm is not installed; it brings the Copilot agent")
    system, machine = _SYSTEMS.get(sys.platform), _MACHINES.get(platform.machine().lower())
    if system is None or machine is None or (system == "linux" and platform.libc_ver()[0] != "glibc"):
        pytest.skip(f"the Copilot agent under test does not exist for {sys.platform} {platform.machine()}")
    folder = cache_folder()
    name = "copilot.exe" if system == "win32" else "copilot"
    program = folder / "node_modules" / "@github" / f"copilot-{system}-{machine}" / name
    if not program.is_file():
        with one_at_a_time("copilot-under-test"):
            if not program.is_file():
                _fill(folder, npm)
    assert program.is_file(), f"the package has no program at {program}"
    return program


def cache_folder() -> Path:
    """Return ``<cache>/waza-language-server/copilot-under-test/<digest of the lock file>``."""
    digest = hashlib.sha256(b"".join((HERE / name).read_bytes() for name in MANIFESTS)).hexdigest()
    return user_cache() / "copilot-under-test" / digest[:16]


def _fill(folder: Path, npm: str) -> None:
    work = folder.with_suffix(".partial")
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    for name in MANIFESTS:
        shutil.copyfile(HERE / name, work / name)
    done = subprocess.run(
        [npm, "ci", "--no-audit", "--no-fund"],
        cwd=work,
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    assert done.returncode == 0, f"npm could not install the Copilot agent:\n{done.stdout}{done.stderr}"
    shutil.rmtree(folder, ignore_errors=True)
    work.rename(folder)
