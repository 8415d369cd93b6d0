"""Load suite files: read the YAML, check it against its model, bring older spellings into the newest form.

As upstream 0.38 does, unknown keys of an eval or task file are left out with a warning, and those of
``trigger_tests.yaml`` and ``.waza.yaml`` are rejected. Graders are not checked here: a broken one must not
keep the others from running.
"""

from __future__ import annotations

import copy
import inspect
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast, get_args

from pydantic import ValidationError

from waza_engine.boundary import suite_boundary
from waza_engine.files import Boundary
from waza_engine.masking import keep_settings_secret
from waza_engine.spec.block import Block
from waza_engine.spec.eval_file import EvalFile
from waza_engine.spec.evals_json import EvalsFile, TriggerList, TriggerQueries
from waza_engine.spec.explain import Location, key_path_text, location_of, sentence, without_echoes
from waza_engine.spec.foreign_evals import (
    ForeignEval,
    ForeignEvalError,
    foreign_eval,
    foreign_eval_in,
    is_named_as_evals,
)
from waza_engine.spec.grader_entry import GraderEntry
from waza_engine.spec.harness_files import ROW_SUFFIXES, describe_harness_file
from waza_engine.spec.problems import SuiteFileError, SuiteFileWarning
from waza_engine.spec.project_config import ProjectConfig
from waza_engine.spec.reading.json_reader import parse_json, read_json_file
from waza_engine.spec.reading.suite_reader import DISK, SuiteFiles
from waza_engine.spec.reading.yaml_faults import SECOND_DOCUMENT
from waza_engine.spec.reading.yaml_reader import YamlFile, parse_yaml, read_text, read_yaml_file
from waza_engine.spec.skill_evals import suite_of
from waza_engine.spec.task_file import Checkpoint, InputFile, TaskElement, TaskFile, TaskInputs
from waza_engine.spec.trigger_tests import TriggerTests
from waza_engine.spelling import typo_of
from waza_engine.vocabulary import PARTS_OF_SUITES

if TYPE_CHECKING:
    from waza_engine.spec.adapter import AdapterFile
    from waza_engine.spec.vally.eval_models import VallyEval


_INCLUDE = "include:"
_ENTRY_KEYS = ("assertions", "rubric", "model", "script")


def canonical_eval(suite: EvalFile) -> EvalFile:
    """Return the suite with only patterns and whole tasks in ``tasks``, and with graders of one shape.

    ``max_workers`` becomes ``workers``.
    """
    config = suite.config
    if config.max_workers is not None and not config.workers:
        config = config.model_copy(update={"workers": config.max_workers, "max_workers": None})
    tasks: list[str | TaskElement] = []
    for element in suite.tasks:
        if isinstance(element, str):
            tasks.append(_without_include(element))
        elif element.task_files:
            tasks += [_without_include(pattern) for pattern in element.task_files]
        else:
            tasks.append(_canonical_element(element))
    return suite.model_copy(
        update={
            "config": config,
            "tasks": tuple(tasks),
            "graders": tuple(canonical_grader(entry) for entry in suite.graders),
        }
    )


def inline_task(element: TaskElement) -> TaskFile:
    """Return a task written inside ``eval.yaml`` as the task file that it could be."""
    values = {name: getattr(element, name) for name in element.model_fields_set if name != "task_files"}
    return TaskFile.model_construct(_fields_set=set(values), **values)


def canonical_task(task: TaskFile) -> TaskFile:
    """Return the task with ``inputs.files`` as blocks and its graders in one shape."""
    return task.model_copy(update=_task_parts(task, task.inputs))


def canonical_grader(entry: GraderEntry, *, default_type: str = "") -> GraderEntry:
    """Return the grader with every option in ``config``: a key next to ``type`` fills a missing one there."""
    beside = {key: getattr(entry, key) for key in _ENTRY_KEYS if getattr(entry, key) is not None}
    config: dict[str, Any] = {
        **beside,
        **{key: value for key, value in entry.config.items() if value is not None or key not in beside},
    }
    written = entry.type or ("" if entry.ref else default_type)
    return entry.model_copy(update={"type": written, "config": config, **dict.fromkeys(_ENTRY_KEYS)})


