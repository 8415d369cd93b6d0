"""Patterns of tools are read as upstream reads them."""

from typing import Any

import pytest

from tests.engine.graders.grading import grade
from waza_engine.vocabulary import ToolCall

pytestmark = pytest.mark.usefixtures("pattern_library")


@pytest.mark.parametrize("tool", ["bash", " bash ", "\tbash\n"])
def test_blanks_around_a_tool_do_not_let_a_forbidden_call_pass(tool: str) -> None:
    config: dict[str, Any] = {"reject_tools": [{"tool": tool}]}
    verdict = grade("tool_constraint", config, tool_calls=[ToolCall("bash", {})])
    assert not verdict.passed
    assert grade("tool_constraint", config, tool_calls=[ToolCall("view", {})]).passed


@pytest.mark.parametrize(
    ("arguments", "key", "pattern", "fits"),
    [
        ({"command": ["rm", "-rf"]}, "command_pattern", r'^\["rm","-rf"\]$', True),
        ({"command": ["rm", "-rf"]}, "command_pattern", "mv", False),
        ({"command": None}, "command_pattern", "^$", True),
        ({}, "path_pattern", "^$", True),
        ({"Path": "src/a.py"}, "path_pattern", "^src/", True),
        ({"PATH": "lib/a.py", "path": "src/a.py"}, "path_pattern", "^src/", True),
        ({"file_path": "src/a.py"}, "path_pattern", "src", False),
    ],
)
def test_patterns_search_an_argument_whatever_its_form(
    arguments: dict[str, Any], key: str, pattern: str, fits: bool
) -> None:
    config: dict[str, Any] = {"expect_tools": [{"tool": "bash", key: pattern}]}
    assert grade("tool_constraint", config, tool_calls=[ToolCall("bash", arguments)]).passed is fits


def test_one_call_is_no_calls() -> None:
    verdict = grade("tool_calls", {"max_calls": 0}, tool_calls=[ToolCall("bash", {})])
    assert verdict.feedback == "1 tool call, at most 0 allowed"
