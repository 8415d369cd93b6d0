"""What is said of arguments that cannot be used: one sentence, and where to read more."""

from pathlib import Path

import pytest

from tests.command_line import engine


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
