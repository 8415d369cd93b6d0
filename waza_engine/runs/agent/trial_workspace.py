"""A fresh directory for every trial, with the files of the task, deleted when the trial is graded."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import tempfile
from collections import deque
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePosixPath, PureWindowsPath

from waza_engine.boundary import FileError, is_foreign, resolve_suite_path, suite_boundary
from waza_engine.executors.executor import WorkspaceFile
from waza_engine.files import copy_file, from_home, write_bytes
from waza_engine.processes.git import GitError, commit_named, git
from waza_engine.results.record import FilesChanged
from waza_engine.results.result_file_names import KEPT_PREFIX, workspace_prefix
from waza_engine.spec.problems import SuiteFileError
from waza_engine.spec.reading.suite_reader import DISK, SuiteFiles
from waza_engine.spec.reading.yaml_reader import read_text
from waza_engine.spec.task_file import InputFile, Repository, TaskFile
from waza_engine.user_state import forget_workspace, remember_workspace

_MANY_FILES = 20_000
_LARGE_BYTES = 1024 * 1024
_FOREIGN_FOLDERS = frozenset({"node_modules", "vendor"})


class WorkspaceError(Exception):
    """A workspace that cannot be created as the task asks; the message is for its author."""


@dataclass(frozen=True, slots=True)
class Workspace:
    """A trial's directory, with the ``files`` put there and the agent's ``instruction_files``.

    ``warnings`` name requested files that were not found.
    """

    directory: Path
    files: Sequence[WorkspaceFile] = ()
    instruction_files: Sequence[WorkspaceFile] = ()
    warnings: Sequence[str] = ()


@contextlib.contextmanager
def fresh_workspace(
    task: TaskFile, suite_directory: Path, instruction_files: Sequence[str] = (), *, keep: bool = False
) -> Generator[Workspace]:
    """Yield the workspace of one trial and remove it afterwards, unless ``keep``.

    Raises ``WorkspaceError`` for paths that lead out of the fixture directory or the workspace.
    """
    with _directory(keep=keep) as directory:
        yield _filled(directory, task, suite_directory, instruction_files)


@contextlib.contextmanager
def trigger_workspace(
    suite_directory: Path, instruction_files: Sequence[str], *, files: bool = True
) -> Generator[Workspace]:
    """Yield the workspace of a trigger prompt: a copy of the suite's fixtures, removed afterwards.

    Hidden directories, ``node_modules``, ``vendor`` and files over one MiB are left out, and links.
    Raises ``WorkspaceError``.
    """
    fixtures = suite_directory / "fixtures"
    with _directory() as directory:
        for file in files_below(fixtures, _not_for_triggers) if files and fixtures.is_dir() else ():
            _copy(file, directory / file.relative_to(fixtures))
        instructions = _copied_instructions(directory, fixtures, instruction_files)
        yield Workspace(directory, instruction_files=instructions)


def fixture_directory(task: TaskFile, suite_directory: Path) -> Path:
    """Return the directory of ``inputs.files``: ``context_dir``, or ``fixtures`` next to the eval file.

    A relative ``context_dir`` is looked up next to the eval file, then in the working directory, then in the
    directories above the suite: public suites write it relative to their repository's root.
    """
    if not task.context_dir:
        return suite_directory / "fixtures"
    if Path(task.context_dir).is_absolute():
        # The ``context_dir`` of a task file was checked at load time; any other comes from the command line.
        return Path(task.context_dir)
    return resolve_suite_path(suite_directory, task.context_dir, "context_dir", Path.is_dir)


def prompt_of(task: TaskFile, task_path: Path, files: SuiteFiles = DISK) -> str:
    """Return the first prompt: ``prompt``, or the content of ``prompt_file`` next to the task file.

    Raises ``WorkspaceError``.
    """
    if task.inputs.prompt_file is None:
        return task.inputs.prompt
    where = "the task file's directory"
    place = _inside(task_path.parent, task.inputs.prompt_file, "inputs.prompt_file", where)
    try:
        return read_text(place, within=suite_boundary(task_path.parent), files=files)
    except SuiteFileError as error:
        raise WorkspaceError(f"`inputs.prompt_file` {place}: {error.message}") from None


_Fixture = tuple[str, str, Callable[[], Path], Callable[[Path], bool]]
"""A file that a task asks for: upstream's code for a missing one, its key, its place, the check of it."""


