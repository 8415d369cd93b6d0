"""The files that decided a run, with their digests and contents, as they were when it began.

They are stored in ``.waza/inputs``, in a file named by the digests in it: runs of the same suite share one.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from waza_engine.boundary import is_foreign
from waza_engine.files import read_text
from waza_engine.later_patterns import compiled_later
from waza_engine.results.json_values import (
    Block,
    Json,
    block_of,
    nonempty,
    object_in,
    text_of,
    texts_of,
    whole,
)
from waza_engine.results.result_file_names import boundary_beside

LONGEST_BYTES = 16 * 2**20
_UNREAD_FOLDERS = frozenset({".git", ".waza", ".venv", "node_modules", "__pycache__", ".waza-cache"})
_OF_EDITORS = frozenset({".vscode", ".idea"})
_LEFT_BY_PROGRAMS = compiled_later(
    r"\.DS_Store|\._.+|(?i:thumbs\.db|desktop\.ini)|\.directory|.+~|\..*\.sw[a-p]|\.#.+|#.+#|4913"
)
"""Of file managers; copies, locks and trial files of editors."""
_DIGEST = compiled_later(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class InputFile:
    """A file that decides verdicts, as it was when the run began.

    ``path`` starts at the suite's directory and has forward slashes; ``sha256`` is that of the bytes,
    ``size`` their number. It decides those of ``tasks``, of all tasks when that is empty.
    """

    path: str
    sha256: str
    size: int
    tasks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class InputFolder:
    """A folder that decides verdicts with all its files: each of them, and of folders below it, is recorded.

    ``path`` and ``tasks`` are as those of a file.
    """

    path: str
    tasks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RunInputs:
    """The inputs of a run. ``texts`` are the stored contents of its files, by path, credentials masked."""

    files: tuple[InputFile, ...] = ()
    folders: tuple[InputFolder, ...] = ()
    texts: Mapping[str, str] = field(default_factory=dict[str, str])


def is_unread(folder: str, *, in_skill: bool) -> bool:
    """Return whether a folder of this name never decides a run.

    Next to a ``SKILL.md`` (``in_skill``), editor settings are ignored; in a fixture they may be the subject
    of a task.
    """
    return folder in _UNREAD_FOLDERS or (in_skill and folder in _OF_EDITORS)


def is_left_by_programs(file: str) -> bool:
    """Return whether a file of this name appears by itself, such as a file browser's or editor's.

    In a folder it decides nothing; if it is named itself, it does.
    """
    return _LEFT_BY_PROGRAMS.fullmatch(file) is not None


def inputs_directory(results: Path) -> Path:
    """Return the directory of the inputs of a run, next to the folder of its result file."""
    return results.parent.with_name("inputs")


def digest_of(content: bytes) -> str:
    """Return the SHA-256 of some content."""
    return hashlib.sha256(content).hexdigest()


def inputs_digest(inputs: RunInputs) -> str:
    """Return the digest that names the inputs of a run: that of its files and folders.

    The stored texts are not in it: the credentials that are masked there differ from machine to machine.
    """
    document = {key: value for key, value in inputs_document(inputs).items() if key != "texts"}
    return digest_of(json.dumps(document, sort_keys=True).encode())


def inputs_document(inputs: RunInputs) -> Json:
    """Return the inputs of a run as they are written."""
    files = {
        file.path: {"sha256": file.sha256, "size": file.size, **nonempty(tasks=list(file.tasks))}
        for file in inputs.files
    }
    folders = {folder.path: nonempty(tasks=list(folder.tasks)) for folder in inputs.folders}
    return {"files": files, **nonempty(folders=folders), "texts": dict(inputs.texts)}


def inputs_of(results: Path, digest: str) -> RunInputs:
    """Return the inputs of the run in a result file; nothing when they are not there or are another one's.

    Paths that lead out of the boundary of the suite are left out.
    """
    if not _DIGEST.fullmatch(digest):
        return RunInputs()
    try:
        within = boundary_beside(results)
        text = read_text(inputs_directory(results) / f"{digest}.json", LONGEST_BYTES, within=within)
    except OSError:
        return RunInputs()
    found, suite = _inputs_in(object_in(text.encode()) or {}), results.absolute().parent.parent.parent
    # Earlier versions named the file by its whole content.
    if digest not in (inputs_digest(found), digest_of(text.encode("utf-8", "surrogatepass"))):
        return RunInputs()

    def is_inside(path: str) -> bool:
        return not is_foreign(path) and within.holds(suite / path)

    return RunInputs(
        tuple(file for file in found.files if is_inside(file.path)),
        tuple(folder for folder in found.folders if is_inside(folder.path)),
        found.texts,
    )


def _inputs_in(document: Block) -> RunInputs:
    files, folders, texts = (block_of(document, key) for key in ("files", "folders", "texts"))
    return RunInputs(
        tuple(
            InputFile(
                path=path,
                sha256=text_of(block_of(files, path).get("sha256")),
                size=whole(block_of(files, path).get("size")),
                tasks=tuple(texts_of(block_of(files, path).get("tasks"))),
            )
            for path in files
        ),
        tuple(InputFolder(path, tuple(texts_of(block_of(folders, path).get("tasks")))) for path in folders),
        {path: text for path, text in texts.items() if isinstance(text, str)},
    )
