"""The skills of an agent: their locations and names, and whether all required ones exist.

A skill is a folder with a ``SKILL.md``, or with an ``.agent.md`` where there is none. A skill directory is a
skill itself or holds skills one level below.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from waza_engine.boundary import Boundary, resolve_suite_path, suite_boundary
from waza_engine.files import is_named, names_in
from waza_engine.runs.loading.suite_on_disk import Suite, SuiteError
from waza_engine.runs.settings.options import project_config
from waza_engine.spec.loading import find_project_config
from waza_engine.spec.problems import SuiteFileError
from waza_engine.spec.reading.yaml_reader import read_text
from waza_engine.spec.skill_file import (
    SKILL_FILE,
    definition_in,
    load_skill_file,
    name_without_frontmatter,
)
from waza_engine.spec.task_file import TaskFile

_ALL, _NONE = "*", "none"
_SKIPPED_FOLDERS = frozenset({"node_modules", "vendor"})
_LEVELS_UP = 10
_LEVELS_UP_OUTSIDE_GIT = 3
_LEVELS_DOWN = 5


@dataclass(frozen=True, slots=True)
class Skill:
    """A definition file: ``text`` is all of it, ``description`` may be empty."""

    name: str
    description: str
    path: Path
    text: str


@dataclass(frozen=True, slots=True)
class SkillSet:
    """The skill directories of a run or a task, all of which exist, and the skills found in them.

    ``searched`` also names directories that do not exist. ``switched_off`` is true when no skill may be
    loaded, whatever the suite lists.
    """

    directories: tuple[Path, ...] = ()
    skills: tuple[Skill, ...] = ()
    searched: tuple[Path, ...] = ()
    warnings: tuple[str, ...] = ()
    switched_off: bool = False

    def named(self, name: str) -> Skill | None:
        """Return the first skill of a name, ignoring case."""
        wanted = name.casefold()
        return next((skill for skill in self.skills if skill.name.casefold() == wanted), None)


def suite_skills(suite: Suite) -> SkillSet:
    """Return the skills of every task without a list of its own.

    A listed directory is looked up next to the eval file, then in the working directory, then in the
    directories above the suite. Without a list, the skills are those below ``paths.skills`` of ``.waza.yaml``
    and ``.github/skills``, and the skill that contains the suite, or the agent next to the eval file. A list
    that lacks the tested skill gets its directory; otherwise there would be nothing to test. A suite of a
    scenario that names neither a skill nor directories has none.
    """
    config, within = suite.spec.config, suite_boundary(suite.directory)
    if _ALL in config.disabled_skills or _is_none(config.skill_directories):
        return SkillSet(switched_off=True)
    disabled = frozenset(entry.strip().rstrip("/\\") for entry in config.disabled_skills)
    if config.skill_directories:
        places = [_place(suite.directory, written) for written in config.skill_directories]
        kept = [
            place
            for written, place in zip(config.skill_directories, places, strict=True)
            if written.rstrip("/\\") not in disabled and not _is_disabled(place, disabled)
        ]
        found = _skill_set(kept, disabled, within)
        tested = suite.spec.skill
        own = _own_skill(suite.directory, tested)
        if own is not None and tested and found.named(tested) is None and not _is_disabled(own, disabled):
            mine = _skill_set([own], disabled, within)
            if mine.named(tested) is not None:
                return _joined(found, mine)
        return found
    if suite.spec.scenario is not None and not suite.spec.skill:
        return SkillSet()
    own = _own_skill(suite.directory, suite.spec.skill)
    places = [*([] if own is None else [own]), *_project_skills(suite.directory)]
    return _skill_set([place for place in places if not _is_disabled(place, disabled)], disabled, within)


def task_skills(suite: Suite, task: TaskFile, of_suite: SkillSet) -> SkillSet:
    """Return the skills of a task: its own list replaces the suite's and knows no ``disabled_skills``.

    An empty list means the suite's, in a suite of a scenario no skill.
    """
    if of_suite.switched_off:
        return of_suite
    if not task.skill_directories:
        emptied = suite.spec.scenario is not None and "skill_directories" in task.model_fields_set
        return SkillSet(switched_off=True) if emptied else of_suite
    if _is_none(task.skill_directories):
        return SkillSet(switched_off=True)
    places = [_place(suite.directory, written) for written in task.skill_directories]
    return _skill_set(places, frozenset(), suite_boundary(suite.directory))


def listed_directories(suite: Suite, task: TaskFile) -> list[Path]:
    """Return the skill directories listed for a task, or else those of the eval file.

    They may not exist. The list is empty when no skill may be loaded.
    """
    config = suite.spec.config
    if _ALL in config.disabled_skills or _is_none(config.skill_directories):
        return []
    if "skill_directories" in task.model_fields_set and (task.skill_directories or suite.spec.scenario):
        written = () if _is_none(task.skill_directories) else task.skill_directories
    elif config.skill_directories:
        written = config.skill_directories
    else:
        return [] if suite.spec.scenario is not None else [suite.directory]
    return [_place(suite.directory, each) for each in written]


def check_required(suite: Suite, found: SkillSet) -> None:
    """Raise ``SuiteError`` unless every one of ``required_skills`` was found; list the found ones."""
    if found.switched_off:
        return
    names = [skill.name for skill in found.skills]
    missing = [name for name in suite.spec.config.required_skills if name not in names]
    if not missing:
        return
    searched = ", ".join(str(place) for place in found.searched) or "no directory"
    known = ", ".join(f"`{name}`" for name in names) or "no skill"
    wanted = ", ".join(f"`{name}`" for name in missing)
    raise SuiteError(
        f"{suite.path}: `required_skills` names {wanted}, which cannot be found: searched {searched} "
        f"and found {known}; correct `skill_directories` or the name"
    )


def _place(suite_directory: Path, written: str) -> Path:
    """Return the path of a listed directory: public suites write it from their repository's root."""
    place = resolve_suite_path(suite_directory, written, "skill_directories", _is_folder)
    return Path(os.path.abspath(place))  # noqa: PTH100 - the name of a linked skill stays


