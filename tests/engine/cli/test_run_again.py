"""``waza-engine run``: what failed before, what an edit affects, several suites at a time, keys of a file."""

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.command_line import Finished, engine
from tests.engine.suites import GREETS, task, write_prompts, write_suite
from waza_engine.commands.run_again import read_keys
from waza_engine.masking import masked
from waza_engine.results.reading.newest_scores import result_files
from waza_engine.runs.loading.suite_on_disk import SuiteError
from waza_engine.runs.run import PreparedRun, RunReport


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    """A suite of which one task passes, one fails (its id looks like a pattern), and one breaks."""
    tasks = {
        "good": task("good"),
        "bad": task("'b[a]d'", prompt="Bye"),
        "broken": "id: [broken\n",
    }
    return write_suite(tmp_path / "suite", tasks, graders=GREETS)


def ran(found: Finished) -> list[str]:
    return sorted(each["test_id"] for each in json.loads(found.stdout)["tasks"])


@pytest.mark.parametrize(
    ("options", "wanted"),
    [
        (["--failed"], ["b[a]d"]),
        (["--errors"], ["broken"]),
        (["--failed", "--errors"], ["b[a]d", "broken"]),
        (["--failed", "--errors", "--task", "br*"], ["broken"]),
    ],
)
def test_what_failed_or_broke_is_run_again(suite: Path, options: list[str], wanted: list[str]) -> None:
    engine("run", suite)
    # A later run of another task says nothing about those.
    engine("run", suite, "--task", "good")
    assert ran(engine("run", suite, *options, "-f", "json")) == wanted


def test_without_a_failure_or_a_result_nothing_is_run(suite: Path) -> None:
    found = engine("run", suite, "--failed")
    assert (found.returncode, "has no results yet; run it without `--failed`" in found.stderr) == (2, True)
    engine("run", suite, "--task", "good")
    found = engine("run", suite, "--failed", "--task", "good")
    assert (found.returncode, found.stdout.startswith("Nothing to run: no task of")) == (0, True)


def test_nothing_that_failed_is_no_success_while_other_tasks_have_not_passed(suite: Path) -> None:
    engine("run", suite, "--task", "good")
    found = engine("run", suite, "--failed", "--task", "[gb]*", "-f", "json")
    assert (found.returncode, found.stdout) == (2, "")
    assert "failed when it was last run, but `b[a]d` and 1 more have not passed;" in found.stderr
    engine("run", suite, "--task", "broken")
    found = engine("run", suite, "--failed", "--task", "broken")
    assert (found.returncode, "but `broken` has not passed; run it without" in found.stderr) == (2, True)


@pytest.mark.parametrize("part", [[], ["--task", "a"]])
def test_nothing_that_failed_is_no_success_after_a_run_with_too_low_a_score(
    tmp_path: Path, part: list[str]
) -> None:
    advisory = "- {type: text, name: advice, required: false, config: {contains: [Bye]}}\n"
    path = write_suite(tmp_path, {"a": task("a")}, graders=GREETS + advisory)
    assert engine("run", path, *part, "--fail-under", "0.9").returncode == 1
    for option in ("--failed", "--errors"):
        found = engine("run", path, option, *part)
        assert (found.returncode, "did not pass: the score is 0.50, below 0.9" in found.stderr) == (2, True)
    assert engine("run", path, *part).returncode == 0
    assert engine("run", path, "--failed", *part).returncode == 0


def test_nothing_that_failed_is_no_success_after_a_run_that_did_not_end(suite: Path) -> None:
    engine("run", suite, "--task", "good")
    (record,) = result_files(suite.parent)
    document = json.loads(record.read_text("utf-8"))
    document["metadata"]["engine"]["status"] = "canceled"
    document["tasks"][0].update(status="skipped", runs=[])
    record.write_text(json.dumps(document), "utf-8")
    for option in ("--failed", "--errors"):
        found = engine("run", suite, option, "--task", "good")
        assert (found.returncode, "but `good` has not passed" in found.stderr) == (2, True)


