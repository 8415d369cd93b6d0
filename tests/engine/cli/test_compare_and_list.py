from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

from tests.command_line import engine
from tests.engine.suites import GREETS, run, task, write_suite


def recorded(path: Path, to: Path, **options: object) -> Path:
    report, _ = run(path, **options)
    assert report.results_file is not None
    return report.results_file.rename(to)


def two_runs(directory: Path) -> tuple[Path, Path]:
    """Return a run of tasks a and b, and one of a and c in which a does not pass any more."""
    suite = write_suite(directory, {"a": task("a"), "b": task("b")}, graders=GREETS)
    first = recorded(suite, directory / "first.json")
    (directory / "tasks" / "b.yaml").unlink()
    write_suite(directory, {"a": task("a", prompt="Bye"), "c": task("c")}, graders=GREETS)
    return first, recorded(suite, directory / "second.json")


def test_a_comparison_as_json_has_the_change_of_every_task(tmp_path: Path) -> None:
    found = json.loads(engine("compare", *two_runs(tmp_path), "--format", "json").stdout)
    assert (found["aggregate_scores"], found["aggregate_score_delta"]) == ([1.0, 0.5], -0.5)
    assert (found["success_rates"], found["total_tests"]) == ([1.0, 0.5], [2, 2])
    a, b, c = found["task_deltas"]
    assert (a["task_id"], a["scores"], a["score_delta"], a["pass_rate_delta"]) == (
        "a",
        [1.0, 0.0],
        -1.0,
        -1.0,
    )
    assert (a["statuses"], a["display_name"]) == (["passed", "failed"], "Task a")
    assert (b["scores"], b["pass_rates"], b["statuses"]) == ([1.0, None], [1.0, None], ["passed", "n/a"])
    assert (c["scores"], c["score_delta"], c["pass_rate_delta"]) == ([None, 1.0], None, None)


def test_a_comparison_is_a_table_of_tasks_and_runs(tmp_path: Path) -> None:
    found = engine("compare", *two_runs(tmp_path))
    assert found.returncode == 0
    rows = {line.split()[0]: line.split()[1:] for line in found.stdout.splitlines() if line.strip()}
    assert rows["a"] == ["1.00", "passed", "0.00", "failed", "-1.00"]
    assert rows["b"] == ["1.00", "passed", "n/a", "–"]
    assert rows["score"] == ["1.00", "0.50", "-0.50"]


def test_a_file_that_cannot_be_compared_is_exit_code_2(tmp_path: Path) -> None:
    first, _ = two_runs(tmp_path)
    for arguments, said in (((first, "gone.json"), "gone.json"), ((first,), "two result files")):
        found = engine("compare", *arguments)
        assert (found.returncode, said in found.stderr) == (2, True)


def test_suites_and_their_tasks_are_listed(tmp_path: Path) -> None:
    write_suite(tmp_path / "one", {"a": task("a"), "b": "id: ["}, graders=GREETS)
    write_suite(tmp_path / "node_modules", {"a": task("a")})
    (tmp_path / "two").mkdir()
    (tmp_path / "two" / "eval.yaml").write_text("name: [")
    found = engine("list", tmp_path)
    assert found.returncode == 0
    lines = found.stdout.splitlines()
    assert lines[0].endswith("eval.yaml  suite, 2 tasks")
    assert lines[1:3] == ["  a  Task a", "  b  (cannot be used)"]
    assert "two" in lines[3]
    assert len(lines) == 4


def test_a_list_as_json_is_one_object(tmp_path: Path) -> None:
    write_suite(tmp_path, {"a": task("a")}, graders=GREETS)
    only = json.loads(engine("list", tmp_path, "--json").stdout)["suites"][0]
    assert (only["name"], only["skill"], only["graders"]) == ("suite", "writer", ["greets"])
    assert [(found["id"], found["name"]) for found in only["tasks"]] == [("a", "Task a")]


def test_a_directory_without_a_suite_is_exit_code_2(tmp_path: Path) -> None:
    found = engine("list", tmp_path)
    assert (found.returncode, found.stdout) == (2, "")
    assert found.stderr == f"There is no eval.yaml below {tmp_path}.\n"


def test_a_directory_that_is_not_there_is_exit_code_2(tmp_path: Path) -> None:
    assert engine("list", tmp_path / "gone").returncode == 2


def test_a_run_writes_its_junit_report_also_when_tasks_fail(tmp_path: Path) -> None:
    suite = write_suite(tmp_path, {"a": task("a", prompt="Bye")}, graders=GREETS)
    found = engine("run", suite, "--reporter", f"junit:{tmp_path / 'out' / 'tests.xml'}")
    assert found.returncode == 1
    report = ElementTree.parse(tmp_path / "out" / "tests.xml")
    assert [failure.get("message") for failure in report.iter("failure")] == ["not passed: greets"]


def test_a_reporter_that_is_not_known_is_refused_before_the_run(tmp_path: Path) -> None:
    suite = write_suite(tmp_path, {"a": task("a")}, graders=GREETS)
    for reporter in ("xml:a.xml", "junit", "junit:"):
        found = engine("run", suite, "--reporter", reporter)
        assert (found.returncode, "junit:FILE" in found.stderr) == (2, True)
    assert not (tmp_path / ".waza").exists()
