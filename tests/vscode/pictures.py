"""Update the screenshots of the documentation: `python -m tests.vscode.pictures --vsix FILE`.

``pictures.mjs`` takes the screenshots, ``loop.mjs`` those of the animation, each in a dark and a light theme.
"""

import sys
import tempfile
from pathlib import Path
from typing import Annotated

import typer

from tests.vscode.animation import write_animation
from tests.vscode.scenarios import REPOSITORY, play

IMAGES = REPOSITORY / "docs" / "images"
SCENARIOS = ("pictures.mjs", "loop.mjs")


def main(
    vsix: Annotated[Path, typer.Option(help="The package of the extension, built by `make vscode`.")],
    out: Annotated[Path, typer.Option(help="The folder of the screenshots.")] = IMAGES,
    theme: Annotated[list[str] | None, typer.Option(help="`dark` or `light`; by default both.")] = None,
    scenario: Annotated[list[str] | None, typer.Option(help="`pictures.mjs` or `loop.mjs`.")] = None,
) -> None:
    """Play the scenarios once in each theme."""
    for each in theme or ["dark", "light"]:
        for name in scenario or SCENARIOS:
            with tempfile.TemporaryDirectory(prefix="pictures-", ignore_cleanup_errors=True) as folder:
                files = {"python": Path(sys.executable), "vsix": vsix.resolve(), "artifacts": Path(folder)}
                moves = name == "loop.mjs"
                frames = Path(folder) / "frames"
                play(name, files | {"theme": Path(each), "out": frames if moves else out.resolve()})
                if moves:
                    write_animation(frames, out / f"loop-{each}.png")


if __name__ == "__main__":
    typer.run(main)
