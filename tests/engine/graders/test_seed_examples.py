"""Every grader example of the four reference documents is built and grades; what cannot is listed."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.engine.graders.grading import folder, result
from tests.engine.graders.seed_documents import (
    SEEDS,
    Example,
    blocks_that_are_no_yaml,
    grader_examples,
    grader_files,
    json_blocks,
)
from waza_engine.assertions.evaluator import AssertionEvaluator
from waza_engine.graders.base import GraderError, GradingContext
from waza_engine.graders.programs.program_output import verdict_of_answer
from waza_engine.graders.registry import create
from waza_engine.vocabulary import SkillInvocation, ToolCall, Usage

NO_CLASS = "a type of the author's own; its class in the document is for the first version's package"
NO_OPTIONS = "the document leaves the options out to show the weight; there is nothing to check"
REFUSED = {
    ("A", "special_check"): NO_CLASS,
    ("B", "special_check"): NO_CLASS,
    ("A", "basic_check#2"): NO_OPTIONS,
    ("B", "basic_check#2"): NO_OPTIONS,
}
"""The examples that cannot be built."""

FAILED_IN_A_GOOD_RUN = {
    ("A", "assertions"): "shown as wrong: the generator expression does not see `output`",
    ("B", "assertions"): "shown as wrong: the generator expression does not see `output`",
    ("A", "task_specific_check"): "`specific_condition` is a placeholder, no name of an assertion",
    ("B", "task_specific_check"): "`specific_condition` is a placeholder, no name of an assertion",
    ("A", "my_grader"): "`errors` also holds messages that speak of an error",
    ("B", "my_grader"): "`errors` also holds messages that speak of an error",
    ("C", "project_structure"): "in single quotes two backslashes stay two, so its pattern wants a backslash",
    ("C", "no_azure"): "meant for a prompt that has nothing to do with the skill",
    ("B", "demo_script"): "an exact sequence that another example contradicts",
    ("B", "deployment_sequence"): "an exact sequence that another example contradicts",
}
"""The examples that a run passes in nothing, though it is made to please them."""

JUDGED = ("prompt", "llm", "llm_comparison")
EXAMPLES = grader_examples()
needs_documents = pytest.mark.skipif(not EXAMPLES, reason="the documents are not beside this checkout")
needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="Node.js is not installed")
ESBUILD = Path(__file__).resolve().parents[3] / "vscode-extension" / "node_modules" / ".bin" / "esbuild"

OUTPUT = """\
Summary: deployed to https://app.example.org to Azure with success. Resource group: rg-1. This function uses
authentication, JWT and middleware; deploy finished, the resource is up. def main(): return 1
No fault was seen, hello.
"""
SKILL = """\
---
name: azure-deploy
description: "Deploy to Azure. USE FOR: deploy my app."
---
Deploys.
"""
WORKSPACE = {
    "README.md": "## Installation\nnpm install\n",
    "config.json": "{}\n",
    "config.yaml": "api_key: ${API_KEY}\n",
    "output/result.txt": "42\n",
    "package.json": '{"name": "my-app", "version": "1.0.0", "scripts": {"test": "true"}}\n',
    "requirements.txt": "requests>=2.28\n",
    "result.json": "{}\n",
    "src/api.py": "from fastapi import FastAPI\n@app.get('/health')\n",
    "src/auth.ts": "",
    "src/config.json": "{}\n",
    "src/index.ts": "",
    "src/main.py": "import os\ndef new_function():\n    return 42\n",
    "src/middleware.ts": "",
    "src/utils.ts": "export function formatDate() {}\nexport function parseConfig() {}\n",
    "tests/utils.test.ts": "describe('formatDate', () => {})\n",
    "tsconfig.json": "{}\n",
}
SUITE = {
    "expected/README.md": WORKSPACE["README.md"],
    "expected/config.json": WORKSPACE["src/config.json"],
    "expected/config.yaml": WORKSPACE["config.yaml"],
    "schemas/manifest.schema.json": "{}",
    "scripts/grade.py": "import sys; sys.stdin.read()",
    "skills/azure-deploy/SKILL.md": SKILL,
    "snapshots/expected_config.json": WORKSPACE["config.json"],
    "snapshots/expected_result.txt": WORKSPACE["output/result.txt"],
}


def ids(example: Example) -> str:
    return f"{example.document}-{example.name}"


@needs_documents
@pytest.mark.parametrize("example", EXAMPLES, ids=ids)
def test_an_example_is_built_as_it_stands(example: Example) -> None:
    if (example.document, example.name) in REFUSED:
        with pytest.raises(GraderError):
            create(example.entry)
    else:
        assert create(example.entry).warnings == ()


GRADED = [
    example
    for example in EXAMPLES
    if (example.document, example.name) not in REFUSED and example.entry["type"] not in JUDGED
]


@needs_documents
@pytest.mark.parametrize("example", GRADED, ids=ids)
def test_an_example_grades_what_a_run_without_anything_left(
    example: Example, tmp_path: Path, evaluator: AssertionEvaluator
) -> None:
    (tmp_path / "workspace").mkdir()
    context = GradingContext(
        workspace=tmp_path / "workspace",
        suite_directory=folder(tmp_path / "suite", SUITE),
        assertions=evaluator,
    )
    verdict = create(example.entry).grade(context)
    wanted = {"script": "error", "human": "pending", "human_calibration": "pending"}
    assert verdict.status == wanted.get(example.entry["type"], "graded")
    assert 0 <= verdict.score <= 1


@needs_documents
@pytest.mark.parametrize("example", GRADED, ids=ids)
def test_an_example_passes_a_run_that_did_well(
    example: Example, tmp_path: Path, evaluator: AssertionEvaluator
) -> None:
    if example.entry["type"] == "program" and shutil.which("npm") is None:
        pytest.skip("npm is not installed")
    verdict = create(example.entry).grade(good_run(example, tmp_path, evaluator))
    if example.entry["type"] in ("human", "human_calibration"):
        assert verdict.status == "pending"
    elif (example.document, example.name) in FAILED_IN_A_GOOD_RUN:
        assert (verdict.status, verdict.passed) == ("graded", False)
    else:
        assert (verdict.status, verdict.passed) == ("graded", True), verdict.feedback


def good_run(example: Example, tmp_path: Path, evaluator: AssertionEvaluator) -> GradingContext:
    """Return a run that pleases as many examples as one run can; sequences get what they ask for."""
    config = example.entry.get("config", {})
    tools = ["bash", "edit", "bash", "git", "create", "view", "edit", "grep", "bash", "report_progress"]
    skills = ["brainstorming", "azure-prepare", "azure-validate", "azure-deploy", "azure-prepare"]
    if {"azure-monitor", "azure-deploy"} <= set(config.get("required_skills", ())):
        skills = ["azure-deploy"]
    script = next((text for text in grader_files("python") if '"message"' in text), "")
    output = '{"status": "success", "data": {}}' if example.entry["type"] == "json_schema" else OUTPUT
    return GradingContext(
        output=output,
        prompt="Please deploy my app",
        transcript=({"type": "assistant.message", "content": "No error was seen."},),
        tool_calls=[
            ToolCall("bash", {"command": "azd up"}, success=True),
            ToolCall("bash", {"command": "git commit -m x"}, success=True),
            *(ToolCall(name, success=True) for name in tools),
        ],
        skill_invocations=[SkillInvocation(name) for name in skills],
        usage=Usage(turns=3, input_tokens=100, output_tokens=100),
        duration_ms=100,
        workspace=folder(tmp_path / "workspace", WORKSPACE),
        suite_directory=folder(
            tmp_path / "suite",
            {**SUITE, "graders/my_grader.py": script, "graders/quality_checker.py": script},
        ),
        assertions=evaluator,
    )


@needs_documents
def test_every_example_of_the_flat_document_is_found() -> None:
    entries = re.findall(r"- type: \w+ name: ", " ".join(SEEDS["C"].read_text("utf-8").split()))
    assert len(entries) == sum(example.document == "C" for example in EXAMPLES)


@needs_documents
def test_every_block_of_the_older_documents_is_read() -> None:
    assert blocks_that_are_no_yaml() == []


@needs_documents
def test_every_listed_example_exists() -> None:
    known = {(example.document, example.name) for example in EXAMPLES}
    assert {*REFUSED, *FAILED_IN_A_GOOD_RUN} <= known


@needs_documents
def test_the_python_grader_file_works_as_it_stands(tmp_path: Path) -> None:
    text = next(text for text in grader_files("python") if '"pass"' in text)
    suite = folder(tmp_path, {"g.py": text})
    grader = create({"type": "inline", "name": "g", "config": {"grader": "g.py"}})
    for output, hint, expected in (
        ("Hello World", "world", (1.0, True)),
        ("", "x", (0.0, False)),
        ("", "", (1.0, True)),
    ):
        context = GradingContext(output=output, hint=hint, suite_directory=suite)
        assert result(grader.grade(context)) == expected


@needs_documents
@needs_node
@pytest.mark.skipif(not ESBUILD.exists(), reason="the packages of the extension are not installed")
@pytest.mark.parametrize("position", range(6))
def test_a_typescript_grader_file_works_as_it_stands(tmp_path: Path, position: int) -> None:
    text = grader_files("typescript")[position]
    # The types are taken out here, so that every Node.js can run the rest of the file.
    code = subprocess.run(
        [ESBUILD, "--loader=ts"], input=text, capture_output=True, text=True, encoding="utf-8", check=True
    ).stdout
    suite = folder(tmp_path, {"g.mjs": code})
    grader = create({"type": "inline", "name": "g", "config": {"grader": "g.mjs"}})
    tools = tuple(
        {"type": "tool.execution_start", "tool_name": name, "tool_call_id": name}
        for name in ("Read", "Write")
    )
    empty = grader.grade(GradingContext(suite_directory=suite))
    filled = grader.grade(
        GradingContext(output="Hello World", hint="world", transcript=tools, suite_directory=suite)
    )
    if "@anthropic-ai/sdk" in re.sub(r"import type.*", "", text) and "new Anthropic" in text:
        # It asks a model through a package that is not there.
        assert (empty.status, filled.details["error"]["kind"]) == ("error", "load")
    else:
        assert empty.status == "graded"
        assert (filled.status, filled.passed) == ("graded", True)


@needs_documents
def test_the_answers_that_the_document_shows_are_understood() -> None:
    shown = [json.loads(text) for text in json_blocks() if "[...]" not in text]
    verdicts = [verdict_of_answer(answer, "harness-json", "grader") for answer in shown]
    assert [result(verdict) for verdict in verdicts] == [(1.0, True)]
