"""One editor for all tests of a module, which keep to folders of their own in its workspace."""

from collections.abc import AsyncGenerator
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import pytest
import pytest_asyncio

from tests.protocol.editor import Editor, editing


@pytest.fixture(scope="module")
def workspace_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder that is open in the editor of a module."""
    return tmp_path_factory.mktemp("workspace")


@pytest.fixture
def own_folder(workspace_folder: Path) -> Path:
    """Return a folder of this test alone in the workspace of the module."""
    return Path(mkdtemp(dir=workspace_folder))


@pytest.fixture(scope="module")
def editor_options() -> dict[str, Any]:
    """Return what ``editing`` is given for the editor of a module, which may say otherwise."""
    return {}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def editor(workspace_folder: Path, editor_options: dict[str, Any]) -> AsyncGenerator[Editor]:
    """Yield the editor of a module: its server and its engine start once.

    The tests of such a module are marked with ``asyncio(loop_scope="module")``.
    """
    async with editing(workspace_folder, **editor_options) as editor:
        yield editor
