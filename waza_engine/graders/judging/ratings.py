"""Ratings: a judge sees the evidence of a trial and answers with a number, and a threshold decides.

Each piece of evidence is between tags, so that a judge can tell the agent's output from its own instructions.
A reply without a rating, or with one that is not on the scale, is an error of the grader.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, cast

from waza_engine.counting import without_middle
from waza_engine.graders.base import GraderError, GradingContext, Verdict
from waza_engine.graders.judge import JudgeError
from waza_engine.graders.judging.judges import ask, without_judge
from waza_engine.graders.judging.replies import Reply, read_reply
from waza_engine.graders.judging.rubrics import Rubric
from waza_engine.graders.judging.scales import RatingError, Scale, linear, scales_in
from waza_engine.number_formats import format_below, reaches
from waza_engine.vocabulary import ToolCall

_LONGEST = 60_000
_LONGEST_VALUE = 4_000
_NOTHING = "(nothing)"
_WRAPPING = re.compile(r"^[\s${]*(.*?)[\s}]*$", re.DOTALL)


def task_and_answer(context: GradingContext) -> str:
    """Return the sections for a judge that sees nothing of the agent's session."""
    return "\n\n".join(
        [
            section("Task input", "task_input", context.prompt),
            section("Answer to judge", "answer", context.output),
        ]
    )


def everything(context: GradingContext) -> str:
    """Return the sections for a rating: the task, the answer, and the agent's actions."""
    about = "\n".join(text for text in (context.task_name, context.task_description) if text)
    parts = [section("Task", "task", about)] if about else []
    parts += [task_and_answer(context)]
    if context.tool_calls:
        parts.append(section("Tool calls of the agent", "tool_calls", _tool_calls(context.tool_calls)))
    if context.duration_ms:
        parts.append(f"The agent took {context.duration_ms / 1000:.1f} seconds.")
    return "\n\n".join(parts)


def inputs(mapping: Mapping[str, str], context: GradingContext) -> tuple[str, list[str]]:
    """Return the sections of a rubric's ``input_mapping`` (input → source), and unknown inputs.

    Both vocabularies of rubrics are accepted, ``session_transcript`` as well as ``context.output``; an
    unknown source is looked up under the name of the input.
    """
    parts: list[str] = []
    unknown: list[str] = []
    for name, source in mapping.items():
        found = _source(source, context) or _source(name, context)
        if found is None:
            unknown.append(f"`{source}`, the source of the rubric's input `{name}`, is not known")
            continue
        tag = re.sub(r"\W+", "_", name.strip().lower()).strip("_") or "input"
        parts.append(section(name.replace("_", " ").strip().capitalize(), tag, found()))
    return "\n\n".join(parts), unknown


def section(title: str, tag: str, text: str) -> str:
    """Return a heading and the content between tags that do not occur in it."""
    free, number = tag, 1
    while f"</{free}>" in text:
        number += 1
        free = f"{tag}_{number}"
    return f"## {title}\n\n<{free}>\n{without_middle(text.strip(chr(10)), _LONGEST) or _NOTHING}\n</{free}>"


def _source(written: str, context: GradingContext) -> Callable[[], str] | None:
    path = cast("re.Match[str]", _WRAPPING.match(written))[1].strip().lower()
    path = re.sub(r"^(?:context|trial|run|task|inputs?|data|sample)\.", "", path)
    if path.startswith("metadata."):
        value = context.metadata.get(written.strip().strip("${} ").rpartition(".")[2])
        return lambda: _NOTHING if value is None else _as_text(value)
    found = _SOURCES.get(path.replace("-", "_"))
    return None if found is None else lambda: found(context)


def _task(context: GradingContext) -> str:
    return "\n\n".join(text for text in (context.task_description, context.prompt) if text)


def _definitions(context: GradingContext) -> str:
    called = sorted({call.name for call in context.tool_calls or ()})
    used = f" The agent called: {', '.join(called)}." if called else ""
    return f"(The definitions of the tools are not recorded.{used})"


def _conversation(context: GradingContext) -> str:
    lines = [line for event in context.transcript if (line := _event(event))]
    if lines:
        return "\n".join(lines)
    turns = [f"user: {turn}" for turn in context.turns or (context.prompt,)]
    calls = [] if not context.tool_calls else [_tool_calls(context.tool_calls)]
    return "\n".join([*turns, *calls, f"assistant: {context.output}"])


