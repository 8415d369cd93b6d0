"""Frames become one picture that moves."""

import json
from pathlib import Path

import pytest
from PIL import Image, ImageSequence

from tests.vscode.animation import animated


def test_each_frame_is_shown_as_long_as_it_says_and_one_that_is_repeated_longer(tmp_path: Path) -> None:
    frames(tmp_path, ("red", 500), ("blue", 100), ("blue", 300), ("red", 200))
    animated(tmp_path, tmp_path / "out" / "moves.png")
    with Image.open(tmp_path / "out" / "moves.png") as opened:
        shown = [
            (frame.convert("RGB").getpixel((3, 3)), frame.info["duration"])
            for frame in ImageSequence.Iterator(opened)
        ]
    assert shown == [((255, 0, 0), 500), ((0, 0, 255), 400), ((255, 0, 0), 200)]


def test_a_frame_that_is_missing_is_told(tmp_path: Path) -> None:
    frames(tmp_path, ("red", 500))
    (tmp_path / "0.png").unlink()
    with pytest.raises(FileNotFoundError, match=r"0\.png"):
        animated(tmp_path, tmp_path / "moves.png")


def frames(folder: Path, *colours: tuple[str, int]) -> None:
    listed: list[dict[str, object]] = []
    for number, (colour, milliseconds) in enumerate(colours):
        Image.new("RGB", (8, 6), colour).save(folder / f"{number}.png")
        listed.append({"file": f"{number}.png", "milliseconds": milliseconds})
    (folder / "frames.json").write_text(json.dumps(listed), "utf-8")
