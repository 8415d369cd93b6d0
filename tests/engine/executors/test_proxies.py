"""Proxies and certificates of the environment: one sentence names the variable, and loopback needs none."""

import os
from pathlib import Path

import pytest

from tests.command_line import engine
from tests.conftest import StartModel
from tests.engine.executors.talking import settings
from tests.engine.suites import GREETS, only_trial, openai_config, run, task, write_suite
from waza_engine.executors.executor import ExecutorError
from waza_engine.executors.executor_types import create_executor
from waza_engine.peers import proxies
from waza_engine.runs.loading.suite_on_disk import SuiteError
from waza_engine.runs.preparing import prepare
from waza_engine.runs.settings.table import RunSettings

DEAD = "127.0.0.1:9"


@pytest.fixture(autouse=True)
def bare_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [*os.environ]:
        if name.lower().endswith("_proxy") or name.startswith("SSL_CERT"):
            monkeypatch.delenv(name)
    for name in ("NO_PROXY", "no_proxy"):
        # So that what a test leaves there is taken back.
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)


def config(base_url: str) -> str:
    return openai_config(base_url)


@pytest.mark.parametrize("variable", ["HTTP_PROXY", "http_proxy", "ALL_PROXY"])
@pytest.mark.parametrize("proxy", [f"http://{DEAD}", DEAD, f"socks5://{DEAD}"])
def test_a_server_on_this_machine_is_asked_directly(
    scripted_model: StartModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variable: str, proxy: str
) -> None:
    monkeypatch.setenv(variable, proxy)
    path = write_suite(
        tmp_path, {"a": task("a")}, graders=GREETS, config=config(scripted_model("hello").base_url)
    )
    assert only_trial(run(path)[0]).output == "hello"


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("ALL_PROXY", "ftp://proxy:1"),
        ("https_proxy", "socks4://proxy:1"),
        ("HTTP_PROXY", "http://"),
        ("HTTP_PROXY", "http://proxy:port"),
        ("SSL_CERT_FILE", "/no/such/file.pem"),
        ("SSL_CERT_FILE", __file__),
        ("SSL_CERT_DIR", "/no/such/folder"),
    ],
)
def test_a_value_that_no_client_can_obey_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, variable: str, value: str
) -> None:
    monkeypatch.setenv(variable, value)
    with pytest.raises(ExecutorError, match=f"^`{variable}` "):
        create_executor("openai", settings(provider={"base_url": f"http://{DEAD}/v1"}))
    path = write_suite(tmp_path, {"a": task("a")}, graders=GREETS, config=config("http://example.invalid/v1"))
    with pytest.raises(SuiteError, match=f"`{variable}`"):
        prepare(RunSettings(path))
    assert f"`{variable}`" in engine("preflight", path).stdout
    path = write_suite(tmp_path, {"a": task("a")}, graders=GREETS)
    with pytest.raises(SuiteError, match=f"`{variable}`"):
        prepare(RunSettings(path, judge_executor="openai"))


def test_a_proxy_that_does_not_answer_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HTTP_PROXY", DEAD)
    path = write_suite(tmp_path, {"a": task("a")}, graders=GREETS, config=config("http://192.0.2.1/v1"))
    with pytest.raises(SuiteError, match="the proxy that `HTTP_PROXY` names does not answer"):
        prepare(RunSettings(path))


def test_a_socks_proxy_needs_its_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALL_PROXY", "socks5h://proxy:1080")
    assert proxies.network_fault() == ""
    monkeypatch.setattr(proxies.importlib.util, "find_spec", {}.get)
    assert (
        proxies.network_fault()
        == "`ALL_PROXY` names a SOCKS proxy, which needs the package `socksio`; install it"
    )


def test_what_is_asked_directly_already_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    proxies.ask_this_machine_directly()
    assert "NO_PROXY" not in os.environ
    monkeypatch.setenv("HTTP_PROXY", "http://proxy:1")
    monkeypatch.setenv("no_proxy", "internal, localhost")
    proxies.ask_this_machine_directly()
    proxies.ask_this_machine_directly()
    assert os.environ["no_proxy"] == "internal,localhost,127.0.0.1,::1"
    monkeypatch.setenv("no_proxy", "*")
    proxies.ask_this_machine_directly()
    assert os.environ["no_proxy"] == "*"
