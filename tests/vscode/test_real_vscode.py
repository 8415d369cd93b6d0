"""Test the main use case in a real VS Code.

``end_to_end.mjs`` is the scenario, ``install.mjs`` installs VS Code. ``WAZA_UPDATE_SCREENSHOT=1`` updates the
screenshot in the README; ``WAZA_SKIP_VSCODE=1`` skips the tests.
"""

import os
import shutil
import struct
import sys
from pathlib import Path

import pytest

from tests.vscode.scenarios import NEEDS_VSCODE, REPOSITORY, play

SUITE = REPOSITORY / "examples" / "code-explainer"
README_PICTURE = REPOSITORY / "docs" / "images" / "vscode.png"

pytestmark = [pytest.mark.check, *NEEDS_VSCODE]


def test_a_mistake_is_repaired_and_a_lens_runs_the_suite(extensions: Path, tmp_path: Path) -> None:
    play(
        "end_to_end.mjs",
        {"suite": SUITE, "python": Path(sys.executable), "vsix": extensions, "artifacts": tmp_path},
    )
    picture = tmp_path / "vscode.png"
    width, height = size_of_png(picture)
    assert (width, height) >= (1000, 700)
    assert picture.stat().st_size > 30_000, "the picture is almost empty"
    if os.environ.get("WAZA_UPDATE_SCREENSHOT") == "1":
        README_PICTURE.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(picture, README_PICTURE)


def size_of_png(file: Path) -> tuple[int, int]:
    """Return width and height in pixels, from the header."""
    header = file.read_bytes()[:24]
    assert header.startswith(b"\x89PNG"), f"{file} is not a PNG"
    return struct.unpack(">II", header[16:24])