def _canonical_element(element: TaskElement) -> TaskElement:
    return (
        element if element.inputs is None else element.model_copy(update=_task_parts(element, element.inputs))
    )


def _task_parts(task: TaskFile | TaskElement, inputs: TaskInputs) -> dict[str, Any]:
    """Return the new parts of a task. A task grader without a type ran as ``code`` in the Python era."""
    files = tuple(InputFile(path=file) if isinstance(file, str) else file for file in inputs.files)
    expected = task.expected.model_copy(
        update={
            "graders": tuple(
                named if isinstance(named, str) else canonical_grader(named, default_type="code")
                for named in task.expected.graders
            )
        }
    )
    return {
        "inputs": inputs.model_copy(update={"files": files}),
        "expected": expected,
        "graders": tuple(canonical_grader(entry, default_type="code") for entry in task.graders),
        "checkpoints": tuple(_checkpoint(checkpoint) for checkpoint in task.checkpoints),
    }


def _checkpoint(checkpoint: Checkpoint) -> Checkpoint:
    graders = tuple(canonical_grader(entry, default_type="code") for entry in checkpoint.graders)
    return checkpoint.model_copy(update={"graders": graders})


def _without_include(pattern: str) -> str:
    return pattern.removeprefix(_INCLUDE).strip() if pattern.startswith(_INCLUDE) else pattern


PROJECT_CONFIG_NAME = ".waza.yaml"
VALLY_PROJECT_NAMES = (".vally.yaml", ".vally.yml")
LEFT_OUT = "-"
_LEVELS = 10
# The first version ran suites without these keys, upstream rejects them.
_ASSUMED = {"trials_per_task": 1, "timeout_seconds": 300}
ModelT = TypeVar("ModelT", bound=Block | TriggerList)
Warnings = tuple[SuiteFileWarning, ...]


def load_eval_file(
    path: Path,
    given: Mapping[str, object] | None = None,
    *,
    lenient: bool = False,
    left_out: Collection[int] = (),
    files: SuiteFiles = DISK,
) -> tuple[EvalFile, Warnings]:
    """Return the suite in its newest form, and its parts without effect. Raises ``SuiteFileError``.

    An ``evals.json`` and a trigger list become a suite; any other eval file of another tool is a
    ``ForeignEvalError``.

    ``given`` fills keys that the block ``config`` lacks, such as options of a run. ``lenient`` then uses the
    first version's number of trials and time limit for those that are still missing, with a warning.
    ``left_out`` are positions in ``tasks``: a pattern that matches nothing replaces them. Open files of
    ``files`` win over the disk, here and below.
    """
    file, of_vally = _eval_file(path, files)
    found = foreign_eval(file.value)
    if found is not None:
        document, warnings = _load_foreign(file, found)
        return canonical_eval(suite_of(document, path, given or {}, files)), warnings
    file = _without_tasks(file, left_out)
    assumed = _missing_values(file, {**_ASSUMED, **(given or {})} if lenient else given or {})
    suite, warnings = _load(EvalFile, _with_defaults(file, assumed))
    return canonical_eval(suite), (
        *dict.fromkeys((*of_vally, *warnings)),
        *(
            SuiteFileWarning(path, file.line_of(("config",)), f"`config.{key}` is missing; {value} is taken")
            for key, value in assumed.items()
            if key not in (given or {})
        ),
    )


def load_skill_evals(path: Path, *, files: SuiteFiles = DISK) -> tuple[EvalsFile | TriggerList, Warnings]:
    """Return an ``evals.json`` or a trigger list, and its parts without effect. Raises ``SuiteFileError``."""
    file, _ = _eval_file(path, files)
    found = foreign_eval(file.value)
    if found is None:
        raise SuiteFileError(path, 1, "this is neither an evals.json file nor a trigger list")
    return _load_foreign(file, found)


