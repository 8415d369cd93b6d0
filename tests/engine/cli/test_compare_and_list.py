import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from tests.command_line import engine, stderr_of, stdout_of
from tests.engine.suites import GREETS, present, run, task, write_suite
from waza_engine.results.reading.newest_scores import latest_results


def recorded(path: Path, to: Path, **options: object) -> Path:
    report, _ = run(path, **options)
    return present(report.results_file).rename(to)


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
    assert (found.returncode, "✗ a passed, and fails now" in found.stdout) == (1, True)
    rows = {line.split()[0]: line.split()[1:] for line in found.stdout.splitlines() if line.strip()}
    assert rows["a"] == ["1.00", "passed", "0.00", "failed", "-1.00"]
    assert rows["b"] == ["1.00", "passed", "n/a", "–"]
    assert rows["came"] == ["to", "passed", "failed"]
    assert rows["score"] == ["1.00", "0.50", "-0.50"]


def test_only_what_has_changed_is_shown_unless_all_is_asked_for(tmp_path: Path) -> None:
    suite = write_suite(tmp_path, {"a": task("a"), "b": task("b")}, graders=GREETS)
    first = recorded(suite, tmp_path / "first.json")
    recorded(suite, tmp_path / "second.json")
    found = engine("compare", first, tmp_path / "second.json")
    assert (found.returncode, "1.00 passed" in found.stdout) == (0, False)
    assert "2 tasks without a change; --all shows them" in found.stdout
    assert "no trial that was judged both times came out otherwise" in found.stdout
    assert "1.00 passed" in engine("compare", first, tmp_path / "second.json", "--all").stdout


def test_directories_stand_for_their_newest_results(tmp_path: Path) -> None:
    """Of a suite, or of a folder of result files."""
    suite = write_suite(tmp_path / "suite", {"a": task("a")}, graders=GREETS)
    (tmp_path / "kept").mkdir()
    recorded(suite, tmp_path / "kept" / "old.json")
    write_suite(tmp_path / "suite", {"a": task("a", prompt="Bye")}, graders=GREETS)
    run(suite)
    found = json.loads(engine("compare", tmp_path / "kept", suite.parent, "--format", "json").stdout)
    assert found["regressions"] == ["a"]
    assert found["paired"] == {"better": 0, "worse": 1, "p": 1.0}
    assert found["files"][0] == str(tmp_path / "kept" / "old.json")


def gated(*arguments: object) -> tuple[int, dict[str, Any]]:
    found = engine("gate", "--format", "json", *arguments)
    return found.returncode, json.loads(found.stdout)


def test_a_gate_lets_a_small_regression_pass_and_tells_of_tasks_that_came_and_went(tmp_path: Path) -> None:
    first, second = two_runs(tmp_path)
    files = ("--baseline", first, "--current", second)
    code, found = gated(*files)
    assert (code, found["passed"], found["exit_code"], found["verdict"]) == (1, False, 1, "fail")
    assert (found["baseline_success_rate"], found["current_success_rate"]) == (1.0, 0.5)
    assert (found["regression_pct"], found["failures"][0]["kind"]) == (50.0, "regression")
    assert "which may be chance" in found["failures"][0]["message"]
    assert [task["task_id"] for task in found["new_tasks"]] == ["c"]
    assert [task["task_id"] for task in found["removed_tasks"]] == ["b"]
    assert [issue["kind"] for issue in found["warnings"]] == ["removed_task"]
    assert gated(*files, "--max-regression-pct", 50)[0] == 0
    assert gated(*files, "--max-regression-pct", 50, "--on-new-tasks", "fail")[0] == 1
    assert gated(*files, "--max-regression-pct", 50, "--on-removed-tasks", "fail")[0] == 1


def test_a_run_that_was_cut_short_says_so_wherever_it_is_compared(tmp_path: Path) -> None:
    suite = write_suite(tmp_path, {"a": task("a"), "b": task("b")}, graders=GREETS)
    whole = recorded(suite, tmp_path / "whole.json")
    document = json.loads(whole.read_text())
    document["tasks"][1] |= {"status": "skipped", "runs": [], "error_msg": "not run"}
    document["summary"] |= {"succeeded": 1, "skipped": 1}
    document["metadata"]["engine"]["status"] = "canceled"
    (tmp_path / "cut.json").write_text(json.dumps(document))
    found = engine("compare", whole, tmp_path / "cut.json")
    assert "interrupted" in next(line for line in found.stdout.splitlines() if "came to" in line)
    assert json.loads(engine("compare", whole, tmp_path / "cut.json", "-f", "json").stdout)["verdicts"] == [
        "passed",
        "interrupted",
    ]
    gate = engine("gate", "--baseline", whole, "--current", tmp_path / "cut.json")
    assert gate.returncode == 1
    assert "current: 100.0% of 1 task passed, 1 not judged" in gate.stdout


