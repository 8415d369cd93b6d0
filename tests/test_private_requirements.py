"""What a private environment installs is cut out of the one lock file, with hashes and for every platform."""

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[1]
LOCK = (ROOT / "requirements.lock").read_text("utf-8")
PROJECT = (ROOT / "pyproject.toml").read_text("utf-8")


def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location(
        "requirements_script", ROOT / "vscode-extension" / "scripts" / "requirements.py"
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def files() -> dict[str, str]:
    return script().requirement_files(LOCK, PROJECT)


def names(text: str) -> set[str]:
    return set(re.findall(r"^([\w.-]+)==", text, re.MULTILINE))


def test_every_line_is_one_of_the_lock_file_and_has_hashes(files: dict[str, str]) -> None:
    for text in files.values():
        assert text in LOCK or set(text.splitlines()) <= set(LOCK.splitlines())
        for pin in re.split(r"\n(?=\S)", text.strip()):
            assert re.fullmatch(r"[\w.-]+==[^\n]+( \\\n    --hash=sha256:[0-9a-f]{64})+", pin), pin


def test_what_is_needed_on_other_platforms_is_among_it(files: dict[str, str]) -> None:
    assert {"pygls", "pydantic-core", "rpds-py", "colorama"} <= names(files["server.txt"])
    assert {"openai", "mcp", "github-copilot-sdk", "pywin32", "cryptography"} <= names(files["agents.txt"])
    assert names(files["server.txt"]) < names(files["agents.txt"])
    assert names(files["installer.txt"]) == {"pip", "setuptools"}


def test_what_tests_need_is_not_installed(files: dict[str, str]) -> None:
    assert not {"pytest", "ruff", "hatchling", "pip"} & names(files["agents.txt"])
    assert not {"openai", "mcp", "httpx"} & names(files["server.txt"])


def test_no_file_names_a_registry(files: dict[str, str]) -> None:
    for text in (LOCK, *files.values()):
        assert "://" not in text
        assert "--index" not in text
        assert "--extra-index" not in text


def test_a_package_that_the_lock_file_lacks_is_named() -> None:
    without = re.sub(r"^pygls==[^\n]*\n(?:    [^\n]*\n)+", "", LOCK, flags=re.MULTILINE)
    with pytest.raises(ValueError, match=r"requirements.lock has no pygls; write it again with `make lock`"):
        script().requirement_files(without, PROJECT)
