"""Go on with an output: its finished rows stay, and answers that were paid for are not asked again.

A row is written when it is graded, and a row of trials when all of them are. Until then its answers are in a
journal next to the output, ``FILE.partial.jsonl``. Each row says in its metadata what decided it.
"""

from __future__ import annotations

import contextlib
import json
import os
import threading
from collections import defaultdict
from collections.abc import Generator, Iterable, Iterator, Set
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, cast

from waza_engine.files import FileError, opened_to_read, remove_file
from waza_engine.harness.row_values import has_failed, number_in
from waza_engine.harness.rows import HarnessError, line_of
from waza_engine.results.json_values import Block, Json, block_of, blocks_of, text_of, texts_of, whole
from waza_engine.results.result_file_names import JOURNAL_SUFFIX
from waza_engine.results.writing.store import (
    ResultsError,
    is_persistent,
    opened_output,
    write_atomically,
)
from waza_engine.scoring.cost import Cost, Spending, total_cost
from waza_engine.spec.harness_files import AGENT_ERRORS, BROKEN_GRADER, DIGEST
from waza_engine.terminal import write_whole

Answers = defaultdict[tuple[str, int], list[Json]]
"""Answers by their digest and the number of the trial, 0 for a capture."""
Wanted = defaultdict[str, dict[str, str]]
"""The digests of the prompts by their ids: that of the answer, and that of the verdict on it."""
_OF_VERDICT = frozenset({"score", "outcome", "pass", "reasoning"})
_OF_ANSWER = ("trajectoryRichness", "turnCount", "workspaceDir", "exitCode", "signal", "timedOut")


class Journal:
    """The answers that no row of an output holds yet; thread-safe. Without a file it does nothing."""

    def __init__(self, output: Path | None) -> None:
        is_file = output is not None and is_persistent(output)
        self.path = output.with_name(f"{output.name}{JOURNAL_SUFFIX}") if output and is_file else None
        self._lock = threading.Lock()
        self._file: IO[bytes] | None = None

    def open(self) -> None:
        """Begin to write after what is there. Raises ``HarnessError``."""
        if self.path is not None:
            with _clear_errors(self.path):
                self._file = opened_output(self.path, append=True)
                # The last line of a killed process may be torn.
                write_whole(self._file, b"\n")

    def add_request(self, digest: str, trial: int) -> None:
        """Note that the agent is asked now, and costs from here on. Raises ``HarnessError``."""
        self._write({"digest": digest, "trial": trial, "requested": True})

    def add(self, digest: str, trial: int, answer: Json, spent: Spending | None = None) -> None:
        """Store an answer, so that it outlives the process and the system. Raises ``HarnessError``.

        One that an earlier process paid for has not ``spent`` anything.
        """
        bill: Json = {}
        if spent is not None:
            cost = spent.cost
            bill = {"spent": {"tokens": spent.tokens, "usd": cost.usd, "unpriced": [*cost.unpriced]}}
        self._write({"digest": digest, "trial": trial, "answer": answer, **bill})

    def _write(self, entry: Json) -> None:
        if self._file is not None and self.path is not None:
            line = line_of(entry)
            with self._lock, _clear_errors(self.path):
                write_whole(self._file, line)
                os.fsync(self._file.fileno())

    def close(self, *, is_complete: bool) -> None:
        """Close the file, and remove it when the output holds everything."""
        if self._file is not None:
            self._file.close()
        if is_complete and self.path is not None:
            with contextlib.suppress(OSError):
                remove_file(self.path)


@dataclass(slots=True)
class Earlier:
    """The work of earlier processes on an output that is not complete.

    ``cut_off`` is the number of answers that were requested and not stored: they may have been paid for.
    """

    answers: Answers
    spent: Spending = field(default_factory=Spending)
    cut_off: int = 0


