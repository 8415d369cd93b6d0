import json
import platform
from pathlib import Path
from typing import Any

from tests.command_line import engine
from tests.engine.suites import recorded, run, task, write_suite


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
    assert engine("bisect", suite, "a").returncode == 2
    assert "two are compared" in engine("bisect", suite, "other").stderr
