"""What changed between two runs is told in tables, and what stayed is only counted."""

from pathlib import Path

from tests.engine.suites import recorded, task, write_suite
from waza_engine.commands.result_page import changed_page

GRADERS = """\
- {type: text, name: "says|all", config: {contains: [Say]}}
- {type: text, name: polite, config: {contains: [hello]}}
"""


def test_a_row_a_task_and_a_grader_that_came_to_something_else(tmp_path: Path) -> None:
    files: list[Path] = []
    for word in ("hello", "bye"):
        tasks = {"a": task("a", prompt=f"Say {word}"), "b": task("b", prompt="Say hello")}
        record = recorded(write_suite(tmp_path, tasks, graders=GRADERS))
        files.append(record)
    text = changed_page(files[1], files[0], None)["markdown"]
    rows = [line for line in text.splitlines() if line.startswith(("| `", "| verdict"))]
    assert rows == [
        "| verdict | `passed` | `failed` |",
        "| `a` | ✓ passed 1.00 | ✗ failed 0.50 |",
        "| `a` `polite` | ✓ passed 1.00 | ✗ failed 0.00 |",
    ]
    assert "1 task did not change." in text
    alone = changed_page(files[1], files[0], "b")["markdown"]
    assert "| task |" not in alone


def test_a_task_that_only_one_run_had_is_told(tmp_path: Path) -> None:
    files: list[Path] = []
    for names in ("a", "ab"):
        record = recorded(write_suite(tmp_path, {name: task(name) for name in names}, graders=GRADERS))
        files.append(record)
    assert "| `b` | – | ✓ passed 1.00 |" in changed_page(files[1], files[0], None)["markdown"]


def test_a_run_of_one_grader_is_compared_by_that_grader_alone(tmp_path: Path) -> None:
    files: list[Path] = []
    for word, graders in (("hello", ()), ("bye", ("polite",))):
        suite = write_suite(tmp_path, {"a": task("a", prompt=f"Say {word}")}, graders=GRADERS)
        record = recorded(suite, graders=graders)
        files.append(record)
    text = changed_page(files[1], files[0], None)["markdown"]
    rows = [line for line in text.splitlines() if line.startswith("| `")]
    assert rows == ["| `a` `polite` | ✓ passed 1.00 | ✗ failed 0.00 |"]
