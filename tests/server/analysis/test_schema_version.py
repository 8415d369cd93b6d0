"""Eval files of every version: none is wrong for being new."""

import pytest

from tests.server.analysis.drawing import EVAL, drawn, problems

SCENARIO = EVAL.replace("skill: demo\n", 'scenario: inventory\nschemaVersion: "2.0"\n')


def test_a_newer_version_is_one_mark_and_its_unknown_keys_are_hints() -> None:
    text = 'schemaVersion: "1.99"\n' + EVAL + "novelty: 1\ngraders:\n"
    text += "  - {type: text, name: a, config: {contains: [x], invented: 1}}\n"
    found = [(each.code, each.severity) for each in problems(text, "eval")]
    assert found == [("newer-format", "information"), ("unknown-key", "hint"), ("unknown-key", "hint")]


@pytest.mark.parametrize("version", ["1.0", "1.3", "1.5"])
def test_a_known_version_is_not_marked_and_its_unknown_keys_are_warnings(version: str) -> None:
    found = [
        (each.code, each.severity) for each in problems(f'schemaVersion: "{version}"\n{EVAL}a: 1\n', "eval")
    ]
    assert found == [("unknown-key", "warning")]


def test_a_suite_of_a_scenario_needs_no_skill() -> None:
    assert "scenario" in SCENARIO
    assert problems(SCENARIO, "eval") == ()


def test_a_scenario_in_an_older_version() -> None:
    assert "conflicting-keys: `scenario` needs `schemaVersion" in drawn(
        SCENARIO.replace('"2.0"', '"1.5"'), "eval"
    )
