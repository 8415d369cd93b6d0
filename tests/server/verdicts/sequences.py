"""Random sequences of runs of a small suite, written as records, and what its verdicts have to be after each.

The tests try a few of them, ``search.py`` thousands.
"""

import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any, Literal

from hypothesis import strategies as st

from tests.server.features.results import NOW, RUN_AT, grade, write_results
from tests.server.project.files import opened, put, workspace_with
from waza_engine.commands.reporting import standing_of
from waza_engine.results.reading import newest_scores
from waza_engine.results.reading.newest_scores import latest_results
from waza_engine.results.reading.scores import RunResult
from waza_engine.results.reading.suite_conclusion import conclude_suite
from waza_language_server.features.scores.inlay_hints import inlay_hints
from waza_language_server.features.scores.marks import file_marks

TASKS, GRADERS = ("one", "two", "three"), ("a", "b")
EVAL = """\
name: suite
skill: writer
config: {executor: mock}
graders:
- {type: text, name: a, config: {contains: [x]}}
- {type: text, name: b, config: {contains: [y]}}
tasks: ['tasks/*.yaml']
"""

Kind = Literal["whole", "tasks", "graders", "failed", "regrade", "interrupted", "limited", "answers"]
Said = Literal["passed", "failed", "error"]
Trial = Mapping[str, Said] | None
"""What each grader says of an answer; None for an agent that broke."""


@dataclass(frozen=True)
class Run:
    """A run that is asked for: what the graders would say of each task, and how far it comes."""

    kind: Kind
    says: Mapping[str, Trial]
    tasks: frozenset[str]
    graders: frozenset[str]
    reached: int


def sequences() -> st.SearchStrategy[list[Run]]:
    said = st.sampled_from(["passed", "passed", "failed", "error"])
    trial = st.one_of(st.fixed_dictionaries(dict.fromkeys(GRADERS, said)), st.none())
    one = st.builds(
        Run,
        kind=st.sampled_from(Kind.__args__),  # type: ignore[attr-defined]
        says=st.fixed_dictionaries(dict.fromkeys(TASKS, trial)),
        tasks=st.sets(st.sampled_from(TASKS), min_size=1).map(frozenset),
        graders=st.sets(st.sampled_from(GRADERS), min_size=1, max_size=1).map(frozenset),
        reached=st.integers(0, len(TASKS) - 1),
    )
    return st.lists(one, min_size=1, max_size=7)


@dataclass
class Known:
    """What is known of a task after some runs: an oracle that shares no code with the product."""

    whole: Said | None = None
    """What the last run of all of its graders came to, None when there was none."""
    newer: dict[str, Said] = field(default_factory=dict[str, Said])
    last_trial: Trial = None

    @property
    def verdict(self) -> Said | None:
        if self.whole is None:
            return None
        found = {self.whole, *self.newer.values()}
        return "failed" if "failed" in found else "error" if "error" in found else "passed"


