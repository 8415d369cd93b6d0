"""What a run of some graders comes to: nothing that it left out passes for it."""

import json
from pathlib import Path

from tests.engine.suites import recorded, run, task, write_suite
from waza_engine.commands.reporting import ReportedRun, describe_standing, report_of, standing_of
from waza_engine.commands.shared_options import ReportKind
from waza_engine.results.reading.newest_scores import latest_results

GRADERS = """\
- {type: text, name: a, config: {contains: [hello]}}
- {type: text, name: b, config: {contains: [nowhere]}}
"""


def test_a_record_of_one_grader_says_so_in_every_report(tmp_path: Path) -> None:
    path = write_suite(tmp_path, {"one": task("one"), "two": task("two")}, graders=GRADERS)
    run(path)
    record = recorded(path, graders=["a"])
    document = json.loads(record.read_text("utf-8"))
    concluded = document["metadata"]["engine"]["conclusion"]
    assert (concluded["verdict"], concluded["exit_code"]) == ("unjudged", 0)
    assert concluded["words"] == "1 of 2 graders was run; 2 of 2 tasks passed there"
    standing = standing_of(path)
    assert standing is not None
    assert {name: each["status"] for name, each in standing["tasks"].items()} == {
        "one": "failed",
        "two": "failed",
    }
    words = "the suite failed: 2 of 2 tasks failed (its last whole run and the parts run since)"
    assert describe_standing(standing) == words
    for kind in (ReportKind.TEXT, ReportKind.MARKDOWN, ReportKind.JUNIT):
        told = report_of([ReportedRun(document, standing=standing)], kind).decode()
        assert "1 of 2 graders was run" in told
        assert "✓" not in told
        assert "✅" not in told
        assert (words in told) == (kind != ReportKind.JUNIT)


def test_a_run_of_all_graders_by_their_names_judges_its_tasks(tmp_path: Path) -> None:
    path = write_suite(tmp_path, {"one": task("one")}, graders=GRADERS.replace("nowhere", "hello"))
    run(path, graders=["a", "b", "nosuch"])
    found = latest_results(tmp_path)
    assert found is not None
    assert found.tasks["one"].status == "passed"
    run(path, graders=["a", "nosuch"])
    alone = latest_results(tmp_path)
    assert alone is not None
    assert alone.partial


def test_a_directory_counts_only_what_its_newest_suite_still_has(tmp_path: Path) -> None:
    first = write_suite(tmp_path, {"one": task("one"), "gone": task("gone")}, graders=GRADERS)
    run(first)
    graders = GRADERS.replace("nowhere", "hello")
    path = write_suite(tmp_path, {"one": task("one"), "two": task("two")}, graders=graders)
    (tmp_path / "tasks" / "gone.yaml").unlink()
    run(path)
    run(path, tasks=["one"])
    assert standing_of(tmp_path) == standing_of(path)
    assert [*(standing_of(tmp_path) or {})["tasks"]] == ["one", "two"]