def _fixtures_of(
    task: TaskFile, suite_directory: Path, instruction_files: Sequence[str]
) -> Iterator[_Fixture]:
    fixtures = fixture_directory(task, suite_directory)
    where = "the fixture directory"
    for file in _input_files(task):
        key = "inputs.files"
        if file.copy_from:
            yield "resource.file", key, partial(_source_of, file, suite_directory), Path.exists
        elif not file.content:
            yield "resource.file", key, partial(_inside, fixtures, file.path, key, where), Path.is_file
    for path in dict.fromkeys((*instruction_files, *task.instruction_files)):
        key = "instruction_files"
        yield "instruction.file", key, partial(_inside, fixtures, path, key, where), Path.is_file
    fixture = task.inputs.context.get("fixture")
    if isinstance(fixture, str) and fixture.strip():
        key, where = "inputs.context.fixture", "the suite's directory"
        yield "context.fixture", key, partial(_inside, suite_directory, fixture, key, where), Path.exists


def fixture_problems(
    task: TaskFile, task_path: Path, suite_directory: Path, instruction_files: Sequence[str] = ()
) -> Iterator[tuple[str, str]]:
    """Yield upstream's code and a clause for each file that a task asks for and that is not there."""
    for code, key, locate, is_there in _fixtures_of(task, suite_directory, instruction_files):
        try:
            place = locate()
        except WorkspaceError as error:
            yield code, str(error)
            continue
        if not is_there(place):
            yield code, f"`{key}`: there is no file {place}"
    try:
        prompt_of(task, task_path)
    except WorkspaceError as error:
        yield "prompt.file", str(error)


def fixture_files(
    task: TaskFile, suite_directory: Path, instruction_files: Sequence[str] = ()
) -> Iterator[Path]:
    """Yield the places of the fixtures that a task asks for."""
    for _, _, locate, _ in _fixtures_of(task, suite_directory, instruction_files):
        with contextlib.suppress(WorkspaceError):
            yield locate()


def _input_files(task: TaskFile) -> Iterator[InputFile]:
    for entry in task.inputs.files:
        yield entry if isinstance(entry, InputFile) else InputFile(path=entry)


def source_of_input(file: InputFile, fixtures: Path, suite_directory: Path, workspace: Path) -> Path | None:
    """Return the place of an input file, which may not exist; None for one with ``content``.

    Raises ``WorkspaceError`` for paths that lead out of the suite, the fixture directory or the workspace.
    """
    key = "inputs.files"
    # A folder may be copied to the root of the workspace.
    if not (file.copy_from and PurePosixPath(file.path) == PurePosixPath()):
        _inside(workspace, file.path, key, "the workspace")
    if file.content:
        return None
    if file.copy_from:
        return _source_of(file, suite_directory)
    return _inside(fixtures, file.path, key, "the fixture directory")


@contextlib.contextmanager
def _directory(*, keep: bool = False) -> Generator[Path]:
    # A killed process's leftovers are found by its pid; a prefix without one protects kept directories.
    prefix = KEPT_PREFIX if keep else workspace_prefix(os.getpid())
    try:
        directory = Path(tempfile.mkdtemp(prefix=prefix)).resolve()
        if keep:
            remember_workspace(directory)
    except OSError as error:
        raise WorkspaceError(f"the workspace cannot be made: {error.strerror or error}") from None
    try:
        yield directory
    finally:
        if not keep:
            remove_workspace(directory)


def remove_workspace(directory: Path) -> None:
    """Remove a workspace with write-protected files as well. Raises ``OSError``."""
    shutil.rmtree(directory, onerror=_remove_anyway)


