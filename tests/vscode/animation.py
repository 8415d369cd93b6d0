"""Create an animation from the screenshots of a scenario (`frames.mjs`)."""

import json
from pathlib import Path

from PIL import Image

FRAMES = "frames.json"


def write_animation(folder: Path, file: Path) -> None:
    """Write an animated PNG of the frames in a folder, which all have the same size.

    Equal adjacent frames are merged. Raises ``OSError`` if a frame is missing.
    """
    frames = json.loads((folder / FRAMES).read_text("utf-8"))
    images: list[Image.Image] = []
    milliseconds: list[int] = []
    for frame in frames:
        with Image.open(folder / frame["file"]) as image:
            frame_image = image.convert("RGB")
        if images and frame_image.tobytes() == images[-1].tobytes():
            milliseconds[-1] += frame["milliseconds"]
        else:
            images.append(frame_image)
            milliseconds.append(frame["milliseconds"])
    first, *others = images
    file.parent.mkdir(parents=True, exist_ok=True)
    first.save(
        file, format="PNG", save_all=True, append_images=others, duration=milliseconds, loop=0, optimize=True
    )
