"""The example package with a grader type of its own, installed where only the test sees it."""

import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
EXAMPLE = ROOT / "examples" / "custom-grader"


def install_example(folder: Path) -> Path:
    """Install the example package below a folder, offline; return the directory for PYTHONPATH."""
    source, site = folder / "source", folder / "site"
    shutil.copytree(EXAMPLE, source, ignore=shutil.ignore_patterns(".waza"))
    subprocess.run(
        [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation", "--no-index",
         "--disable-pip-version-check", "--target", site, source],
        check=True, capture_output=True,
    )  # fmt: skip
    return site


def broken_plugin(folder: Path, target: str = "no_such_module_here") -> Path:
    """Lay down a package whose entry point cannot be imported; return the directory for PYTHONPATH."""
    information = folder / "broken-1.0.dist-info"
    information.mkdir(parents=True)
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: broken\nVersion: 1.0\n")
    (information / "entry_points.txt").write_text(f"[waza_engine.graders]\nlost = {target}\n")
    return folder