def remove_kept_workspace(directory: Path) -> None:
    """Remove a workspace that was kept, and its record. One that cannot be removed is left."""
    with contextlib.suppress(OSError):
        remove_workspace(directory)
        forget_workspace(directory)


def _remove_anyway(remove: Callable[[str], object], path: str, _: object) -> None:
    """Remove write-protected files: git's objects on Windows, folders that a script closed elsewhere."""
    with contextlib.suppress(OSError):
        Path(path).parent.chmod(0o700)
        Path(path).chmod(0o700)
        remove(path)


def _not_for_triggers(entry: Path) -> bool:
    if entry.is_dir():
        return entry.name.startswith(".") or entry.name in _FOREIGN_FOLDERS
    try:
        return entry.stat().st_size > _LARGE_BYTES
    except OSError:
        return True


def _filled(
    directory: Path, task: TaskFile, suite_directory: Path, instruction_files: Sequence[str]
) -> Workspace:
    for repository in task.inputs.repos:
        target = _inside(directory, repository.dest, "inputs.repos", "the workspace")
        _check_out(repository, target, suite_directory)
    fixtures = fixture_directory(task, suite_directory)
    files: list[WorkspaceFile] = []
    warnings: list[str] = []
    for file in _input_files(task):
        if file.content:
            target = _inside(directory, file.path, "inputs.files", "the workspace")
            _write(target, file.content.encode("utf-8", "surrogatepass"))
        elif file.copy_from:
            files += _copied(_source_of(file, suite_directory), file.path, directory, "inputs.files")
            continue
        else:
            source = _inside(fixtures, file.path, "inputs.files", "the fixture directory")
            target = _inside(directory, file.path, "inputs.files", "the workspace")
            if not source.is_file():
                warnings.append(f"`inputs.files`: there is no file {source}")
                continue
            _copy(source, target)
        files.append(WorkspaceFile(file.path, target))
    if "fixture" in task.inputs.context:
        source = _context_fixture(task.inputs.context["fixture"], suite_directory)
        into = "" if source.is_dir() else source.name
        files += _copied(source, into, directory, "inputs.context.fixture")
    instructions = _copied_instructions(directory, fixtures, (*instruction_files, *task.instruction_files))
    if task.inputs.workdir:
        _make_workdir(directory, task.inputs.workdir)
    if task.inputs.git:
        _make_repository(directory)
    return Workspace(directory, files, instructions, warnings)


def _copied_instructions(directory: Path, fixtures: Path, written: Sequence[str]) -> list[WorkspaceFile]:
    key = "instruction_files"
    copied: list[WorkspaceFile] = []
    for path in dict.fromkeys(written):
        source = _inside(fixtures, path, key, "the fixture directory")
        if not source.is_file():
            raise WorkspaceError(f"`{key}`: there is no file {source}")
        target = _inside(directory, path, key, "the workspace")
        _copy(source, target)
        copied.append(WorkspaceFile(path, target))
    return copied


def _make_workdir(directory: Path, written: str) -> None:
    """Create the directory in which the agent starts, unless the files of the task did."""
    place = _inside(directory, written, "inputs.workdir", "the workspace")
    try:
        place.mkdir(parents=True, exist_ok=True)
    except OSError:
        raise WorkspaceError(
            f"`inputs.workdir`: `{written}` is a file in the workspace; name a directory"
        ) from None


def _copied(source: Path, into: str, directory: Path, key: str) -> Iterator[WorkspaceFile]:
    """Copy a file, or the files below a folder, to a path of the workspace; yield the copies."""
    if not source.exists():
        raise WorkspaceError(f"`{key}`: there is nothing at {source}")
    for file in files_below(source):
        path = str(PurePosixPath(into, file.relative_to(source).as_posix() if source.is_dir() else ""))
        target = _inside(directory, path, key, "the workspace")
        _copy(file, target)
        yield WorkspaceFile(path, target)


def _source_of(file: InputFile, suite_directory: Path) -> Path:
    try:
        return resolve_suite_path(suite_directory, file.copy_from, "inputs.files", Path.exists)
    except FileError as error:
        raise WorkspaceError(error.why) from None


