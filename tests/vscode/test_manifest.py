"""Compare facts in the manifest of the extension with their sources."""

import json
import re
import tomllib
from typing import Any

import pytest

from tests.vscode.scenarios import EXTENSION, REPOSITORY
from waza_engine import __version__
from waza_engine.spec.executors import EXECUTORS
from waza_language_server.features.runnables.code_lens import LENS_KINDS
from waza_language_server.features.scores.inlay_hints import HINT_KINDS

KINDS = {"lens": LENS_KINDS | {"cost"}, "hints": HINT_KINDS}


@pytest.fixture(scope="module")
def settings() -> dict[str, Any]:
    manifest = json.loads((EXTENSION / "package.json").read_text("utf-8"))
    return manifest["contributes"]["configuration"]["properties"]


def test_the_settings_offer_all_executors(settings: dict[str, Any]) -> None:
    for name in ("waza.run.executor", "waza.run.judgeExecutor"):
        assert settings[name]["enum"] == ["", *EXECUTORS]


@pytest.mark.parametrize("section", KINDS)
def test_each_kind_of_lens_and_hint_has_a_setting(settings: dict[str, Any], section: str) -> None:
    prefix = f"waza.{section}."
    switches = {name.removeprefix(prefix) for name in settings if name.startswith(prefix)}
    assert switches == KINDS[section] | {"enable"}
    protocol = (REPOSITORY / "docs" / "protocol.md").read_text("utf-8")
    (row,) = re.findall(rf"(?m)^\| `{section}` \|.*$", protocol)
    assert [kind for kind in sorted(switches) if f"`{kind}`" not in row] == []


def test_each_setting_is_in_the_table_of_the_readme(settings: dict[str, Any]) -> None:
    table = (EXTENSION / "README.md").read_text("utf-8").partition("## Settings")[2].partition("\n## ")[0]
    documented = [name for name, setting in settings.items() if "markdownDeprecationMessage" not in setting]
    assert [name for name in documented if f"`{name}`" not in table] == []


def test_the_minimum_versions_match_the_packages() -> None:
    package = tomllib.loads((REPOSITORY / "pyproject.toml").read_text("utf-8"))["project"]
    python = package["requires-python"].removeprefix(">=")
    interpreters = (EXTENSION / "src" / "interpreters.ts").read_text("utf-8")
    assert f'MINIMUM_PYTHON = "{python}"' in interpreters
    code = json.loads((EXTENSION / "package.json").read_text("utf-8"))["engines"]["vscode"]
    readme = (EXTENSION / "README.md").read_text("utf-8")
    assert (
        f"VS Code {code.removeprefix('^').removesuffix('.0')} or newer and Python {python} or newer" in readme
    )
    assert f"Python {python} or newer" in (REPOSITORY / "README.md").read_text("utf-8")


def test_version_and_addresses_match_the_python_package() -> None:
    manifest = json.loads((EXTENSION / "package.json").read_text("utf-8"))
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text("utf-8"))["project"]
    address = project["urls"]["Repository"]
    assert manifest["version"] == __version__
    assert manifest["repository"] == {"type": "git", "url": f"{address}.git", "directory": "vscode-extension"}
    assert manifest["homepage"] == f"{address}#readme"
    assert manifest["bugs"] == {"url": f"{address}/issues"}
    assert manifest["galleryBanner"]["theme"] in ("dark", "light")


def test_the_extension_changes_no_default_settings() -> None:
    """`editor.formatOnType` for YAML would start the formatters of other extensions in every YAML file."""
    manifest = json.loads((EXTENSION / "package.json").read_text("utf-8"))
    assert "configurationDefaults" not in manifest["contributes"]


def test_the_change_log_has_no_duplicates() -> None:
    entries = re.split(r"(?m)^(?=- |#)", (REPOSITORY / "CHANGELOG.md").read_text("utf-8"))
    assert [text for text in entries if entries.count(text) > 1 and text.startswith("- ")] == []
