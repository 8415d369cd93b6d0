"""The options of a run: those of a request, and the settings of the client for runs that name none."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from pygls.exceptions import JsonRpcException

from waza_language_server.project.uris import path_of
from waza_language_server.protocol.messages import refused

if TYPE_CHECKING:
    from collections.abc import Mapping

    from waza_language_server.protocol.connection import ClientConnection

_OPTIONS: Mapping[str, tuple[str, type[Any] | tuple[type[Any], ...]]] = {
    "executor": ("executor", str),
    "model": ("model", str),
    "judgeExecutor": ("judge_executor", str),
    "judgeModel": ("judge_model", str),
    "trials": ("trials", int),
    "workers": ("workers", int),
    "cluster": ("cluster", str),
    "maxCost": ("max_cost", (int, float)),
    "maxTokens": ("max_tokens", int),
    "cache": ("cache", bool),
    "keepWorkspaces": ("keep_workspace", bool),
}
"""The options of a run: the type of each, and its name in ``eval.run``."""
_WORDS: Mapping[type[Any] | tuple[type[Any], ...], str] = {
    str: "text",
    int: "a whole number",
    (int, float): "a number",
    bool: "true or false",
}


class RunSettings:
    """The default options of a run, named as in ``eval.run``."""

    def __init__(self, client: ClientConnection) -> None:
        self._client = client
        self.read()

    def read(self) -> None:
        """Take the settings that the client has now."""
        self._of_window = valid_options(self._client.options.run)
        given = self._client.options.run_by_folder
        by_uri = cast("dict[str, object]", given) if isinstance(given, dict) else dict[str, object]()
        known = ((path_of(uri), valid_options(options)) for uri, options in by_uri.items())
        # The innermost folder first: open folders may be nested.
        self._of_folders: list[tuple[Path, dict[str, Any]]] = sorted(
            ((path, options) for path, options in known if path is not None),
            key=lambda each: -len(each[0].parts),
        )

    def of(self, suite: Path) -> Mapping[str, Any]:
        """Return those of a suite: of the innermost folder around it that has some, else of the window."""
        inside = (options for folder, options in self._of_folders if suite.is_relative_to(folder))
        return next(inside, self._of_window)


def valid_options(options: object) -> dict[str, Any]:
    """Return the valid settings of a client for runs, named as in ``eval.run``."""
    try:
        return run_options("waza.run", {"options": options})
    except JsonRpcException:
        return {}


def run_options(command: str, given: Mapping[str, object]) -> dict[str, Any]:
    """Return the options in a request, named as in ``eval.run``; raises ``JsonRpcException``."""
    options = given.get("options")
    if options is None:
        return {}
    if not isinstance(options, dict):
        raise refused(f"The `options` of {command} must be an object.")
    found: dict[str, Any] = {}
    for name, value in cast("dict[str, object]", options).items():
        if name not in _OPTIONS:
            raise refused(f"{command} has no option `{name:.100}`; write one of {', '.join(_OPTIONS)}.")
        parameter, kind = _OPTIONS[name]
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
            written = json.dumps(value, default=str)[:100]
            raise refused(f"The option `{name}` of {command} must be {_WORDS[kind]}, not {written}.")
        found[parameter] = value
    return found
