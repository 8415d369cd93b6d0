"""Every new grader file runs as it is written, and the check of grader files finds nothing in it."""

import json
import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from waza_engine.graders.inline import command_of
from waza_engine.graders.programs.program_output import UnusableAnswerError
from waza_engine.scaffold.grader import write_grader_file
from waza_engine.scaffold.grader_patterns import GraderKind, GraderLanguage, grader_source, kind_of
from waza_language_server.embedded.grader_files.javascript_modules import module_findings
from waza_language_server.embedded.grader_files.python_programs import program_findings

pytestmark = pytest.mark.check
READ, WRITE, BROKEN = (
    {"type": "tool_call", "name": name, "status": status, "timestamp": 0}
    for name, status in (("Read", "completed"), ("Write", "completed"), ("Read", "failed"))
)
CASES: dict[str, list[tuple[Mapping[str, Any], bool, float]]] = {
    "hint": [
        ({"output": "It is Paris.", "hint": "paris"}, True, 1.0),
        ({"output": "It is Rome.", "hint": "-paris"}, False, 0.0),
        ({"output": ""}, True, 1.0),
    ],
    "criteria": [
        ({"output": "Paris", "hint": "paris", "trajectory": [READ]}, True, 1.0),
        ({"output": "Paris", "hint": "paris", "trajectory": [READ, BROKEN]}, True, 0.7),
        ({"output": "Rome", "hint": "paris", "trajectory": [READ] * 6}, False, 0.3),
    ],
    "metadata": [
        ({"output": "one two three", "hint": "One two four", "metadata": {"difficulty": "easy"}}, True, 0.66),
        ({"output": "one two three", "hint": "One two four"}, False, 0.66),
        ({"output": "one", "hint": "one", "metadata": {"category": "code"}}, False, 0.0),
        ({"output": "```one```", "hint": "one", "metadata": {"category": "code"}}, True, 1.0),
    ],
    "trajectory": [
        ({"output": "", "trajectory": [READ, WRITE]}, True, 1.0),
        ({"output": "", "trajectory": [READ]}, False, 0.5),
        ({"output": ""}, False, 0.0),
    ],
    "judge": [
        ({"input": "Go", "output": "It's done."}, True, 0.9),
        ({"input": ["Go", "on"], "output": "I refuse `$(x)`", "hint": "done"}, False, 0.1),
    ],
    "git": [
        ({"output": "", "cwd": "one"}, True, 1.0),
        ({"output": "", "cwd": "protected"}, False, 0.5),
        ({"output": "", "cwd": "none"}, False, 0.0),
    ],
}  # fmt: skip
JUDGE = """\
#!/bin/sh
if grep -q refuse; then echo 'No: {"pass": false, "score": 0.1, "reasoning": "refused"} as asked.'
else echo 'Yes: {"pass": true, "score": 0.9, "reasoning": "fine"}'; fi
"""


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    judge = tmp_path / "judge"
    judge.write_text(JUDGE)
    judge.chmod(0o755)
    monkeypatch.setenv("JUDGE_COMMAND", f"{judge} -p")
    for name, file in (("one", "app.js"), ("protected", "package.json"), ("none", None)):
        subprocess.run(["git", "init", "-q", str(tmp_path / name)], check=True)
        if file is not None:
            (tmp_path / name / file).write_text("{}")
    return tmp_path


def command(file: Path) -> list[str]:
    if file.suffix == ".sh" and shutil.which("jq") is None:
        pytest.skip("jq is not installed")
    try:
        return command_of(file)
    except UnusableAnswerError as error:
        if "needs bun or Node.js" in str(error) or "is TypeScript" in str(error):
            pytest.skip(str(error))
        raise


@pytest.mark.parametrize("language", GraderLanguage)
@pytest.mark.parametrize("kind", GraderKind)
def test_a_new_grader_file_grades(kind: str, language: str, places: Path) -> None:
    file = places / f"{kind}.{language}"
    write_grader_file(file, kind, force=False)
    for case, passed, score in CASES[kind]:
        given = {"input": "Go", **case}
        if "cwd" in given:
            given["cwd"] = str(places / given["cwd"])
        done = subprocess.run(
            command(file), input=json.dumps(given), capture_output=True, text=True, check=True, env=os.environ
        )
        answer = json.loads(done.stdout)
        result = answer.get("result", answer)
        assert result["pass"] is passed, (case, result)
        assert result["score"] == pytest.approx(score, abs=0.011), (case, result)
        assert isinstance(result["reasoning"], str)
        if language == "py":
            alone = subprocess.run(
                [str(file)], input=json.dumps(given), capture_output=True, text=True, check=True
            )
            assert json.loads(alone.stdout) == answer


@pytest.mark.parametrize("language", ["sh", "py", "mjs", "ts"])
def test_a_judge_without_an_object_is_an_error_of_the_grader(
    language: str, places: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JUDGE_COMMAND", "echo nothing")
    file = places / f"judge.{language}"
    write_grader_file(file, "judge", force=False)
    done = subprocess.run(
        command(file), input='{"input": "Go", "output": "a"}', capture_output=True, text=True, check=False
    )
    assert done.returncode != 0 or "fault" in json.loads(done.stdout)


@pytest.mark.parametrize("language", GraderLanguage)
@pytest.mark.parametrize("kind", GraderKind)
def test_the_check_finds_nothing_in_it(kind: str, language: str) -> None:
    source = grader_source(kind, language)
    find = program_findings if language == "py" else module_findings
    assert language == "sh" or list(find(source, "auto")) == []
    assert "<" not in {line[:1] for line in source.splitlines()}
    assert source.endswith("\n")
    assert "\n\n\n" not in source


def test_a_file_is_named_for_its_kind() -> None:
    assert (kind_of("git_outcome"), kind_of("LLM-Judge"), kind_of("check")) == ("git", "judge", "hint")
