"""A run that was interrupted goes on: nothing is asked twice unless a person says so."""

import json
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from tests.command_line import engine
from tests.conftest import StartModel
from tests.engine.runs.test_interruptions import SAYS, cancelled_at, config
from tests.engine.suites import present, replaced, statuses, task, write_prompts, write_suite
from tests.scripted_model import Answer, Held, ModelRequest, Reply, ScriptedModel, Tokens
from waza_engine.results.conclusion import conclude
from waza_engine.results.reading.recordings import read_recording
from waza_engine.results.record import RunOutcome
from waza_engine.runs.events.stream import RunEvent
from waza_engine.runs.limits.cancellation import RunCancellation
from waza_engine.runs.loading.suite_on_disk import AlreadyResumedError, SuiteError
from waza_engine.runs.preparing import prepare
from waza_engine.runs.resuming import paths_and_record
from waza_engine.runs.run import RunReport
from waza_engine.runs.settings.table import RunSettings

IDS = ("a", "b", "c")


class Ledger:
    """A suite whose model notes each prompt, and never answers some of them, the first times."""

    def __init__(self, start: StartModel, folder: Path, held: str = "", said: str = "fine") -> None:
        self.asked: Counter[str] = Counter()
        self._held = Counter(held.split())
        self._said = said
        self.model: ScriptedModel = start(self._reply)
        tasks = {name: task(name, prompt=name) for name in IDS}
        self.path = write_suite(folder, tasks, graders=SAYS, config=config(self.model, "workers: 1"))

    def _reply(self, request: ModelRequest) -> Reply:
        self.asked[request.prompt] += 1
        if self.asked[request.prompt] <= self._held[request.prompt]:
            return Held()
        return Answer(self._said, usage=Tokens(90, 10))


@pytest.fixture
def cut(scripted_model: StartModel, tmp_path: Path) -> Ledger:
    """A run that was cancelled while `b` was asked: `a` is finished, and `c` was not begun."""
    ledger = Ledger(scripted_model, tmp_path, held="b")
    cancelled_at(2, ledger.model, ledger.path)
    return ledger


def results_of(ledger: Ledger) -> list[Path]:
    return [*(ledger.path.parent / ".waza" / "results").glob("*.json*")]


def resumed(path: Path, *retry: str, **settings: object) -> RunOutcome:
    chosen = replace(RunSettings(path, resume=True, retry=retry), **settings)
    return prepare(chosen).run(lambda _: None, RunCancellation()).outcome


def cancelled(path: Path, *, resume: bool = False) -> RunReport:
    """Run a suite that is cancelled before anything begins."""
    cancellation = RunCancellation()
    cancellation.request()
    return prepare(RunSettings(path, resume=resume)).run(lambda _: None, cancellation)


def test_finished_trials_and_the_lost_one_are_not_asked_again_unless_it_is_requested(cut: Ledger) -> None:
    outcome = resumed(cut.path)
    assert cut.asked == {"a": 1, "b": 1, "c": 1}
    assert statuses(outcome) == {"a": ["passed"], "b": ["error"], "c": ["passed"]}
    assert [task.id for task in outcome.tasks if any(trial.lost for trial in task.trials)] == ["b"]
    assert conclude(outcome).verdict == "errored"
    assert outcome.header.settings["resumed"]
    # What the first run spent counts in the second.
    assert present(outcome.spending).tokens == 200
    with pytest.raises(SuiteError, match="the limit of 150 tokens is reached"):
        resumed(cut.path, "lost", max_tokens=150)
    outcome = resumed(cut.path, "lost")
    assert cut.asked == {"a": 1, "b": 2, "c": 1}
    assert conclude(outcome).verdict == "passed"


def test_a_trial_of_a_free_agent_that_was_cut_off_runs_again(tmp_path: Path) -> None:
    path = write_suite(tmp_path, {name: task(name) for name in IDS}, graders=SAYS)
    cancelled(path)
    assert {status for each in statuses(resumed(path)).values() for status in each} <= {"passed", "failed"}


@pytest.mark.parametrize(("limit", "asked"), [(250, 0), (300, 1)])
def test_the_price_of_a_lost_trial_stays_reserved_in_the_second(cut: Ledger, limit: int, asked: int) -> None:
    outcome = resumed(cut.path, max_tokens=limit)
    assert cut.asked["c"] == asked
    assert ("100 are used and 100 reserved for lost trials" in outcome.message) == (not asked)


