"""Judges that refuse, or say nothing: an error in every form, with the reply quoted."""

import pytest

from tests.conftest import StartModel
from tests.engine.graders.grading import refused
from tests.engine.graders.judging import judged, passes, verdicts
from waza_engine.graders.judging.replies import is_refusal

ASK = {"prompt": "Is it good? Call set_waza_grade_pass or set_waza_grade_fail."}
RATE = {"rubric": "Rate the correctness from 1 to 5."}
NO = "I'm sorry, but I can't assist with that. Score: 5"


@pytest.mark.parametrize(
    "said",
    [
        NO,
        "I’m sorry, I cannot evaluate this content. If I had to, I would say 3.",
        "I am unable to provide a rating for this answer. Rating: 4",
        "Unfortunately, I won't be of use: I can't help with this. 5",
        "Sorry! I can't do that.",
        "I cannot comply with this request.",
    ],
)
def test_a_refusal_is_one_whatever_rating_comes_after_it(said: str) -> None:
    assert is_refusal(said)


@pytest.mark.parametrize(
    "said",
    [
        "I cannot find any mistake. Score: 5",
        "I can't rate this higher than 3. Score: 3",
        "I cannot give a score of 5, since a step is missing. Score: 4",
        "I can't help but admire it. Score: 5",
        '{"score": 5, "reasoning": "The agent said: I\'m sorry, I can\'t assist."}',
        "The answer refuses: “I'm sorry, I can't help with that”. Score: 1",
    ],
)
def test_a_rating_in_words_is_no_refusal(said: str) -> None:
    assert not is_refusal(said)


@pytest.mark.parametrize(("type_name", "config"), [("prompt", RATE), ("llm", RATE), ("prompt", ASK)])
def test_a_judge_that_refuses_has_given_no_verdict(
    type_name: str, config: dict[str, str], scripted_model: StartModel
) -> None:
    with refused("the judge refused to answer", "can't assist with that"):
        judged(scripted_model(NO), type_name, config)


def test_a_pass_before_a_refusal_does_not_hold(scripted_model: StartModel) -> None:
    answer, _ = verdicts(passes())
    with refused("the judge refused to answer"):
        judged(scripted_model(answer, "I'm sorry, I can't continue with this evaluation."), "prompt", ASK)


@pytest.mark.parametrize("reply", ["", " \n", "<think>Is it good?</think>\n"])
def test_an_empty_reply_is_an_error_of_the_verdict_form(reply: str, scripted_model: StartModel) -> None:
    with refused("the judge gave an empty reply"):
        judged(scripted_model(reply), "prompt", ASK)
