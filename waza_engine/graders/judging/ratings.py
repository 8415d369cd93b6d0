"""Ratings: a judge answers with a number on the rubric's scale, and a threshold decides.

A reply without a rating, or with one that is not on the scale,
is an error of the grader.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from waza_engine.figures import reaches, shown_below
from waza_engine.graders.base import GraderError, GradingContext, Verdict
from waza_engine.graders.judging.evidence import everything, inputs
from waza_engine.graders.judging.judge import JudgeError
from waza_engine.graders.judging.judges import ask, without_judge
from waza_engine.graders.judging.replies import Reply, read_reply
from waza_engine.graders.judging.rubrics import Rubric
from waza_engine.graders.judging.scales import RatingError, Scale, linear, scales_in

DEFAULT_THRESHOLD = 0.75
_FIELD_IN_TEXT = re.compile(r"[\"'`](overall_score|score|overall|\w+_score)[\"'`]")


@dataclass(frozen=True, slots=True)
class Rating:
    """How a rating is requested and parsed. ``raw`` uses the number as the score itself."""

    rubric: Rubric
    model: str | None = None
    threshold: float = DEFAULT_THRESHOLD
    raw: bool = False
    text_reply: bool = False
    continue_session: bool = False
    reasoning_effort: str | None = None


def rate(rating: Rating, context: GradingContext) -> Verdict:
    """Ask for a rating and return the verdict. Raises ``GraderError``."""
    scale = scale_for(rating.rubric, raw=rating.raw)
    prompt, notes = _question(rating, scale, context)
    reply, response = asked(rating, prompt, scale, context)
    score = scale.score(reply.rating)
    passed = reaches(score, rating.threshold)
    said = f"Rated {scale.shown(reply.rating)}" + ("" if scale.words else f" on the scale {scale.text}")
    if not passed:
        shown, threshold = shown_below(score, rating.threshold)
        said += f" (score {shown}, the threshold is {threshold})"
    details: dict[str, Any] = {
        **rating_details(reply, scale, prompt, response),
        "threshold": rating.threshold,
        "rubric": {**rating.rubric.details, "scale": scale.text},
    }
    if notes:
        details["notes"] = notes
    return Verdict(score, passed, ": ".join(text for text in (said, reply.reasoning) if text), details)


def asked(rating: Rating, prompt: str, scale: Scale, context: GradingContext) -> tuple[Reply, str]:
    """Return the judge's reply, parsed and raw. Raises ``GraderError``."""
    try:
        response = ask(
            context,
            prompt,
            model=rating.model,
            continue_session=rating.continue_session,
            reasoning_effort=rating.reasoning_effort,
        )
        reply = read_reply(response, scale, rating.rubric.rating_field, as_text=rating.text_reply)
    except JudgeError as error:
        raise without_judge(error) from None
    except RatingError as error:
        raise GraderError(f"the judge {error}") from None
    return reply, response


def rating_details(reply: Reply, scale: Scale, prompt: str, response: str) -> dict[str, Any]:
    """Return the details of a rating in a result."""
    return {
        "response": response,
        "prompt": prompt,
        "raw_score": reply.rating,
        "score_field": reply.place,
        "scale": scale.text,
        **({} if reply.passed is None else {"judge_passed": reply.passed}),
        **({"criteria": dict(reply.criteria)} if reply.criteria else {}),
    }


def scale_for(rubric: Rubric, *, raw: bool = False) -> Scale:
    """Return the scale of a rubric: its own, the one that its text mentions, else 1 to 5.

    ``raw`` is for ratings that are scores from 0 to 1 already.
    """
    own = rubric.scale
    if raw:
        return own if own is not None and own.points == ((0.0, 0.0), (1.0, 1.0)) else linear(0, 1)
    if own is not None:
        return own
    usual = linear(1, 5)
    found = scales_in(rubric.text)
    return usual if not found or usual in found else found[0]


def reply_instructions(rubric: Rubric, scale: Scale, *, text_reply: bool) -> str:
    """Return the end of the prompt: the form of the answer, unless the rubric defines one itself."""
    if text_reply:
        return f"End your answer with one line `Score: N`, where N is {scale.asked}."
    if rubric.answer:
        fields = "\n".join(
            f"- `{name}`: {about}" if about else f"- `{name}`" for name, about in rubric.answer.items()
        )
        counts = f"\n\nThe rating is `{rubric.rating_field}`: {scale.asked}." if rubric.rating_field else ""
        return f"Answer with one JSON object and nothing else. Its fields:\n\n{fields}{counts}"
    if re.search(r"\bjson\b", rubric.text, re.IGNORECASE):
        named = _FIELD_IN_TEXT.findall(rubric.text)
        field = "overall_score" if "overall_score" in named else "score" if "score" in named else ""
        field = field or (named[0] if len(set(named)) == 1 else "")
        rating = f"`{field}`" if field else "Every rating"
        return f"Answer with that JSON object and nothing else. {rating} is {scale.asked}."
    return (
        "Answer with one JSON object and nothing else: "
        f'{{"reasoning": "<why>", "{rubric.rating_field or "score"}": <{scale.asked}>}}'
    )


def evidence_for(rubric: Rubric, context: GradingContext) -> tuple[str, list[str]]:
    """Return the judge's evidence for a rubric, and its unknown inputs."""
    shown, unknown = inputs(rubric.inputs, context)
    return shown or everything(context), unknown


def _question(rating: Rating, scale: Scale, context: GradingContext) -> tuple[str, list[str]]:
    rubric, notes = rating.rubric, list[str]()
    parts = [rubric.text.strip()]
    if not rating.continue_session:
        shown, notes = evidence_for(rubric, context)
        parts.append(shown)
    parts.append(reply_instructions(rubric, scale, text_reply=rating.text_reply))
    return "\n\n".join(parts), notes