def _skill_set(places: Iterable[Path], disabled: frozenset[str], of_suite: Boundary) -> SkillSet:
    searched = tuple(dict.fromkeys(places))
    directories: dict[Path, None] = {}
    skills: list[Skill] = []
    warnings: list[str] = []
    for place in searched:
        if not _is_folder(place):
            warnings.append(f"`skill_directories`: there is no directory {place}")
            continue
        # The directory of a skill that contains its suite is above the suite.
        within = Boundary.around(place, *map(Path, of_suite.folders), name=of_suite.name)
        folders = [place, *folders_in(place, within)] if definition_in(place) is None else [place]
        defined = [folder for folder in folders if definition_in(folder) is not None]
        found = [(folder, _read(folder, warnings, within)) for folder in defined]
        kept = [
            (folder, skill)
            for folder, skill in found
            if folder == place or not (_is_disabled(folder, disabled) or skill.name in disabled)
        ]
        skills += [skill for _, skill in kept]
        # If a skill of a folder is left out, pass the others one by one.
        links = (path for path in place.iterdir() if path.is_symlink())
        all_kept = len(kept) == len(found) and all(map(within.holds, links))
        directories |= dict.fromkeys([place] if all_kept else [folder for folder, _ in kept])
    return SkillSet(tuple(directories), tuple(skills), searched, tuple(warnings))


def _joined(one: SkillSet, other: SkillSet) -> SkillSet:
    return SkillSet(
        (*one.directories, *other.directories),
        (*one.skills, *other.skills),
        (*one.searched, *other.searched),
        (*one.warnings, *other.warnings),
    )


