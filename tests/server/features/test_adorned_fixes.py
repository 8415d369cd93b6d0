"""Whatever a file looks like, a fix or a refactoring leaves the rest of it alone."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator

import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.corpus.fixes import mutant
from tests.server.features.adorned import adorned
from tests.server.project.files import workspace_with
from waza_language_server.analysis.diagnose import diagnose
from waza_language_server.analysis.problem import Problem
from waza_language_server.analysis.trial import Trials
from waza_language_server.features.actions.code_actions import fix_all, fixed
from waza_language_server.features.actions.refactorings import refactorings as offered_refactorings
from waza_language_server.project.document import Document
from waza_language_server.syntax.tried_edits import apply
from waza_language_server.text.edit import Edits
from waza_language_server.text.span import Span

NOTE = re.compile(r"# note \d+[ab]?")
CHANCES = st.integers(0, 10**9).map(random.Random)


def opened(chance: random.Random) -> Document:
    """Return a file as people write it, half of the time with another slip or two."""
    text = adorned(chance)
    return Document("untitled:eval.yaml", 1, mutant(text, chance) if chance.random() < 0.5 else text, "eval")


def fixes(document: Document, problems: tuple[Problem, ...]) -> Iterator[tuple[str, Edits]]:
    """Yield each fix that is offered and the fix of everything, with their titles."""
    workspace = workspace_with()
    trials = Trials(document, workspace, problems)
    for problem in problems:
        for fix in problem.fixes:
            if fix.edits and trials.repairs([(problem, fix)], may_reveal=True):
                yield fix.title, fix.edits
    everything = fix_all(document, fixed(document, workspace, problems))
    if everything is not None:
        (file,) = everything.change.files
        yield everything.title, file.edits


def refactorings(
    document: Document, problems: tuple[Problem, ...], chance: random.Random
) -> Iterator[tuple[str, Edits]]:
    """Yield what is offered at places chosen by chance."""
    for _ in range(10):
        at = chance.randrange(len(document.text) + 1)
        for action in offered_refactorings(document, workspace_with(), Span(at, at), problems):
            (file,) = action.change.files
            yield action.title, file.edits


def values(text: str) -> list[object] | None:
    """Return what a loader reads, each document for itself; None where it reads nothing."""
    try:
        return list(yaml.load_all(text, Loader=yaml.BaseLoader))
    except (yaml.YAMLError, ValueError, TypeError):
        return None


def damage(before: str, after: str, *, deletes: bool) -> Iterator[str]:
    """Yield what a change has done beyond what anybody wants of it."""
    was, is_now = values(before), values(after)
    if was is not None and is_now is None:
        yield "it cannot be read any more"
    if was is not None and is_now is not None and NOTE.search(repr(is_now)) and not NOTE.search(repr(was)):
        yield "a comment is part of a value"
    if (gone := set(NOTE.findall(before)) - set(NOTE.findall(after))) and not deletes:
        yield f"gone: {sorted(gone)}"
    for ending in (r"(?<!\r)\n", r"\r(?!\n)"):
        if re.search(ending, after) and not re.search(ending, before):
            yield "lines end in two ways"


@settings(deadline=None, max_examples=20)
@given(CHANCES)
def test_a_fix_keeps_comments_line_ends_and_what_can_be_read(chance: random.Random) -> None:
    document = opened(chance)
    for title, edits in fixes(document, diagnose(document, workspace_with())):
        after = apply(document.text, edits)
        # Who deletes an entry, or keeps another one, deletes the comment behind it.
        assert [*damage(document.text, after, deletes=title.startswith(("Delete", "Keep")))] == [], (
            f"{title}\n{after}"
        )


@settings(deadline=None, max_examples=20)
@given(CHANCES)
def test_a_refactoring_keeps_the_meaning_too(chance: random.Random) -> None:
    document = opened(chance)
    before = values(document.text)
    for title, edits in refactorings(document, diagnose(document, workspace_with()), chance):
        after = apply(document.text, edits)
        assert [*damage(document.text, after, deletes=False)] == [], f"{title}\n{after}"
        if before is not None and not title.startswith(("Split", "Sort the tasks")):
            assert values(after) == before, f"{title}\n{after}"
