"""Requests of a client about runs: their arguments, questions to the user and to the engine, and refusals."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from lsprotocol import types

from waza_engine.frozen import frozen
from waza_language_server.engine.process import EngineError
from waza_language_server.engine.run_request import literal_glob
from waza_language_server.features.runnables.code_lens import money
from waza_language_server.project.runnable_id import RunnableId
from waza_language_server.project.uris import path_of
from waza_language_server.protocol.messages import REQUEST_FAILED, is_identifier, refused
from waza_language_server.protocol.services.run_settings import run_options
from waza_language_server.protocol.services.session import resolved

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from waza_language_server.engine.runs import Runs
    from waza_language_server.protocol.connection import ClientConnection
    from waza_language_server.protocol.services.engine_answers import Estimates
    from waza_language_server.protocol.services.schedule import Diagnostics
    from waza_language_server.protocol.services.session import Session


RUN, RUN_ANYWAY, CANCEL = "Run", "Run Anyway", "Cancel"
ANSWER_WITHIN_SECONDS = 30.0
_KEYS = ("id", "suite", "task", "grader", "workDoneToken", "wait")
_LIMITS = {"tasks": "ids of tasks", "prompts": "texts of trigger prompts"}
_MORE_KEYS = (*_LIMITS, "options")
"""The keys that may be given with an id."""
_WANTED = "{id}, or {suite, task, grader}"


@frozen()
class RunRequest:
    """A target to run, and the client's own token for the progress bar."""

    target: RunnableId
    token: types.ProgressToken | None
    options: Mapping[str, Any]
    """In the words of ``eval.run``; ``tasks`` and ``prompts`` are among them where a suite is limited."""
    waits: bool = True
    """True if it is answered when the run has ended; otherwise when it has begun."""


def run_request(command: str, arguments: Sequence[object]) -> RunRequest:
    """Return the request that the one argument of a command makes.

    ``{id, workDoneToken}`` is what lenses send: the id of a runnable, as it is. A caller without one may send
    ``{suite, task, grader, workDoneToken}``: ``suite`` is a path or a ``file:`` URI, ``task`` and ``grader``
    are names; without them, or with null, the request is for all. ``wait`` is false if the answer must not
    wait for the end. ``tasks`` are ids of tasks that a suite is limited to, ``prompts`` strings of its
    trigger prompts, ``options`` the options of the run. Raises ``JsonRpcException`` for everything else: a
    mistake must never mean "all".
    """
    if len(arguments) != 1 or not isinstance(arguments[0], dict):
        raise refused(f"{command} needs one argument, with an id or the path of an eval file: {_WANTED}.")
    given = cast("dict[str, object]", arguments[0])
    known = (*_KEYS, *_MORE_KEYS) if "id" in given else _KEYS
    unknown = [key for key in given if key not in known]
    if unknown:
        raise refused(f"{command} knows no `{unknown[0]:.100}`; write one of {', '.join(known)}.")
    token = given.get("workDoneToken")
    if token is not None and not is_identifier(token):
        raise refused(f"The `workDoneToken` of {command} must be text or a whole number.")
    waits = given.get("wait", True)
    if not isinstance(waits, bool):
        raise refused(f"The `wait` of {command} must be true or false.")
    target = _target(command, given)
    limits = _limits(command, target, given)
    return RunRequest(target, token, {**limits, **run_options(command, given)}, waits)


def only_argument(arguments: Sequence[object]) -> dict[str, object]:
    """Return the keys and values of the only argument of a command; none for other arguments."""
    if len(arguments) != 1 or not isinstance(arguments[0], dict):
        return {}
    return dict(cast("dict[str, object]", arguments[0]))


def target_of(written: object, request: str, whose: str = "a suite") -> RunnableId:
    """Return the item with the id in a request; ``whose`` says in the refusal what it must be."""
    try:
        return RunnableId.parse(str(written))
    except ValueError:
        raise refused(f"The `id` of {request} must be that of {whose}.") from None


def task_of(written: object, request: str) -> tuple[RunnableId, str]:
    """Return the task with the id in a request, and its own id."""
    target = target_of(written, request, "a task")
    if target.task is None:
        raise refused(f"The `id` of {request} must be that of a task.")
    return target, target.task


def require_trust(client: ClientConnection, why: str) -> None:
    """Refuse what an untrusted workspace may not have; ``why`` is the beginning of the sentence."""
    if not client.trusted:
        raise refused(f"{why}; trust it first.", REQUEST_FAILED)


async def ask_engine(runs: Runs, method: str, question: Mapping[str, Any]) -> Any:
    """Return the engine's answer; raises its reason as the error that answers the client."""
    try:
        return await runs.ask(method, dict(question), ANSWER_WITHIN_SECONDS)
    except EngineError as error:
        raise refused(str(error), REQUEST_FAILED) from None


