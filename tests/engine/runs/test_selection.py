"""What is told before a run starts: graders that do not exist, graders that cannot grade."""

from pathlib import Path

from tests.engine.suites import task, write_suite
from waza_engine.runs.loading.suite_on_disk import load_suite
from waza_engine.runs.trials.selection import select

GRADERS = """\
- {type: text, name: a, config: {contains: [x]}}
- {type: inline, name: b, config: {grader: none.py}}
- {type: script, name: c, config: {script: none.py}}
"""


def warnings(path: Path, *names: str) -> list[str]:
    suite = load_suite(path)
    return [warning.partition(f"{suite.directory}")[2] or warning for warning in select(suite, (), names)[1]]


def test_a_grader_that_does_not_exist_is_named(tmp_path: Path) -> None:
    suite = write_suite(tmp_path, {"a": task("a")}, graders=GRADERS)
    assert warnings(suite, "a", "nope") == ["no grader is called `nope`; there are a, b, c"]
    assert warnings(suite, "a") == []


def test_a_grader_file_that_is_not_there_is_told_before_the_run(tmp_path: Path) -> None:
    suite = write_suite(tmp_path, {"a": task("a")}, graders=GRADERS)
    told = warnings(suite)
    assert len(told) == 2
    assert "grader `b`: Grader not found:" in told[0]
    assert "grader `c`: the script none.py does not exist" in told[1]
    (tmp_path / "none.py").write_text("")
    assert warnings(suite) == []


def test_what_is_odd_about_a_grader_of_the_suite_is_said_once_and_of_the_eval_file(tmp_path: Path) -> None:
    odd = "- {{type: text, name: {}, config: {{contains: [x], colour: red}}}}\n"
    own = task("b", f"graders:\n{odd.format('own')}")
    suite = write_suite(tmp_path, {"a": task("a"), "b": own}, graders=odd.format("shared"))
    said = "`colour` is not an option here and has no effect"
    assert warnings(suite) == [f"/eval.yaml: grader `shared`: {said}", f"/tasks/b.yaml: grader `own`: {said}"]
