"""Orders of tool calls and skills: `action_sequence`, `skill_invocation`.

The tables hold the worked examples of both.
"""

from typing import Any

import pytest

from tests.engine.graders.grading import calls, failed_paths, grade, refused, result, skills


@pytest.mark.parametrize(
    ("wanted", "actual", "score", "passing"),
    [
        ("a b c", "a b c", 1.0, {"exact", "in_order", "any_order"}),
        ("a b", "a b c", 0.8, {"in_order", "any_order"}),
        ("a b c", "a b", 0.8, set[str]()),
        ("a b", "b a", 1.0, {"any_order"}),
        ("r w", "i r s w c", 0.5714, {"in_order", "any_order"}),
        ("r d", "i r w t d c", 0.5, {"in_order", "any_order"}),
        ("a a b", "b a", 0.8, set[str]()),
        ("a b c d", "a c", 0.6667, set[str]()),
        ("a b", "x y", 0.0, set[str]()),
        ("a", "", 0.0, set[str]()),
        ("bash edit bash", "bash view edit bash report", 0.75, {"in_order", "any_order"}),
    ],
)
def test_action_sequence(wanted: str, actual: str, score: float, passing: set[str]) -> None:
    for mode in ("exact", "in_order", "any_order"):
        config = {"expected_actions": wanted.split(), "matching_mode": f"{mode}_match"}
        expected = (score, mode in passing)
        assert result(grade("action_sequence", config, tool_calls=calls(actual))) == expected, mode


@pytest.mark.parametrize(
    ("config", "actual", "expected"),
    [
        ({"required_skills": ["p", "d"], "mode": "in_order"}, "p d", (1.0, True)),
        ({"required_skills": ["p", "d"], "mode": "in_order"}, "p v d", (0.8, True)),
        ({"required_skills": ["p", "d"], "mode": "in_order", "allow_extra": False}, "p v d", (0.64, True)),
        ({"required_skills": ["s1"], "mode": "in_order", "allow_extra": False}, "s1 s2", (0.4667, True)),
        ({"required_skills": ["p", "d"], "mode": "exact_match"}, "d p", (1.0, False)),
        ({"required_skills": ["p"], "mode": "any_order"}, "", (0.0, False)),
        (
            {"required_skills": ["s1"], "mode": "any_order", "forbidden_skills": ["s3"]},
            "s1 s2",
            (0.6667, True),
        ),
        ({"required_skills": ["s1"], "mode": "any_order", "forbidden_skills": ["s3"]}, "s1 s3", (0.0, False)),
        ({"forbidden_skills": ["s1"], "allow_extra": False}, "s2", (1.0, True)),
        ({"forbidden_skills": ["s1"]}, "", (1.0, True)),
        ({"forbidden_skills": ["s1"]}, "s1", (0.0, False)),
    ],
)
def test_skill_invocation(config: dict[str, Any], actual: str, expected: tuple[float, bool]) -> None:
    assert result(grade("skill_invocation", config, skill_invocations=skills(actual))) == expected


def test_extra_invocations_are_named() -> None:
    config = {"required_skills": ["s1"], "mode": "in_order", "allow_extra": False}
    verdict = grade("skill_invocation", config, skill_invocations=skills("s1 s2"))
    assert "1 invocation beyond" in verdict.feedback


def test_a_forbidden_skill_is_marked_at_its_line() -> None:
    verdict = grade("skill_invocation", {"forbidden_skills": ["a", "b"]}, skill_invocations=skills("b"))
    assert failed_paths(verdict) == [("forbidden_skills", 1)]


@pytest.mark.parametrize(
    ("config", "words"),
    [
        ({}, ["nothing to check"]),
        ({"required_skills": [], "mode": "any_order"}, ["nothing to check"]),
        ({"required_skills": ["a"]}, ["`required_skills` needs `mode`"]),
        ({"required_skills": ["a"], "mode": "in_order_match"}, ["`config.mode` is `in_order_match`"]),
        ({"forbidden_skills": ["a"], "mode": "bogus"}, ["`config.mode` is `bogus`"]),
        ({"matching_mode": "exact_match"}, ["`config.expected_actions` is missing"]),
        ({"expected_actions": ["a"]}, ["`config.matching_mode` is missing"]),
        (
            {"expected_actions": ["a"], "matching_mode": "in_order"},
            ["`config.matching_mode` is `in_order`", "`exact_match`, `in_order_match` or `any_order_match`"],
        ),
    ],
)
def test_orders_that_cannot_be_graded(config: dict[str, Any], words: list[str]) -> None:
    is_of_actions = {"expected_actions", "matching_mode"} & config.keys()
    with refused(*words):
        grade("action_sequence" if is_of_actions else "skill_invocation", config)