class Suite:
    """A suite on disk that is run as a sequence says, and a server that stays open meanwhile."""

    def __init__(self, directory: Path) -> None:
        shutil.rmtree(directory, ignore_errors=True)
        for name in TASKS:
            put(directory, f"tasks/{name}.yaml", f"id: {name}\nname: {name}\ninputs: {{prompt: Do it}}\n")
        self.path = put(directory, "eval.yaml", EVAL)
        self.known = {name: Known() for name in TASKS}
        self.was_whole = False
        self._moment = RUN_AT - timedelta(hours=2)
        self._last: tuple[Path, Mapping[str, Trial]] | None = None
        self._living = workspace_with()

    def run(self, run: Run) -> None:
        """Carry out a run: write its record, and note what it proves."""
        self._moment += timedelta(minutes=1)
        match run.kind:
            case "whole":
                self._judged(run.says, TASKS)
                self.was_whole = True
            case "tasks":
                self._judged(run.says, sorted(run.tasks), tasks=sorted(run.tasks))
            case "failed":
                failed = [name for name in TASKS if self.known[name].verdict in ("failed", "error")]
                if failed:
                    self._judged(run.says, failed, tasks=failed)
            case "graders":
                self._graders(run.says, TASKS, run.graders)
            case "interrupted" | "limited":
                reached = TASKS[: run.reached]
                self._judged(run.says, reached, cut=run.kind)
                self.was_whole = self.was_whole or run.kind == "limited"
            case "answers":
                self._write({name: {} for name in TASKS}, settings={"skip_graders": True})
            case "regrade":
                self._regrade(run.says)
        self._living.project.scores.forget()

    def _judged(
        self, says: Mapping[str, Trial], reached: Sequence[str], *, cut: str = "", **chosen: Any
    ) -> None:
        done = {name: says[name] for name in reached}
        self._write(done, cut=cut, **chosen)
        for name, trial in done.items():
            self.known[name] = Known(_of_trial(trial), {}, trial)

    def _graders(self, says: Mapping[str, Trial], tasks: Sequence[str], graders: frozenset[str]) -> None:
        done: dict[str, Trial] = {
            name: None if (trial := says[name]) is None else {one: trial[one] for one in graders}
            for name in tasks
        }
        self._write(done, graders=sorted(graders))
        for name, trial in done.items():
            known = self.known[name]
            broke = dict.fromkeys(graders & (known.last_trial or {}).keys(), "error")
            known.newer |= broke if trial is None else trial  # type: ignore[arg-type]

    def _regrade(self, says: Mapping[str, Trial]) -> None:
        """Grade the answers of the last whole run again, into a record of its own."""
        if self._last is None:
            return
        path, before = self._last
        again = {name: None if trial is None else (says[name] or trial) for name, trial in before.items()}
        document = json.loads(path.read_text())
        document["tasks"] = _tasks(again)
        document["metadata"]["engine"] |= {"regraded": {}, "status": _status(again)}
        path.write_text(json.dumps(document))
        for name, trial in again.items():
            if self.known[name].last_trial is before[name]:
                self.known[name] = Known(_of_trial(trial), self.known[name].newer, trial)
        self._last = path, again

    def _write(
        self,
        done: Mapping[str, Trial],
        *,
        tasks: Sequence[str] = (),
        graders: Sequence[str] = (),
        settings: Mapping[str, Any] | None = None,
        cut: str = "",
    ) -> None:
        unrun = [] if not cut else [_unrun(name) for name in TASKS if name not in done]
        conclusion = {"verdict": cut, "reasons": [f"the run was {cut}"]}
        of_graders = {"graders": list(graders)} if graders else {}
        engine = {
            "name": "waza-engine",
            "eval_file": "eval.yaml",
            "status": {"interrupted": "canceled", "limited": "error"}.get(cut) or _status(done),
            "settings": {**(settings or {}), **({"graders_of": len(GRADERS)} if graders else {})},
            **({"tasks": list(tasks)} if tasks else {}),
            **of_graders,
            **({"conclusion": conclusion} if cut else {}),
        }
        path = write_results(self.path, {}, at=self._moment, more={"metadata": {"engine": engine}})
        document = json.loads(path.read_text())
        document["summary"]["total_tests"] = len(done) + len(unrun)
        document["tasks"] = [*_tasks(done), *unrun]
        path.write_text(json.dumps(document))
        if not (tasks or graders or settings or cut):
            self._last = path, done

    def check(self) -> None:
        """Compare what the server shows that was open, one that starts now, the engine, and the oracle."""
        living = self._shown(self._living)
        newest_scores._read_scores.cache_clear()  # pyright: ignore[reportPrivateUsage]
        fresh = self._shown(workspace_with())
        assert living == fresh
        newest = latest_results(self.path.parent, eval_file="eval.yaml")
        if newest is None:
            return
        self._check_tasks(newest, fresh)
        self._check_suite(newest, fresh)

    def _shown(self, workspace: Any) -> dict[str, Any]:
        """Return the labels of all hints by file, and the marks of the files."""
        found: dict[str, Any] = {}
        for file, kind in [(self.path, "eval"), *((self._file(name), "task") for name in TASKS)]:
            document = opened(file, kind)  # type: ignore[arg-type]
            workspace = workspace.with_document(document)
            found[file.stem] = [(hint.kind, hint.label) for hint in inlay_hints(document, workspace, now=NOW)]
        found["marks"] = {mark.path.stem: mark.state for mark in file_marks(workspace)}
        return found

    def _check_tasks(self, newest: RunResult, shown: Mapping[str, Any]) -> None:
        for name, known in self.known.items():
            task = newest.tasks.get(name)
            status = "" if task is None or not task.was_run else task.status
            own = next((label for kind, label in shown[name] if kind == "verdict"), "")
            if known.verdict is not None:
                assert status == known.verdict, name
                assert own[:1] == {"passed": "✓", "failed": "✗", "error": "!"}[known.verdict], own
                assert shown["marks"].get(name) == (None if known.verdict == "passed" else known.verdict)
            assert known.verdict == "passed" or not own.startswith("✓"), own
            assert known.verdict == "passed" or status != "passed", name

    def _check_suite(self, newest: RunResult, shown: Mapping[str, Any]) -> None:
        found = conclude_suite(newest).verdict
        label = next((label for kind, label in shown["eval"] if kind == "verdict"), "")
        verdicts = {known.verdict for known in self.known.values()}
        if verdicts != {"passed"}:
            assert found != "passed"
            assert not label.startswith("✓"), label
        # Of one that a limit has stopped the suite says so, until parts of it are run.
        is_cut = newest.whole is not None and newest.whole.verdict == "limited" and found == "errored"
        if "failed" in verdicts and self.was_whole and not is_cut:
            assert (found, shown["marks"].get("eval")) == ("failed", "failed")
            assert label.startswith("✗"), (label, found)
        standing = standing_of(self.path)
        if standing is not None:
            assert standing["verdict"] == found
            assert {name: each["status"] for name, each in standing["tasks"].items()} == {
                name: task.status for name, task in newest.tasks.items()
            }

    def _file(self, name: str) -> Path:
        return self.path.parent / "tasks" / f"{name}.yaml"


