"""The commands that create or convert a suite, or create a task or a grader: the engine writes.

The text of an open eval file is inserted in its editor, so that the file does not change on disk and the edit
can be undone; the other files of a suite are new and are written, by clients with ``createsFiles`` as one
change that they show first. Existing files are never replaced.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from waza_engine.counting import counted
from waza_engine.terminal import visible
from waza_language_server.features.actions.new_graders import new_graders as feature
from waza_language_server.project.claim import is_blank_text
from waza_language_server.project.uris import path_of, uri_of
from waza_language_server.protocol.messages import REQUEST_FAILED, refused
from waza_language_server.protocol.own_requests import CREATE_FILES, NEW_GRADERS
from waza_language_server.protocol.services.edit_conversion import FileConverter
from waza_language_server.protocol.services.run_requests import (
    ask_engine,
    only_argument,
    require_trust,
    run_request,
    task_of,
)
from waza_language_server.schema.usage import GRADER_TYPES, usage_rank
from waza_language_server.syntax.author_style import line_break
from waza_language_server.text.edit import Edit
from waza_language_server.text.label_escaping import label
from waza_language_server.text.span import Span
from waza_language_server.text.workspace_edit import FileEdit, WorkspaceEdit

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from waza_language_server.protocol.own_requests import NewGradersParams
    from waza_language_server.protocol.server import WazaServer


Given = Mapping[str, str]
_CONVERT = "Convert"
_MOST_LOSSES = 10
"""The losses of a conversion that a question names."""

log = logging.getLogger(__name__)


async def new_suite(ls: WazaServer, arguments: Sequence[object], _token: object) -> dict[str, Any]:
    """Write a suite for a skill; return the written ``files`` and the ``eval`` file.

    Without ``uri`` it is shown by clients that can be asked to.
    """
    given = _given(ls, "waza.newSuite", arguments, ("skill", "uri?"))
    skill = _path(given["skill"])
    uri = given.get("uri")
    draft: dict[str, Any] = {"draft": True} if ls.options.creates_files else {}
    if uri is None:
        base = next((root for root in ls.session.project.roots if skill.is_relative_to(root)), skill.parent)
        made = await _ask(ls, "eval.new", skill=str(skill), base=str(base), **draft)
        if draft and not await _create(ls, made):
            return {**made, "files": []}
        # Not every client reports changed files, and the skill must show its suite immediately.
        ls.changes.files_changed()
        await _show(ls, Path(made["eval"]))
        return made
    before = ls.session.text(uri)
    if before is not None and not is_blank_text(before):
        raise refused("The eval file is not empty any more; nothing was made.", REQUEST_FAILED)
    directory = str(_path(uri).parent)
    is_open = before is not None
    made = await _ask(ls, "eval.new", skill=str(skill), directory=directory, eval_text=is_open, **draft)
    change = _filled(ls, uri, str(made.pop("eval_text"))) if is_open else None
    if draft:
        if not await _create(ls, made, change):
            made["files"] = []
        ls.changes.files_changed()
    elif change is not None:
        await _apply(ls, change, "New suite", "text")
    return {**made, "eval": str(_path(uri))}


async def convert(ls: WazaServer, arguments: Sequence[object], _token: object) -> dict[str, Any]:
    """Convert an eval file into a new folder next to it; return the written ``files`` and the ``losses``.

    A client that can ask the user does so first if something is lost.
    """
    given = _given(ls, "waza.convert", arguments, ("path", "to"))
    path, to = _path(given["path"]), given["to"]
    if unsaved := ls.session.unsaved(path.parent):
        raise refused(f"{unsaved[0].name} has unsaved changes; save it first.", REQUEST_FAILED)
    folder = path.with_name(f"converted-{to.replace('.', '-')}")
    asked = {"path": str(path), "to": to, "directory": str(folder)}
    draft = await _ask(ls, "eval.convert", **asked, draft=True)
    losses = [loss for loss in draft["losses"] if loss["kind"] != "upstream"]
    kinds = Counter(loss["kind"] for loss in losses)
    words = f"{counted(kinds['left out'], 'part')} left out, {kinds['differs']} differ"
    if losses:
        lines = [f"{loss['kind']}: {loss['place']}: {loss['why']}" for loss in losses]
        log.warning("%s: %s\n%s", path, words, "\n".join(lines))
        more = f"; {len(lines) - _MOST_LOSSES} more are in the log" if len(lines) > _MOST_LOSSES else ""
        question = f"{words}: {'; '.join(lines[:_MOST_LOSSES])}{more}. Write {folder.name}?"
        wanted = await ls.ask_user(types.MessageType.Warning, question, [_CONVERT])
        if ls.abilities.asks_the_user and wanted != _CONVERT:
            return {"files": [], "losses": draft["losses"]}
    made = await _ask(ls, "eval.convert", **asked)
    ls.changes.files_changed()
    written = f"{counted(len(made['files']), 'file')} written to {folder.name}"
    ls.show_message(types.MessageType.Info, f"{written}; {words}.")
    await _show(ls, Path(made["files"][0]))
    return made


async def new_task(ls: WazaServer, arguments: Sequence[object], _token: object) -> dict[str, Any]:
    """Write a task file; return the written ``files``."""
    given = _given(ls, "waza.newTask", arguments, ("suite", "id", "prompt?"))
    prompt = {"prompt": given["prompt"]} if given.get("prompt") else {}
    return await _ask(ls, "task.new", path=str(_path(given["suite"])), task_id=given["id"], **prompt)


async def check_task_id(ls: WazaServer, arguments: Sequence[object], _token: object) -> dict[str, Any]:
    """Return the ``problem`` of an id for a new task, or None."""
    given = _given(ls, "waza.checkTaskId", arguments, ("suite", "id", "command?"))
    # A task made of a record is listed where no pattern picks it up.
    listed = {"listed": True} if given.get("command") == "waza.saveRecordAsTask" else {}
    return await _ask(ls, "task.check", path=str(_path(given["suite"])), task_id=given["id"], **listed)


async def save_record_as_task(ls: WazaServer, arguments: Sequence[object], _token: object) -> dict[str, Any]:
    """Write a task from a recorded trial; return the written ``files``."""
    given = _given(ls, "waza.saveRecordAsTask", arguments, ("id", "name", "trial?", "record?"))
    target, task = task_of(given["id"], "waza.saveRecordAsTask")
    if target.suite in ls.session.unsaved(target.suite.parent):
        raise refused(
            "The eval file has unsaved changes; save it first: it may list the new task.", REQUEST_FAILED
        )
    asked: dict[str, Any] = {"path": str(target.suite), "task": task, "task_id": given["name"]}
    if given.get("trial"):
        if not given["trial"].isdecimal():
            raise refused("The `trial` of waza.saveRecordAsTask must be its number, as text.")
        asked["trial"] = int(given["trial"])
    if given.get("record"):
        asked["record"] = str(_path(given["record"]))
    made = await _ask(ls, "task.save", **asked)
    ls.changes.files_changed()
    await _show(ls, Path(made["files"][0]))
    return made


async def new_grader(ls: WazaServer, arguments: Sequence[object], _token: object) -> dict[str, Any]:
    """Write a grader of a type into a file; return the written ``files``."""
    given = _given(ls, "waza.newGrader", arguments, ("file", "type"))
    return await _ask(ls, "grader.new", path=str(_path(given["file"])), type=given["type"])


async def _ask(ls: WazaServer, method: str, **params: Any) -> dict[str, Any]:
    return dict(await ask_engine(ls.runs, method, params))


async def _create(ls: WazaServer, made: dict[str, Any], edit: types.WorkspaceEdit | None = None) -> bool:
    """Let the client show and write drafted files, with an edit as one change; return whether it did."""
    files = [{"uri": uri_of(Path(path)), "text": text} for path, text in made.pop("drafts").items()]
    asked = {"label": "New suite", "files": files, "edit": edit}
    answer: object = await ls.protocol.send_request_async(CREATE_FILES, asked)
    return answer is True


def _filled(ls: WazaServer, uri: str, text: str) -> types.WorkspaceEdit:
    """Return the change that writes a text into a document that says nothing, below its comments."""
    before = ls.session.text(uri)
    if before is None or not is_blank_text(before):
        raise refused("The eval file was changed meanwhile; it was left as it is.", REQUEST_FAILED)
    kept = len(before.rstrip())
    written = (f"\n{text}" if kept else text).replace("\n", line_break(before))
    edit = WorkspaceEdit((FileEdit(uri, before, (Edit(Span(kept, len(before)), written),)),))
    return FileConverter(ls.session, ls.abilities).workspace_edit(edit)


async def _apply(ls: WazaServer, edit: types.WorkspaceEdit, name: str, what: str) -> None:
    answer = await ls.workspace_apply_edit_async(types.ApplyWorkspaceEditParams(edit, name))
    if not answer.applied:
        reason = answer.failure_reason or "no reason given"
        raise refused(f"The editor did not take the {what}: {reason}.", REQUEST_FAILED)


async def _show(ls: WazaServer, file: Path) -> None:
    """Open a file that was made, in a client that can be asked to."""
    if ls.abilities.shows_documents:
        shown = types.ShowDocumentParams(uri_of(file), take_focus=True)
        with suppress(JsonRpcException):
            await ls.window_show_document_async(shown)


def _given(ls: WazaServer, command: str, arguments: Sequence[object], keys: Sequence[str]) -> Given:
    """Return the argument of a command, which is an object with strings: paths or ``file:`` URIs, and names.

    Raises ``JsonRpcException`` with the reason for any other, and in an untrusted workspace.
    """
    wanted = ", ".join(keys)
    if len(arguments) != 1 or not isinstance(arguments[0], dict):
        raise refused(f"{command} needs one argument with {wanted}.")
    given = {
        key: value for key, value in cast("dict[str, object]", arguments[0]).items() if value is not None
    }
    required = [key for key in keys if not key.endswith("?")]
    known = {key.removesuffix("?") for key in keys}
    for key in required:
        if not given.get(key):
            raise refused(f"{command} needs `{key}`, as text.")
    for key, value in given.items():
        if key not in known or not isinstance(value, str):
            raise refused(f"{command} takes {wanted}, as texts.")
    require_trust(ls, "The engine drafts it, and starts in trusted workspaces only")
    return cast("dict[str, str]", given)


def _path(written: str) -> Path:
    path = path_of(written) if written.startswith("file:") else Path(written)
    if path is None or not path.is_absolute():
        raise refused(f"`{written:.200}` must be an absolute path or a file: URI.")
    return path


async def grader_types(ls: WazaServer, arguments: Sequence[object], _token: object) -> dict[str, Any]:
    """Return ``type`` and ``title`` of the grader types that are not deprecated, the usual ones first."""
    _given(ls, "waza.graderTypes", arguments, ())
    catalog = ls.session.workspace.catalog
    names = sorted(catalog.grader_types, key=lambda name: (usage_rank(GRADER_TYPES, name), name))
    known = ((name, catalog.grader(name)) for name in names)
    return {
        "types": [
            {"type": name, "title": shape.title} for name, shape in known if shape and not shape.deprecated
        ]
    }


NEW_GRADER_FROM_TEXT = "waza.newGraderFromText"


async def new_graders(ls: WazaServer, params: NewGradersParams) -> list[types.CodeAction]:
    """Return the graders that a text can become, each as an action with its change."""
    target, task = task_of(params.id, NEW_GRADERS)
    return await _actions(ls, NEW_GRADERS, target.suite, task, params.trial, params.text)


async def new_grader_from_text(ls: WazaServer, arguments: Sequence[object], _token: object) -> dict[str, Any]:
    """Create a grader from a string; answer with its ``title``, null if the user declines.

    The argument is ``{id, trial, text, title?}``, or the ``suite`` and the ``task`` in place of the id.
    Without ``title``, one of those that ``waza/newGraders`` answers, the user is asked where there are
    several.
    """
    given = only_argument(arguments)
    trial, text, title = (given.pop(key, None) for key in ("trial", "text", "title"))
    if type(trial) is not int or not isinstance(text, str):
        raise refused(f"{NEW_GRADER_FROM_TEXT} needs the number of a `trial`, and a `text` of it.")
    target, task = task_of(run_request(NEW_GRADER_FROM_TEXT, [given]).target, NEW_GRADER_FROM_TEXT)
    actions = await _actions(ls, NEW_GRADER_FROM_TEXT, target.suite, task, trial, text)
    found = {each.title: each for each in actions}
    if not found:
        raise refused("No grader that passes on this trial can be made of the text.", REQUEST_FAILED)
    if title is None:
        title = next(iter(found)) if len(found) == 1 else await _asked(ls, list(found))
    if title is None:
        return {"title": None}
    action = found.get(str(title))
    if action is None or action.edit is None:
        raise refused(f"{NEW_GRADER_FROM_TEXT} has no such title now: {title!s:.300}", REQUEST_FAILED)
    await _apply(ls, action.edit, "New grader", "change")
    return {"title": action.title}


async def _actions(
    ls: WazaServer, asked: str, suite: Path, task: str, trial: int, text: str
) -> list[types.CodeAction]:
    if trial < 1:
        raise refused(f"The `trial` of {asked} must be a number from 1.")
    graders = await ls.live.graders(suite, task, trial, text) if text.strip() else []
    steps = partial(feature, suite=suite, task=task, graders=graders)
    found = await ls.diagnostics.answer_for_workspace(steps) if graders else []
    files = FileConverter(ls.session, ls.abilities)
    return [
        types.CodeAction(
            visible(grader.title),
            types.CodeActionKind.QuickFix,
            edit=files.workspace_edit(grader.change),
            data={"words": label(grader.words), "where": grader.where, "passes": grader.passes},
        )
        for grader in found
    ]


async def _asked(ls: WazaServer, titles: list[str]) -> str | None:
    if not ls.abilities.asks_the_user:
        raise refused(
            f"{NEW_GRADER_FROM_TEXT} needs the `title` of one of them in this editor.", REQUEST_FAILED
        )
    return await ls.ask_user(types.MessageType.Info, "Which grader?", titles)
