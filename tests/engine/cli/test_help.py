"""``--help`` of every command reads well: what it does, what its values are, what its exit codes mean."""

import os
import stat
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest
import typer.main

from tests.command_line import engine, stderr_of
from tests.engine.cli.terminal import shown_on_terminal
from tests.engine.suites import GREETS, recorded, run, task, write_suite
from waza_engine.commands.application import application


def commands(group: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    for name, command in cast("dict[str, Any]", group.commands).items():
        if hasattr(command, "commands"):
            yield from commands(command, (*path, name))
        else:
            yield (*path, name)


EVERY = sorted(commands(typer.main.get_command(application)))


def test_the_commands_that_are_promised_are_there() -> None:
    promised = {"run", "grade", "compare", "report", "list", "schema", "serve"}
    assert {(name,) for name in promised} <= set(EVERY)
    assert {("new", "suite"), ("new", "task"), ("new", "grader")} <= set(EVERY)


@pytest.mark.parametrize("command", EVERY, ids=" ".join)
def test_the_help_of_a_command(command: tuple[str, ...]) -> None:
    found = engine(*command, "--help")
    assert (found.returncode, found.stderr) == (0, "")
    assert f"Usage: waza-engine {' '.join(command)}" in found.stdout
    assert "Exit code" in found.stdout
    assert "0: " in found.stdout
    for odd in ("<path>\n", "<str>", "<list[", "None", "\x1b"):
        assert odd not in found.stdout.split("Options:")[-1], odd
    assert max(map(len, found.stdout.splitlines())) <= 80


def test_an_option_that_does_not_exist_is_refused_with_the_way_to_the_help() -> None:
    found = stderr_of("run", "--trails", "2", ".")
    assert "--trials" in found
    assert "for help" in found


@pytest.mark.skipif(sys.platform == "win32", reason="pseudo terminals are POSIX")
@pytest.mark.parametrize(("no_color", "coloured"), [("", True), ("1", False)])
def test_colours_are_for_terminals_that_want_them(tmp_path: Any, no_color: str, coloured: bool) -> None:
    suite = write_suite(tmp_path, {"a": task("a")}, graders=GREETS)
    run(suite)
    variables = {"NO_COLOR": no_color} if no_color else {}
    shown = shown_on_terminal("report", suite, **variables)
    assert (b"\x1b[32m" in shown) is coloured
    assert "✓".encode() in shown
    assert "\x1b" not in engine("report", suite).stdout


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ("run . --trials x", "`--trials` must be a whole number."),
        ("run . --trials 0", "`--trials` must be 1 or more."),
        ("run . --max-cost x", "`--max-cost` must be a number."),
        ("run . --max-cost=-1", "`--max-cost` must be 0 or more."),
        ("report . --fail-under 3", "`--fail-under` must be 1 or less."),
        ("compare a b --format x", "`--format` is `x`, which is not one of `table`, `json`."),
        ("compare", "`RESULTS` is missing."),
        ("merge", "`RESULTS...` is missing."),
        ("gate --baseline a", "`--current` is missing."),
        (
            "run . --modle x",
            "There is no option `--modle`; did you mean `--judge-model` or `--live` or `--model`?",
        ),
        ("run . --xyz", "There is no option `--xyz`."),
        ("repor", "There is no command `repor`; did you mean `report`?"),
        ("xyz", "There is no command `xyz`."),
        ("run . --parallel=4", "`--parallel` takes no value."),
        ("run . --model", "`--model` needs a value."),
        ("list a b", "`b` is too much here."),
    ],
)
def test_a_wrong_argument_is_told_in_our_words(tmp_path: Path, arguments: str, told: str) -> None:
    found = engine(*arguments.split(), cwd=tmp_path)
    assert found.returncode == (3 if arguments.startswith("gate") else 2)
    assert found.stdout == ""
    assert found.stderr.splitlines()[0] == told


PLACES = {
    "bash": ".bash_completions/waza-engine.sh",
    "zsh": ".zfunc/_waza-engine",
    "fish": ".config/fish/completions/waza-engine.fish",
    "pwsh": "profile.ps1",
}


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    return tmp_path