def load_task_file(
    path: Path, *, within: Boundary | None = None, files: SuiteFiles = DISK
) -> tuple[TaskFile, Warnings]:
    """Return the task in its newest form, and its parts without effect. Raises ``SuiteFileError``.

    ``within`` is as for ``read_text``.
    """
    task, warnings = _load(TaskFile, read_yaml_file(path, within=within, files=files))
    return canonical_task(task), warnings


def load_trigger_tests(path: Path) -> tuple[TriggerTests, Warnings]:
    """Return the trigger prompts, and the file's parts without effect. Raises ``SuiteFileError``."""
    within = suite_boundary(path.parent)
    return _load(TriggerTests, read_yaml_file(path, within=within))


def load_adapter_file(path: Path, *, within: Boundary | None = None) -> tuple[AdapterFile, Warnings]:
    """Return an adapter, and the file's parts without effect. Raises ``SuiteFileError``."""
    # Few suites have one, and its models are many.
    from waza_engine.spec.adapter import AdapterFile

    return _load(AdapterFile, read_json_file(path, within=within))


def load_project_config(directory: Path, *, files: SuiteFiles = DISK) -> tuple[ProjectConfig, Warnings]:
    """Return the settings of a directory: the defaults without a file. Raises ``SuiteFileError``."""
    path = find_project_config(directory, files=files)
    if path is None:
        return ProjectConfig(), ()
    file = read_yaml_file(path, within=suite_boundary(path.parent), files=files)
    return (ProjectConfig(), ()) if file.value is None else _load(ProjectConfig, file)


def find_project_config(directory: Path, *, files: SuiteFiles = DISK) -> Path | None:
    """Return the nearest ``.waza.yaml``, from the directory upwards, ten levels at most."""
    return find_above(directory, (PROJECT_CONFIG_NAME,), files)


def find_above(directory: Path, names: Sequence[str], files: SuiteFiles) -> Path | None:
    """Return the nearest file with one of the names, from the directory upwards, ten levels at most."""
    start = directory.resolve()
    places = (level / name for level in (start, *start.parents)[:_LEVELS] for name in names)
    return next(filter(files.is_named, places), None)


def _eval_file(path: Path, files: SuiteFiles) -> tuple[YamlFile, Warnings]:
    """Return the data of an eval file; of one of Vally that of the suite that runs it, and its warnings."""
    text = read_text(path, files=files)
    if path.suffix in ROW_SUFFIXES and (words := describe_harness_file(text)):
        raise SuiteFileError(path, 0, f"this file {words}")
    # As YAML, JSON is read much slower, and some of it not at all.
    file = parse_json(text, path) if path.suffix == ".json" else parse_yaml(text, path)
    found = foreign_eval(file.value)
    if found is not None and not found.runs:
        raise ForeignEvalError(path, found)
    keys = cast("dict[str, object]", file.value) if isinstance(file.value, dict) else {}
    if found is None and keys and path.suffix == ".json" and keys.keys().isdisjoint(("config", "tasks")):
        needed = "an evals.json needs `skill_name`, a text, and `evals`, a list of cases"
        raise SuiteFileError(path, 1, needed)
    # Without a complete stimulus, only the name of an eval file shows that it is Vally's.
    broken = found is None and is_named_as_evals(path.name) and "stimuli" in keys and "tasks" not in keys
    if broken or (found is not None and found.dialect == "vally"):
        suite, _, warnings = _suite_of_vally(file, files)
        return suite, warnings
    return (file if found is not None or path.suffix != ".json" else parse_yaml(text, path)), ()


