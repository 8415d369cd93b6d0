"""The extension's own tests, which play VS Code (``vscode-extension/test``)."""

from pathlib import Path

import pytest

from tests.vscode.scenarios import EXTENSION, run

pytestmark = pytest.mark.smoke


def test_the_units_of_the_extension_hold(node_modules: Path) -> None:
    assert node_modules.is_dir()
    run("npm", "test", "--silent", cwd=EXTENSION, seconds=120)