def test_trials_that_failed_or_broke_run_again_on_request(scripted_model: StartModel, tmp_path: Path) -> None:
    ledger = Ledger(scripted_model, tmp_path, said="bad")
    prepare(RunSettings(ledger.path)).run(lambda _: None, RunCancellation())
    with pytest.raises(SuiteError, match="there is no interrupted run to go on with"):
        resumed(ledger.path)
    resumed(ledger.path, "errors")
    assert set(ledger.asked.values()) == {1}
    resumed(ledger.path, "failed")
    assert set(ledger.asked.values()) == {2}


def test_a_run_that_was_gone_on_with_is_refused_with_the_newer_one(cut: Ledger) -> None:
    [first] = results_of(cut)
    resumed(cut.path)
    with pytest.raises(SuiteError, match="there is no interrupted run to go on with"):
        resumed(cut.path)
    with pytest.raises(SuiteError, match=r"was resumed by the run in .*\.json: name that one instead"):
        resumed(cut.path, record=first)
    assert cut.asked == {"a": 1, "b": 1, "c": 1}


def test_of_two_runs_that_resume_at_the_same_moment_one_is_refused_and_leaves_nothing(cut: Ledger) -> None:
    both = [prepare(RunSettings(cut.path, resume=True)) for _ in range(2)]
    events: list[RunEvent] = []

    with ThreadPoolExecutor(2) as pool:
        runs = [pool.submit(run.run, events.append, RunCancellation()) for run in both]
    [refused] = [error for run in runs if (error := run.exception()) is not None]

    assert isinstance(refused, AlreadyResumedError)
    assert cut.asked == {"a": 1, "b": 1, "c": 1}
    assert sorted(event.status or "" for event in events if event.kind == "ended") == ["error", "failed"]
    assert len(results_of(cut)) == 2


def test_a_record_is_named_by_a_relative_path_too(cut: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    [first] = results_of(cut)
    monkeypatch.chdir(first.parent)
    paths, record = paths_and_record([cut.path, Path(first.name)])
    assert statuses(resumed(paths[0], record=record))["c"] == ["passed"]


def test_an_older_run_does_not_go_on_while_a_newer_one_cannot_be_read(tmp_path: Path) -> None:
    path = write_suite(tmp_path, {name: task(name) for name in IDS}, graders=SAYS)
    older, newer = (prepare(RunSettings(path)).run(lambda _: None, RunCancellation()) for _ in range(2))
    assert older.results_file is not None
    assert newer.results_file is not None
    newer.results_file.write_bytes(newer.results_file.read_bytes()[:-200])
    with pytest.raises(
        SuiteError, match=f"{newer.results_file.name} cannot be read.*{older.results_file.name}"
    ):
        resumed(path, "failed")
    with pytest.raises(SuiteError, match=r"no interrupted run to go on with \(.* cannot be read\)"):
        resumed(path)
    assert resumed(path, "failed", record=older.results_file).tasks


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"model": "gpt-4.1"}, "`--model` differs from the run that is to go on"),
        ({"trials": 7}, "`--trials` differs"),
        ({"shard": "1/2"}, "leave `--shard` out"),
        ({"retry": ("all",)}, "`--retry` takes lost, errors or failed, not `all`"),
    ],
)
def test_other_settings_are_refused(cut: Ledger, change: dict[str, object], said: str) -> None:
    with pytest.raises(SuiteError, match=said):
        resumed(cut.path, **change)
    assert cut.asked == {"a": 1, "b": 1}


def test_a_suite_that_changed_is_refused_with_the_names_of_its_files(cut: Ledger) -> None:
    replaced(cut.path.parent / "tasks" / "c.yaml", "prompt: c", "prompt: d")
    with pytest.raises(SuiteError, match=r"changed since that run \(`tasks/c.yaml`\)"):
        resumed(cut.path)


def test_a_journal_tells_whose_agent_was_asked_when_its_run_was_killed(
    scripted_model: StartModel, tmp_path: Path
) -> None:
    ledger = Ledger(scripted_model, tmp_path, held="b")
    journals: list[dict[str, list[bool]]] = []

    def look(cancellation: RunCancellation) -> None:
        ledger.model.wait_for_requests(2)
        (journal,) = (tmp_path / ".waza" / "results").glob("*.partial.jsonl")
        found = read_recording(journal)
        journals.append({each.id: [trial.outcome.stopped for trial in each.trials] for each in found.tasks})
        cancellation.request()

    cancellation = RunCancellation()
    threading.Thread(target=look, args=(cancellation,), daemon=True).start()
    prepare(RunSettings(ledger.path)).run(lambda _: None, cancellation)
    assert journals == [{"a": [False], "b": [True], "c": []}]


