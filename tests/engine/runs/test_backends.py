"""A backend executes the trials of a run elsewhere: what it is asked, what it may say, and when it ends."""

import threading
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from tests.engine.suites import GREETS, only_task, present, task, write_prompts, write_suite
from waza_engine.results.record import ArrivedAnswer, TrialOutcome, TriggerOutcome
from waza_engine.runs.limits.cancellation import RunCancellation
from waza_engine.runs.loading.suite_on_disk import load_suite
from waza_engine.runs.preparing import prepare
from waza_engine.runs.run import RunReport
from waza_engine.runs.settings.table import RunSettings
from waza_engine.runs.trials.backend import BackendError, LostTrialError, ThreadBackend
from waza_engine.runs.trials.context import RunContext, TrialRequest, TriggerRequest
from waza_engine.runs.trials.hooks import TaskHooks
from waza_engine.runs.trials.selection import SelectedTask
from waza_engine.runs.trials.trial import Tell

Keep = Callable[[TrialOutcome], None]
Done = Callable[[TrialOutcome | Exception], None]


class Noting(ThreadBackend):
    """Executes trials in threads, and keeps its requests."""

    requests: list[TrialRequest]

    def __init__(self, tasks: Sequence[SelectedTask], context: RunContext) -> None:
        super().__init__(tasks, context)
        type(self).requests = []

    def start(self, request: TrialRequest, tell: Tell, keep: Keep, done: Done) -> None:
        self.requests.append(request)
        super().start(request, tell, keep, done)


def run_on(
    backend: type[ThreadBackend], path: Path, cancellation: RunCancellation | None = None, **options: object
) -> RunReport:
    prepared = prepare(RunSettings(path, **options), backend=backend)  # type: ignore[arg-type]
    return prepared.run(lambda _: None, cancellation or RunCancellation())


def test_a_request_names_the_file_of_its_task_and_no_other_file_is_needed(tmp_path: Path) -> None:
    path = write_suite(tmp_path, {"a": task("a"), "b": task("b")}, graders=GREETS)
    run_on(Noting, path, workers=1)
    (tmp_path / "tasks" / "a.yaml").write_text("broken: [", "utf-8")
    request = Noting.requests[1]
    assert (request.file, request.place) == ("tasks/b.yaml", 0)
    alone = load_suite(path, only=request.file)
    assert [found.id for found in alone.tasks] == ["b"]
    assert alone.digest_of(alone.tasks[0]) == request.digest


def test_inline_tasks_are_told_apart_by_their_place(tmp_path: Path) -> None:
    path = write_suite(tmp_path, {"a": task("a")})
    inline = "- {{id: x, name: X, inputs: {{prompt: {}}}}}\n"
    tasks = f"tasks:\n{inline.format('one')}- tasks/*.yaml\n{inline.format('two')}"
    text = path.read_text("utf-8")
    path.write_text(text[: text.index("tasks:")] + tasks, "utf-8")
    run_on(Noting, path)
    assert [(each.file, each.place) for each in Noting.requests] == [
        ("eval.yaml", 0),
        ("tasks/a.yaml", 0),
        ("eval.yaml", 2),
    ]
    alone = {each.place: each for each in load_suite(path, only="eval.yaml").tasks}
    assert present(alone[2].task).inputs.prompt == "two"


@pytest.mark.parametrize("file", ["eval.yaml", "tasks/a.yaml"])
def test_a_digest_changes_with_the_files_of_its_task(tmp_path: Path, file: str) -> None:
    path = write_suite(tmp_path, {"a": task("a"), "b": task("b")}, graders=GREETS)

    def digests() -> dict[str, str]:
        suite = load_suite(path)
        return {each.id: suite.digest_of(each) for each in suite.tasks}

    before = digests()
    (tmp_path / file).write_text((tmp_path / file).read_text("utf-8") + "\n# changed\n", "utf-8")
    after = digests()
    assert before["a"] != after["a"]
    assert (before["b"] != after["b"]) == (file == "eval.yaml")


class Losing(ThreadBackend):
    """Loses each first trial after its answer was kept."""

    def start(self, request: TrialRequest, tell: Tell, keep: Keep, done: Done) -> None:
        if request.trial > 1:
            super().start(request, tell, keep, done)
            return
        keep(TrialOutcome(1, "skipped", None, output="hello there", stopped=True))
        done(LostTrialError("the worker of this trial was lost; it may have been paid for"))


