"""Live verdicts beside those of ``waza-engine grade`` on the same texts, over random edits.

``python -m tests.live.equality --edits 5000 --seed 1`` prints how many verdicts were compared; ``--corpus``
does it with the public suites and what the mock answered to them. It ends with an error at the first that
differs, which names the seed, the edit and both verdicts.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.corpus.recorded import RecordedSuite, recorded_suites
from tests.live.bed import recorded_bed
from tests.live.edits import Edits
from tests.live.suite_edits import SuiteEdits
from waza_engine.commands.live import verdicts_document
from waza_engine.commands.regraded import answer, graded
from waza_engine.graders.registry import BUILT_IN_TYPES
from waza_engine.lab.live.live_session import LiveSession
from waza_engine.lab.live.work import LiveRequest, LiveVerdicts
from waza_engine.runs.limits.cancellation import RunCancellation
from waza_engine.runs.loading.suite_on_disk import SuiteError
from waza_engine.runs.regrading.regrade import RegradeRequest, prepare_regrading
from waza_engine.runs.regrading.resident import ResidentSuites
from waza_engine.spec.problems import SuiteFileError

Json = dict[str, Any]
EDITS_OF_ONE_SUITE = 100
NEVER_JUDGED = ("prompt", "llm", "llm_comparison", "human", "human_calibration")
"""What these said in the run stays; what they were not asked there they do not answer."""
NOTHING = {"origin": "none"}


@dataclass(frozen=True, slots=True)
class Compared:
    """How many edits could be read, how many could not, and how many verdicts were compared."""

    readable: int = 0
    unreadable: int = 0
    verdicts: int = 0

    def __add__(self, other: Compared) -> Compared:
        return Compared(
            self.readable + other.readable,
            self.unreadable + other.unreadable,
            self.verdicts + other.verdicts,
        )


def compare(folder: Path, seed: int, edits: int) -> Compared:
    """Edit a suite of random graders. Raises ``AssertionError`` for a verdict that differs."""
    path, record = recorded_bed(folder, Edits(seed, "").initial())
    texts = Edits(seed, path.read_text("utf-8"))
    changes = ({path.parent / name: text} for name, text in (texts.next() for _ in range(edits)))
    return _compared(path, record, changes, f"seed {seed}")


def compare_recorded(suite: RecordedSuite, seed: int, edits: int) -> Compared:
    """Edit a suite that people wrote, as ``compare`` does."""
    with suite.regrading() as regrading:
        places = {suite.path, *(task.path for task in regrading.suite.tasks)}
    files = {place: place.read_text("utf-8") for place in places if place.suffix in (".yaml", ".yml")}
    texts = SuiteEdits(seed, files)
    with contextlib.chdir(suite.root):
        changes = itertools.chain([texts.first()], (texts.next() for _ in range(edits)))
        return _compared(suite.path, suite.record, changes, f"{suite.path}, seed {seed}")


def _compared(path: Path, record: Path, changes: Iterable[Mapping[Path, str | None]], named: str) -> Compared:
    """Compare what is told after each change with what grading says, whatever was told before."""
    session = LiveSession(LiveRequest(record, path))
    shown: dict[tuple[str, str], Json] = {}

    def tell(verdicts: LiveVerdicts) -> None:
        for task, found in verdicts_document(verdicts)["tasks"].items():
            # What the command does not say.
            found.pop("trials", None)
            found.pop("read", None)
            shown[task, verdicts.grader] = found

    found, overlays = Compared(), dict[Path, str]()
    try:
        with ResidentSuites() as suites:
            session.update({}, tell)
            for number, change in enumerate(changes):
                for place, text in change.items():
                    overlays.pop(place, None)
                    if text is not None:
                        overlays[place] = text
                update = session.update(change, tell)
                where = f"{named}, edit {number} of {', '.join(place.name for place in change)}"
                wanted = _graded(RegradeRequest(record, path, overlays=dict(overlays)), suites)
                if isinstance(wanted, str):
                    assert (update.status, update.message) == ("unreadable", wanted), where
                    found += Compared(unreadable=1)
                    continue
                assert update.status == "judged", (where, update)
                verdicts = _verdicts(wanted, update.silent or {})
                for key, verdict in verdicts.items():
                    if shown.get(key) == NOTHING and verdict["type"] in NEVER_JUDGED:
                        continue
                    assert shown.get(key) == verdict, (where, key, shown.get(key), verdict)
                found += Compared(readable=1, verdicts=len(verdicts))
    finally:
        session.close()
    return found


def _graded(request: RegradeRequest, suites: ResidentSuites) -> Json | str:
    try:
        regrading = prepare_regrading(request, suites)
        return answer(regrading, graded(regrading, RunCancellation()))
    except (SuiteFileError, SuiteError) as error:
        return str(error)


def _verdicts(found: Json, silent: object) -> dict[tuple[str, str], Json]:
    return {
        (task, name): grader
        for task, said in found["tasks"].items()
        if task not in (silent if isinstance(silent, dict) else {})
        for name, grader in said["graders"].items()
        # An edit loads no types of other packages, so it does not know that there is none of this name.
        if grader["type"] in (*BUILT_IN_TYPES, "expected", "")
    }


def main() -> None:
    """Compare as many edits as asked for, in suites of their own and in the public ones."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--edits", type=int, default=5000)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--corpus", action="store_true", help="edit the public suites beside this checkout")
    given = options.parse_args()
    found = _corpus(given.seed, given.edits) if given.corpus else _generated(given.seed, given.edits)
    print(f"{found.readable} edits read, {found.unreadable} not; {found.verdicts} verdicts, none differs")  # noqa: T201


def _generated(seed: int, edits: int) -> Compared:
    found = Compared()
    for number in range(0, edits, EDITS_OF_ONE_SUITE):
        with tempfile.TemporaryDirectory() as folder:
            some = min(EDITS_OF_ONE_SUITE, edits - number)
            found += compare(Path(folder), seed + number // EDITS_OF_ONE_SUITE, some)
    return found


def _corpus(seed: int, edits: int) -> Compared:
    found = Compared()
    with tempfile.TemporaryDirectory() as folder, recorded_suites(Path(folder)) as suites:
        each = -(-edits // len(suites))
        for number, suite in enumerate(suites):
            found += compare_recorded(suite, seed + number, each)
            print(f"{suite.path.relative_to(folder)}: {found}", flush=True)  # noqa: T201
    return found


if __name__ == "__main__":
    main()
