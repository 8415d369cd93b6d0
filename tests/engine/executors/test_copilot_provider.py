"""Where the Copilot agent finds its models: the suite, the environment, GitHub."""

import pytest

from tests.engine.suites import present
from waza_engine.executors.base import ExecutorError
from waza_engine.executors.copilot.runtime import find_provider
from waza_engine.masking import masked
from waza_engine.spec.eval_config import Provider

URL = "http://127.0.0.1:11434/v1"


def provider(**written: str) -> Provider:
    return Provider.model_validate({"base_url": URL, **written})


def test_without_any_it_is_github() -> None:
    assert find_provider(None) is None


def test_the_suite_names_it_and_the_key_comes_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", "very-secret")
    found = present(find_provider(provider(api_key_env="MY_KEY", wire_api="responses")))
    assert found.config == {
        "type": "openai",
        "base_url": URL,
        "wire_api": "responses",
        "api_key": "very-secret",
    }
    assert (found.host, found.key_variable, found.names_model) == ("127.0.0.1:11434", "MY_KEY", False)
    assert masked("says very-secret") == "says ***"


def test_the_suite_goes_before_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COPILOT_PROVIDER_BASE_URL", "http://elsewhere:1/v1")
    monkeypatch.setenv("COPILOT_PROVIDER_API_KEY", "for-elsewhere")
    found = present(find_provider(provider()))
    assert found.host == "127.0.0.1:11434"
    assert "api_key" not in found.config


def test_all_variables_of_the_agent_are_handed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {
        "BASE_URL": URL,
        "TYPE": "azure",
        "API_KEY": "very-secret",
        "BEARER_TOKEN": "even-more-secret",
        "WIRE_API": "responses",
        "AZURE_API_VERSION": "2024-10-21",
        "MODEL_ID": "gpt-5",
        "MAX_OUTPUT_TOKENS": "4000",
        "HEADERS": "X-Team: waza\\nX-Id: a:b",
    }.items():
        monkeypatch.setenv(f"COPILOT_PROVIDER_{name}", value)
    monkeypatch.setenv("API_KEY", "of something else")
    found = present(find_provider(None))
    assert found.config == {
        "type": "azure",
        "base_url": URL,
        "api_key": "very-secret",
        "bearer_token": "even-more-secret",
        "wire_api": "responses",
        "azure": {"api_version": "2024-10-21"},
        "model_id": "gpt-5",
        "max_output_tokens": 4000,
        "headers": {"X-Team": "waza", "X-Id": "a:b"},
    }
    assert found.names_model
    assert found.key_variable == "COPILOT_PROVIDER_BEARER_TOKEN"
    assert masked("even-more-secret very-secret") == "*** ***"


def test_a_key_that_is_not_set() -> None:
    with pytest.raises(ExecutorError, match=r"`NOT_SET`, which `provider\.api_key_env` names"):
        find_provider(provider(api_key_env="NOT_SET"))


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("BASE_URL", "ftp://host", "`COPILOT_PROVIDER_BASE_URL` is not a web address"),
        ("TYPE", "ollama", "`COPILOT_PROVIDER_TYPE` is `ollama`; set it to one of `openai`"),
        ("MAX_PROMPT_TOKENS", "many", "`COPILOT_PROVIDER_MAX_PROMPT_TOKENS` is `many`; set it to a whole"),
        ("HEADERS", "nonsense", "write `Name: value`"),
    ],
)
def test_a_variable_that_cannot_be_used(
    name: str, value: str, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COPILOT_PROVIDER_BASE_URL", URL)
    monkeypatch.setenv(f"COPILOT_PROVIDER_{name}", value)
    with pytest.raises(ExecutorError, match=message):
        find_provider(None)
