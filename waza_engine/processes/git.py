"""Questions to git: bounded in time, nothing asked of a person, nothing fetched, no hook run."""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from pathlib import Path

from waza_engine.processes.programs import OUTPUT_LIMIT_BYTES, run_bounded
from waza_engine.vocabulary import Commit

GIT_SECONDS = 120.0
PLAIN = ("-c", "core.fsmonitor=false")
"""Neither drivers of the repository nor a daemon of its configuration are started for a list of names."""
_QUOTED_CHARACTERS = 300
# Variables of a git command that started this run would point every git below it at that repository.
_FOREIGN = (
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_COMMON_DIR",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_NAMESPACE",
    "GIT_PREFIX",
    "GIT_CONFIG_PARAMETERS",
    "GIT_CONFIG_COUNT",
    "GIT_TEMPLATE_DIR",
    "GIT_TRACE",
)
_QUIET = {
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_ASKPASS": "",
    "SSH_ASKPASS": "",
    "GIT_ALLOW_PROTOCOL": "file",
    "GIT_LFS_SKIP_SMUDGE": "1",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "LC_ALL": "C",
}


# Hooks, filters and monitors that a user has configured are programs, which a suite may bring.
_UNCONFIGURED = {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_ATTR_NOSYSTEM": "1",
}
_PLAINEST = tuple(
    part
    for setting in (
        *("core.fsmonitor=false", f"core.hooksPath={os.devnull}", f"core.excludesFile={os.devnull}"),
        *(f"core.attributesFile={os.devnull}", "core.autocrlf=false", "commit.gpgsign=false"),
    )
    for part in ("-c", setting)
)


class GitError(Exception):
    """A failed git command; the message is one clause for a person, without a full stop."""


def git(
    *arguments: str,
    at: Path,
    limit_bytes: int = OUTPUT_LIMIT_BYTES,
    limit_seconds: float = GIT_SECONDS,
    unconfigured: bool = False,
) -> str:
    """Return the output of a git command in a directory; bytes that are not UTF-8 are U+FFFD.

    With ``unconfigured`` the configuration of the user and of the machine has no effect.

    Raises ``GitError`` when it cannot be started, takes longer than ``limit_seconds``, prints ``limit_bytes``
    or more, or fails.
    """
    verb = next(argument for argument in arguments if not argument.startswith("-") and "=" not in argument)
    try:
        finished = run_bounded(
            ("git", *(_PLAINEST if unconfigured else ()), *arguments),
            stdin="",
            timeout_seconds=limit_seconds,
            cwd=at,
            environment=_QUIET | _UNCONFIGURED if unconfigured else _QUIET,
            without=_FOREIGN,
            limit_bytes=limit_bytes,
        )
    except OSError as error:
        raise GitError(f"git cannot be started: {error.strerror or error}") from None
    if finished.timed_out:
        raise GitError(f"`git {verb}` took longer than {limit_seconds:g} seconds")
    if finished.exit_code != 0:
        said = _first_line(finished.stderr) or f"exit code {finished.exit_code}"
        raise GitError(f"`git {verb}` failed at {at}: {said}")
    if len(finished.stdout.encode("utf-8", "replace")) >= limit_bytes:
        raise GitError(f"`git {verb}` answers with more than {limit_bytes // 1_000_000} MB")
    return finished.stdout


def commit_named(name: str, at: Path, limit_seconds: float = GIT_SECONDS) -> str | None:
    """Return the full hash of the commit that a branch, tag or hash names, None when there is none.

    None, too, when git does not answer in time.
    """
    try:
        wanted = f"{name}^{{commit}}"
        asked = ("rev-parse", "--verify", "--quiet", "--end-of-options", wanted)
        return git(*asked, at=at, limit_seconds=limit_seconds).strip()
    except GitError:
        return None


def _first_line(text: str) -> str:
    lines: Sequence[str] = [line.strip() for line in text.splitlines() if line.strip()]
    return (lines[0] if lines else "").removeprefix("fatal: ")[:_QUOTED_CHARACTERS]


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
