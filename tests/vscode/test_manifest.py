"""What the manifest of the extension says again that has its home elsewhere."""

import json

from tests.vscode.scenarios import EXTENSION
from waza_engine.spec.executors import EXECUTORS


def test_the_settings_offer_the_executors_that_there_are() -> None:
    manifest = json.loads((EXTENSION / "package.json").read_text("utf-8"))
    settings = manifest["contributes"]["configuration"]["properties"]
    for name in ("waza.run.executor", "waza.run.judgeExecutor"):
        assert settings[name]["enum"] == ["", *EXECUTORS]
