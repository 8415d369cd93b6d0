"""A fresh directory for every trial, with the files that the task asks for, gone when the trial is graded."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath, PureWindowsPath

from waza_engine.executors.base import WorkspaceFile
from waza_engine.spec.problems import SuiteFileError
from waza_engine.spec.task_file import TaskFile
from waza_engine.spec.task_inputs import InputFile
from waza_engine.spec.yaml_reader import read_text

_MANY_FILES = 20_000


class WorkspaceError(Exception):
    """A workspace that cannot be made as the task asks; the text is for its author."""


@dataclass(frozen=True, slots=True)
class Workspace:
    """A trial's directory. ``files`` is what was put there.

    ``warnings`` name what was asked for and not found.
    """

    directory: Path
    files: Sequence[WorkspaceFile] = ()
    warnings: Sequence[str] = field(default=())


@contextlib.contextmanager
def fresh_workspace(
    task: TaskFile, suite_directory: Path, instruction_files: Sequence[str] = (), *, keep: bool = False
) -> Generator[Workspace]:
    """Make the workspace of one trial and remove it afterwards, unless it is to be kept.

    Raises ``WorkspaceError`` for paths that lead out of the fixture directory or the workspace.
    """
    directory = Path(tempfile.mkdtemp(prefix="waza-")).resolve()
    try:
        yield _filled(directory, task, suite_directory, instruction_files)
    finally:
        if not keep:
            shutil.rmtree(directory, ignore_errors=True)


def fixture_directory(task: TaskFile, suite_directory: Path) -> Path:
    """Return where ``inputs.files`` are found: ``context_dir`` or ``fixtures`` beside the eval file.

    A relative ``context_dir`` is looked for beside the eval file, then in the working directory, then in the
    directories above the suite: public suites write it from their repository's root (reference waza.md D15).
    """
    if not task.context_dir:
        return suite_directory / "fixtures"
    written = Path(task.context_dir).expanduser()
    places = [
        suite_directory / written,
        Path.cwd() / written,
        *(above / written for above in suite_directory.parents),
    ]
    return next((place for place in places if place.is_dir()), places[0])


def prompt_of(task: TaskFile, task_path: Path) -> str:
    """Return the first prompt: ``prompt``, or the text of ``prompt_file`` beside the task file.

    Raises ``WorkspaceError``.
    """
    if task.inputs.prompt_file is None:
        return task.inputs.prompt
    where = "the task file's directory"
    place = _inside(task_path.parent, task.inputs.prompt_file, "inputs.prompt_file", where)
    try:
        return read_text(place)
    except SuiteFileError as error:
        raise WorkspaceError(f"`inputs.prompt_file` {place}: {error.message}") from None


def _filled(
    directory: Path, task: TaskFile, suite_directory: Path, instruction_files: Sequence[str]
) -> Workspace:
    if task.inputs.repos:
        raise WorkspaceError("`inputs.repos` cannot be run yet; copy what the task needs below `fixtures`")
    fixtures = fixture_directory(task, suite_directory)
    files: list[WorkspaceFile] = []
    warnings: list[str] = []
    for entry in task.inputs.files:
        file = entry if isinstance(entry, InputFile) else InputFile(path=entry)
        if file.content:
            target = _inside(directory, file.path, "inputs.files", "the workspace")
            _write(target, file.content.encode("utf-8", "surrogatepass"))
        else:
            source = _inside(fixtures, file.path, "inputs.files", "the fixture directory")
            target = _inside(directory, file.path, "inputs.files", "the workspace")
            if not source.is_file():
                warnings.append(f"`inputs.files`: there is no file {source}")
                continue
            _copy(source, target)
        files.append(WorkspaceFile(file.path, target))
    for written in (*instruction_files, *task.instruction_files):
        source = _inside(fixtures, written, "instruction_files", "the fixture directory")
        if not source.is_file():
            raise WorkspaceError(f"`instruction_files`: there is no file {source}")
        _copy(source, _inside(directory, written, "instruction_files", "the workspace"))
    if "fixture" in task.inputs.context:
        files += _copied_fixture(directory, task.inputs.context["fixture"], suite_directory)
    if task.inputs.workdir:
        _inside(directory, task.inputs.workdir, "inputs.workdir", "the workspace")
    return Workspace(directory, files, warnings)


def _copied_fixture(directory: Path, written: object, suite_directory: Path) -> list[WorkspaceFile]:
    """Copy a file, or the contents of a directory, into the workspace root; links are left out."""
    key = "inputs.context.fixture"
    if not isinstance(written, str) or not written.strip() or PurePosixPath(written) == PurePosixPath():
        raise WorkspaceError(f"`{key}` must name a file or directory below the suite's directory")
    source = _inside(suite_directory, written, key, "the suite's directory")
    if not source.exists():
        raise WorkspaceError(f"`{key}`: there is nothing at {source}")
    copied: list[WorkspaceFile] = []
    for file in _files_below(source):
        relative = file.relative_to(source) if source.is_dir() else Path(source.name)
        _copy(file, directory / relative)
        copied.append(WorkspaceFile(relative.as_posix(), directory / relative))
    return copied


def _files_below(source: Path) -> Iterator[Path]:
    if source.is_file():
        yield source
        return
    pending, count = [source], 0
    while pending:
        for entry in sorted(pending.pop(0).iterdir()):
            if entry.is_symlink():
                continue
            if entry.is_dir():
                pending.append(entry)
            elif entry.is_file():
                count += 1
                if count > _MANY_FILES:
                    raise WorkspaceError(
                        f"`inputs.context.fixture`: {source} has more than {_MANY_FILES} files"
                    )
                yield entry


def _inside(root: Path, written: str, key: str, where: str) -> Path:
    """Return the place of a relative path, links followed, which must lie below the root."""
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
        shutil.copyfile(source, target)
        shutil.copymode(source, target)
    except OSError as error:
        raise WorkspaceError(
            f"{source} cannot be copied into the workspace: {error.strerror or error}"
        ) from None


def _write(target: Path, content: bytes) -> None:
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
    except OSError as error:
        raise WorkspaceError(
            f"{target.name} cannot be written into the workspace: {error.strerror or error}"
        ) from None
