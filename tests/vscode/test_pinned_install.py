"""Test the private environment with a real pip, and uv if available, from a local package index."""

from pathlib import Path

import pytest

from tests.vscode.scenarios import EXTENSION, run

pytestmark = pytest.mark.check


def test_only_pinned_packages_are_installed(node_modules: Path) -> None:
    assert node_modules.is_dir()
    run("node", "scripts/test.mjs", "test/installing", cwd=EXTENSION, seconds=380)
