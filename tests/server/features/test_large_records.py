"""Records of any size that a run may leave are shown, and their long texts take no memory."""

from pathlib import Path

import pytest

from tests.server.features.results import grade, write_results
from tests.server.project.files import opened, small_suite, workspace_with
from waza_engine.results.reading import newest_scores, recordings
from waza_language_server.features.scores.inlay_hints import inlay_hints

LONG = "word " * 200_000
"""A million characters."""


def labels(suite: Path) -> list[str]:
    document = opened(suite, "eval")
    return [hint.label for hint in inlay_hints(document, workspace_with(document))]


def test_a_record_of_more_than_32_mb_is_shown(tmp_path: Path) -> None:
    suite = small_suite(tmp_path)
    write_results(suite, {"first": [[grade("mentions_deploy", 1.0, details={"output": LONG * 34})]]})
    assert "✓ 1.00" in labels(suite)


def test_a_record_beyond_the_limit_is_told_with_both_sizes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    suite = small_suite(tmp_path)
    record = write_results(suite, {"first": [[grade("mentions_deploy", 1.0, details={"output": LONG * 3})]]})
    started = record.rename(record.with_name("20260701T120000Z-abcdef.json"))
    for module in (recordings, newest_scores):
        monkeypatch.setattr(module, "LONGEST_BYTES", 2 * 2**20)
    (label,) = [label for label in labels(suite) if label.startswith("!")]
    found = newest_scores.latest_results(tmp_path, eval_file=suite.name)
    assert found is not None
    assert found.reasons == (
        f"its results cannot be read: {started.name} has 3 MB; results of up to 2 MB are read.",
    )
    assert started.name in label