def test_a_golden_task_that_fails_is_code_2_and_what_cannot_be_read_code_3(tmp_path: Path) -> None:
    suite = write_suite(tmp_path, {"a": task("a")}, graders=GREETS)
    first = recorded(suite, tmp_path / "first.json")
    write_suite(tmp_path, {"a": task("a", "golden: true\n", prompt="Bye")}, graders=GREETS)
    second = recorded(suite, tmp_path / "second.json")
    code, found = gated("--baseline", first, "--current", second, "--golden-must-pass")
    assert (code, found["verdict"], found["golden_failures"][0]["golden"]) == (2, "golden-failure", True)
    assert engine("gate", "--baseline", first, "--current", "gone.json").returncode == 3
    assert engine("gate", "--baseline", first).returncode == 3
    assert engine("gate", "--baseline", first, "--current", second, "--on-new-tasks", "x").returncode == 3


def test_a_run_that_was_interrupted_does_not_pass_a_gate(tmp_path: Path) -> None:
    suite = write_suite(tmp_path, {"a": task("a")}, graders=GREETS)
    first = recorded(suite, tmp_path / "first.json")
    document = json.loads(first.read_text())
    document["metadata"]["engine"]["status"] = "canceled"
    (tmp_path / "second.json").write_text(json.dumps(document))
    code, found = gated("--baseline", first, "--current", tmp_path / "second.json")
    assert (code, found["failures"][0]["kind"]) == (1, "incomplete")