def test_kept_trials_stay_when_the_resumed_run_reaches_its_limit(
    scripted_model: StartModel, tmp_path: Path
) -> None:
    ledger = Ledger(scripted_model, tmp_path, held="c")
    cancelled_at(5, ledger.model, ledger.path, trials=2)
    before = dict(ledger.asked)
    resumed(ledger.path, "lost", max_tokens=550)
    outcome = resumed(ledger.path, "lost", max_tokens=5000)
    assert {name: ledger.asked[name] for name in "ab"} == {name: before[name] for name in "ab"}
    assert statuses(outcome) == {name: ["passed", "passed"] for name in IDS}


def test_kept_trigger_prompts_stay_when_the_resumed_run_does_not_come_to_them(
    scripted_model: StartModel, tmp_path: Path
) -> None:
    ledger = Ledger(scripted_model, tmp_path, held="slow", said="bad")
    write_prompts(tmp_path, "quick", "slow")
    cancelled_at(5, ledger.model, ledger.path)
    cancelled(ledger.path, resume=True)
    resumed(ledger.path, "lost")
    assert ledger.asked == {**dict.fromkeys(IDS, 1), "quick": 1, "slow": 2}


@pytest.mark.parametrize(
    ("place", "value"),
    [(("eval_id",), ["x"]), (("metadata", "engine", "settings", "tags"), 5)],
)
def test_a_damaged_record_is_refused_in_a_sentence(
    tmp_path: Path, place: tuple[str, ...], value: object
) -> None:
    path = write_suite(tmp_path, {name: task(name) for name in IDS}, graders=SAYS)
    record = present(cancelled(path).results_file)
    document = json.loads(record.read_text("utf-8"))
    block = document
    for key in place[:-1]:
        block = block[key]
    block[place[-1]] = value
    record.write_text(json.dumps(document), "utf-8")
    ended = engine("run", path, "--resume")
    assert "Traceback" not in ended.stderr


def test_a_prompt_that_was_sent_is_lost_and_sent_again_on_request(
    scripted_model: StartModel, tmp_path: Path
) -> None:
    ledger = Ledger(scripted_model, tmp_path, held="slow")
    write_prompts(tmp_path, "quick", "slow", "later")
    cancelled_at(5, ledger.model, ledger.path)
    asked = {**dict.fromkeys(IDS, 1), "quick": 1, "slow": 1}
    prepared = prepare(RunSettings(ledger.path, resume=True))
    assert any("1 trigger prompt lost: they may have been paid for" in found for found in prepared.warnings)
    outcome = prepared.run(lambda _: None, RunCancellation()).outcome
    assert ledger.asked == {**asked, "later": 1}
    assert [(found.prompt, bool(found.error)) for found in outcome.triggers] == [
        ("quick", False),
        ("slow", True),
        ("later", False),
    ]
    assert "may have been paid for" in outcome.triggers[1].error
    assert [bool(found.error) for found in resumed(ledger.path, "lost").triggers] == [False] * 3
    assert ledger.asked == {**asked, "later": 1, "slow": 2}


@pytest.mark.parametrize("now", [None, "another-secret-456"])
def test_an_input_with_a_credential_is_the_same_where_the_credential_differs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, now: str | None
) -> None:
    monkeypatch.setenv("SOME_API_KEY", "very-secret-value-123")
    path = write_suite(tmp_path, {"a": task("a", prompt="I have very-secret-value-123")}, graders=SAYS)
    cancelled(path)
    inputs = [*(tmp_path / ".waza" / "inputs").iterdir()]
    assert ["very-secret" in file.read_text("utf-8") for file in inputs] == [False]
    if now is None:
        monkeypatch.delenv("SOME_API_KEY")
    else:
        monkeypatch.setenv("SOME_API_KEY", now)
    assert [task.id for task in resumed(path).tasks] == ["a"]
    assert [*(tmp_path / ".waza" / "inputs").iterdir()] == inputs
    assert "very-secret" not in inputs[0].read_text("utf-8")
    replaced(tmp_path / "tasks" / "a.yaml", "secret-value", "public-value")
    with pytest.raises(SuiteError, match=r"changed since that run \(`tasks/a.yaml`\)"):
        resumed(path, "failed")
