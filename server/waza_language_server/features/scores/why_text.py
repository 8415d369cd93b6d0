"""Why a rule passes or fails, in Markdown: its matches in the recorded trials, from the engine."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from waza_engine.markdown import cell, code, fenced
from waza_language_server.features.scores.live_text import LIVE
from waza_language_server.features.scores.words import age, share_label, sign_of

MOST_OBSERVED = 20


def why_text(answer: Mapping[str, Any], recorded: datetime, now: datetime) -> str:
    """Return what ``live.explain`` answers as people read it, "" when it has nothing to say.

    ``recorded`` is when the trials were.
    """
    trials: Sequence[Mapping[str, Any]] = answer.get("trials", ())
    if not trials:
        return ""
    return "\n\n".join([_head(answer, trials, recorded, now), *_observed(trials), *_story(answer["most"])])


def _head(
    answer: Mapping[str, Any], trials: Sequence[Mapping[str, Any]], recorded: datetime, now: datetime
) -> str:
    passed = sum(trial["passed"] is True for trial in trials)
    of_tasks: dict[str, list[bool]] = {}
    for trial in trials:
        of_tasks.setdefault(trial["task"], []).append(trial["passed"] is True)
    sign = sign_of((sum(passes), len(passes)) for passes in of_tasks.values())
    looked = f" (of {answer['total']}, the first)" if answer["total"] > len(trials) else ""
    return (
        f"**{LIVE}{share_label(sign, passed, len(trials))}**{looked} · evaluated on the trials recorded "
        f"{age(recorded, now)}"
    )


def _observed(trials: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    seen = [f"{'' if one['passed'] else '✗ '}{code(one['observed'])}" for one in trials if one["observed"]]
    if len(seen) > 1 and len(set(seen)) == 1:
        yield f"Observed: {seen[0]} in each"
    elif len(seen) > 1:
        more = f", … {len(seen) - MOST_OBSERVED} more" if len(seen) > MOST_OBSERVED else ""
        yield f"Observed: {', '.join(seen[:MOST_OBSERVED])}{more}"


def _story(most: Mapping[str, Any]) -> Iterator[str]:
    glyph = "✓" if most["passed"] else "✗"
    told = [code(one) for one in most["told"]]
    yield f"{glyph} {code(most['task'])} trial {most['trial']}: {'; '.join(told)}"
    if most["values"]:
        rows = [f"| {cell(text)} | {cell(value) or '–'} |" for text, value in most["values"]]
        yield "\n".join(["| | value |", "|---|---|", *rows])
    if most["excerpt"]:
        yield fenced("\n".join(_underlined(most["excerpt"])))
    if most["lines"]:
        yield fenced("\n".join(most["lines"]), "diff")


def _underlined(excerpt: Mapping[str, Any]) -> Iterator[str]:
    """Yield the lines of an excerpt, with carets below the matches."""
    before, found, after = (_plain(excerpt[key]) for key in ("before", "found", "after"))
    start, end, position = len(before), len(before) + len(found), 0
    for line in f"{before}{found}{after}".split("\n"):
        yield line
        first, last = max(start - position, 0), min(end - position, len(line))
        if first < last:
            yield " " * first + "^" * (last - first)
        position += len(line) + 1


def _plain(text: str) -> str:
    """Return text whose characters are all as wide: what would move the carets is a blank."""
    return text.replace("\r\n", "\n").replace("\t", " ").replace("\r", " ")
