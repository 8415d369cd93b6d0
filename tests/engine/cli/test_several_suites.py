"""``waza-engine run`` with several suites: which are selected, what is printed, and the exit code."""

import json
from pathlib import Path

import pytest
from junitparser import JUnitXml

from tests.command_line import Finished, engine
from tests.conftest import StartModel
from tests.engine.suites import GREETS, openai_config, task, write_suite
from waza_engine.executors.executor import Cancellation
from waza_engine.runs.run import PreparedRun, RunReport


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with suites for `fails`, `passes` and a `broken` one that cannot be loaded."""
    for skill, prompt in (("passes", "hello"), ("fails", "goodbye")):
        path = write_suite(tmp_path / "evals" / skill, {"t": task("t", prompt=prompt)}, graders=GREETS)
        path.write_text(path.read_text("utf-8").replace("skill: writer", f"skill: {skill}"), "utf-8")
    (tmp_path / "evals" / "broken").mkdir()
    (tmp_path / "evals" / "broken" / "eval.yaml").write_text("name: broken\nskill: broken\n", "utf-8")
    return tmp_path


def run(project: Path, *arguments: object) -> Finished:
    return engine("run", *arguments, cwd=project)


def rows(found: Finished) -> list[list[str]]:
    """Return the first words of each row of the table."""
    table = found.stdout[found.stdout.index("suite  ") :].splitlines()[1:4]
    return [row.replace("could not", "could_not").split()[:3] for row in table]


@pytest.mark.parametrize("selected", [(), (".",), ("evals",), ("evals", "evals/passes", "passes")])
def test_a_directory_means_all_suites_below_it_each_once(project: Path, selected: tuple[str, ...]) -> None:
    found = run(project, *selected)
    assert found.returncode == 2
    assert rows(found) == [
        ["evals/broken/eval.yaml", "–", "could_not"],
        ["evals/fails/eval.yaml", "✗", "failed"],
        ["evals/passes/eval.yaml", "✓", "passed"],
    ]
    assert found.stdout.endswith("1 of 3 suites passed, 1 could not run\n")
    assert "`config` is missing" in found.stderr


@pytest.mark.parametrize(
    ("selected", "code", "said"),
    [
        (("passes",), 0, "passed: 1 of 1 task passed"),
        (("fails",), 1, "failed: 0 of 1 task passed"),
        (("evals/passes", "fails"), 1, "1 of 2 suites passed"),
        (("passe",), 2, "did you mean `passes`?"),
        (("evals/passes/tasks",), 2, "there is no eval.yaml or evals.json in this directory or below it"),
    ],
)
def test_a_suite_is_selected_by_its_path_or_its_skill(
    project: Path, selected: tuple[str, ...], code: int, said: str
) -> None:
    found = run(project, *selected)
    assert (found.returncode, said in found.stdout + found.stderr) == (code, True), found


@pytest.mark.parametrize(
    ("name", "content", "code"),
    [
        ("eval.yaml", b"", 2),
        ("eval.yaml", b"name: x\nskill: passes\nskill: passes\n", 2),
        ("eval.yaml", "skill: passes\n".encode("utf-16"), 2),
        ("evals.json", b'{"evals": [', 2),
        ("eval.yaml", b"skill: fails\nskill: fails\n", 0),
    ],
)
def test_an_unreadable_suite_may_test_a_named_skill(
    project: Path, name: str, content: bytes, code: int
) -> None:
    (project / "evals" / "broken" / "eval.yaml").unlink()
    (project / "evals" / "broken" / name).write_bytes(content)
    found = run(project, "passes")
    assert (found.returncode, "1 could not run" in found.stdout) == (code, code == 2), found
    assert "passed: 1 of 1 task passed" in found.stdout


def test_a_skill_that_only_an_unreadable_suite_may_test_is_not_called_untested(project: Path) -> None:
    (project / "evals" / "broken" / "eval.yaml").write_bytes(b"")
    found = run(project, "other")
    assert found.returncode == 2
    assert "no suite that can be read tests a skill with this name" in found.stderr
    assert "eval.yaml:1: the file is empty" in found.stderr


def test_one_document_and_one_junit_file_have_all_suites(project: Path) -> None:
    found = run(project, "-f", "json", "-o", "copy.json", "--reporter", "junit:report.xml")
    assert found.returncode == 2
    *documents, refused = json.loads(found.stdout)["suites"]
    assert [document["skill"] for document in documents] == ["fails", "passes"]
    assert refused["path"].endswith("evals/broken/eval.yaml")
    assert "`config` is missing" in refused["error"]
    assert sorted(path.name for path in project.glob("copy*")) == [
        "copy_evals_fails.json",
        "copy_evals_passes.json",
    ]
    suites = list(JUnitXml.fromfile(str(project / "report.xml")))
    assert [(suite.tests, suite.failures, suite.errors) for suite in suites] == [
        (1, 1, 0),
        (1, 0, 0),
        (1, 0, 1),
    ]


def test_the_file_of_each_suite_is_named(project: Path) -> None:
    found = run(project, "passes", "fails", "-o", "copy.json")
    for line in ("results: copy_evals_passes.json\n", "results: copy_evals_fails.json\n"):
        assert line in found.stdout


def test_an_interruption_reports_the_finished_suites(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = PreparedRun.run

    def interrupted(prepared: PreparedRun, listener: object, cancellation: Cancellation) -> RunReport:
        report = whole(prepared, listener, cancellation)  # type: ignore[arg-type]
        cancellation.request()  # type: ignore[attr-defined]
        return report

    monkeypatch.setattr(PreparedRun, "run", interrupted)
    found = run(project, "passes", "fails")
    assert found.stdout.endswith("1 of 2 suites passed, 1 not run\n")


def test_suites_share_one_budget(scripted_model: StartModel, tmp_path: Path) -> None:
    model = scripted_model("hello", "hello")
    config = openai_config(model.base_url)
    for name in ("a", "b"):
        write_suite(tmp_path / name, {"t": task("t")}, graders=GREETS, config=config)
    found = engine("run", tmp_path, "--max-tokens", "1")
    assert (found.returncode, len(model.requests)) == (3, 1), found


@pytest.fixture
def recorded(project: Path) -> Path:
    """The project after a run: the broken suite has no results."""
    run(project)
    return project


@pytest.mark.parametrize(
    ("command", "code", "cells"),
    [
        (["preflight"], 1, {"fails": "✓ ready", "passes": "✓ ready"}),
        (["report"], 2, {"fails": "✗ failed", "passes": "✓ passed"}),
        (["history"], 2, {"fails": "failed", "passes": "passed"}),
        (["grade"], 2, {"fails": "✗ failed", "passes": "✓ passed"}),
        (["strength"], 2, {"fails": "1", "passes": "1"}),
        (["report", "fails", "passes"], 1, {"fails": "✗ failed", "passes": "✓ passed"}),
        (["history", "evals/passes", "fails"], 0, {"fails": "failed", "passes": "passed"}),
    ],
)
def test_each_command_takes_several_suites(
    recorded: Path, command: list[str], code: int, cells: dict[str, str]
) -> None:
    found = engine(*command, cwd=recorded)
    assert found.returncode == code, found
    table = found.stdout[found.stdout.index("\nsuite  ") :].splitlines()
    for name, cell in cells.items():
        assert f"── evals/{name}/eval.yaml\n" in found.stdout
        assert [line.split("eval.yaml")[1].strip().startswith(cell) for line in table if name in line] == [
            True
        ]
    if len(command) == 1 and command != ["preflight"]:
        assert found.stderr.count("\n") == 1
        assert any("evals/broken/eval.yaml  – not possible" in line for line in table)


@pytest.mark.parametrize("command", ["preflight", "report", "history", "grade", "strength"])
def test_the_json_of_several_suites_is_one_object(recorded: Path, command: str) -> None:
    found = engine(command, "-f", "json", cwd=recorded)
    suites = json.loads(found.stdout)["suites"]
    assert len(suites) == 3
    if command != "preflight":
        assert ["error" in each for each in suites].count(True) == 1
    (alone,) = (engine(command, "passes", "-f", "json", cwd=recorded),)
    assert "suites" not in json.loads(alone.stdout)


def test_a_gate_compares_two_directories_suite_by_suite(recorded: Path, tmp_path: Path) -> None:
    now = tmp_path / "now"
    for name in ("passes", "new"):
        write_suite(now / name, {"t": task("t", prompt="goodbye")}, graders=GREETS)
    engine("run", now)
    (recorded / "evals" / "broken" / "eval.yaml").unlink()
    options = ["--baseline", recorded / "evals", "--current", now]
    found = engine("gate", *options)
    assert found.returncode == 1
    rows = [line for line in found.stdout.splitlines() if line.split("/")[0] in ("fails", "new", "passes")]
    assert [row.split()[1] for row in rows] == ["PASS", "PASS", "FAIL"]
    assert found.stderr == "fails/eval.yaml: the suite is only in the baseline results\n"
    assert [
        each["exit_code"] for each in json.loads(engine("gate", *options, "-f", "json").stdout)["suites"]
    ] == [
        0,
        0,
        1,
    ]
    one = engine("gate", "--baseline", recorded / "evals", "--current", now / "passes")
    assert (one.returncode, "selects 2 suites and" in one.stderr) == (3, True)


def test_options_about_one_suite_are_refused_for_several(recorded: Path) -> None:
    for arguments in (["grade", "--suite", "evals/fails"], ["strength", "--references", "labels.json"]):
        found = engine(*arguments, cwd=recorded)
        assert (found.returncode, "is about one suite; name that suite" in found.stderr) == (2, True)


def test_new_verdicts_of_several_suites_go_to_a_file_each(recorded: Path) -> None:
    engine("grade", "fails", "passes", "-o", "new.json", cwd=recorded)
    assert sorted(path.name for path in recorded.glob("new*")) == [
        "new_evals_fails.json",
        "new_evals_passes.json",
    ]


def test_one_suite_through_two_links_runs_once(project: Path) -> None:
    (project / "link").symlink_to(project / "evals" / "passes", target_is_directory=True)
    found = run(project, "link", "evals/passes", "passes")
    assert (found.returncode, found.stdout.count("1 of 1 task passed")) == (0, 1)


def test_a_directory_without_a_suite_is_reported_once(tmp_path: Path) -> None:
    for command in ("run", "preflight", "history", "report", "grade", "strength"):
        found = engine(command, cwd=tmp_path)
        assert (found.returncode, found.stdout, found.stderr.count("\n")) == (2, "", 1), command
