"""The files of a suite for workers that do not see them: packed by content, unpacked once on each machine.

A bundle has the folder of the suite and what its tasks name elsewhere, as far as the boundary of the suite
goes. Files that git ignores, files that hold credentials, and folders such as ``node_modules`` stay at home.
"""

from __future__ import annotations

import atexit
import gzip
import hashlib
import io
import os
import shutil
import tarfile
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fnmatch import fnmatch
from pathlib import Path, PurePosixPath

from waza_engine.boundary import Boundary, FileError, is_too_wide, repository_around, suite_boundary
from waza_engine.files import decoded, make_folder, opened_to_read, read_bytes, write_atomically
from waza_engine.masking import masked
from waza_engine.processes.git import PLAIN, GitError, git
from waza_engine.results.inputs import digest_of
from waza_engine.results.json_values import Block, Json, block_of, nonempty, object_in, text_of
from waza_engine.results.result_file_names import workspace_prefix
from waza_engine.runs.agent.trial_workspace import fixture_directory
from waza_engine.runs.loading.suite_on_disk import SuiteError
from waza_engine.runs.passes.deciding_files import DecidingFiles, files_at
from waza_engine.runs.settings.table import RunSettings
from waza_engine.runs.trials.context import RunContext
from waza_engine.runs.trials.selection import SelectedTask
from waza_engine.runs.trials.triggers import trigger_file
from waza_engine.spec.loading import find_project_config
from waza_engine.spec.reading.suite_reader import DISK
from waza_engine.terminal import json_text
from waza_engine.user_state import state_folder

MOST_BYTES = 256 * 2**20
_UNUSED_SECONDS = 7 * 24 * 3600
_LONGEST_MANIFEST = 64 * 2**20
_MOST_NAMED = 3
_OF_CREDENTIALS = (
    *(".env", ".env.*", "*.env", "*.pem", "*.key", "*.p12", "*.pfx", "*.jks", "*.kdbx"),
    *("id_rsa", "id_dsa", "id_ecdsa", "id_ed25519"),
    *(".netrc", "_netrc", ".npmrc", ".pypirc", ".git-credentials"),
)
_EXAMPLES = (".env.example", ".env.sample", ".env.template")


@dataclass(frozen=True, slots=True)
class Bundle:
    """A packed suite. ``digest`` is that of its manifest, which has the digest of each file.

    ``left_out`` are the files that may hold credentials, by their names in the bundle.
    """

    manifest: bytes
    content: bytes
    left_out: Sequence[str]

    @property
    def digest(self) -> str:
        """Return the name of the bundle."""
        return digest_of(self.manifest)

    @property
    def warning(self) -> str:
        """Return a sentence about the files that were left out, "" without any."""
        if not self.left_out:
            return ""
        named = ", ".join(f"`{name}`" for name in self.left_out[:_MOST_NAMED])
        more = f" and {len(self.left_out) - _MOST_NAMED} more" if len(self.left_out) > _MOST_NAMED else ""
        return f"{named}{more} may hold credentials, so workers without a checkout do not get them."


def make_bundle(tasks: Sequence[SelectedTask], context: RunContext, most: int = MOST_BYTES) -> Bundle:
    """Pack the files that the tasks of a pass read. Raises ``SuiteError`` when they are too many bytes."""
    suite, within = context.suite.path, suite_boundary(context.suite.directory)
    repository = repository_around(suite.parent)
    files = [file for file in _files(tasks, context) if within.holds(file)]
    root = repository or _common_folder(suite.parent, files)
    found = {name: file for file in files if (name := _name_in(root, file)) is not None}
    needed = {_name_in(root, file) for file in (suite, *(task.source.path for task in tasks))}
    _check_options(context.settings, root)
    left_out = list[str]()
    packed, listed, total = io.BytesIO(), dict[str, Json](), 0
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.GNU_FORMAT) as tar:
        for name, file in sorted(found.items()):
            content, is_program = _content(file, within, most)
            if content is None:
                continue
            if _holds_credentials(name, content):
                if name in needed:
                    raise SuiteError(
                        f"{file} may hold a credential, so it is not sent to workers; "
                        "take the credential from the environment, or share the folder."
                    )
                left_out.append(name)
                continue
            total += len(content)
            if total > most:
                raise SuiteError(_too_large(found.values(), most))
            listed[name] = {"sha256": digest_of(content), **nonempty(is_program=is_program)}
            entry = tarfile.TarInfo(name)
            entry.size, entry.mode = len(content), 0o755 if is_program else 0o644
            tar.addfile(entry, io.BytesIO(content))
    manifest = {
        "root": str(root),
        "is_repository": repository is not None,
        "files": listed,
    }
    written = json_text(manifest).encode()
    return Bundle(written, gzip.compress(packed.getvalue(), mtime=0), left_out)


