"""Mutations of a recorded trial: seeded changes of its answer, its calls, its numbers and its files.

A mutation has a kind and says what it ``touches``; a grader that reads none of that cannot notice it, and
that does not count against the grader. A kept workspace stays untouched: each change of files is made in a
small copy of those that the grader reads, below a folder that the caller deletes.
"""

from __future__ import annotations

import json
import os
import random
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, TypeAlias, cast

from waza_engine.boundary import Boundary
from waza_engine.counting import cut
from waza_engine.files import read_bytes, write_bytes
from waza_engine.graders.base import Grader, GradingContext
from waza_engine.graders.paths import leads_outside
from waza_engine.lab.insight import Evidence, insight_of
from waza_engine.vocabulary import KNOWN_ARGUMENTS, SkillInvocation, ToolCall, Usage

Kind = Literal[
    "nothing at all",
    "another task's answer",
    "a refusal",
    "a sentence dropped",
    "a sentence negated",
    "a number changed",
    "the answer emptied",
    "a key dropped",
    "a value of another type",
    "tool calls dropped",
    "tool calls reordered",
    "the transcript shuffled",
    "skills dropped",
    "errors happened",
    "no file at all",
    "a file missing",
    "another task's files",
    "a file emptied",
    "a file rewritten",
    "a line dropped",
    "a runaway agent",
    "what the grader names",
]

