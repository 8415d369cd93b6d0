"""Paths in a locale of ASCII alone: Python keeps their bytes, what is printed has their letters."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.engine.suites import GREETS, task, write_suite
from waza_engine.terminal import as_written, json_text, visible

pytestmark = pytest.mark.check


def kept_bytes(text: str) -> str:
    return text.encode().decode("ascii", "surrogateescape")


@pytest.mark.parametrize("text", ["Übung/ß.yaml", "日本語", "plain", "🦀"])
def test_the_bytes_of_a_name_are_told_as_its_letters(text: str) -> None:
    assert as_written(kept_bytes(text)) == text
    assert visible(kept_bytes(text)) == text
    assert json.loads(json_text({"file": kept_bytes(text)})) == {"file": text}


def test_bytes_that_are_no_letters_are_written_out() -> None:
    assert visible("a\udcff") == "a\\udcff"
    assert json.loads(json_text("\udcff")) == "\udcff"


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have their own encoding of names")
def test_a_run_in_an_ascii_locale_names_its_files_to_programs(tmp_path: Path) -> None:
    suite = write_suite(tmp_path / "Übung", {"a": task("a")}, graders=GREETS)
    ascii_alone = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    command = [sys.executable, "-m", "waza_engine", "run", str(suite), "--format", "jsonl"]
    done = subprocess.run(
        command, capture_output=True, check=False, env={**os.environ, **ascii_alone}, timeout=120
    )
    assert done.returncode == 0, done.stderr
    last = json.loads(done.stdout.splitlines()[-1])
    assert Path(last["results_file"]).is_file()


@pytest.mark.parametrize("program", ["waza_engine run", "waza_language_server show"])
def test_letters_that_a_terminal_has_not_are_written_out(tmp_path: Path, program: str) -> None:
    suite = write_suite(tmp_path / "größe", {"a": task("ä-日-🦀")}, graders=GREETS)
    command = [sys.executable, "-m", *program.split(), str(suite)]
    narrow = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = subprocess.run(command, capture_output=True, check=False, env=narrow, timeout=120)
    assert done.returncode == 0, done.stderr
    shown = done.stdout.decode("ascii")
    if "run" in program:
        assert "+ \\xe4-\\u65e5-\\U0001f980  1.00" in shown
        assert f"gr\\xf6\\xdfe{os.sep}" in shown
    else:
        assert "> Run suite" in shown
    assert "?" not in shown
