"""Problems of ``evals.json`` that depend on other files, or on a case as a whole."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from waza_engine.checkpoint import checkpoint
from waza_engine.files import printable
from waza_engine.spec.pattern_syntax import is_found
from waza_engine.spelling import path_typo_of
from waza_language_server.analysis.problem import Problem, suggestion
from waza_language_server.analysis.rule import FileView, Found, SuiteView
from waza_language_server.analysis.suite_rules.named_files import names_beside
from waza_language_server.project.eval_cases import assertions_of, cases_of, homes_of, skill_file_of
from waza_language_server.project.search_folders import found_at
from waza_language_server.project.skills import skill_name
from waza_language_server.project.suite_file import scalar_text
from waza_language_server.project.uris import path_of
from waza_language_server.syntax.edits import replace_scalar
from waza_language_server.text.edit import Fix

if TYPE_CHECKING:
    from collections.abc import Iterator

    from waza_language_server.syntax.nodes import Node

_LONGEST_PROMPT = 20_000
_SHORTEST_SENTENCE = 12
"""Characters of an assertion that say something: a prompt contains a shorter one by chance."""
_MOST_WITH_FIXES = 20
"""For at most this many missing files of one text the disk is searched for similar names."""


def missing_case_files(view: SuiteView) -> Found:
    """Yield the paths in ``files`` at which there is no file or folder.

    A run takes all files of a case from one folder: the one that has most of them.
    """
    path, project = path_of(view.document.uri), view.workspace.project
    if view.document.kind != "evals_json" or path is None:
        return
    homes, reported = homes_of(project, path), 0
    for case in cases_of(view.document.tree):
        checkpoint()
        files = case.get("files")
        named = [node for node in (files.items if files is not None else ()) if scalar_text(node)]
        lacking = [[node for node in named if not _is_there(view, path, home, node)] for home in homes]
        fewest = min(lacking, key=len)
        home = homes[lacking.index(fewest)]
        for node in fewest:
            reported += 1
            written = node.value.strip()
            is_searched = reported <= _MOST_WITH_FIXES
            known = tuple(names_beside(project, home, home, written, "file")) if is_searched else ()
            yield _missing(view, node, home, known)


def _is_there(view: SuiteView, path: Path, home: Path, node: Node) -> bool:
    """Return whether a file or folder exists, or may exist."""
    written = node.value.strip()
    return any(True for _ in found_at(view.workspace.project, path.parent, (home,), written))


def _missing(view: SuiteView, node: Node, home: Path, known: tuple[str, ...]) -> Problem:
    written = node.value.strip()
    _, fixes = suggestion(view.document.tree, node, known, typo_of=path_typo_of)
    message = f"There is no file `{printable(written)}` in `{printable(home.name)}`; the case is in error."
    return Problem("missing-file", node.span, message, "error", fixes)


def other_skill(view: SuiteView) -> Found:
    """Yield a ``skill_name`` that differs from the name in the ``SKILL.md`` around the file."""
    path, root, project = path_of(view.document.uri), view.document.tree.root, view.workspace.project
    node = root.get("skill_name") if root is not None else None
    if view.document.kind not in {"evals_json", "trigger_list"} or path is None or node is None:
        return
    file = skill_file_of(project, path)
    name = project.disk.derived(file, "skill", skill_name) if file is not None else None
    if name and scalar_text(node) and node.value.strip() != name:
        written = printable(node.value.strip())
        message = f"The skill around this file is called `{printable(name)}`, not `{written}`."
        fix = Fix(f"Change to `{printable(name)}`", partial(replace_scalar, view.document.tree, node, name))
        yield Problem("skill-not-found", node.span, message, "warning", (fix,))


def given_away(view: FileView) -> Found:
    """Yield the assertions that an answer which only repeats the prompt fulfils."""
    if view.kind != "evals_json":
        return
    for case in cases_of(view.tree):
        checkpoint()
        prompt = scalar_text(case.get("prompt"))
        if prompt and len(prompt) <= _LONGEST_PROMPT:
            yield from _given_away_by(prompt, case)


def _given_away_by(prompt: str, case: Node) -> Iterator[Problem]:
    plain_prompt = " ".join(prompt.split()).casefold()
    for assertion in assertions_of(case):
        pattern, sentence = assertion.get("pattern"), scalar_text(assertion)
        if scalar_text(assertion.get("type")) == "content" and not scalar_text(assertion.get("path")):
            node = pattern if pattern is not None and is_found(pattern.value, prompt) is True else None
            what = "The prompt matches this pattern"
        else:
            plain = " ".join((sentence or "").split()).casefold().rstrip(".")
            node = assertion if len(plain) >= _SHORTEST_SENTENCE and plain in plain_prompt else None
            what = "The prompt contains this assertion"
        if node is not None and node.value:
            message = (
                f"{what}, so an answer that only repeats the prompt passes; "
                "assert something that only a correct answer has."
            )
            yield Problem("answer-in-prompt", node.span, message, "information")
