"""Brackets around the lines of a block go away with one fix."""

from __future__ import annotations

import pytest

from tests.server.analysis.drawing import TASK, problems
from waza_language_server.syntax.tried_edits import apply

LIST = TASK + "tags:\n  - a\n  - b\nhint: x\n"
KEYS = TASK + "expected:\n  output_contains:\n    - a\n  should_trigger: true\n"


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
@pytest.mark.parametrize(
    ("text", "meant", "sign"),
    [
        (LIST.replace("tags:", "tags: [").replace("- b", "- b\n]"), LIST, "["),
        (LIST.replace("tags:", "tags: [").replace("- a", "- a,").replace("- b", "- b\n],"), LIST, "["),
        (KEYS.replace("expected:", "expected: {") + "}\n", KEYS, "{"),
    ],
)
def test_a_block_needs_no_brackets(text: str, meant: str, sign: str, ending: str) -> None:
    text = text.replace("\n", ending)
    [problem] = problems(text)
    assert text[problem.span.start : problem.span.end] == sign
    assert apply(text, problem.fixes[0].edits) == meant.replace("\n", ending)
    assert not [fix for fix in problem.fixes if "brackets" in fix.title and fix.preferred]
