"""The methods that create a suite, a task or a grader: ``waza-engine new``, for an editor."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, get_args

from waza_engine.commands.parameters import (
    Params,
    given_count,
    given_path,
    given_remark,
    given_text,
    only_known,
    refused,
)
from waza_engine.json_rpc import INVALID_PARAMS
from waza_engine.scaffold.files import ScaffoldError, check_free, write_content, write_files
from waza_engine.scaffold.grader import with_grader
from waza_engine.scaffold.suite import EVAL_NAME, new_suite
from waza_engine.scaffold.task import new_task, why_no_task

Answer = dict[str, Any]


def make_suite(params: Params) -> Answer:
    """Draft a suite from a ``SKILL.md`` and write it to ``directory``, or below ``evals`` of ``base``.

    With ``eval_text`` true the eval file is returned and not written: its editor has it open. With ``draft``
    true nothing is written: ``drafts`` are the contents of the other files by their paths.
    """
    only_known(params, ("skill", "directory", "base", "eval_text", "draft"))
    skill = given_path(params, "skill")
    directory, base = (
        None if params.get(key) is None else given_path(params, key) for key in ("directory", "base")
    )
    made = _or_refused(lambda: new_suite(skill, directory, base=base))
    files: Mapping[str, str] = made.files
    text: Answer = {}
    if params.get("eval_text") is True:
        files = {name: content for name, content in files.items() if name != EVAL_NAME}
        text = {"eval_text": made.files[EVAL_NAME]}
    paths = [made.directory / name for name in files]
    if params.get("draft") is True:
        _or_refused(lambda: check_free(paths))
        text["drafts"] = {str(path): content for path, content in zip(paths, files.values(), strict=True)}
    else:
        _or_refused(lambda: write_files(made.directory, files, force=False))
    return {
        "eval": str(made.directory / EVAL_NAME),
        "files": [str(path) for path in paths],
        "warnings": list(made.warnings),
        **text,
    }


def convert_suite(params: Params) -> Answer:
    """Convert the eval file at ``path`` ``to`` another format, into new files of ``directory``.

    With ``draft`` true nothing is written. ``losses`` are as ``waza-engine convert --json`` prints them.
    """
    from waza_engine.convert.conversion import ConversionError, Target
    from waza_engine.convert.convert import STAMP, convert, write_conversion

    only_known(params, ("path", "to", "directory", "draft"))
    written, directory = given_text(params, "to"), given_path(params, "directory")
    to = next((target for target in get_args(Target) if target == written), None)
    if to is None:
        raise refused(f"`to` must be one of {', '.join(get_args(Target))}.", INVALID_PARAMS)
    try:
        conversion = convert(given_path(params, "path"), to, directory)
    except ConversionError as error:
        raise refused(str(error), INVALID_PARAMS) from None
    paths = [directory / name for name in (*conversion.files, STAMP, *conversion.copies)]
    if params.get("draft") is True:
        _or_refused(lambda: check_free(paths))
    else:
        _or_refused(lambda: write_conversion(conversion, force=False))
    return {
        "files": [str(path) for path in paths],
        "losses": [loss.document() for loss in conversion.losses],
    }


def make_task(params: Params) -> Answer:
    """Write a task file where the patterns of the suite at ``path`` pick it up."""
    only_known(params, ("path", "task_id", "prompt"))
    suite, identifier = given_path(params, "path"), given_text(params, "task_id")
    prompt = given_remark(params, "prompt")
    made = _or_refused(lambda: new_task(identifier, suite, prompt=prompt))
    files = {made.path.name: made.text}
    return {
        "files": [
            str(path) for path in _or_refused(lambda: write_files(made.path.parent, files, force=False))
        ]
    }


def check_task(params: Params) -> Answer:
    """Return the ``problem`` of an id for a new task of the suite at ``path``: None when there is none.

    ``listed`` as for ``why_no_task``.
    """
    only_known(params, ("path", "task_id", "listed"))
    identifier, suite = given_text(params, "task_id"), given_path(params, "path")
    return {"problem": why_no_task(identifier, suite, listed=params.get("listed") is True)}


def save_task(params: Params) -> Answer:
    """Write a task that is made of a recorded one: ``task`` of the suite at ``path``, under another id.

    ``record`` is the result file, without it the newest that has the task; ``trial`` counts from 1.
    """
    from waza_engine.scaffold.recorded_task import save_recorded

    only_known(params, ("path", "task", "task_id", "record", "trial"))
    suite, task = given_path(params, "path"), given_text(params, "task")
    identifier, trial = given_text(params, "task_id"), given_count(params, "trial")
    record = None if params.get("record") is None else given_path(params, "record")
    files = _or_refused(lambda: save_recorded(suite, task, identifier, record, trial))
    return {"files": [str(path) for path in files]}


def make_grader(params: Params) -> Answer:
    """Add a grader of a ``type`` to the eval or task file at ``path``."""
    only_known(params, ("path", "type"))
    file, type_name = given_path(params, "path"), given_text(params, "type")
    path, content, name = _or_refused(lambda: with_grader(file, type_name))
    _or_refused(lambda: write_content(path, content))
    return {"files": [str(path)], "name": name}


def _or_refused(make: Callable[[], Any]) -> Any:
    try:
        return make()
    except ScaffoldError as error:
        raise refused(error.what, INVALID_PARAMS) from None