def manifest_name(digest: str) -> str:
    """Return the name of a manifest in the store of a run."""
    return f"bundles/{digest}.json"


def content_name(digest: str) -> str:
    """Return the name of the packed files in the store of a run."""
    return f"bundles/{digest}.tar.gz"


def settings_on_worker(
    settings: RunSettings, manifest: bytes, fetch: Callable[[], bytes], cache: Path | None = None
) -> RunSettings:
    """Return the settings of a run with the paths of a worker: its own checkout, or the unpacked bundle.

    ``fetch`` returns the packed content; it is called if this machine has not got all of it. Raises
    ``OSError``, and ``SuiteError`` for a bundle that is not what it says.
    """
    document = object_in(manifest) or {}
    root, listed = Path(text_of(document.get("root"))), block_of(document, "files")
    if not _missing(root, listed):
        return settings
    # Another checkout of the same files has another root.
    content_digest = digest_of(json_text(listed).encode())
    folder = _unpacked(content_digest, document, listed, fetch, cache)
    context = settings.context_directory
    return replace(
        settings,
        path=folder / settings.path.absolute().relative_to(root),
        context_directory=context and folder / context.absolute().relative_to(root),
    )


def _files(tasks: Sequence[SelectedTask], context: RunContext) -> Iterator[Path]:
    """Yield the files of a suite, some of them twice; those that git ignores only if the suite names them."""
    suite = context.suite
    deciding = DecidingFiles(suite, context.agent)
    folders = {suite.directory}
    named = {suite.path, trigger_file(suite), *(task.source.path for task in tasks)}
    if (project := find_project_config(suite.directory, files=DISK)) is not None:
        named.add(project)
    named |= deciding.places_of_suite()
    for task in tasks:
        if task.trial is not None:
            named |= deciding.places(task.source, task.trial)
            folders.add(fixture_directory(task.trial.spec, suite.directory))
    folders |= {path for path in named if path.is_dir()}
    for folder in sorted(folders):
        ignored = _ignored(folder) if folder.is_dir() else frozenset[str]()
        for file, name in files_at(folder, suite.directory) if folder.is_dir() else ():
            above = (str(level) for level in PurePosixPath(name).parents)
            if name not in ignored and ignored.isdisjoint(f"{level}/" for level in above):
                yield file
    for path in sorted(named):
        if path.is_file():
            yield from (file for file, _ in files_at(path, suite.directory))


def _ignored(folder: Path) -> frozenset[str]:
    """Return the files and folders, these with a slash, that git ignores below a folder."""
    asked = ("ls-files", "--others", "--ignored", "--exclude-standard", "--directory", "-z")
    try:
        return frozenset(git(*PLAIN, *asked, at=folder, limit_bytes=_LONGEST_MANIFEST).split("\0"))
    except GitError:  # there is no repository
        return frozenset()


def _common_folder(directory: Path, files: Sequence[Path]) -> Path:
    """Return the folder that holds a suite without a repository and all of its files."""
    common = Path(os.path.commonpath([directory, *(file.absolute() for file in files)]))
    return directory if is_too_wide(common) else common


