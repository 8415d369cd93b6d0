"""Findings as build servers want them: SARIF 2.1.0, and the annotations of GitHub workflows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path, PurePath
from typing import Any
from urllib.parse import quote

from waza_engine import __version__
from waza_engine.terminal import workflow_command
from waza_language_server.analysis.codes import CODES
from waza_language_server.check import Finding
from waza_language_server.documentation import diagnostic_page

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVELS = {"error": "error", "warning": "warning", "information": "note", "hint": "note"}
_COMMANDS = {"error": "error", "warning": "warning", "information": "notice", "hint": "notice"}


def sarif_log(findings: Sequence[Finding]) -> dict[str, Any]:
    """Return the findings as a SARIF log of one run, with a rule for each code that was found."""
    codes = sorted({finding.code for finding in findings})
    driver = {
        "name": "waza-language-server",
        "version": __version__,
        "rules": [_rule(code) for code in codes],
    }
    results = [_result(finding, codes.index(finding.code)) for finding in findings]
    run = {"tool": {"driver": driver}, "columnKind": "utf16CodeUnits", "results": results}
    return {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}


def github_annotations(findings: Iterable[Finding]) -> str:
    """Return one workflow command a line. The content of a file cannot begin a command of its own."""
    return "".join(map(_annotation, findings))


def _rule(code: str) -> dict[str, Any]:
    known = CODES.get(code)
    rule: dict[str, Any] = {"id": code}
    if known is not None:
        rule["shortDescription"] = {"text": known.title}
        rule["fullDescription"] = {"text": known.why}
        rule["defaultConfiguration"] = {"level": _LEVELS[known.severity]}
        page = diagnostic_page(code)
        if page.startswith("http"):
            rule["helpUri"] = page
    return rule


def _result(finding: Finding, rule: int) -> dict[str, Any]:
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
    }


def _reference(path: str) -> str:
    place = PurePath(path)
    return Path(path).as_uri() if place.is_absolute() else quote(place.as_posix())


def _annotation(finding: Finding) -> str:
    place = {
        "file": finding.path,
        "line": str(finding.start[0] + 1),
        "endLine": str(finding.end[0] + 1),
        "col": str(finding.start[1] + 1),
        "title": finding.code,
    }
    if finding.start[0] == finding.end[0]:
        # Columns are for one line only.
        place["endColumn"] = str(max(finding.end[1], finding.start[1] + 1))
    return workflow_command(_COMMANDS[finding.severity], place, finding.message.replace("\n", " "))
