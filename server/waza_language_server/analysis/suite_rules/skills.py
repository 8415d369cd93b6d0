"""Names of skills that do not exist, or are loaded twice: of suites, trigger files, graders, directories."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from waza_engine.checkpoint import checkpoint
from waza_engine.files import printable
from waza_engine.spec.executors import EXECUTORS
from waza_engine.spelling import path_typo_of, typo_of
from waza_language_server.analysis.problem import Problem, suggestion
from waza_language_server.analysis.rule import Found, SuiteView
from waza_language_server.analysis.schema_rules.missing_keys import missing_key
from waza_language_server.analysis.schema_rules.subject import Subject
from waza_language_server.analysis.suite_rules.named_files import hooks_may_make, items_of, names_beside
from waza_language_server.project.nearby import Nearby
from waza_language_server.project.search_folders import bases_of_run, found_at, is_plain, no_folder_at
from waza_language_server.project.skills_of_run import UnknownSkillsError, skills_of_run
from waza_language_server.project.suite_file import scalar_text
from waza_language_server.project.uris import path_of, uri_of
from waza_language_server.syntax.author_style import line_break
from waza_language_server.syntax.edits import insert_entry, replace_scalar
from waza_language_server.syntax.nodes import Node
from waza_language_server.syntax.scalar_writing import plain_or_quoted
from waza_language_server.text.edit import Edit, Edits, Fix, Related
from waza_language_server.text.span import Span

if TYPE_CHECKING:
    from waza_language_server.project.index import Project
    from waza_language_server.project.suites import Suite

_NO_SKILL = "skill-not-found"
_MOST_TASKS = 200
"""Task files that are searched for skill directories of their own; more than these count as unknown."""


def missing_skills(view: SuiteView) -> Found:
    """Yield the tested skill and the required ones that do not exist; none for other files."""
    document, project = view.document, view.workspace.project
    path, root = path_of(document.uri), document.tree.root
    if document.kind != "eval" or path is None or root is None or hooks_may_make(root):
        return
    listed = [scalar_text(node) or "" for node in items_of(root.get("config", "skill_directories"))]
    disabled = {scalar_text(node) for node in items_of(root.get("config", "disabled_skills"))}
    tested, required = root.get("skill"), list(items_of(root.get("config", "required_skills")))
    if disabled or "none" in listed or not (scalar_text(tested) or required):
        return
    checkpoint()
    suite = project.suite(path)
    if any(no_folder_at(project, suite.folder, written.strip()) for written in listed):
        # That directory is reported already, and the skill may be in there.
        return
    try:
        found = skills_of_run(project, suite, listed)
        lacks_tested = scalar_text(tested) and not _is_among(found, scalar_text(tested) or "")
        if lacks_tested:
            _check_tasks(project, suite)
    except UnknownSkillsError:
        return
    if lacks_tested and tested is not None:
        node, lies_with = tested.target, tuple(_lies_with(suite, found))
        if loads_skills(scalar_text(root.get("config", "executor"))):
            missing = "The tested skill `{}` is not found, so the agent runs without it"
            yield _problem(view, node, missing, "name its folder in `skill_directories`.", found.values())
        elif typo_of(node.value, lies_with):
            near = {file.parent: name for file, name in Nearby(project, document).skill_files().items()}
            if not _is_among(near, node.value):
                yield _problem(view, node, "The tested skill `{}` is not found", "", lies_with)
    for node in required:
        if scalar_text(node) and node.target.value not in found.values():
            missing = "The required skill `{}` is not found, so the run stops"
            advice = "correct `skill_directories` or the name."
            yield _problem(view, node.target, missing, advice, found.values())


def loads_skills(executor: str | None) -> bool:
    """Return whether an executor is an agent that loads skills."""
    return executor is not None and executor in EXECUTORS and EXECUTORS[executor].costs


def _is_among(found: dict[Path, str], name: str) -> bool:
    """Return whether a skill of this name exists, or one whose folder has it."""
    wanted = name.casefold()
    return any(wanted in (known.casefold(), folder.name.casefold()) for folder, known in found.items())


def _lies_with(suite: Suite, found: dict[Path, str]) -> Iterator[str]:
    """Yield the skills whose folder contains the suite, or whose name or folder name is its folder's."""
    for folder, name in found.items():
        if (
            folder == suite.folder
            or folder in suite.folder.parents
            or suite.folder.name in (folder.name, name)
        ):
            yield name


