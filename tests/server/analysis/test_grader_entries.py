"""Problems of graders after edits, against those of a text that was just read."""

import random

from waza_language_server.analysis.diagnose import diagnose
from waza_language_server.analysis.problem import Problem
from waza_language_server.project.document import Document
from waza_language_server.project.index import Project
from waza_language_server.project.workspace import Workspace
from waza_language_server.schema.catalog import default_catalog
from waza_language_server.text.edit import Edits

WRONG = (
    "  - {name: a, type: text, confg: {contains: [x]}}\n",
    "  - - {name: b, type: txt}\n    - {name: c, type: text, wieght: 2}\n",
    "  - name: d\n    type: text\n    config: {contians: [x], regex_match: ['(']}\n",
    "  - {name: e, type: text, config: {contains: [x]}}\n",
    "  - {name: f, type: &t txt}\n",
    "  - {name: g, type: *t, confg: {}}\n",
    "  - {name: h, type: text, confg: 'x}\n",
)


def reported(document: Document) -> list[tuple[object, ...]]:
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
            assert reported(document) == reported(Document("untitled:b", version, text, "eval"))


def test_keys_around_a_grader_do_not_change_its_misplaced_key() -> None:
    grader = "graders:\n  - {name: a, type: text, config: {contains: [x]}, tasks: [t]}\n"
    document = Document("untitled:a", 1, grader, "eval")
    [before] = [each for each in reported(document) if each[0] == "misplaced-key"]
    later = document.replaced(f"tasks: [u]\n{grader}", 2)
    [after] = [each for each in reported(later) if each[0] == "misplaced-key"]
    assert (before[2], reported(later)) == (after[2], reported(Document("untitled:b", 2, later.text, "eval")))
