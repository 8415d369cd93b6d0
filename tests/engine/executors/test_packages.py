"""Agents and judges need packages that editing does without: they are missed where one is asked, and told."""

import importlib.metadata
import subprocess
import sys
from pathlib import Path

import pytest

from tests.engine.suites import run, task, write_suite
from waza_engine.commands.preflight import preflight
from waza_engine.executors.executor import ExecutorError, ExecutorSettings
from waza_engine.executors.executor_types import create_executor, installing, missing_packages
from waza_engine.runs.loading.suite_on_disk import SuiteError
from waza_engine.runs.settings.table import RunSettings
from waza_engine.spec.eval_config import EvalConfig
from waza_engine.spec.executors import EXECUTORS

_WITHOUT = """\
import sys
sys.modules |= dict.fromkeys(("openai", "copilot", "mcp", "httpx", "starlette", "cryptography"))
from waza_engine.cli import main
sys.exit(main())
"""


@pytest.fixture
def without_openai(monkeypatch: pytest.MonkeyPatch) -> None:
    version = importlib.metadata.version

    def known(name: str) -> str:
        if name == "openai":
            raise importlib.metadata.PackageNotFoundError(name)
        return version(name)

    monkeypatch.setattr(importlib.metadata, "version", known)


@pytest.mark.usefixtures("without_openai")
def test_a_run_that_asks_an_agent_says_what_to_install_before_anything_runs(tmp_path: Path) -> None:
    suite = write_suite(tmp_path, {"a": task("a")})
    assert [each.partition("<")[0] for each in missing_packages()] == ["openai"]
    said = r"`openai` needs packages that are not installed; `pip install \"openai<4,>=[\d.]+\"` adds"
    with pytest.raises(SuiteError, match=said):
        run(suite, executor="openai", model="any")
    with pytest.raises(SuiteError, match=said):
        run(suite, judge_executor="openai")


@pytest.mark.usefixtures("without_openai")
def test_before_a_run_it_is_said_that_they_are_to_be_installed(tmp_path: Path) -> None:
    settings = RunSettings(write_suite(tmp_path, {"a": task("a")}), executor="openai", model="any")
    [finding] = [each for each in preflight(settings).findings if each.code == "runtime.executor"]
    assert finding.remediation == "install them"


_RECEIPT = (
    '[tool]\nrequirements = [{ name = "waza-language-server", %s }, { name = "six", specifier = "<2" }]\n'
)


@pytest.mark.parametrize(
    ("file", "text", "command"),
    [
        (".keep", "", 'pip install "a<4" "b"'),
        ("pipx_metadata.json", "{}", 'pipx inject waza "a<4" "b"'),
        (
            "uv-receipt.toml",
            _RECEIPT % 'directory = "/my waza"',
            'uv tool install --with "six<2" --with "a<4" --with "b" "/my waza"',
        ),
        (
            "uv-receipt.toml",
            _RECEIPT % 'editable = "/waza"',
            'uv tool install --with "six<2" --with "a<4" --with "b" --editable "/waza"',
        ),
        ("uv-receipt.toml", "of another version", 'uv pip install --python "PREFIX" "a<4" "b"'),
    ],
)
def test_what_made_the_environment_adds_to_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, file: str, text: str, command: str
) -> None:
    prefix = tmp_path / "waza"
    prefix.mkdir()
    (prefix / file).write_text(text, "utf-8")
    monkeypatch.setattr(sys, "prefix", str(prefix))
    assert installing(["a<4", "b"]) == command.replace("PREFIX", str(prefix))


def test_nothing_is_missing_where_everything_is_installed() -> None:
    assert missing_packages() == ()


def test_a_suite_runs_without_the_packages_of_agents(tmp_path: Path) -> None:
    graders = "- {type: code, name: speaks, config: {assertions: ['len(output) > 0']}}\n"
    suite = write_suite(tmp_path, {"a": task("a")}, graders=graders)
    done = subprocess.run(
        [sys.executable, "-c", _WITHOUT, "run", str(suite)], capture_output=True, text=True, check=False
    )
    assert (done.returncode, "1 of 1 task passed" in done.stdout) == (0, True), done.stdout + done.stderr


def test_an_unknown_name_is_answered_with_those_that_suites_may_write(tmp_path: Path) -> None:
    settings = ExecutorSettings(tmp_path, EvalConfig(trials_per_task=1, timeout_seconds=9, executor="mok"))
    with pytest.raises(ExecutorError) as raised:
        create_executor("mok", settings)
    known = str(raised.value).partition("write one of ")[2]
    assert sorted(known.replace("`", "").split(", ")) == sorted(EXECUTORS)
