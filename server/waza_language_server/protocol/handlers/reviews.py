"""Pending reviews: ``waza/reviews`` lists them, ``waza.review`` records a person's verdict.

Nothing is run: an answer that is recorded gets its verdict, which counts from then on (``reviews.jsonl``
next to the eval file, see the engine's ``commands/reviewing.py``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lsprotocol import types

from waza_engine.vocabulary import shown_grader
from waza_language_server.features.runnables.code_lens import REVIEW
from waza_language_server.project.runnable_id import RunnableId
from waza_language_server.protocol.own_requests import REVIEWS
from waza_language_server.protocol.services.run_requests import (
    FAILED,
    ask_engine,
    only_argument,
    refused,
    require_trust,
    run_request,
    target_of,
)
from waza_language_server.text.labels import label, message

if TYPE_CHECKING:
    from collections.abc import Sequence

    from waza_language_server.protocol.own_requests import ReviewsParams
    from waza_language_server.protocol.server import WazaServer

PASSED, FAILED_IT = "Passed", "Failed"
_ASKED_CHARACTERS = 600
"""Of an answer in a question: more of it would hide the buttons."""
_SAID = ("passed", "score", "comment")


async def reviews(ls: WazaServer, params: ReviewsParams) -> list[dict[str, Any]]:
    """Return the answers of a suite, a task or a grader that wait for a person."""
    return await _waiting(ls, target_of(params.id, REVIEWS, "a suite, a task or a grader"))


async def review(ls: WazaServer, arguments: Sequence[object], _token: object) -> dict[str, Any]:
    """Record a person's verdict on an answer; return the updated answer, null if the person gives none.

    The argument is ``{id, trial?, results?, passed?, score?, comment?}``, with ``suite``, ``task`` and
    ``grader`` in place of an unknown id. Without ``passed`` the user is asked about the first pending answer.
    """
    given = only_argument(arguments)
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
    ls.refresh.scores_changed()
    return {"item": answer["item"]}


async def _waiting(ls: WazaServer, target: RunnableId) -> list[dict[str, Any]]:
    if ls.session.project.scores.results(target.suite) is None:
        return []
    items = (await _ask(ls, "review.list", target, {}))["items"]
    return [{**item, "id": str(RunnableId(target.suite, item["task"], item["grader"]))} for item in items]


async def _ask(ls: WazaServer, method: str, target: RunnableId, given: dict[str, object]) -> dict[str, Any]:
    require_trust(ls, "Nothing is reviewed in an untrusted workspace")
    request = {"task": target.task, "grader": target.grader, **given}
    request["path"] = str(request.get("path") or target.suite)
    return await ask_engine(ls, method, {key: value for key, value in request.items() if value is not None})


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
