"""The suites and tasks on disk, with the text of open documents in place of their files.

A ``Project`` is immutable: opening, editing or closing a document creates a new one. All projects share one
cache of the disk, which compares file times before each use.

Architecture invariant: the disk decides whether a file exists, and an open document decides its content.
Nothing here raises, and a value that cannot be determined is ``unknown``, never empty.
"""

from __future__ import annotations

import os
from bisect import insort
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from itertools import chain, islice
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar

from waza_engine.checkpoint import checkpoint
from waza_engine.later_patterns import compiled_later
from waza_engine.spec.foreign_evals import is_named_as_evals
from waza_engine.spec.harness_files import ROW_SUFFIXES
from waza_engine.spec.reading.task_globs import is_literal, split_pattern
from waza_language_server.project.boundaries import Boundaries
from waza_language_server.project.claim import (
    CONFIG_NAMES,
    EVAL_NAMES,
    JSON_SUFFIX,
    JSON_SUFFIXES,
    SKILL_NAME,
    TRIGGER_NAMES,
    YAML_SUFFIXES,
    claim,
)
from waza_language_server.project.disk import TOO_LARGE, Disk
from waza_language_server.project.document import SUITES, Document, DocumentKind
from waza_language_server.project.facts import Fact
from waza_language_server.project.outline import EMPTY, Outline, outline, outline_of
from waza_language_server.project.suites import (
    Suite,
    Task,
    folders_above,
    paths_of_pattern,
    paths_of_suite,
    picks_up,
)
from waza_language_server.project.uris import path_of
from waza_language_server.syntax.tree import Tree, parse

if TYPE_CHECKING:
    from waza_language_server.project.scores import Scores

_OTHER_EVAL_NAME = compiled_later(r"(?i)(?!trigger_tests\.)(?=.*\.ya?ml\Z).*eval.*")
"""Other names of an eval file, whose content must show that it is one."""
_ID_LINE = compiled_later(r"""(?m)^["']?id["']?[ \t]*:(?:[ \t]+([A-Za-z_][\w.-]*)[ \t]*(?:[ \t]#.*)?\r?$)?""")
Value = TypeVar("Value")


class _Recorded:
    """The cache of results that all projects share; modules that read results are imported at first use."""

    def __init__(self) -> None:
        self.settings: Callable[[Path], Mapping[str, Any]] = lambda _suite: {}

    @cached_property
    def scores(self) -> Scores:
        from waza_language_server.project.scores import Scores

        return Scores()


