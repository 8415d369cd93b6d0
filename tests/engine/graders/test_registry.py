"""From a written entry to a grader."""

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from tests.engine.graders.grading import only, refused
from waza_engine.graders import registry
from waza_engine.graders.base import Grader, GraderConfig, GraderError, GradingContext, Verdict
from waza_engine.graders.registry import create, custom_types, grader_types, register

EXACT = {"matching_mode": "exact_match"}


def test_the_types_come_in_alphabetical_order() -> None:
    names = list(grader_types())
    assert names == sorted(names)
    assert all(grader.type == name for name, grader in grader_types().items())


def test_a_key_without_effect_is_a_warning() -> None:
    grader = create({"type": "text", "config": {"contains": ["a"], "must_match": ["b"], "colour": 1}})
    assert grader.warnings == (
        "`must_match` is not an option here and has no effect; write `regex_match`",
        "`colour` is not an option here and has no effect",
    )


def test_a_key_without_effect_inside_a_block_is_a_warning() -> None:
    grader = create(
        {"type": "tool_constraint", "config": {"expect_tools": [{"tool": "a", "comand_pattern": "b"}]}}
    )
    assert only(grader.warnings).startswith("`comand_pattern`")


def test_an_empty_grader_names_the_keys_that_had_no_effect() -> None:
    with refused(
        "nothing to check", "`must_match` is not an option here and has no effect; write `regex_match`"
    ):
        create({"type": "text", "config": {"must_match": ["b"]}})


def test_keys_beside_the_type_fill_the_config_and_config_wins() -> None:
    grader = create({"type": "llm", "name": "j", "model": "a", "rubric": "r", "config": {"model": "b"}})
    assert (grader.config.model, grader.config.rubric) == ("b", "r")


def test_a_key_that_loses_against_config_is_a_warning() -> None:
    grader = create({"type": "llm", "model": "a", "config": {"model": "b"}})
    assert grader.warnings == ("`model` next to `type` has no effect: the one inside `config` counts",)


def test_other_keys_beside_the_type_are_left_alone() -> None:
    with refused("nothing to check"):
        create({"type": "text", "contains": ["a"]})


def test_an_entry_may_be_an_object() -> None:
    entry = SimpleNamespace(name="n", type="text", config={"contains": ["a"]}, assertions=None)
    assert create(entry).name == "n"


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ({"name": "n"}, ["has no `type`"]),
        ({"type": "regexp"}, ["`regexp` is not a grader type", "`text`"]),
        ({"type": "text", "config": "x"}, ["`config` must be a block of options"]),
        ({"type": "text", "config": ["x"]}, ["`config` must be a block of options"]),
        ({"type": ["text"]}, ["has no `type`"]),
    ],
)
def test_entries_that_are_no_graders(entry: dict[str, Any], words: list[str]) -> None:
    with refused(*words):
        create(entry)


@pytest.fixture
def registered() -> Iterator[None]:
    before = dict(registry._registered)
    yield
    registry._registered.clear()
    registry._registered.update(before)


@pytest.mark.usefixtures("registered")
def test_a_custom_type_registers_with_the_same_decorator() -> None:
    class LengthConfig(GraderConfig):
        least: int

    @register
    class LengthGrader(Grader[LengthConfig]):
        """Checks the length."""

        type = "length"
        title = "Length"
        config_model = LengthConfig
        example = "- type: length\n  config:\n    least: 1\n"

        def grade(self, context: GradingContext) -> Verdict:
            return Verdict(1.0, len(context.output) >= self.config.least, "")

    assert "length" in custom_types()
    assert "length" not in grader_types()
    assert create({"type": "length", "config": {"least": 2}}).grade(GradingContext(output="ab")).passed


@pytest.mark.usefixtures("registered")
def test_a_custom_type_cannot_take_a_built_in_name() -> None:
    list(grader_types())
    with pytest.raises(ValueError, match="registered twice"):

        @register
        class _Other(Grader[GraderConfig]):
            """Another text grader."""

            type = "text"
            title = "Other"
            config_model = GraderConfig
            example = ""

            def grade(self, context: GradingContext) -> Verdict:
                raise NotImplementedError


@pytest.mark.parametrize(
    ("config", "told"),
    [
        (
            {**EXACT, "expected_actions": [["a"]]},
            "`config.expected_actions[0]` must be text",
        ),
        (
            {**EXACT, "expected_actions": []},
            "`config.expected_actions` must not be empty",
        ),
        (
            {"expected_actions": ["a"], "matching_mode": ["exact_match"]},
            "`config.matching_mode` must be `exact_match`, `in_order_match` or `any_order_match`, not a list",
        ),
        (
            {"expected_actions": ["a"], "matching_mode": ""},
            "`config.matching_mode` is empty; write `exact_match`, `in_order_match` or `any_order_match`",
        ),
        (
            {"expected_actions": ["a"], "matching_mode": True},
            "`config.matching_mode` is `true`, "
            "which is not one of `exact_match`, `in_order_match` or `any_order_match`",
        ),
    ],
)
def test_one_mistake_is_told_once_and_in_words(config: dict[str, Any], told: str) -> None:
    with pytest.raises(GraderError) as refusal:
        create({"type": "action_sequence", "config": config})
    assert str(refusal.value) == told
