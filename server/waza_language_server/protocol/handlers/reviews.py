"""Pending reviews: ``waza/reviews`` lists them, ``waza.review`` records a person's verdict.

Nothing is run: an answer that is recorded gets its verdict, which counts from then on (``reviews.jsonl``
next to the eval file, see the engine's ``commands/reviewing.py``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from lsprotocol import types

from waza_engine.vocabulary import shown_grader
from waza_language_server.engine.process import EngineError
from waza_language_server.features.runnables.code_lens import REVIEW
from waza_language_server.project.runnable_id import RunnableId
from waza_language_server.protocol.handlers.run_requests import FAILED, refused, run_request
from waza_language_server.protocol.handlers.watched_files import refresh_scores
from waza_language_server.protocol.own_requests import REVIEWS
from waza_language_server.text.labels import label, message

if TYPE_CHECKING:
    from waza_language_server.protocol.own_requests import ReviewsParams
    from waza_language_server.protocol.server import WazaServer

PASSED, FAILED_IT = "Passed", "Failed"
_ASKED_CHARACTERS = 600
"""Of an answer in a question: more of it would hide the buttons."""
_WITHIN_SECONDS = 30.0
_SAID = ("passed", "score", "comment")


async def reviews(ls: WazaServer, params: ReviewsParams) -> list[dict[str, Any]]:
    """Return the answers of a suite, a task or a grader that wait for a person."""
    try:
        target = RunnableId.parse(params.id)
    except ValueError:
        raise refused(f"The `id` of {REVIEWS} must be that of a suite, a task or a grader.") from None
    return await _waiting(ls, target)


async def review(ls: WazaServer, arguments: tuple[object, ...]) -> dict[str, Any]:
    """Record a person's verdict on an answer; return the updated answer, null if the person gives none.

    The argument is ``{id, trial?, results?, passed?, score?, comment?}``, with ``suite``, ``task`` and
    ``grader`` in place of an unknown id. Without ``passed`` the user is asked about the first pending answer.
    """
    given: dict[str, object] = {}
    if len(arguments) == 1 and isinstance(arguments[0], dict):
        given = dict(cast("dict[str, object]", arguments[0]))
    said = {key: value for key in _SAID if (value := given.pop(key, None)) not in (None, "")}
    which = {"path": given.pop("results", None), "trial": given.pop("trial", None)}
    target = run_request(REVIEW, [given]).target
    if "passed" not in said:
        if said:
            raise refused(f"{REVIEW} needs `passed` beside a score or a comment.")
        waiting = await _waiting(ls, target)
        if not waiting:
            raise refused("Nothing waits for a review there.", FAILED)
        first = waiting[0]
        passed = await _asked(ls, first)
        if passed is None:
            return {"item": None}
        said = {"passed": passed}
        which = {"path": first["results"], "trial": first["trial"]}
        target = RunnableId(target.suite, first["task"], first["grader"])
    answer = await _ask(ls, "review.add", target, {**which, **said})
    refresh_scores(ls)
    return {"item": answer["item"]}


async def _waiting(ls: WazaServer, target: RunnableId) -> list[dict[str, Any]]:
    if ls.session.project.scores.results(target.suite) is None:
        return []
    items = (await _ask(ls, "review.list", target, {}))["items"]
    return [{**item, "id": str(RunnableId(target.suite, item["task"], item["grader"]))} for item in items]


async def _ask(ls: WazaServer, method: str, target: RunnableId, given: dict[str, object]) -> dict[str, Any]:
    if not ls.trusted:
        raise refused("Nothing is reviewed in an untrusted workspace; trust it first.", FAILED)
    request = {"task": target.task, "grader": target.grader, **given}
    request["path"] = str(request.get("path") or target.suite)
    request = {key: value for key, value in request.items() if value is not None}
    try:
        return await ls.runs.ask(method, request, _WITHIN_SECONDS)
    except EngineError as error:
        raise refused(str(error), FAILED) from None


async def _asked(ls: WazaServer, waiting: dict[str, Any]) -> bool | None:
    """Ask whether an answer passes; None if the user does not say."""
    if not ls.abilities.asks_the_user:
        raise refused(f"{REVIEW} needs `passed` in this editor.", FAILED)
    which = f"{label(waiting['task'])}, trial {waiting['trial']}, {label(shown_grader(waiting['grader']))}"
    output: str = waiting["output"]
    shown = output if len(output) <= _ASKED_CHARACTERS else f"{output[:_ASKED_CHARACTERS]}…"
    question = message(f"{which}: {waiting['instructions'] or 'does it pass?'}\n\n{shown}")
    said = await ls.ask(types.MessageType.Info, question, [PASSED, FAILED_IT])
    return None if said is None else said == PASSED