def _name_in(root: Path, file: Path) -> str | None:
    """Return the name of a file below a folder, perhaps through links; None for one elsewhere."""
    for run_store, above in ((Path(os.path.abspath(file)), root), (file.resolve(), root.resolve())):  # noqa: PTH100 - links stay
        if run_store.is_relative_to(above):
            return run_store.relative_to(above).as_posix()
    return None


def _content(file: Path, within: Boundary, most: int) -> tuple[bytes | None, bool]:
    """Return the content of a file, and whether it can be executed; None for one that cannot be read."""
    try:
        content = read_bytes(file, most, within=within)
        return content, os.access(file, os.X_OK)
    except FileError as error:
        if error.kind == "too large":
            raise SuiteError(_too_large([file], most)) from None
        return None, False


def _holds_credentials(name: str, content: bytes) -> bool:
    plain = PurePosixPath(name).name.lower()
    if plain not in _EXAMPLES and any(fnmatch(plain, pattern) for pattern in _OF_CREDENTIALS):
        return True
    text = decoded(content)
    return masked(text) != text


def _too_large(found: Iterable[Path], most: int) -> str:
    size, largest = max((file.stat().st_size, str(file)) for file in found)
    return (
        f"The files of the suite are more than {most // 2**20} MiB, too much to send to workers; "
        f"the largest is {largest} ({size // 2**20} MiB). "
        "Let git ignore what no task needs, or share the folder."
    )


def _check_options(settings: RunSettings, root: Path) -> None:
    context = settings.context_directory
    if context is not None and not context.absolute().is_relative_to(root):
        raise SuiteError(f"`--context-dir {context}` is not below {root}, so workers do not get it.")


def _missing(root: Path, listed: Block) -> list[str]:
    """Return the files that are not below a folder, or differ."""
    if not root.is_dir():
        return [*listed]
    within = Boundary.around(root, name=str(root))
    return [name for name in listed if _digest(root / name, within) != block_of(listed, name).get("sha256")]


def _digest(file: Path, within: Boundary) -> str:
    try:
        with opened_to_read(file, within=within) as opened:
            return hashlib.file_digest(opened, "sha256").hexdigest()
    except OSError:
        return ""


def _unpacked(
    digest: str, document: Block, listed: Block, fetch: Callable[[], bytes], cache: Path | None
) -> Path:
    """Return the folder of a bundle, whose files are what the manifest lists.

    Its name depends on its content alone, because agents see it. A program that runs there may have changed a
    file, and several processes may unpack at the same time: each writes what differs.
    """
    folder = _folder_of(digest, cache)
    if document.get("is_repository") is True:
        # The boundary of a suite is its repository.
        make_folder(folder / ".git")
    within = Boundary.around(folder, name=str(folder))
    missing = set(_missing(folder, listed))
    if missing:
        content = gzip.decompress(fetch())
        with tarfile.open(fileobj=io.BytesIO(content)) as tar:
            for entry in tar:
                if entry.name in missing and entry.isreg() and (file := tar.extractfile(entry)):
                    write_atomically(folder / entry.name, [file.read()], within=within)
                    if block_of(listed, entry.name).get("is_program") is True:
                        (folder / entry.name).chmod(0o755)
    if changed := _missing(folder, listed):
        raise SuiteError(f"The files of the suite that were sent are damaged: `{changed[0]}` differs.")
    os.utime(folder)
    return folder


def _folder_of(digest: str, cache: Path | None) -> Path:
    """Return the new or used folder of a bundle, and remove those that were not used for a week."""
    bundles = state_folder() / "bundles" if cache is None else cache
    try:
        make_folder(bundles / digest[:16])
    except OSError:
        # A container may have no home folder. Workspaces of a worker that was killed are removed by others.
        folder = Path(tempfile.mkdtemp(prefix=workspace_prefix(os.getpid())))
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        return folder
    for other in bundles.iterdir():
        with suppress(OSError):
            if time.time() - other.stat().st_mtime > _UNUSED_SECONDS:
                shutil.rmtree(other, ignore_errors=True)
    return bundles / digest[:16]