@pytest.mark.skipif(sys.platform == "win32", reason="the PowerShell here is a script for sh")
@pytest.mark.parametrize("shell", PLACES)
def test_every_shell_gets_its_completion(home: Path, shell: str, monkeypatch: pytest.MonkeyPatch) -> None:
    program = home / "bin" / "pwsh"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\necho '{home}/profile.ps1'\n", "utf-8")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    detected = (shell, f"/bin/{shell}")
    monkeypatch.setattr("shellingham.detect_shell", lambda: detected)
    found = engine("--install-completion")
    assert (found.returncode, found.stderr) == (0, "")
    assert str(home / PLACES[shell]) in found.stdout
    written = (home / PLACES[shell]).read_text("utf-8")
    assert "_WAZA_ENGINE_COMPLETE" in written
    assert engine("--show-completion").stdout.strip() in written


def test_a_home_that_takes_no_files_is_told_in_one_sentence(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (home / "file").write_text("", "utf-8")
    monkeypatch.setenv("HOME", str(home / "file"))
    monkeypatch.setattr("shellingham.detect_shell", lambda: ("bash", "/bin/bash"))
    found = engine("--install-completion")
    assert (found.returncode, found.stdout) == (2, "")
    assert found.stderr.endswith("); `waza-engine --show-completion` prints it.\n")
    assert found.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("waza-engine rep", ["report"]),
        ("waza-engine new ", ["suite", "task", "grader", "workflow"]),
        ("waza-engine report --for", ["--format"]),
        ("waza-engine report --format ", ["text", "json", "junit", "markdown", "github", "html", "csv"]),
        ("waza-engine run --executor ", ["mock", "copilot-sdk", "openai", "command", "replay"]),
        ("waza-engine new grader tool", ["tool_calls", "tool_constraint"]),
    ],
)
def test_what_can_be_written_is_offered(
    typed: str, offered: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    variables: dict[str, Any] = {
        "COMP_WORDS": typed,
        "COMP_CWORD": str(len(typed.split(" ")) - 1),
        "_WAZA_ENGINE_COMPLETE": "complete_bash",
    }
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert engine().stdout.split() == offered


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("run gone.yaml", "gone.yaml"),
        ("run tasks", "there is no eval.yaml"),
        ("run . --task nope", "No task matches"),
        ("run . --grader nope", "No grader is called"),
        ("run . --executor nope", "not an executor"),
        ("run . --format xml", "xml"),
        ("run nope", "There is no path `nope`"),
        ("report gone.json --format junit", "no result file"),
        ("report tasks/a.yaml --format junit", "has no results yet"),
        ("report .waza/.gitignore --format junit", "not a result file"),
        ("report eval.yaml --format pdf", "pdf"),
        ("grade gone.json", "no result file"),
        ("grade eval.yaml", "has no results yet"),
        ("grade tasks", "has no results yet"),
        ("grade .waza/.gitignore", "not a result file"),
        ("grade record.json --task nope", "No task matches"),
        ("grade record.json --grader nope", "No grader is called"),
        ("grade record.json --workspace nope", "not a directory"),
        ("grade record.json --suite nope.yaml", "nope.yaml"),
        ("grade record.json --suite tasks", "no eval.yaml"),
        ("grade record.json -o eval.yaml/x.json", "cannot be written"),
        (f"run . -o {'x' * 300}", "cannot be written"),
        ("run . --reporter junit:eval.yaml/x.xml", "cannot be written"),
        (f"run . --reporter junit:{'x' * 300}", "cannot be written"),
    ],
)
def test_exit_code_2_when_nothing_can_be_done(tmp_path: Path, arguments: str, said: str) -> None:
    recorded(write_suite(tmp_path, {"a": task("a")}, graders=GREETS)).rename(tmp_path / "record.json")
    found = engine(*arguments.split(), cwd=tmp_path)
    assert (found.returncode, found.stdout) == (2, "")
    assert said in found.stderr
    assert "Traceback" not in found.stderr
