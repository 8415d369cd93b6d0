"""The JSON Schemas of Vally's files and grader types, made from their models."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Any, cast

from waza_engine.schemas.tidying import Schema, ordered, tidied
from waza_engine.spec.reading.yaml_reader import parse_yaml
from waza_engine.spec.vally.eval_models import VallyEval, VallyGrader
from waza_engine.spec.vally.grader_options import GRADERS, GraderType
from waza_engine.spec.vally.project_file import VallyProject
from waza_engine.spec.vally.versions import change_of

GRADER_FOLDER = "vally_graders"


def vally_schemas() -> dict[str, Schema]:
    """Return the schemas by name: ``vally_eval``, ``vally_project``, ``vally_graders/prompt``."""
    graders = {keyword: _grader(keyword, row) for keyword, row in GRADERS.items()}
    known = {"description": "A type that a plug-in brings.", "not": {"enum": list(graders)}}
    plugin = {"type": "object", "properties": {"type": known}}
    entry: Schema = {
        "description": "One grader; a type that is not among Vally's own comes from a plug-in.",
        "type": "object",
        "x-waza-kind": "grader",
        "required": ["type"],
        "oneOf": [*({"$ref": f"#/$defs/grader_{keyword}"} for keyword in graders), plugin],
    }
    suite = tidied(
        VallyEval.model_json_schema(), lambda name: entry if name == VallyGrader.__name__ else None
    )
    suite["$defs"] = {f"grader_{keyword}": schema for keyword, schema in graders.items()}
    return {
        "vally_eval": {**suite, "title": "Vally eval file (*.eval.yaml)"},
        "vally_project": {
            **tidied(VallyProject.model_json_schema()),
            "title": "Vally project (.vally.yaml)",
        },
        **{f"{GRADER_FOLDER}/{keyword}": schema for keyword, schema in graders.items()},
    }


def example_of(keyword: str) -> str:
    """Return an example of a grader type as YAML, one item of a list."""
    options = textwrap.indent(GRADERS[keyword].example, "    ")
    return f"- type: {keyword}\n  name: {keyword}-1" + (f"\n  config:\n{options}" if options else "")


def _grader(keyword: str, row: GraderType) -> Schema:
    entry = tidied(VallyGrader.model_json_schema())
    config = tidied(row.options.model_json_schema())
    needs_config = bool(config.get("required") or config.get("anyOf"))
    example = cast("list[Any]", parse_yaml(example_of(keyword), Path(keyword)).value)
    change = change_of("type", keyword)
    properties = {
        **entry["properties"],
        "type": {**entry["properties"]["type"], "type": "string", "const": keyword},
        "config": config if needs_config else {**config, "type": ["object", "null"]},
    }
    return ordered(
        {
            "title": keyword.replace("-", " ").capitalize(),
            "description": row.about,
            "type": "object",
            "properties": {key: ordered(value) for key, value in properties.items()},
            "required": ["type", "config"] if needs_config else ["type"],
            "additionalProperties": False,
            "examples": example,
            "x-waza-kind": "grader",
            "x-waza-snippet": example_of(keyword),
            "x-waza-unknown-keys": "warning",
            "x-waza-misspellings": entry["x-waza-misspellings"],
            **(change.schema if change is not None else {}),
            **({"x-waza-asks-model": True} if keyword in ("prompt", "panel") else {}),
            **({"x-waza-runs-program": True} if keyword in ("program", "run-command") else {}),
        }
    )
