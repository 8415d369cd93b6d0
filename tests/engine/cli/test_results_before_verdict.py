"""A run whose results cannot be written is no pass, and what it came to is kept elsewhere."""

import errno
import json
import os
from pathlib import Path

import pytest

from tests.engine.suites import task, write_suite
from waza_engine.commands.run import run_command
from waza_engine.results.writing import store
from waza_engine.runs.settings.table import RunSettings


@pytest.fixture
def suite(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    graders = "- {type: text, name: any, config: {regex_match: ['Mock']}}\n"
    return write_suite(tmp_path / "suite", {"t": task("t")}, graders=graders)


def full_below(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the disk be full for documents below a folder."""
    write = store.files.write_atomically

    def refused(path: Path, parts: object, **more: object) -> None:
        if path.is_relative_to(folder):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        write(path, parts, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(store.files, "write_atomically", refused)


def told(capsys: pytest.CaptureFixture[str]) -> tuple[str, str]:
    found = capsys.readouterr()
    return found.out, found.err


def test_a_pass_is_told_when_it_is_kept(suite: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command([suite], RunSettings(suite), None, "text") == 0
    assert "✓ passed" in told(capsys)[0]


def test_a_full_disk_is_told_in_place_of_a_pass(
    suite: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    full_below(suite.parent, monkeypatch)
    assert run_command([suite], RunSettings(suite), None, "text") == 2
    out, err = told(capsys)
    assert "✓ passed" not in out
    assert "⚠ results not kept: 1 of 1" in out
    (rescued,) = (tmp_path / "state" / "waza-engine" / "results").glob("*.json")
    assert "No space left on device" in err
    assert f"The results are kept in {rescued}." in err
    assert json.loads(rescued.read_text())["tasks"][0]["test_id"] == "t"


@pytest.mark.parametrize("which", ["output", "reporter"])
def test_a_file_that_was_asked_for_is_written_before_the_verdict(
    suite: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    which: str,
) -> None:
    (tmp_path / "asked").mkdir()
    full_below(tmp_path / "asked", monkeypatch)
    output = tmp_path / "asked" / "out.json" if which == "output" else None
    reporters = [f"junit:{tmp_path / 'asked' / 'out.xml'}"] if which == "reporter" else []
    assert run_command([suite], RunSettings(suite), output, "text", reporters=reporters) == 2
    out, err = told(capsys)
    assert "✓ passed" not in out
    assert "No space left on device" in err
