"""The journal of a run that did not end, as a document: every planned task, those without an outcome too."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from waza_engine.results.codec.recounting import counted_document
from waza_engine.results.json_values import Block, Json, block_of, blocks_of, text_of


def unended_document(journal: Block, message: str) -> Json:
    """Return the document of a run that did not end, with its figures; its status is ``canceled``.

    ``journal`` is what its lines say, ``message`` why the run has no end. A planned task without an outcome
    is ``skipped``: nothing is known of it, so it has neither passed nor failed.
    """
    planned = blocks_of(journal.get("planned"))
    metadata = block_of(journal, "metadata")
    engine = {**block_of(metadata, "engine"), "status": "canceled", "message": message}
    known = {key: value for key, value in journal.items() if key not in ("process", "planned")}
    head: Json = {**known, "metrics": {}, "metadata": {**metadata, "engine": engine}}
    baseline = block_of(journal, "baseline_outcome")
    if baseline:
        without = _listed(planned, blocks_of(baseline.get("tasks")), message)
        header = {key: value for key, value in head.items() if key not in ("is_baseline", "baseline_outcome")}
        head["baseline_outcome"] = counted_document(header, without)
    return counted_document(head, _listed(planned, blocks_of(journal.get("tasks")), message))


def goes_on(journal: Block) -> bool:
    """Tell whether the process that writes a journal is there."""
    import psutil  # most runs have ended, and nobody asks

    process: Any = journal.get("process")
    if not isinstance(process, Mapping):
        return False
    owner = cast("Mapping[str, Any]", process)
    try:
        writer = psutil.Process(int(owner["pid"]))
        # One that was killed keeps its number until the process that started it looks, which may be never.
        is_it = abs(writer.create_time() - float(owner["started"])) < 2
        return is_it and writer.status() != psutil.STATUS_ZOMBIE
    except (psutil.Error, KeyError, ValueError, TypeError, OverflowError):
        return False


def _listed(planned: Sequence[Block], done: Sequence[Block], message: str) -> list[Block]:
    """Return the planned tasks in their order, as far as they came; one that nobody planned comes last."""
    outcomes = {text_of(task.get("test_id")): task for task in done}
    expected = [text_of(task.get("test_id")) for task in planned]
    found = [
        outcomes.get(name) or {**task, "status": "skipped", "runs": [], "error_msg": f"not run: {message}"}
        for name, task in zip(expected, planned, strict=True)
    ]
    unplanned = outcomes.keys() - set(expected)
    return [*found, *(task for task in done if text_of(task.get("test_id")) in unplanned)]
