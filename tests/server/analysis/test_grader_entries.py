"""Problems and outline after edits, against those of a text that was just read."""

import random
from dataclasses import dataclass

from waza_language_server.analysis.diagnose import diagnose
from waza_language_server.analysis.problem import Problem
from waza_language_server.project.document import Document
from waza_language_server.project.index import Project
from waza_language_server.project.outline import outline
from waza_language_server.project.workspace import Workspace
from waza_language_server.schema.catalog import default_catalog
from waza_language_server.syntax.tree import parse
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


def test_the_outline_after_any_edits_is_that_of_the_text_alone() -> None:
    randomness = random.Random(7)
    for _ in range(20):
        graders, tree = randomness.choices(GRADERS, k=6), None
        for _ in range(10):
            at = randomness.randrange(len(graders))
            graders[at : at + randomness.randrange(2)] = randomness.choices(
                GRADERS, k=randomness.randrange(3)
            )
            graders = graders or [GRADERS[0]]
            tree = parse("name: s\ngraders:\n" + "".join(graders), tree)
            assert outline(tree) == outline(parse(tree.text))


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


def test_a_key_at_the_wrong_level_is_told_alike_whatever_stands_around_the_grader() -> None:
    grader = "graders:\n  - {name: a, type: text, config: {contains: [x]}, tasks: [t]}\n"
    document = Document("untitled:a", 1, grader, "eval")
    [before] = [each for each in told(document) if each[0] == "misplaced-key"]
    later = document.replaced(f"tasks: [u]\n{grader}", 2)
    [after] = [each for each in told(later) if each[0] == "misplaced-key"]
    assert (before[2], told(later)) == (after[2], told(Document("untitled:b", 2, later.text, "eval")))


def test_problems_of_graders_after_edits_around_them_are_those_of_the_text_alone() -> None:
    catalog = default_catalog()
    tops, below = [sorted(catalog.document_root(kind).top.properties) for kind in ("eval", "task")]
    for seed in range(4):
        randomness = random.Random(seed)
        # Few keys, so that the same ones stand in a grader and around it.
        words = _Words(randomness, [*randomness.sample(tops, 3), "tasks"], randomness.sample(below, 3))
        graders = [words.grader(indent) for indent in (2, 2, 6, 8)]
        around, document = [words.around(0) for _ in range(4)] + [words.around(4)] * 2, None
        for version in range(5):
            text = words.file(graders, around)
            first = Document("untitled:a", version, text, "eval")
            document = document.replaced(text, version) if document is not None else first
            assert told(document) == told(Document("untitled:b", version, text, "eval")), (seed, text)
            place = randomness.randrange(len(around))
            around[place] = randomness.choice(["", words.around(0 if place < 4 else 4)])


@dataclass(frozen=True)
class _Words:
    """Keys of a file and of a task, and what is made of them."""

    randomness: random.Random
    of_file: list[str]
    of_task: list[str]

    def grader(self, indent: int) -> str:
        """Return a grader with keys that belong elsewhere."""
        rows = [
            f"- type: {self.randomness.choice(['text', 'prompt', 'txt', 'tool_calls', 'code'])}",
            *(f"  {self._entry()}" for _ in range(self.randomness.randrange(3))),
            "  config:",
            f"    {self.randomness.choice(['contians', 'model', 'prompt', 'assertions'])}: x",
            *(f"    {self._entry()}" for _ in range(self.randomness.randrange(2))),
        ]
        return "".join(f"{' ' * indent}{row}\n" for row in rows)

    def around(self, indent: int) -> str:
        """Return lines that may stand before or behind a list of graders."""
        margin, key = " " * indent, self.randomness.choice(self.of_task)
        return margin + self.randomness.choice(
            [
                f"{self._entry()}\n",
                f"{self._entry()}\n",
                f"{self.randomness.choice(self.of_file)}:\n{margin}  {key}: 3\n",
                "# a comment\n",
                "base: &z {name: q}\r\n",
                "  broken: [\n",
                "\ttab: 1\n",
                "# waza: ignore[unknown-key]\n",
            ]
        )

    def file(self, graders: list[str], around: list[str]) -> str:
        """Return a file with two graders, and one each in a task and in what is expected there."""
        one, two, of_task, of_expected = graders
        *edges, above, behind = around
        task = f"  - id: t\n{above}    graders:\n{of_task}    expected:\n      graders:\n{of_expected}"
        head, tail = "".join(edges[:2]), "".join(edges[2:])
        return f"{head}graders:\n{one}{two}tasks:\n{task}{behind}{tail}"

    def _entry(self) -> str:
        values = ("x", "[a]", "{a: b}", "3", "yes", "a: b", "[{name: a}]", "*z", "'un")
        return f"{self.randomness.choice([*self.of_file, *self.of_task])}: {self.randomness.choice(values)}"
