"""The head of a result file: its suite and start, read without the tasks.

Light, no models.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from waza_engine.files import decoded, read_beginning
from waza_engine.results.json_values import Json, block_of
from waza_engine.results.places import record_boundary

CLOCKS_APART = timedelta(minutes=10)
"""How far the clock of another machine may be ahead."""
_BEGINNING_BYTES = 65_536
_OPENING = re.compile(r"\s*\{\s*")
_COLON = re.compile(r"\s*:\s*")
_COMMA = re.compile(r"\s*,\s*")
_CLOSING = re.compile(r"\s*\}")


@dataclass(frozen=True, slots=True)
class RunHead:
    """A run before its first task; ``is_whole`` says that it covered every task and grader of its suite.

    ``prompts_alone``: it covered trigger prompts, and no task. ``suite`` is the name of the suite then.
    """

    started: datetime
    eval_file: str
    is_whole: bool
    prompts_alone: bool = False
    suite: str = ""


def place_in_time(started: datetime, path: Path) -> datetime:
    """Return the moment by which a run is ordered: its start, unless that is in the future.

    A start in the future means a wrong clock or time zone, so the time of its file counts; if that is in the
    future too, every other run is newer.
    """
    now = datetime.now(UTC) + CLOCKS_APART
    if started <= now:
        return started
    try:
        modified = datetime.fromtimestamp(path.stat().st_mtime, UTC)
    except (OSError, OverflowError, ValueError):
        modified = started
    return modified if modified <= now else datetime.min.replace(tzinfo=UTC)


def head_of(path: Path) -> RunHead | None:
    """Return the head of a result file or journal.

    None when the file cannot be read, is neither of them, or has the run's start only after its tasks.
    """
    try:
        text = decoded(
            read_beginning(path, _BEGINNING_BYTES, within=record_boundary(path)).removeprefix(b"\xef\xbb\xbf")
        )
    except OSError:
        return None
    # With the first file that there is: most suites were never run.
    from waza_engine.results.codec.header import header_of

    known = _before_the_tasks(text)
    summary = block_of(known, "summary")
    names_a_run = known.get("eval_name") or summary.get("total_tests") or summary.get("total_tasks")
    if not names_a_run or "timestamp" not in known:
        return None
    header = header_of(known)
    settings = header.settings
    parts = ("tags", "prompts", "changed_since", "shard")
    chosen = header.tasks or header.graders or any(settings.get(name) for name in parts)
    tasks = header.tasks or header.graders or settings.get("tags")
    return RunHead(
        started=header.started,
        eval_file=header.eval_file,
        is_whole=bool(header.eval_file) and not chosen and not settings.get("skip_graders"),
        prompts_alone=bool(settings.get("prompts")) and not tasks,
        suite=header.eval_name,
    )


def _before_the_tasks(text: str) -> Json:
    """Return the complete keys of the outermost object in a string, up to its tasks."""
    decoder = json.JSONDecoder()
    found: dict[str, Any] = {}
    try:
        opening = _OPENING.match(text)
        while opening:
            key, place = decoder.raw_decode(text, opening.end())
            colon = _COLON.match(text, place)
            if key == "tasks" or not colon:
                break
            value, place = decoder.raw_decode(text, colon.end())
            # A number at the end of the string may be incomplete.
            opening = _COMMA.match(text, place)
            if opening or _CLOSING.match(text, place):
                found[key] = value
    except (ValueError, RecursionError):
        pass
    return found
