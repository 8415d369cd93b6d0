"""Live verdicts beside those of ``waza-engine grade`` on the same texts, over random edits.

``python -m tests.live.equality --edits 5000 --seed 1`` prints how many verdicts were compared. It ends with
an error at the first that differs, which names the seed, the edit and both verdicts.
"""

from __future__ import annotations

import argparse
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.live.bed import recorded_bed
from tests.live.edits import Edits
from waza_engine.commands.live import verdicts_document
from waza_engine.commands.regraded import answer, graded
from waza_engine.graders.registry import BUILT_IN_TYPES
from waza_engine.runs.limits.cancellation import RunCancellation
from waza_engine.runs.live import LiveRequest, LiveSession, LiveVerdicts
from waza_engine.runs.loading.suite import SuiteError
from waza_engine.runs.regrading import RegradeRequest, prepare_regrading
from waza_engine.runs.resident import ResidentSuites
from waza_engine.spec.problems import SuiteFileError

Json = dict[str, Any]
EDITS_OF_ONE_SUITE = 100


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
    """Edit a suite and compare after each edit. Raises ``AssertionError`` for a verdict that differs."""
    texts = Edits(seed, "")
    path, record = recorded_bed(folder, texts.initial())
    texts = Edits(seed, path.read_text("utf-8"))
    session = LiveSession(LiveRequest(record, path))
    shown: dict[tuple[str, str], Json] = {}

    def tell(verdicts: LiveVerdicts) -> None:
        for task, found in verdicts_document(verdicts)["tasks"].items():
            found.pop("trials", None)
            shown[task, verdicts.grader] = found

    found, overlays = Compared(), dict[Path, str]()
    try:
        with ResidentSuites() as suites:
            session.update({}, tell)
            for number in range(edits):
                name, text = texts.next()
                place = path.parent / name
                overlays.pop(place, None)
                if text is not None:
                    overlays[place] = text
                update = session.update({place: text}, tell)
                where = f"seed {seed}, edit {number} of {name}"
                wanted = _graded(RegradeRequest(record, path, overlays=dict(overlays)), suites)
                if isinstance(wanted, str):
                    assert (update.status, update.message) == ("unreadable", wanted), where
                    found += Compared(unreadable=1)
                    continue
                assert update.status == "judged", (where, update)
                verdicts = _verdicts(wanted, update.silent or {})
                for key, verdict in verdicts.items():
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
        # What does not hold, with both texts, is told by grading alone; its messages are those of the checks.
        (task, name): {key: value for key, value in grader.items() if key != "failures"}
        for task, said in found["tasks"].items()
        if task not in (silent if isinstance(silent, dict) else {})
        for name, grader in said["graders"].items()
        # An edit loads no types of other packages, so it does not know that there is none of this name.
        if grader["type"] in (*BUILT_IN_TYPES, "expected", "")
    }


def main() -> None:
    """Compare as many edits as asked for, in suites of their own."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--edits", type=int, default=5000)
    options.add_argument("--seed", type=int, default=1)
    given = options.parse_args()
    found = Compared()
    for number in range(0, given.edits, EDITS_OF_ONE_SUITE):
        with tempfile.TemporaryDirectory() as folder:
            edits = min(EDITS_OF_ONE_SUITE, given.edits - number)
            found += compare(Path(folder), given.seed + number // EDITS_OF_ONE_SUITE, edits)
    print(f"{found.readable} edits read, {found.unreadable} not; {found.verdicts} verdicts, none differs")  # noqa: T201


if __name__ == "__main__":
    main()