def _event(event: Mapping[str, Any]) -> str:
    """Return the line of a transcript entry that has content, "" for others."""
    role = event.get("role")
    if role is not None and "type" not in event:
        # The Python era: one entry a message or call.
        return f"{role} {event.get('name', '')}".strip() + f": {_as_text(event.get('content', ''))}"
    match event.get("type"):
        case "user.message":
            return f"user: {event.get('content', '')}"
        case "assistant.message":
            content = event.get("content")
            return f"assistant: {content}" if content else ""
        case "tool.execution_start":
            return f"tool call {event.get('tool_name')}: {_as_text(event.get('arguments') or {})}"
        case "tool.execution_complete":
            outcome = "result" if event.get("success") is not False else "failure"
            return f"tool {outcome}: {_result(event.get('tool_result'))}"
        case "skill.invoked":
            return f"skill invoked: {event.get('name', '')}"
        case "session.error":
            return f"error: {event.get('message', '')}"
        case _:
            return ""


def _tool_calls(calls: Iterable[ToolCall] | None) -> str:
    lines: list[str] = []
    for number, call in enumerate(calls or (), 1):
        lines.append(f"{number}. {call.name} {_as_text(call.arguments)}")
        if call.result is not None:
            outcome = "result" if call.success else "failed"
            lines.append(f"   {outcome}: {_result(call.result)}")
    return "\n".join(lines)


def _result(value: Any) -> str:
    content = cast("Mapping[str, Any]", value).get("content") if isinstance(value, Mapping) else None
    return without_middle(_as_text(value if content is None else content), _LONGEST_VALUE)


_SOURCES: Mapping[str, Callable[[GradingContext], str]] = {
    **dict.fromkeys(
        ("prompt", "query", "user_query", "user_prompt", "question", "task_input", "input", "instruction"),
        lambda context: context.prompt,
    ),
    **dict.fromkeys(
        (
            "output",
            "response",
            "agent_response",
            "answer",
            "final_output",
            "final_response",
            "candidate_output",
        ),
        lambda context: context.output,
    ),
    **dict.fromkeys(
        ("session_transcript", "transcript", "conversation", "conversation_history", "messages", "history"),
        _conversation,
    ),
    **dict.fromkeys(
        ("tool_calls", "tool_events", "tool_results", "tool_outputs", "actions"),
        lambda context: _tool_calls(context.tool_calls),
    ),
    **dict.fromkeys(("tool_definitions", "tools", "available_tools"), _definitions),
    **dict.fromkeys(
        ("ground_truth", "expected", "expected_output", "reference", "expected_response"),
        lambda context: context.reference or context.hint or "(the task names no expected answer)",
    ),
    **dict.fromkeys(
        ("skill_invocations", "skills"),
        lambda context: "\n".join(skill.name for skill in context.skill_invocations),
    ),
    **dict.fromkeys(("task", "description", "task_description"), _task),
    **dict.fromkeys(("name", "task_name"), lambda context: context.task_name),
    "id": lambda context: context.task_id,
    "hint": lambda context: context.hint,
    "metadata": lambda context: _as_text(context.metadata),
    "duration_ms": lambda context: f"{context.duration_ms}",
}


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


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
    reply, response = ask_for_rating(rating, prompt, scale, context)
    score = scale.score(reply.rating)
    passed = reaches(score, rating.threshold)
    sentence = f"Rated {scale.format(reply.rating)}" + ("" if scale.words else f" on the scale {scale.text}")
    if not passed:
        shown, threshold = format_below(score, rating.threshold)
        sentence += f" (score {shown}, the threshold is {threshold})"
    details: dict[str, Any] = {
        **rating_details(reply, scale, prompt, response),
        "threshold": rating.threshold,
        "rubric": {**rating.rubric.details, "scale": scale.text},
    }
    if notes:
        details["notes"] = notes
    return Verdict(score, passed, ": ".join(text for text in (sentence, reply.reasoning) if text), details)


def ask_for_rating(rating: Rating, prompt: str, scale: Scale, context: GradingContext) -> tuple[Reply, str]:
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
        return f"End your answer with one line `Score: N`, where N is {scale.allowed}."
    if rubric.answer:
        fields = "\n".join(
            f"- `{name}`: {about}" if about else f"- `{name}`" for name, about in rubric.answer.items()
        )
        counts = f"\n\nThe rating is `{rubric.rating_field}`: {scale.allowed}." if rubric.rating_field else ""
        return f"Answer with one JSON object and nothing else. Its fields:\n\n{fields}{counts}"
    if re.search(r"\bjson\b", rubric.text, re.IGNORECASE):
        named = _FIELD_IN_TEXT.findall(rubric.text)
        field = "overall_score" if "overall_score" in named else "score" if "score" in named else ""
        field = field or (named[0] if len(set(named)) == 1 else "")
        rating = f"`{field}`" if field else "Every rating"
        return f"Answer with that JSON object and nothing else. {rating} is {scale.allowed}."
    return (
        "Answer with one JSON object and nothing else: "
        f'{{"reasoning": "<why>", "{rubric.rating_field or "score"}": <{scale.allowed}>}}'
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
