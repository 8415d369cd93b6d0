import os
from pathlib import Path
from textwrap import dedent

import pytest

from tests.engine.suites import only_trial, run, task, verdicts, write_suite
from waza_engine.results.record import TrialOutcome

EXISTS = "graders:\n- {{type: file, name: there, config: {{must_exist: [{0}]}}}}\n"


def files_task(files: str, there: str = "x") -> str:
    text = f"id: a\nname: A\ninputs:\n  prompt: Look\n  files: {files}\n"
    return text + EXISTS.format(there)


def trial_of(tmp_path: Path, files: str) -> TrialOutcome:
    return only_trial(run(write_suite(tmp_path, {"a": files_task(files)}))[0])


def test_fixtures_are_copied_below_the_same_path(tmp_path: Path) -> None:
    (tmp_path / "fixtures" / "src").mkdir(parents=True)
    (tmp_path / "fixtures" / "src" / "app.py").write_text("print(1)\n")
    report, _ = run(write_suite(tmp_path, {"a": files_task("[{path: src/app.py}]", "src/app.py")}))
    assert verdicts(report)["there"].passed
    assert only_trial(report).output.endswith("Analyzed 1 file(s):\n  - src/app.py\nprint(1)\n")


def test_files_with_content_are_written(tmp_path: Path) -> None:
    report, _ = run(
        write_suite(tmp_path, {"a": files_task("[{path: a..b/ü.txt, content: hé}]", "a..b/ü.txt")})
    )
    assert verdicts(report)["there"].passed


def test_a_missing_fixture_is_a_warning_and_the_trial_goes_on(tmp_path: Path) -> None:
    path = write_suite(tmp_path, {"a": files_task("[{path: gone.txt}]")})
    report, events = run(path)
    assert only_trial(report).status == "failed"
    assert any("gone.txt" in (event.message or "") for event in events if event.kind == "output")


@pytest.mark.parametrize("written", ["../secret.txt", "/etc/passwd", "a/../../secret.txt", "''"])
def test_a_path_out_of_the_fixtures_is_an_error_of_the_trial(tmp_path: Path, written: str) -> None:
    (tmp_path / "secret.txt").write_text("secret")
    trial = trial_of(
        tmp_path, f"[{{path: {written}, content: x}}]" if written != "''" else "[{content: x, path: ' '}]"
    )
    assert trial.status in ("error", "failed")
    if written != "''":
        assert trial.status == "error"
        assert written in trial.error


@pytest.mark.skipif(os.name == "nt", reason="links need a privilege on Windows")
def test_a_link_out_of_the_fixtures_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("secret")
    (tmp_path / "suite" / "fixtures").mkdir(parents=True)
    (tmp_path / "suite" / "fixtures" / "link.txt").symlink_to(tmp_path / "secret.txt")
    trial = trial_of(tmp_path / "suite", "[{path: link.txt}]")
    assert trial.status == "error"
    assert "secret" not in trial.output


def test_the_context_directory_may_be_written_from_the_repository_root(tmp_path: Path) -> None:
    suite = tmp_path / "evals" / "writer"
    (suite / "shared").mkdir(parents=True)
    (suite / "shared" / "x").write_text("x")
    text = files_task("[{path: x}]") + "context_dir: evals/writer/shared\n"
    assert verdicts(run(write_suite(suite, {"a": text}))[0])["there"].passed


def test_a_context_fixture_is_copied_into_the_root_without_its_links(tmp_path: Path) -> None:
    (tmp_path / "app" / "src").mkdir(parents=True)
    (tmp_path / "app" / "src" / "x").write_text("x")
    (tmp_path / "app" / ".hidden").write_text("h")
    (tmp_path / "app" / "link").symlink_to(tmp_path)
    text = "id: a\ninputs: {prompt: Look, context: {fixture: app}}\n" + EXISTS.format("src/x, .hidden")
    report, _ = run(write_suite(tmp_path, {"a": text}))
    assert verdicts(report)["there"].passed
    assert "Analyzed 2 file(s)" in only_trial(report).output


@pytest.mark.parametrize("fixture", ["../outside", "/etc", "gone", "3", "."])
def test_a_context_fixture_must_lie_below_the_suite(tmp_path: Path, fixture: str) -> None:
    text = f"id: a\ninputs: {{prompt: Look, context: {{fixture: {fixture}}}}}\n"
    assert only_trial(run(write_suite(tmp_path, {"a": text}))[0]).status == "error"


def test_a_long_prompt_may_lie_in_a_file_beside_the_task(tmp_path: Path) -> None:
    path = write_suite(tmp_path, {"a": "id: a\ninputs: {prompt_file: long.md}\n"})
    (tmp_path / "tasks" / "long.md").write_text("Explain\nthis.\n")
    assert only_trial(run(path)[0]).output.startswith("Mock response for: Explain\nthis.\n")


def test_a_prompt_file_that_is_missing_is_an_error_of_the_trial(tmp_path: Path) -> None:
    trial = only_trial(run(write_suite(tmp_path, {"a": "id: a\ninputs: {prompt_file: gone.md}\n"}))[0])
    assert (trial.status, trial.validations) == ("error", None)
    assert "gone.md" in trial.error


def test_instruction_files_must_be_there(tmp_path: Path) -> None:
    trial = only_trial(run(write_suite(tmp_path, {"a": task("a", "instruction_files: [AGENTS.md]")}))[0])
    assert trial.status == "error"
    assert "AGENTS.md" in trial.error


def test_every_trial_starts_in_a_fresh_workspace(tmp_path: Path) -> None:
    leaves = """\
import os, pathlib, sys
left = pathlib.Path(os.environ['WAZA_WORKSPACE_DIR'], 'left')
sys.exit(left.exists() or left.touch())
"""
    (tmp_path / "leaves.py").write_text(leaves)
    graders = "- {type: program, name: leaves, config: {command: python3, args: [leaves.py]}}\n"
    report, _ = run(write_suite(tmp_path, {"a": task("a")}, graders=graders), trials=2)
    assert [trial.status for trial in report.outcome.tasks[0].trials] == ["passed", "passed"]


def test_a_file_or_a_folder_is_copied_from_anywhere_in_the_repository(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "shared" / "deep").mkdir(parents=True)
    (tmp_path / "shared" / "deep" / "a.txt").write_text("hello")
    inputs = (
        "inputs: {prompt: Go, files: [{path: ., copy_from: ../shared}, {path: b/c.txt, copy_from: %s}]}\n"
    )
    checks = """\
        graders:
          - {type: file, name: files, config: {must_exist: [deep/a.txt, b/c.txt]}}
        """
    for source, status in (("../shared/deep/a.txt", "passed"), ("gone.txt", "error"), ("../../etc", "error")):
        text = f"id: t\nname: T\n{inputs % source}{dedent(checks)}"
        report, _ = run(write_suite(tmp_path / "suite", {"t": text}))
        assert report.outcome.tasks[0].status == status, source
