"""The verdicts of a live session, and which are still valid: unchanged ones cost only a check."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from waza_engine.frozen import frozen
from waza_engine.results.reading.recordings import RecordedTask, RecordedTrial
from waza_engine.runs.grading.graders import BuiltGrader
from waza_engine.runs.live.work import Made, Question
from waza_engine.spec.reading.suite_files import DISK, SuiteFiles, Version
from waza_engine.spec.reading.watched_files import WatchedFiles

Place = tuple[int, int]
"""Of a verdict of a grader: the position of its task and of its trial."""
Waiting = tuple[Place, Question, RecordedTrial]


@frozen()
class _Held:
    """The questions of a grader when all its verdicts were valid, and the files that decide them."""

    asked: Sequence[tuple[int, object, object, RecordedTask]]
    read: Sequence[WatchedFiles]
    left: Mapping[Path, Version | None]


class MadeVerdicts:
    """Computed verdicts by grader name. ``stays`` returns which graders keep the recorded verdict.

    ``trial`` is the one of each task that counts, None for all.
    """

    def __init__(self, stays: Callable[[BuiltGrader], bool], trial: int | None) -> None:
        self._stays = stays
        self._trial = trial
        self._made: dict[str, dict[Place, Made]] = {}
        self._held: dict[str, _Held] = {}
        self._gradable: dict[int, tuple[RecordedTask, Sequence[RecordedTrial]]] = {}

    def clear(self) -> None:
        """Forget everything: the record is another one."""
        self._made.clear()
        self._held.clear()
        self._gradable.clear()

    def forget_all_but(self, graders: Iterable[str]) -> None:
        """Forget the graders that are not there any more."""
        for name in self._made.keys() - set(graders):
            del self._made[name]
            self._held.pop(name, None)

    def files(self) -> list[Path]:
        """Return the files that the verdicts were made of, were they there or not."""
        watched = {id(made.files): made.files for group in self._made.values() for made in group.values()}
        return sorted({path for each in watched.values() for path in each.looked_at})

    def trials(self, recorded: RecordedTask) -> Sequence[RecordedTrial]:
        """Return the trials of a task that count and have an answer."""
        known = self._gradable.get(id(recorded))
        if known is None or known[0] is not recorded:
            found = tuple(
                trial for trial in recorded.trials if self._trial in (None, trial.position) and trial.gradable
            )
            known = self._gradable[id(recorded)] = recorded, found
        return known[1]

    def waiting(self, grader: str, group: Sequence[Question], files: SuiteFiles) -> list[Waiting]:
        """Return what has to be judged again; ``group`` is the grader in all its current tasks."""
        if self._is_held(self._held.get(grader), group, files):
            return []
        known, found = self._made.get(grader, {}), list[Waiting]()
        unchanged: dict[int, bool] = {}
        for question in group:
            for trial in self.trials(question.recorded):
                place = (question.position, trial.position)
                made = known.get(place)
                if made is None or not self._holds(made, question, files, unchanged):
                    found.append((place, question, trial))
        if not found:
            self._hold(grader, group)
        return found

    def keep(self, grader: str, group: Sequence[Question], made: Mapping[Place, Made]) -> None:
        """Store the new verdicts: all that were waiting."""
        self._made.setdefault(grader, {}).update(made)
        self._hold(grader, group)

    def of(self, grader: str, place: Place) -> Made:
        """Return a verdict that is kept."""
        return self._made[grader][place]

    def _hold(self, grader: str, group: Sequence[Question]) -> None:
        """Store how a grader was evaluated, so that its trials are not checked while nothing changes."""
        self._held.pop(grader, None)
        if any(self._reads_disk(question) for question in group):
            return
        made = [
            self._made[grader][question.position, trial.position]
            for question in group
            for trial in self.trials(question.recorded)
        ]
        left: dict[Path, Version | None] = {}
        for path, version in _files_left(made):
            if path is None or left.setdefault(path, version) != version:
                return
        asked = [(each.position, each.by, each.key, each.recorded) for each in group]
        self._held[grader] = _Held(asked, list({id(each.files): each.files for each in made}.values()), left)

    def _is_held(self, held: _Held | None, group: Sequence[Question], files: SuiteFiles) -> bool:
        return (
            held is not None
            and len(held.asked) == len(group)
            and all(
                position == each.position and by is each.by and key is each.key and recorded is each.recorded
                for (position, by, key, recorded), each in zip(held.asked, group, strict=True)
            )
            and all(read.are_as_read(files) for read in held.read)
            and all(DISK.version(path) == version for path, version in held.left.items())
        )

    def _holds(self, made: Made, question: Question, files: SuiteFiles, unchanged: dict[int, bool]) -> bool:
        """Return whether a verdict is still valid: nothing that could have changed it has changed."""
        built = question.built
        if built is not None and built.grader is not None:
            if made.by is not built.grader or made.key is not question.key or self._reads_disk(question):
                return False
        elif made.by != question.by or made.key is not question.key:
            return False
        if made.workspace is None or any(DISK.version(at) != it for at, it in made.workspace.items()):
            return False
        if id(made.files) not in unchanged:
            unchanged[id(made.files)] = made.files.are_as_read(files)
        return unchanged[id(made.files)]

    def _reads_disk(self, question: Question) -> bool:
        built = question.built
        return (
            built is not None
            and built.grader is not None
            and built.grader.reads_disk
            and not self._stays(built)
        )


def _files_left(made: Iterable[Made]) -> Iterator[tuple[Path | None, Version | None]]:
    """Yield the agents' files that decide verdicts, with their fingerprints; None where these are unsure."""
    for each in made:
        if each.workspace is None:
            yield None, None
        else:
            yield from each.workspace.items()