def _context_fixture(written: object, suite_directory: Path) -> Path:
    """Return the file or directory that goes into the workspace root."""
    key = "inputs.context.fixture"
    if not isinstance(written, str) or not written.strip() or PurePosixPath(written) == PurePosixPath():
        raise WorkspaceError(f"`{key}` must name a file or directory below the suite's directory")
    return _inside(suite_directory, written, key, "the suite's directory")


def files_below(source: Path, left_out: Callable[[Path], bool] = lambda _: False) -> Iterator[Path]:
    """Yield the files below a directory, or the file itself; links are left out and never followed."""
    if source.is_file():
        yield source
        return
    pending, count = deque([source]), 0
    while pending:
        for entry in _entries(pending.popleft()):
            if entry.is_symlink() or left_out(entry):
                continue
            if entry.is_dir():
                pending.append(entry)
            elif entry.is_file():
                count += 1
                if count > _MANY_FILES:
                    raise WorkspaceError(f"{source} has more than {_MANY_FILES} files, too many to copy")
                yield entry


def _entries(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir())
    except OSError as error:
        raise WorkspaceError(f"{folder} cannot be read: {error.strerror or error}") from None


def _inside(root: Path, written: str, key: str, where: str) -> Path:
    """Return the resolved path of a relative path, which must lie below the root."""
    parts = PurePosixPath(written.replace("\\", "/")).parts
    if not parts or "\0" in written or ".." in parts or _is_absolute(written):
        raise WorkspaceError(f"`{key}`: `{written}` must be a path below {where}, relative and without `..`")
    place = root.joinpath(*parts) if "\\" in written and not (root / written).exists() else root / written
    try:
        outside = not place.resolve().is_relative_to(root.resolve())
    except (OSError, RuntimeError, ValueError):
        outside = True
    if outside:
        raise WorkspaceError(f"`{key}`: `{written}` leads out of {where} through a link")
    return place


def _is_absolute(written: str) -> bool:
    return (
        written.startswith("/")
        or PureWindowsPath(written).is_absolute()
        or bool(PureWindowsPath(written).drive)
    )


def _copy(source: Path, target: Path) -> None:
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        copy_file(source, target)
    except OSError as error:
        raise WorkspaceError(
            f"{source} cannot be copied into the workspace: {error.strerror or error}"
        ) from None


def _write(target: Path, content: bytes) -> None:
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        write_bytes(target, content)
    except OSError as error:
        raise WorkspaceError(
            f"{target.name} cannot be written into the workspace: {error.strerror or error}"
        ) from None


_ADD = ("add", "--all", "--force")
"""Also files that a ``.gitignore`` of the task names: the agent may change them."""
_COMMIT = (
    *("-c", "user.name=waza", "-c", "user.email=waza@localhost"),
    *("commit", "--quiet", "--allow-empty", "--no-verify"),
)


def _make_repository(directory: Path) -> None:
    """Make the workspace a repository with one commit of its files, for ``inputs.git``."""
    if next(directory.rglob(".git"), None) is not None:
        raise WorkspaceError("`inputs.git`: the files of the task hold a `.git` already")
    if shutil.which("git") is None:
        raise WorkspaceError("`inputs.git` needs `git`, which is not installed")
    try:
        git("init", "--quiet", "--initial-branch=main", "--template=", at=directory, unconfigured=True)
        git(*_ADD, at=directory, unconfigured=True)
        git(*_COMMIT, "--message=Files of the task", at=directory, unconfigured=True)
    except GitError as error:
        raise WorkspaceError(f"`inputs.git`: {error}") from None


def add_to_first_commit(directory: Path) -> None:
    """Add the files that an executor has put into a workspace with ``inputs.git``: they are not the agent's.

    Raises ``GitError``.
    """
    git(*_ADD, at=directory, unconfigured=True)
    git(*_COMMIT, "--amend", "--no-edit", at=directory, unconfigured=True)


