"""Reasons of errors in the few characters that a line has room for."""

from __future__ import annotations

import pytest

from waza_language_server.features.words_of_verdicts import LONGEST_REASON, error_label


@pytest.mark.parametrize(
    ("reason", "label"),
    [
        ("not logged in to GitHub", "! not logged in to GitHub"),
        ("\n  first line \nsecond line", "! first line"),
        ("", "! error"),
        (
            "the judge model gpt-x is not deployed in this region, deploy it or choose another one",
            "! the judge model gpt-x is not deployed in this region…",
        ),
        ("x" * 70, f"! {'x' * 59}…"),
    ],
)
def test_a_long_reason_ends_behind_a_word(reason: str, label: str) -> None:
    assert error_label(reason) == label
    assert len(label) <= len("! ") + LONGEST_REASON