def edits(*changes: Callable[[], object]) -> Callable[[], None]:
    """Return a wait in which a person edits a file each time, and at last presses Ctrl-C."""
    left: Iterator[Callable[[], object]] = iter(changes)

    def wait() -> None:
        change = next(left, None)
        if change is None:
            raise KeyboardInterrupt
        change()

    return wait


def replaced(path: Path, old: str, new: str) -> Callable[[], object]:
    return lambda: path.write_text(path.read_text("utf-8").replace(old, new), "utf-8")


def test_an_edit_runs_the_tasks_that_it_affects(suite: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bad = suite.parent / "tasks" / "bad.yaml"
    wait = edits(
        replaced(bad, "Bye", "hello"),
        replaced(bad, "id: ", "id: ["),
        lambda: None,
        replaced(bad, "id: [", "id: "),
        replaced(suite, "skill: writer", "skill: writer # a comment"),
    )
    monkeypatch.setattr("waza_engine.commands.run_again.pause", wait)
    found = engine("run", suite, "--watch", "-q")
    assert found.returncode == 130
    rounds = found.stdout.split("watching 1 suite; Ctrl-C ends it\n")
    assert [text.count("\n✗ b[a]d") for text in rounds] == [1, 0, 0, 0, 0, 0], rounds
    assert "1 of 1 task passed" in rounds[1]
    assert "the YAML is broken" in rounds[2]
    # The repaired file is as it was when it passed, and a comment changes nothing.
    assert [text.startswith("No task of") for text in rounds[3:5]] == [True, True]
    assert rounds[5] == ""


def test_live_watching_grades_and_starts_no_agent(suite: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    engine("run", suite, "--task", "good")
    files = result_files(suite.parent)
    wait = edits(replaced(suite, "contains: [hello]", "contains: [nowhere]"))
    monkeypatch.setattr("waza_engine.commands.run_again.pause", wait)
    found = engine("run", suite, "--watch", "--live", "--task", "good", "--executor", "copilot-sdk")
    assert (found.returncode, result_files(suite.parent)) == (130, files)
    assert [found.stdout.count(words) for words in ("passed: 1 of 1", "failed: 0 of 1")] == [1, 1]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--watch", "--executor", "copilot-sdk"], "`--watch` does not run the executor `copilot-sdk`"),
        (["--watch", "--judge-executor", "openai"], "`--watch` does not run the executor `openai`"),
        (["--live"], "`--live` is an option of `--watch`"),
        (["--watch", "--failed"], "leave `--failed` and `--errors` out"),
        (["--env-file", "nowhere.env"], "`--env-file nowhere.env` cannot be read: the file does not exist"),
    ],
)
def test_options_that_do_not_fit_are_refused(suite: Path, options: list[str], said: str) -> None:
    found = engine("run", suite, *options)
    assert (found.returncode, found.stdout, said in found.stderr) == (2, "", True), found


def provided(directory: Path, name: str) -> Path:
    config = (
        "config: {trials_per_task: 1, timeout_seconds: 20, executor: openai, model: m, "
        f"provider: {{base_url: 'http://127.0.0.1:9/v1', api_key_env: {name}}}}}\n"
    )
    return write_suite(directory, {"t": task("t")}, config=config)


def test_a_file_gives_the_missing_keys_that_providers_name_and_no_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = ("WANTED", "QUOTED", "IS_SET", "HTTPS_PROXY", "PYTHONPATH", "MY_BASE_URL", "UNNAMED")
    for name in (*names, "IS_SET"):
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)
    monkeypatch.setenv("IS_SET", "old")
    file = tmp_path / "keys.env"
    file.write_text(
        "# a comment\n\nexport WANTED=zq81-of-the-file # another\nQUOTED='a # b'\nIS_SET=new\n"
        "HTTPS_PROXY=x\nPYTHONPATH=x\nMY_BASE_URL=x\nUNNAMED=x\n"
    )
    suites = [provided(tmp_path / name, name) for name in names[:-1]]
    read_keys(file, suites)
    found = {name: os.environ[name] for name in names if name in os.environ}
    assert found == {"WANTED": "zq81-of-the-file", "QUOTED": "a # b", "IS_SET": "old"}
    assert masked("the key is zq81-of-the-file") == "the key is ***"
    file.write_text("WANTED=1\nnot a variable\n")
    with pytest.raises(SuiteError, match="line 2: write `NAME=value`"):
        read_keys(file, suites)


