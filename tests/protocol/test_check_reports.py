"""What ``check`` prints for build servers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from jsonschema_rs import validator_for

from tests.command_line import language_server
from tests.protocol.editor import write_suite
from waza_language_server.analysis.codes import CODES
from waza_language_server.check import Finding
from waza_language_server.check_reports import github_annotations, sarif_log

pytestmark = pytest.mark.check

SUITE = """\
name: explains
skill: explainer
config: {trials_per_task: 1, timeout_seconds: 60, executor: mock, model: none}
tasks: ["tasks/*.yaml"]
graders:
  - {type: text, name: "😀", config: {containz: [hello]}}
"""
TASK = "id: one\nname: One\ninputs:\n  prompt: Say hello\n"


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


def test_nothing_that_a_file_says_is_a_command_of_its_own() -> None:
    finding = Finding("a,b:c.yaml", (0, 0), (1, 0), "hint", "made-up", "100 %\n::error::no")
    assert github_annotations([finding]) == (
        "::notice file=a%2Cb%3Ac.yaml,line=1,endLine=2,col=1,title=made-up::100 %25 ::error::no\n"
    )
