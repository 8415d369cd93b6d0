"""The parameters of a JSON-RPC request, read one by one with their types checked.

Everything here raises ``RpcError`` with what is wrong and what to give instead.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from waza_engine.files import from_home
from waza_engine.json_rpc import INVALID_PARAMS, RpcError
from waza_engine.runs.settings.table import RunSettings, Setting, setting_rows

EVAL_NOT_FOUND, VALIDATION_FAILED = -32000, -32001

Params = Mapping[str, Any]


def run_settings(params: Params, eval_path: Callable[[Params, str], Path]) -> RunSettings:
    """Return the settings of a run; the table names their parameters, ``eval_path`` reads the eval file."""
    rows = {name: row for name, row in setting_rows().items() if row.parameter}
    # An unknown parameter could be meant to limit the run, so it is an error.
    only_known(params, ("path", *(row.parameter for row in rows.values())))
    return RunSettings(
        eval_path(params, "path"), **{name: _setting(params, row) for name, row in rows.items()}
    )


def _setting(params: Params, row: Setting) -> Any:
    key = row.parameter
    match row.kind:
        case "texts":
            return list_param(params, key)
        case "text":
            return optional_text(params, key)
        case "number":
            return _number(params, key, row.minimum, row.maximum)
        case "amount":
            return amount_param(params, key)
        case "choice":
            return switch_param(params, key)
        case "flag":
            return switch_param(params, key) or False
        case "path":
            return None if params.get(key) is None else path_param(params, key)


def refused(why: str, code: int) -> RpcError:
    """Return an error; upstream's clients read the reason in ``data``, others in ``message``."""
    return RpcError(why, code, why)


def only_known(params: Params, known: Sequence[str]) -> None:
    """Refuse parameters that are not known."""
    unknown = next((key for key in params if key not in known), None)
    if unknown is not None:
        raise refused(f"`{unknown:.100}` is not known; there are {', '.join(known)}.", INVALID_PARAMS)


def path_param(params: Params, key: str) -> Path:
    """Return an absolute path that must be given."""
    return from_home(text_param(params, key)).absolute()


def text_param(params: Params, key: str) -> str:
    """Return a string that must be given, and not be blank."""
    value: object = params.get(key)
    if not isinstance(value, str) or not value.strip():
        raise refused(f"`{key}` must be given, as text.", INVALID_PARAMS)
    return value


def optional_text(params: Params, key: str) -> str | None:
    """Return a string, None when it is not given."""
    return None if params.get(key) is None else text_param(params, key)


def remark_param(params: Params, key: str) -> str:
    """Return a string that may be blank, "" when it is not given."""
    value: object = params.get(key)
    if value is not None and not isinstance(value, str):
        raise refused(f"`{key}` must be a text.", INVALID_PARAMS)
    return value or ""


def texts_param(params: Params, key: str) -> dict[Path, str]:
    """Return strings by absolute path, {} when none are given."""
    block: object = params.get(key)
    if block is None:
        return {}
    if not isinstance(block, Mapping):
        raise refused(f"`{key}` must be an object of texts by path.", INVALID_PARAMS)
    texts = cast("Mapping[str, object]", block)
    found: dict[Path, str] = {}
    for path, text in texts.items():
        if not path:
            raise refused(f"`{key}` must name files by their paths.", INVALID_PARAMS)
        if not isinstance(text, str):
            raise refused(f"`{key}` must have a text for {path:.200}.", INVALID_PARAMS)
        found[from_home(path).absolute()] = text
    return found


def single_param(params: Params, key: str) -> tuple[str, ...]:
    """Return the string as a tuple, empty when it is not given."""
    value = optional_text(params, key)
    return () if value is None else (value,)


def list_param(params: Params, key: str) -> tuple[str, ...]:
    """Return a list of strings, () when it is not given; an empty one is rejected, since () means all."""
    value: object = params.get(key)
    if value is None:
        return ()
    if not isinstance(value, list) or not all(isinstance(item, str) for item in cast("list[object]", value)):
        raise refused(f"`{key}` must be a list of texts.", INVALID_PARAMS)
    texts = tuple(cast("list[str]", value))
    if not texts or not all(map(str.strip, texts)):
        what = "has a blank entry" if texts else "is empty"
        raise refused(f"`{key}` {what}; name at least one, or leave `{key}` out for all.", INVALID_PARAMS)
    return texts


def count_param(params: Params, key: str) -> int | None:
    """Return a whole number from 1, None when it is not given."""
    return _number(params, key, 1)


def amount_param(params: Params, key: str) -> float | None:
    """Return a number from 0, None when it is not given."""
    value: object = params.get(key)
    if value is None:
        return None
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 <= value <= sys.float_info.max:
        raise RpcError(f"`{key}` must be a number, 0 or more.", INVALID_PARAMS)
    return float(value)


def switch_param(params: Params, key: str) -> bool | None:
    """Return a switch, None when it is not given."""
    value: object = params.get(key)
    if value is not None and not isinstance(value, bool):
        raise RpcError(f"`{key}` must be true or false.", INVALID_PARAMS)
    return value


def _number(params: Params, key: str, least: int, most: int | None = None) -> int | None:
    value: object = params.get(key)
    if value is None:
        return None
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise refused(f"`{key}` must be a whole number, {least} or more.", INVALID_PARAMS)
    if most is not None and value > most:
        raise refused(f"`{key}` must be a whole number, {most} or less.", INVALID_PARAMS)
    return value
