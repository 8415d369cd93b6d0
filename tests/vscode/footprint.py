"""Measure what the extension costs a window of VS Code: `python -m tests.vscode.footprint --help`.

``footprint.mjs`` is one window. Windows with the extension and with an empty one take turns.
"""

import json
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median, quantiles
from typing import Annotated, Any

import typer

from tests.vscode.scenarios import REPOSITORY, install_vscode

FOLDER = Path(__file__).parent
MIB = 1_048_576
SECONDS = 900
EMPTY = {
    "name": "empty",
    "publisher": "nobody",
    "version": "0.0.1",
    "engines": {"vscode": "^1.93.0"},
    "main": "./extension.js",
    "activationEvents": ["onLanguage:yaml"],
}

Figures = dict[str, list[float]]
"""What was measured by name: milliseconds, or MiB."""


def main(
    vsix: Annotated[
        Path, typer.Option(help="The extension, as `npm run package` in vscode-extension makes it.")
    ],
    rounds: Annotated[int, typer.Option(help="Windows with the extension, and as many without.")] = 3,
    suites: Annotated[int, typer.Option(help="Suites of the workspace.")] = 200,
    graders: Annotated[int, typer.Option(help="Graders of the file in which keys are pressed.")] = 1_000,
    keys: Annotated[int, typer.Option(help="Keys that are pressed in a window.")] = 50,
    idle: Annotated[int, typer.Option(help="Seconds in which nobody does anything.")] = 20,
) -> None:
    """Print memory, idle processor time and the time from a key to its frame, beside an empty extension."""
    install_vscode()
    told = ("--suites", str(suites), "--graders", str(graders), "--keys", str(keys), "--idle", str(idle))
    ours: Figures = {}
    empty: Figures = {}
    with tempfile.TemporaryDirectory(prefix="fp-", ignore_cleanup_errors=True) as temporary:
        other = empty_extension(Path(temporary))
        for number in range(rounds):
            for figures, more in (
                (empty, ("--vsix", str(other))),
                (ours, ("--vsix", str(vsix.resolve()), "--python", sys.executable)),
            ):
                which = "with" if figures is ours else "without"
                typer.echo(f"window {number + 1} of {rounds} {which} the extension", err=True)
                _take(figures, _measured((*more, *told)))
    typer.echo("\n".join(table(ours, empty, idle)))


def empty_extension(folder: Path) -> Path:
    """Return an extension that is activated by YAML and does nothing."""
    file = folder / "empty.vsix"
    with zipfile.ZipFile(file, "w") as package:
        package.writestr("extension/package.json", json.dumps(EMPTY))
        package.writestr("extension/extension.js", "exports.activate = () => {};\n")
    return file


def table(ours: Figures, empty: Figures, idle: int) -> Sequence[str]:
    """Return the figures as a table of Markdown: keys of all windows together, of the others medians."""
    rows = [
        ("key to frame, p50", *(_percentile(each["keys"], 50) for each in (ours, empty)), "ms"),
        ("key to frame, p95", *(_percentile(each["keys"], 95) for each in (ours, empty)), "ms"),
        *(
            (title, *(median(each[name]) for each in (ours, empty)), unit)
            for title, name, unit in (
                ("CPU of the extension host for a key", "host typing", "ms"),
                ("CPU of what it starts for a key", "typing below", "ms"),
                ("CPU of all of VS Code for a key", "typing", "ms"),
                ("memory of the extension host", "host memory", "MiB"),
                ("memory of what it starts", "memory below", "MiB"),
                (f"idle CPU of the extension host in {idle} s", "host idle", "ms"),
                (f"idle CPU of what it starts in {idle} s", "idle below", "ms"),
                (f"idle CPU of all of VS Code in {idle} s", "idle", "ms"),
            )
        ),
    ]
    lines = ["| | with the extension | with an empty one | ratio |", "|---|---|---|---|"]
    for title, with_it, without, unit in rows:
        ratio = f"{with_it / without:.2f}" if without else "–"
        lines.append(f"| {title} | {with_it:.1f} {unit} | {without:.1f} {unit} | {ratio} |")
    return lines


def _measured(arguments: Sequence[str]) -> Mapping[str, Any]:
    with tempfile.TemporaryDirectory(prefix="fp-", ignore_cleanup_errors=True) as folder:
        done = subprocess.run(
            ["node", str(FOLDER / "footprint.mjs"), *arguments, "--artifacts", folder],
            cwd=REPOSITORY,
            stdout=subprocess.PIPE,
            text=True,
            check=True,
            timeout=SECONDS,
        )
    found: Mapping[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def _take(figures: Figures, found: Mapping[str, Any]) -> None:
    for name, values in (
        ("keys", found["keys"]),
        ("host memory", [found["memory"]["host"] / MIB]),
        ("memory below", [found["memory"]["below"] / MIB]),
        ("host idle", [median(each["host"] for each in found["idle"])]),
        ("idle below", [median(each["below"] for each in found["idle"])]),
        ("idle", [median(each["all"] for each in found["idle"])]),
        ("host typing", [found["typing"]["host"] / len(found["keys"])]),
        ("typing below", [found["typing"]["below"] / len(found["keys"])]),
        ("typing", [found["typing"]["all"] / len(found["keys"])]),
    ):
        figures.setdefault(name, []).extend(map(float, values))


def _percentile(values: Sequence[float], which: int) -> float:
    return quantiles(values, n=100, method="inclusive")[which - 1]


if __name__ == "__main__":
    typer.run(main)
