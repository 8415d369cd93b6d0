import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.engine.runs.agents import Agent, cancel_when, tried
from tests.engine.suites import write_suite
from tests.patience import ON_A_BUSY_MACHINE
from waza_engine.executors.executor import ExecutionRequest, ExecutionResponse
from waza_engine.results.record import TrialOutcome
from waza_engine.runs.limits.cancellation import RunCancellation
from waza_engine.runs.preparing import prepare
from waza_engine.runs.settings.table import RunSettings

pytestmark = pytest.mark.check


def git(at: Path, *arguments: str) -> str:
    identity = ("-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false")
    done = subprocess.run(
        ["git", *identity, *arguments], cwd=at, check=True, capture_output=True, text=True, env=_environment()
    )
    return done.stdout.strip()


def _environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}


@pytest.fixture(autouse=True)
def _in_the_directory_of_both(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A repository with two commits, a tag on the first and a branch `side`; a file is not committed."""
    place = tmp_path / "app"
    place.mkdir()
    git(place, "init", "-q", "-b", "main")
    (place / "a.txt").write_text("one")
    git(place, "add", "a.txt")
    git(place, "commit", "-q", "-m", "one")
    git(place, "tag", "v1")
    (place / "a.txt").write_text("two")
    git(place, "commit", "-q", "-a", "-m", "two")
    git(place, "checkout", "-q", "-b", "side")
    (place / "side.txt").write_text("side")
    git(place, "add", "side.txt")
    git(place, "commit", "-q", "-m", "side")
    git(place, "checkout", "-q", "main")
    (place / "a.txt").write_text("not committed")
    return place


def suite(directory: Path, *repos: str, more: str = "") -> Path:
    listed = "".join(f"    - {{type: worktree, {repo}}}\n" for repo in repos)
    text = f"id: a\nname: A\ninputs:\n  prompt: Look\n{more}  repos:\n{listed}"
    return write_suite(directory / "suite", {"a": text})


def looked_at(path: Path, *names: str) -> tuple[TrialOutcome, dict[str, str]]:
    """Return the outcome and what files held while the agent worked; a missing one holds nothing."""
    seen: dict[str, str] = {}

    def answer(request: ExecutionRequest) -> ExecutionResponse:
        for name in names:
            place = request.workspace / name
            seen[name] = place.read_text() if place.is_file() else ""
        return ExecutionResponse("done")

    return tried(path, Agent(answer)), seen


@pytest.mark.parametrize(
    ("commit", "content", "side"),
    [("", "two", ""), (", commit: v1", "one", ""), (", commit: side", "two", "side")],
)
def test_a_repository_lies_in_the_workspace_at_its_commit(
    tmp_path: Path, source: Path, commit: str, content: str, side: str
) -> None:
    path = suite(tmp_path, f"source: ../{source.name}, dest: src/app{commit}")
    outcome, seen = looked_at(path, "src/app/a.txt", "src/app/side.txt")
    assert outcome.error == ""
    assert seen == {"src/app/a.txt": content, "src/app/side.txt": side}


def test_the_agent_can_use_git_and_its_work_does_not_reach_the_source(tmp_path: Path, source: Path) -> None:
    before = (git(source, "for-each-ref"), sorted(path.name for path in (source / ".git").iterdir()))
    told: list[str] = []

    def answer(request: ExecutionRequest) -> ExecutionResponse:
        place = request.workspace / "app"
        told.extend([git(place, "status", "--short", "--branch"), git(place, "log", "--format=%s", "side")])
        told.append(git(place, "remote"))
        git(place, "branch", "-f", "main", "v1")
        (place / "new.txt").write_text("new")
        git(place, "add", "new.txt")
        git(place, "commit", "-q", "-m", "new")
        return ExecutionResponse("done")

    outcome = tried(suite(tmp_path, "source: ../app, dest: app"), Agent(answer))
    assert outcome.error == ""
    assert told == ["## HEAD (no branch)", "side\ntwo\none", ""]
    assert (git(source, "for-each-ref"), sorted(path.name for path in (source / ".git").iterdir())) == before
    assert (source / "a.txt").read_text() == "not committed"


def test_hooks_and_filters_of_a_repository_do_not_run(tmp_path: Path, source: Path) -> None:
    traces = [f"touch '{tmp_path / name}'" for name in ("hooked", "filtered")]
    hook = source / ".git" / "hooks" / "post-checkout"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\n{traces[0]}\n")
    hook.chmod(0o755)
    git(source, "config", "filter.trace.smudge", traces[1])
    (source / ".gitattributes").write_text("* filter=trace\n")
    git(source, "add", ".gitattributes")
    git(source, "commit", "-q", "-m", "attributes")
    outcome, _ = looked_at(suite(tmp_path, "source: ../app, dest: app"))
    assert outcome.error == ""
    assert not (tmp_path / "hooked").exists()
    assert not (tmp_path / "filtered").exists()


def test_files_may_be_added_to_a_repository_and_the_agent_may_start_in_it(
    tmp_path: Path, source: Path
) -> None:
    more = f"  workdir: {source.name}\n  files: [{{path: app/note.txt, content: hi}}]\n"
    agent = Agent()
    tried(suite(tmp_path, "source: ../app, dest: app", more=more), agent)
    assert agent.requests[0].workdir == "app"
    outcome, seen = looked_at(suite(tmp_path, "source: ../app, dest: app", more=more), "app/note.txt")
    assert (outcome.error, seen) == ("", {"app/note.txt": "hi"})


@pytest.mark.parametrize(
    ("repo", "reason"),
    [
        ("source: ../gone, dest: app", "there is no directory"),
        ("source: .., dest: app", "not a git repository"),
        ("source: ../app, dest: app, commit: v9", "has no commit `v9`"),
        ("source: ../app, dest: app, commit: --help", "has no commit `--help`"),
        ("source: 'https://example.org/a.git', dest: app", "must be a local repository; clone it first"),
        ("source: 'git@example.org:a.git', dest: app", "must be a local repository; clone it first"),
        ("source: ../empty, dest: app", "has no commit `HEAD`"),
    ],
)
def test_a_repository_that_cannot_be_had_is_an_error_of_the_trial(
    tmp_path: Path, source: Path, repo: str, reason: str
) -> None:
    assert source.is_dir()
    (tmp_path / "empty").mkdir()
    git(tmp_path / "empty", "init", "-q")
    outcome, _ = looked_at(suite(tmp_path, repo))
    assert outcome.status == "error"
    assert "`inputs.repos`" in outcome.error
    assert reason in outcome.error


def test_two_repositories_need_two_places(tmp_path: Path, source: Path) -> None:
    assert source.is_dir()
    repo = "source: ../app, dest: app"
    outcome, _ = looked_at(suite(tmp_path, repo, repo))
    assert "`dest: app` is taken" in outcome.error


@pytest.mark.skipif(os.name == "nt", reason="links need a privilege on Windows")
def test_a_link_in_a_repository_lets_nothing_be_written_outside(tmp_path: Path, source: Path) -> None:
    (tmp_path / "outside").mkdir()
    (source / "link").symlink_to(tmp_path / "outside")
    git(source, "add", "link")
    git(source, "commit", "-q", "-m", "link")
    fixture = tmp_path / "suite" / "case" / "app" / "link"
    fixture.mkdir(parents=True)
    (fixture / "a.txt").write_text("x")
    for more in ("  files: [{path: app/link/a.txt, content: x}]\n", "  context: {fixture: case}\n"):
        outcome, _ = looked_at(suite(tmp_path, "source: ../app, dest: app", more=more))
        assert outcome.status == "error"
        assert "through a link" in outcome.error
    assert list((tmp_path / "outside").iterdir()) == []


def test_a_git_that_is_under_way_does_not_lead_astray(
    tmp_path: Path, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # As in a run that a hook of git started.
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "nowhere"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(tmp_path / "index"))
    outcome, seen = looked_at(suite(tmp_path, f"source: ../{source.name}, dest: app"), "app/a.txt")
    assert (outcome.error, seen) == ("", {"app/a.txt": "two"})


@pytest.mark.skipif(sys.platform == "win32", reason="the stand-in for git is a shell script")
def test_a_cancelled_run_does_not_wait_for_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "git").write_text(f"#!/bin/sh\ntouch '{tmp_path / 'started'}'\nsleep 60\n")
    (tmp_path / "bin" / "git").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    (tmp_path / "app").mkdir()
    cancellation = RunCancellation()

    def started() -> None:
        while not (tmp_path / "started").exists():
            time.sleep(0.01)

    cancel_when(started, cancellation)
    began = time.monotonic()
    prepared = prepare(RunSettings(suite(tmp_path, "source: ../app, dest: app")))
    assert prepared.run(lambda _: None, cancellation).outcome.status == "canceled"
    assert time.monotonic() - began < 5 + ON_A_BUSY_MACHINE


@pytest.mark.parametrize("directory", ["suite", "elsewhere"])
def test_a_repository_that_nobody_named_is_not_read(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, directory: str
) -> None:
    path = suite(tmp_path, "source: ../app, dest: app", f"source: {source}, dest: other")
    (tmp_path / directory).mkdir(exist_ok=True)
    monkeypatch.chdir(tmp_path / directory)
    assert "leads out of" in tried(path, Agent()).error


def test_the_repository_in_which_a_run_is_started_may_be_used(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (source / "inner").mkdir()
    monkeypatch.chdir(source / "inner")
    assert not tried(suite(tmp_path, "source: ../app, dest: app"), Agent()).error
