"""All grader types by name, and the way from a written grader entry to a grader.

Grader files are imported when they are first asked for. Custom types register with the same decorator, from a
package that declares the entry-point group ``waza_engine.graders``.
"""

from __future__ import annotations

import functools
import importlib
import importlib.metadata
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, TypeVar, cast

from pydantic import ValidationError

from waza_engine.graders.base import Grader, GraderConfig, GraderError
from waza_engine.spec.explain import location_of, sentence, without_echoes
from waza_engine.spec.limits import first_version_advice
from waza_engine.spelling import listed
from waza_engine.terminal import printing_beside

BUILT_IN_TYPES = (
    "action_sequence",
    "behavior",
    "code",
    "diff",
    "file",
    "human",
    "human_calibration",
    "inline",
    "json_schema",
    "keyword",
    "llm",
    "llm_comparison",
    "program",
    "prompt",
    "regex",
    "score",
    "script",
    "skill_invocation",
    "text",
    "tool_calls",
    "tool_constraint",
    "trigger",
)

ENTRY_POINTS = "waza_engine.graders"
AnyGrader = Grader[Any]
GraderT = TypeVar("GraderT", bound=type[AnyGrader])
_registered: dict[str, type[AnyGrader]] = {}


def register(grader: GraderT) -> GraderT:
    """Class decorator: make a grader type known by its ``type``. Raises ``ValueError`` for a taken name."""
    known = _registered.get(grader.type)
    if known is not None and known.__module__ != grader.__module__:
        raise ValueError(
            f"the grader type `{grader.type}` is registered twice: {known.__module__}, {grader.__module__}"
        )
    _registered[grader.type] = grader
    return grader


def grader_types() -> Mapping[str, type[AnyGrader]]:
    """Return every built-in grader type by name, in alphabetical order."""
    return MappingProxyType({name: _built_in(name) for name in BUILT_IN_TYPES})


def custom_types() -> Mapping[str, type[AnyGrader]]:
    """Return the registered grader types that are not built in, in alphabetical order."""
    plugin_problems()
    return MappingProxyType(
        {name: _registered[name] for name in sorted(_registered) if name not in BUILT_IN_TYPES}
    )


def grader_type(name: str) -> type[AnyGrader]:
    """Return one grader type. Raises ``GraderError`` with the known names for an unknown one."""
    if name in BUILT_IN_TYPES:
        return _built_in(name)
    custom = custom_types()
    if name in custom:
        return custom[name]
    known = f"`{name}` is not a grader type; write {listed((*BUILT_IN_TYPES, *custom))}"
    raise GraderError("; ".join([known, *plugin_problems()]))


def known_type(name: str) -> type[AnyGrader] | None:
    """Return one grader type, None for an unknown name."""
    try:
        return grader_type(name)
    except GraderError:
        return None


def create(entry: object) -> AnyGrader:
    """Build the grader of an entry: a mapping, or an object with ``name``, ``type``, ``config``, entry keys.

    Keys that are allowed next to ``type`` fill those missing in ``config``. Unknown keys have no effect; the
    grader lists them in ``warnings``. Raises ``GraderError`` for everything that breaks or voids the grader.
    """
    name, type_name = _read(entry, "name"), _read(entry, "type")
    if not type_name and _read(entry, "ref"):
        raise GraderError("`ref` is for graders of the eval file; move this one there, or give it a `type`")
    if not isinstance(type_name, str) or not type_name:
        raise GraderError("the grader has no `type`; write for example `type: text`")
    grader = grader_type(type_name)
    written = _read(entry, "config")
    if written is not None and not isinstance(written, Mapping):
        raise GraderError("`config` must be a block of options, one `key: value` a line")
    config = dict(cast("Mapping[str, Any]", written or {}))
    warnings: list[str] = []
    for key in grader.entry_keys:
        beside = _read(entry, key)
        if config.get(key) is None and beside is not None:
            config[key] = beside
        elif beside is not None and beside != config[key]:
            warnings.append(f"`{key}` next to `type` has no effect: the one inside `config` counts")
    built = grader("" if name is None else str(name), _validated(grader.config_model, config, warnings))
    built.warnings = tuple(warnings)
    return built


def _validated(model: type[GraderConfig], config: Mapping[str, Any], warnings: list[str]) -> GraderConfig:
    try:
        return model.model_validate(config, context={"warnings": warnings})
    except ValidationError as error:
        ignored = f" ({'; '.join(warnings)})" if warnings else ""
        findings = without_echoes(error.errors(include_url=False))
        wrong = [sentence(finding, ("config", *location_of(finding, config))) for finding in findings]
        raise GraderError("; ".join(wrong) + ignored) from None


def _read(entry: object, key: str) -> Any:
    if isinstance(entry, Mapping):
        return cast("Mapping[str, Any]", entry).get(key)
    return getattr(entry, key, None)


def _built_in(name: str) -> type[AnyGrader]:
    if name not in _registered:
        importlib.import_module(f"waza_engine.graders.{name}")
    return _registered[name]


@functools.cache
def plugin_problems() -> tuple[str, ...]:
    """Load the plug-ins and return a sentence for each that cannot be loaded."""
    problems: list[str] = []
    # Nobody else needs it, and it needs this module.
    importlib.import_module("waza_engine.graders.programs.first_version").answer_first_version()
    for plugin in importlib.metadata.entry_points(group=ENTRY_POINTS):
        try:
            with printing_beside():
                plugin.load()
        except (Exception, SystemExit) as error:  # noqa: BLE001 - a broken plug-in must not cost the others
            reason = first_version_advice(str(error)) or f"{type(error).__name__}: {error}"
            problems.append(f"the plug-in `{plugin.name}` ({plugin.value}) cannot be loaded: {reason}")
    return tuple(problems)
