"""Take the pictures of the documentation anew: `python -m tests.vscode.pictures --vsix FILE`.

``pictures.mjs`` is the scenario. Each picture is taken in a dark and in a light theme.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Annotated

import typer

from tests.vscode.scenarios import REPOSITORY, play

IMAGES = REPOSITORY / "docs" / "images"


def main(
    vsix: Annotated[Path, typer.Option(help="The extension, as `make vscode` packages it.")],
    out: Annotated[Path, typer.Option(help="Where the pictures go.")] = IMAGES,
    theme: Annotated[list[str] | None, typer.Option(help="`dark` or `light`; both when not given.")] = None,
) -> None:
    """Play the scenario once in each theme."""
    for each in theme or ["dark", "light"]:
        with tempfile.TemporaryDirectory(prefix="pictures-", ignore_cleanup_errors=True) as folder:
            files = {"python": Path(sys.executable), "vsix": vsix.resolve(), "artifacts": Path(folder)}
            play("pictures.mjs", files | {"theme": Path(each), "out": out.resolve()})


if __name__ == "__main__":
    typer.run(main)
