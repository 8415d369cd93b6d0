"""Lines of which a part stands elsewhere: each is one problem, and its fix gives the text that was meant."""

from __future__ import annotations

import pytest

from tests.server.analysis.drawing import EVAL, TASK, graders, problems
from waza_language_server.project.document import DocumentKind
from waza_language_server.syntax.tried_edits import apply

GRADERS = graders(
    "  # words\n  - type: text\n    name: a\n    weight: 0.5   # half\n    config:\n      contains:\n"
    "      - one\n      - two words\n\n      not_contains: [b]\n  - type: text\n    name: b\n"
    "    config: {contains: [b]}\n"
)
FILES = (
    f"{TASK}  files:\n    - path: a.md\n      content: |\n        # A\n        x: y\n  context:\n    a: b\n"
)
SLIPS: list[tuple[str, str, str, DocumentKind]] = [
    (GRADERS, "    name: a\n", "name: a\n", "task"),
    (GRADERS, "    weight: 0.5 ", "weight: 0.5 ", "task"),
    (GRADERS, "      contains:\n", "contains:\n", "task"),
    (FILES, "      content: |\n", "content: |\n", "task"),
    (EVAL, "  executor: mock\n", '  "executor: mock\n', "eval"),
    (TASK, "name: T\n", "'name: T\n", "task"),
    (TASK, "name: T\n", "name:\nT\n", "task"),
    (GRADERS, "  - type: text\n    name: b", "  - type:\n    text\n    name: b", "task"),
    (GRADERS, "      - one\n", "      one\n", "task"),
    (GRADERS, "      - one\n", "        one\n", "task"),
    (GRADERS, "      - two words\n", "      two words\n", "task"),
    (GRADERS, "not_contains: [b]\n", "not_contains: [b]]\n", "task"),
    (GRADERS, "{contains: [b]}", "{contains: [b]}}", "task"),
    (FILES, "content: |\n", "content: ||\n", "task"),
    (FILES, "content: |\n", "content: \\\n", "task"),
    (FILES, "content: |\n", "content: '|'\n", "task"),
]


@pytest.mark.parametrize("line_break", ["\n", "\r\n"])
@pytest.mark.parametrize(("text", "right", "wrong", "kind"), SLIPS)
def test_what_was_meant_is_written_again(
    text: str, right: str, wrong: str, kind: DocumentKind, line_break: str
) -> None:
    text, right, wrong = (each.replace("\n", line_break) for each in (text, right, wrong))
    changed = text.replace(right, wrong, 1)
    assert changed != text
    known = {(each.code, each.message) for each in problems(text, kind)}
    found = [each for each in problems(changed, kind) if (each.code, each.message) not in known]
    assert len(found) == 1, [each.message for each in found]
    assert apply(changed, found[0].fixes[0].edits) == text
    place = found[0].span.start
    assert abs(changed.count("\n", 0, place) - text.count("\n", 0, text.index(right))) <= 1


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ('description: Forms: names, dates."', 'description: "Forms: names, dates."'),
        ("description: “Forms: names”", None),
        ('description: “Forms: names."', 'description: "Forms: names."'),
    ],
)
def test_a_lost_quote_of_a_text_with_a_colon(written: str, meant: str | None) -> None:
    text = f"---\nname: forms\n{written}\n---\n"
    found = [each for each in problems(text, "skill") if each.code == "yaml-syntax"]
    repaired = apply(text, found[0].fixes[0].edits)
    assert not [each for each in problems(repaired, "skill") if each.code != "skill-name"]
    stray = ".\"'" if meant is not None else "”"
    assert (stray in repaired) == (meant is None)


def test_an_equals_sign_in_brackets_leaves_the_value() -> None:
    text = f"{EVAL}metrics:\n  - {{name: pass_at_k, weight: 1.0, threshold: 0.5}} # all\n"
    wrong = text.replace("weight: 1.0", "weight=1.0")
    [problem] = problems(wrong, "eval")
    assert apply(wrong, problem.fixes[0].edits) == text


def test_the_empty_one_of_two_keys_is_not_kept() -> None:
    text = f"{EVAL}hooks:\nhooks:\n  before_run:\n    - command: ls\n"
    problem = next(each for each in problems(text, "eval") if each.code == "duplicate-key")
    assert apply(text, problem.fixes[0].edits) == text.replace("hooks:\nhooks:", "hooks:")


def test_items_without_their_list_are_told_once() -> None:
    text = f"{TASK}    - a\n    - b\n    - c\n".replace("  prompt: Go\n", "  prompt: Go\n  context: {a: b}\n")
    assert len([each for each in problems(text) if each.code.startswith("yaml")]) == 1


def test_a_skill_without_a_description_is_told() -> None:
    assert [each.code for each in problems("---\nname: a\ndescription:\n---\n", "skill")] == [
        "recommended-key"
    ]


@pytest.mark.parametrize(("line", "item"), [("+ 'x y'", "'x y'"), ("~ done", "done")])
def test_another_sign_in_place_of_the_dash(line: str, item: str) -> None:
    text = graders(f"  - type: text\n    name: a\n    config:\n      contains:\n        {line}\n")
    [problem] = problems(text)
    repaired = apply(text, problem.fixes[0].edits)
    assert f"- {item}\n" in repaired
    assert not problems(repaired)
