"""Ratings: the rating form of `prompt`, and `llm` and `llm_comparison`, with a scripted model."""

import json
from typing import Any

import pytest

from tests.conftest import StartModel
from tests.engine.graders.grading import refused, result
from tests.engine.graders.judging import judged
from waza_engine.vocabulary import ToolCall

QUALITY = {"rubric": "Rate the correctness from 1 to 5."}


def said(**fields: Any) -> str:
    return json.dumps(fields)


@pytest.mark.parametrize("type_name", ["prompt", "llm"])
@pytest.mark.parametrize(
    ("rating", "expected"),
    [(1, (0.0, False)), (2, (0.25, False)), (3, (0.5, False)), (4, (0.75, True)), (5, (1.0, True))],
)
def test_ratings_from_1_to_5(
    type_name: str, rating: int, expected: tuple[float, bool], scripted_model: StartModel
) -> None:
    assert result(judged(scripted_model(said(score=rating)), type_name, QUALITY)) == expected


@pytest.mark.parametrize(
    ("rating", "expected"), [(1, (0.0, False)), (3, (0.5, False)), (4, (0.75, True)), (5, (1.0, True))]
)
def test_likeness_to_a_reference(
    rating: int, expected: tuple[float, bool], scripted_model: StartModel
) -> None:
    model = scripted_model(said(score=rating))
    assert result(judged(model, "llm_comparison", {"reference": "The URL"})) == expected
    assert "The URL" in model.requests[0].prompt


@pytest.mark.parametrize(
    ("reply", "expected"),
    [({"score": 5, "passed": False}, (1.0, False)), ({"score": 2, "passed": True}, (0.25, True))],
)
def test_the_verdict_of_the_judge_decides_a_comparison(
    reply: dict[str, Any], expected: tuple[float, bool], scripted_model: StartModel
) -> None:
    assert result(judged(scripted_model(said(**reply)), "llm_comparison", {"reference": "x"})) == expected


@pytest.mark.parametrize("type_name", ["prompt", "llm"])
def test_the_threshold_decides_and_not_the_judge(type_name: str, scripted_model: StartModel) -> None:
    verdict = judged(scripted_model(said(score=5, passed=False)), type_name, QUALITY)
    assert result(verdict) == (1.0, True)
    assert verdict.details["judge_passed"] is False


def test_the_threshold_is_part_of_what_passes(scripted_model: StartModel) -> None:
    model = scripted_model(said(overall_score=3.8))
    assert result(judged(model, "prompt", {**QUALITY, "threshold": 0.7})) == (0.7, True)


def test_llm_without_a_rubric_has_one_of_its_own(scripted_model: StartModel) -> None:
    model = scripted_model(said(score=4, reasoning="fine"))
    verdict = judged(model, "llm", {})
    assert result(verdict) == (0.75, True)
    assert "Completeness" in model.requests[0].prompt
    assert verdict.feedback == "Rated 4 on the scale 1-5: fine"


def test_the_judge_of_a_rating_sees_task_answer_and_tool_calls(scripted_model: StartModel) -> None:
    model = scripted_model(said(score=4))
    judged(
        model,
        "prompt",
        QUALITY,
        prompt="Add 2 and 2",
        output="It is 4.",
        task_name="Sums",
        task_description="Small sums",
        tool_calls=[ToolCall("calc", {"x": 2}, result={"content": "4"}, success=True)],
    )
    asked = model.requests[0].prompt
    for words in (
        "Rate the correctness",
        "Add 2 and 2",
        "It is 4.",
        "Sums",
        "Small sums",
        'calc {"x": 2}',
        "result: 4",
    ):
        assert words in asked
    assert "a number from 1 to 5" in asked
    assert model.requests[0].tool_names == []


def test_details_of_a_rating(scripted_model: StartModel) -> None:
    reply = said(correctness=5, clarity=3, overall_score=4, reasoning="good", passed=True)
    verdict = judged(scripted_model(reply), "prompt", QUALITY)
    details = dict(verdict.details)
    assert "Rate the correctness" in details.pop("prompt")
    assert details == {
        "response": reply,
        "raw_score": 4.0,
        "score_field": "overall_score",
        "scale": "1-5",
        "judge_passed": True,
        "criteria": {"correctness": 5.0, "clarity": 3.0},
        "threshold": 0.75,
        "rubric": {"name": "", "version": "", "scale": "1-5", "source": "inline"},
    }


