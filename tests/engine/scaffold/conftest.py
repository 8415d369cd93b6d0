"""What is made lies in one repository with the skill that it is made for."""

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def repository(tmp_path: Path) -> None:
    """Let the folder of a test be a repository."""
    (tmp_path / ".git").mkdir()