def resume(output: Path, journal: Journal, wanted: Wanted, trials: int, *, graded: bool) -> Earlier:
    """Take everything but finished rows out of an output, and return the answers that need not be asked.

    Rows whose ids are not ``wanted`` stay. A row must have so many ``trials`` (0 for captures), each of them
    ``graded``. The finished rows are in the result, too, with the trial -1 and their verdicts. Raises
    ``HarnessError``.
    """
    answers: Answers = defaultdict(list)
    finished: set[int] = set()
    for number, row in enumerate(_objects_in(output)):
        of_answer, _, of_verdict = text_of(block_of(row, "metadata").get(DIGEST)).partition(":")
        if not of_answer:
            raise HarnessError(f"{output} has rows without `metadata.{DIGEST}`, so --resume cannot use it.")
        entries, digests = _entries(row), wanted.get(text_of(row.get("id")))
        errors = block_of(block_of(row, "metadata"), AGENT_ERRORS)
        if digests is not None and of_answer not in digests:
            continue
        complete = len(entries) == (trials or 1) and not any(map(_is_broken, entries))
        complete = complete and all("score" in each for each in entries if graded)
        if digests is None or (complete and digests[of_answer] == of_verdict):
            finished.add(number)
            answers[of_answer, -1].append({"verdicts": list(_verdicts(entries))})
            continue
        for entry in entries:
            if not _is_broken(entry):
                answer = _ungraded(entry, grader_broke=of_verdict.endswith(BROKEN_GRADER))
                trial = whole(entry.get("trialNum"))
                if error := text_of(errors.get(str(trial))):
                    answer["errors"] = [error]
                answers[of_answer, trial].append(answer)
    held = {key for key, found in answers.items() if found}
    journal.open()
    for (digest, trial), found in list(answers.items()):
        for answer in found if trial >= 0 else []:
            journal.add(digest, trial, answer)
    earlier = Earlier(answers)
    if journal.path is not None:
        _add_stored(earlier, journal.path, held, {digest for found in wanted.values() for digest in found})
    lines = (line_of(row) for number, row in enumerate(_objects_in(output)) if number in finished)
    with _clear_errors(output):
        write_atomically(output, lines)
    return earlier


def _add_stored(earlier: Earlier, path: Path, held: Set[tuple[str, int]], digests: Set[str]) -> None:
    """Add what a journal holds: answers that are not ``held`` by rows, their cost, requests for prompts."""
    answers = earlier.answers
    requested: set[tuple[str, int]] = set()
    for entry in _objects_in(path):
        key = text_of(entry.get("digest")), whole(entry.get("trial"))
        if "requested" in entry:
            requested.add(key)
            continue
        if "spent" in entry:
            requested.discard(key)
            earlier.spent = _sum(earlier.spent, block_of(entry, "spent"))
        answer = dict(block_of(entry, "answer"))
        if key not in held and (key[0], -1) not in held and not _is_broken(answer):
            answers[key].append(answer)
    earlier.cut_off = sum(digest in digests for digest, _ in requested)


def _sum(spent: Spending, more: Block) -> Spending:
    cost = Cost(number_in(more, "usd"), tuple(texts_of(more.get("unpriced"))))
    return Spending(spent.tokens + whole(more.get("tokens")), total_cost((spent.cost, cost)))


def _entries(row: Json) -> list[Json]:
    trials = blocks_of(row.get("trials"))
    return [dict(each) for each in trials] if trials else [row]


def _verdicts(entries: Iterable[Json]) -> Iterator[bool]:
    """Yield the verdicts of a capture or of trials."""
    for entry in entries:
        passed = block_of(entry, "score").get("pass", entry.get("pass"))
        if isinstance(passed, bool):
            yield passed and not has_failed(entry)


def _is_broken(entry: Json) -> bool:
    """Return whether the agent gave nothing at all, so that the prompt is worth another try."""
    failed = entry.get("errors") or text_of(entry.get("reasoning")).startswith("Error: ")
    return bool(failed) and not entry.get("output") and not entry.get("trajectory")


def _ungraded(entry: Json, *, grader_broke: bool) -> Json:
    """Return an answer as the agent gave it: without verdict, metadata of its prompt and grader errors."""
    plain = {key: value for key, value in entry.items() if key not in _OF_VERDICT}
    if "metadata" in entry:
        found = block_of(entry, "metadata")
        plain["metadata"] = {key: found[key] for key in _OF_ANSWER if key in found}
    if grader_broke and "errors" in plain:
        plain["errors"] = plain["errors"][:-1]
    return plain


def _objects_in(path: Path) -> Iterator[Json]:
    """Yield the objects of a file whose lines may be torn; nothing when it does not exist."""
    try:
        file = opened_to_read(path)
    except FileError as error:
        if error.kind == "missing":
            return
        raise HarnessError(f"{path} cannot be read: {error.why}.") from None
    with file:
        for line in file:
            with contextlib.suppress(ValueError, RecursionError):
                found: object = json.loads(line)
                if isinstance(found, dict):
                    yield cast("Json", found)


@contextlib.contextmanager
def _clear_errors(path: Path) -> Generator[None]:
    try:
        yield
    except ResultsError as error:
        raise HarnessError(str(error)) from None
    except OSError as error:
        raise HarnessError(f"{path} cannot be written: {error.strerror or error}.") from None
