"""The main job of the product in a real VS Code, driven as a person would drive it.

``end_to_end.mjs`` is the scenario, ``install.mjs`` brings the VS Code. With ``WAZA_UPDATE_SCREENSHOT=1`` the
picture in the README is taken anew; ``WAZA_SKIP_VSCODE=1`` leaves the tests out.
"""

import os
import platform
import shutil
import struct
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from tests.installations import one_at_a_time

REPOSITORY = Path(__file__).parents[2]
EXTENSION = REPOSITORY / "vscode-extension"
SCENARIO = Path(__file__).with_name("end_to_end.mjs")
INSTALL = Path(__file__).with_name("install.mjs")
SUITE = REPOSITORY / "examples" / "code-explainer"
README_PICTURE = REPOSITORY / "docs" / "images" / "vscode.png"

pytestmark = [
    pytest.mark.skipif(os.environ.get("WAZA_SKIP_VSCODE") == "1", reason="WAZA_SKIP_VSCODE=1 is set"),
    pytest.mark.skipif(
        sys.platform != "linux" or platform.machine() not in {"x86_64", "aarch64"},
        reason="the VS Code under test exists for Linux on x64 and arm64 only",
    ),
]


@pytest.fixture(scope="module")
def node_modules() -> Path:
    """The extension's build tools, installed when they are missing or older than the lock file."""
    installed = EXTENSION / "node_modules"
    marker = installed / ".ready"
    lock = EXTENSION / "package-lock.json"
    with one_at_a_time("extension-build-tools"):
        if not marker.exists() or marker.stat().st_mtime < lock.stat().st_mtime:
            run("npm", "ci", "--no-audit", "--no-fund", cwd=EXTENSION, seconds=600)
            marker.touch()
    return installed


@pytest.fixture(scope="module")
def vsix(node_modules: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The extension as a user installs it, with the server's wheel inside."""
    assert node_modules.is_dir()
    file = tmp_path_factory.mktemp("vsix") / "waza.vsix"
    run("npm", "run", "--silent", "package", "--", "--out", str(file), cwd=EXTENSION, seconds=300)
    return file


def test_the_units_of_the_extension_hold(node_modules: Path) -> None:
    assert node_modules.is_dir()
    run("npm", "test", "--silent", cwd=EXTENSION, seconds=120)


def test_a_mistake_is_underlined_and_repaired_and_a_click_brings_scores(vsix: Path, tmp_path: Path) -> None:
    install_vscode()
    arguments = {"suite": SUITE, "python": Path(sys.executable), "vsix": vsix, "artifacts": tmp_path}
    # The paths of its sockets must be short, so its temporary folder is not below that of the test.
    with tempfile.TemporaryDirectory(prefix="vs-", ignore_cleanup_errors=True) as temporary:
        run(
            "node",
            str(SCENARIO),
            *(part for name, value in arguments.items() for part in (f"--{name}", str(value))),
            cwd=REPOSITORY,
            seconds=300,
            temporary=temporary,
        )
    picture = tmp_path / "vscode.png"
    width, height = size_of_png(picture)
    assert (width, height) >= (1000, 700)
    assert picture.stat().st_size > 30_000, "the picture is almost empty"
    if os.environ.get("WAZA_UPDATE_SCREENSHOT") == "1":
        README_PICTURE.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(picture, README_PICTURE)


def install_vscode() -> None:
    """Bring the VS Code under test, unless it is there."""
    with one_at_a_time("vscode-under-test"):
        run("node", str(INSTALL), cwd=REPOSITORY, seconds=1_200)


def run(command: str, *arguments: str, cwd: Path, seconds: float, temporary: str | None = None) -> None:
    """Run to the end, else fail with all its output; on a timeout its whole process group is killed.

    Temporary files go to ``temporary``, to a folder of its own that is removed when none is named.
    """
    if temporary is None:
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as own:
            run(command, *arguments, cwd=cwd, seconds=seconds, temporary=own)
        return
    executable = shutil.which(command)
    assert executable is not None, f"{command} is not on PATH: Node.js 20 or newer is needed"
    process = subprocess.Popen(
        [executable, *arguments],
        cwd=cwd,
        env={**os.environ, "PYTHON": sys.executable, "TMPDIR": temporary},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        start_new_session=True,
    )
    try:
        output, _ = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        kill_tree(process.pid)
        output, _ = process.communicate()
        pytest.fail(f"{command} {' '.join(arguments)} did not end within {seconds} s:\n{output}")
    except BaseException:
        kill_tree(process.pid)  # interrupted from the keyboard, which reaches this process alone
        raise
    if process.returncode != 0:
        pytest.fail(f"{command} {' '.join(arguments)} failed with exit code {process.returncode}:\n{output}")
    sys.stdout.write(output)


def kill_tree(pid: int) -> None:
    """Kill a process and all that it started."""
    for process in [*psutil.Process(pid).children(recursive=True), psutil.Process(pid)]:
        with suppress(psutil.NoSuchProcess):
            process.kill()


def size_of_png(file: Path) -> tuple[int, int]:
    """Width and height in pixels, from the header."""
    header = file.read_bytes()[:24]
    assert header.startswith(b"\x89PNG"), f"{file} is not a PNG"
    return struct.unpack(">II", header[16:24])
