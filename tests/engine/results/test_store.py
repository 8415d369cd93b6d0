import errno
import json
import os
import re
import shutil
import subprocess
import sys
import threading
import time
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import psutil
import pytest

from tests.command_line import engine
from tests.engine.suites import GREETS, newest, recorded, run, task, write_suite
from waza_engine.commands.result_page import recorded_page
from waza_engine.results.codec.run_documents import run_of
from waza_engine.results.reading.newest_scores import latest_results
from waza_engine.results.record import RunHeader, TaskOutcome, TrialOutcome, Validation
from waza_engine.results.result_file_names import results_directory, workspace_prefix
from waza_engine.results.writing.store import ResultsError, ResultStore, recover_journals, write_atomically
from waza_engine.scoring.cost import Cost
from waza_engine.scoring.task_scores import TaskScore, suite_summary, task_statistics
from waza_engine.vocabulary import Usage


def header() -> RunHeader:
    return RunHeader(
        run_id="run-1",
        started=datetime(2026, 7, 1, 12, 0, tzinfo=UTC),
        eval_file="eval.yaml",
        eval_name="suite",
        skill="writer",
        executor="mock",
        model="",
        judge_model="",
        trials_per_task=1,
        timeout_seconds=20,
    )


def going_on(suite: Path, planned: dict[str, str] | None = None) -> ResultStore:
    """Return the store of a run that has finished its task ``a``."""
    store = ResultStore(suite, header(), planned)
    store.open()
    store.add(TaskOutcome("a", "A", "passed"))
    return store


def names(suite: Path) -> list[str]:
    return sorted(path.name for path in results_directory(suite).iterdir())


def test_the_document_has_the_keys_that_upstream_reads(tmp_path: Path) -> None:
    record = recorded(write_suite(tmp_path, {"a": task("a")}, graders=GREETS), trials=2)
    document = json.loads(record.read_text())
    assert next(iter(document)) == "schemaVersion"
    assert document["schemaVersion"] == "1.4"
    assert (document["eval_name"], document["skill"], document["metrics"]) == ("suite", "writer", {})
    assert document["config"] == {
        "runs_per_test": 2,
        "model_id": "",
        "engine_type": "mock",
        "timeout_sec": 20,
    }
    found = document["tasks"][0]
    assert (found["test_id"], found["display_name"], found["status"]) == ("a", "Task a", "passed")
    first = found["runs"][0]
    assert first["session_digest"] == {
        "tool_call_count": 0,
        "tools_used": [],
        "errors": [],
        "session_id": "mock-session-1",
    }
    verdict = first["validations"]["greets"]
    assert (verdict["identifier"], verdict["type"]) == ("greets", "text")
    assert (verdict["score"], verdict["weight"]) == (1.0, 1.0)
    assert verdict["checks"] == [{"path": ["contains", 0], "passed": True}]
    assert datetime.fromisoformat(document["timestamp"]).tzinfo is not None


def test_results_that_were_removed_while_the_run_went_on_are_kept_out_of_git_again(tmp_path: Path) -> None:
    store = ResultStore(tmp_path, header())
    store.open()
    shutil.rmtree(tmp_path / ".waza")
    (tmp_path / ".waza" / "results").mkdir(parents=True)
    report, _ = run(write_suite(tmp_path / "other", {"a": task("a")}))
    assert store.finish(report.outcome).is_file()
    assert (tmp_path / ".waza" / ".gitignore").read_text() == "*\n"


def test_a_file_is_replaced_in_one_step_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "result.json"
    write_atomically(path, b"old")
    write_atomically(path, b"new")
    assert path.read_bytes() == b"new"
    assert [found.name for found in tmp_path.iterdir()] == ["result.json"]


def test_a_folder_that_cannot_be_made_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / ".waza").write_text("a file in the way")
    with pytest.raises(
        ResultsError, match=r"Results cannot be written to .*\.waza is a file, where a folder"
    ):
        ResultStore(tmp_path, header()).open()


def test_a_journal_that_cannot_be_begun_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(ResultsError, match=os.strerror(errno.ENOSPC)):
        ResultStore(tmp_path, header()).open()
    assert names(tmp_path) == []


def test_a_run_whose_results_cannot_be_written_still_says_what_it_found(tmp_path: Path) -> None:
    path = write_suite(tmp_path, {"a": task("a")}, graders=GREETS)
    (tmp_path / ".waza").write_text("a file in the way")
    report, events = run(path)
    assert (report.results_file, report.outcome.tasks[0].status) == (None, "passed")
    assert "cannot be written" in report.write_error
    assert (events[-1].kind, events[-1].status) == ("ended", "error")


