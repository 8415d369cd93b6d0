"""What fixes do to a file, judged from outside: the problems before and after, and what a loader reads."""

import random
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml

from tests.shared_corpus import SUITES, suite_files
from waza_language_server.analysis.diagnose import diagnose
from waza_language_server.analysis.fix_validation import FixValidator
from waza_language_server.analysis.problem import Problem
from waza_language_server.features.actions.code_actions import fix_all, fixed
from waza_language_server.project.document import Document
from waza_language_server.project.index import Project
from waza_language_server.project.uris import uri_of
from waza_language_server.project.workspace import Workspace
from waza_language_server.schema.catalog import default_catalog
from waza_language_server.syntax.fault import STRUCTURAL_CODES
from waza_language_server.syntax.tried_edits import apply

ROUNDS = 5
KEY = re.compile(r"(\s*(?:- )?)([A-Za-z_]{3,})(:.*)")
HIDING = {*STRUCTURAL_CODES, "unknown-grader-type", "missing-grader-type"}
"""Codes of problems behind which others may come to light."""


def worse_by_single_fixes(document: Document, workspace: Workspace) -> Iterator[str]:
    """Yield what the fixes make worse that are offered, each tried alone."""
    problems = diagnose(document, workspace)
    validator = FixValidator(document, workspace, problems)
    for problem in problems[:12]:
        for fix in problem.fixes:
            if not fix.edits or not validator.repairs([(problem, fix)], may_reveal=True):
                continue
            after = apply(document.text, fix.edits)
            reveals = problem.code in HIDING or fix.reveals
            for what in _brought(document, workspace, problems, after, reveals=reveals):
                yield f"{fix.title}: {what}"
            if "comment" not in fix.title and "Delete" not in fix.title:
                for what in _lost(document.text, after, [problem] if fix.preferred else None):
                    yield f"{fix.title}: {what}"


def worse_by_fixing_all(document: Document, workspace: Workspace) -> Iterator[str]:
    """Yield what the fix of everything makes worse, applied until there is none."""
    for _ in range(ROUNDS):
        problems = diagnose(document, workspace)
        action = fix_all(document, fixed(document, workspace, problems))
        if action is None:
            return
        [change] = action.change.files
        after = apply(document.text, change.edits)  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType, reportUnknownArgumentType]
        for what in _brought(document, workspace, problems, after, reveals=False):
            yield f"all: {what}"
        for what in _lost(document.text, after, action.problems):
            yield f"all: {what}"
        document = document.replaced(after, document.version + 1)


def _brought(
    document: Document, workspace: Workspace, before: Sequence[Problem], text: str, *, reveals: bool
) -> Iterator[str]:
    changed = document.replaced(text, document.version + 1)
    after = diagnose(changed, workspace.with_document(changed))
    grave = ("error", "warning") if not reveals else ()
    counts = [Counter(each.code for each in found if each.severity in grave) for found in (before, after)]
    for code, count in counts[1].items():
        if count > counts[0][code]:
            yield f"{count - counts[0][code]} more {code}"


def _lost(before: str, after: str, repaired: Sequence[Problem] | None) -> Iterator[str]:
    """Yield what a loader does not read any more: a safe fix changes no value but the one that was wrong."""
    was, values = _loaded(before)
    is_now, left = _loaded(after)
    if was and not is_now:
        yield "it cannot be read any more"
    if was and is_now and repaired is not None:
        wrong = Counter(before[each.span.start : each.span.end].strip("'\"") for each in repaired)
        if gone := values - left - wrong:
            yield f"gone: {list(gone)[:3]}"


@lru_cache(maxsize=16)
def _loaded(text: str) -> tuple[bool, Counter[str]]:
    try:
        return True, Counter(_scalars(yaml.load(text, Loader=yaml.BaseLoader)))
    except (yaml.YAMLError, RecursionError, ValueError):
        return False, Counter()


def _scalars(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for each in value.values():  # pyright: ignore[reportUnknownVariableType]
            yield from _scalars(each)
    elif isinstance(value, list):
        for each in value:  # pyright: ignore[reportUnknownVariableType]
            yield from _scalars(each)
    else:
        yield str(value)


def mutant(text: str, chance: random.Random) -> str:
    """Return a text with one to three slips: letters, other dialects' names, lines moved, other values."""
    lines = text.split("\n")
    for _ in range(chance.randrange(1, 4)):
        keys = [at for at, line in enumerate(lines) if KEY.match(line)]
        if not keys:
            break
        at = chance.choice(keys)
        match = KEY.match(lines[at])
        assert match is not None
        start, word, rest = match.groups()
        where = chance.randrange(len(word))
        slip = chance.randrange(9)
        if slip == 0:
            lines[at] = start + word[:where] + word[where + 1 :] + rest
        elif slip == 1:
            lines[at] = start + word[:where] + word[where] + word[where:] + rest
        elif slip == 2:
            lines[at] = start + re.sub("_(.)", lambda found: found[1].upper(), word) + rest
        elif slip == 3:
            lines[at] = start + word + chance.choice(["_near", "_x", "s", "_all"]) + rest
        elif slip == 4:
            lines[at] = (
                start + word + ": " + chance.choice(["txt", "yes", "3", "[a]", "'1'", "{}", "-5", "a: b"])
            )
        elif slip == 5:
            lines.insert(at, lines[at])
        elif slip == 6:
            lines[at] = " " * chance.choice([0, 2, 4]) + lines[at].lstrip()
        elif slip == 7:
            lines[at] = start + chance.choice(["name", "skill", "config", "matches", "files", "path"]) + rest
        else:
            del lines[at]
    return "\n".join(lines)


def documents(paths: Sequence[Path], workspace: Workspace) -> Iterator[Document]:
    """Yield the suite files among some paths."""
    for path in paths:
        kind = workspace.project.claim(path)
        if kind is not None:
            text = path.read_text("utf-8", errors="replace")
            if len(text) <= 12_000:
                yield Document(uri_of(path), 1, text, kind)


def worse_in(document: Document, workspace: Workspace) -> Iterator[str]:
    """Yield what any fix of a document makes worse."""
    workspace = workspace.with_document(document)
    yield from worse_by_single_fixes(document, workspace)
    yield from worse_by_fixing_all(document, workspace)


def corpus_workspace() -> Workspace:
    """Return the workspace of the public sample suites."""
    return Workspace(Project((SUITES,)), default_catalog())


def mutants(count: int, seed: int, workspace: Workspace) -> Iterator[Document]:
    """Yield documents with seeded slips, from files chosen at random."""
    chance = random.Random(seed)
    known = list(documents(suite_files(), workspace))
    for _ in range(count):
        document = chance.choice(known)
        yield document.replaced(mutant(document.text, chance), 2)
