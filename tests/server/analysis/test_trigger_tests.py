"""Older forms of `trigger_tests.yaml`, which a run refuses, and how to write them now."""

from __future__ import annotations

import pytest

from tests.server.analysis.drawing import drawn, fixed, problems


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


def test_a_list_in_camel_case_is_renamed() -> None:
    text = "skill: a\nshouldTriggerPrompts:\n  - prompt: Explain this\n"
    (problem,) = problems(text, "trigger_tests")
    assert (problem.code, problem.severity) == ("unknown-key", "error")
    assert fixed(text, "unknown-key", "trigger_tests") == text.replace(
        "shouldTriggerPrompts", "should_trigger_prompts"
    )
