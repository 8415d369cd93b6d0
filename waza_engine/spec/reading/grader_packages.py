"""Graders of packages: ``ref`` names one, ``waza.lock`` next to the eval file pins its content.

A package is a Git repository that upstream's ``waza get`` has put into a folder of the user, one folder a
commit. It is read from there as it was locked, or not at all.

Architecture invariant: nothing is ever downloaded, and nothing of a package is read before its digest is
verified. The editor reads packages with it, too: the caller parses the YAML.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any, cast

from waza_engine import files
from waza_engine.frozen import frozen
from waza_engine.later_patterns import compiled_later

LOCK_NAME = "waza.lock"
MANIFEST_NAME = "waza.registry.yaml"
CACHE_VARIABLE = "WAZA_MODULE_CACHE"
_FORM = "`<host>/<owner>/<repo>[/path][#export]@<version>`"
_COMMIT = compiled_later(r"[0-9a-fA-F]{40}")
_DIGEST = compiled_later(r"sha256:[0-9a-fA-F]{64}")
_MAX_BYTES = 64 * 1024 * 1024

Read = Callable[[Path], object]
"""Parses a YAML file into plain data. Raises ``GraderPackageError``."""


class GraderPackageError(Exception):
    """A ``ref`` leads to no grader; the message is one sentence for the author of the suite."""


@frozen()
class GraderReference:
    """The parts of a ``ref``. ``path`` and ``export`` are "" when it has none."""

    written: str
    repository: tuple[str, str, str]
    path: str
    export: str


def packaged_entry(written: str, eval_path: Path, lock: object, read: Read) -> Mapping[str, Any]:
    """Return the grader entry that a ``ref`` names, as it is written in its package, with a name.

    ``lock`` is the plain data of ``waza.lock``, None when there is none. Raises ``GraderPackageError``.
    """
    reference = parse_reference(written)
    commit, digest = _pins(reference, lock, eval_path)
    return _preset(reference, _verified(reference, commit, digest), read)


def refuse_javascript(kind: str, config: object) -> None:
    """Raise ``GraderPackageError`` when a package's assertions need a program.

    Those in Python need none: they are interpreted.
    """
    if kind == "code" and str(_get(config, "language")).strip() == "javascript":
        raise GraderPackageError(
            "the grader of the package has assertions in JavaScript, for which a program is started; "
            "write such a grader into the suite itself"
        )


def parse_reference(written: str) -> GraderReference:
    """Return the parts of a ``ref``. Raises ``GraderPackageError``."""
    written = written.strip()
    base, at, version = written.partition("@")
    base, _, export = base.partition("#")
    parts = base.split("/")
    wrong = f"`ref: {written}` must have the form {_FORM}"
    if not at or not version.strip() or len(parts) < 3 or "\\" in written:
        raise GraderPackageError(wrong)
    host, owner, repository = parts[:3]
    if any(part in ("", ".", "..") or part.strip() != part or ":" in part for part in parts[:3]):
        raise GraderPackageError(wrong)
    path = "/".join(part for part in parts[3:] if part not in ("", "."))
    if ".." in parts[3:]:
        raise GraderPackageError(f"`ref: {written}` must stay inside its package; write no `..`")
    return GraderReference(written, (host, owner, repository), path, export.strip())


def _pins(reference: GraderReference, lock: object, eval_path: Path) -> tuple[str, str]:
    """Return the commit and the digest that a reference is locked to."""
    get = f"run `waza get {eval_path.name}` and commit `{LOCK_NAME}`"
    if lock is None:
        raise GraderPackageError(f"`{LOCK_NAME}` is missing or empty beside the eval file; {get}")
    version = _get(lock, "schema_version")
    if version not in (None, 0, 1):
        raise GraderPackageError(f"`{LOCK_NAME}` has `schema_version: {version}`; only 1 can be read here")
    listed = _get(lock, "graders")
    entries = cast("list[object]", listed) if isinstance(listed, list) else []
    found = [entry for entry in entries if str(_get(entry, "ref") or "").strip() == reference.written]
    if len(found) != 1:
        times = "twice" if found else "not"
        raise GraderPackageError(f"`{LOCK_NAME}` has `{reference.written}` {times} in `graders`; {get}")
    commit, digest = _get(found[0], "commit"), _get(found[0], "digest")
    if not isinstance(commit, str) or not _COMMIT.fullmatch(commit):
        raise GraderPackageError(
            f"`{LOCK_NAME}`: `commit` of `{reference.written}` must be 40 hexadecimal digits; {get}"
        )
    if not isinstance(digest, str) or not _DIGEST.fullmatch(digest):
        raise GraderPackageError(
            f"`{LOCK_NAME}`: `digest` of `{reference.written}` must be `sha256:` and 64 digits; {get}"
        )
    return commit, digest


def _get(value: object, key: str) -> object:
    return cast("dict[str, object]", value).get(key) if isinstance(value, dict) else None


def _verified(reference: GraderReference, commit: str, locked: str) -> Path:
    """Return the folder of the package, after verifying its content against the lock."""
    root = os.environ.get(CACHE_VARIABLE)
    cache = Path(root) if root else files.from_home("~/.waza") / "cache"
    folder = cache.joinpath(*reference.repository, commit)
    if not folder.is_dir():
        raise GraderPackageError(
            f"the package of `{reference.written}` is not in {folder}; run `waza get` while online, "
            "nothing is downloaded here"
        )
    digest = directory_digest(folder)
    if digest != locked:
        raise GraderPackageError(
            f"the package of `{reference.written}` is not what `{LOCK_NAME}` has locked: it has {digest} "
            f"instead of {locked}; delete {folder} and run `waza get`"
        )
    return folder


def directory_digest(folder: Path) -> str:
    """Return the digest of all files of a package, as ``sha256:`` and 64 hexadecimal digits.

    Each file counts with its path from the folder and its content, each ended by a NUL, in the order of the
    paths' bytes. Raises ``GraderPackageError`` for what cannot be read and for links.
    """
    import hashlib

    digest = hashlib.sha256()
    try:
        for name, path in sorted(_files_below(folder)):
            digest.update(name + b"\0")
            digest.update(files.read_bytes(path, _MAX_BYTES) + b"\0")
    except OSError as error:
        raise GraderPackageError(f"the package in {folder} cannot be read: {error}") from None
    return f"sha256:{digest.hexdigest()}"


def _files_below(folder: Path) -> Iterator[tuple[bytes, Path]]:
    for parent, folders, names in os.walk(folder, onerror=_raise):
        for name in (*folders, *names):
            path = Path(parent, name)
            if path.is_symlink():
                why = f"the package in {folder} has a link, {path.name}; links are refused"
                raise GraderPackageError(why)
            if name in names:
                yield os.fsencode(path.relative_to(folder).as_posix()), path


def _raise(error: OSError) -> None:
    raise error


def _preset(reference: GraderReference, package: Path, read: Read) -> Mapping[str, Any]:
    if reference.path and not reference.export:
        return _entry(reference, _below(reference, package, reference.path), reference.path, read)
    start = _below(reference, package, reference.path) if reference.path else package
    exports = _exports(reference, start, read)
    known = ", ".join(f"`#{export}`" for export in exports)
    if not reference.export and len(exports) != 1:
        raise GraderPackageError(f"`{reference.written}` must say which grader it means; there are {known}")
    name = reference.export or next(iter(exports))
    if name not in exports:
        raise GraderPackageError(
            f"the package of `{reference.written}` has no grader `#{name}`; it has {known}"
        )
    return _entry(reference, _below(reference, start, exports[name]), name, read)


def _exports(reference: GraderReference, folder: Path, read: Read) -> Mapping[str, str]:
    """Return the files of the graders of a package by name, at least one."""
    listed = _get(_get(read(folder / MANIFEST_NAME), "exports"), "graders")
    exports = cast("dict[str, object]", listed) if isinstance(listed, dict) else {}
    if not exports:
        raise GraderPackageError(
            f"`{MANIFEST_NAME}` of the package of `{reference.written}` exports no graders"
        )
    return {str(name): str(_get(export, "path") or "") for name, export in exports.items()}


def _entry(reference: GraderReference, path: Path, name: str, read: Read) -> Mapping[str, Any]:
    candidates = [path] if path.suffix else [path, path.with_suffix(".yaml"), path.with_suffix(".yml")]
    found = next((candidate for candidate in candidates if candidate.is_file()), None)
    if found is None:
        raise GraderPackageError(f"the package of `{reference.written}` has no file `{path.name}`")
    value = read(found)
    if not isinstance(_get(value, "type"), str):
        raise GraderPackageError(f"{found.name} of the package of `{reference.written}` has no `type`")
    entry = cast("dict[str, Any]", value)
    return entry if entry.get("name") else {**entry, "name": PurePosixPath(name).stem}


def _below(reference: GraderReference, folder: Path, path: str) -> Path:
    pure = PurePosixPath(path)
    if not path.strip() or "\\" in path or pure.is_absolute() or ".." in pure.parts or not pure.parts:
        raise GraderPackageError(f"the package of `{reference.written}` names a file outside of it: `{path}`")
    return folder.joinpath(*pure.parts)
