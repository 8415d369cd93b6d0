"""Edit JSON Lines and JSON documents at random, and report the first wrong state of each session.

After each edit the text has the tree, and after some the problems, that it has when it was just opened; a fix
of a problem of a line changes no other line. ``make search-recovery`` ends with 1 when it has found
something; a session depends on its seed alone: ``ARGS="--edits 1 --seed 7"`` plays one again.
"""

import argparse
import random
import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from tests.server.features.test_json_documents import EVALS
from tests.server.features.test_line_documents import TEXTS, TYPED
from tests.server.project.files import workspace_with
from tests.server.syntax.test_json_tree import drawn, in_order
from waza_language_server.analysis.diagnose import diagnose
from waza_language_server.analysis.problem import Problem
from waza_language_server.features.actions.code_actions import code_actions, fix_all, fixed
from waza_language_server.project.document import Document, DocumentKind
from waza_language_server.syntax.tried_edits import apply
from waza_language_server.text.edit import Edit

DOCUMENTS: Mapping[DocumentKind, str] = {**TEXTS, "evals_json": EVALS}
PER_SESSION = 20
"""The edits of a session: after more of them, little is left of the text."""
_LONGEST = 1_200
"""The characters of a text: repairs of longer ones take long, and show nothing else."""
_CHECKED_EVERY = 20
_MOST_FAULTS = 5
"""Fixes of texts with more faults take long: each is tried together with the others."""
_PROGRESS_SECONDS = 30
_MISTAKES = (
    *(('"hint"', '"expected"'), ('"metadata"', '"metdata"'), ('"input"', '"inptu"'), ('"id"', '"Id"')),
    *(('"id": "', '"id": 3, "x": "'), ('"timeout": 60000', '"timeout": 60'), (", ", " "), ('"', "'")),
    *(('": "', '": '), ("]", ""), ("}", "},"), ('"prompt"', '"promt"'), ('"stream"', '"strem"')),
    *(('"trials"', '"trails"'), ('"content"', '"contnt"'), (": [", ": "), ("\n", "\n \t\n"), ("1", '"1"')),
)
"""What people write instead of something."""


@dataclass(slots=True)
class Searched:
    """What a search has tried, and the wrong states that it has found, in words."""

    edits: int = 0
    compared: Counter[str] = field(default_factory=Counter[str])
    findings: list[str] = field(default_factory=list[str])


def search(edits: int, seed: int, kinds: Sequence[DocumentKind] = tuple(DOCUMENTS)) -> Searched:
    """Play sessions until there were so many edits."""
    found, said = Searched(), time.monotonic()
    while found.edits < edits:
        number = seed + found.edits // PER_SESSION
        _play(found, number, kinds[number % len(kinds)])
        if time.monotonic() - said > _PROGRESS_SECONDS:
            said = time.monotonic()
            _say(f"{found.edits:,} edits, {len(found.findings)} findings")
    return found


def _play(found: Searched, seed: int, kind: DocumentKind) -> None:
    chance = random.Random(seed)
    document = Document("untitled:a", 0, DOCUMENTS[kind], kind)
    for version in range(1, PER_SESSION + 1):
        found.edits += 1
        document = document.replaced(_edited(document.text, chance)[:_LONGEST], version)
        try:
            _compare_trees(document)
            found.compared["trees"] += 1
            if not version % _CHECKED_EVERY:
                _check(document, found.compared, chance)
        except Exception as error:  # noqa: BLE001 - reported with its text
            found.compared["stopped"] += 1
            found.findings.append(f"seed {seed}, edit {version}, {kind}: {error!r:.600}\n  {document.text!r}")
            found.edits += PER_SESSION - version
            return


def _edited(text: str, chance: random.Random) -> str:
    match chance.randrange(4):
        case 0:
            lines = text.split("\n")
            line = lines.pop(chance.randrange(len(lines))) if len(lines) > 1 else text
            for _ in range(chance.randrange(3)):
                lines.insert(chance.randrange(len(lines) + 1), line)
            return "\n".join(lines)
        case 1:
            before, after = chance.choice(_MISTAKES)
            if chance.random() < 0.4:
                before, after = after, before
            at = text.find(before, chance.randrange(len(text) + 1)) if before else -1
            return text if at < 0 else text[:at] + after + text[at + len(before) :]
        case 2:
            # An author takes a mistake back, or begins again.
            return (
                text[: chance.randrange(len(text) + 1)] + DOCUMENTS["prompts"]
                if chance.random() < 0.1
                else text
            )
        case _:
            at = chance.randrange(len(text) + 1)
            return text[:at] + chance.choice(TYPED) + text[at + chance.choice([0, 0, 1, 5, 40]) :]


def _compare_trees(document: Document) -> None:
    tree, fresh = document.tree, Document(document.uri, 0, document.text, document.kind).tree
    assert tree.errors == fresh.errors, "other faults than fresh"
    assert tree.guesses == fresh.guesses, "other guesses than fresh"
    assert drawn(tree.root) == drawn(fresh.root), "another tree than fresh"
    in_order(tree.root)


def _check(document: Document, compared: Counter[str], chance: random.Random) -> None:
    workspace = workspace_with(document)
    problems = diagnose(document, workspace)
    fresh = Document(document.uri, 0, document.text, document.kind)
    again = diagnose(fresh, workspace_with(fresh))
    assert _written(problems) == _written(again), "other problems than fresh"
    compared["problems"] += len(problems)
    if not problems or len(document.tree.errors) > _MOST_FAULTS:
        return
    place = chance.choice(problems).span
    for action in code_actions(document, workspace, place, problems):
        [file] = action.change.files
        lines = {document.lines.line_of(each.span.start) for each in action.problems}
        _stays_in(document, file.edits, lines, action.title)
        _compare_trees(document.replaced(apply(document.text, file.edits), 1))
        compared["fixes"] += 1
    safe = fix_all(document, fixed(document, workspace, problems))
    if safe is not None:
        [file] = safe.change.files
        _compare_trees(document.replaced(apply(document.text, file.edits), 1))
        compared["all safe fixes"] += 1


def _stays_in(document: Document, edits: Sequence[Edit], lines: set[int], title: str) -> None:
    """Assert that edits touch these lines alone, unless the document is no JSON Lines."""
    if not document.tree.is_lines:
        return
    for edit in edits:
        touched = {document.lines.line_of(edit.span.start), document.lines.line_of(edit.span.end)}
        assert touched <= lines, f"{title!r} changes the lines {touched} instead of {lines}"
        assert "\n" not in edit.text, f"{title!r} writes another line"


def _written(problems: Sequence[Problem]) -> list[object]:
    return [(each.code, each.span, each.message) for each in problems]


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def main(arguments: Sequence[str] | None = None) -> int:
    """Search; return 1 when something was found."""
    parser = argparse.ArgumentParser(prog="python -m tests.server.recovery.search", description=__doc__)
    parser.add_argument("--edits", type=int, default=100_000, help="how many edits (%(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="the first session's seed (%(default)s)")
    parser.add_argument("--most", type=int, default=10, help="how many findings are printed (%(default)s)")
    options = parser.parse_args(arguments)
    started = time.monotonic()
    found = search(options.edits, options.seed)
    for finding in found.findings[: options.most]:
        _say(finding)
    seconds = time.monotonic() - started
    summary = f"{len(found.findings)} findings; {seconds:.0f} s"
    _say(f"{found.edits:,} edits, compared {dict(found.compared)}, {summary}")
    return 1 if found.findings else 0


if __name__ == "__main__":
    sys.exit(main())
