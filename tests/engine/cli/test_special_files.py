"""What lies under the name of a suite's file need be no file: every command ends and says so."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.command_line import LIMIT_SECONDS, engine
from tests.engine.suites import CONFIG, GREETS, task, write_suite

pytestmark = [pytest.mark.check, pytest.mark.skipif(sys.platform == "win32", reason="makes pipes and links")]


def link_to(target: str) -> Callable[[Path], None]:
    return lambda place: place.symlink_to(target)


THINGS: dict[str, Callable[[Path], object]] = {
    "a pipe": os.mkfifo,
    "a device": link_to("/dev/zero"),
    "a descriptor": link_to("/proc/self/fd/0"),
    "a folder": Path.mkdir,
    "a link to nothing": link_to("nowhere"),
    "a link to itself": link_to("eval.yaml"),
}


def engine_with_a_pipe(*arguments: object) -> subprocess.CompletedProcess[str]:
    """Run a command with a pipe as its input, which stays open."""
    reading, writing = os.pipe()
    try:
        return subprocess.run(
            [sys.executable, "-m", "waza_engine", *map(str, arguments)],
            stdin=reading,
            capture_output=True,
            encoding="utf-8",
            errors="surrogateescape",
            timeout=LIMIT_SECONDS,
            check=False,
        )
    finally:
        os.close(reading)
        os.close(writing)


def replaced(place: Path, make: Callable[[Path], object]) -> None:
    place.unlink(missing_ok=True)
    make(place)


@pytest.mark.parametrize("what", THINGS)
def test_an_eval_file_that_is_no_file(tmp_path: Path, what: str) -> None:
    THINGS[what](tmp_path / "eval.yaml")
    # What reads a descriptor waits for the input of the process.
    start = engine_with_a_pipe if what == "a descriptor" else engine
    found = start("run", tmp_path / "eval.yaml")
    assert found.returncode == 2
    assert len(found.stderr.splitlines()) == 1, found.stderr
    assert "eval.yaml" in found.stderr


def test_a_folder_whose_eval_file_is_a_pipe(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "eval.yaml")
    for arguments in (["run"], ["list"], ["new", "task", "x", "--suite"], ["report"]):
        found = engine(*arguments, tmp_path)
        assert found.returncode in (0, 2), found
    assert "this is a pipe, not a file" in engine("list", tmp_path).stdout


@pytest.mark.parametrize(
    ("place", "told"),
    [
        (".waza.yaml", "this is a pipe, not a file"),
        ("../../.waza.yaml", "this is a pipe, not a file"),
        ("trigger_tests.yaml", "this is a pipe, not a file"),
        ("tasks/a.yaml", "this is a pipe, not a file"),
        ("SKILL.md", ""),
        ("../SKILL.md", ""),
        ("fixtures/a.txt", ""),
        ("rubric.md", "this is a pipe, not a file"),
        ("adapter.json", "this is a pipe, not a file"),
        ("reviews.jsonl", ""),
        (".waza/results/x.json", ""),
        (".waza/results/x.partial.jsonl", ""),
        (".waza/results/history.index", ""),
        (".waza/.gitignore", ""),
        ("results/x.json", ""),
    ],
)
def test_a_pipe_beside_the_eval_file(tmp_path: Path, place: str, told: str) -> None:
    suite = tmp_path / "deep" / "suite"
    config = CONFIG.replace("mock", "command, adapter: adapter.json") if place == "adapter.json" else CONFIG
    graders = "- {type: prompt, name: judged, config: {rubric: rubric.md}}\n" if place == "rubric.md" else ""
    written = task("a", prompt="hello") + "\n"
    path = write_suite(suite, {"a": written, "b": task("b", prompt="hello")}, graders=graders, config=config)
    pipe = suite / place
    pipe.parent.mkdir(parents=True, exist_ok=True)
    replaced(pipe, os.mkfifo)
    found = engine("run", path)
    assert "Traceback" not in found.stderr
    assert told in found.stdout + found.stderr


def test_a_task_that_leads_out_of_the_repository_is_an_error_of_its_own(tmp_path: Path) -> None:
    repository = tmp_path / "repository"
    (repository / ".git").mkdir(parents=True)
    suite = write_suite(repository / "suite", {"a": task("a", prompt="hello")})
    (repository / "shared.yaml").write_text(task("shared", prompt="hello"))
    (tmp_path / "secret.yaml").write_text(task("secret", prompt="hello"))
    (suite.parent / "tasks" / "b.yaml").symlink_to("../../shared.yaml")
    (suite.parent / "tasks" / "c.yaml").symlink_to("../../../secret.yaml")
    found = engine("list", repository, "--json")
    (listed,) = json.loads(found.stdout)["suites"]
    assert [entry["id"] for entry in listed["tasks"]] == ["a", "shared", "c"]
    assert f"a link leads out of {repository}" in listed["tasks"][2]["error"]


def test_links_are_followed_as_far_as_the_working_directory(tmp_path: Path) -> None:
    suite = write_suite(tmp_path / "suite", {"a": task("a", prompt="hello")})
    (tmp_path / "shared.yaml").write_text(task("shared", prompt="hello"))
    (suite.parent / "tasks" / "b.yaml").symlink_to("../../shared.yaml")
    assert "shared" in engine("list", "suite", cwd=tmp_path).stdout
    assert "cannot be used" in engine("list", ".", cwd=suite.parent).stdout


def test_a_suite_may_be_reached_through_a_link(tmp_path: Path) -> None:
    write_suite(tmp_path / "real" / "suite", {"a": task("a", prompt="hello")}, graders=GREETS)
    (tmp_path / "linked").symlink_to("real")
    found = engine("run", tmp_path / "linked" / "suite" / "eval.yaml")
    assert "1 of 1 task passed" in found.stdout


def test_results_are_not_written_through_a_link_out_of_the_suite(tmp_path: Path) -> None:
    suite = write_suite(tmp_path / "suite", {"a": task("a", prompt="hello")})
    (tmp_path / "elsewhere").mkdir()
    (suite.parent / ".waza").symlink_to("../elsewhere")
    journal = tmp_path / "elsewhere" / "results" / "x.partial.jsonl"
    journal.parent.mkdir()
    journal.write_text('{"eval_name": "x", "process": {"pid": 0, "started": 0}}\n')
    found = engine("run", suite)
    assert "Results cannot be written" in found.stderr
    assert "a link leads out of" in found.stderr
    assert [place for place in (tmp_path / "elsewhere").rglob("*") if place.is_file()] == [journal]


def test_graders_do_not_wait_for_pipes(tmp_path: Path) -> None:
    graders = """\
        - {type: file, name: file, config: {content_patterns: [{path: pipe, must_match: [a]}]}}
        - {type: diff, name: diff, config: {expected_files: [{path: pipe, contains: [a]}]}}
        - {type: diff, name: snapshot, config: {expected_files: [{path: a.txt, snapshot: pipe}]}}
        - {type: json_schema, name: schema, config: {schema_file: pipe.json}}
        - {type: trigger, name: trigger, config: {skill_path: pipe, mode: positive}}
        - {type: program, name: program, config: {command: ./pipe}}
        - {type: script, name: script, config: {script: pipe}}
        """
    makes = "hooks: {before_task: [{command: mkfifo, args: [pipe]}]}\n"
    text = "id: a\nname: a\ninputs: {prompt: hello, files: [{path: a.txt, content: a}]}\n"
    suite = write_suite(tmp_path, {"a": text}, graders=graders, more=makes)
    for name in ("pipe", "pipe.json"):
        os.mkfifo(tmp_path / name)
    found = engine("run", suite)
    assert found.returncode in (1, 2)
    assert "Traceback" not in found.stderr
    assert "snapshot  0.50" in found.stdout
    for name in ("file", "diff", "schema", "trigger", "program", "script"):
        assert f"{name}  0.00" in found.stdout


def test_a_result_file_that_is_a_pipe_is_said_to_be_one(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "x.json")
    for command in (["report"], ["grade"], ["compare", tmp_path / "x.json"]):
        found = engine(*command, tmp_path / "x.json")
        assert found.returncode == 2
        assert "this is a pipe, not a file" in found.stderr


def test_a_name_that_is_no_utf_8_reaches_the_results_as_text(tmp_path: Path) -> None:
    suite = write_suite(tmp_path, {})
    name = os.fsdecode(b"caf\xe9.yaml")
    (tmp_path / "tasks" / name).write_text("inputs: {prompt: hello}\n")
    (tmp_path / "tasks" / os.fsdecode(b"x\xe9.yaml")).write_text("- no task\n")
    assert engine("run", suite, "-o", tmp_path / "out.json").returncode == 2
    written = json.loads((tmp_path / "out.json").read_text("utf-8"))
    assert [entry["test_id"] for entry in written["tasks"]] == ["caf\ufffd", "x\ufffd"]


@pytest.mark.parametrize("arguments", ["run .", "history"])
def test_a_current_folder_that_is_gone_is_said_to_be(tmp_path: Path, arguments: str) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    # An empty folder of this test alone.
    command = f'rmdir ../gone; exec "$0" -m waza_engine {arguments}'
    found = subprocess.run(
        ["/bin/sh", "-c", command, sys.executable],
        cwd=gone,
        capture_output=True,
        text=True,
        timeout=LIMIT_SECONDS,
        check=False,
    )
    assert found.returncode == 2
    assert found.stderr.endswith("The current folder is gone; change into one that is there.\n")


def test_a_folder_that_goes_while_a_grader_works_is_no_python_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def grade(_: object, context: object) -> None:
        del context
        (tmp_path / "gone" / "file").read_text("utf-8")

    monkeypatch.setattr("waza_engine.graders.text.TextGrader.grade", grade)
    found = engine("run", write_suite(tmp_path, {"a": task("a")}, graders=GREETS))
    where = tmp_path / "gone" / "file"
    assert f"a file or folder {where} that it needs cannot be used: No such" in " ".join(found.stdout.split())
    assert "FileNotFoundError" not in found.stdout
