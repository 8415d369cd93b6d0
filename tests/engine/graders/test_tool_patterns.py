"""Patterns of tools are read as upstream reads them."""

from __future__ import annotations

from typing import Any

import pytest

from tests.engine.graders.grading import grade
from waza_engine.vocabulary import ToolCall


@pytest.mark.parametrize("tool", ["bash", " bash ", "\tbash\n"])
def test_blanks_around_a_tool_do_not_let_a_forbidden_call_pass(tool: str) -> None:
    config: dict[str, Any] = {"reject_tools": [{"tool": tool}]}
    verdict = grade("tool_constraint", config, tool_calls=[ToolCall("bash", {})])
    assert not verdict.passed
    assert grade("tool_constraint", config, tool_calls=[ToolCall("view", {})]).passed
