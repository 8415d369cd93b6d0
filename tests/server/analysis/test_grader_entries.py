"""What is asked of all grader entries, over edits, against the same asked of a text that was just read."""

from __future__ import annotations

import random

from waza_engine.steps import finished
from waza_language_server.analysis.diagnose import diagnose
from waza_language_server.analysis.file_rules.grader_names import name_of
from waza_language_server.analysis.grader_entries import GraderEntries
from waza_language_server.analysis.problem import Problem
from waza_language_server.project.document import Document
from waza_language_server.project.index import Project
from waza_language_server.project.outline import outline
from waza_language_server.project.workspace import Workspace
from waza_language_server.schema.catalog import Catalog, default_catalog
from waza_language_server.syntax.tree import Tree, parse
from waza_language_server.text.edit import Edits

GRADERS = (
    "  - {name: a, type: text}\n",
    "  - name: b\n    type: prompt\n    config: {model: m}\n",
    "  - name: a\n    type: tool_constraint\n    config: {required: [bash]}\n",
    "  - type: text\n",
    "  - word\n",
    "  - - name: c\n",
    "  - &x {name: d, type: text}\n",
    "  - *x\n",
)


def counts(tree: Tree, catalog: Catalog) -> tuple[dict[str | None, int], int]:
    counted = finished(GraderEntries(tree, "eval", catalog).counted(name_of))
    return {**counted.by_value}, counted.total


def test_names_and_outline_after_any_edits_are_those_of_the_text_alone() -> None:
    catalog, randomness = default_catalog(), random.Random(7)
    for _ in range(20):
        graders, tree = randomness.choices(GRADERS, k=6), None
        for _ in range(10):
            at = randomness.randrange(len(graders))
            graders[at : at + randomness.randrange(2)] = randomness.choices(
                GRADERS, k=randomness.randrange(3)
            )
            graders = graders or [GRADERS[0]]
            tree = parse("name: s\ngraders:\n" + "".join(graders), tree)
            fresh = parse(tree.text)
            assert outline(tree) == outline(fresh)
            assert counts(tree, catalog) == direct(fresh, catalog)


WRONG = (
    "  - {name: a, type: text, confg: {contains: [x]}}\n",
    "  - - {name: b, type: txt}\n    - {name: c, type: text, wieght: 2}\n",
    "  - name: d\n    type: text\n    config: {contians: [x], regex_match: ['(']}\n",
    "  - {name: e, type: text, config: {contains: [x]}}\n",
    "  - {name: f, type: &t txt}\n",
    "  - {name: g, type: *t, confg: {}}\n",
    "  - {name: h, type: text, confg: 'x}\n",
)


def told(document: Document) -> list[tuple[object, ...]]:
    problems = diagnose(document, Workspace(Project(), default_catalog()))
    return [
        (*(each.code, each.span, each.message, each.severity, each.related, each.tag), repairs(each))
        for each in problems
    ]


def repairs(problem: Problem) -> list[tuple[str, bool, Edits]]:
    return [(fix.title, fix.preferred, fix.edits) for fix in problem.fixes]


def test_problems_and_their_fixes_after_any_edits_are_those_of_the_text_alone() -> None:
    randomness = random.Random(3)
    for _ in range(8):
        graders, document = randomness.choices(WRONG, k=5), None
        for version in range(8):
            at = randomness.randrange(len(graders))
            new = randomness.choices(WRONG, k=randomness.randrange(3))
            graders[at : at + randomness.randrange(2)] = new
            text = "name: s\ngraders:\n" + "".join(graders or WRONG[:1])
            graders = graders or [WRONG[0]]
            first = Document("untitled:a", version, text, "eval")
            document = document.replaced(text, version) if document is not None else first
            assert told(document) == told(Document("untitled:b", version, text, "eval"))


def direct(tree: Tree, catalog: Catalog) -> tuple[dict[str | None, int], int]:
    names = [name_of(grader) for grader in GraderEntries(tree, "eval", catalog)]
    return {name: names.count(name) for name in names}, len(names)