def _read(folder: Path, warnings: list[str], within: Boundary) -> Skill:
    """Read the definition of a folder that has one; one that cannot be parsed keeps its text."""
    path = definition_in(folder)
    assert path is not None
    fallback = name_without_frontmatter(path)
    try:
        text = read_text(path, within=within)
    except SuiteFileError as error:
        warnings.append(str(error))
        return Skill(fallback, "", path, "")
    try:
        file = load_skill_file(path, within=within)
    except SuiteFileError as error:
        warnings.append(str(error))
        return Skill(fallback, "", path, text)
    return Skill(file.name.strip() or fallback, " ".join(file.description.split()), path, text)


def folders_in(place: Path, within: Boundary) -> list[Path]:
    """Return the folders in a folder; links lead to folders within the boundary only."""
    try:
        return [path for name in names_in(place, within=within) if _is_inside(path := place / name, within)]
    except (OSError, ValueError):
        return []


def _is_inside(place: Path, within: Boundary) -> bool:
    return (not place.is_symlink() or within.holds(place)) and place.is_dir()


def _own_skill(directory: Path, tested: str) -> Path | None:
    """Return the skill that contains a suite: the nearest folder with a ``SKILL.md``, in its repository.

    Next to the eval file the tested agent counts, too.
    """
    levels = _levels_above(directory)
    if tested and not is_named(levels[0] / SKILL_FILE) and _agent_name(levels[0]) == tested.casefold():
        return levels[0]
    return next((folder for folder in levels if is_named(folder / SKILL_FILE)), None)


def _agent_name(folder: Path) -> str | None:
    path = definition_in(folder)
    if path is None:
        return None
    try:
        return (
            load_skill_file(path, within=suite_boundary(folder)).name.strip()
            or name_without_frontmatter(path)
        ).casefold()
    except SuiteFileError:
        return None


def _project_skills(directory: Path) -> list[Path]:
    """Return the skills of the project: those below its folders of skills, at any level."""
    config_file = find_project_config(directory)
    if config_file is not None:
        written, root = project_config(directory)[0].paths.skills, config_file.parent
        return _skills_in([root / written, root / ".github" / "skills"], suite_boundary(root))
    for folder in _levels_above(directory):
        found = _skills_in([folder / "skills", folder / ".github" / "skills"], suite_boundary(directory))
        if found:
            return found
    return []


def _skills_in(roots: Sequence[Path], within: Boundary) -> list[Path]:
    names: dict[str, Path] = {}
    for root in roots:
        for folder in _skills_below(root, _LEVELS_DOWN, set(), within):
            names.setdefault(folder.name, folder)
    return list(names.values())


def _skills_below(folder: Path, levels: int, seen: set[str], within: Boundary) -> Iterator[Path]:
    """Yield the skills below a folder; links are followed, and no place is searched twice."""
    place = os.path.realpath(folder)
    if place in seen or not (within.holds(folder) and _is_folder(folder)):
        return
    seen.add(place)
    if definition_in(folder) is not None:
        yield folder
    elif levels > 0:
        for below in folders_in(folder, within):
            if not below.name.startswith(".") and below.name not in _SKIPPED_FOLDERS:
                yield from _skills_below(below, levels - 1, seen, within)


def _levels_above(directory: Path) -> list[Path]:
    """Return the directory and its parents up to the repository root; only a few without a repository."""
    start = directory.resolve()
    levels = [start, *start.parents][:_LEVELS_UP]
    root = next((number for number, level in enumerate(levels) if (level / ".git").exists()), None)
    return levels[:_LEVELS_UP_OUTSIDE_GIT] if root is None else levels[: root + 1]


def _is_none(written: Sequence[str]) -> bool:
    return _NONE in written


def _is_disabled(place: Path, disabled: frozenset[str]) -> bool:
    return place.name in disabled or str(place) in disabled


def _is_folder(place: Path) -> bool:
    try:
        return place.is_dir()
    except (OSError, ValueError):
        return False
