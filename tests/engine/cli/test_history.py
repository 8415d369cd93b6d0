import json
import os
import platform
import time
from pathlib import Path
from typing import Any

from tests.command_line import engine, stderr_of
from tests.engine.suites import GREETS, present, recorded, run, task, write_suite
from waza_engine.number_formats import format_score_history
from waza_engine.results.reading.history import history_of
from waza_engine.results.reading.newest_scores import latest_results, newest_result_file


def three_runs(directory: Path) -> tuple[Path, list[Path]]:
    """Return a suite whose task passed once, and then no more; and its results."""
    files: list[Path] = []
    for prompt in ("Say hello", "Say bye", "Bye"):
        suite = write_suite(directory, {"a": task("a", prompt=prompt)}, graders=GREETS)
        record = recorded(suite)
        files.append(record)
    return directory / "eval.yaml", files


def test_the_history_has_each_task_over_the_runs(tmp_path: Path) -> None:
    suite, files = three_runs(tmp_path)
    found = json.loads(engine("history", suite, "--format", "json").stdout)
    assert {each["file"] for each in found["runs"]} == {file.name for file in files}
    (only,) = found["tasks"]
    assert (only["passed"], only["judged"], sorted(only["scores"])) == (1, 3, [0.0, 0.0, 1.0])


def test_a_red_task_says_since_which_run(tmp_path: Path) -> None:
    suite, files = three_runs(tmp_path)
    for number, file in enumerate(files):
        document = json.loads(file.read_text("utf-8"))
        document["timestamp"] = f"2026-11-0{number + 1}T10:00:00+00:00"
        file.write_text(json.dumps(document), "utf-8")
    (only,) = json.loads(engine("history", suite, "--format", "json").stdout)["tasks"]
    assert (only["scores"], only["red_since"]) == ([1.0, 0.0, 0.0], files[1].name)
    assert f"red since {files[1].name}" in engine("history", suite).stdout
    # Runs are counted there, not trials.
    assert "runs passed" in engine("history", suite).stdout
    assert "1.00 → 0.00 → 0.00" in engine("history", suite).stdout


def test_a_suite_that_never_ran_has_no_history(tmp_path: Path) -> None:
    assert "has no results yet" in stderr_of("history", write_suite(tmp_path, {"a": task("a")}))


def test_of_scores_over_time_the_last_are_shown_and_a_dash_where_nothing_was_judged() -> None:
    assert format_score_history([0.0, 0.5, None, 1.0], 3) == "… 0.50 → – → 1.00"
    assert format_score_history([0.0, 1.0], 3) == "0.00 → 1.00"


def test_how_the_newest_run_ended_stands_beside_its_curve(tmp_path: Path) -> None:
    breaks = "- {type: json_schema, name: shape, config: {schema_file: none.json, extract_json: true}}\n"
    write_suite(tmp_path, {"a": task("a", prompt="'{}'")}, graders=breaks)
    run(tmp_path / "eval.yaml")
    assert "the only run" in (told := engine("history", tmp_path).stdout)
    assert ", errored" in told.splitlines()[0]


def test_a_run_that_is_still_to_come_is_not_the_newest_for_ever(tmp_path: Path) -> None:
    """A clock was wrong: the time of the file tells, and where that is to come as well every run is newer."""
    suite = write_suite(tmp_path, {"a": task("a", prompt="Bye")}, graders=GREETS)
    record = recorded(suite)
    document = json.loads(record.read_text())
    early, late = (record.with_name(f"{name}.json") for name in ("early", "late"))
    for file in (early, late):
        file.write_text(json.dumps({**document, "timestamp": "2098-01-01T00:00:00Z"}))
    record.unlink()
    yesterday, to_come = time.time() - 86_400, time.time() + 86_400
    os.utime(early, (yesterday, yesterday))
    os.utime(late, (to_come, to_come))
    write_suite(tmp_path, {"a": task("a")}, graders=GREETS)
    newest = recorded(suite)
    told = [found.file for found in history_of(suite).runs]
    assert told == ["late.json", "early.json", newest.name]
    scores = present(latest_results(tmp_path, eval_file=suite.name))
    assert (scores.path, scores.tasks["a"].passed) == (newest, True)
    assert newest_result_file(tmp_path) == newest
    assert "1 of 1 task passed" in engine("report", suite).stdout


def test_a_run_of_one_grader_says_what_it_was_of(tmp_path: Path) -> None:
    suite = write_suite(tmp_path, {"a": task("a")}, graders=GREETS)
    for chosen in ("greets", "", "greets"):
        run(suite, graders=(chosen,) if chosen else ())
    told = engine("history", suite).stdout
    assert "the last one passed (the grader `greets` alone)" in told
    assert "1 earlier run was of a part of the suite: no score of it" in told
    assert "– → 1.00 → –" in told


def test_a_run_of_chosen_tasks_says_so_and_has_no_score_of_the_suite(tmp_path: Path) -> None:
    suite = write_suite(tmp_path, {"a": task("a"), "b": task("b", "tags: [fast]\n")}, graders=GREETS)
    run(suite, tags=("fast",))
    assert "passed (the tag `fast` alone)" in engine("history", suite).stdout
    assert "note: only tasks with the tag `fast` were selected" in engine("report", suite).stdout


def results(suite: Path, **changes: Any) -> Path:
    """Run a suite; return its result file, with changes of its first trial and of the model."""
    record = recorded(suite)
    document = json.loads(record.read_text("utf-8"))
    trial = document["tasks"][0]["runs"][0]
    trial |= {key: value for key, value in changes.items() if key != "model"}
    if "model" in changes:
        document["config"]["model_id"] = changes["model"]
    record.write_text(json.dumps(document), "utf-8")
    return record


