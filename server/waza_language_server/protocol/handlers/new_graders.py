"""A new grader from a string of a recorded trial: offered with its verdicts, or created by a command."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from lsprotocol import types

from waza_engine.terminal import visible
from waza_language_server.features.actions.new_graders import new_graders as feature
from waza_language_server.protocol.edit_conversion import FileConverter
from waza_language_server.protocol.own_requests import NEW_GRADERS
from waza_language_server.protocol.services.run_requests import (
    FAILED,
    only_argument,
    refused,
    run_request,
    task_of,
)
from waza_language_server.text.labels import label

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from waza_language_server.protocol.own_requests import NewGradersParams
    from waza_language_server.protocol.server import WazaServer

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
        raise refused("No grader that passes on this trial can be made of the text.", FAILED)
    if title is None:
        title = next(iter(found)) if len(found) == 1 else await _asked(ls, list(found))
    if title is None:
        return {"title": None}
    action = found.get(str(title))
    if action is None or action.edit is None:
        raise refused(f"{NEW_GRADER_FROM_TEXT} has no such title now: {title!s:.300}", FAILED)
    answer = await ls.workspace_apply_edit_async(types.ApplyWorkspaceEditParams(action.edit, "New grader"))
    if not answer.applied:
        raise refused(
            f"The editor did not take the change: {answer.failure_reason or 'no reason given'}.", FAILED
        )
    return {"title": action.title}


async def _actions(
    ls: WazaServer, asked: str, suite: Path, task: str, trial: int, text: str
) -> list[types.CodeAction]:
    if trial < 1:
        raise refused(f"The `trial` of {asked} must be a number from 1.")
    graders = await ls.live.graders(suite, task, trial, text) if text.strip() else []
    steps = partial(feature, suite=suite, task=task, graders=graders)
    found = await ls.diagnostics.of_workspace(steps) if graders else []
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
        raise refused(f"{NEW_GRADER_FROM_TEXT} needs the `title` of one of them in this editor.", FAILED)
    return await ls.ask(types.MessageType.Info, "Which grader?", titles)
