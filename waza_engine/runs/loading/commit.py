"""The commit of a suite's repository, and whether it includes the files that decide a run.

Read once a run, with a time limit of seconds: a run goes on without it. Nothing is fetched or written.
"""

from __future__ import annotations

import os
from collections.abc import Collection
from pathlib import Path

from waza_engine.processes.git import PLAIN, GitError, commit_named, git
from waza_engine.vocabulary import Commit

COMMIT_SECONDS = 3.0
_MOST_BYTES = 16_000_000
_MOST_FOLDERS = 200
_HASH = "# branch.oid "


def commit_of(directory: Path, deciding: Collection[Path]) -> Commit | None:
    """Return the commit of the repository around a directory; None without one, or if git fails.

    It is dirty when a file that git tracks differs from it, staged or not, and when one of the ``deciding``
    files lies in the working tree and is not tracked; untracked files of a submodule are not detected.
    """
    real = Path(os.path.realpath(directory))
    # Rule out most directories outside a repository without starting git.
    top = next((place for place in (real, *real.parents) if (place / ".git").exists()), None)
    if top is None:
        return None
    asked = ("status", "--porcelain=v2", "--branch", "-z", "--untracked-files=no", "--no-renames")
    try:
        said = _git(*asked, "--ignore-submodules=untracked", at=top)
    except GitError:
        known = commit_named("HEAD", top, COMMIT_SECONDS)
        return None if known is None else Commit(known)
    found = next((line.removeprefix(_HASH) for line in said if line.startswith(_HASH)), "")
    if not found or found == "(initial)":
        return None
    if any(not line.startswith("#") for line in said):
        return Commit(found, dirty=True)
    try:
        return Commit(found, _untracked(top, deciding))
    except GitError:
        return Commit(found)


def _untracked(top: Path, deciding: Collection[Path]) -> bool | None:
    """Return whether one of the files below a working tree is untracked there. Raises ``GitError``."""
    # Resolve links of its folders, but not its own: that is what git tracks.
    folders = {folder: Path(os.path.realpath(folder)) for folder in {file.parent for file in deciding}}
    files = [folders[file.parent] / file.name for file in deciding]
    inside = [file.relative_to(top) for file in files if top in file.parents]
    if not inside:
        return False
    places = sorted({file.parent.as_posix() for file in inside})
    listed = places if len(places) <= _MOST_FOLDERS else ["."]
    tracked = set(_git("--literal-pathspecs", "ls-files", "-z", "--", *listed, at=top))
    left = [file for file in inside if file.as_posix() not in tracked]
    if not left:
        return False
    of_submodules = [any(folder.as_posix() in tracked for folder in file.parents) for file in left]
    return None if all(of_submodules) else True


def _git(*arguments: str, at: Path) -> list[str]:
    said = git(*PLAIN, *arguments, at=at, limit_bytes=_MOST_BYTES, limit_seconds=COMMIT_SECONDS)
    return [line for line in said.split("\0") if line]
