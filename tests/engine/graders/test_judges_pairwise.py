"""`mode: pairwise`: two questions with swapped places."""

from typing import Any

import pytest

from tests.conftest import StartModel
from tests.engine.graders.grading import refused, result
from tests.engine.graders.judging import judged, passes, verdicts, winner
from tests.scripted_model import Call, Status

COMPARE = {"prompt": "Which answer is clearer?", "mode": "pairwise"}


def compared(scripted_model: StartModel, *answers: Any) -> Any:
    return judged(
        scripted_model(*answers), "prompt", COMPARE, output="with the skill", baseline_output="without it"
    )


@pytest.mark.parametrize(
    ("first", "second", "expected", "who"),
    [
        ("B", "A", (1.0, True), "skill"),
        ("A", "B", (0.0, False), "baseline"),
        ("tie", "tie", (0.5, True), "tie"),
    ],
)
def test_what_both_questions_agree_on(
    first: str, second: str, expected: tuple[float, bool], who: str, scripted_model: StartModel
) -> None:
    verdict = compared(
        scripted_model, winner(first, reasoning="one"), "ok", winner(second, reasoning="two"), "ok"
    )
    assert result(verdict) == expected
    assert verdict.details["mode"] == "pairwise"
    assert verdict.details["pairwise"]["winner"] == who
    assert verdict.details["pairwise"]["position_consistent"] is True
    assert verdict.details["pairwise"]["reasoning"] == "one | two"


@pytest.mark.parametrize(("first", "second"), [("A", "A"), ("B", "B"), ("A", "tie"), ("tie", "A")])
def test_answers_that_contradict_each_other_are_a_tie(
    first: str, second: str, scripted_model: StartModel
) -> None:
    verdict = compared(
        scripted_model, winner(first, "much-better"), "ok", winner(second, "much-better"), "ok"
    )
    assert result(verdict) == (0.5, True)
    pairwise = verdict.details["pairwise"]
    assert (pairwise["winner"], pairwise["magnitude"]) == ("tie", "equal")
    assert pairwise["position_consistent"] is False
    assert "inconsistent" in pairwise["reasoning"]
    assert "inconsistent" in verdict.feedback


def test_the_lesser_of_two_magnitudes_counts(scripted_model: StartModel) -> None:
    verdict = compared(scripted_model, winner("B", "much-better"), "ok", winner("A", "slightly-better"), "ok")
    assert verdict.details["pairwise"]["magnitude"] == "slightly-better"
    assert verdict.details["pass1"] == {"winner": "skill", "magnitude": "much-better", "reasoning": ""}
    assert verdict.details["pass2"]["magnitude"] == "slightly-better"


def test_the_places_are_swapped(scripted_model: StartModel) -> None:
    model = scripted_model(winner("B"), "ok", winner("A"), "ok")
    judged(model, "prompt", COMPARE, output="with the skill", baseline_output="without it")
    first, second = model.requests[0], model.requests[2]
    assert first.prompt.index("without it") < first.prompt.index("with the skill")
    assert second.prompt.index("with the skill") < second.prompt.index("without it")
    assert first.prompt.startswith("Which answer is clearer?")
    assert first.tool_names == ["set_pairwise_winner"]


def test_no_call_in_one_question_is_a_tie_there(scripted_model: StartModel) -> None:
    verdict = compared(scripted_model, winner("B"), "ok", "I cannot say.")
    assert result(verdict) == (0.5, True)
    assert verdict.details["pairwise"]["position_consistent"] is False
    assert "the judge chose only once (first the skill" in verdict.feedback
    assert "; then nothing)" in verdict.feedback


def test_no_call_at_all_is_no_verdict(scripted_model: StartModel) -> None:
    verdict = compared(scripted_model, "Hm.", "Hm.")
    assert result(verdict) == (0.0, False)
    assert "no verdict" in verdict.feedback


def test_a_call_that_names_nobody_is_sent_back(scripted_model: StartModel) -> None:
    model = scripted_model(winner("C"), winner("b"), "ok", Call("set_pairwise_winner", {"winner": "A"}), "ok")
    verdict = judged(model, "prompt", COMPARE, baseline_output="x")
    assert result(verdict) == (1.0, True)
    assert "must be `A`, `B` or `tie`" in model.requests[1].tool_results[0]


def test_a_break_without_a_choice_is_an_error(scripted_model: StartModel) -> None:
    with refused("the judge gave no answer", "no more"):
        compared(scripted_model, winner("B"), "ok", Status(400, "no more"))


def test_a_break_after_the_choice_is_ignored(scripted_model: StartModel) -> None:
    verdict = compared(scripted_model, winner("B"), Status(400, "x"), winner("A"), Status(400, "x"))
    assert result(verdict) == (1.0, True)


def test_an_empty_baseline_answer_is_compared_too(scripted_model: StartModel) -> None:
    model = scripted_model(winner("B"), "ok", winner("A"), "ok")
    assert result(judged(model, "prompt", COMPARE, baseline_output="")) == (1.0, True)


def test_without_a_baseline_the_answer_is_judged_on_its_own(scripted_model: StartModel) -> None:
    verdict = judged(scripted_model(*verdicts(passes("tone", "kind"))), "prompt", COMPARE)
    assert result(verdict) == (1.0, True)
    assert verdict.details["mode"] == "independent"
    assert "no answer of a baseline run" in verdict.feedback


def test_a_rubric_is_what_the_answers_are_compared_by(scripted_model: StartModel) -> None:
    model = scripted_model(winner("B"), "ok", winner("A"), "ok")
    config = {"rubric": "helpfulness", "prompt": "Mind the tone.", "mode": "pairwise"}
    verdict = judged(model, "prompt", config, baseline_output="x")
    assert model.requests[0].prompt.startswith("Mind the tone.\n\n# Helpfulness")
    assert verdict.details["rubric"]["source"] == "builtin:helpfulness"
