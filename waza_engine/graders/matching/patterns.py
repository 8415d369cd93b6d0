"""Regular expressions of graders: upstream's dialect first, and no pattern can hang or bloat a run.

RE2 runs in linear time and is the dialect of upstream. Patterns that it rejects but Python accepts
(look-around, back-references), and those that need more memory than RE2 gets here, are compiled and searched
in a worker process with a memory limit and a deadline. A pattern that neither accepts is invalid.
"""

from __future__ import annotations

import functools
import importlib.util
import itertools
import sys
from collections.abc import Sequence
from contextvars import ContextVar
from pathlib import Path

from waza_engine.counting import cut, in_seconds
from waza_engine.processes.workers import WorkerLostError, WorkerPool, WorkerProgram, WorkersClosedError
from waza_engine.spec.pattern_syntax import Dialect, PatternSyntaxError, dialect_of
from waza_engine.spec.re2_adapter import SEARCH_SECONDS, Match, Searcher, searcher

TIMEOUT_SECONDS = 2.0
LARGE_TIMEOUT_SECONDS = 10.0
"""RE2 searches in linear time, but compiles large patterns slowly."""
MEMORY_BYTES = 500_000_000
WORKERS = 2
KEPT_PATTERNS = 128
"""The number of cached compiled patterns; each may take some megabytes on hostile input."""
_LARGE_RE2_BYTES = 64_000_000
_KEPT_CHARACTERS = 1_000
_SHOWN = 200
_TOO_BIG = f"needs more than {MEMORY_BYTES // 1_000_000} MB of memory"
_REFUSALS = {"python": "Python cannot compile it", "large re2": "it is too large for RE2"}


class PatternError(ValueError):
    """The pattern is invalid, too large or took too long; the message says which, in one sentence."""


def is_match(pattern: str, text: str, *, ignore_case: bool = False) -> bool:
    """Return whether the pattern occurs anywhere in the string. Raises ``PatternError``."""
    return _match(pattern, text, ignore_case=ignore_case) is not None


def find_first(pattern: str, text: str, *, ignore_case: bool = False) -> tuple[int, int] | None:
    """Return where the pattern occurs first, in characters; None when nowhere. Raises ``PatternError``."""
    match = _match(pattern, text, ignore_case=ignore_case)
    return match if match is None or isinstance(match, tuple) else match.span()


def find_all(pattern: str, text: str, most: int) -> list[tuple[int, int]]:
    """Return where the pattern occurs, in characters, up to a limit; nothing if RE2 rejects it.

    No process is started for it. Raises ``PatternError``.
    """
    compiled = _compiled(pattern, ignore_case=False) if check_syntax(pattern) == "re2" else None
    if compiled is None:
        return []
    return [match.span() for match in itertools.islice(compiled.finditer(_encodable(text)), most)]


def _match(pattern: str, text: str, *, ignore_case: bool) -> tuple[int, int] | Match | None:
    """Return the first match. To ask one of RE2 for its place costs as much as the search."""
    dialect = check_syntax(pattern)
    if dialect == "python":
        return _found_by_worker(dialect, pattern, text, ignore_case=ignore_case)
    compiled = _compiled(pattern, ignore_case=ignore_case) if dialect == "re2" else None
    if compiled is None:
        return _found_by_worker("large re2", pattern, _encodable(text), ignore_case=ignore_case)
    try:
        return compiled.search(text)
    except UnicodeEncodeError:
        return compiled.search(_encodable(text))
    except TimeoutError:
        raise PatternError(
            f"pattern `{cut(pattern, _SHOWN)}` took longer than {in_seconds(SEARCH_SECONDS)}"
        ) from None


def check_syntax(pattern: str) -> Dialect:
    """Return the pattern's dialect. Raises ``PatternError`` when it is invalid in all, or too large."""
    dialect, complaint = _kept_outcome(pattern) if len(pattern) <= _KEPT_CHARACTERS else _outcome(pattern)
    if dialect is None:
        raise PatternError(f"invalid pattern `{cut(pattern, _SHOWN)}`: {complaint}")
    return dialect


def pattern_workers() -> WorkerPool:
    """Return workers for the patterns of a run, to be made its ``current_workers``, and to be closed."""
    return WorkerPool(deadline_seconds=LARGE_TIMEOUT_SECONDS, workers=WORKERS, memory_bytes=MEMORY_BYTES)


current_workers: ContextVar[WorkerPool | None] = ContextVar("current_workers", default=None)
# They end with the process.
_outside_runs = pattern_workers()


def _outcome(pattern: str) -> tuple[Dialect | None, str]:
    """Return the dialect, or the error. An exception would keep references to its frames."""
    try:
        return dialect_of(pattern), ""
    except PatternSyntaxError as error:
        at = "" if error.position is None else f" (character {error.position + 1})"
        return None, f"{error}{at}"


def _compiled(pattern: str, *, ignore_case: bool) -> Searcher | None:
    """Return the pattern compiled by RE2; None when it gets too large, as it may when case is ignored."""
    kept = _kept_searcher if len(pattern) <= _KEPT_CHARACTERS else searcher
    return kept(pattern, ignore_case=ignore_case)


_kept_outcome = functools.lru_cache(maxsize=4096)(_outcome)
_kept_searcher = functools.lru_cache(maxsize=KEPT_PATTERNS)(searcher)


def _encodable(text: str) -> str:
    """Return a string for RE2, which needs UTF-8; half an emoji in an agent's output has no UTF-8 form."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _found_by_worker(
    dialect: Dialect, pattern: str, text: str, *, ignore_case: bool
) -> tuple[int, int] | None:
    workers = current_workers.get() or _outside_runs
    seconds = TIMEOUT_SECONDS if dialect == "python" else LARGE_TIMEOUT_SECONDS
    request = {"pattern": pattern, "ignore_case": ignore_case, "dialect": dialect, "text": text}
    shown = f"pattern `{cut(pattern, _SHOWN)}`"
    try:
        with workers.turn(), workers.borrowed(_program()) as worker:
            (answer,) = worker.ask(request, 1, deadline_seconds=seconds)
            if answer.get("error") == "memory":
                raise WorkerLostError("memory")
    except WorkerLostError as lost:
        why = f"took longer than {in_seconds(seconds)}" if lost.why == "slow" else _TOO_BIG
        raise PatternError(f"{shown} {why}") from None
    except WorkersClosedError:
        raise PatternError(f"{shown} was not searched: the run has ended") from None
    except OSError as error:
        raise PatternError(f"{shown} was not searched: no worker can be started: {error.strerror}") from None
    if "error" in answer:
        raise PatternError(f"invalid {shown}: {_REFUSALS[dialect]}")
    found = answer["found"]
    return None if found is None else (found[0], found[1])


@functools.cache
def _program() -> WorkerProgram:
    def command(memory_bytes: int) -> Sequence[str]:
        del memory_bytes  # the worker limits itself
        return (sys.executable, "-I", "-S", str(Path(__file__).with_name("pattern_worker.py")))

    return WorkerProgram(
        name="patterns",
        command=command,
        settings={
            "re2_memory_bytes": _LARGE_RE2_BYTES,
            "folders": sorted({*_folders_of("re2"), *_folders_of("regex")}),
        },
    )


def _folders_of(library: str) -> list[str]:
    found = importlib.util.find_spec(library)
    return [] if found is None or found.origin is None else [str(Path(found.origin).parents[1])]
