"""The options of a run on the command line, made from the table of its settings."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

from waza_engine.commands.options import executors_like
from waza_engine.runs.settings.table import Setting, SettingKind, setting_rows

_TYPES: dict[SettingKind, Any] = {
    "texts": list[str] | None,
    "text": str | None,
    "number": int | None,
    "amount": float | None,
    "choice": bool | None,
    "flag": bool,
    "path": Path | None,
}
_EXECUTORS = ("executor", "judge_executor")


def with_run_settings(command: Callable[..., None]) -> Callable[..., None]:
    """Return the command with an option for every setting that has one, in the place of ``settings``.

    The command gets the given options, by field of ``RunSettings``.
    """
    rows = {name: row for name, row in setting_rows().items() if row.option}

    @functools.wraps(command)
    def with_options(**given: Any) -> None:
        settings = {name: _value(rows[name], given.pop(name)) for name in rows}
        command(settings=settings, **given)

    signature = inspect.signature(command)
    types = get_type_hints(command, include_extras=True)
    parameters: list[inspect.Parameter] = []
    for name, parameter in signature.parameters.items():
        if name == "settings":
            parameters += [_option(field, row) for field, row in rows.items()]
        else:
            kind = inspect.Parameter.KEYWORD_ONLY
            parameters.append(parameter.replace(kind=kind, annotation=types[name]))
    with_options.__dict__["__signature__"] = signature.replace(parameters=parameters)
    with_options.__annotations__ = {}
    return with_options


def _option(name: str, row: Setting) -> inspect.Parameter:
    is_number = row.kind in ("number", "amount")
    option = typer.Option(
        row.option,
        metavar=row.metavar or None,
        help=row.help,
        min=row.minimum if is_number else None,
        max=row.maximum,
        autocompletion=executors_like if name in _EXECUTORS else None,
    )
    default = False if row.kind == "flag" else None
    annotation = Annotated[_TYPES[row.kind], option]
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _value(row: Setting, given: Any) -> Any:
    return tuple(given or ()) if row.kind == "texts" else given
