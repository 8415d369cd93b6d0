"""The schema of adapter files in the extension: built from the engine's, and silent about other JSON."""

import json
import shutil
import subprocess
from pathlib import Path

import jsonschema_rs
import pytest

from tests.engine.executors.agents import adapter

ROOT = Path(__file__).parents[2]
EXTENSION = ROOT / "vscode-extension"


def test_the_extension_checks_adapters_and_leaves_other_json_alone() -> None:
    node = shutil.which("node")
    if node is None or not (EXTENSION / "node_modules" / "esbuild").is_dir():
        pytest.skip("the extension cannot be built here: node or its modules are missing")
    subprocess.run([node, "scripts/build.mjs"], cwd=EXTENSION, check=True, capture_output=True, timeout=120)
    (entry,) = json.loads((EXTENSION / "package.json").read_text("utf-8"))["contributes"]["jsonValidation"]
    schema = json.loads((EXTENSION / entry["url"]).read_text("utf-8"))
    validator = jsonschema_rs.Draft202012Validator(schema)
    assert entry["fileMatch"] == "**/adapters/*.json"
    assert validator.is_valid(adapter())
    assert not validator.is_valid(adapter(sessionMode="batch"))
    assert not validator.is_valid({**adapter(), "sessionmode": "stream"})
    assert validator.is_valid({"name": "something else", "adapters": []})
    shipped = (EXTENSION / ".vscodeignore").read_text("utf-8").splitlines()
    assert f"!{entry['url'].removeprefix('./')}" in shipped
