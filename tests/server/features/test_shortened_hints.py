"""No line has more characters of hints than VS Code shows; what has no room is in a tooltip."""

import pytest

from waza_language_server.features.scores.inlay_hints import LONGEST_LINE, InlayHint, shortened_hints
from waza_language_server.text.line_index import LineIndex

LINES = LineIndex("name: one\nname: two\n")


@pytest.mark.parametrize(
    ("label", "shown"),
    [
        ("✗ 0.67 1 of 3 tasks", "✗ 0.67 1 of 3 tasks"),
        ("✗ 0.67 1 of 3 tasks · stale: a_long_name.yaml +12 −3", "✗ 0.67 1 of 3 tasks · stale"),
        ("✗ 0.67 10000000 of 30000000 tasks of a long name", "✗ 0.67"),
        (f"! {'x' * 60}", f"! {'x' * 40}…"),
        (f"! {'x' * 60} · stale", f"! {'x' * 32}… · stale"),
    ],
)
def test_a_label_that_is_too_long_loses_its_last_parts_and_the_tooltip_has_all(
    label: str, shown: str
) -> None:
    (hint,) = shortened_hints([InlayHint(9, label, "told")], LINES)
    assert hint.label == shown
    assert hint.tooltip == ("told" if shown == label else f"`{label}`\n\ntold")
    assert hint.stale == ("stale" in label)


def test_a_hint_without_room_is_told_in_the_hover_of_the_one_before_it() -> None:
    hints = [InlayHint(9, "✗ 3 of 10 tasks", "suite"), InlayHint(9, "… 0.50 → 0.60 → 0.70 flaky 7/9", "runs")]
    (hint,) = shortened_hints(hints, LINES)
    assert (hint.label, hint.tooltip) == (
        "✗ 3 of 10 tasks",
        "suite\n\n`… 0.50 → 0.60 → 0.70 flaky 7/9`\n\nruns",
    )


def test_a_history_goes_before_the_reason_of_a_stale_verdict() -> None:
    label = "✗ 2 of 3 tasks · stale: SKILL.md +2 −1"
    hints = [InlayHint(9, label, "suite"), InlayHint(9, "0.50 → 0.60", "runs", kind="history")]
    assert [hint.label for hint in shortened_hints(hints, LINES)] == [label]


def test_each_line_has_its_own_room() -> None:
    hints = [InlayHint(at, "✓" * LONGEST_LINE, "") for at in (9, 19)]
    assert shortened_hints(hints, LINES) == hints
