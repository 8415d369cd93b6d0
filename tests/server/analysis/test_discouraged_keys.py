"""Keys that are known and have no effect beside others."""

import pytest

from tests.server.analysis.drawing import graders, problems

JUDGE = "  - type: prompt\n    name: a\n    config:\n"


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
