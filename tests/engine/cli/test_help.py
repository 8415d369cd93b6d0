"""``--help`` of every command reads well: what it does, what its values are, what its exit codes mean."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest
import typer.main

from tests.command_line import engine, stderr_of
from tests.engine.cli.terminal import shown_on_terminal
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
    from tests.engine.suites import GREETS, run, task, write_suite

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