@pytest.mark.parametrize("form", ["text", "json"])
def test_results_that_cannot_be_written_are_told_once(tmp_path: Path, form: str) -> None:
    path = write_suite(tmp_path, {"a": task("a")}, graders=GREETS)
    (tmp_path / ".waza").write_text("a file in the way")
    found = engine("run", path, "--format", form)
    assert found.returncode == 2
    assert found.stderr.count("cannot be written") == 1
    if form == "text":
        assert found.stdout.splitlines()[-1] == "results: not kept, the error above says why"


def test_a_copy_of_results_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    path = write_suite(tmp_path, {"a": task("a")}, graders=GREETS)
    (tmp_path / ".waza").write_text("a file in the way")
    found = engine("run", path, "-o", tmp_path / "ok.json")
    assert found.stdout.splitlines()[-1] == f"results: {tmp_path / 'ok.json'}"


def test_a_document_that_was_written_at_last_is_not_said_to_be_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise ResultsError("Results cannot be written to the journal: File too large.")

    monkeypatch.setattr(ResultStore, "add", full)
    found = engine("run", write_suite(tmp_path, {"a": task("a")}, graders=GREETS))
    assert found.stderr.count("cannot be written to the journal") == 1
    assert "not kept" not in found.stdout
    assert Path(found.stdout.splitlines()[-1].removeprefix("results: ")).is_file()


@pytest.mark.skipif(sys.platform == "win32", reason="file size limits are POSIX")
def test_a_full_disk_is_a_clear_error_and_earlier_results_stay_readable(tmp_path: Path) -> None:
    path = write_suite(tmp_path, {"a": task("a"), "b": task("b")}, graders=GREETS)
    run(path)
    before = latest_results(tmp_path)
    # A limit on the size of files fails the same writes as a full disk, in the middle of the document.
    code = (
        "import resource, sys; from waza_engine.cli import main;"
        " resource.setrlimit(resource.RLIMIT_FSIZE, (1500, 1500));"
        f" sys.argv = ['waza-engine', 'run', {os.fspath(path)!r}]; main()"
    )
    found = subprocess.run(
        [sys.executable, "-B", "-c", code], capture_output=True, text=True, timeout=60, check=False
    )
    assert found.returncode == 2
    # Not that the disk is full: it is not.
    assert re.search(r"Results cannot be written to .*: File too large\.", found.stderr)
    assert "Traceback" not in found.stderr
    after = latest_results(tmp_path)
    assert before is not None
    assert after is not None
    assert after.tasks["a"].score == before.tasks["a"].score == 1.0
    assert not [name for name in names(tmp_path) if name.endswith(".tmp")]


@pytest.mark.parametrize("torn", [b"", b'{"task": {"test_id": "b", "sta'])
def test_a_journal_shows_finished_tasks_and_a_torn_last_line_loses_only_itself(
    tmp_path: Path, torn: bytes
) -> None:
    store = going_on(tmp_path)
    with store.journal_path.open("ab") as journal:
        journal.write(torn)
    found = newest(tmp_path)
    assert (found.complete, list(found.tasks)) == (False, ["a"])
    assert recover_journals(tmp_path) == []
    assert store.journal_path.exists()


def test_the_summary_of_a_dead_run_is_counted_like_that_of_any_run(tmp_path: Path) -> None:
    trials = [judged(1.0), judged(0.0)]
    done = [
        TaskOutcome("a", "A", "passed", trials[:1], task_statistics([trials[0].score])),
        TaskOutcome("b", "B", "failed", trials[1:], task_statistics([trials[1].score])),
        TaskOutcome("c", "C", "skipped"),
    ]
    store = dead_run(tmp_path, done)
    assert recover_journals(tmp_path) == [store.path]
    summary = json.loads(store.path.read_text())["summary"]
    ended = suite_summary([TaskScore(task.status, task.statistics) for task in done])
    assert ended.aggregate_score == 0.5
    counted = run_of({"summary": summary}).summary
    assert replace(counted, duration_ms=0) == ended


def test_what_a_killed_run_took_and_spent_is_told_from_its_journal(tmp_path: Path) -> None:
    spent = {"usage": Usage(input_tokens=100, output_tokens=20), "judge_usage": Usage(input_tokens=5)}
    trial = replace(judged(1.0), cost=Cost(0.25), **spent)  # type: ignore[arg-type]
    done = TaskOutcome("a", "A", "passed", [trial], task_statistics([trial.score]))
    store = dead_run(tmp_path, [done], {"a": "A", "b": "B"})
    lines = [json.loads(line) for line in store.journal_path.read_text("utf-8").splitlines()]
    lines[-1]["elapsed_ms"] = 65_000
    store.journal_path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), "utf-8")
    told = engine("report", store.journal_path).stdout
    assert "interrupted: 1 of 2 tasks passed, 1 not run" in told
    assert "65.0 s" in told
    assert "125 tokens, $0.2500" in told
    recover_journals(tmp_path)
    assert engine("report", store.path).stdout == told.replace("; what was finished is kept", "")


