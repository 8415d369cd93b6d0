"""A run records the commit of its suite's repository, and whether what decides it was in that commit."""

import json
import os
import stat
from pathlib import Path

import pytest

from tests.command_line import engine
from tests.engine.executors.talking import write_skill
from tests.engine.runs.test_repositories import git
from tests.engine.suites import CONFIG, GREETS, present, run, task, write_suite
from tests.patience import ON_A_BUSY_MACHINE
from waza_engine.processes import git as asked
from waza_engine.results.codec.run_documents import commit_document, header_of
from waza_engine.results.record import RunHeader
from waza_engine.vocabulary import Commit

pytestmark = pytest.mark.check


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait for git as long as a busy machine needs."""
    monkeypatch.setattr(asked, "COMMIT_SECONDS", 3.0 + ON_A_BUSY_MACHINE)


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    """A committed suite with a skill beside it, in a repository with another file."""
    top = tmp_path / "repository"
    config = CONFIG.replace("mock}", "mock, skill_directories: [../skills]}")
    path = write_suite(top / "evals", {"a": task("a")}, graders=GREETS, config=config)
    write_skill(top / "skills", "writer")
    (top / "README.md").write_text("old\n")
    git(top, "init", "-q", "-b", "main")
    committed(path)
    return path


def committed(suite: Path) -> str:
    """Commit everything; return the hash."""
    top = suite.parents[1]
    git(top, "add", "-A")
    git(top, "commit", "-q", "-m", "a change")
    return git(top, "rev-parse", "HEAD")


def head(suite: Path) -> str:
    return git(suite.parent, "rev-parse", "HEAD")


def recorded(suite: Path) -> RunHeader:
    """Run a suite; return the header that its result file has."""
    record = present(run(suite)[0].results_file)
    return header_of(json.loads(record.read_text("utf-8")))


def test_a_run_records_the_commit_it_began_with(suite: Path) -> None:
    assert recorded(suite).commit == Commit(head(suite), dirty=False)
    # The results of the run before are no change.
    assert recorded(suite).commit == Commit(head(suite), dirty=False)


def test_a_run_without_repository_records_no_commit(tmp_path: Path) -> None:
    suite = write_suite(tmp_path, {"a": task("a")})
    assert recorded(suite).commit is None
    git(tmp_path, "init", "-q", "-b", "main")
    assert recorded(suite).commit is None, "a repository without commits"


@pytest.mark.parametrize("changed", ["README.md", "evals/tasks/a.yaml", "skills/writer/SKILL.md"])
def test_a_tracked_file_that_differs_is_an_uncommitted_change(suite: Path, changed: str) -> None:
    with (suite.parents[1] / changed).open("a") as file:
        file.write("\n# more\n")
    assert recorded(suite).commit == Commit(head(suite), dirty=True)
    git(suite.parent, "add", "-A")
    assert recorded(suite).commit == Commit(head(suite), dirty=True), "staged"


def test_a_new_file_is_a_change_only_when_it_decides_the_run(suite: Path) -> None:
    (suite.parent / "notes.txt").write_text("nobody reads it\n")
    assert recorded(suite).commit == Commit(head(suite), dirty=False)
    (suite.parent / "tasks" / "b.yaml").write_text(task("b"), "utf-8")
    assert recorded(suite).commit == Commit(head(suite), dirty=True)


def test_a_suite_that_git_ignores_is_not_in_the_commit(suite: Path) -> None:
    (suite.parents[1] / ".gitignore").write_text("drafts\n")
    then = committed(suite)
    draft = write_suite(suite.parents[1] / "drafts", {"a": task("a")})
    assert recorded(draft).commit == Commit(then, dirty=True)


@pytest.mark.skipif(os.name == "nt", reason="links need a right there")
def test_a_suite_that_is_reached_through_a_link_is_that_of_its_repository(
    suite: Path, tmp_path: Path
) -> None:
    (tmp_path / "link").symlink_to(suite.parent)
    assert recorded(tmp_path / "link" / suite.name).commit == Commit(head(suite), dirty=False)


def test_what_a_submodule_does_not_track_is_not_known(suite: Path, tmp_path: Path) -> None:
    source = tmp_path / "shared"
    write_skill(source, "speller")
    git(source, "init", "-q", "-b", "main")
    git(source, "add", "-A")
    git(source, "commit", "-q", "-m", "a skill")
    top = suite.parents[1]
    git(top, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(source), "shared")
    text = suite.read_text("utf-8")
    suite.write_text(text.replace("[../skills]", "[../skills, ../shared]"), "utf-8")
    assert recorded(suite).commit == Commit(head(suite), dirty=True)
    then = committed(suite)
    assert recorded(suite).commit == Commit(then, dirty=None)
    with (top / "shared" / "speller" / "SKILL.md").open("a") as file:
        file.write("more\n")
    assert recorded(suite).commit == Commit(then, dirty=True)


@pytest.mark.skipif(os.name == "nt", reason="a shell script stands for git")
def test_a_slow_git_costs_the_run_only_whether_there_are_changes(
    suite: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    then = head(suite)
    program = tmp_path / "bin" / "git"
    program.parent.mkdir()
    cases = f"*status*) exec sleep 60;; *rev-parse*) echo {then};; *) exit 3;;"
    program.write_text(f'#!/bin/sh\ncase "$*" in {cases} esac\n')
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", str(program.parent), prepend=os.pathsep)
    monkeypatch.setattr(asked, "COMMIT_SECONDS", 0.5)
    deciding = [suite]
    found = asked.commit_of(suite.parent, deciding)
    # A machine that is too busy to start a script in time tells nothing at all.
    assert found in (None, Commit(then))
    program.write_text("#!/bin/sh\nexit 1\n")
    assert asked.commit_of(suite.parent, deciding) is None
    report, _ = run(suite)
    assert (report.outcome.status, report.outcome.header.commit) == ("completed", None)


def test_asking_writes_nothing_and_starts_nothing_of_the_repository(suite: Path, tmp_path: Path) -> None:
    top, traces = suite.parents[1], tmp_path / "traces"
    hook = tmp_path / "hook.sh"
    hook.write_text(f"#!/bin/sh\necho started >> {traces}\n")
    hook.chmod(0o755)
    git(top, "config", "core.fsmonitor", str(hook))
    git(top, "config", "core.hooksPath", str(tmp_path))
    # Git would like to note that the file is still the same.
    os.utime(top / "README.md", (1, 1))
    before = {file: file.stat().st_mtime_ns for file in (top / ".git").rglob("*")}
    assert asked.commit_of(suite.parent, [suite]) == Commit(head(suite), dirty=False)
    assert before == {file: file.stat().st_mtime_ns for file in (top / ".git").rglob("*")}
    assert not traces.exists()


@pytest.mark.parametrize(
    "written", [None, "abc", {}, {"hash": "abc"}, {"hash": 7}, {"hash": "`" * 40}, {"hash": "A" * 40}]
)
def test_what_is_no_hash_is_no_commit(written: object) -> None:
    assert header_of({"metadata": {"engine": {"commit": written}}}).commit is None


def results_of(suite: Path) -> list[Path]:
    """Return the result files of a suite, the oldest first."""
    files = (suite.parent / ".waza" / "results").glob("*.json")
    return sorted(files, key=lambda file: file.stat().st_mtime_ns)


@pytest.fixture
def two_runs(suite: Path) -> tuple[Path, list[str]]:
    """A task that passed at one commit and fails at the next; the hashes."""
    task_file = suite.parent / "tasks" / "a.yaml"
    hashes: list[str] = []
    for prompt in ("Say hello", "Say bye"):
        task_file.write_text(task("a", prompt=prompt), "utf-8")
        if git(suite.parent, "status", "--porcelain"):
            committed(suite)
        hashes.append(head(suite))
        recorded(suite)
    return suite, hashes


def test_the_history_says_at_which_commit_a_task_turned_red(two_runs: tuple[Path, list[str]]) -> None:
    suite, (green, red) = two_runs
    found = json.loads(engine("history", suite, "--format", "json").stdout)
    by_commit = {run["commit"]["hash"]: run["file"] for run in found["runs"]}
    assert found["runs"][0]["commit"] == commit_document(Commit(green, dirty=False))
    (only,) = found["tasks"]
    assert (only["red_since"], only["passed_in"]) == (by_commit[red], by_commit[green])
    told = " ".join(engine("history", suite).stdout.split())
    assert f"newly red since {by_commit[red]}" in told
    assert f"(commit {red[:7]}), passed at {green[:7]}" in told


def test_bisect_says_the_commits_of_both_runs(two_runs: tuple[Path, list[str]]) -> None:
    suite, (green, red) = two_runs
    (suite.parents[1] / "README.md").write_text("new\n")
    recorded(suite)
    done = engine("bisect", suite, "a")
    assert f"commit: {red[:7]} → {red[:7]} with uncommitted changes" in done.stdout
    results = results_of(suite)
    done = engine("bisect", suite, "a", *results[:2])
    assert f"{results[0].name}  at {green[:7]}  passed" in done.stdout
    assert f"commit: {green[:7]} → {red[:7]}" in done.stdout


def test_runs_of_an_older_engine_have_no_commit_to_compare(two_runs: tuple[Path, list[str]]) -> None:
    suite, (_, red) = two_runs
    results = results_of(suite)
    document = json.loads(results[0].read_text("utf-8"))
    del document["metadata"]["engine"]["commit"]
    results[0].write_text(json.dumps(document), "utf-8")
    assert "commit: " not in engine("bisect", suite, "a", *results).stdout
    told = " ".join(engine("history", suite).stdout.split())
    assert f"(commit {red[:7]})" in told
    assert "passed at" not in told
