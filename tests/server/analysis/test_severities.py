"""What loading refuses is an error in the editor, and what it accepts is at most a warning.

Every key of the schemas is loaded with a dozen odd values.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any, cast

import pytest

from tests.server.project.files import workspace_with
from waza_engine.graders import registry
from waza_engine.spec.loading import load_eval_file, load_project_config, load_task_file, load_trigger_tests
from waza_engine.spec.problems import SuiteFileError
from waza_language_server.analysis.diagnose import diagnose
from waza_language_server.project.document import Document, DocumentKind

SCHEMAS = Path(registry.__file__).parents[1] / "schemas"
ODD = ("text", "", -1, 0, 1.5, "3", True, [], ["a"], [1], {}, {"a": 1})
GRADER = {"type": "text", "name": "g", "config": {"contains": ["x"]}}
CONFIG = {"trials_per_task": 1, "timeout_seconds": 60, "executor": "mock", "model": "m"}
BASES: Mapping[DocumentKind, dict[str, Any]] = {
    "eval": {"name": "a", "skill": "b", "config": CONFIG, "graders": [GRADER], "tasks": ["tasks/*.yaml"]},
    "task": {"id": "t", "name": "T", "inputs": {"prompt": "Go"}, "graders": [GRADER]},
    "trigger_tests": {"skill": "b", "should_trigger_prompts": [{"prompt": "x"}]},
    "project_config": {"defaults": {"model": "m"}},
}
LOADERS: Mapping[DocumentKind, Callable[[Path], object]] = {
    "eval": lambda path: load_eval_file(path, lenient=True)[0],
    "task": lambda path: load_task_file(path)[0],
    "trigger_tests": lambda path: load_trigger_tests(path)[0],
    "project_config": lambda path: load_project_config(path.parent)[0],
}
ELSEWHERE = ("graders", 0, "ref")
"""A package is looked up when the suite around the file is loaded."""


def keys_of(kind: DocumentKind) -> list[tuple[str | int, ...]]:
    """Return the paths of all keys of a schema."""
    root = json.loads((SCHEMAS / f"{kind}.schema.json").read_text("utf-8"))
    return list(dict.fromkeys(path for path in _keys(root, root, ()) if path != ELSEWHERE))


def _keys(schema: Any, root: Any, at: tuple[str | int, ...]) -> Iterator[tuple[str | int, ...]]:
    schema = _resolved(schema, root)
    if len(at) > 5 or (at[-1:] == ("config",) and "graders" in at):
        return
    for each in (
        schema,
        *(_resolved(one, root) for key in ("anyOf", "oneOf") for one in schema.get(key, ())),
    ):
        for key, below in each.get("properties", {}).items():
            yield (*at, key)
            yield from _keys(below, root, (*at, key))
        if isinstance(each.get("items"), dict):
            yield from _keys(each["items"], root, (*at, 0))


def _resolved(schema: Any, root: Any) -> Any:
    while str(schema.get("$ref", "")).startswith("#/"):
        found: Any = root
        for part in schema["$ref"][2:].split("/"):
            found = found[part]
        schema = {**found, **{key: value for key, value in schema.items() if key != "$ref"}}
    return schema


def written(base: Mapping[str, Any], path: tuple[str | int, ...], value: object) -> dict[str, Any]:
    """Return a document with a value at a path; what is on the way is made."""
    document = json.loads(json.dumps(base))
    holder: Any = document
    for part, below in pairwise(path):
        fresh: Any = {} if isinstance(below, str) else []
        if isinstance(holder, list):
            listed = cast("list[Any]", holder)
            listed[:] = [listed[0] if listed and isinstance(listed[0], type(fresh)) else fresh]
        elif not isinstance(holder.get(part), type(fresh)):
            holder[part] = fresh
        holder = cast("Any", holder)[part]
    if isinstance(holder, list):
        holder[:] = [value]
    else:
        holder[path[-1]] = value
    return document


def refusal(kind: DocumentKind, document: Mapping[str, Any], folder: Path) -> str:
    """Return why a run refuses a document or one of its graders; empty when it does not."""
    path = folder / (".waza.yaml" if kind == "project_config" else f"{kind}.yaml")
    path.write_text(json.dumps(document), "utf-8")
    try:
        loaded: Any = LOADERS[kind](path)
        for grader in loaded.graders if kind in ("eval", "task") else ():
            registry.create(grader)
    except (SuiteFileError, registry.GraderError) as error:
        return str(error)
    return ""


def errors(kind: DocumentKind, document: Mapping[str, Any]) -> list[str]:
    opened = Document(f"untitled:{kind}", 1, json.dumps(document), kind)
    return [each.message for each in diagnose(opened, workspace_with()) if each.severity == "error"]


@pytest.mark.parametrize("kind", BASES)
def test_an_odd_value_is_an_error_where_loading_refuses_it(kind: DocumentKind, tmp_path: Path) -> None:
    assert (refusal(kind, BASES[kind], tmp_path), errors(kind, BASES[kind])) == ("", [])
    different: list[object] = []
    for path in keys_of(kind):
        for value in ODD:
            document = written(BASES[kind], path, value)
            why, reported = refusal(kind, document, tmp_path), errors(kind, document)
            if bool(why) != bool(reported):
                different.append((path, value, why, reported))
    assert different == []


@pytest.mark.parametrize("wrong", ["gradesr", "grader", "graderz"])
@pytest.mark.parametrize("kind", ["eval", "task"])
def test_a_misspelling_of_graders_is_an_error(kind: DocumentKind, wrong: str, tmp_path: Path) -> None:
    base = {key: value for key, value in BASES[kind].items() if key != "graders"}
    document = {**base, wrong: [GRADER]}
    [message] = errors(kind, document)
    assert message.endswith("Without it the run has none of these graders.")
    why = f"`{wrong}` is not a known key, so the run has none of these graders; write `graders`"
    assert refusal(kind, document, tmp_path).endswith(why)


@pytest.mark.parametrize("wrong", ["timeou_seconds", "trials_per_tsk"])
def test_a_misspelling_that_the_run_makes_up_for_is_no_error(wrong: str, tmp_path: Path) -> None:
    right = {"timeou_seconds": "timeout_seconds", "trials_per_tsk": "trials_per_task"}[wrong]
    config = {key: value for key, value in CONFIG.items() if key != right}
    document = {**BASES["eval"], "config": {**config, wrong: 1}}
    assert (refusal("eval", document, tmp_path), errors("eval", document)) == ("", [])


@pytest.mark.parametrize("type_name", ["code", "text", "behavior", "file", "diff"])
@pytest.mark.parametrize("config", [None, {}])
def test_a_grader_without_options_is_an_error(type_name: str, config: object, tmp_path: Path) -> None:
    document = {**BASES["eval"], "graders": [{"type": type_name, "name": "g", "config": config}]}
    assert refusal("eval", document, tmp_path)
    assert len(errors("eval", document)) == 1
