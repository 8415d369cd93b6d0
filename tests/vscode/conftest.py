"""Build the extension once for all tests in a real VS Code."""

from pathlib import Path

import pytest

from tests.installations import one_at_a_time
from tests.vscode.scenarios import EXTENSION, FOLDER, REPOSITORY, install_vscode, run


@pytest.fixture(scope="session")
def node_modules() -> Path:
    """Install the build tools of the extension if they are missing or older than the lock file."""
    installed = EXTENSION / "node_modules"
    marker = installed / ".ready"
    lock = EXTENSION / "package-lock.json"
    with one_at_a_time("extension-build-tools"):
        if not marker.exists() or marker.stat().st_mtime < lock.stat().st_mtime:
            run("npm", "ci", "--no-audit", "--no-fund", cwd=EXTENSION, seconds=600)
            marker.touch()
    return installed


@pytest.fixture(scope="session")
def vsix(node_modules: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the package that a user installs, with the wheel of the server."""
    assert node_modules.is_dir()
    file = tmp_path_factory.mktemp("vsix") / "waza.vsix"
    run("npm", "run", "--silent", "package", "--", "--out", str(file), cwd=EXTENSION, seconds=300)
    return file


@pytest.fixture(scope="session")
def extensions(vsix: Path) -> Path:
    """Install the extension into a folder that all windows share."""
    install_vscode()
    run("node", str(FOLDER / "workbench.mjs"), str(vsix), str(vsix.parent), cwd=REPOSITORY, seconds=120)
    return vsix.with_name("extensions")
