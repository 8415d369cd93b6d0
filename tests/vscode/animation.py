"""One picture that moves, of the pictures that a scenario has left (`frames.mjs`)."""

import json
from pathlib import Path

from PIL import Image

FRAMES = "frames.json"


def animated(folder: Path, file: Path) -> None:
    """Write an animated PNG of the frames in a folder: all of one size, each shown as long as it says.

    Frames that look the same are one, shown for as long as both. Raises ``OSError`` where a frame is missing.
    """
    listed = json.loads((folder / FRAMES).read_text("utf-8"))
    pictures: list[Image.Image] = []
    milliseconds: list[int] = []
    for frame in listed:
        with Image.open(folder / frame["file"]) as opened:
            picture = opened.convert("RGB")
        if pictures and picture.tobytes() == pictures[-1].tobytes():
            milliseconds[-1] += frame["milliseconds"]
        else:
            pictures.append(picture)
            milliseconds.append(frame["milliseconds"])
    first, *others = pictures
    file.parent.mkdir(parents=True, exist_ok=True)
    first.save(
        file, format="PNG", save_all=True, append_images=others, duration=milliseconds, loop=0, optimize=True
    )