@pytest.mark.parametrize(
    ("reply", "score", "place"),
    [
        ({"overall_score": 4, "score": 1}, 0.75, "overall_score"),
        ({"score": 3, "relevance_score": 5}, 0.5, "score"),
        ({"relevance_score": 2}, 0.25, "relevance_score"),
        ({"a_score": 2, "b_score": 5, "effort": 1}, 0.625, "mean of a_score, b_score"),
        ({"clarity": 5, "depth": 2, "confidence": 99}, 0.625, "mean of clarity, depth"),
        ({"scores": {"clarity": 5, "depth": {"score": 3}}}, 0.75, "mean of clarity, depth"),
        ({"Overall Score": "4"}, 0.75, "Overall Score"),
        ({"score": "4/5"}, 0.75, "score"),
        ({"score": "4 out of 5"}, 0.75, "score"),
        ({"result": {"score": 4}}, 0.75, "score"),
        ([{"name": "clarity", "score": 5}, {"name": "depth", "score": 2}], 0.625, "mean of clarity, depth"),
        ({"criteria": [{"score": 5}, {"score": 2}]}, 0.625, "mean of 1, 2"),
    ],
)
def test_which_field_wins(
    reply: dict[str, Any] | list[dict[str, Any]], score: float, place: str, scripted_model: StartModel
) -> None:
    verdict = judged(scripted_model(json.dumps(reply)), "prompt", QUALITY)
    assert (verdict.score, verdict.details["score_field"]) == (score, place)


@pytest.mark.parametrize(
    "reply",
    [
        'Here you are:\n```json\n{"score": 4, "reasoning": "a } in text"}\n```\nBye.',
        'I first thought {"score": 1}, but on second thought {"score": 4}.',
        'The set {a, b} is fine. {"score": 4,}',
        '{"reasoning": "two\nlines", "score": 4}',
        "Reasoning: it works.\nScore: 4",
        "**Overall score:** 4/5",
        "Score: 2 at first.\nFinal rating = 4.",
        "4",
        "Score: 4 (out of 5)",
        "Score: 4\nMaximum score: 5",
        "Passing score: 3\nMy score: 4 - 2 points are missing",
        '<think>Perhaps {"score": 1}? Or Score: 5?</think>\nScore: 4',
        'Thought without its beginning, score: 1</think>{"score": 4}',
        'It printed {"score": 1}, as it should.\nScore: 4',
        'It printed {"name": "x"}.\n**Score:** 4',
        "Accuracy score: 3\nStyle score: 5",
        "- **Accuracy score**: 3/5\n- **Style score**: 1/5\n\nOverall score: 4",
        '[{"criterion": "style", "score": 5}, {"criterion": "accuracy", "score": 3}]',
        '{"criterion": "accuracy", "score": 3}\n{"criterion": "style", "score": 5}',
        '{"criteria": [{"name": "accuracy", "score": 3}, {"name": "style", "rating": "5/5"}]}',
    ],
)
def test_replies_are_read_leniently(reply: str, scripted_model: StartModel) -> None:
    assert judged(scripted_model(reply), "prompt", QUALITY).score == 0.75


