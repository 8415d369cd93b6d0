"""How much of what can go wrong is found, told at its place, and repaired: seeded slips in public suites.

``python -m tests.corpus.quality --each 25 --seed 1`` prints the table of ``docs/quality.md``.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import yaml

from tests.corpus.fixes import corpus_workspace, documents
from tests.corpus.slips import SLIPS, Slipped
from tests.shared_corpus import suite_files
from waza_language_server.analysis.diagnose import diagnose
from waza_language_server.analysis.problem import Problem
from waza_language_server.project.document import Document
from waza_language_server.project.workspace import Workspace
from waza_language_server.syntax.tried_edits import apply

LOST = frozenset({"text for a number", "a variable for a model"})
"""Kinds after which nobody can tell what stood there."""
ADDED = frozenset(
    {
        "an old grader type",
        "a colon in text without quotes",
        "a wrong escape",
        "`&&` in an assertion",
        "a capital letter behind `.lower()`",
        "graders under `expected`",
        "`or` between texts before one `in`",
    }
)
"""Kinds that also say something else: repaired is a file with no more problems than before."""
NEAR = 1
"""Lines: a quote or a bracket that is not closed shows at the next one."""


@dataclass(frozen=True, slots=True)
class Tally:
    """How many slips of a kind were made, found, told at their line, and undone by a fix."""

    made: int
    found: int
    exact: int
    restored: int
    reparable: int

    def row(self, kind: str) -> str:
        """Return the row of the table."""
        # Rounded down: only what is always found says 100 %.
        shares = [f"{100 * part // self.made} %" for part in (self.found, self.exact)]
        shares.append(f"{100 * self.restored // self.reparable} %" if self.reparable else "–")
        return f"| {kind} | {self.made} | {' | '.join(shares)} |"


def tally(kind: str, known: list[Document], workspace: Workspace, each: int, seed: int) -> Tally:
    """Make slips of one kind in files chosen at random, and count what becomes of them."""
    slip = SLIPS[kind]
    chance = random.Random(f"{seed} {kind}")
    made = found = exact = restored = 0
    for document in chance.sample(known, len(known)):
        slipped = slip(document.text, chance)
        if slipped is None or slipped.text == document.text:
            continue
        made += 1
        changed = document.replaced(slipped.text, document.version + 1)
        new = list(_new(document, changed, workspace.with_document(changed)))
        found += bool(new)
        exact += any(_is_at(slipped, problem) for problem in new)
        if kind in ADDED:
            restored += _is_free(document, slipped, new, workspace)
        elif kind not in LOST:
            restored += _is_restored(document, slipped, new)
        if made == each:
            break
    return Tally(made, found, exact, restored, 0 if kind in LOST else made)


def tallies(each: int, seed: int) -> Iterator[tuple[str, Tally]]:
    """Yield every kind of slip with what became of it."""
    workspace = corpus_workspace()
    known = list(documents(suite_files(), workspace))
    with workspace.project.disk.held_still():
        for kind in SLIPS:
            yield kind, tally(kind, known, workspace, each, seed)


def table(rows: Iterable[tuple[str, Tally]]) -> str:
    """Return the table as Markdown, with a last row for all kinds together."""
    listed = [(kind, each) for kind, each in rows if each.made]
    total = Tally(*(sum(getattr(each, name) for _, each in listed) for name in Tally.__slots__))
    lines = ["| slip | made | found | at its line | undone by a fix |", "|---|---|---|---|---|"]
    lines += [each.row(kind) for kind, each in (*listed, ("**all**", total))]
    return "\n".join(lines) + "\n"


def _new(before: Document, after: Document, workspace: Workspace) -> Iterator[Problem]:
    known = Counter((each.code, each.message) for each in diagnose(before, workspace.with_document(before)))
    for problem in diagnose(after, workspace):
        if known[problem.code, problem.message]:
            known[problem.code, problem.message] -= 1
        else:
            yield problem


def _is_at(slipped: Slipped, problem: Problem) -> bool:
    first = slipped.text.count("\n", 0, problem.span.start)
    last = slipped.text.count("\n", 0, problem.span.end)
    return first - NEAR <= slipped.line <= last + NEAR


def _is_restored(document: Document, slipped: Slipped, problems: Iterable[Problem]) -> bool:
    """Whether one fix makes the file mean what it meant before."""
    meant = _loaded(document.text)
    fixes = (fix for problem in problems for fix in problem.fixes)
    return any(_loaded(apply(slipped.text, fix.edits)) == meant for fix in fixes if fix.edits)


def _is_free(document: Document, slipped: Slipped, problems: Iterable[Problem], workspace: Workspace) -> bool:
    """Whether one fix leaves no problem that was not there before the slip."""
    for problem in problems:
        for fix in problem.fixes:
            if fix.edits:
                repaired = document.replaced(apply(slipped.text, fix.edits), document.version + 2)
                if not any(_new(document, repaired, workspace.with_document(repaired))):
                    return True
    return False


def _loaded(text: str) -> Any:
    try:
        return yaml.safe_load(text)
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        return error


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--each", type=int, default=25, help="slips of each kind")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    sys.stdout.write(table(tallies(options.each, options.seed)))


if __name__ == "__main__":
    main()
