"""The formats of result files: this engine's and upstream's documents, journals, and the Python era's files.

Everything may be missing or null; for a file that is not a result None is returned, never an error.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any, cast

from waza_engine.checkpoint import checkpoint
from waza_engine.files import FileError, decoded, read_beginning, read_bytes
from waza_engine.results.json_values import Block, Json, block_of, blocks_of, object_in, text_of
from waza_engine.results.result_file_names import JOURNAL_SUFFIX, LONGEST_BYTES, record_boundary
from waza_engine.spec.harness_files import describe_harness_file

# Names and values of the Python era, and the current ones.
_CONFIG_NAMES = {
    "trials_per_task": "runs_per_test",
    "model": "model_id",
    "executor": "engine_type",
    "timeout_seconds": "timeout_sec",
}
_SUMMARY_NAMES = {
    "total_tasks": "total_tests",
    "passed": "succeeded",
    "pass_rate": "success_rate",
    "composite_score": "aggregate_score",
}
_STATS_NAMES = {
    "pass_rate": "pass_rate",
    "mean_score": "avg_score",
    "min_score": "min_score",
    "max_score": "max_score",
    "mean_duration_ms": "avg_duration_ms",
}
_USAGE_NAMES = {"total_turns": "turns", "tokens_input": "input_tokens", "tokens_output": "output_tokens"}
_STATUSES = {"partial": "failed", "timeout": "error"}
_MAJOR_VERSION = "1"


def read_document(path: Path) -> Block | None:
    """Return the document of a result file.

    That of a journal, and that of captures or trials, is assembled from their lines.
    """
    try:
        content = read_bytes(path, LONGEST_BYTES, within=record_boundary(path))
    except OSError:
        return None
    if path.name.endswith(JOURNAL_SUFFIX):
        return document_in(content, object_in, journal=True, further=partial(_run_store_entries, path))
    found = document_in(content, object_in, journal=False)
    if found is None or "tasks" not in found:
        # Few results are those of another tool.
        from waza_engine.results.reading.captures import rows_document

        found = rows_document(content) or found
    return found


def _run_store_entries(journal: Path, begun: Block) -> Iterable[Block]:
    """Return what the workers of a run on a cluster have left; ``begun`` is the first line of its journal."""
    # Few runs have any.
    from waza_engine.results.reading.run_store_entries import entries_in, run_store_of_journal

    run_store, within = run_store_of_journal(journal, begun), record_boundary(journal)
    return () if run_store is None or within is None else entries_in(run_store, within)


def unknown_version(document: Block) -> str:
    """Return the format version of a document if it is unknown, "" otherwise."""
    version = text_of(document.get("schemaVersion"))
    return version if version and version.partition(".")[0] != _MAJOR_VERSION else ""


def why_unreadable(path: Path) -> str:
    """Return why ``read_document`` finds no document: one sentence."""
    try:
        content = read_bytes(path, LONGEST_BYTES, within=record_boundary(path))
        text = content.decode("utf-8").rstrip()
    except FileError as error:
        most = (
            f"; results of up to {LONGEST_BYTES // 2**20} MiB can be read"
            if error.kind == "too large"
            else ""
        )
        return f"The result file {path} cannot be read: {error.why}{most}."
    except UnicodeDecodeError:
        return f"{path} is not a result file: it is not UTF-8 text."
    if not text:
        return f"{path} is not a result file: it is empty."
    if words := describe_harness_file(text):
        from waza_engine.results.reading.captures import first_broken_line

        line = first_broken_line(text)
        return f"{path}:{line}: the line must be a JSON object." if line else f"{path} {words}."
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        # A truncated file is valid JSON up to where it ends.
        cut = error.pos >= len(text.rstrip(",")) or error.msg.startswith("Unterminated string")
        if text.startswith("{") and cut:
            return f"{path} is cut off: it ends in line {text.count(chr(10)) + 1}, in the middle of a value."
        return f"{path} is not a result file: line {error.lineno} is no JSON."
    except (ValueError, RecursionError):
        return f"{path} is not a result file: its values are nested too deeply."
    return f"{path} is not a result file: it has no list `tasks`."


def document_in(
    content: bytes,
    decode: Callable[[bytes], Block | None],
    *,
    journal: bool,
    further: Callable[[Block], Iterable[Block]] = lambda begun: (),
) -> Block | None:
    """Return the document that the bytes of a result file hold.

    The last line of a journal may be torn: the process was killed while it wrote. ``further`` returns more
    entries for its first line; those of the journal itself are newer.
    """
    if not journal:
        return decode(content)
    entries: list[Block] = []
    for line in content.split(b"\n"):
        entry = decode(line) if line else None
        if entry is not None:
            entries.append(entry)
        checkpoint()
    if not entries or "eval_id" not in entries[0]:
        return None
    entries[1:1] = further(entries[0])
    tasks = [entry["task"] for entry in entries[1:] if "task" in entry]
    baseline = [entry["baseline_task"] for entry in entries[1:] if "baseline_task" in entry]
    times = [entry["elapsed_ms"] for entry in entries[1:] if "elapsed_ms" in entry]
    elapsed = {"elapsed_ms": times[-1]} if times else {}
    without = {"is_baseline": True, "baseline_outcome": {"tasks": baseline}} if baseline else {}
    under_way = {
        key: [entry[key] for entry in entries[1:] if key in entry] for key in ("trial", "baseline_trial")
    }
    # Workers have stored them as well.
    triggers = {
        (text_of(entry["trigger"].get("prompt")), entry["trigger"].get("should_trigger")): entry["trigger"]
        for entry in entries[1:]
        if "trigger" in entry
    }
    tried = {"trigger_results": [*triggers.values()]} if triggers else {}
    answers = list(_pending_answers(entries[1:]))
    arrived = {"answers": answers} if answers else {}
    asked = [entry["asked"] for entry in entries[1:] if "asked" in entry]
    broke = next((entry["broke"] for entry in entries[1:] if entry.get("broke")), None)
    ended = {} if broke is None else {"broke": broke}
    begun = {**elapsed, **under_way, **tried, **arrived, **({"asked": asked} if asked else {})}
    return {**entries[0], "tasks": tasks, **without, **begun, **ended}


def _pending_answers(entries: Sequence[Block]) -> Iterator[Block]:
    """Yield the answers of a journal that no later line contains; those to trigger prompts never are."""
    held: set[tuple[bool, str, int | None]] = set()
    left: list[Block] = []
    for entry in reversed(entries):
        for key in ("trial", "baseline_trial", "task", "baseline_task"):
            line = block_of(entry, key)
            if line:
                number = block_of(line, "run").get("run_number")
                held.add((key.startswith("baseline"), text_of(line.get("test_id")), number))
        answer = block_of(entry, "answer")
        task = answer.get("baseline") is True, text_of(answer.get("test_id"))
        if answer and not {(*task, answer.get("run_number")), (*task, None)} & held:
            left.append(answer)
    yield from reversed(left)


def todays_layout(document: Block) -> Block:
    """Return a document of the Python era in the current layout, any other as it is."""
    if not is_of_the_python_era(document):
        return document
    return {
        **todays_header(document),
        "tasks": [todays_task(task) for task in blocks_of(document.get("tasks"))],
    }


def is_of_the_python_era(document: Block) -> bool:
    """Return whether a document has the old layout of the Python era."""
    return "total_tasks" in block_of(document, "summary")


def todays_header(document: Block) -> Block:
    """Return a document of the Python era in the current layout, but for its tasks."""
    config, summary = block_of(document, "config"), block_of(document, "summary")
    return {
        **document,
        "config": {**config, **_renamed(config, _CONFIG_NAMES)},
        "summary": {**summary, **_renamed(summary, _SUMMARY_NAMES)},
        "metrics": {
            name: {**cast("Block", metric), "identifier": name, "value": cast("Block", metric).get("score")}
            for name, metric in block_of(document, "metrics").items()
            if isinstance(metric, Mapping)
        },
    }


def todays_task(task: Block) -> Block:
    """Return a task of a document of the Python era in the current layout."""
    aggregate = block_of(task, "aggregate")
    return {
        "test_id": task.get("id"),
        "display_name": task.get("name"),
        "status": _STATUSES.get(text_of(task.get("status")), task.get("status")),
        "stats": {**_renamed(aggregate, _STATS_NAMES), "flaky": task.get("status") == "partial"},
        "runs": [_todays_trial(trial) for trial in blocks_of(task.get("trials"))],
    }


def _todays_trial(trial: Block) -> Block:
    summary = block_of(trial, "transcript_summary")
    usage = _renamed(summary, _USAGE_NAMES)
    return {
        "run_number": trial.get("trial_id"),
        "status": _STATUSES.get(text_of(trial.get("status")), trial.get("status")),
        "duration_ms": trial.get("duration_ms"),
        "validations": {
            name: {
                **cast("Block", result),
                "identifier": name,
                "feedback": cast("Block", result).get("message"),
            }
            for name, result in block_of(trial, "grader_results").items()
            if isinstance(result, Mapping)
        },
        "transcript": trial.get("transcript"),
        "final_output": trial.get("output"),
        "error_msg": trial.get("error"),
        "tools_used": summary.get("tools_used"),
        **({"usage": usage} if any(usage.values()) else {}),
    }


def _renamed(block: Block, names: Mapping[str, str]) -> dict[str, Any]:
    """Return the values that are there under their names of today."""
    return {name: block[old] for old, name in names.items() if old in block}


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


def sorting_moment(started: datetime, path: Path) -> datetime:
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
    from waza_engine.results.codec.run_documents import header_of

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
            key, end = decoder.raw_decode(text, opening.end())
            colon = _COLON.match(text, end)
            if key == "tasks" or not colon:
                break
            value, end = decoder.raw_decode(text, colon.end())
            # A number at the end of the string may be incomplete.
            opening = _COMMA.match(text, end)
            if opening or _CLOSING.match(text, end):
                found[key] = value
    except (ValueError, RecursionError):
        pass
    return found
