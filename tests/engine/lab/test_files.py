"""Graders that look at files: asked about changed copies of what the agent left, where that was kept."""

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.command_line import engine
from tests.engine.lab.recorded import Trial, record, strengths, trial, write_record
from tests.engine.suites import task, write_suite
from waza_engine.lab.measuring import GraderStrength
from waza_engine.user_state import remember_workspace

CONFIG = """\
name: service
replicas: 3
region: north
"""
OTHER = """\
name: billing
replicas: 12
region: south
"""


def left(place: Path, files: Mapping[str, str]) -> Trial:
    """Return a recorded trial in whose workspace, which was kept, these files are."""
    for name, text in files.items():
        file = place / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")
    remember_workspace(place)
    return {**trial("Done.", "edit"), "workspace_dir": str(place)}


def measured(tmp_path: Path, grader: str, files: Mapping[str, str] | None = None) -> GraderStrength:
    """Return the strength of a grader on one trial that left these files."""
    kept = left(tmp_path / "kept", files or {"conf/service.yaml": CONFIG, "README.md": "Read me.\n"})
    suite = record(tmp_path / "suite", {"a": [kept]}, f"- {{name: it, {grader}}}\n")
    return strengths(suite)["it"]


def test_a_grader_of_contents_notices_what_one_of_existence_does_not(tmp_path: Path) -> None:
    there = measured(tmp_path / "a", "type: file, config: {must_exist: [conf/service.yaml, README.md]}")
    pattern = (
        "type: file, config: {content_patterns: [{path: conf/service.yaml, must_match: ['replicas: 3\\n']}]}"
    )
    content = measured(tmp_path / "b", pattern)
    assert there.kinds == {"no file at all": (1, 1), "a file missing": (2, 2)}
    assert content.kinds["a line dropped"][0] >= 1
    assert content.kinds["a file emptied"] == (1, 1)
    assert content.kinds["a number changed"] == (1, 1)
    assert (there.finding, content.finding) == ("", "")
    assert (there.weak_checks, content.weak_checks) == ((), ())


def test_a_snapshot_notices_every_change_of_its_file(tmp_path: Path) -> None:
    suite = tmp_path / "suite"
    suite.mkdir()
    (suite / "wanted.yaml").write_text(CONFIG, "utf-8")
    grader = "type: diff, config: {expected_files: [{path: conf/service.yaml, snapshot: wanted.yaml}]}"
    found = measured(tmp_path, grader)
    assert found.strength == 1.0
    assert {"a line dropped", "a number changed", "a file rewritten", "no file at all"} <= set(found.kinds)


def test_files_of_another_task_are_taken_for_its_own_only_by_a_weak_one(tmp_path: Path) -> None:
    mine = left(tmp_path / "kept-a", {"conf/service.yaml": CONFIG})
    others = left(tmp_path / "kept-b", {"conf/service.yaml": OTHER})
    holds = "type: diff, config: {expected_files: [{path: conf/service.yaml, contains: ['%s']}]}"
    own = f"graders:\n- {{name: exact, {holds % 'name: service'}}}\n- {{name: loose, {holds % 'name:'}}}\n"
    suite = write_suite(tmp_path / "suite", {"a": task("a", own), "b": task("b")})
    found = strengths(write_record(suite, {"a": [mine], "b": [others]}))
    assert found["exact"].kinds["another task's files"] == (1, 1)
    assert found["loose"].kinds["another task's files"] == (0, 1)


def test_what_is_forbidden_is_put_there(tmp_path: Path) -> None:
    absent = measured(tmp_path / "a", "type: file, config: {must_not_exist: [.env, node_modules/]}")
    assert absent.kinds == {"what the grader names": (2, 2)}
    fragment = "{path: README.md, contains: ['-TODO', '+Read']}"
    forbidden = measured(tmp_path / "b", f"type: diff, config: {{expected_files: [{fragment}]}}")
    assert (forbidden.finding, forbidden.weak_checks) == ("", ())
    pattern = "{path: README.md, must_not_match: ['TODO|FIXME']}"
    unmatched = measured(tmp_path / "c", f"type: file, config: {{content_patterns: [{pattern}]}}")
    assert (unmatched.finding, unmatched.weak_checks) == ("", ())


@pytest.mark.parametrize(
    ("grader", "path"),
    [
        (
            "type: file, config: {content_patterns: [{path: README.md, must_match: ['.*', Read]}]}",
            ("content_patterns", 0, "must_match", 0),
        ),
        (
            "type: file, config: {content_patterns: [{path: README.md, must_match: ['^']}]}",
            ("content_patterns", 0, "must_match", 0),
        ),
        (
            "type: diff, config: {expected_files: [{path: README.md, contains: [Read, '+']}]}",
            ("expected_files", 0, "contains", 1),
        ),
    ],
)
def test_a_rule_that_any_content_fulfils_is_weak(
    tmp_path: Path, grader: str, path: tuple[str | int, ...]
) -> None:
    found = measured(tmp_path, grader)
    assert found.finding == ""
    assert [(check.path, check.of_file) for check in found.weak_checks] == [(path, True)]


