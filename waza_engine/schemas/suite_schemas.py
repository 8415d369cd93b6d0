"""The JSON Schemas of suite files, made from the models that the engine validates with.

One schema per kind of file and one per grader type (a whole grader entry). Editors read the ``x-waza-*``
annotations; any other YAML server can use the files alone.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from waza_engine.files import write_atomically
from waza_engine.graders.registry import AnyGrader, custom_types, grader_types
from waza_engine.schemas.entry_schemas import PACKAGED, any_grader, grader_schema, packaged_grader_schema
from waza_engine.schemas.harness_schemas import record_schemas
from waza_engine.schemas.tidying import Schema, ordered, tidied
from waza_engine.schemas.vally_schemas import vally_schemas
from waza_engine.spec.adapter import AdapterFile
from waza_engine.spec.eval_file import EvalFile
from waza_engine.spec.evals_json import EvalsFile, TriggerList
from waza_engine.spec.project_config import ProjectConfig
from waza_engine.spec.skill_file import SkillFrontmatter
from waza_engine.spec.task_file import TaskFile
from waza_engine.spec.trigger_tests import PromptLine, TriggerTests

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from pydantic import BaseModel

DIALECT = "https://json-schema.org/draft/2020-12/schema"
DOCUMENTS: dict[str, tuple[str, type[BaseModel]]] = {
    "eval": ("Evaluation suite (eval.yaml)", EvalFile),
    "task": ("Task", TaskFile),
    "trigger_tests": ("Trigger tests (trigger_tests.yaml)", TriggerTests),
    "project_config": ("Project settings (.waza.yaml)", ProjectConfig),
    "prompts": ("Prompt (a line of prompts.jsonl)", PromptLine),
    "skill": ("Frontmatter of a skill (SKILL.md)", SkillFrontmatter),
    "evals_json": ("Evals of a skill (evals.json)", EvalsFile),
    "trigger_list": ("Trigger list of a skill", TriggerList),
    "adapter": ("Adapter (how to drive an agent's command line)", AdapterFile),
}


def write_schemas(directory: Path, *, custom: bool = False) -> list[Path]:
    """Write every schema below a directory and return the files; schemas of removed types are deleted."""
    written: list[Path] = []
    for name, schema in schemas(custom=custom).items():
        path = directory / name
        write_atomically(path, [schema_text(schema).encode()])
        written.append(path)
    for left_over in set(directory.rglob("*.schema.json")) - set(written):
        left_over.unlink()
    return written


def schema_text(schema: Schema) -> str:
    """Return a schema as the content of its file."""
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


def schemas(*, custom: bool = False) -> dict[str, Schema]:
    """Return every schema by its file name, such as ``graders/text.schema.json``.

    With ``custom`` they also know the grader types of installed plug-ins.
    """
    graders = {**grader_types(), **(custom_types() if custom else {})}
    result = {f"{kind}.schema.json": _document(kind, graders) for kind in DOCUMENTS}
    for name, grader in graders.items():
        schema = _identified(grader_schema(grader), f"grader:{name}")
        result[f"graders/{name}.schema.json"] = schema
    for name, schema in {**record_schemas(), **vally_schemas()}.items():
        result[f"{name}.schema.json"] = _identified(schema, name.replace("/", ":"))
    return result


def _document(kind: str, graders: Mapping[str, type[AnyGrader]]) -> Schema:
    title, model = DOCUMENTS[kind]
    has_graders = "GraderEntry" in model.model_json_schema().get("$defs", {})
    schema = tidied(
        model.model_json_schema(), lambda name: any_grader(graders) if name == "GraderEntry" else None
    )
    if has_graders:
        schema["$defs"] = {f"grader_{name}": grader_schema(grader) for name, grader in graders.items()}
    if model is EvalFile:
        schema["properties"]["graders"]["items"] = ordered(any_grader(graders, packaged=True))
        schema["$defs"][PACKAGED] = packaged_grader_schema(graders)
    return _identified({**schema, "title": title}, kind)


def _identified(schema: Schema, name: str) -> Schema:
    return ordered({**schema, "$schema": DIALECT, "$id": f"urn:waza:schema:{name}"})
