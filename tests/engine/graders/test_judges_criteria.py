"""The criteria form of the `prompt` grader: one reply decides all criteria, with evidence for each."""

import json
from typing import Any

import pytest

from tests.conftest import StartModel
from tests.engine.graders.grading import refused, result
from tests.engine.graders.judging import judged
from tests.scripted_model import Answer, Call, call

CRITERIA = {"criteria": ["It greets.", "It is short."]}


def decided(number: int, passed: object = True, evidence: object = "It says so.") -> dict[str, Any]:
    return {"number": number, "passed": passed, "evidence": evidence}


def reported(*results: object) -> Call:
    return call("report_criteria", results=list(results))


def test_one_question_decides_all_criteria(scripted_model: StartModel) -> None:
    model = scripted_model(
        Answer(calls=(reported(decided(2, passed=False, evidence="90 words"), decided(1)),)), "Done."
    )
    verdict = judged(model, "prompt", CRITERIA, hint="A greeting")
    assert result(verdict) == (0.5, False)
    assert verdict.feedback == "It is short.: 90 words"
    assert verdict.details["criteria"] == [
        {"text": "It greets.", "passed": True, "evidence": "It says so."},
        {"text": "It is short.", "passed": False, "evidence": "90 words"},
    ]
    assert [(check.path, check.passed) for check in verdict.checks] == [
        (("criteria", 0), True),
        (("criteria", 1), False),
    ]
    question = model.requests[0].prompt
    assert "1. It greets.\n2. It is short." in question
    assert "A greeting" in question


def test_it_passes_when_all_criteria_do(scripted_model: StartModel) -> None:
    model = scripted_model(Answer(calls=(reported(decided(1), decided(2)),)), "Done.")
    assert result(judged(model, "prompt", CRITERIA)) == (1.0, True)


@pytest.mark.parametrize(
    ("results", "problem"),
    [
        ([decided(1)], "a result is missing for criterion 2"),
        ([decided(1), decided(1)], "criterion 1 occurs twice"),
        ([decided(1), decided(3)], "`number` must be a whole number from 1 to 2"),
        ([decided(1), decided(True)], "`number` must be a whole number from 1 to 2"),
        ([decided(1), decided(2, passed="yes")], "`passed` of criterion 2 must be true or false"),
        ([decided(1), decided(2, evidence=" ")], "criterion 2 needs `evidence`"),
        (["all good"], "`number` must be a whole number from 1 to 2"),
    ],
)
def test_an_incomplete_reply_goes_back_to_the_judge(
    results: list[Any], problem: str, scripted_model: StartModel
) -> None:
    complete = reported(decided(1), decided(2))
    model = scripted_model(Answer(calls=(reported(*results),)), Answer(calls=(complete,)), "Done.")
    assert result(judged(model, "prompt", CRITERIA)) == (1.0, True)
    assert problem in json.dumps(model.requests[1].body, ensure_ascii=False)


@pytest.mark.parametrize(
    "reply",
    [
        json.dumps({"results": [decided(1), decided(2)]}),
        f"Here you are:\n```json\n{json.dumps([decided(1), decided(2)])}\n```",
    ],
)
def test_a_judge_may_write_the_results_as_its_answer(reply: str, scripted_model: StartModel) -> None:
    assert result(judged(scripted_model(reply), "prompt", CRITERIA)) == (1.0, True)


@pytest.mark.parametrize(
    "reply", ["All criteria are met.", json.dumps({"results": [decided(1)]}), '{"results": "all"}']
)
def test_without_a_decision_on_each_criterion_the_grader_is_in_error(
    reply: str, scripted_model: StartModel
) -> None:
    with refused("the judge did not decide the criteria"):
        judged(scripted_model(reply), "prompt", CRITERIA)


def test_votes_decide_by_majority(scripted_model: StartModel) -> None:
    good = [Answer(calls=(reported(decided(1), decided(2)),)), "Done."]
    bad = [Answer(calls=(reported(decided(1), decided(2, passed=False)),)), "Done."]
    verdict = judged(scripted_model(*good, *bad, *good), "prompt", {**CRITERIA, "judge": {"votes": 3}})
    assert result(verdict) == (1.0, True)
    assert verdict.feedback.startswith("2 of 3 votes pass")


def test_a_prompt_beside_the_criteria_is_sent_first(scripted_model: StartModel) -> None:
    model = scripted_model(Answer(calls=(reported(decided(1), decided(2)),)), "Done.")
    judged(model, "prompt", {**CRITERIA, "prompt": "Be strict."})
    assert model.requests[0].prompt.startswith("Be strict.")
