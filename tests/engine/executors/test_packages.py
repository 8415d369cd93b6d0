"""Agents and judges need packages that editing does without: they are missed where one is asked, and told."""

from __future__ import annotations

import importlib.metadata
import subprocess
import sys
from pathlib import Path

import pytest

from tests.engine.suites import run, task, write_suite
from waza_engine.executors.packages import missing_packages
from waza_engine.runs.loading.suite import SuiteError

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


def test_nothing_is_missing_where_everything_is_installed() -> None:
    assert missing_packages() == ()


def test_a_suite_runs_without_the_packages_of_agents(tmp_path: Path) -> None:
    graders = "- {type: code, name: speaks, config: {assertions: ['len(output) > 0']}}\n"
    suite = write_suite(tmp_path, {"a": task("a")}, graders=graders)
    done = subprocess.run(
        [sys.executable, "-c", _WITHOUT, "run", str(suite)], capture_output=True, text=True, check=False
    )
    assert (done.returncode, "1 of 1 task passed" in done.stdout) == (0, True), done.stdout + done.stderr
