from waza_engine.scoring.trigger_scores import TriggerAnswer, trigger_metrics

HIT, MISS = TriggerAnswer(True, True), TriggerAnswer(True, False)
FALSE_ALARM, REJECTION = TriggerAnswer(False, True), TriggerAnswer(False, False)


def medium(answer: TriggerAnswer) -> TriggerAnswer:
    return TriggerAnswer(answer.should_trigger, answer.did_trigger, "medium")


def rates(*answers: TriggerAnswer) -> tuple[float, float, float, float]:
    found = trigger_metrics(answers)
    assert found is not None
    return found.precision, found.recall, found.f1, found.accuracy


def test_one_of_each_gives_one_half_everywhere() -> None:
    assert rates(HIT, MISS, FALSE_ALARM, REJECTION) == (0.5, 0.5, 0.5, 0.5)


def test_two_misses() -> None:
    assert rates(HIT, MISS, MISS, REJECTION) == (1.0, 0.3333, 0.5, 0.5)


def test_medium_confidence_counts_half_in_the_rates() -> None:
    assert rates(HIT, medium(FALSE_ALARM), medium(REJECTION)) == (0.6667, 1.0, 0.8, 0.75)
    assert rates(medium(HIT), medium(MISS))[3] == 0.5


def test_the_counts_are_numbers_of_prompts() -> None:
    found = trigger_metrics([HIT, medium(HIT), medium(REJECTION)])
    assert found is not None
    assert (found.true_positives, found.true_negatives) == (2, 1)


def test_only_rejections_have_no_precision() -> None:
    assert rates(REJECTION, REJECTION) == (0.0, 0.0, 0.0, 1.0)


def test_halves_are_rounded_up() -> None:
    assert rates(HIT, *[MISS] * 31) == (1.0, 0.0313, 0.0606, 0.0313)


def test_a_prompt_that_could_not_be_tried_counts_as_wrong() -> None:
    found = trigger_metrics([TriggerAnswer(False, False, error="no agent")])
    assert found is not None
    assert (found.false_positives, found.errors) == (1, 1)


def test_no_prompts_no_figures() -> None:
    assert trigger_metrics([]) is None
