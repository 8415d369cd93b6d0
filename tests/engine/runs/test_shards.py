"""The shards of a run, merged, are the run that one machine would have made."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.command_line import engine, stderr_of, stdout_of
from tests.engine.suites import present, run, task, write_prompts, write_suite
from waza_engine.commands.merge import MergeError, merged_document
from waza_engine.results.codec.run_documents import run_document
from waza_engine.results.reading.recordings import read_recording

IDS = [f"t{number}" for number in range(7)]
SAYS = "- {type: text, name: says, config: {contains: [Mock]}}\n"


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    path = write_suite(tmp_path, {name: task(name, prompt=name) for name in IDS}, graders=SAYS)
    write_prompts(tmp_path, "please")
    return path


def shards(suite: Path, of: int, **settings: object) -> list[Path]:
    reports = [run(suite, shard=f"{number}/{of}", **settings)[0] for number in range(1, of + 1)]
    return [report.results_file for report in reports if report.results_file is not None]


def merged(paths: list[Path]) -> dict[str, Any]:
    return merged_document([read_recording(path) for path in paths])


def timeless(value: Any) -> Any:
    """Return a document without what differs between two runs of the same suite."""
    if isinstance(value, dict):
        moments = {"eval_id", "timestamp", "duration_ms", "started", "session_id", "shards", "conclusion"}
        return {
            key: timeless(each) for key, each in value.items() if not (key in moments or "duration" in key)
        }
    return [timeless(each) for each in value] if isinstance(value, list | tuple) else value


@pytest.mark.parametrize("of", [1, 2, 3, 9])
def test_merged_shards_equal_the_run_of_one_machine(suite: Path, of: int) -> None:
    whole = json.loads(json.dumps(run_document(run(suite)[0].outcome)))
    assert timeless(json.loads(json.dumps(merged(shards(suite, of))))) == timeless(whole)


def test_metrics_are_those_of_all_tasks_whichever_shards_have_some(tmp_path: Path) -> None:
    more = "metrics: [{name: trigger_accuracy, threshold: 0}, {name: task_completion, threshold: 0.9}]\n"
    suite = write_suite(tmp_path, {"a": task("a")}, graders=SAYS.replace("Mock", "nowhere"), more=more)
    write_prompts(tmp_path, "please")
    whole = json.loads(json.dumps(run_document(run(suite)[0].outcome)))
    for of in range(2, 6):
        assert merged(shards(suite, of))["metrics"] == whole["metrics"]


def test_each_task_is_in_one_shard_and_the_prompts_are_in_the_first(suite: Path) -> None:
    found = [read_recording(path) for path in shards(suite, 3)]
    assert sorted(task.id for shard in found for task in shard.tasks) == IDS
    assert [bool(shard.document.get("trigger_results")) for shard in found] == [True, False, False]


def test_tasks_are_balanced_by_their_recorded_durations(suite: Path) -> None:
    run(suite)
    found = [read_recording(path) for path in shards(suite, 2, shard_by="history")]
    assert sorted(task.id for shard in found for task in shard.tasks) == IDS


def test_a_missing_shard_makes_the_run_an_interrupted_one(suite: Path) -> None:
    first, _, third = shards(suite, 3)
    document = merged([first, third])
    assert document["metadata"]["engine"]["status"] == "canceled"
    assert document["metadata"]["engine"]["message"] == "of 3 shards these are missing: 2"


def test_results_that_are_not_the_shards_of_one_run_are_refused(suite: Path) -> None:
    one, two = shards(suite, 2)
    with pytest.raises(MergeError, match="are the same shard"):
        merged([one, one])
    whole = present(run(suite)[0].results_file)
    with pytest.raises(MergeError, match="is not the result of a shard"):
        merged([one, whole])
    with pytest.raises(MergeError, match="the number of shards"):
        merged([one, shards(suite, 3)[1]])
    with pytest.raises(MergeError, match="its configuration differs"):
        merged([one, shards(suite, 2, trials=3)[1]])
    (suite.parent / "tasks" / "t0.yaml").write_text(task("t0", prompt="another"))
    with pytest.raises(MergeError, match="the suite differs"):
        merged([one, shards(suite, 2)[1]])
    assert merged([one, two])


def test_a_shard_that_was_resumed_can_be_merged(suite: Path) -> None:
    one, two = shards(suite, 2)
    document = json.loads(two.read_text("utf-8"))
    document["metadata"]["engine"]["settings"] |= {"resumed": "run-1-a", "max_cost_usd": 9.0}
    two.write_text(json.dumps(document), "utf-8")
    assert "resumed" not in merged([one, two])["metadata"]["engine"]["settings"]


@pytest.mark.parametrize("shard", [{"number": 1}, {"number": 1, "of": 10**12, "tasks": []}, 5])
def test_a_damaged_shard_is_refused(suite: Path, shard: object) -> None:
    one, two = shards(suite, 2)
    document = json.loads(one.read_text("utf-8"))
    document["metadata"]["engine"]["settings"]["shard"] = shard
    one.write_text(json.dumps(document), "utf-8")
    with pytest.raises(MergeError, match="is not the result of a shard"):
        merged([one, two])


@pytest.mark.parametrize("written", ["0/2", "3/2", "1", "1/0", "a/b", "1/99999"])
def test_a_shard_that_cannot_be_is_refused(suite: Path, written: str) -> None:
    assert "is not a shard" in stderr_of("run", suite, "--shard", written)


def test_a_shard_does_not_fail_and_the_merged_run_does(tmp_path: Path) -> None:
    fails = SAYS.replace("[Mock]", "[nowhere]")
    suite = write_suite(tmp_path, {name: task(name) for name in IDS}, graders=fails)
    files = [str(tmp_path / f"{number}.json") for number in (1, 2)]
    for number, file in enumerate(files, 1):
        assert engine("run", suite, "--shard", f"{number}/2", "-o", file).returncode == 0
    assert "would be overwritten" in stderr_of("merge", *files, "-o", files[0])
    assert "7 failed" in stdout_of("merge", *files, "-o", tmp_path / "all.json", code=1)
