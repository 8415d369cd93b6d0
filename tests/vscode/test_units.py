"""Run the unit tests of the extension, which use a fake VS Code (``vscode-extension/test``)."""

from pathlib import Path

import pytest

from tests.vscode.scenarios import EXTENSION, run

pytestmark = pytest.mark.smoke


def test_the_unit_tests_of_the_extension_pass(node_modules: Path) -> None:
    assert node_modules.is_dir()
    run("npm", "test", "--silent", cwd=EXTENSION, seconds=120)
