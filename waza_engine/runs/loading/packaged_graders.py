"""Resolve grader entries that name a package's grader by ``ref``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from pydantic import ValidationError

from waza_engine.graders.registry import known_type
from waza_engine.spec.eval_file import EvalFile
from waza_engine.spec.explain import location_of, sentence
from waza_engine.spec.grader_entry import GraderEntry
from waza_engine.spec.loading import canonical_grader
from waza_engine.spec.problems import SuiteFileError
from waza_engine.spec.reading.grader_packages import (
    LOCK_NAME,
    GraderPackageError,
    packaged_entry,
    refuse_javascript,
)
from waza_engine.spec.reading.suite_files import SuiteFiles
from waza_engine.spec.reading.yaml_reader import read_yaml, read_yaml_file


def with_packages(path: Path, spec: EvalFile, files: SuiteFiles) -> EvalFile:
    """Return the eval file with its ``ref`` keys replaced by the graders they name.

    ``path`` is that of the eval file. Raises ``SuiteFileError`` at a ``ref`` that cannot be resolved.
    """
    if not any(entry.ref for entry in spec.graders):
        return spec
    graders: list[GraderEntry] = []
    for position, entry in enumerate(spec.graders):
        try:
            graders.append(packaged_grader(entry, path, files) if entry.ref else entry)
        except GraderPackageError as error:
            place = ("graders", position, "ref")
            line = read_yaml_file(path, files=files).line_of(place)
            raise SuiteFileError(path, line, str(error), place) from None
    return spec.model_copy(update={"graders": tuple(graders)})


def packaged_grader(entry: GraderEntry, eval_path: Path, files: SuiteFiles) -> GraderEntry:
    """Return the grader that an entry's ``ref`` names: that of the package, with the entry's keys.

    The entry's keys win; ``config`` is merged key by key, recursively. Raises ``GraderPackageError``.
    """
    lock_path = eval_path.parent / LOCK_NAME
    lock = _read(lock_path, files) if files.is_named(lock_path) else None
    written = packaged_entry(entry.ref, eval_path, lock, lambda path: _read(path, files))
    known = {key: value for key, value in written.items() if key in GraderEntry.model_fields and key != "ref"}
    try:
        preset = canonical_grader(GraderEntry.model_validate(known))
    except ValidationError as error:
        finding = error.errors(include_url=False)[0]
        why = sentence(finding, location_of(finding, known))
        raise GraderPackageError(f"the grader of `{entry.ref}` cannot be used: {why}") from None
    if entry.type not in ("", preset.type):
        raise GraderPackageError(
            f"the grader of `{entry.ref}` is of type `{preset.type}`, not `{entry.type}`; leave `type` out"
        )
    grader = known_type(preset.type)
    if grader is not None and grader.runs_program:
        raise GraderPackageError(
            f"the grader of `{entry.ref}` is of type `{preset.type}`, which runs programs; "
            "write such a grader into the suite itself"
        )
    config = _merged(preset.config, entry.config)
    refuse_javascript(preset.type, config)
    own: dict[str, Any] = {"ref": entry.ref, "config": config}
    if entry.name:
        own["name"] = entry.name
    if "weight" in entry.model_fields_set and entry.weight:
        own["weight"] = entry.weight
    if "required" in entry.model_fields_set:
        own["required"] = entry.required
    return preset.model_copy(update=own)


def _read(path: Path, files: SuiteFiles) -> object:
    try:
        return read_yaml(path, files=files)
    except SuiteFileError as error:
        raise GraderPackageError(error.beside(path.name)) from None


def _merged(preset: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(preset)
    for key, value in own.items():
        below = merged.get(key)
        if isinstance(below, dict) and isinstance(value, dict):
            merged[key] = _merged(cast("dict[str, Any]", below), cast("dict[str, Any]", value))
        else:
            merged[key] = value
    return merged