def _check_tasks(project: Project, suite: Suite) -> None:
    """Raise ``UnknownSkillsError`` when a task has skill directories of its own, or may have."""
    paths = project.task_paths(suite).value
    if len(paths) > _MOST_TASKS:
        raise UnknownSkillsError
    for path in paths:
        checkpoint()
        if project.outline(path).skill_directories:
            raise UnknownSkillsError


def _problem(view: SuiteView, node: Node, missing: str, advice: str, known: Iterable[str]) -> Problem:
    """Return the problem of a missing skill.

    ``advice`` is added, unless the name is a typo of a ``known`` skill.
    """
    names = sorted(set(known))
    typo = typo_of(node.value, names)
    _, fixes = suggestion(view.document.tree, node, names, typo)
    if typo is not None:
        advice = f"did you mean `{typo}`?"
    return Problem(_NO_SKILL, node.span, f"{missing.format(node.value)}; {advice}", "warning", fixes)


_TYPE = "skill_invocation"
_OFF = "inject_skill_body"
_CONSEQUENCES = {
    "required_skills": "and then this grader fails",
    "forbidden_skills": "and this grader does not see that it uses it",
}


def loaded_skills(view: SuiteView) -> Found:
    """Yield the required and forbidden skills in graders that the agent has no reason to load.

    Only if every suite of the file gives the text of this skill.
    """
    path, project = path_of(view.document.uri), view.workspace.project
    graders = view.graders.of_types((_TYPE,))
    suites = project.suites_of(path) if path is not None and graders else ()
    own = view.document.tree.root
    roots = [own if suite.path == path else project.tree(suite.path).root for suite in suites]
    tested = {scalar_text(root.get("skill")) for root in roots if root is not None and _gives_text(root)}
    if not suites or len(tested) != 1 or not all(root is not None and _gives_text(root) for root in roots):
        return
    for grader in graders:
        checkpoint()
        for key, consequence in _CONSEQUENCES.items():
            for item in items_of(grader.get("config", key)):
                if item.value in tested:
                    yield _already_loaded(view, item, suites[0].path, consequence)


def _gives_text(root: Node) -> bool:
    """Return whether the agent of a suite has the text of the tested skill in its instructions."""
    config = root.get("config")
    if (
        config is None
        or not loads_skills(scalar_text(config.get("executor")))
        or scalar_text(root.get("skill")) is None
    ):
        return False
    left_out = (*items_of(config.get("disabled_skills")), *items_of(config.get("skill_directories")))
    return scalar_text(config.get(_OFF)) in (None, "true") and not {"*", "none"}.intersection(
        map(scalar_text, left_out)
    )


def _already_loaded(view: SuiteView, item: Node, suite: Path, consequence: str) -> Problem:
    tree, is_eval = view.document.tree, view.document.kind == "eval"
    config = tree.root.get("config") if tree.root is not None and is_eval else None
    written = config.get(_OFF) if config is not None else None
    fixes: tuple[Fix, ...] = ()
    if config is not None:
        repair = (
            partial(insert_entry, tree, config.target, _OFF, "false")
            if written is None
            else partial(replace_scalar, tree, written.target, "false")
        )
        fixes = (Fix(f"Set `{_OFF}: false`", repair),)
    there = view.workspace.project.tree(suite).root
    place = there.get("config") if there is not None and not is_eval else None
    related = (Related(place.span, f"`{_OFF}` belongs here.", uri_of(suite)),) if place is not None else ()
    message = (
        f"The agent has the text of `{item.value}` in its instructions, so it rarely loads it, "
        f"{consequence}; set `{_OFF}: false` in `config`."
    )
    return Problem("skill-already-loaded", item.span, message, "information", fixes, related)


def skill_of_triggers(view: SuiteView) -> Iterator[Problem]:
    """Yield an unknown skill with a name similar to the tested one."""
    document, project = view.document, view.workspace.project
    if document.kind != "trigger_tests":
        return
    root, path = document.tree.root, path_of(document.uri)
    node = root.get("skill") if root is not None else None
    written = scalar_text(node)
    if root is not None and root.kind == "mapping" and root.entry("skill") is None:
        yield from _without_skill(view, root)
        return
    if path is None or node is None or not written:
        return
    names = sorted({suite.outline.skill for suite in project.suites_of(path) if suite.outline.skill})
    intended, fixes = suggestion(document.tree, node.target, names)
    if written in names or intended is None or written in Nearby(project, document).skills():
        return
    message = f"The suite tests the skill `{intended}`, and no prompt ever triggers `{written}`."
    yield Problem(_NO_SKILL, node.target.span, message, "warning", fixes)


