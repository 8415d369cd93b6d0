"""Keys that are known and have no effect beside others."""

import pytest

from tests.server.analysis.drawing import drawn, fixed, graders, problems

JUDGE = "  - type: prompt\n    name: a\n    config:\n"


def test_a_threshold_beside_a_prompt() -> None:
    text = graders(f"{JUDGE}      prompt: Is it good?\n      threshold: 0.5\n")
    assert drawn(text, fixes=True) == (
        "\n"
        "⋯\n"
        "      threshold: 0.5\n"
        "      ^^^^^^^^^ warning key-without-effect: `threshold` has no effect next to `prompt`: "
        "it belongs to the rating form, which has a `rubric` and nothing else.\n"
        "        = fix: Delete `threshold`\n"
    )
    assert fixed(text, "key-without-effect") == graders(f"{JUDGE}      prompt: Is it good?\n")


@pytest.mark.parametrize(
    "config",
    [
        "      rubric: Rate it\n      threshold: 0.5\n",
        "      rubric: Rate it\n      prompt: ''\n      threshold: 0.5\n",
        "      rubric: Rate it\n      continue_session: true\n      threshold: 0.5\n",
        "      prompt: Is it good?\n      threshold:\n",
    ],
)
def test_a_rating_form_is_as_it_should_be(config: str) -> None:
    assert problems(graders(JUDGE + config)) == ()