def load_vally_suite(
    path: Path, left_out: dict[str, Location]
) -> tuple[EvalFile, VallyEval, YamlFile, Warnings]:
    """Return the suite of a Vally eval file, the file itself, its lines, and its parts without effect.

    Raises ``SuiteFileError``.

    Parts without a counterpart are added to ``left_out``: a phrase, and the place of the part.
    """
    file = read_yaml_file(path)
    suite, vally, warnings = _suite_of_vally(file, DISK, left_out)
    return canonical_eval(_load(EvalFile, suite)[0]), vally, file, warnings


def vally_project_of(path: Path, *, files: SuiteFiles = DISK) -> Path | None:
    """Return the nearest ``.vally.yaml`` of an eval file of Vally, None without one and for other files.

    Raises ``SuiteFileError``.
    """
    found = foreign_eval_in(read_text(path, files=files), path)
    of_vally = found is not None and found.dialect == "vally"
    return find_above(path.parent, VALLY_PROJECT_NAMES, files) if of_vally else None


def _suite_of_vally(
    file: YamlFile, files: SuiteFiles, left_out: dict[str, Location] | None = None
) -> tuple[YamlFile, VallyEval, Warnings]:
    # Few suites are Vally's, and its models are many.
    from waza_engine.spec.vally.eval_models import Environment, VallyEval
    from waza_engine.spec.vally.project_file import VallyProject
    from waza_engine.spec.vally.suite_of_stimuli import suite_of

    project = find_above(file.path.parent, VALLY_PROJECT_NAMES, files)
    environments: Mapping[str, Environment] = {}
    found: Warnings = ()
    if project is not None:
        written = read_yaml_file(project, within=suite_boundary(project.parent), files=files)
        if written.value is not None:
            settings, found = _load(VallyProject, written)
            environments = settings.environments
    vally, warnings = _load(VallyEval, file)
    of_options: list[SuiteFileWarning] = []
    suite = suite_of(file, vally, environments, of_options, left_out)
    return replace(file, value=suite), vally, (*found, *warnings, *of_options)


def _without_tasks(file: YamlFile, positions: Collection[int]) -> YamlFile:
    if not positions:
        return file
    value = cast("dict[str, Any]", file.value)
    tasks = [LEFT_OUT if index in positions else task for index, task in enumerate(value["tasks"])]
    return replace(file, value={**value, "tasks": tasks})


def _missing_values(file: YamlFile, values: Mapping[str, object]) -> dict[str, object]:
    """Return the values whose keys the block ``config`` lacks; none when there is no such block."""
    config = cast("dict[str, object]", file.value).get("config") if isinstance(file.value, dict) else None
    return {key: value for key, value in values.items() if isinstance(config, dict) and key not in config}


def _with_defaults(file: YamlFile, assumed: Mapping[str, object]) -> YamlFile:
    if not assumed:
        return file
    value = cast("dict[str, Any]", file.value)
    return replace(file, value={**value, "config": {**value["config"], **assumed}})


def _load_foreign(file: YamlFile, found: ForeignEval) -> tuple[EvalsFile | TriggerList, Warnings]:
    if found.dialect == "evals.json":
        return _load(EvalsFile, file)
    if isinstance(file.value, list):
        return _load(TriggerList, file)
    queries, warnings = _load(TriggerQueries, file)
    return TriggerList(queries), warnings


def _load(model: type[ModelT], file: YamlFile) -> tuple[ModelT, Warnings]:
    if file.value is None:
        raise SuiteFileError(file.path, 1, "the file is empty")
    if not isinstance(file.value, dict | list) or (isinstance(file.value, list) and model is not TriggerList):
        form = "a block of keys, one `key: value` a line"
        if file.path.suffix == ".json":
            form = "an object: `{ … }`; a trigger list has prompts, each with `query` and `should_trigger`"
        raise SuiteFileError(file.path, file.line_of(()), f"the file must be {form}")
    warnings: list[SuiteFileWarning] = []
    if file.second_document is not None:
        warnings.append(SuiteFileWarning(file.path, file.second_document, SECOND_DOCUMENT))
    try:
        return model.model_validate(file.value), tuple(warnings)
    except ValidationError as error:
        known = _without_unknown_keys(model, file, error, warnings)
    try:
        return model.model_validate(known), tuple(sorted(warnings, key=lambda warning: warning.line))
    except ValidationError as error:
        raise _first_error(file, known, error) from None


