"""What ``check`` prints for build servers."""

import json
import re
from pathlib import Path

import pytest
from jsonschema_rs import validator_for
from junitparser import JUnitXml

from tests.command_line import Finished, language_server
from tests.protocol.editor import TASK, suite_with, write_suite
from waza_language_server.analysis.codes import CODES
from waza_language_server.check import Finding
from waza_language_server.check_reports import github_annotations, gitlab_report, sarif_log

pytestmark = pytest.mark.check

SUITE = suite_with("""\
graders:
  - {type: text, name: "😀", config: {containz: [hello]}}
""")


def test_sarif_has_a_rule_and_a_region_for_each_finding(tmp_path: Path) -> None:
    write_suite(tmp_path, SUITE, one=TASK)
    done = language_server("check", "--format", "sarif", "eval.yaml", cwd=tmp_path)
    assert done.returncode == 1
    log = json.loads(done.stdout)
    assert log["version"] == "2.1.0"
    (run,) = log["runs"]
    (result,) = run["results"]
    assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"] == "unknown-key"
    (location,) = result["locations"]
    place = location["physicalLocation"]
    assert place["artifactLocation"] == {"uri": "eval.yaml"}
    rule = run["tool"]["driver"]["rules"][0]
    project = run["tool"]["driver"]["informationUri"]
    assert rule["helpUri"] == f"{project}/blob/main/docs/diagnostics.md#unknown-key"
    assert project.startswith("https://")
    assert place["region"] == {"startLine": 6, "startColumn": 39, "endLine": 6, "endColumn": 47}
    assert (result["level"], run["columnKind"]) == ("error", "utf16CodeUnits")


def test_sarif_is_valid_by_the_schema_of_the_standard(tmp_path: Path) -> None:
    """The schema is that of OASIS (SARIF 2.1.0, rtm.5), as ``@microsoft/jest-sarif`` brings it."""
    schema = json.loads((Path(__file__).parent / "sarif-2.1.0.schema.json").read_text("utf-8"))
    for part in ("run", "toolComponent"):
        # A pattern that no dialect reads: its last bracket closes nothing.
        del schema["definitions"][part]["properties"]["language"]["pattern"]
    validator = validator_for(schema)
    levels = ("error", "warning", "information", "hint")
    odd = [
        Finding("a b/\u00e9.yaml", (0, 0), (1, 0), level, code, "\u202e m")
        for level in levels
        for code in CODES
    ]
    write_suite(tmp_path, SUITE, one=TASK)
    found = json.loads(language_server("check", "--format", "sarif", "eval.yaml", cwd=tmp_path).stdout)
    for log in (found, sarif_log(odd), sarif_log([])):
        assert list(validator.iter_errors(log)) == []
    found["runs"][0]["results"][0]["level"] = "information"
    assert not validator.is_valid(found)


def test_sarif_levels_and_paths_are_those_of_the_format() -> None:
    levels = ("error", "warning", "information", "hint")
    findings = [Finding("a b/é.yaml", (0, 0), (0, 1), level, "made-up", "m") for level in levels]
    results = sarif_log(findings)["runs"][0]["results"]
    assert [result["level"] for result in results] == ["error", "warning", "note", "note"]
    location = results[0]["locations"][0]["physicalLocation"]["artifactLocation"]
    assert location == {"uri": "a%20b/%C3%A9.yaml"}


def test_github_gets_one_command_for_each_finding(tmp_path: Path) -> None:
    write_suite(tmp_path, SUITE, one=TASK)
    done = language_server("check", "--format", "github", "eval.yaml", cwd=tmp_path)
    (line,) = done.stdout.splitlines()
    assert line.startswith("::error file=eval.yaml,line=6,endLine=6,col=39,title=unknown-key,endColumn=46::")