def test_a_gate_is_told_to_people_and_to_github(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = two_runs(tmp_path)
    files = ("--baseline", first, "--current", second)
    assert "gate: FAIL" in engine("gate", *files).stdout
    assert "## ❌ Gate: FAIL" in engine("gate", *files, "--format", "markdown").stdout
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary.md"))
    found = engine("gate", *files, "--format", "github-actions").stdout
    assert "::error title=gate::the pass rate fell by 50.00 percentage points" in found
    assert "## ❌ Gate: FAIL" in (tmp_path / "summary.md").read_text("utf-8")


def test_a_file_that_cannot_be_compared_is_exit_code_2(tmp_path: Path) -> None:
    first, _ = two_runs(tmp_path)
    for arguments, said in (((first, "gone.json"), "gone.json"), ((first,), "two result files")):
        assert said in stderr_of("compare", *arguments)


def test_suites_and_their_tasks_are_listed(tmp_path: Path) -> None:
    write_suite(tmp_path / "one", {"a": task("a"), "b": "id: ["}, graders=GREETS)
    write_suite(tmp_path / "node_modules", {"a": task("a")})
    (tmp_path / "two").mkdir()
    (tmp_path / "two" / "eval.yaml").write_text("name: [")
    lines = stdout_of("list", tmp_path).splitlines()
    assert lines[0].endswith("eval.yaml  suite, 2 tasks")
    assert lines[1:3] == ["  a  Task a", "  b  (cannot be used)"]
    assert "two" in lines[3]
    assert len(lines) == 4


def test_suites_beside_the_skills_of_agents_are_listed(tmp_path: Path) -> None:
    for place in (".github/skills/a", ".apm/skills/b", ".claude/sessions/c", "env/d"):
        write_suite(tmp_path / place, {"a": task("a")}, graders=GREETS)
    (tmp_path / "env" / "pyvenv.cfg").touch()
    suites = json.loads(engine("list", tmp_path, "--json").stdout)["suites"]
    assert [Path(each["path"]).parent.name for each in suites] == ["b", "a"]


def test_a_list_as_json_is_one_object(tmp_path: Path) -> None:
    write_suite(tmp_path, {"a": task("a")}, graders=GREETS)
    only = json.loads(engine("list", tmp_path, "--json").stdout)["suites"][0]
    assert (only["name"], only["skill"], only["graders"]) == ("suite", "writer", ["greets"])
    assert [(found["id"], found["name"]) for found in only["tasks"]] == [("a", "Task a")]


def test_a_directory_without_a_suite_has_none_to_list(tmp_path: Path) -> None:
    found = engine("list", tmp_path)
    assert (found.returncode, found.stdout) == (0, "")
    assert found.stderr == f"There is no eval.yaml below {tmp_path}.\n"


def test_a_directory_that_is_not_there_is_exit_code_2(tmp_path: Path) -> None:
    assert engine("list", tmp_path / "gone").returncode == 2


def test_of_tasks_with_one_id_none_hides_that_another_fails_now(tmp_path: Path) -> None:
    twins = {"a1": task("a"), "a2": task("a"), "a3": task("a")}
    suite = write_suite(tmp_path, twins, graders=GREETS)
    then = recorded(suite, tmp_path / "then.json")
    write_suite(tmp_path, twins | {"a2": task("a", prompt="Bye")}, graders=GREETS)
    now = recorded(suite, tmp_path / "now.json")
    found = engine("compare", then, now, "-f", "json")
    assert (found.returncode, json.loads(found.stdout)["regressions"]) == (1, ["a-2"])
    cases = ElementTree.fromstring(engine("report", now, "-f", "junit").stdout).iter("testcase")
    failures = [(case.get("name"), len(case.findall("failure"))) for case in cases]
    assert failures == [("a", 0), ("a-2", 1), ("a-3", 0)]
    run(suite)
    marked = present(latest_results(tmp_path))
    assert marked.tasks["a"].status == "failed"


def test_a_reporter_that_is_not_known_is_refused_before_the_run(tmp_path: Path) -> None:
    suite = write_suite(tmp_path, {"a": task("a")}, graders=GREETS)
    for reporter in ("xml:a.xml", "junit", "junit:"):
        assert "junit:FILE" in stderr_of("run", suite, "--reporter", reporter)
    assert not (tmp_path / ".waza").exists()


def with_prompts(record: Path, to: Path, *triggered: bool | None) -> Path:
    """Write a record with trigger prompts that should all trigger; None is one that could not be tried."""
    document = json.loads(record.read_text("utf-8"))
    document["trigger_results"] = [
        {
            "prompt": f"Prompt {number}",
            "should_trigger": True,
            "did_trigger": did is True,
            **({"error_msg": "no answer"} if did is None else {}),
        }
        for number, did in enumerate(triggered)
    ]
    document["trigger_metrics"] = {"accuracy": triggered.count(True) / len(triggered)}
    to.write_text(json.dumps(document), "utf-8")
    return to


def test_a_trigger_prompt_that_went_wrong_is_no_pass_of_a_gate(tmp_path: Path) -> None:
    whole = recorded(write_suite(tmp_path, {"a": task("a")}, graders=GREETS), tmp_path / "whole.json")
    good = with_prompts(whole, tmp_path / "good.json", True, True)
    bad = with_prompts(whole, tmp_path / "bad.json", True, False)
    untried = with_prompts(whole, tmp_path / "untried.json", True, None)
    assert gated("--baseline", good, "--current", good)[0] == 0
    for worse, kinds in ((bad, ["trigger_regression"]), (untried, ["errored", "trigger_regression"])):
        code, found = gated("--baseline", good, "--current", worse)
        assert (code, [issue["kind"] for issue in found["failures"]]) == (1, kinds)
        assert "2 of 2 before, 1 of 2 now" in found["failures"][-1]["message"]
    assert gated("--baseline", good, "--current", bad, "--max-regression-pct", 50)[0] == 0
    assert gated("--baseline", bad, "--current", good)[0] == 0
    assert (
        gated("--baseline", good, "--current", whole)[1]["warnings"][0]["kind"] == "removed_trigger_prompts"
    )
    assert gated("--baseline", good, "--current", whole, "--on-removed-tasks", "fail")[0] == 1
    assert "1 of 2 trigger prompts right" in engine("gate", "--baseline", good, "--current", bad).stdout
    assert (
        "| Trigger prompts |" in engine("gate", "--baseline", good, "--current", bad, "-f", "markdown").stdout
    )


def test_a_comparison_has_the_trigger_prompts_that_changed(tmp_path: Path) -> None:
    whole = recorded(write_suite(tmp_path, {"a": task("a")}, graders=GREETS), tmp_path / "whole.json")
    first = with_prompts(whole, tmp_path / "first.json", True, True, True)
    last = with_prompts(whole, tmp_path / "last.json", True, False, None)
    found = engine("compare", first, last).stdout
    assert "Prompt 0" not in found
    assert "1 trigger prompt without a change; --all shows them" in found
    lines = [line.strip() for line in found.splitlines()]
    rows = {line[:8]: line.split()[2:] for line in lines if line.startswith("Prompt")}
    assert rows == {"Prompt 1": ["right", "wrong", "–"], "Prompt 2": ["right", "not", "tried", "–"]}
    document = json.loads(engine("compare", first, last, "--format", "json").stdout)
    assert document["trigger_prompts"][1]["verdicts"] == ["passed", "failed"]