WORKING = (
    "type: file, config: {must_exist: [README.md]}",
    "type: file, config: {must_exist: [conf/]}",
    "type: file, config: {must_exist: [README.md], must_not_exist: [.env]}",
    "type: file, config: {must_not_exist: [.env]}",
    "type: file, config: {content_patterns: [{path: README.md}]}",
    "type: file, config: {content_patterns: [{path: README.md, must_match: ['(?i)read']}]}",
    "type: file, config: {content_patterns: [{path: README.md, must_match: ['(?s).+']}]}",
    r"type: file, config: {content_patterns: [{path: README.md, must_not_match: ['a\bb', 'x\by']}]}",
    "type: diff, config: {expected_files: [{path: README.md, contains: [Read]}]}",
    "type: diff, config: {expected_files: [{path: README.md, contains: ['-Write']}]}",
    "type: diff, config: {expected_files: [{path: empty.txt, snapshot: empty.txt}]}",
)


@pytest.mark.parametrize("grader", WORKING)
def test_a_grader_that_can_fail_is_not_called_weak(tmp_path: Path, grader: str) -> None:
    (tmp_path / "suite").mkdir()
    (tmp_path / "suite" / "empty.txt").touch()
    files = {"README.md": "Read me.\n", "conf/a.yaml": CONFIG, "empty.txt": ""}
    found = measured(tmp_path, grader, files)
    assert (found.finding, found.weak_checks, found.not_measured) == ("", (), "")
    assert found.passed == 1


def test_of_many_places_each_is_changed(tmp_path: Path) -> None:
    files = {f"made/{number}.txt": f"{number}\n" for number in range(15)}
    rule = "{path: made/%d.txt, must_match: ['^%d'], must_not_match: [error]}"
    rules = ", ".join(rule % (number, number) for number in range(15))
    absent = ", ".join(f"not/{number}.txt" for number in range(15))
    config = f"must_not_exist: [{absent}], content_patterns: [{rules}]"
    found = measured(tmp_path / "a", f"type: file, config: {{{config}}}", files)
    assert (found.finding, found.weak_checks, found.not_measured) == ("", (), "")
    assert found.passed == 1
    more = ", ".join(f"{number}.txt" for number in range(41))
    told = measured(tmp_path / "b", f"type: file, config: {{must_not_exist: [{more}]}}").not_measured
    assert told == "it looks at more than 40 places"


def test_that_nothing_passes_is_not_said_of_files(tmp_path: Path) -> None:
    """Two files that must be made at once are not made up."""
    trials = [
        {
            **left(tmp_path / f"kept-{number}", {"README.md": "Read me.\n"}),
            "validations": {"other": {"identifier": "other", "type": "text", "score": 1.0, "passed": True}},
        }
        for number in range(2)
    ]
    grader = "- {name: it, type: file, config: {must_exist: [a.txt, b.txt]}}\n"
    found = strengths(record(tmp_path / "suite", {"a": trials}, grader))["it"]
    assert (found.passed, found.finding, found.strength) == (0, "", None)


def test_a_grader_that_would_write_its_snapshots_is_not_asked(tmp_path: Path) -> None:
    suite = tmp_path / "suite"
    suite.mkdir()
    (suite / "wanted.md").write_text("as it was\n", "utf-8")
    expected = "expected_files: [{path: README.md, snapshot: wanted.md}]"
    grader = f"type: diff, config: {{{expected}, update_snapshots: true}}"
    assert measured(tmp_path, grader).not_measured == "it writes snapshots"
    assert (suite / "wanted.md").read_text("utf-8") == "as it was\n"


@pytest.mark.skipif(os.name == "nt", reason="links need a right there")
def test_a_link_out_of_the_workspace_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "kept").mkdir()
    (tmp_path / "secret.txt").write_text("secret\n", "utf-8")
    (tmp_path / "kept" / "out.txt").symlink_to(tmp_path / "secret.txt")
    found = measured(tmp_path, "type: file, config: {must_exist: [out.txt]}")
    assert found.not_measured == "out.txt is a link that leads out of the workspace"


def test_what_was_kept_stays_as_it_is_and_no_copy_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copies = tmp_path / "copies"
    copies.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(copies))
    pattern = "{path: README.md, must_match: [Read]}"
    found = measured(tmp_path, f"type: file, config: {{must_exist: [conf], content_patterns: [{pattern}]}}")
    assert found.asked > 5
    assert list(copies.iterdir()) == []
    files = [file for file in (tmp_path / "kept").rglob("*") if file.is_file()]
    assert {file.name: file.read_text("utf-8") for file in files} == {
        "README.md": "Read me.\n",
        "service.yaml": CONFIG,
    }


def test_the_command_takes_a_directory_for_the_workspace_that_is_gone(tmp_path: Path) -> None:
    left(tmp_path / "now", {"README.md": "Read me.\n"})
    grader = "- {name: it, type: file, config: {content_patterns: [{path: README.md, must_match: ['.*']}]}}\n"
    suite = record(tmp_path / "suite", {"a": [trial("Done.")]}, grader)
    assert "were not kept (`--keep-workspace`)" in " ".join(engine("strength", suite).stdout.split())
    told = " ".join(engine("strength", suite, "--workspace", tmp_path / "now").stdout.split())
    assert "`it`, `content_patterns.0.must_match.0`: This passes on every recorded trial" in told
    assert "in which its file could be read, so it decides nothing" in told
