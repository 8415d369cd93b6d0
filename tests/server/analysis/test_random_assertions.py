"""Of random assertions what Python cannot run is found, and what it runs is not called broken."""

import ast
from collections import Counter
from random import Random
from typing import Any

import pytest

from tests.server.analysis.assertion_expressions import CONTEXT
from tests.server.analysis.assertion_grammar import random_assertion
from tests.server.analysis.interpreters import Evaluated, evaluate, interpreters
from waza_language_server.embedded.language import Finding
from waza_language_server.embedded.python.assertion_problems import assertion_findings

pytestmark = pytest.mark.check

NOTHING: dict[str, Any] = {
    "output": "",
    "outcome": {},
    "transcript": [],
    "tool_calls": [],
    "errors": [],
    "duration_ms": 0,
}
CERTAIN = ("NameError", "SyntaxError", "IndentationError", "TabError")
"""What an assertion ends with that no run can evaluate, as far as it gets to the place."""
BROKEN = {
    "assertion-syntax",
    "assertion-statement",
    "assertion-javascript",
    "assertion-unknown-name",
    "assertion-vanishing-name",
    "assertion-attribute",
    "assertion-uncalled",
    "assertion-type",
    "invalid-pattern",
}


def sample(seed: int, count: int) -> list[str]:
    random = Random(seed)
    made = (random_assertion(random) for _ in range(2 * count))
    return [*dict.fromkeys(text for text in made if len(text) < 400)][:count]


def outcomes(version: str, texts: list[str]) -> list[tuple[Evaluated, Evaluated]]:
    groups = [[text] for text in texts]
    python = interpreters()[version]
    full, bare = (evaluate(python, groups, context) for context in (CONTEXT, NOTHING))
    return [(one[0], other[0]) for one, other in zip(full, bare, strict=True)]


def may_be_passed_by(text: str) -> bool:
    """Whether a part of an expression is perhaps not evaluated, whatever is wrong with it."""
    lazy = ast.BoolOp | ast.IfExp | ast.comprehension | ast.Lambda
    return any(
        isinstance(node, lazy) or (isinstance(node, ast.Compare) and len(node.ops) > 1)
        for node in ast.walk(ast.parse(text.strip(), mode="eval"))
    )


def is_broken(finding: Finding, version: str) -> bool:
    """Whether a finding says that the assertion cannot run on this Python."""
    return finding.code in BROKEN and not ("up to Python 3.11" in finding.message and version != "3.11")


@pytest.mark.parametrize("version", sorted(interpreters()))
def test_what_no_run_can_evaluate_is_found_and_nothing_else_is_called_so(version: str) -> None:
    texts = sample(7, 1_500)
    seen: Counter[str] = Counter()
    missed: list[str] = []
    false: list[tuple[str, str]] = []
    for text, evaluated in zip(texts, outcomes(version, texts), strict=True):
        findings = assertion_findings(text)[0]
        assert all(0 <= each.start <= each.end <= len(text) for each in findings)
        broken = [each for each in findings if is_broken(each, version)]
        if all(one.error in CERTAIN for one in evaluated):
            seen["cannot run"] += 1
            if not any(each.code in BROKEN for each in findings):
                missed.append(text)
        elif all(one.error is None for one in evaluated):
            seen["runs"] += 1
            if broken and not may_be_passed_by(text):
                false.append((text, broken[0].message))
    assert (missed, false) == ([], [])
    assert min(seen["cannot run"], seen["runs"]) > 200


@pytest.mark.parametrize("version", sorted(interpreters()))
def test_a_name_that_was_made_visible_leaves_the_meaning(version: str) -> None:
    """What Python evaluates with all of its names is what the repaired assertion comes to."""
    pairs = [
        (text, rewrite.expressions[0])
        for text in sample(8, 1_500)
        for finding in assertion_findings(text)[0]
        if finding.code == "assertion-vanishing-name"
        for rewrite in finding.rewrites
    ]
    python = interpreters()[version]
    meant = evaluate(python, [[text] for text, _ in pairs], CONTEXT, full_builtins=True)
    repaired = evaluate(python, [[text] for _, text in pairs], CONTEXT)
    assert len(pairs) > 100
    assert [
        pair
        for pair, (one,), (other,) in zip(pairs, meant, repaired, strict=True)
        if (one.truth, one.error) != (other.truth, other.error)
    ] == []
