"""Names of rubrics: what the engine has none of is marked, and nothing that it takes."""

from pathlib import Path

import pytest

from tests.server.analysis.drawing import fixed, graders, problems
from waza_engine.graders.judging.rubrics import RubricError, built_in_names, load_rubric

UNKNOWN = ("grounedness", "Nice", "quality-of-answers", "Groundedness")
KNOWN = (*built_in_names(), "Rate it from 1 to 5.", "rubrics/a.md", "./mine", "a.yaml", "~/b")


def written(rubric: str, kind: str = "prompt") -> str:
    return graders(f"  - {{type: {kind}, name: c, config: {{rubric: '{rubric}'}}}}\n")


@pytest.mark.parametrize("rubric", [*UNKNOWN, *KNOWN])
def test_a_word_that_names_no_rubric_is_marked(rubric: str, tmp_path: Path) -> None:
    found = [each for each in problems(written(rubric)) if "no rubric called" in each.message]
    assert len(found) == (rubric in UNKNOWN)
    assert "no rubric called" not in str(problems(written(rubric, "llm")))
    refused = ""
    try:
        load_rubric(rubric, tmp_path)
    except RubricError as error:
        refused = str(error)
    assert ("no rubric called" in refused) == (rubric in UNKNOWN)


def test_the_similar_name_is_offered() -> None:
    assert fixed(written("grounedness"), "value-not-allowed") == written("groundedness")
