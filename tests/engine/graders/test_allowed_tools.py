"""`allow_only` of `tool_constraint`: every call of the agent must be one of those that are listed."""

from typing import Any

import pytest

from tests.engine.graders.grading import grade
from waza_engine.vocabulary import ToolCall

STATUS = ToolCall("bash", {"command": "git status"})
PUSH = ToolCall("bash", {"command": "git push"})
READ = ToolCall("view", {"path": "src/a.py"})


@pytest.mark.parametrize(
    ("allowed", "calls", "score"),
    [
        ([{"tool": "bash"}], [STATUS, PUSH], 1.0),
        ([{"tool": "BASH", "command_pattern": "^GIT STATUS$"}], [STATUS, PUSH], 0.5),
        ([{"tool": "bas"}], [STATUS], 0.0),
        ([{"tool": "b.sh"}], [STATUS], 0.0),
        ([{"tool": "read", "path_pattern": "^src/"}, "bash"], [READ, STATUS], 1.0),
        ([{"tool": "builtin:view"}], [READ], 1.0),
        ([{"tool": "mcp:view"}], [READ], 1.0),
        ([{"tool": "mcp:read"}], [READ], 0.0),
        ([{"tool": "bash", "args": {"command": {"equals": "git push"}}}], [STATUS, PUSH, READ], 1 / 3),
        ([], [STATUS, PUSH], 0.0),
        ([], [], 1.0),
    ],
)
def test_one_check_for_each_call(allowed: list[Any], calls: list[ToolCall], score: float) -> None:
    verdict = grade("tool_constraint", {"allow_only": allowed}, output="", tool_calls=calls)
    assert verdict.score == pytest.approx(score)
    assert verdict.passed is (score == 1.0)
    assert len(verdict.details["allow_only_violations"]) == round(len(calls) * (1 - score))


def test_it_counts_beside_the_other_checks() -> None:
    config = {"expect_tools": [{"tool": "bash"}], "allow_only": [{"tool": "bash"}]}
    verdict = grade("tool_constraint", config, output="", tool_calls=[STATUS, READ])
    assert verdict.score == pytest.approx(2 / 3)
