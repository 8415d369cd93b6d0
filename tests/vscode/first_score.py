"""Time the way from the installed extension to the first score: `python -m tests.vscode.first_score --help`.

``first_score.mjs`` is the scenario. What it needs from the package index is fetched, as on a user's machine.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from typing import Annotated

import typer

from tests.vscode.scenarios import install_vscode, run

FOLDER = Path(__file__).parent


def main(
    vsix: Annotated[Path, typer.Option(help="The extension, as `make vscode` packages it.")],
    times: Annotated[int, typer.Option(help="How often, each time with a profile of its own.")] = 5,
) -> None:
    """Print the time of each step, and the seconds up to it, once a time."""
    install_vscode()
    path = os.pathsep.join(
        folder for folder in os.environ["PATH"].split(os.pathsep) if not folder.startswith(sys.prefix)
    )
    for number in range(times):
        typer.echo(f"{number + 1} of {times}")
        with tempfile.TemporaryDirectory(prefix="first-") as folder:
            run(
                "node",
                str(FOLDER / "first_score.mjs"),
                *("--vsix", str(vsix.resolve()), "--artifacts", folder, "--path", path),
                cwd=Path(folder),
                seconds=300,
            )


if __name__ == "__main__":
    typer.run(main)
