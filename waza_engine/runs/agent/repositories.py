"""Local git repositories in a workspace (``inputs.repos``), created without changing their source.

Upstream adds a worktree to the source, which writes into it and lets the agent move its branches. Here the
workspace gets a clone that borrows the objects: detached at the commit, with all branches and tags, without a
remote. Nothing is fetched over a network, no hook and no filter of the source runs.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from waza_engine.boundary import is_foreign, suite_boundary
from waza_engine.files import from_home
from waza_engine.processes.git import GitError, commit_named, git
from waza_engine.spec.task_file import Repository

_URL = re.compile(r"^(?:[A-Za-z][A-Za-z0-9+.-]+://|[^/\\]+@[^/\\]+:)")


class RepositoryError(Exception):
    """A repository that cannot be put into the workspace; the message is for the author of the task."""


def check_out(repository: Repository, target: Path, suite_directory: Path) -> None:
    """Put a repository at ``target``, which must not exist or be empty. Raises ``RepositoryError``.

    A relative source is looked up next to the eval file, then in the working directory, then in the
    directories above the suite. It must be in the repository of the suite or of the working directory.
    """
    source = _source(repository.source, suite_directory)
    commit = repository.commit.strip() or "HEAD"
    found = commit_named(commit, source)
    if found is None:
        raise RepositoryError(f"`inputs.repos`: the repository {source} has no commit `{commit}`")
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise RepositoryError(f"`inputs.repos`: `dest: {repository.dest}` is taken; give each its own `dest`")
    target.parent.mkdir(parents=True, exist_ok=True)
    quiet = ("-c", "core.hooksPath=", "-c", "advice.detachedHead=false", "-c", "protocol.file.allow=always")
    clone = (*quiet, "clone", "--quiet", "--shared", "--no-checkout", "--template=")
    _run(*clone, "--", str(source), str(target), at=target.parent)
    _run("update-ref", "--no-deref", "HEAD", found, at=target)
    _run(*quiet, "fetch", "--quiet", "--tags", "origin", "+refs/heads/*:refs/heads/*", at=target)
    _run("remote", "remove", "origin", at=target)
    _run(*quiet, "reset", "--quiet", "--hard", found, at=target)


def _source(written: str, suite_directory: Path) -> Path:
    """Return the top of the repository that a source names."""
    if _URL.match(written):
        raise RepositoryError(
            f"`inputs.repos`: the source `{written}` must be a local repository; clone it first"
        )
    if shutil.which("git") is None:
        raise RepositoryError("`inputs.repos` needs `git`, which is not installed")
    path = from_home(written)
    places = [suite_directory / path, Path.cwd() / path, *(above / path for above in suite_directory.parents)]
    within = suite_boundary(suite_directory, opened=(Path.cwd(),))
    allowed = [place for place in dict.fromkeys(places) if not is_foreign(written) and within.holds(place)]
    if not allowed:
        raise RepositoryError(
            f"`inputs.repos`: `{written}` leads out of {within.name}; start the run in the repository that "
            "it names, or in a directory that contains both"
        )
    complaint = ""
    for place in allowed:
        if place.is_dir():
            try:
                top = _run("rev-parse", "--show-toplevel", at=place)
                return Path(top or _run("rev-parse", "--absolute-git-dir", at=place))
            except RepositoryError as error:
                complaint = complaint or str(error)
    if complaint:
        raise RepositoryError(complaint)
    raise RepositoryError(f"`inputs.repos`: there is no directory {places[0]}")


def _run(*arguments: str, at: Path) -> str:
    try:
        return git(*arguments, at=at).strip()
    except GitError as error:
        raise RepositoryError(f"`inputs.repos`: {error}") from None
