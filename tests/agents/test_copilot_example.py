"""The example suite for a real agent, run by the real command with the real agent and a scripted model."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import StartModel
from tests.scripted_model import ModelRequest, Reply, call

pytestmark = pytest.mark.check

EXAMPLE = Path(__file__).parents[2] / "examples" / "code-explainer"
KEY = "key-of-the-scripted-model"
EXPLANATION = "factorial(n) multiplies all numbers up to n. It stops at the base case, n <= 1.\n"


@pytest.fixture
def suite(tmp_path: Path, agent_home: Path) -> Path:
    assert agent_home
    copy = tmp_path / "code-explainer"
    shutil.copytree(EXAMPLE, copy, ignore=shutil.ignore_patterns(".waza", "__pycache__"))
    return copy / "agent" / "eval.yaml"


def run(suite: Path, base_url: str, *options: str) -> tuple[int, dict[str, Any]]:
    """Run the suite as a person would; return the exit code and the results file."""
    results = suite.parent / "out.json"
    done = subprocess.run(
        [*command(suite), *options, "-o", str(results)],
        env=environment(base_url),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert results.is_file(), done.stdout + done.stderr
    assert KEY not in done.stdout + done.stderr + results.read_text("utf-8")
    return done.returncode, json.loads(results.read_text("utf-8"))


def command(suite: Path) -> list[str]:
    return [sys.executable, "-m", "waza_engine", "run", str(suite), "--model", "scripted-model"]


def environment(base_url: str) -> dict[str, str]:
    return {**os.environ, "COPILOT_PROVIDER_BASE_URL": base_url, "COPILOT_PROVIDER_API_KEY": KEY}


def well_behaved(request: ModelRequest) -> Reply:
    steps = len(request.tool_results)
    if is_about_the_missing_file(request):
        plan: list[Reply] = [
            call("skill", skill="code-explainer"),
            call("view", path=in_workspace(request, "billing.py")),
            "I cannot explain billing.py: it does not exist here.",
        ]
    else:
        plan = [
            call("skill", skill="code-explainer"),
            call("view", path=in_workspace(request, "factorial.py")),
            call("create", path=in_workspace(request, "explanation.md"), file_text=EXPLANATION),
            "It computes factorials.",
        ]
    return plan[steps]


def careless(request: ModelRequest) -> Reply:
    """Writes before it reads, changes the code, invents the missing file."""
    steps = len(request.tool_results)
    if is_about_the_missing_file(request):
        plan: list[Reply] = [
            call("create", path=in_workspace(request, "explanation.md"), file_text="It sends bills."),
            "It sends bills.",
        ]
    else:
        path = in_workspace(request, "factorial.py")
        plan = [
            call("create", path=in_workspace(request, "explanation.md"), file_text="Some code.\n"),
            call(
                "edit", path=path, old_str="return n * factorial(n - 1)", new_str="return math.factorial(n)"
            ),
            "I made it faster.",
        ]
    return plan[steps]


def is_about_the_missing_file(request: ModelRequest) -> bool:
    return "billing.py" in json.dumps(request.messages)


def in_workspace(request: ModelRequest, name: str) -> str:
    found = re.search(r"(?i)current working directory: (.+)", request.system)
    assert found is not None, request.system
    return str(Path(found[1].strip()) / name)


def test_an_agent_that_obeys_passes_every_grader(suite: Path, scripted_model: StartModel) -> None:
    model = scripted_model(well_behaved, api_key=KEY)
    code, results = run(suite, model.base_url)
    assert verdicts(results) == {
        "explain-recursion-in-a-file": {
            "loads_the_skill": (1.0, True),
            "looks_but_does_not_touch": (1.0, True),
            "skill_first_then_read_then_write": (1.0, True),
            "reads_this_file_and_writes_that": (1.0, True),
            "explains_and_leaves_the_code_alone": (1.0, True),
        },
        "explain-a-missing-file": {
            "loads_the_skill": (1.0, True),
            "looks_but_does_not_touch": (1.0, True),
            "invents_nothing": (1.0, True),
            "says_so": (1.0, True),
        },
    }
    assert code == 0

    trial = trial_of(results, "explain-recursion-in-a-file")
    digest = trial["session_digest"]
    assert digest["tools_used"] == ["skill", "view", "create"]
    assert [made["success"] for made in digest["tool_calls"]] == [True, True, True]
    assert digest["tool_calls"][2]["arguments"]["file_text"] == EXPLANATION
    assert [skill["name"] for skill in trial["skill_invocations"]] == ["code-explainer"]
    usage = digest["usage"]
    assert (usage["turns"], usage["input_tokens"], usage["output_tokens"]) == (4, 40, 20)
    assert usage["model_metrics"]["scripted-model"]["request_count"] == 4
    total = results["summary"]["usage"]
    assert (total["turns"], total["input_tokens"]) == (7, 70)
    assert len(model.requests) == 7
    assert results["config"]["engine_type"] == "copilot-sdk"

    # The agent knows the skill by its description, and gets its body when it loads it.
    assert "Explains existing code step by step" in model.requests[0].system
    assert "Match the reader's level" not in json.dumps(model.requests[0].messages)
    assert "Match the reader's level" in json.dumps(model.requests[1].messages)


def test_an_agent_that_does_not_fails_where_it_should(suite: Path, scripted_model: StartModel) -> None:
    code, results = run(suite, scripted_model(careless).base_url)
    found = verdicts(results)
    assert {name: passed for name, (_, passed) in found["explain-recursion-in-a-file"].items()} == {
        "loads_the_skill": False,
        "looks_but_does_not_touch": False,
        "skill_first_then_read_then_write": False,
        "reads_this_file_and_writes_that": False,
        "explains_and_leaves_the_code_alone": False,
    }
    # Wanted: skill, view, create. Called: create, edit. One in common: F1 = 2·(1/2)·(1/3) / (1/2 + 1/3).
    assert found["explain-recursion-in-a-file"]["skill_first_then_read_then_write"][0] == pytest.approx(0.4)
    assert {name: passed for name, (_, passed) in found["explain-a-missing-file"].items()} == {
        "loads_the_skill": False,
        "looks_but_does_not_touch": True,
        "invents_nothing": False,
        "says_so": False,
    }
    assert code == 1


def verdicts(results: dict[str, Any]) -> dict[str, dict[str, tuple[float, bool]]]:
    return {
        task["test_id"]: {
            name: (round(verdict["score"], 3), verdict["passed"])
            for name, verdict in task["runs"][0]["validations"].items()
        }
        for task in results["tasks"]
    }


def trial_of(results: dict[str, Any], identifier: str) -> dict[str, Any]:
    return next(task["runs"][0] for task in results["tasks"] if task["test_id"] == identifier)
