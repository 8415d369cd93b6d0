"""Graders that ask a model, with the real agent as judge."""

import json
from pathlib import Path

import pytest

from tests.conftest import StartModel
from tests.engine.suites import only_trial, run, task, verdicts, write_suite
from tests.scripted_model import ModelRequest, Reply, Status, call

pytestmark = pytest.mark.check

GRADERS = """\
- type: prompt
  name: fresh_judge
  config: {prompt: Judge whether the greeting is polite.}
- type: prompt
  name: judge_in_the_session
  config: {prompt: Judge whether you did as you were told., continue_session: true}
"""


def script(request: ModelRequest) -> Reply:
    if "set_waza_grade_pass" not in request.tool_names:
        return "Good day!"
    if request.tool_results:
        return "Judged."
    if "whether the greeting" in json.dumps(request.messages):
        return call("set_waza_grade_pass", description="polite", reason="it says good day")
    return call("set_waza_grade_fail", description="obedience", reason="nobody asked for that")


def test_a_judge_has_a_session_of_its_own_or_continues_the_agents(
    scripted_model: StartModel, agent_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = scripted_model(script)
    monkeypatch.setenv("COPILOT_PROVIDER_BASE_URL", model.base_url)
    config = "config: {trials_per_task: 1, timeout_seconds: 60, executor: copilot-sdk, model: any-name}\n"
    suite = write_suite(tmp_path, {"greet": task("greet", prompt="Greet me")}, graders=GRADERS, config=config)
    report, _ = run(suite)
    found = verdicts(report)
    assert (found["fresh_judge"].graded.passed, found["judge_in_the_session"].graded.passed) == (True, False)
    assert "nobody asked for that" in found["judge_in_the_session"].feedback
    assert only_trial(report).output == "Good day!"

    fresh = [r for r in model.requests if "whether the greeting" in json.dumps(r.messages)]
    continued = [r for r in model.requests if "as you were told" in json.dumps(r.messages)]
    assert "Greet me" in json.dumps(continued[0].messages)
    assert fresh
    sessions = [place for place in (agent_home / "session-state").iterdir() if place.name[0] != "."]
    assert len(sessions) == 1, "the session of the fresh judge is deleted"


def test_an_agent_that_gives_up_without_a_word_is_judged_by_nobody(
    scripted_model: StartModel, agent_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert agent_home
    model = scripted_model(lambda _request: Status(400, "no such deployment"))
    monkeypatch.setenv("COPILOT_PROVIDER_BASE_URL", model.base_url)
    config = "config: {trials_per_task: 1, timeout_seconds: 60, executor: copilot-sdk, model: any-name}\n"
    suite = write_suite(tmp_path, {"greet": task("greet", prompt="Greet me")}, graders=GRADERS, config=config)
    report, _ = run(suite)
    trial = only_trial(report)
    assert (trial.status, trial.validations) == ("error", None)
    assert "no such deployment" in trial.error
    assert not any("set_waza_grade_pass" in request.tool_names for request in model.requests)