def _without_skill(view: SuiteView, root: Node) -> Iterator[Problem]:
    """Yield that no skill is named, with a fix that names the one that the suite around tests."""
    document, catalog = view.document, view.workspace.catalog
    shapes = catalog.document_root(document.kind)
    misspelt = shapes.top.misspellings
    if any(typo_of(key, ("skill",)) or misspelt.get(key) == "skill" for key in root.key_names):
        return
    subject = Subject(document.tree, document.kind, catalog, root, shapes)
    if subject.may_lack(root):
        return
    path, project = path_of(document.uri), view.workspace.project
    suites = project.suites_of(path) if path is not None else ()
    known = sorted({suite.outline.skill for suite in suites if suite.outline.skill})
    names = known or Nearby(project, document).skills()[:1]
    problem = missing_key(subject, root, shapes.top, "skill")
    start, ending = root.span.start, line_break(document.text)
    first = (Fix(f"Insert `skill: {name}`", _line_above(start, name, ending)) for name in names)
    repairs = tuple(first) if root.style == "block" else ()
    yield replace(problem, fixes=repairs or problem.fixes)


def _line_above(start: int, name: str, ending: str) -> Edits:
    """Return the edit that names a skill before the first key, which is at the margin."""
    return (Edit(Span(start, start), f"skill: {plain_or_quoted(name)}{ending}"),)


def skill_directories(view: SuiteView) -> Found:
    """Yield the skill directories of a suite or a task that one of the engines does not find."""
    document, project = view.document, view.workspace.project
    path, root = path_of(document.uri), document.tree.root
    if path is None or root is None or document.kind not in ("eval", "task") or not project.roots:
        return
    where = ("config", "skill_directories") if document.kind == "eval" else ("skill_directories",)
    listed = list(items_of(root.get(*where)))
    suites = (project.suite(path),) if document.kind == "eval" else project.suites_of(path)
    if not listed or not suites or not all(_loads(project, suite, root, path) for suite in suites):
        return
    for node in listed:
        checkpoint()
        written = scalar_text(node) or ""
        if written != "none" and is_plain(written):
            yield from _of_directory(view, node, suites)


def _loads(project: Project, suite: Suite, root: Node, path: Path) -> bool:
    """Return whether skills are loaded that no hook creates."""
    read = root if suite.path == path else project.tree(suite.path).root
    if read is None or hooks_may_make(read):
        return False
    return loads_skills(scalar_text(read.get("config", "executor"))) or any(
        True for _ in items_of(read.get("config", "required_skills"))
    )


def _similar(view: SuiteView, node: Node, suites: tuple[Suite, ...]) -> tuple[Fix, ...]:
    """Return the fix that writes the folder next to the missing one that has a similar name."""
    project, written = view.workspace.project, node.value.strip()
    found = (names_beside(project, suite.folder, suite.folder, written, "folder") for suite in suites)
    known = sorted({*chain.from_iterable(found)})
    return suggestion(view.document.tree, node, known, typo_of=path_typo_of)[1]


def _of_directory(view: SuiteView, node: Node, suites: tuple[Suite, ...]) -> Iterator[Problem]:
    project, written = view.workspace.project, node.value.strip()
    places: set[Path] = set()
    for suite in suites:
        next_to_it = [*found_at(project, suite.folder, (suite.folder,), written, "folder")]
        found = [*found_at(project, suite.folder, bases_of_run(project, suite.folder), written, "folder")]
        if next_to_it or None in found[:1]:
            return
        places.update(place for place in found[:1] if place is not None)
    if not places:
        where = "" if written.startswith("..") else " or in a folder above it"
        what = f"There is no folder `{printable(written)}` beside the eval file{where}"
        fixes = _similar(view, node, suites)
        yield Problem("missing-file", node.span, f"{what}; its skills are not loaded.", "warning", fixes)
        return
    intended = {Path(os.path.relpath(place, suite.folder)).as_posix() for place in places for suite in suites}
    fixes: tuple[Fix, ...] = ()
    advice = "."
    if len(intended) == 1:
        (new,) = intended
        advice = f"; write `{printable(new)}`."
        fixes = (
            Fix(f"Change to `{printable(new)}`", partial(replace_scalar, view.document.tree, node, new)),
        )
    message = (
        f"Only this engine finds `{printable(written)}`: upstream looks only next to the eval file{advice}"
    )
    yield Problem("path-not-portable", node.span, message, "warning", fixes)
