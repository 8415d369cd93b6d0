"""Checks that cannot fail, as they are typed."""

import pytest

from waza_language_server.analysis.value_rules.vacuous import matches_everything


@pytest.mark.parametrize("pattern", [".*", "(?s).*", "x*", "^", "$", "(b)?", "a|", r"\s*", "(?i).{0,}"])
def test_a_pattern_that_matches_every_answer_is_known(pattern: str) -> None:
    assert matches_everything(pattern)


@pytest.mark.parametrize(
    "pattern",
    [".+", "^$", r"^\s*$", r"\A.{0,80}\z", "deployed", r"\S", r"^[\x20-\x7e\s]*\z", "(?=x)", "(", "[^a]"],
)
def test_a_pattern_that_can_fail_is_not(pattern: str) -> None:
    assert not matches_everything(pattern)