class Project:
    """The files around the open documents. ``roots`` are the folders that are open in the editor."""

    def __init__(
        self,
        roots: Iterable[Path] = (),
        documents: Mapping[Path, Document] | None = None,
        disk: Disk | None = None,
        recorded: _Recorded | None = None,
        far: FarSuites | None = None,
    ) -> None:
        self.roots = tuple(roots)
        self.documents: Mapping[Path, Document] = MappingProxyType(dict(documents or {}))
        self.disk = disk or Disk(Boundaries(self.roots))
        self._recorded = recorded or _Recorded()
        self.far = far or FarSuites()

    @property
    def scores(self) -> Scores:
        """Return the recorded results of the suites."""
        return self._recorded.scores

    def run_with(self, settings: Callable[[Path], Mapping[str, Any]]) -> None:
        """Let ``settings`` override the run options of an eval file."""
        self._recorded.settings = settings

    def agent_today(self, suite: Suite) -> tuple[str, str]:
        """Return the executor and the model that a run of a suite would use now, "" if unspecified."""
        chosen, written = self._recorded.settings(suite.path), suite.outline
        return str(chosen.get("executor") or written.executor or ""), str(
            chosen.get("model") or written.model or ""
        )

    @property
    def asked_for_scores(self) -> bool:
        """Return whether results were read, or are being read."""
        return "scores" in self._recorded.__dict__

    def with_document(self, document: Document) -> Project:
        """Return the project with this version of a document; itself for a document without a path."""
        path = path_of(document.uri)
        if path is None:
            return self
        return Project(self.roots, {**self.documents, path: document}, self.disk, self._recorded, self.far)

    def without(self, uri: str) -> Project:
        """Return the project in which a document is closed."""
        path = path_of(uri)
        kept = {known: document for known, document in self.documents.items() if known != path}
        return Project(self.roots, kept, self.disk, self._recorded, self.far)

    def with_roots(self, roots: Iterable[Path]) -> Project:
        """Return the project with other folders open."""
        folders = tuple(roots)
        # The boundaries of what may be read depend on them.
        same = folders == self.roots
        disk, far = (self.disk, self.far) if same else (None, None)
        return Project(folders, self.documents, disk, self._recorded, far)

    # The kind of a file.

    def claim(self, path: Path, text: str | None = None) -> DocumentKind | None:
        """Return what kind of suite file this is, None if it does not belong to a suite.

        ``text`` is its content if it differs from that on disk.
        """
        with self.disk.cached_lookups():
            return self._claim(path, text)

    def _claim(self, path: Path, text: str | None) -> DocumentKind | None:
        suffix = path.suffix.lower()
        if suffix not in (*YAML_SUFFIXES, *JSON_SUFFIXES) and path.name != SKILL_NAME:
            return None
        if text is None and suffix in ROW_SUFFIXES and path not in self.documents:
            return claim(path, self.disk.first_line(path)) or self.kind_by_suite(path)
        if text is None and suffix == JSON_SUFFIX and path not in self.documents:
            kind: DocumentKind | None = self.disk.derived(
                path, "kind", lambda text: claim(path, text.value) if text.known else None
            )
            return kind or self.kind_by_suite(path)
        if text is None:
            read = self.text(path)
            if not read.known:
                return None
            text = read.value
        if path.name == SKILL_NAME:
            return claim(path, text)
        if suffix in JSON_SUFFIXES:
            return claim(path, text) or self.kind_by_suite(path)
        eval_names = self.eval_names(path)
        if path.name in EVAL_NAMES or path.name in eval_names or path.name in CONFIG_NAMES:
            return claim(path, text, self.names(path.parent), eval_names=eval_names)
        next_to_eval = self._is_next_to_eval(path)
        kind = claim(path, text, eval_names=eval_names, next_to_eval=next_to_eval)
        if kind is None and self._suites_that_pick_up(path, MOST_OF_FILE):
            kind = claim(path, text, in_suite=True)
        return kind

    def kind_by_suite(self, path: Path) -> DocumentKind | None:
        """Return the kind of a JSON file by the key with which an eval file above it names it."""
        for suite in self.suites_that_name(path):
            if path in suite.named("tasks_from") and path.suffix.lower() != JSON_SUFFIX:
                return "prompts"
            if path in suite.named("recording") and path.suffix.lower() != JSON_SUFFIX:
                return "captures"
            if path in suite.named("adapter"):
                return "adapter"
        return None

    def suites_that_name(self, path: Path) -> Iterator[Suite]:
        """Yield the open suites, and those above a file, that name it as prompts, adapter or recording."""
        seen: set[Path] = set()
        opened = (self.suite(known) for known, document in self.documents.items() if document.kind == "eval")
        for suite in chain(self._suites_above(path), opened):
            if suite.path not in seen and path in suite.named("tasks_from", "recording", "adapter"):
                seen.add(suite.path)
                yield suite

    def suites_asking(self, path: Path) -> tuple[Suite, ...]:
        """Return the suites that name a file as their prompts."""
        return tuple(suite for suite in self.suites_that_name(path) if path in suite.named("tasks_from"))

    def _suites_above(self, path: Path) -> Iterator[Suite]:
        for folder in folders_above(path):
            yield from self.suites_in(folder)
            if folder in self.roots:
                return

    def eval_names(self, path: Path) -> tuple[str, ...]:
        """Return the names of eval files around a file, the configured one first."""
        folder = path.parent
        return self.disk.once((self, "eval names", folder), lambda: self._eval_names(path))

    def _eval_names(self, path: Path) -> tuple[str, ...]:
        config = self.config_of(path)
        configured = self._eval_name_of(config) if config is not None else None
        return (configured, *EVAL_NAMES) if configured else EVAL_NAMES

    def config_of(self, path: Path) -> Path | None:
        """Return the nearest ``.waza.yaml`` of a file."""
        folder = path.parent
        return self.disk.once((self, "config", folder), lambda: self._config_of(path))

    def _config_of(self, path: Path) -> Path | None:
        for folder in folders_above(path):
            for name in self.disk.holding(folder, CONFIG_NAMES):
                return folder / name
        return None

    def text(self, path: Path) -> Fact[str]:
        """Return the text of a file, from the open document or from the disk."""
        document = self.documents.get(path)
        return Fact("known", document.text) if document else self.disk.text(path)

    def tree(self, path: Path) -> Tree:
        """Return the tree of a file, from the open document or from the disk; empty if unreadable."""
        document = self.documents.get(path)
        return document.tree if document is not None else self.disk.tree(path)

    def outline(self, path: Path) -> Outline:
        """Return the outline of an eval or task file; ``EMPTY`` if it cannot be read."""
        document = self.documents.get(path)
        if document is not None:
            return outline_of(document)
        if path.suffix.lower() == JSON_SUFFIX:
            return outline(self.disk.tree(path))
        return self.disk.derived(path, "outline", self._outline_in)

    def read(self, path: Path) -> None:
        """Read the closed eval files around a file ahead of their use."""
        for folder in folders_above(path):
            self.read_folder(folder)
            if folder in self.roots:
                break
        for eval_file in tuple(islice(self.far.of(path), MOST_OF_FILE)):
            self._read_outline(eval_file)

    def read_folder(self, folder: Path) -> None:
        """Read the eval files in a folder, those that are not open."""
        for name in self._eval_files_in(folder):
            self._read_outline(folder / name)
        checkpoint()

    def _read_outline(self, path: Path) -> None:
        if path not in self.documents:
            self.outline(path)

    # Suites and their tasks.

    def suite(self, path: Path) -> Suite:
        """Return the suite of an eval file."""
        return Suite(path, self.outline(path))

    def suites_in(self, folder: Path) -> tuple[Suite, ...]:
        """Return the suites whose eval file is in this folder itself."""
        return self.disk.once(
            (self, "suites", folder),
            lambda: tuple(self.suite(folder / name) for name in self._eval_files_in(folder)),
        )

    def _eval_files_in(self, folder: Path) -> Iterator[str]:
        """Yield the names of the eval files in a folder, those with usual names first."""
        usual = self.names(folder).intersection(self.eval_names(folder / "eval.yaml"))
        others = {name for name in self.names(folder) - usual if _OTHER_EVAL_NAME.fullmatch(name)}
        yield from (name for name in (*sorted(usual), *sorted(others)) if self._is_eval(folder / name))

    def tasks_with_id(self, suite: Suite, task_id: str) -> Iterator[Path]:
        """Yield the task files of a suite with this ``id``."""
        paths: Iterable[Path] = self.task_paths(suite).value
        if self.disk.caches_lookups:
            # Callers loop over all tasks of a suite: avoid a quadratic number of reads.
            by_id = self._by_written_id(suite)
            paths = (*by_id.get(task_id, ()), *by_id.get(None, ()))
        for path in paths:
            if self._written_id(path) in (task_id, None) and self.outline(path).id == task_id:
                yield path
            checkpoint()

    def _by_written_id(self, suite: Suite) -> dict[str | None, list[Path]]:
        known = self.disk.once((self, "ids", suite.path), dict[str | None, list[Path]])
        if not known:
            found: dict[str | None, list[Path]] = {}
            for path in self.task_paths(suite).value:
                found.setdefault(self._written_id(path), []).append(path)
                checkpoint()
            # Fill it at once: other requests may read it at the checkpoints.
            known.update(found)
        return known

    def _written_id(self, path: Path) -> str | None:
        """Return the ``id`` of a task file if a quick search finds it, None if it must be parsed."""
        return None if path in self.documents else self.disk.derived(path, "id", _written_id)

    def tasks_of(self, suite: Suite) -> Fact[tuple[Task, ...]]:
        """Return the task files that the suite picks up, in the order of a run."""
        paths = self.task_paths(suite)
        return Fact(paths.state, tuple(Task(path, self.outline) for path in paths.value), paths.why)

    def task_paths(self, suite: Suite) -> Fact[tuple[Path, ...]]:
        """Return the paths of the task files that the suite picks up, without reading them."""
        return self.disk.once((self, "tasks", suite.path), lambda: paths_of_suite(self.disk, suite))

    def task_ids(self, suite: Suite) -> Fact[tuple[str, ...]]:
        """Return the ids of the tasks of a suite, those written inline included."""
        tasks = self.tasks_of(suite)
        ids = (*(task.id for task in tasks.value), *suite.outline.inline_tasks)
        state = "known" if ids and tasks.absent else tasks.state
        if suite.outline.tasks_from:
            state = "unknown"
        return Fact(state, tuple(dict.fromkeys(ids)), tasks.why)

    def suites_of(self, path: Path) -> tuple[Suite, ...]:
        """Return the suites that a file belongs to, nearest first: those that pick it up, or else next to it.

        For an eval file that is the suite itself, for a trigger file the suites of its folder.
        """
        with self.disk.cached_lookups():
            return self.disk.once((self, "suites of", path), lambda: self._suites_of(path, MOST_OF_FILE))

    def every_suite_of(self, path: Path) -> tuple[Suite, ...]:
        """Return all suites that a file belongs to, without the limit of ``suites_of``: for renames."""
        with self.disk.cached_lookups():
            return self._suites_of(path, None)

    def knows_suites_of(self, path: Path) -> bool:
        """Return whether ``suites_of`` returns all suites of a file."""
        return next(islice(self.far.of(path), MOST_OF_FILE, None), None) is None

    def _suites_of(self, path: Path, most_far: int | None) -> tuple[Suite, ...]:
        if path.name in TRIGGER_NAMES:
            return self.suites_in(path.parent)
        document = self.documents.get(path)
        is_open = document is not None and document.kind in SUITES
        if (
            is_open
            or path.name in self.eval_names(path)
            or (_OTHER_EVAL_NAME.fullmatch(path.name) is not None and self._is_eval(path))
        ):
            return (self.suite(path),)
        if is_named_as_evals(path.name) and self.claim(path) in SUITES:
            return (self.suite(path),)
        found = self._suites_that_pick_up(path, most_far)
        if found or path.parent.name != "tasks":
            return found
        return self.suites_in(path.parent.parent)

    def matching_tasks(self, document: Document, pattern: str) -> Fact[tuple[Path, ...]]:
        """Return the files that a glob of this eval file picks up."""
        path = path_of(document.uri)
        if path is None:
            return Fact("unknown", (), "the file is not saved yet")
        if not self.disk.names(path.parent).known:
            return Fact("unknown", (), "the folder of the file cannot be read")
        return paths_of_pattern(self.disk, path.parent, pattern)

    # Helpers.

    def _outline_in(self, text: Fact[str]) -> Outline:
        if text.known:
            return outline(self.disk.parsed(text.value))
        # A run may read larger files than the editor does.
        return replace(EMPTY, unreadable="" if text.why == TOO_LARGE else text.why)

    def names(self, folder: Path) -> frozenset[str]:
        """Return the names in a folder; none when it cannot be read."""
        return self.disk.present(folder)

    def trigger_files(self, folder: Path) -> list[Path]:
        """Return the files of trigger prompts of the suites in a folder."""
        names = self.names(folder)
        return [folder / name for name in TRIGGER_NAMES if name in names]

    def _is_eval(self, path: Path) -> bool:
        document = self.documents.get(path)
        if document is not None:
            return document.kind == "eval"
        names = self.names(path.parent)
        extra = self.eval_names(path)
        key = f"claim {hash(names)} {extra}"
        return self.disk.derived(
            path, key, lambda text: text.known and claim(path, text.value, names, eval_names=extra) == "eval"
        )

    def _eval_name_of(self, config: Path) -> str | None:
        document = self.documents.get(config)
        if document is not None:
            return configured_eval_name(document.tree)
        return self.disk.derived(config, "eval name", lambda text: configured_eval_name(parse(text.value)))

    def _is_next_to_eval(self, path: Path) -> bool:
        if path.name in TRIGGER_NAMES:
            return bool(self.suites_in(path.parent))
        return path.parent.name == "tasks" and bool(self.suites_in(path.parent.parent))

    def _suites_that_pick_up(self, path: Path, most_far: int | None) -> tuple[Suite, ...]:
        found: dict[Path, Suite] = {}
        for folder in folders_above(path):
            for suite in self.suites_in(folder):
                if picks_up(suite, path):
                    found[suite.path] = suite
            if folder in self.roots:
                break
        for known in islice(self.far.of(path), most_far):
            if known not in found and self._is_eval(known) and picks_up(suite := self.suite(known), path):
                found[known] = suite
        opened = [known for known, document in self.documents.items() if document.kind == "eval"]
        for known in sorted(opened):
            if known not in found and picks_up(suite := self.suite(known), path):
                found[known] = suite
        return tuple(found.values())


