"""The part of its suite that a run covered: chosen tasks, graders or prompts, affected tasks, a shard."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from waza_engine.counting import counted
from waza_engine.results.json_values import block_of, texts_of
from waza_engine.results.record import RunHeader, RunOutcome
from waza_engine.vocabulary import shown_grader

_MOST_NAMES = 3


def part_of(header: RunHeader) -> str:
    """Return the part in few words, "" for the whole suite: ``the grader `says` of the task `one` alone``."""
    parts = [
        _named(map(shown_grader, header.graders), "grader"),
        _named(header.tasks, "task"),
        _named(texts_of(header.settings.get("tags")), "tag"),
    ]
    affected = block_of(header.settings, "affected")
    if affected and not header.tasks and affected.get("tasks") != affected.get("of"):
        parts.append(f"what changed since `{header.settings.get('changed_since')}`")
    if shard := block_of(header.settings, "shard"):
        parts.append(f"shard {shard.get('number')} of {shard.get('of')}")
    parts.append("chosen trigger prompts" if header.settings.get("prompts") else "")
    told = " of ".join(filter(None, parts))
    return f"{told} alone" if told else ""


def chosen_parts(run: RunOutcome) -> Iterator[str]:
    """Yield a sentence about each choice that left out a part of the suite."""
    header, settings = run.header, run.header.settings
    for whose, patterns in (
        ("that match", header.tasks),
        ("with the tag", texts_of(settings.get("tags"))),
    ):
        if patterns:
            yield f"only tasks {whose} {', '.join(f'`{pattern}`' for pattern in patterns)} were selected"
    if names := header.graders:
        asked = ", ".join(f"`{shown_grader(name)}`" for name in names)
        graders, verb = ("grader", "was") if len(names) == 1 else ("graders", "were")
        yield f"only the {graders} {asked} {verb} run: no verdict of the suite"
    if shard := block_of(settings, "shard"):
        counts = f"{len(run.tasks)} of {counted(len(texts_of(shard.get('tasks'))), 'task')}"
        yield f"only shard {shard.get('number')} of {shard.get('of')} was run: {counts}"
    if settings.get("prompts"):
        yield "only some trigger prompts were selected: no verdict of all of them"
    commit, affected = settings.get("changed_since"), block_of(settings, "affected")
    if commit and affected:
        counts = f"{affected.get('tasks')} of {counted(int(affected.get('of') or 0), 'task')}"
        yield f"only what changed since {commit} was run: it affects {counts}"


def _named(names: Iterable[str], what: str) -> str:
    """Return some names of one kind, beyond three their number; "" without any."""
    known = list(names)
    if len(known) > _MOST_NAMES:
        return counted(len(known), what)
    listed = ", ".join(f"`{name}`" for name in known)
    return f"the {what if len(known) == 1 else f'{what}s'} {listed}" if known else ""