_URL = re.compile(r"^(?:[A-Za-z][A-Za-z0-9+.-]+://|[^/\\]+@[^/\\]+:)")


def _check_out(repository: Repository, target: Path, suite_directory: Path) -> None:
    """Put a repository at ``target``, which must not exist or be empty. Raises ``WorkspaceError``.

    A relative source is looked up next to the eval file, then in the working directory, then in the
    directories above the suite. It must be in the repository of the suite or of the working directory.
    """
    source = _source(repository.source, suite_directory)
    commit = repository.commit.strip() or "HEAD"
    found = commit_named(commit, source)
    if found is None:
        raise WorkspaceError(f"`inputs.repos`: the repository {source} has no commit `{commit}`")
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise WorkspaceError(f"`inputs.repos`: `dest: {repository.dest}` is taken; give each its own `dest`")
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
        raise WorkspaceError(
            f"`inputs.repos`: the source `{written}` must be a local repository; clone it first"
        )
    if shutil.which("git") is None:
        raise WorkspaceError("`inputs.repos` needs `git`, which is not installed")
    path = from_home(written)
    places = [suite_directory / path, Path.cwd() / path, *(above / path for above in suite_directory.parents)]
    within = suite_boundary(suite_directory, opened=(Path.cwd(),))
    allowed = [place for place in dict.fromkeys(places) if not is_foreign(written) and within.holds(place)]
    if not allowed:
        raise WorkspaceError(
            f"`inputs.repos`: `{written}` leads out of {within.name}; start the run in the repository that "
            "it names, or in a directory that contains both"
        )
    failure = ""
    for place in allowed:
        if place.is_dir():
            try:
                top = _run("rev-parse", "--show-toplevel", at=place)
                return Path(top or _run("rev-parse", "--absolute-git-dir", at=place))
            except WorkspaceError as error:
                failure = failure or str(error)
    if failure:
        raise WorkspaceError(failure)
    raise WorkspaceError(f"`inputs.repos`: there is no directory {places[0]}")


def _run(*arguments: str, at: Path) -> str:
    try:
        return git(*arguments, at=at).strip()
    except GitError as error:
        raise WorkspaceError(f"`inputs.repos`: {error}") from None


MOST_FILES = 20_000
"""Changes are not reported for a workspace with more files: scanning it would take too long."""
_LEFT_OUT = frozenset({".git"})

_State = tuple[int, int]
"""A size in bytes, and a time in nanoseconds."""


def watched_files(workspace: Path) -> Callable[[], FilesChanged]:
    """Take a snapshot of a workspace; return a function that reports what has changed since.

    Links are files of their own and never followed; git's own directory is left out.
    """
    before = _files_of(workspace)

    def changes() -> FilesChanged:
        after = None if before is None else _files_of(workspace)
        return FilesChanged() if before is None or after is None else _difference(before, after)

    return changes


def _difference(before: Mapping[str, _State], after: Mapping[str, _State]) -> FilesChanged:
    return FilesChanged.of(
        created=sorted(after.keys() - before.keys()),
        changed=sorted(path for path in after.keys() & before.keys() if after[path] != before[path]),
        deleted=sorted(before.keys() - after.keys()),
    )


def _files_of(workspace: Path) -> dict[str, _State] | None:
    """Return the files by their paths with `/`; None when there are too many, or not all can be seen."""
    found: dict[str, _State] = {}
    waiting = [""]
    while waiting:
        folder = waiting.pop()
        try:
            entries = list(os.scandir(workspace / folder))
        except FileNotFoundError:
            continue  # processes of the agent may still be active
        except OSError:
            return None
        for entry in entries:
            path = f"{folder}{entry.name}"
            try:
                if entry.is_dir(follow_symlinks=False):
                    waiting += [] if entry.name in _LEFT_OUT else [f"{path}/"]
                    continue
                status = entry.stat(follow_symlinks=False)
            except FileNotFoundError:
                continue
            except OSError:
                return None
            found[path] = (status.st_size, status.st_mtime_ns)
            if len(found) > MOST_FILES:
                return None
    return found
