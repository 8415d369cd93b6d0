"""`docs/graders.md`, and the examples in it."""

import json
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
import yaml

from tests.engine.graders.grading import only, skills
from waza_engine.commands import grader_reference as reference
from waza_engine.graders.base import Grader, GraderError, GradingContext
from waza_engine.graders.registry import create, grader_types
from waza_engine.scoring.task_scores import Graded
from waza_engine.vocabulary import ToolCall, Usage

PAGE = Path(__file__).resolve().parents[3] / "docs" / "graders.md"
TYPES = list(grader_types().values())
every_type = pytest.mark.parametrize("grader", TYPES, ids=[grader.type for grader in TYPES])


def test_the_committed_page_is_the_generated_one() -> None:
    assert PAGE.read_text("utf-8") == reference.markdown(), "run `make schemas`"


@every_type
def test_every_type_has_a_section_with_its_scoring_and_an_example(grader: type[Grader[Any]]) -> None:
    section = reference.section(grader)
    assert section.startswith(f"## {grader.type}\n")
    assert "**Scoring:**" in section or "Score =" in section
    assert "```yaml\ngraders:\n  - type: " in section
    assert ("> **Deprecated:**" in section) == (grader.replaced_by is not None)


@every_type
def test_every_option_is_described(grader: type[Grader[Any]]) -> None:
    for option in reference.options(grader):
        assert option.description.endswith((".", "`")), option
        assert option.type, option


@every_type
def test_the_example_is_valid_for_engine_and_editor(grader: type[Grader[Any]]) -> None:
    entry = only(yaml.safe_load(grader.example))
    assert create(entry).warnings == ()
    jsonschema_rs.validate(grader.config_model.model_json_schema(), entry["config"])


@every_type
def test_the_example_grades(grader: type[Grader[Any]], tmp_path: Path) -> None:
    context = GradingContext(
        output='{"status": "success"} deployed to https://x',
        tool_calls=(ToolCall("bash", {"command": "npm test"}),),
        skill_invocations=skills("azure-prepare azure-deploy"),
        usage=Usage(turns=1),
        prompt="deploy it",
        workspace=tmp_path,
        suite_directory=tmp_path,
        verdicts={"other": Graded(1.0, True)},
    )
    (tmp_path / "skills" / "azure-deploy").mkdir(parents=True)
    (tmp_path / "skills" / "azure-deploy" / "SKILL.md").write_text("---\nname: deploy\n---\ndeploy things")
    example = create(only(yaml.safe_load(grader.example)))
    if grader.type in {"prompt", "llm", "llm_comparison"}:
        with pytest.raises(GraderError, match="needs a model to judge"):
            example.grade(context)
        return
    verdict = example.grade(context)
    assert 0 <= verdict.score <= 1
    json.dumps(verdict.details, allow_nan=False)


@every_type
def test_the_examples_of_options_have_the_type_of_the_option(grader: type[Grader[Any]]) -> None:
    schema = grader.config_model.model_json_schema()
    for block in (schema, *schema.get("$defs", {}).values()):
        for option in block["properties"].values():
            for example in option.get("examples", ()):
                jsonschema_rs.validate({**option, "$defs": schema.get("$defs", {})}, example)


def test_options_inside_blocks_have_a_path() -> None:
    names = {option.name for option in reference.options(grader_types()["tool_calls"])}
    assert {"expect[].tool", "expect[].args.<name>.range.gte", "required[].pattern"} <= names
