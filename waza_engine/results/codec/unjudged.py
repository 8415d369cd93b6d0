"""Answers that were paid for and have no verdict, in a trial or a run. Light."""

from __future__ import annotations

from collections.abc import Iterable

from waza_engine.results.json_values import Block, Json, blocks_of, given, text_of
from waza_engine.results.record import Answerer, UnjudgedAnswer

ANSWERERS: dict[str, Answerer] = {"agent": "agent", "judge": "judge", "responder": "responder"}


def unjudged_documents(answers: Iterable[UnjudgedAnswer]) -> list[Json]:
    """Return the list of answers."""
    return [{**given(prompt=answer.prompt), "by": answer.by, "text": answer.text} for answer in answers]


def unjudged_of(block: Block) -> tuple[UnjudgedAnswer, ...]:
    """Return the answers of a trial or a run."""
    return tuple(
        UnjudgedAnswer(
            ANSWERERS.get(text_of(answer.get("by")), "agent"),
            text_of(answer.get("text")),
            text_of(answer.get("prompt")),
        )
        for answer in blocks_of(block.get("unjudged_answers"))
    )