@pytest.mark.parametrize("form", ["sarif", "github", "gitlab", "junit"])
def test_paths_are_relative_to_the_repository_in_any_working_directory(tmp_path: Path, form: str) -> None:
    (tmp_path / ".git").mkdir()
    write_suite(tmp_path / "evals", SUITE, one=TASK)
    done = language_server("check", "--format", form, cwd=tmp_path / "evals")
    assert "evals/eval.yaml" in done.stdout
    assert str(tmp_path) not in done.stdout


def test_a_fingerprint_stays_when_the_line_moves_and_differs_for_equal_lines() -> None:
    def finding(line: int) -> Finding:
        return Finding("eval.yaml", (line, 0), (line, 1), "error", "unknown-key", "m", "  a: 1")

    (first, second), (moved, _) = (
        [entry["fingerprint"] for entry in gitlab_report([finding(line), finding(line + 1)])]
        for line in (1, 9)
    )
    assert first == moved != second


def test_gitlab_gets_a_code_quality_report() -> None:
    levels = ("error", "warning", "information", "hint")
    report = gitlab_report(Finding("a.yaml", (1, 0), (2, 1), level, "made-up", "m") for level in levels)
    assert [entry["severity"] for entry in report] == ["major", "minor", "info", "info"]
    assert report[0]["location"]["lines"] == {"begin": 2, "end": 3}


@pytest.mark.parametrize(("options", "failures"), [((), 1), (("--strict",), 2)])
def test_junit_fails_what_fails_the_check(tmp_path: Path, options: tuple[str, ...], failures: int) -> None:
    write_suite(tmp_path, SUITE.replace("name: explains", "name: explains\nnmae: x"), one=TASK)
    done = language_server("check", "--format", "junit", *options, cwd=tmp_path)
    suites = JUnitXml.fromstring(done.stdout.encode())
    assert [(suite.name, suite.tests, suite.failures) for suite in suites] == [
        ("eval.yaml", 2, failures),
        ("tasks/one.yaml", 1, 0),
    ]


def test_explain_prints_what_a_code_means_and_its_fix() -> None:
    done = language_server("explain", "unknown-key")
    assert done.stdout.startswith("### unknown-key\n\n**Unknown key**")
    assert "After the first fix:" in done.stdout
    done = language_server("explain", "unknown-ky")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "There is no diagnostic 'unknown-ky'; did you mean 'unknown-key'?\n"


def test_a_diff_shows_the_safe_fixes_and_changes_nothing(tmp_path: Path) -> None:
    write_suite(tmp_path, SUITE, one=TASK)
    done = language_server("check", "--diff", cwd=tmp_path)
    assert done.returncode == 1
    changed = [line for line in done.stdout.splitlines() if line.startswith(("-  ", "+  "))]
    assert [line.partition("config: ")[2] for line in changed] == [
        "{containz: [hello]}}",
        "{contains: [hello]}}",
    ]
    assert done.stderr == "1 problem would be fixed in 1 file.\n"
    assert (tmp_path / "eval.yaml").read_text("utf-8") == SUITE
    assert language_server("check", "--fix", "--quiet", cwd=tmp_path).stdout == ""
    assert language_server("check", "--diff", "-q", cwd=tmp_path) == Finished(0, "", "")


def test_a_terminal_gets_colours_and_the_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_suite(tmp_path, SUITE, one=TASK)
    monkeypatch.setenv("FORCE_COLOR", "1")
    done = language_server("check", "eval.yaml", cwd=tmp_path)
    plain = re.sub(r"\x1b\[[\d;]*m", "", done.stdout).splitlines()
    assert done.stdout.startswith("\x1b[1meval.yaml:6:39: ")
    assert plain[1:3] == [
        '6 |   - {type: text, name: "😀", config: {containz: [hello]}}',
        "  |                                       ^^^^^^^^",
    ]


def test_nothing_that_a_file_says_is_a_command_of_its_own() -> None:
    finding = Finding("a,b:c.yaml", (0, 0), (1, 0), "hint", "made-up", "100 %\n::error::no")
    assert github_annotations([finding]) == (
        "::notice file=a%2Cb%3Ac.yaml,line=1,endLine=2,col=1,title=made-up::100 %25 ::error::no\n"
    )
