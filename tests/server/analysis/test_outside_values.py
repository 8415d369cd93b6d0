"""What is wrong in long lists, while one item after the other is edited."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import pytest

from tests.server.project.files import workspace_with
from waza_language_server.analysis.diagnose import diagnose
from waza_language_server.project.document import Document
from waza_language_server.project.outline import outline

if TYPE_CHECKING:
    from waza_language_server.project.document import DocumentKind

CONFIG = "config: {trials_per_task: 1, timeout_seconds: 60, executor: mock, model: m}\n"
FEW = 70
"""Items of a list of which it is kept what was found in them."""

TASKS = (
    "  - {{id: t{0}, name: T, inputs: {{prompt: do {0}}}}}\n",
    "  - {{id: t, name: T, inputs: {{prompt: do}}}}\n",
    "  - {{name: T, inputs: {{prompt: do}}}}\n",
    "  - tasks/*.yaml\n",
    "  - task_files: [a.yaml, b.yaml]\n",
    "  - {{id: c{0}, inputs: {{prompt: d}}, expected: {{output_contains: [a], output_not_contains: [a]}}}}\n",
    "  - {{id: e{0}, name: T, inputs: {{prompt: do}}, expected: {{graders: [{{type: text, name: g}}]}}}}\n",
    "  - {{id: g{0}, graders: [{{type: prompt, name: j, config: {{model: m{0}}}}}]}}\n",
    "  - {{id: k{0}, name: T, inputs: {{prompt: do}}, checkpoints: [{{after_turn: 3, graders: []}}]}}\n",
    "  - {{id: y{0}, name: yes, inputs: {{prompt: 12}}}}\n",
    "  - {{id: u{0}, nmae: T, inputs: {{prompt: do}}}}\n",
    "  - &a {{id: a{0}, name: T, inputs: {{prompt: do}}}}\n",
    "  - *a\n",
    "  - {{id: b{0}, name: 'T, inputs: {{prompt: do}}}}\n",
)
GRADERS = (
    "  - {{name: a{0}, type: text, confg: {{contains: [x]}}}}\n",
    "  - - {{name: b, type: txt}}\n    - {{name: c, type: text, wieght: {0}}}\n",
    "  - name: d\n    type: text\n    config: {{contians: [x], regex_match: ['(']}}\n",
    "  - {{name: e, type: text, config: {{contains: [x]}}}}\n",
    "  - {{name: f, type: &t txt}}\n",
    "  - {{name: g, type: *t, confg: {{}}}}\n",
    "  - {{name: h, type: text, confg: 'x}}\n",
)
METRICS = (
    "  - {{name: m{0}, weight: 0.5, threshold: 0.5}}\n",
    "  - {{name: 12, weight: x}}\n",
    "  - {{nme: m}}\n",
)
PROMPTS = ("  - {{prompt: do {0}}}\n", "  - {{prompt: yes}}\n", "  - say {0}\n", "  - {{promt: x}}\n")


def reported(document: Document) -> list[tuple[object, ...]]:
    problems = diagnose(document, workspace_with())
    return [
        (
            *(each.code, each.span, each.message, each.severity, each.related, each.tag),
            *((fix.title, fix.preferred, fix.edits) for fix in each.fixes),
        )
        for each in problems
    ]


def eval_of(rows: Sequence[str]) -> str:
    return f"name: s\nskill: s\n{CONFIG}tasks:\n{''.join(rows)}graders:\n  - {{type: text, name: x}}\n"


def graders_of(rows: Sequence[str]) -> str:
    return f"name: s\ngraders:\n{''.join(rows)}"


def metrics_of(rows: Sequence[str]) -> str:
    return f"name: s\nskill: s\n{CONFIG}metrics:\n{''.join(rows)}tasks: [t]\ngraders: []\n"


def prompts_of(rows: Sequence[str]) -> str:
    return f"skill: s\nshould_trigger_prompts:\n{''.join(rows)}should_not_trigger_prompts:\n  - prompt: x\n"


@pytest.mark.parametrize(
    ("kind", "variants", "text_of", "seed"),
    [
        *[("eval", TASKS, eval_of, seed) for seed in range(3)],
        ("eval", GRADERS, graders_of, 5),
        ("eval", METRICS, metrics_of, 3),
        ("trigger_tests", PROMPTS, prompts_of, 4),
    ],
)
def test_after_any_edits_it_is_what_a_text_says_that_is_just_read(
    kind: DocumentKind, variants: Sequence[str], text_of: Callable[[Sequence[str]], str], seed: int
) -> None:
    randomness = random.Random(seed)
    rows = [variants[0].format(number) for number in range(FEW)]
    document = Document("untitled:a", 0, text_of(rows), kind)
    reported(document)
    for version in range(1, 15):
        at = randomness.randrange(len(rows))
        new = [
            randomness.choice(variants).format(randomness.randrange(100))
            for _ in range(randomness.randrange(3))
        ]
        rows[at : at + randomness.randrange(2)] = new
        text = text_of(rows)
        document = document.replaced(text, version)
        fresh = Document("untitled:b", version, text, kind)
        assert reported(document) == reported(fresh), text
        assert outline(document.tree) == outline(fresh.tree), text


def test_keys_around_a_grader_do_not_change_its_misplaced_key() -> None:
    grader = "graders:\n  - {name: a, type: text, config: {contains: [x]}, tasks: [t]}\n"
    document = Document("untitled:a", 1, grader, "eval")
    [before] = [each for each in reported(document) if each[0] == "misplaced-key"]
    later = document.replaced(f"tasks: [u]\n{grader}", 2)
    [after] = [each for each in reported(later) if each[0] == "misplaced-key"]
    assert (before[2], reported(later)) == (after[2], reported(Document("untitled:b", 2, later.text, "eval")))