@pytest.mark.parametrize("number", [-1, 0, 2**70])
def test_a_journal_of_a_number_that_no_process_has_is_that_of_a_dead_one(tmp_path: Path, number: int) -> None:
    store = dead_run(tmp_path, [TaskOutcome("a", "A", "passed", [])], {"a": "A"})
    first, rest = store.journal_path.read_text("utf-8").split("\n", 1)
    process = {"pid": number, "started": 0}
    store.journal_path.write_text(
        json.dumps({**json.loads(first), "process": process}) + "\n" + rest, "utf-8"
    )
    assert recover_journals(tmp_path) == [store.path]
    assert not store.journal_path.exists()


def test_the_finished_trials_of_a_task_that_was_under_way_are_kept(tmp_path: Path) -> None:
    spent = Usage(input_tokens=100, output_tokens=20)
    trials = [replace(judged(score), number=place, usage=spent) for place, score in enumerate((1.0, 0.0), 1)]
    done = TaskOutcome("a", "A", "passed", trials[:1], task_statistics([trials[0].score]))
    store = dead_run(tmp_path, [], {"a": "A", "b": "B", "c": "C"}, of_trials=4)
    writing = ResultStore(tmp_path, replace(header(), trials_per_task=4))
    writing.open()
    writing.add_trial("a", trials[0])
    writing.add(done)
    for trial in trials:
        writing.add_trial("b", trial)
    with store.journal_path.open("ab") as journal:
        journal.writelines(writing.journal_path.read_bytes().splitlines(keepends=True)[1:])
    writing.journal_path.unlink()
    told = engine("report", store.journal_path).stdout
    assert "interrupted: 1 of 3 tasks passed, 1 failed, 1 not run" in told
    assert "the run was interrupted; what was finished is kept; 2 of 4 trials ran" in told
    assert "360 tokens" in told
    recover_journals(tmp_path)
    recovered = json.loads(store.path.read_text("utf-8"))
    assert [len(task["runs"]) for task in recovered["tasks"]] == [1, 2, 0]
    assert not {"trial", "baseline_trial"} & recovered.keys()


def test_each_trial_is_kept_when_it_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept: list[tuple[str, int]] = []

    def add_trial(_: ResultStore, name: str, trial: TrialOutcome, *, baseline: bool) -> None:
        assert not baseline
        kept.append((name, trial.number))

    monkeypatch.setattr(ResultStore, "add_trial", add_trial)
    config = "config: {trials_per_task: 3, timeout_seconds: 20, executor: mock}\n"
    run(write_suite(tmp_path, {"a": task("a"), "b": task("b")}, graders=GREETS, config=config))
    # The last one is kept with its task.
    assert kept == [("a", 1), ("a", 2), ("b", 1), ("b", 2)]


def test_a_journal_that_tells_no_time_has_that_of_its_trials(tmp_path: Path) -> None:
    trial = replace(judged(1.0), duration_ms=2_500)
    store = dead_run(tmp_path, [TaskOutcome("a", "A", "passed", [trial])])
    lines = [json.loads(line) for line in store.journal_path.read_text("utf-8").splitlines()]
    del lines[-1]["elapsed_ms"]
    store.journal_path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), "utf-8")
    assert "2.5 s" in engine("report", store.journal_path).stdout


def judged(score: float) -> TrialOutcome:
    status = "passed" if score else "failed"
    return TrialOutcome(1, status, {"g": Validation("g", "text", score, score > 0, "")})


@pytest.mark.parametrize("done", [0, 1])
def test_a_dead_run_lists_every_planned_task_and_says_that_it_was_interrupted(
    tmp_path: Path, done: int
) -> None:
    trial = judged(1.0)
    outcomes = [TaskOutcome("a", "A", "passed", [trial], task_statistics([trial.score]))][:done]
    store = dead_run(tmp_path, outcomes, {"a": "A", "b": "B", "c": "C"})
    assert recover_journals(tmp_path) == [store.path]
    document = json.loads(store.path.read_text())
    assert [(task["test_id"], task["display_name"]) for task in document["tasks"]] == [
        ("a", "A"),
        ("b", "B"),
        ("c", "C"),
    ]
    unrun = document["tasks"][done:]
    assert {(task["status"], task["error_msg"]) for task in unrun} == {
        ("skipped", "not run: the run was interrupted")
    }
    summary = document["summary"]
    assert (summary["total_tests"], summary["succeeded"], summary["skipped"]) == (3, done, 3 - done)
    assert not store.journal_path.exists()
    engine = document["metadata"]["engine"]
    assert (engine["status"], engine["message"]) == ("canceled", "the run was interrupted")
    assert not {"planned", "process"} & document.keys()