def test_a_file_of_keys_next_to_a_suite_is_not_read(tmp_path: Path) -> None:
    suite = provided(tmp_path, "KEY_OF_NOBODY")
    (tmp_path / ".env").write_text("KEY_OF_NOBODY=secret\n")
    assert "`KEY_OF_NOBODY`" in engine("run", suite).stderr
    assert "KEY_OF_NOBODY" not in os.environ


def test_suites_at_the_same_time_do_not_mix_their_output(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = ("a", "b", "c", "d")
    for name in names:
        path = write_suite(
            tmp_path / name, {f"{name}-{n}": task(f"{name}-{n}") for n in (1, 2)}, graders=GREETS
        )
        path.write_text(path.read_text("utf-8").replace("name: suite", f"name: suite {name}"), "utf-8")
    active, most = [0], [0]
    whole = PreparedRun.run

    def counted(prepared: PreparedRun, listener: object, cancellation: object) -> RunReport:
        active[0] += 1
        most[0] = max(most[0], active[0])
        try:
            return whole(prepared, listener, cancellation)  # type: ignore[arg-type]
        finally:
            active[0] -= 1

    monkeypatch.setattr(PreparedRun, "run", counted)
    found = engine("run", tmp_path, "-j", 2)
    assert (found.returncode, most[0]) == (0, 2)
    heads = [line[6] for line in found.stdout.splitlines() if line.startswith("suite ") and "mock" in line]
    assert sorted(heads) == list(names)
    for part in found.stdout.split("suite ")[1:5]:
        assert {line[2] for line in part.splitlines() if line[:2] == "✓ " and line[3] == "-"} == {part[0]}
    quiet = engine("run", tmp_path, "-q").stdout
    assert quiet.splitlines()[:4] == [f"✓ suite {name}: 2 of 2 tasks passed  ·  score 1.00" for name in names]


def test_a_trigger_prompt_that_was_misclassified_is_tried_again(suite: Path) -> None:
    write_prompts(suite.parent, "write [it]", "write")
    engine("run", suite)
    (record,) = result_files(suite.parent)
    document = json.loads(record.read_text("utf-8"))
    document["trigger_results"][0]["did_trigger"] = False
    record.write_text(json.dumps(document), "utf-8")
    found = json.loads(engine("run", suite, "--failed", "-f", "json").stdout)
    assert [each["test_id"] for each in found["tasks"]] == ["b[a]d"]
    assert [each["prompt"] for each in found["trigger_results"]] == ["write [it]"]


def test_an_edit_tries_the_trigger_prompts_that_it_affects(
    suite: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prompts = suite.parent / "trigger_tests.yaml"
    prompts.write_text(
        "skill: writer\nshould_trigger_prompts: [{prompt: write it}]\n"
        "should_not_trigger_prompts: [{prompt: sing}, {prompt: 'what [a] day'}]\n",
        "utf-8",
    )
    wait = edits(
        replaced(prompts, "sing}", "dance}"),
        replaced(prompts, "dance}", "dance, reason: no text}"),
        replaced(prompts, "[{prompt: write it}]", "[{prompt: 'what [a] day'}]"),
        replaced(suite.parent / "tasks" / "bad.yaml", "Bye", "Bye bye"),
        prompts.unlink,
    )
    monkeypatch.setattr("waza_engine.commands.run_again.pause", wait)
    found = engine("run", suite, "--watch", "-v")
    rounds = found.stdout.split("watching 1 suite; Ctrl-C ends it\n")
    asked = [
        sorted(text for text in ("write it", "sing", "dance", "what [a] day") if f" {text}" in part)
        for part in rounds
    ]
    assert asked == [["sing", "what [a] day", "write it"], ["dance"], [], ["what [a] day"], [], [], []], (
        rounds
    )
    assert ["good" in part for part in rounds] == [True, *[False] * 6]
