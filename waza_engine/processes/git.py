"""Questions to git: bounded in time, nothing asked of a person, nothing fetched, no hook run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from waza_engine.processes.programs import OUTPUT_LIMIT_BYTES, run_bounded

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


class GitError(Exception):
    """A failed git command; the message is one clause for a person, without a full stop."""


def git(
    *arguments: str, at: Path, limit_bytes: int = OUTPUT_LIMIT_BYTES, limit_seconds: float = GIT_SECONDS
) -> str:
    """Return the output of a git command in a directory; bytes that are not UTF-8 are U+FFFD.

    Raises ``GitError`` when it cannot be started, takes longer than ``limit_seconds``, prints ``limit_bytes``
    or more, or fails.
    """
    verb = next(argument for argument in arguments if not argument.startswith("-") and "=" not in argument)
    try:
        finished = run_bounded(
            ("git", *arguments),
            stdin="",
            timeout_seconds=limit_seconds,
            cwd=at,
            environment=_QUIET,
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