def transcript(*steps: tuple[str, str]) -> dict[str, Any]:
    """Return a session: ``say`` is a message of the agent, ``call`` a call of `bash`."""
    events: list[dict[str, Any]] = [{"type": "user.message", "content": "Deploy"}]
    for number, (kind, text) in enumerate(steps):
        if kind == "say":
            events.append({"type": "assistant.message", "content": text})
        else:
            events.append(
                {
                    "type": "tool.execution_start",
                    "tool_call_id": f"{number}",
                    "tool_name": "bash",
                    "arguments": {"command": text},
                }
            )
    return {"transcript": events, "final_output": "", "session_digest": None}


def bisected(suite: Path, *files: Path) -> Any:
    done = engine("bisect", suite, "a", *files, "--format", "json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_first_turn_that_differs_is_named(tmp_path: Path) -> None:
    suite = write_suite(tmp_path, {"a": task("a")})
    one = results(suite, **transcript(("say", "I look."), ("call", "ls"), ("say", "Done.")))
    two = results(suite, **transcript(("say", "I look."), ("call", "rm -rf /"), ("say", "Done.")))
    parted = bisected(suite, one, two)["divergence"]
    assert (parted["turn"], parted["same_steps"]) == (2, 2)
    assert parted["old"] == {"kind": "call", "text": 'bash {"command": "ls"}'}
    assert parted["new"] == {"kind": "call", "text": 'bash {"command": "rm -rf /"}'}


def test_the_last_two_runs_are_compared_when_none_is_named(tmp_path: Path) -> None:
    suite = write_suite(tmp_path, {"a": task("a")})
    files = [results(suite) for _ in range(3)]
    found = bisected(suite)
    assert {found["old"]["file"], found["new"]["file"]} < {str(file) for file in files}


def test_the_file_and_the_lines_that_changed_are_shown(tmp_path: Path) -> None:
    suite = write_suite(tmp_path, {"a": task("a"), "b": task("b")})
    one = results(suite)
    path = tmp_path / "tasks" / "a.yaml"
    path.write_text(path.read_text("utf-8").replace("Say hello", "Say bye"), "utf-8")
    (tmp_path / "tasks" / "b.yaml").write_text(task("b", prompt="Else"), "utf-8")
    (file,) = bisected(suite, one, results(suite))["files"]
    assert (file["path"], file["change"]) == ("tasks/a.yaml", "changed")
    assert file["lines"] == ["-inputs: {prompt: Say hello}", "+inputs: {prompt: Say bye}"]


def test_another_model_is_a_difference(tmp_path: Path) -> None:
    suite = write_suite(tmp_path, {"a": task("a")})
    one, two = results(suite, model="old-model"), results(suite, model="new-model")
    differences = bisected(suite, one, two)["differences"]
    assert {"what": "model", "old": "old-model", "new": "new-model"} in differences
    assert "model: old-model → new-model" in engine("bisect", suite, "a", one, two).stdout


def test_settings_that_differ_are_told_as_they_are_written(tmp_path: Path) -> None:
    suite = write_suite(tmp_path, {"a": task("a")})
    one, two = results(suite), results(suite)
    document = json.loads(two.read_text("utf-8"))
    settings = document["metadata"]["engine"]["settings"]
    settings |= {"fail_fast": True, "judge_models": ["one", "two"], "affected": {"tasks": 1, "of": 4}}
    settings["versions"]["python"] = "3.99"
    two.write_text(json.dumps(document), "utf-8")
    told = engine("bisect", suite, "a", one, two).stdout
    differences = [
        "fail_fast: false → true",
        "judge_models: none → one, two",
        f"versions.python: {platform.python_version()} → 3.99",
    ]
    assert told.splitlines()[-3:] == differences


def test_where_nothing_differs_that_is_said(tmp_path: Path) -> None:
    suite = write_suite(tmp_path, {"a": task("a")})
    one, two = results(suite), results(suite)
    told = engine("bisect", suite, "a", one, two).stdout
    assert "The agent said and did the same in both." in told
    assert "Nothing that is recorded differs" in told


def test_a_killed_run_that_did_not_come_to_the_task_is_none_of_the_two(tmp_path: Path) -> None:
    suite = write_suite(tmp_path, {"a": task("a"), "b": task("b")})
    files = [results(suite) for _ in range(3)]
    lines = [{key: value for key, value in json.loads(files[2].read_text("utf-8")).items() if key != "tasks"}]
    lines[0] |= {"planned": [{"test_id": "a"}, {"test_id": "b"}]}
    journal = files[2].with_name(files[2].name.replace(".json", ".partial.jsonl"))
    journal.write_text("".join(f"{json.dumps(line)}\n" for line in lines), "utf-8")
    files.pop().unlink()
    found = bisected(suite)
    assert [found["old"]["file"], found["new"]["file"]] == [str(file) for file in files]


def test_a_task_that_ran_once_or_never_cannot_be_compared(tmp_path: Path) -> None:
    suite = write_suite(tmp_path, {"a": task("a")})
    run(suite)
    once, never = engine("bisect", suite, "a"), engine("bisect", suite, "other")
    assert (once.returncode, never.returncode) == (2, 2)
    assert "two are compared" in once.stderr
    assert never.stderr == "There is no task `other`; the suite has a.\n"
