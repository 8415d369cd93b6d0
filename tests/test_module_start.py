"""``python -m`` in a repository imports none of its modules."""

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.check

NAMES = ("yaml", "json", "pygls", "lsprotocol", "typer", "sitecustomize", "asyncio", "attrs", "psutil")


@pytest.mark.parametrize(
    "arguments",
    [
        ("waza_language_server", "--version"),
        ("waza_language_server", "check", "eval.yaml"),
        ("waza_language_server", "--stdio"),
        ("waza_engine", "--version"),
        ("waza_engine", "serve"),
    ],
)
def test_a_module_of_the_current_folder_is_not_imported(arguments: tuple[str, ...], tmp_path: Path) -> None:
    for name in NAMES:
        (tmp_path / f"{name}.py").write_text("raise SystemExit('imported ' + __name__)\n")
    (tmp_path / "eval.yaml").write_text("name: a\nskill: a\ngraders:\n- type: unheard_of\n  name: a\n")
    ended = subprocess.run(
        [sys.executable, "-m", *arguments],
        cwd=tmp_path,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert "imported" not in ended.stdout + ended.stderr