def dead_run(
    suite: Path,
    tasks: list[TaskOutcome],
    planned: dict[str, str] | None = None,
    writer: tuple[int, float] = (2**22 + 1, 0),
    of_trials: int = 1,
) -> ResultStore:
    """Leave the journal of a process, by its number and start, that was killed after these tasks."""
    store = ResultStore(suite, replace(header(), trials_per_task=of_trials), planned)
    store.open()
    for done in tasks:
        store.add(done)
    lines = store.journal_path.read_bytes().splitlines()
    first = json.loads(lines[0]) | {"process": {"pid": writer[0], "started": writer[1]}}
    store.journal_path.write_bytes(b"\n".join([json.dumps(first).encode(), *lines[1:], b""]))
    return store


def test_a_page_tells_a_run_that_goes_on_from_one_that_was_killed(tmp_path: Path) -> None:
    store = going_on(tmp_path / "going", {"a": "A", "b": "B"})
    going = recorded_page(store.journal_path, None)
    assert (going["goes_on"], going["markdown"].splitlines()[0]) == (True, "# `suite`: goes on")
    assert "\n- the run goes on\n" in going["markdown"]
    dead = dead_run(tmp_path / "dead", [TaskOutcome("a", "A", "passed")], {"a": "A", "b": "B"})
    killed = recorded_page(dead.journal_path, None)
    assert (killed["goes_on"], killed["markdown"].splitlines()[0]) == (False, "# `suite`: interrupted")
    assert "\n- the run was interrupted; what was finished is kept\n" in killed["markdown"]


def test_a_writer_that_no_process_can_be_is_none(tmp_path: Path) -> None:
    odd = dead_run(tmp_path / "odd", [TaskOutcome("a", "A", "passed")], {"a": "A"}, writer=(1, 10**400))
    assert recorded_page(odd.journal_path, None)["goes_on"] is False


@pytest.mark.skipif(sys.platform == "win32", reason="a killed process is gone there")
def test_a_killed_process_that_nobody_has_looked_after_goes_on_no_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as writer:
        started = psutil.Process(writer.pid).create_time()
        store = dead_run(tmp_path, [TaskOutcome("a", "A", "passed")], writer=(writer.pid, started))
        assert recorded_page(store.journal_path, None)["goes_on"]
        writer.kill()
        while psutil.Process(writer.pid).status() != psutil.STATUS_ZOMBIE:
            time.sleep(0.01)
        assert not recorded_page(store.journal_path, None)["goes_on"]
        monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
        workspace = tmp_path / f"{workspace_prefix(writer.pid)}a"
        workspace.mkdir()
        assert recover_journals(tmp_path) == [store.path]
        assert not workspace.exists()


@pytest.mark.skipif(sys.platform != "linux", reason="only there it moves what is known of a process")
def test_a_clock_that_is_set_while_a_run_goes_on_ends_it_for_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = ResultStore(tmp_path, header(), {"a": "A"})
    store.open()
    booted = psutil.boot_time()
    monkeypatch.setattr("psutil._pslinux.boot_time", lambda: booted - 3600)
    assert recover_journals(tmp_path) == []
    assert recorded_page(store.journal_path, None)["goes_on"]


def test_two_runs_of_one_suite_at_the_same_time_keep_apart(tmp_path: Path) -> None:
    path = write_suite(tmp_path, {"a": task("a"), "b": task("b")}, graders=GREETS)
    threads = [threading.Thread(target=run, args=(path,)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [Path(name).suffix for name in names(tmp_path)] == [".json"] * 4


@pytest.mark.parametrize(
    "text",
    [
        "",
        "torn",
        '{"eval_id": "x"}\n{"task": 3}\n',
        '{"eval_id": "x", "metadata": 4}\n{"task": {"stats": {"avg_score": "high"}}}\n',
    ],
)
def test_an_odd_journal_never_keeps_a_suite_from_running(tmp_path: Path, text: str) -> None:
    results = results_directory(tmp_path)
    results.mkdir(parents=True)
    (results / "20260101T000000Z-abc.partial.jsonl").write_text(text)
    recover_journals(tmp_path)


def test_a_journal_that_cannot_be_read_yet_is_left_alone(tmp_path: Path) -> None:
    journal = results_directory(tmp_path) / "20260101T000000Z-abc.partial.jsonl"
    journal.parent.mkdir(parents=True)
    journal.write_text("")
    assert recover_journals(tmp_path) == []
    assert journal.exists()
