"""A model provider of the user's own for the Copilot agent: from the suite, else from the environment.

The agent's command line reads ``COPILOT_PROVIDER_*`` itself; a program that drives it hands them on.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

from copilot.session import ProviderConfig

from waza_engine.executors.base import ExecutorError
from waza_engine.executors.provider import host_of, named_key
from waza_engine.masking import keep_secret
from waza_engine.spec.eval_config import Provider

PREFIX = "COPILOT_PROVIDER_"
_CHOICES = {
    "TYPE": ("openai", "azure", "anthropic"),
    "WIRE_API": ("completions", "responses"),
    "TRANSPORT": ("http", "websockets"),
}
_TEXTS = ("API_KEY", "API_KEY_COMMAND", "BEARER_TOKEN", "MODEL_ID", "WIRE_MODEL")
_NUMBERS = ("MAX_PROMPT_TOKENS", "MAX_OUTPUT_TOKENS")
_SECRETS = ("API_KEY", "BEARER_TOKEN")


@dataclass(frozen=True, slots=True)
class CopilotProvider:
    """The provider of the agent's models. ``key_variable`` names the variable of its key, if it has one.

    ``names_model`` is true when the environment says which model runs, so that the suite need not.
    """

    config: ProviderConfig
    host: str
    key_variable: str = ""
    names_model: bool = False


def find_provider(written: Provider | None) -> CopilotProvider | None:
    """Return the provider of ``config.provider``, else of the environment, None for GitHub Copilot itself.

    Raises ``ExecutorError`` when it cannot be used.
    """
    if written is not None:
        return _from_suite(written)
    if not os.environ.get(f"{PREFIX}BASE_URL", "").strip():
        return None
    return _from_environment(
        {
            name.removeprefix(PREFIX): text.strip()
            for name, text in os.environ.items()
            if name.startswith(PREFIX) and text.strip()
        }
    )


def _from_suite(written: Provider) -> CopilotProvider:
    url = written.base_url.strip()
    config = ProviderConfig(type=written.type, base_url=url)
    if written.type != "anthropic":
        config["wire_api"] = written.wire_api
    host = host_of(url, "`provider.base_url`")
    variable, key = named_key(written)
    if not key:
        return CopilotProvider(config, host)
    config["api_key"] = key
    return CopilotProvider(config, host, variable)


def _from_environment(given: Mapping[str, str]) -> CopilotProvider:
    config: dict[str, object] = {"type": "openai", "base_url": given["BASE_URL"]}
    for name, choices in _CHOICES.items():
        if name in given:
            if given[name] not in choices:
                known = ", ".join(f"`{choice}`" for choice in choices)
                raise ExecutorError(f"`{PREFIX}{name}` is `{given[name]}`; set it to one of {known}")
            config[name.lower()] = given[name]
    config |= {name.lower(): given[name] for name in _TEXTS if name in given}
    for name in _NUMBERS:
        if name in given:
            if not given[name].isdecimal():
                raise ExecutorError(f"`{PREFIX}{name}` is `{given[name]}`; set it to a whole number")
            config[name.lower()] = int(given[name])
    if "AZURE_API_VERSION" in given:
        config["azure"] = {"api_version": given["AZURE_API_VERSION"]}
    headers = _headers(given.get("HEADERS", ""))
    if headers:
        config["headers"] = headers
    keep_secret(*(given[name] for name in _SECRETS if name in given), *headers.values())
    return CopilotProvider(
        config=cast("ProviderConfig", config),
        host=host_of(given["BASE_URL"], f"`{PREFIX}BASE_URL`"),
        key_variable=next((PREFIX + name for name in reversed(_SECRETS) if name in given), ""),
        names_model="MODEL_ID" in given,
    )


def _headers(text: str) -> dict[str, str]:
    headers: dict[str, str] = {}
    for line in text.replace("\\n", "\n").splitlines():
        if not line.strip():
            continue
        name, colon, value = line.partition(":")
        if not colon or not name.strip():
            raise ExecutorError(f"`{PREFIX}HEADERS` has a line that is no header; write `Name: value`")
        headers[name.strip()] = value.strip()
    return headers
