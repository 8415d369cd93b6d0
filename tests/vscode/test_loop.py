"""Test live verdicts in a real VS Code; ``loop.mjs`` is the scenario."""

import sys
from pathlib import Path

import pytest
from PIL import Image

from tests.vscode.animation import write_animation
from tests.vscode.scenarios import NEEDS_VSCODE, play

pytestmark = [pytest.mark.check, *NEEDS_VSCODE]
LARGEST_BYTES = 1_500_000


def test_live_verdicts_follow_edits_and_their_animation_is_small(extensions: Path, tmp_path: Path) -> None:
    play("loop.mjs", {"python": Path(sys.executable), "vsix": extensions, "artifacts": tmp_path})
    picture = tmp_path / "loop.png"
    write_animation(tmp_path / "frames", picture)
    assert picture.stat().st_size < LARGEST_BYTES
    with Image.open(picture) as opened:
        assert getattr(opened, "n_frames", 1) > 10