def _without_unknown_keys(
    model: type[ModelT], file: YamlFile, error: ValidationError, warnings: list[SuiteFileWarning]
) -> dict[str, Any]:
    """Return a copy of the data without its unknown keys, each of which adds a warning to the list."""
    known = cast("dict[str, Any]", copy.deepcopy(file.value))
    for finding in error.errors(include_url=False):
        if finding["type"] != "extra_forbidden":
            continue
        location = location_of(finding, file.value)
        _mask_secrets(str(location[-1]), finding["input"])
        block, key = _block_at(model, location[:-1]), str(location[-1])
        intended = None if block is None else _intended_key(block, key)
        hint = f"; write `{intended}`" if intended else ""
        if block is not None and intended in PARTS_OF_SUITES and key not in block.uncertain:
            is_of_suite = len(location) == 1 or isinstance(location[-2], int)
            if is_of_suite and intended not in _value_at(known, location[:-1]):
                gone = PARTS_OF_SUITES[intended]
                message = (
                    f"{key_path_text(location)} is not a known key, so the run has none of these {gone}{hint}"
                )
                raise SuiteFileError(file.path, file.line_of(location), message, location)
        in_scenario = "responses" in location and known.get("scenario") is not None
        if model.unknown_keys == "error" or in_scenario:
            message = f"{key_path_text(location)} is not a key of this file{hint}"
            raise SuiteFileError(file.path, file.line_of(location), message)
        warnings.append(
            SuiteFileWarning(
                file.path,
                file.line_of(location),
                f"{key_path_text(location)} is not a known key and has no effect{hint}",
            )
        )
        _delete(known, location)
    return known


def _mask_secrets(key: str, value: object) -> None:
    """Mask a credential that was written where none belongs, such as ``api_key``: others may repeat it."""
    if isinstance(value, str):
        keep_settings_secret({key: value})
    elif isinstance(value, dict):
        for name, inner in cast("dict[object, object]", value).items():
            _mask_secrets(str(name), inner)


def _value_at(value: Any, location: Location) -> Any:
    for part in location:
        value = value[part]
    return value


def _delete(value: Any, location: Location) -> None:
    cast("dict[Any, Any]", _value_at(value, location[:-1])).pop(location[-1], None)


def _block_at(model: type[Block | TriggerList], location: Location) -> type[Block] | None:
    block: Any = model
    for part in location:
        block = block if isinstance(part, int) else _block_below(block, str(part))
        if block is None:
            return None
    return block


def _intended_key(block: type[Block], key: str) -> str | None:
    """Return the key that a misspelt one, or one of other tools, stands for; None if that is not known."""
    keys = [field.alias or name for name, field in block.model_fields.items()]
    return block.misspellings.get(key) or typo_of(key, keys)


def _block_below(model: type[Block], key: str) -> type[Block] | None:
    for name, field in model.model_fields.items():
        if (field.alias or name) == key:
            return next(_blocks_in(field.annotation), None)
    return None


def _blocks_in(annotation: Any) -> Iterator[type[Block]]:
    if inspect.isclass(annotation) and issubclass(annotation, Block):
        yield annotation
    for argument in get_args(annotation):
        yield from _blocks_in(argument)


def _first_error(file: YamlFile, known: Mapping[str, Any], error: ValidationError) -> SuiteFileError:
    """Return the first finding by its position in the file."""
    findings = without_echoes(error.errors(include_url=False))
    found = [(location_of(finding, known), finding) for finding in findings]
    location, finding = min(found, key=lambda pair: file.line_of(pair[0]))
    return SuiteFileError(
        file.path,
        file.line_of(location),
        sentence(finding, location, as_json=file.path.suffix == ".json"),
        location,
    )
