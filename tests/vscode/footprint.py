"""Measure the costs of the extension in VS Code: `python -m tests.vscode.footprint --help`.

``footprint.mjs`` measures one window. Windows with the extension and with an empty one alternate.
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

Measurements = dict[str, list[float]]
"""Measurements by name, in milliseconds or MiB."""


def main(
    vsix: Annotated[
        Path,
        typer.Option(help="The package that `npm run package` builds in vscode-extension."),
    ],
    rounds: Annotated[int, typer.Option(help="The number of windows with and without the extension.")] = 3,
    suites: Annotated[int, typer.Option(help="The number of suites in the workspace.")] = 200,
    graders: Annotated[int, typer.Option(help="The number of graders in the edited file.")] = 1_000,
    keys: Annotated[int, typer.Option(help="The number of key presses in a window.")] = 50,
    idle: Annotated[int, typer.Option(help="The duration of the idle phase in seconds.")] = 20,
) -> None:
    """Print memory, idle CPU time and key-to-frame time, compared with an empty extension."""
    install_vscode()
    options = ("--suites", str(suites), "--graders", str(graders), "--keys", str(keys), "--idle", str(idle))
    ours: Measurements = {}
    empty: Measurements = {}
    with tempfile.TemporaryDirectory(prefix="fp-", ignore_cleanup_errors=True) as temporary:
        other = empty_extension(Path(temporary))
        for number in range(rounds):
            for measurements, more in (
                (empty, ("--vsix", str(other))),
                (ours, ("--vsix", str(vsix.resolve()), "--python", sys.executable)),
            ):
                which = "with" if measurements is ours else "without"
                typer.echo(f"window {number + 1} of {rounds} {which} the extension", err=True)
                _add(measurements, _measure((*more, *options)))
    typer.echo("\n".join(table(ours, empty, idle)))


def empty_extension(folder: Path) -> Path:
    """Return an extension that is activated by YAML and does nothing."""
    file = folder / "empty.vsix"
    with zipfile.ZipFile(file, "w") as package:
        package.writestr("extension/package.json", json.dumps(EMPTY))
        package.writestr("extension/extension.js", "exports.activate = () => {};\n")
    return file


def table(ours: Measurements, empty: Measurements, idle: int) -> Sequence[str]:
    """Return a Markdown table: percentiles of all keys, medians of the other measurements."""
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


def _measure(arguments: Sequence[str]) -> Mapping[str, Any]:
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


def _add(measurements: Measurements, found: Mapping[str, Any]) -> None:
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
        measurements.setdefault(name, []).extend(map(float, values))


def _percentile(values: Sequence[float], which: int) -> float:
    return quantiles(values, n=100, method="inclusive")[which - 1]


if __name__ == "__main__":
    typer.run(main)