def _written_id(text: Fact[str]) -> str | None:
    """Return the ``id`` if it is certainly one plain word, None if the text must be parsed."""
    found = _ID_LINE.findall(text.value)
    return found[0] or None if len(found) == 1 else None


def configured_eval_name(tree: Tree) -> str | None:
    """Return the name of eval files in a ``.waza.yaml``, None without a valid one."""
    node = tree.root.get("files", "evalFile") if tree.root else None
    if node is None or node.kind != "scalar" or not node.value.strip():
        return None
    name = node.value.strip()
    return None if "/" in name or "\\" in name or name in {".", ".."} else name


MOST_OF_FILE = 16
"""The most suites in other folders that are searched for one file during typing: their trees are cached."""

_Place = tuple["Path", int, str]
"""A folder, how many levels below it the files lie, and their name if a glob names a single file."""


class FarSuites:
    """The suites whose globs leave their folder (``../tasks/*.yaml``), shared by all views of the same roots.

    They are searched in the background; until ``is_known``, some may be missing.
    """

    def __init__(self) -> None:
        self.version = 0
        """Grows with each new glob."""
        self._at: dict[_Place, list[Path]] = {}
        """Sorted, so that the result does not depend on the order in which suites are read."""
        self._places: dict[Path, frozenset[_Place]] = {}
        self.generation = 1
        """Grows with each change of the disk. Pass the one from before a search to ``mark_complete``."""
        self._complete_generation = 0
        self._new: set[_Place] = set()
        self._unread: list[Path] | None = None

    @property
    def is_known(self) -> bool:
        """Return whether all suites of the workspace were read, and no change was reported since."""
        return self._complete_generation == self.generation

    def note_change(self) -> None:
        """Search again: files have changed on the disk."""
        self.generation += 1
        self._unread = None

    def unread(self, folders: Callable[[], Iterable[Path]]) -> list[Path]:
        """Return which of the ``folders`` are not read yet, the next one last; the caller removes it."""
        if self._unread is None:
            self._unread = list(folders())[::-1]
        return self._unread

    def mark_complete(self, generation: int) -> None:
        """Remember that all suites of the workspace were read, in the state of a ``generation``."""
        self._complete_generation = generation
        self._unread = None

    def note(self, suite: Suite) -> None:
        """Remember where the globs of a suite lead."""
        places = frozenset(_places_of(suite))
        before = self._places.get(suite.path, frozenset[_Place]())
        if places == before:
            return
        for place in before - places:
            self._at[place].remove(suite.path)
        for place in places - before:
            insort(self._at.setdefault(place, []), suite.path)
            self._new.add(place)
            self.version += 1
        self._places[suite.path] = places

    def of(self, path: Path) -> Iterator[Path]:
        """Yield the eval files whose globs may pick up a file from another folder."""
        for place in _places_around(path):
            yield from tuple(self._at.get(place, ()))

    def folders_of(self, eval_file: Path) -> tuple[Path, ...]:
        """Return the other folders in and below which a suite picks up tasks."""
        return tuple(folder for folder, _, _ in self._places.get(eval_file, ()))

    def pop_new_globs(self, paths: Iterable[Path]) -> bool:
        """Return whether a glob that is new since the last call may pick up one of these files."""
        new, self._new = self._new, set[_Place]()
        return bool(new) and any(not new.isdisjoint(_places_around(path)) for path in paths)


def _places_around(path: Path) -> Iterator[_Place]:
    yield path.parent, 1, path.name
    for levels, folder in enumerate(path.parents, 1):
        yield folder, levels, ""


def _places_of(suite: Suite) -> Iterator[_Place]:
    for pattern in suite.outline.patterns:
        # Nearly all globs stay in their folder.
        segments = split_pattern(pattern) if ".." in pattern else []
        if not segments or segments[0] != ".." or segments[-1] == "..":
            continue
        literal = next((at for at, each in enumerate(segments) if not is_literal(each)), len(segments))
        at = min(literal, len(segments) - 1)
        folder = type(suite.folder)(os.path.normpath(suite.folder.joinpath(*segments[:at])))
        yield folder, len(segments) - at, segments[-1] if literal == len(segments) else ""
