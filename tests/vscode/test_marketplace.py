"""Test the parts of the package that the marketplace shows."""

import json
import re
import tomllib
import zipfile
from pathlib import Path

import pytest

from tests.vscode.scenarios import REPOSITORY
from waza_engine import __version__

pytestmark = pytest.mark.check


def test_the_package_has_its_version_pictures_and_no_dangling_source_map(vsix: Path) -> None:
    with zipfile.ZipFile(vsix) as archive:
        readme, changes, manifest, code = (
            archive.read(f"extension/{name}").decode("utf-8")
            for name in ("readme.md", "changelog.md", "package.json", "out/extension.js")
        )
    address = tomllib.loads((REPOSITORY / "pyproject.toml").read_text("utf-8"))["project"]["urls"][
        "Repository"
    ]
    pictures = re.findall(r"!\[[^\]]*\]\(([^)]+)\)", readme)
    assert len(pictures) >= 3
    prefix = f"{address}/raw/HEAD/vscode-extension/"
    for picture in pictures:
        assert (REPOSITORY / "vscode-extension" / picture.removeprefix(prefix)).is_file(), picture
    assert json.loads(manifest)["version"] == __version__
    assert changes.startswith("# Changelog")
    assert "sourceMappingURL" not in code
