"""Older forms of `trigger_tests.yaml`, which a run refuses, and how to write them now."""

from pathlib import Path

import pytest

from tests.server.analysis.drawing import EVAL, drawn, fixed, problems, problems_in
from tests.server.project.files import put
from waza_language_server.syntax.tried_edits import apply


def test_a_prompt_of_plain_text() -> None:
    text = "skill: a\nshould_trigger_prompts:\n  - Explain this\n"
    assert (
        drawn(text, "trigger_tests", fixes=True)
        == """
⋯
  - Explain this
    ^^^^^^^^^^^^ error wrong-type: Every item of `should_trigger_prompts` must be a mapping of keys, not text.
      = fix: Write `prompt: …`
"""
    )


@pytest.mark.parametrize(
    ("written", "repaired"),
    [
        ("\n  - Explain this # often\n", "\n  - prompt: Explain this # often\n"),
        ("\n  - 'Explain: this'\n", "\n  - prompt: 'Explain: this'\n"),
        (" [Explain this]\n", " [{prompt: Explain this}]\n"),
    ],
)
def test_the_fix_writes_a_block(written: str, repaired: str) -> None:
    head = "skill: a\nshould_trigger_prompts:"
    assert fixed(head + written, "wrong-type", "trigger_tests") == head + repaired
    assert problems(head + repaired, "trigger_tests") == ()


@pytest.mark.parametrize(("skill", "is_reported"), [("dmeo", 1), ("demo", 0), ("demos", 0), ("x", 0)])
def test_the_skill_is_the_one_that_the_suite_tests(tmp_path: Path, skill: str, is_reported: int) -> None:
    put(tmp_path, "eval.yaml", EVAL)
    put(tmp_path, "skills/demos/SKILL.md", "---\nname: demos\ndescription: d\n---\n")
    text = f"skill: {skill}\nshould_trigger_prompts:\n  - prompt: Go\n"
    found = problems_in(tmp_path, "trigger_tests.yaml", text, "trigger_tests")
    message = "The suite tests the skill `demo`, and no prompt ever triggers `dmeo`."
    assert [each.message for each in found] == [message][:is_reported]
    assert [fix.title for each in found for fix in each.fixes] == ["Change to `demo`"][:is_reported]


@pytest.mark.parametrize("line_break", ["\n", "\r\n"])
def test_a_missing_skill_is_the_one_of_the_suite(tmp_path: Path, line_break: str) -> None:
    put(tmp_path, "eval.yaml", EVAL.replace("skill: demo", "skill: notes-writer"))
    text = "# which prompts\n\nshould_trigger_prompts:\n  - prompt: a\n".replace("\n", line_break)
    [problem] = problems_in(tmp_path, "trigger_tests.yaml", text, "trigger_tests")
    assert problem.code == "missing-key"
    [fix] = problem.fixes
    assert fix.title == "Insert `skill: notes-writer`"
    assert apply(text, fix.edits) == text.replace("should_", f"skill: notes-writer{line_break}should_", 1)


def test_a_misspelt_skill_is_reported_once() -> None:
    text = "skil: a\nshould_trigger_prompts:\n  - prompt: a\n"
    assert [each.code for each in problems(text, "trigger_tests")] == ["unknown-key"]


@pytest.mark.parametrize("word", ["query", "question", "message"])
def test_the_prompt_under_another_word(word: str) -> None:
    meant = "skill: a\nshould_trigger_prompts:\n  - prompt: Explain this\n    reason: asked\n"
    [problem] = problems(text := meant.replace("- prompt", f"- {word}"), "trigger_tests")
    assert apply(text, problem.fixes[0].edits) == meant


@pytest.mark.parametrize(
    ("written", "after", "safe"),
    [
        ("Fix: my code", "prompt: 'Fix: my code'", False),
        ('"Fix: my code"', 'prompt: "Fix: my code"', True),
        ('"text: my code"', 'prompt: "text: my code"', False),
    ],
)
def test_a_prompt_that_begins_with_a_word_and_a_colon(written: str, after: str, safe: bool) -> None:
    text = f"skill: s\nshould_trigger_prompts:\n- {written}\nshould_not_trigger_prompts:\n- prompt: a\n"
    [problem] = problems(text, "trigger_tests")
    assert [fix.preferred for fix in problem.fixes] == [safe]
    assert apply(text, problem.fixes[0].edits) == text.replace(written, after, 1)
