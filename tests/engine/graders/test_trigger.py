"""Does the prompt sound like the skill's job: `trigger`, with the worked examples"""

from pathlib import Path
from typing import Any

import pytest

from tests.engine.graders.grading import folder, grade, refused, result
from waza_engine.graders.trigger import skill_words, use_for_phrases, words
from waza_engine.spec.skill_file import load_skill_file

SKILL = """\
---
name: azure-deploy
description: "Deploy to Azure resources. USE FOR: deploy to azure, publish api, release to cloud.
  DO NOT USE FOR: write unit tests."
---
# Azure deploy skill

## Deployment

Use this skill for Azure deployment workflows.
"""


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    return folder(tmp_path, {"skills/azure-deploy/SKILL.md": SKILL, "skills/none/README.md": ""})


def trigger(suite: Path, prompt: str, mode: str = "positive", **config: Any) -> tuple[float, bool]:
    whole = {"skill_path": "skills/azure-deploy", "mode": mode, **config}
    return result(grade("trigger", whole, prompt=prompt, suite_directory=suite))


@pytest.mark.parametrize(
    ("prompt", "relevance"),
    [
        ("Please deploy this API to Azure and publish it.", 1.0),
        ("Write unit tests for my Go package.", 0.0),
        ("Can you deploy this app to Azure?", 1.0),
        ("deploy deploy deploy", 1.0),
        ("release notes", 0.5),
        ("Explain cloud resources pricing", 0.5),
        ("to be", 0.0),
    ],
)
def test_relevance(suite: Path, prompt: str, relevance: float) -> None:
    assert trigger(suite, prompt) == (relevance, relevance >= 0.6)
    assert trigger(suite, prompt, "negative") == (1.0 - relevance, relevance < 0.6)


def test_the_skill_has_eleven_keywords(suite: Path) -> None:
    skill = load_skill_file(suite / "skills/azure-deploy/SKILL.md")
    assert len(skill_words(skill).keywords) == 11


def test_the_threshold_is_inclusive(suite: Path) -> None:
    assert trigger(suite, "release notes", threshold=0.5) == (0.5, True)
    assert trigger(suite, "release notes", "negative", threshold=0.5) == (0.5, False)


def test_the_mode_ignores_blanks_and_case(suite: Path) -> None:
    assert trigger(suite, "release notes", " Positive ") == (0.5, False)


def test_the_skill_is_found_from_the_working_directory_first(
    suite: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = folder(tmp_path / "repo", {"skills/azure-deploy/SKILL.md": "---\nname: cooking\n---\nsoup"})
    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(other)
    assert trigger(suite, "cook a soup") == (0.5, False)


@pytest.mark.parametrize(
    ("config", "words_"),
    [
        ({"mode": "positive"}, ["`config.skill_path` is missing"]),
        ({"skill_path": " ", "mode": "positive"}, ["`config.skill_path` must not be blank"]),
        (
            {"skill_path": "skills/azure-deploy", "mode": "maybe"},
            ["`config.mode`", "`positive` or `negative`"],
        ),
        (
            {"skill_path": "skills/azure-deploy", "mode": "positive", "threshold": 1.5},
            ["must be 1 or less"],
        ),
        ({"skill_path": "skills/none", "mode": "positive"}, ["skills/none cannot be read"]),
        ({"skill_path": "missing", "mode": "positive"}, ["missing cannot be read"]),
    ],
)
def test_triggers_that_cannot_be_graded(suite: Path, config: dict[str, Any], words_: list[str]) -> None:
    with refused(*words_):
        grade("trigger", config, prompt="x", suite_directory=suite)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [("", "empty"), ("---\nname: x\n", "no closing line"), ("---\na: [\n---\n", "line 3")],
)
def test_a_broken_skill_file_is_an_error(tmp_path: Path, text: str, complaint: str) -> None:
    folder(tmp_path, {"SKILL.md": text})
    with refused(complaint):
        grade("trigger", {"skill_path": "SKILL.md", "mode": "positive"}, prompt="x", suite_directory=tmp_path)


def test_phrases() -> None:
    assert use_for_phrases("USE FOR: a b, c (note). INVOKES: x") == ("a b", "c")
    assert use_for_phrases('USE FOR: "deploy to azure", or "ship it". DO NOT USE FOR: "cook"') == (
        "deploy to azure",
        "ship it",
    )
    assert use_for_phrases("nothing here") == ()
    assert use_for_phrases("USE FOR: “deploy to azure” and the like, “ship it”") == (
        "deploy to azure",
        "ship it",
    )
    assert use_for_phrases("Straße. USE FOR: paving, DO NOT USE FOR: x") == ("paving",)


def test_only_the_first_use_for_has_phrases() -> None:
    assert use_for_phrases("DO NOT USE FOR: a. USE FOR: b c, d. DO NOT USE FOR: e. USE FOR: f") == (
        "b c",
        "d",
    )
    assert use_for_phrases("USE FOR: a. USE FOR: b, c") == ("a. USE FOR: b", "c")


def test_a_name_is_text_as_it_is_written(tmp_path: Path) -> None:
    suite = folder(tmp_path, {"SKILL.md": "---\nname: yes\ndescription: 007\n---\n"})
    config = {"skill_path": "SKILL.md", "mode": "positive"}
    assert result(grade("trigger", config, prompt="yes 007", suite_directory=suite)) == (1.0, True)


def test_words() -> None:
    assert words("The API for ünï, go!") == {"api", "ünï"}


def test_a_word_that_a_phrase_repeats_counts_each_time(tmp_path: Path) -> None:
    text = '---\nname: x\ndescription: "USE FOR: alpha beta alpha gamma."\n---\n'
    place = folder(tmp_path, {"SKILL.md": text}) / "SKILL.md"
    assert skill_words(load_skill_file(place)).best_phrase("alpha other") == 0.5