@pytest.mark.parametrize("type_name", ["prompt", "llm", "llm_comparison"])
@pytest.mark.parametrize(
    ("reply", "words"),
    [
        ('{"score": 4, "reasoning": "he said "hi" to', ["JSON that cannot be read"]),
        ('{"correctness_score": 2, "overall_score":', ["JSON that cannot be read"]),
        ("It is very good.", ["replied without a rating", "It is very good."]),
        ("There are 4 files.", ["replied without a rating"]),
        ("", ["empty reply"]),
        ('{"verdict": "an answer that is quite good, all in all, I would say"}', ["no rating", "`verdict`"]),
        ('{"score": 0}', ["rated 0", "not on the scale 1-5"]),
        ('{"score": 6}', ["rated 6", "not on the scale 1-5"]),
        ('{"score": ' + "9" * 400 + "}", ["rated 9", "not on the scale 1-5"]),
        ('{"score": NaN}', ["not on the scale"]),
        ('{"score": -3}', ["not on the scale"]),
        ('{"score": true}', ["rated true", "not on the scale"]),
        ('{"score": "8/10"}', ["8/10", "not on the scale 1-5"]),
        ('{"score": "great"}', ["`great`", "not on the scale"]),
        ('{"passed": true}', ["no rating"]),
        ('{"a_score": 9, "b_score": 1}', ["rated 9"]),
        ("Score: 3-4", ["replied without a rating"]),
        ("Score: 2 at first. Final score: 3 or 4", ["replied without a rating"]),
        ("Score: 4,5", ["replied without a rating"]),
        ("Score: 4%", ["replied without a rating"]),
        ("Score: 4 (out of 10)", ["not on the scale 1-5"]),
        ("Maximum score: 5", ["replied without a rating"]),
        ("<think>\nThat may be worth Score: 5", ["thought, and gave no reply"]),
        ('{"reasoning": "Score: 5 would be too much"}', ["no rating `score`"]),
        ('[{"criterion": "a", "score": 5}, {"criterion": "b", "score": "n/a"}]', ["no rating"]),
    ],
)
def test_what_is_no_rating_is_an_error_and_never_a_score(
    type_name: str, reply: str, words: list[str], scripted_model: StartModel
) -> None:
    config = {"reference": "x"} if type_name == "llm_comparison" else QUALITY
    with refused("the judge", *words):
        judged(scripted_model(reply), type_name, config)


@pytest.mark.parametrize(
    ("rubric", "rating", "score"),
    [
        ("Rate the style from 1 to 10.", 10, 1.0),
        ("Rate the style (1-10).", 5.5, 0.5),
        ('Return JSON: {"score": <0-100>}', 25, 0.25),
        ("Score each answer on a scale of 0–10", 3, 0.3),
        ('Is it there? Return JSON: {"score": 1 or 0, "passed": true/false}', 1, 1.0),
        ('Is it there? Return JSON: {"score": 1 or 0, "passed": true/false}', 0, 0.0),
        ("Rate the answer. Give 2-3 examples and 1-2 sentences.", 4, 0.75),
        ("Give 1-3 examples, then say how good it is.", 4, 0.75),
        ("Criteria (1-5): clarity. Ask for 0-3 examples.", 4, 0.75),
    ],
)
def test_another_scale_holds_only_when_the_rubric_says_so(
    rubric: str, rating: float, score: float, scripted_model: StartModel
) -> None:
    verdict = judged(scripted_model(said(score=rating)), "prompt", {"rubric": rubric})
    assert verdict.score == pytest.approx(score)


def test_a_raw_rating_is_the_score(scripted_model: StartModel) -> None:
    config = {**QUALITY, "score_type": "raw"}
    model = scripted_model(said(score=0.8), said(score=4))
    assert result(judged(model, "prompt", config)) == (0.8, True)
    assert "a number from 0 to 1" in model.requests[0].prompt
    with refused("rated 4", "not on the scale 0-1"):
        judged(model, "prompt", config)


def test_a_text_reply_is_asked_for(scripted_model: StartModel) -> None:
    model = scripted_model("It is fine.\nScore: 4")
    assert result(judged(model, "prompt", {**QUALITY, "response_format": "text"})) == (0.75, True)
    assert "`Score: N`" in model.requests[0].prompt


@pytest.mark.parametrize(
    "reply",
    [
        'It printed {"score": 1}, as it should.\nScore: 4',
        'Score: 4\n\nIt printed {"score": 1}, as it should.',
        'It printed {"name": x}.\n\n**Score:** 4',
    ],
)
def test_a_line_that_was_asked_for_is_not_the_json_that_is_quoted(
    reply: str, scripted_model: StartModel
) -> None:
    config = {**QUALITY, "response_format": "text"}
    assert judged(scripted_model(reply), "prompt", config).score == 0.75


def test_a_rubric_with_a_form_of_its_own_keeps_it(scripted_model: StartModel) -> None:
    model = scripted_model(said(overall_score=4))
    rubric = 'Rate (1-5). Return JSON: {"clarity": <1-5>, "overall_score": <1-5>}'
    judged(model, "prompt", {"rubric": rubric})
    assert "`overall_score` is a number from 1 to 5" in model.requests[0].prompt
    assert '"score": <' not in model.requests[0].prompt