def carry_out(runs: Sequence[Run], directory: Path) -> None:
    """Run a suite as a sequence says, and check what is shown after each run."""
    suite = Suite(directory)
    for run in runs:
        suite.run(run)
        suite.check()


def _of_trial(trial: Trial) -> Said:
    if trial is None or ("error" in trial.values() and "failed" not in trial.values()):
        return "error"
    return "failed" if "failed" in trial.values() else "passed"


def _status(done: Mapping[str, Trial]) -> str:
    return "completed" if all(_of_trial(trial) == "passed" for trial in done.values()) else "failed"


def _tasks(done: Mapping[str, Trial]) -> list[dict[str, Any]]:
    return [_task(name, trial) for name, trial in done.items()]


def _task(name: str, trial: Trial) -> dict[str, Any]:
    run: dict[str, Any] = {"run_number": 1, "attempts": 1, "status": _of_trial(trial), "duration_ms": 1}
    if trial is None:
        run |= {"validations": None, "error_msg": "the agent broke"}
    else:
        run["validations"] = dict(_verdicts(trial))
    return {"test_id": name, "display_name": name, "status": run["status"], "runs": [run]}


def _verdicts(trial: Mapping[str, Said]) -> Iterator[tuple[str, Any]]:
    for grader, said in trial.items():
        verdict = grade(grader, float(said == "passed"), said)
        yield grader, {**verdict, "status": "error"} if said == "error" else verdict


def _unrun(name: str) -> dict[str, Any]:
    return {"test_id": name, "display_name": name, "status": "skipped", "runs": []}