async def confirm_cost(
    client: ClientConnection, estimates: Estimates, request: RunRequest
) -> RunRequest | None:
    """Ask the user before a run that is expected to exceed its cost limit; return None if they decline.

    A client that cannot ask goes on: the run stops at its limit.
    """
    limit = request.options.get("max_cost")
    if not limit or not client.abilities.asks_the_user:
        return request
    expected = await estimates.of_run(request.target, request.options)
    if expected is None or expected.free or expected.usd is None or expected.usd <= limit:
        return request
    stop, on = f"Stop at {money(limit)}", "Run Without Limit"
    text = f"This run is expected to cost {money(expected.usd)}, and the limit is {money(limit)}."
    match await client.ask_user(types.MessageType.Warning, text, (stop, on, CANCEL)):
        case title if title == stop:
            return request
        case title if title == on:
            return replace(
                request, options={key: value for key, value in request.options.items() if key != "max_cost"}
            )
        case _:
            return None


async def confirm_errors(
    client: ClientConnection, session: Session, diagnostics: Diagnostics, target: RunnableId
) -> bool:
    """Ask the user before a run whose suite has errors that break its verdicts; return whether it may begin.

    A client that cannot ask goes on: the run reports each grader that could not grade.
    """
    if not client.abilities.asks_the_user:
        return True
    # With the first run: nothing of it is needed to look at a document.
    from waza_language_server.analysis.run_errors import run_errors

    run = session.project.scores.results(target.suite)
    judged = {name: None for task in (run.tasks.values() if run is not None else ()) for name in task.graders}
    found = await diagnostics.answer_for_workspace(
        lambda workspace: run_errors(workspace, target, tuple(judged))
    )
    if not found:
        return True
    more = f" There {'is' if len(found) == 2 else 'are'} {len(found) - 1} more." if found[1:] else ""
    text = f"The verdict of this run would mean nothing. {found[0].description}{more}"
    return await client.ask_user(types.MessageType.Warning, text, (RUN_ANYWAY, CANCEL)) == RUN_ANYWAY


def _limits(command: str, target: RunnableId, given: Mapping[str, object]) -> dict[str, Any]:
    """Return the selection of a suite, ``tasks`` and ``prompts``, as patterns of ``eval.run``."""
    found: dict[str, Any] = {}
    for key, wanted in _LIMITS.items():
        listed = given.get(key)
        if listed is None:
            continue
        texts = _texts(listed)
        if texts is None or target != RunnableId(target.suite):
            raise refused(f"The `{key}` of {command} must be {wanted} of the suite that is run.")
        found[key] = [literal_glob(text) for text in texts]
    return found


def _texts(listed: object) -> list[str] | None:
    """Return a list of texts, None for everything else and for one that has none."""
    items = cast("list[object]", listed) if isinstance(listed, list) else []
    texts = [text for text in items if isinstance(text, str) and text.strip()]
    return texts if texts and len(texts) == len(items) else None


def _target(command: str, given: dict[str, object]) -> RunnableId:
    if "id" in given:
        if given.keys() & {"suite", "task", "grader"}:
            raise refused(f"{command} takes {_WANTED}, not both.")
        try:
            return RunnableId.parse(str(given["id"]) if isinstance(given["id"], str) else "")
        except ValueError:
            raise refused(
                f"The `id` of {command} must be that of a suite, a task, a grader or a trigger prompt."
            ) from None
    suite = _text(command, given, "suite")
    path = path_of(suite) if suite and suite.startswith("file:") else Path(suite or "")
    if not suite or path is None:
        raise refused(f"{command} needs the path of an eval file, as `suite`.")
    return RunnableId(path, _text(command, given, "task"), _text(command, given, "grader"))


async def confirm_outside_suite(client: ClientConnection, session: Session, suite: Path) -> None:
    """Ask the user before a suite outside the open folders runs; raises if it must not run.

    The user is asked once a session for each suite.
    """
    if session.is_in_open_folders(suite):
        return
    place = resolved(suite)
    if not client.abilities.asks_the_user:
        raise refused(
            f"{place} is outside the open folders; open its folder in the editor to run it.", REQUEST_FAILED
        )
    text = f"{place} is outside the open folders. Running it executes code and may cost money."
    if await client.ask_user(types.MessageType.Warning, text, (RUN, CANCEL)) != RUN:
        raise refused(
            f'{place} was not run: it is outside the open folders. Answer "{RUN}", or open its folder.',
            REQUEST_FAILED,
        )
    session.confirmed_suites.add(place)


def _text(command: str, given: dict[str, object], key: str) -> str | None:
    value = given.get(key)
    if value is None or (isinstance(value, str) and value.strip()):
        return value
    wanted = "the path of an eval file" if key == "suite" else f"the id of a {key}, or null for all"
    raise refused(f"The `{key}` of {command} must be {wanted}.")