def test_a_lost_trial_keeps_its_answer_and_costs_no_other_trial(tmp_path: Path) -> None:
    path = write_suite(tmp_path, {"a": task("a")}, graders=GREETS)
    trials = only_task(run_on(Losing, path, trials=2)).trials
    assert [(each.status, each.lost, each.stopped) for each in trials] == [
        ("error", True, False),
        ("passed", False, False),
    ]
    assert trials[0].output == "hello there"
    assert trials[0].error == "the worker of this trial was lost; it may have been paid for"


class Growing(ThreadBackend):
    """Has room for one trial, and for all when the first is active. No trial ends before all have begun."""

    def __init__(self, tasks: Sequence[SelectedTask], context: RunContext) -> None:
        super().__init__(tasks, context)
        self._room = 1
        self._begun = threading.Barrier(4)

    @property
    def workers(self) -> int:
        return self._room

    def on_room(self, call: Callable[[], None]) -> None:
        self._grown = call

    def start(self, request: TrialRequest, tell: Tell, keep: Keep, done: Done) -> None:
        def wait_and_start() -> None:
            self._begun.wait(60)
            ThreadBackend.start(self, request, tell, keep, done)

        threading.Thread(target=wait_and_start, daemon=True).start()
        if self._room == 1:
            self._room = 4
            self._grown()


def test_a_backend_that_grows_is_given_more_trials_while_the_first_is_active(tmp_path: Path) -> None:
    path = write_suite(tmp_path, {"a": task("a")}, graders=GREETS)
    assert [each.status for each in only_task(run_on(Growing, path, trials=4)).trials] == ["passed"] * 4


class Slow(ThreadBackend):
    """Is cancelled with its first trial, and needs two seconds for its outcome."""

    cancellation: RunCancellation
    ends: list[str]
    grace = 30.0

    @property
    def grace_seconds(self) -> float:
        return self.grace

    def start(self, request: TrialRequest, tell: Tell, keep: Keep, done: Done) -> None:
        def end() -> None:
            self.ends.append("trial")
            done(TrialOutcome(1, "passed", {}, output="hello"))

        keep(TrialOutcome(1, "skipped", None, output="kept", stopped=True))
        self.cancellation.request()
        threading.Timer(1.0, end).start()

    def close(self) -> None:
        self.ends.append("closed")


@pytest.mark.parametrize(
    ("grace", "ends", "output"), [(30.0, ["trial", "closed"], "hello"), (0.0, ["closed"], "kept")]
)
def test_a_run_ends_after_its_backend_and_takes_what_was_kept(
    tmp_path: Path, grace: float, ends: list[str], output: str
) -> None:
    Slow.cancellation, Slow.ends, Slow.grace = RunCancellation(), [], grace
    path = write_suite(tmp_path, {"a": task("a")}, graders=GREETS)
    report = run_on(Slow, path, Slow.cancellation)
    assert Slow.ends == ends
    assert [each.output for each in only_task(report).trials] == [output]


class Breaking(ThreadBackend):
    """Is gone when the hooks before the second task, or the second trigger prompt, are requested."""

    hooks = 0

    def run_hooks(self, request: TrialRequest, when: TaskHooks) -> Sequence[str]:
        self.hooks += when == "before_task"
        if self.hooks > 1:
            raise BackendError("the cluster is gone")
        return super().run_hooks(request, when)

    def try_prompt(
        self, request: TriggerRequest, asked: Callable[[], None], arrived: Callable[[ArrivedAnswer], None]
    ) -> TriggerOutcome:
        if request.prompt == "second":
            raise BackendError("the cluster is gone")
        return super().try_prompt(request, asked, arrived)


def test_a_run_ends_when_hooks_of_tasks_cannot_run_any_more(tmp_path: Path) -> None:
    hooks = "hooks: {before_task: [{command: git --version}]}\n"
    path = write_suite(tmp_path, {"a": task("a"), "b": task("b")}, graders=GREETS, more=hooks)
    outcome = run_on(Breaking, path).outcome
    assert (outcome.status, outcome.message) == ("error", "the cluster is gone")
    assert [found.status for found in outcome.tasks] == ["passed", "skipped"]


def test_a_run_ends_when_trigger_prompts_cannot_be_tried_any_more(tmp_path: Path) -> None:
    path = write_suite(tmp_path, {"a": task("a")}, graders=GREETS)
    write_prompts(tmp_path, "first", "second")
    outcome = run_on(Breaking, path).outcome
    assert (outcome.status, outcome.message) == ("error", "the cluster is gone")
    assert [found.prompt for found in outcome.triggers] == ["first"]
