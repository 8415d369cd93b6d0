"""``inputs.git``: the workspace is a repository, and git says what the agent did."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.engine.executors.agents import write_agent
from tests.engine.suites import COMMAND_CONFIG, run, write_suite
from waza_engine.results.record import TrialOutcome
from waza_engine.spec.loading import load_task_file
from waza_engine.spec.problems import SuiteFileError

pytestmark = [
    pytest.mark.check,
    pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed"),
]
# Reads the end state as graders of agent-eval-harness do: changes, and whether the hint names one of them.
BY_GIT = """\
import json, subprocess, sys
given = json.load(sys.stdin)
status = subprocess.run(
    ["git", "status", "--porcelain"], cwd=given["cwd"], capture_output=True, text=True, check=True
).stdout.splitlines()
created = sorted(line[3:] for line in status if line.startswith("??"))
modified = sorted(line[3:] for line in status if line.startswith(" M"))
found = any(given["hint"] in name for name in (*created, *modified))
print(json.dumps({
    "pass": found,
    "score": 1 if found else 0.5 if status else 0,
    "outcome": {"filesCreated": created, "filesModified": modified},
}))
"""
AGENT = """\
import pathlib
for name in sys.argv[-1].rpartition("WRITE ")[2].split():
    pathlib.Path(name).write_text("changed")
print("done")
"""
GRADER = "- {type: inline, name: by_git, config: {grader: by_git.py}}\n"


def outcome(folder: Path, writes: str, more: str = "git: true", files: str = "app.ts") -> TrialOutcome:
    inputs = f"prompt: WRITE {writes}, files: [{{path: {files}, content: old}}], {more}"
    task = f"id: a\nname: a\nhint: app\ninputs: {{{inputs}}}\n"
    path = write_suite(folder, {"a": task}, graders=GRADER, config=COMMAND_CONFIG)
    (folder / "by_git.py").write_text(BY_GIT, "utf-8")
    extension = {"output_mode": "text", "skills_directory": ".agent/skills"}
    write_agent(folder, AGENT, sessionMode="iterative", prompt={}, **{"x-waza": extension})
    (folder / "SKILL.md").write_text("---\nname: writer\ndescription: Writes.\n---\n\n# Write\n", "utf-8")
    report, _ = run(path)
    (trial,) = report.outcome.tasks[0].trials
    return trial


@pytest.mark.parametrize(
    ("writes", "passed", "score", "created", "modified"),
    [
        ("app.ts", True, 1, [], ["app.ts"]),
        ("app-button.tsx", True, 1, ["app-button.tsx"], []),
        ("unrelated.ts", False, 0.5, ["unrelated.ts"], []),
    ],
)
def test_git_shows_what_the_agent_did_and_nothing_else(
    tmp_path: Path, writes: str, passed: bool, score: float, created: list[str], modified: list[str]
) -> None:
    trial = outcome(tmp_path, writes)
    assert not trial.error
    verdict = (trial.validations or {})["by_git"]
    assert (verdict.passed, verdict.score, verdict.status) == (passed, score, "graded")
    assert verdict.details["outcome"] == {"filesCreated": created, "filesModified": modified}


def test_without_the_key_there_is_no_repository(tmp_path: Path) -> None:
    assert (outcome(tmp_path, "app.ts", "context: {}").validations or {})["by_git"].status == "error"


def test_files_with_a_repository_of_their_own_are_refused(tmp_path: Path) -> None:
    assert "`inputs.git`: the files of the task hold a `.git`" in outcome(tmp_path, "x", files=".git/a").error


def test_a_workspace_is_one_repository(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    repos = "repos: [{type: worktree, source: ., dest: app}]"
    path.write_text(f"id: a\nname: a\ninputs: {{prompt: x, git: true, {repos}}}\n", "utf-8")
    with pytest.raises(SuiteFileError, match="give `git` or `repos`, not both"):
        load_task_file(path)


def test_the_configuration_of_the_user_starts_no_program_of_the_suite(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, started = tmp_path / "home", tmp_path / "started"
    home.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    settings = f"[core]\nhooksPath = hooks\nexcludesFile = {home}/ignore\nfsmonitor = touch {started}\n"
    (home / ".gitconfig").write_text(settings, "utf-8")
    (home / "ignore").write_text("*.ts\n", "utf-8")
    monkeypatch.setenv("HOME", str(home))
    hook = json.dumps(f"#!/bin/sh\ntouch {started}\n")
    more = f"{{path: hooks/post-index-change, content: {hook}}}, {{path: .gitignore, content: '*.log'}}"
    task = (
        "id: a\nname: a\ninputs:\n  prompt: x\n  git: true\n"
        f"  files: [{{path: app.ts, content: old}}, {{path: a.log, content: old}}, {more}]\n"
    )
    path = write_suite(tmp_path / "s", {"a": task})
    report, _ = run(path, keep_workspace=True)
    (trial,) = report.outcome.tasks[0].trials
    assert not trial.error
    plain = {"PATH": os.environ["PATH"]}
    listed = subprocess.run(
        ["git", "ls-files"], cwd=trial.workspace, capture_output=True, text=True, check=True, env=plain
    )
    assert {"app.ts", "a.log"} <= set(listed.stdout.split())
    assert not started.exists()
