"""Findings for build services: SARIF 2.1.0, GitHub annotations, GitLab Code Quality and JUnit XML.

Paths are relative to the repository, wherever the check was started. A fingerprint names a finding by its
code, its file and the content of its line, so that it stays the same when the line moves.
"""

from __future__ import annotations

import hashlib
import io
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path, PurePath
from typing import Any, cast
from urllib.parse import quote

from junitparser import Failure, JUnitXml, TestCase, TestSuite

from waza_engine.boundary import path_in_repository
from waza_engine.project_page import project_page
from waza_engine.terminal import harmless_lines, workflow_command
from waza_engine.version import __version__
from waza_language_server.analysis.codes import CODES
from waza_language_server.check import Finding

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVELS = {"error": "error", "warning": "warning", "information": "note", "hint": "note"}
_COMMANDS = {"error": "error", "warning": "warning", "information": "notice", "hint": "notice"}
_GITLAB_SEVERITIES = {"error": "major", "warning": "minor", "information": "info", "hint": "info"}


def sarif_log(findings: Sequence[Finding]) -> dict[str, Any]:
    """Return the findings as a SARIF log of one run, with a rule for each code that was found."""
    codes = sorted({finding.code for finding in findings})
    project = project_page()
    driver = {
        "name": "waza-language-server",
        "version": __version__,
        "rules": [_rule(code, project) for code in codes],
    }
    if project:
        driver["informationUri"] = project
    results = [
        _result(finding, fingerprint, codes.index(finding.code))
        for finding, fingerprint in _with_fingerprints(findings)
    ]
    run = {"tool": {"driver": driver}, "columnKind": "utf16CodeUnits", "results": results}
    return {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}


def github_annotations(findings: Iterable[Finding]) -> str:
    """Return one workflow command a line. The content of a file cannot begin a command of its own."""
    return "".join(map(_annotation, findings))


def gitlab_report(findings: Iterable[Finding]) -> list[dict[str, Any]]:
    """Return the findings as a Code Quality report of GitLab."""
    return [
        {
            "description": finding.message,
            "check_name": finding.code,
            "fingerprint": fingerprint,
            "severity": _GITLAB_SEVERITIES[finding.severity],
            "location": {
                "path": path_in_repository(Path(finding.path)),
                "lines": {"begin": finding.start[0] + 1, "end": finding.end[0] + 1},
            },
        }
        for finding, fingerprint in _with_fingerprints(findings)
    ]


def junit_report(files: Iterable[tuple[Path, Sequence[Finding]]], fails: Callable[[Finding], bool]) -> bytes:
    """Return JUnit XML with a test suite for each file and a case for each finding.

    A finding that does not fail the check is a passed case with its message as output. A file without
    findings is one passed case.
    """
    report = JUnitXml()
    for path, findings in files:
        name = path_in_repository(path)
        suite = TestSuite(harmless_lines(name))
        for finding in findings:
            suite.add_testcase(_case(name, finding, fails=fails(finding)))
        if not findings:
            suite.add_testcase(TestCase("no problems", classname=harmless_lines(name)))
        report.add_testsuite(suite)
    written = io.BytesIO()
    # The library does not declare the type of file that it writes to.
    cast("Any", report).write(written, pretty=True)
    return written.getvalue()


def _case(name: str, finding: Finding, *, fails: bool) -> TestCase:
    line, column = finding.start[0] + 1, finding.start[1] + 1
    case = TestCase(f"{finding.code} at {line}:{column}", classname=harmless_lines(name))
    text = harmless_lines(f"{name}:{line}:{column}: {finding.severity}: {finding.message}")
    if fails:
        failure = Failure(harmless_lines(finding.message), finding.code)
        failure.text = text
        case.result = [failure]
    else:
        case.system_out = text
    return case


def _rule(code: str, project: str) -> dict[str, Any]:
    known = CODES.get(code)
    rule: dict[str, Any] = {"id": code}
    if known is not None:
        rule["shortDescription"] = {"text": known.title}
        rule["fullDescription"] = {"text": known.why}
        rule["defaultConfiguration"] = {"level": _LEVELS[known.severity]}
        if project:
            rule["helpUri"] = f"{project}/blob/main/docs/diagnostics.md#{code}"
    return rule


def _result(finding: Finding, fingerprint: str, rule: int) -> dict[str, Any]:
    region = {
        "startLine": finding.start[0] + 1,
        "startColumn": finding.start[1] + 1,
        "endLine": finding.end[0] + 1,
        "endColumn": finding.end[1] + 1,
    }
    place = {"artifactLocation": {"uri": _reference(finding.path)}, "region": region}
    return {
        "ruleId": finding.code,
        "ruleIndex": rule,
        "level": _LEVELS[finding.severity],
        "message": {"text": finding.message},
        "locations": [{"physicalLocation": place}],
        "partialFingerprints": {"lineContent/v1": fingerprint},
    }


def _with_fingerprints(findings: Iterable[Finding]) -> Iterator[tuple[Finding, str]]:
    """Yield each finding with its fingerprint; equal ones of a file are numbered."""
    seen: Counter[tuple[str, str, str]] = Counter()
    for finding in findings:
        key = finding.code, path_in_repository(Path(finding.path)), finding.source.strip()
        seen[key] += 1
        yield finding, hashlib.sha256("\0".join((*key, str(seen[key]))).encode(errors="replace")).hexdigest()


def _reference(path: str) -> str:
    place = path_in_repository(Path(path))
    return Path(place).as_uri() if PurePath(place).is_absolute() else quote(place)


def _annotation(finding: Finding) -> str:
    place = {
        "file": path_in_repository(Path(finding.path)),
        "line": str(finding.start[0] + 1),
        "endLine": str(finding.end[0] + 1),
        "col": str(finding.start[1] + 1),
        "title": finding.code,
    }
    if finding.start[0] == finding.end[0]:
        # Columns are for one line only.
        place["endColumn"] = str(max(finding.end[1], finding.start[1] + 1))
    return workflow_command(_COMMANDS[finding.severity], place, finding.message.replace("\n", " "))