RUNAWAY_CALLS = 10_000
RUNAWAY_TOKENS = 1_000_000_000
RUNAWAY_MS = 30 * 24 * 3_600_000
RUNAWAY_CHARACTERS = 2_000_000
MOST_OF_A_KIND = 3
_MOST_KEYS = 6
REFUSAL = "I am sorry, but I cannot do that."
_SENTENCE = re.compile(r"[^.!?\n]+(?:[.!?]+|\n|\Z)\s*")
_NUMBER = re.compile(r"\d+")
_VERB = re.compile(r"\b(is|are|was|were|has|have|can|will|does|do|did|must|should)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Mutation:
    """A changed trial; ``of`` is a short description of the change."""

    kind: Kind
    of: str
    touches: frozenset[Evidence]
    context: GradingContext


def mutations(
    context: GradingContext, others: Sequence[GradingContext], rng: random.Random
) -> Iterator[Mutation]:
    """Yield changes of a trial; ``others`` are trials of other tasks. The same ``rng`` yields the same."""
    yield Mutation("nothing at all", "", _SESSION | _FIGURES, _nothing(context))
    if others:
        other = _with(context, rng.choice(others))
        shape: frozenset[Evidence] = frozenset() if _json_in(other.output) is None else frozenset({"json"})
        yield Mutation("another task's answer", "", _SESSION | shape, other)
    refusal = replace(context, output=REFUSAL, tool_calls=_none(context), skill_invocations=())
    yield Mutation("a refusal", "", frozenset({"answer", "tool calls", "skills"}), refusal)
    yield from _of_answer(context, rng)
    yield from _of_json(context)
    yield from _of_session(context, rng)


_SESSION: frozenset[Evidence] = frozenset({"answer", "tool calls", "transcript", "skills"})
_FIGURES: frozenset[Evidence] = frozenset({"usage", "duration"})


def _nothing(context: GradingContext) -> GradingContext:
    return replace(
        context,
        output="",
        transcript=(),
        tool_calls=_none(context),
        skill_invocations=(),
        usage=context.usage and Usage(),
        duration_ms=0,
    )


def _none(context: GradingContext) -> Sequence[ToolCall] | None:
    return None if context.tool_calls is None else ()


def _with(context: GradingContext, other: GradingContext) -> GradingContext:
    return replace(
        context,
        output=other.output,
        transcript=other.transcript,
        tool_calls=other.tool_calls,
        skill_invocations=other.skill_invocations,
    )


def _of_answer(context: GradingContext, rng: random.Random) -> Iterator[Mutation]:
    output = context.output
    touches: frozenset[Evidence] = frozenset({"answer"})

    def changed(kind: Kind, of: str, start: int, end: int, text: str) -> Mutation:
        whole = output[:start] + text + output[end:]
        return Mutation(kind, of, touches, replace(context, output=whole))

    sentences = [found for found in _SENTENCE.finditer(output) if found.group().strip()]
    if len(sentences) > 1:
        for found in _some(sentences, rng):
            yield changed("a sentence dropped", excerpt(found.group()), *found.span(), "")
    for found in _some(list(_VERB.finditer(output)), rng):
        yield changed("a sentence negated", found.group(), found.end(), found.end(), " not")
    for found in _some(list(_NUMBER.finditer(output)), rng):
        other = another_number(found.group(), rng)
        yield changed("a number changed", f"{found.group()} → {other}", *found.span(), other)


def another_number(written: str, rng: random.Random) -> str:
    """Return a number that is larger than the one with these digits."""
    return str(int(written[:15]) + rng.choice((1, 7, 10)))


def _of_json(context: GradingContext) -> Iterator[Mutation]:
    """Yield mutations that are still JSON: emptied, without a key, with values of other types."""
    answer = _json_in(context.output)
    if answer is None:
        return

    def of(kind: Kind, what: str, value: object) -> Mutation:
        changed = replace(context, output=json.dumps(value, ensure_ascii=False))
        return Mutation(kind, what, frozenset({"json", "answer"}), changed)

    if answer:
        yield of("the answer emptied", "", {} if isinstance(answer, dict) else [])
    if isinstance(answer, dict):
        for key in list(answer)[:_MOST_KEYS]:
            yield of("a key dropped", key, {name: answer[name] for name in answer if name != key})
            yield of("a value of another type", key, {**answer, key: _of_another_type(answer[key])})
    else:
        for index, item in enumerate(answer[:_MOST_KEYS]):
            other = [*answer[:index], _of_another_type(item), *answer[index + 1 :]]
            yield of("a value of another type", f"item {index + 1}", other)


def _json_in(text: str) -> dict[str, Any] | list[Any] | None:
    """Return an answer's JSON object or list, None if it is not one."""
    try:
        found: Any = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return cast("dict[str, Any] | list[Any]", found) if isinstance(found, dict | list) else None


def _of_another_type(value: object) -> object:
    return 7 if isinstance(value, str) else {"x": 1} if value is None else "x"


def _of_session(context: GradingContext, rng: random.Random) -> Iterator[Mutation]:
    calls = list(context.tool_calls or ())
    touches: frozenset[Evidence] = frozenset({"tool calls"})
    if calls:
        yield Mutation("tool calls dropped", "all", touches, replace(context, tool_calls=()))
        if len(calls) > 1:
            at = rng.randrange(len(calls))
            left = (*calls[:at], *calls[at + 1 :])
            yield Mutation("tool calls dropped", calls[at].name, touches, replace(context, tool_calls=left))
    if [call.name for call in calls] != [call.name for call in reversed(calls)]:
        turned = replace(context, tool_calls=tuple(reversed(calls)))
        yield Mutation("tool calls reordered", "", touches, turned)
    if len(context.transcript) > 1:
        events = list(context.transcript)
        rng.shuffle(events)
        shuffled = replace(context, transcript=tuple(events))
        yield Mutation("the transcript shuffled", "", frozenset({"transcript"}), shuffled)
    if context.skill_invocations:
        dropped = replace(context, skill_invocations=())
        yield Mutation("skills dropped", "all", frozenset({"skills"}), dropped)
    event = {"type": "session.error", "content": "error: it failed", "message": "error: it failed"}
    failed = replace(
        context,
        transcript=(*context.transcript, event),
        tool_calls=context.tool_calls and tuple(replace(call, success=False) for call in context.tool_calls),
    )
    yield Mutation("errors happened", "", frozenset({"transcript", "tool calls"}), failed)


def runaway(context: GradingContext) -> Iterator[Mutation]:
    """Yield trials in which one number is far above any plausible limit."""

    def of(what: str, touched: Evidence, changed: GradingContext) -> Mutation:
        return Mutation("a runaway agent", what, frozenset({touched}), changed)

    long = f"{context.output}\n" + "and so on, word by word\n" * (RUNAWAY_CHARACTERS // 24)
    yield of(f"{RUNAWAY_CHARACTERS:,} characters", "answer", replace(context, output=long))
    many = tuple(
        ToolCall("runaway", dict.fromkeys(KNOWN_ARGUMENTS, "runaway"), f"call-{number}", success=True)
        for number in range(RUNAWAY_CALLS)
    )
    calls = replace(context, tool_calls=(*many, *(context.tool_calls or ())))
    yield of(f"{RUNAWAY_CALLS:,} tool calls", "tool calls", calls)
    usage = replace(
        context.usage or Usage(),
        turns=RUNAWAY_CALLS,
        input_tokens=RUNAWAY_TOKENS,
        output_tokens=RUNAWAY_TOKENS,
    )
    yield of(f"{RUNAWAY_TOKENS:,} tokens", "usage", replace(context, usage=usage))
    yield of("a month", "duration", replace(context, duration_ms=RUNAWAY_MS))


def _some(found: list[re.Match[str]], rng: random.Random) -> list[re.Match[str]]:
    return rng.sample(found, min(len(found), MOST_OF_A_KIND))


def excerpt(text: str) -> str:
    """Return the beginning of a string, on one line."""
    return cut(" ".join(text.split()), 60)


def planted(context: GradingContext, texts: Sequence[str]) -> Iterator[Mutation]:
    """Yield trials with a grader's own strings, where it could look for them."""
    for text in texts:
        yield _planted(replace(context, output=text), excerpt(text), "answer", "json")
        beside = replace(context, output=f"{context.output}\n{text}")
        yield _planted(beside, excerpt(text), "answer")
    if texts:
        every = "\n".join((context.output, *texts))
        yield _planted(replace(context, output=every), "all of it", "answer")
        arguments = [
            ToolCall(name, {**dict.fromkeys(KNOWN_ARGUMENTS, value), **dict.fromkeys(texts, value)})
            for name in texts
            for value in texts
        ]
        calls = (*(context.tool_calls or ()), *arguments)
        yield _planted(replace(context, tool_calls=calls), "called as a tool", "tool calls")
        invoked = (*context.skill_invocations, *(SkillInvocation(name) for name in texts))
        yield _planted(replace(context, skill_invocations=invoked), "invoked as a skill", "skills")
        events = [{"type": text, "content": text, "message": text} for text in texts]
        changed = replace(context, transcript=(*context.transcript, *events))
        yield _planted(changed, "told in the transcript", "transcript")


def _planted(context: GradingContext, of: str, *touches: Evidence) -> Mutation:
    return Mutation("what the grader names", of, frozenset(touches), context)


MOST_BYTES = 8_000_000
"""Of all files together that a grader looks at in one trial."""
MOST_PLACES = 40
"""At which a grader may look, and each of them is changed."""
_LINE = re.compile(rb"[^\n]*\S[^\n]*(?:\n|\Z)")
_DIGITS = re.compile(rb"\d+")

Held: TypeAlias = Mapping[str, bytes | None]
"""Files and folders by their path below a workspace: a file's content, None for a folder."""


class FilesError(Exception):
    """The files of a trial cannot be copied; the message says why, in one clause."""


@dataclass(frozen=True, slots=True)
class Seen:
    """The content of the paths that a grader reads.

    ``absent`` paths did not exist; the content of ``read`` ones decides, whether they exist or not.
    """

    held: Held
    absent: tuple[str, ...]
    read: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Change:
    kind: Kind
    of: str
    held: Held


def seen_files(grader: Grader[Any], workspace: Path) -> Seen:
    """Return the content of the paths that a grader reads in a workspace.

    Raises ``FilesError``, and ``GraderError`` for a path outside of it.
    """
    insight = insight_of(grader)
    places, read = insight.looks_at(workspace), insight.looks_into(workspace)
    if places is None or read is None:
        raise FilesError("its type does not say which files it looks at")
    if len(places) > MOST_PLACES:
        raise FilesError(f"it looks at more than {MOST_PLACES} places")
    within = Boundary.around(workspace, name="the workspace")
    held: dict[str, bytes | None] = {}
    absent: list[str] = []
    left = MOST_BYTES
    for place in dict.fromkeys(places):
        name = _name(workspace, place)
        try:
            if not place.exists():
                absent.append(name)
                continue
            if leads_outside(workspace, place):
                raise FilesError(f"{name} is a link that leads out of the workspace")
            held[name] = None if place.is_dir() else read_bytes(place, left, within=within)
        except OSError as error:
            raise FilesError(f"{name} cannot be copied: {error.strerror or error}") from None
        left -= len(held[name] or b"")
    return Seen(held, tuple(absent), tuple(_name(workspace, place) for place in dict.fromkeys(read)))


def copied(context: GradingContext, held: Held, folder: Path) -> GradingContext:
    """Return a trial whose workspace holds these files and nothing else. Raises ``FilesError``."""
    try:
        folder.mkdir()
        for name, content in held.items():
            place = folder / name
            (place if content is None else place.parent).mkdir(parents=True, exist_ok=True)
            if content is not None:
                write_bytes(place, content)
    except (OSError, ValueError) as error:
        raise FilesError(f"its files cannot be copied: {error}") from None
    return replace(context, workspace=folder)


def file_mutations(
    context: GradingContext,
    seen: Seen,
    others: Sequence[Seen],
    texts: Sequence[str],
    rng: random.Random,
    folder: Path,
) -> Iterator[Mutation]:
    """Yield changes of the files of a trial; each is valid until the next is requested.

    ``others`` are the contents of the same paths in trials of other tasks, ``texts`` the strings that the
    grader names. The same ``rng`` yields the same. Raises ``FilesError``.
    """
    for number, change in enumerate(_changes(seen, others, texts, rng)):
        place = folder / str(number)
        try:
            changed = copied(context, change.held, place)
            yield Mutation(change.kind, change.of, frozenset({"files"}), changed)
        finally:
            shutil.rmtree(place, ignore_errors=True)


def _changes(
    seen: Seen, others: Sequence[Seen], texts: Sequence[str], rng: random.Random
) -> Iterator[_Change]:
    held = seen.held
    if held:
        yield _Change("no file at all", "", {})
    if len(held) > 1:
        for name in held:
            left = {each: held[each] for each in held if each != name and not each.startswith(f"{name}/")}
            yield _Change("a file missing", name, left)
    different = [other.held for other in others if other.held != held]
    if different:
        yield _Change("another task's files", "", rng.choice(different))
    read = {name: content for name in seen.read if (content := held.get(name)) is not None}
    for name, content in read.items():
        if content:
            yield _Change("a file emptied", name, {**held, name: b""})
        yield _Change("a file rewritten", name, {**held, name: REFUSAL.encode()})
    yield from _of_content(held, read, rng)
    yield from _planted_in(seen, texts)


def _of_content(held: Held, read: Mapping[str, bytes], rng: random.Random) -> Iterator[_Change]:
    lines = [(name, line) for name, content in read.items() for line in _LINE.finditer(content)]
    for name, line in _some_of(lines, rng):
        content = read[name]
        changed = content[: line.start()] + content[line.end() :]
        yield _Change("a line dropped", f"{name}: {_text(line.group())}", {**held, name: changed})
    numbers = [(name, found) for name, content in read.items() for found in _DIGITS.finditer(content)]
    for name, found in _some_of(numbers, rng):
        content, other = read[name], another_number(found.group().decode(), rng)
        changed = content[: found.start()] + other.encode() + content[found.end() :]
        change = f"{name}: {_text(found.group())} → {other}"
        yield _Change("a number changed", change, {**held, name: changed})


def _planted_in(seen: Seen, texts: Sequence[str]) -> Iterator[_Change]:
    """Yield the grader's strings at the paths that it reads: in new files, and added to existing ones."""
    held = seen.held
    for name in seen.absent:
        yield _Change("what the grader names", name, {**held, name: b"\n".join(map(_bytes, texts))})
    for text in texts:
        only = {**held, **dict.fromkeys(seen.read, _bytes(text))}
        beside = {**held, **{name: (held.get(name) or b"") + b"\n" + _bytes(text) for name in seen.read}}
        for changed in (only, beside):
            if changed != held:
                yield _Change("what the grader names", excerpt(text), changed)


def _some_of(
    found: list[tuple[str, re.Match[bytes]]], rng: random.Random
) -> list[tuple[str, re.Match[bytes]]]:
    return rng.sample(found, min(len(found), MOST_OF_A_KIND))


def _name(workspace: Path, place: Path) -> str:
    return place.relative_to(os.path.abspath(workspace)).as_posix()  # noqa: PTH100 - links stay


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _text(content: bytes) -> str:
    return excerpt(content.decode("utf-8", "replace"))
