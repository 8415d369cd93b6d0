"""The private environment as a real pip, and uv where there is one, makes it: from a local index alone."""

from pathlib import Path

import pytest

from tests.vscode.scenarios import EXTENSION, run

pytestmark = pytest.mark.check


def test_nothing_is_installed_but_what_is_pinned(node_modules: Path) -> None:
    assert node_modules.is_dir()
    run("node", "scripts/test.mjs", "test/installing", cwd=EXTENSION, seconds=380)
