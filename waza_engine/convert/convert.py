"""Convert an eval file, write the new files, and find out later whether they are still those of their source.

Next to the new files, ``converted.json`` stores a digest of each file that was converted and of each that was
written: content decides, never a time.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, cast, get_args

from waza_engine.boundary import Boundary, FileError, boundary_of_named, suite_boundary
from waza_engine.convert.comments import Comments, comments_of
from waza_engine.convert.conversion import Conversion, ConversionError, LossKind
from waza_engine.convert.of_harness import HarnessFiles, suite_of_prompts
from waza_engine.convert.recorded import converted_recording, recording_at
from waza_engine.convert.to_evals_json import to_evals_json
from waza_engine.convert.to_harness import PROMPTS, to_harness
from waza_engine.convert.to_vally import to_vally
from waza_engine.convert.to_waza import to_waza
from waza_engine.files import copy_file, make_folder, opened_to_read, remove_file
from waza_engine.runs.loading.discovery import eval_file_of
from waza_engine.runs.loading.suite_on_disk import Suite, SuiteError, SuiteTask, load_suite
from waza_engine.runs.trials.triggers import has_triggers, trigger_file
from waza_engine.scaffold.file_changes import ScaffoldError, check_free, existing_files, write_files
from waza_engine.spec.evals_json import AssertionObject, EvalsFile
from waza_engine.spec.foreign_evals import foreign_eval_in
from waza_engine.spec.harness_files import ROW_SUFFIXES
from waza_engine.spec.loading import inline_task, load_skill_evals, load_vally_suite, vally_project_of
from waza_engine.spec.problems import SuiteFileError
from waza_engine.spec.reading.json_reader import parse_json
from waza_engine.spec.reading.searched_folders import EVAL_NAMES
from waza_engine.spec.reading.yaml_reader import parse_yaml, read_text
from waza_engine.spec.vally.counterparts import COUNTERPARTS
from waza_engine.spec.vally.eval_models import VallyEval
from waza_engine.vocabulary import Target, unique_names

STAMP = "converted.json"
_YAML = (".yaml", ".yml")
_SHOWN = 3


def convert(
    path: Path,
    to: Target | None,
    directory: Path,
    *,
    grader: Path | None = None,
    adapter: Path | None = None,
) -> Conversion:
    """Return the files of a suite, or of a recorded run, in another format; nothing is written.

    ``to`` None is waza, for a waza suite it must be given. ``grader`` and ``adapter`` belong to prompts of
    agent-eval-harness. Raises ``ConversionError``.
    """
    recording = recording_at(path)
    if recording is not None:
        conversion = converted_recording(recording, to, directory)
        return _with_stamp(conversion, to or "waza", [conversion.source.path])
    prompts = _prompts_at(path)
    if prompts is not None:
        return _of_prompts(HarnessFiles.around(prompts, grader, adapter), to or "waza", directory)
    if grader is not None or adapter is not None:
        raise ConversionError(f"{path} is no file of prompts, so --grader and --adapter have no effect.")
    eval_file = path
    try:
        eval_file = eval_file_of(path)
        found = foreign_eval_in(read_text(eval_file), eval_file)
        dialect = None if found is None else found.dialect
        target = to or ("waza" if dialect is not None else None)
        if target is None:
            raise ConversionError(f"{eval_file} is a waza suite; say what it becomes with --to.")
        if target == (dialect or "waza"):
            raise ConversionError(f"{eval_file} has that format already.")
        if directory.absolute() == eval_file.absolute().parent:
            raise ConversionError(f"{directory} has the file that is converted; name another folder with -o.")
        conversion = Conversion(_source(eval_file), dialect, directory)
        if dialect == "vally":
            conversion.source = _of_vally(conversion, eval_file)
        _write(conversion, target)
    except (SuiteFileError, SuiteError) as error:
        raise ConversionError(str(error)) from None
    except FileError as error:
        raise ConversionError(f"{eval_file}: {error.why}.") from None
    return _with_stamp(conversion, target, _sources(conversion))


def _with_stamp(conversion: Conversion, target: Target, sources: list[Path]) -> Conversion:
    """Return the conversion with its stamp. Raises ``ConversionError`` when a source cannot be read."""
    conversion.stamp = {
        "from": conversion.from_here(conversion.source.path),
        "to": target,
        "sources": _digests(sources, conversion.directory, conversion.copies.values()),
    }
    return conversion


def _prompts_at(path: Path) -> Path | None:
    """Return the file of prompts that a path names, also by its folder; None for anything else."""
    if path.is_dir() and not any((path / name).is_file() for name in (*EVAL_NAMES, "evals.json")):
        path = path / PROMPTS
    return path if path.suffix in ROW_SUFFIXES and path.is_file() else None


def _of_prompts(files: HarnessFiles, target: Target, directory: Path) -> Conversion:
    if target == "harness":
        raise ConversionError(f"{files.prompts} has that format already.")
    if directory.absolute() == files.prompts.absolute().parent:
        raise ConversionError(f"{directory} has the file that is converted; name another folder with -o.")
    try:
        conversion = suite_of_prompts(files, directory)
        _write(conversion, target)
    except (SuiteFileError, SuiteError) as error:
        raise ConversionError(str(error)) from None
    except FileError as error:
        raise ConversionError(f"{files.prompts}: {error.why}.") from None
    return _with_stamp(conversion, target, files.listed)


def write_conversion(conversion: Conversion, *, force: bool) -> list[Path]:
    """Write the files and return their paths, the suite last.

    Raises ``ScaffoldError``; no new file is left then, and nothing is overwritten without ``force``.
    """
    within = suite_boundary(conversion.source.directory)
    copies = {conversion.directory / name: source for name, source in conversion.copies.items()}
    if not force:
        check_free([conversion.directory / name for name in (*conversion.files, *conversion.copies, STAMP)])
    for target, source in copies.items():
        try:
            opened_to_read(source, within=within).close()
        except FileError as error:
            raise _copy_error(source, target, error) from None
    there = existing_files(copies)
    try:
        for target, source in copies.items():
            _copy(source, target, within, conversion.directory)
        files = conversion.files | {STAMP: _stamp(conversion)}
        paths = write_files(conversion.directory, files, force=force)
        for path in paths:
            if files[path.relative_to(conversion.directory).as_posix()].startswith("#!"):
                path.chmod(0o755)
    except ScaffoldError:
        for target in copies:
            if target not in there:
                with suppress(OSError):
                    remove_file(target, within=boundary_of_named(conversion.directory))
        raise
    return [*paths, *copies]


def _stamp(conversion: Conversion) -> str:
    """Return the content of ``converted.json``, once the copies are there. Raises ``ScaffoldError``."""
    within = boundary_of_named(conversion.directory)
    written = {name: hashlib.sha256(text.encode()).hexdigest() for name, text in conversion.files.items()}
    for name in conversion.copies:
        target = conversion.directory / name
        try:
            written[name] = _digest(target, within)
        except FileError as error:
            raise ScaffoldError(f"{target} cannot be read: {error.why}.") from None
    return json.dumps({**conversion.stamp, "written": written}, indent=2, ensure_ascii=False) + "\n"


def _copy(source: Path, target: Path, within: Boundary, directory: Path) -> None:
    try:
        make_folder(target.parent, within=boundary_of_named(directory))
        if not (target.exists() and target.samefile(source)):
            copy_file(source, target, within=within)
    except OSError as error:
        raise _copy_error(source, target, error) from None


def _copy_error(source: Path, target: Path, error: OSError) -> ScaffoldError:
    why = error.why if isinstance(error, FileError) else error.strerror or str(error)
    return ScaffoldError(f"Nothing was written, for {source} could not be copied to {target}: {why}.")


def changes_since(path: Path, directory: Path) -> list[str]:
    """Return how the source and the files of a converted copy differ from those then, a sentence each.

    Raises ``ConversionError`` when the folder has no such copy.
    """
    to, sources, written = _read_stamp(directory)
    now: Mapping[str, str]
    if recording_at(path) is not None or _prompts_at(path) is not None:
        # These files are those that were named then.
        files = [directory / name for name in sources]
        now = _digests([each for each in files if each.is_file()], directory)
    else:
        now = convert(path, to, directory).stamp["sources"]
    return [
        *(f"{name} has changed" for name in now if name in sources and sources[name] != now[name]),
        *(f"{name} is new" for name in now if name not in sources),
        *(f"{name} is gone" for name in sources if name not in now),
        *_changes_of_copy(written, directory),
    ]


def _read_stamp(directory: Path) -> tuple[Target, Mapping[str, object], Mapping[str, object]]:
    """Return the format in ``converted.json``, and the digests of the sources and of the written files."""
    stamp = directory / STAMP
    try:
        document = parse_json(read_text(stamp), stamp).value
    except SuiteFileError as error:
        raise ConversionError(f"{directory} has no converted copy that can be compared: {error}.") from None
    keys = cast("Mapping[str, object]", document if isinstance(document, Mapping) else {})
    to = next((target for target in get_args(Target) if target == keys.get("to")), None)
    sources, written = keys.get("sources"), keys.get("written")
    if to is None or not (isinstance(sources, Mapping) and isinstance(written, Mapping)):
        raise ConversionError(f"{stamp} does not say which files were converted and written; convert again.")
    return to, cast("Mapping[str, object]", sources), cast("Mapping[str, object]", written)


def _changes_of_copy(written: Mapping[str, object], directory: Path) -> Iterator[str]:
    within = Boundary.around(directory.absolute(), name=str(directory))
    for name, digest in written.items():
        try:
            if _digest(directory / name, within) != digest:
                yield f"{name} was edited after it was written"
        except FileError as error:
            missing = "is gone" if error.kind == "missing" else f"cannot be read: {error.why}"
            yield f"{name}, which was written, {missing}"


def _source(eval_file: Path) -> Suite:
    found = foreign_eval_in(read_text(eval_file), eval_file)
    if found is not None and found.dialect == "vally":
        # It is read leniently later.
        spec, _, _, _ = load_vally_suite(eval_file, {})
        return Suite(eval_file.absolute(), eval_file.absolute().parent, spec, ())
    return load_suite(eval_file, disabled=True, lenient=False)


def _write(conversion: Conversion, target: Target) -> None:
    suite = conversion.source
    for warning in suite.warnings:
        conversion.lose(suite.path, "reading", warning.removeprefix(f"{suite.path}:"))
    if conversion.dialect == "evals.json":
        _note_descriptions(conversion)
    if target in ("evals.json", "harness"):
        (to_evals_json if target == "evals.json" else to_harness)(conversion)
        of_tasks = _task_comments(conversion).values()
        count = len(_head(conversion).head) + sum(comments.count for comments in of_tasks)
        if count:
            conversion.lose(suite.path, "comments", f"JSON has none, so {count} lines are left out")
    elif target == "waza":
        to_waza(conversion, _head(conversion))
    else:
        to_vally(conversion, _task_comments(conversion), list(_head(conversion).head))
        if has_triggers(suite):
            conversion.lose(trigger_file(suite), "prompts", "Vally has no trigger tests")
    if not conversion.files:
        why = "; ".join(f"{loss.place}: {loss.why}" for loss in conversion.losses[:_SHOWN])
        raise ConversionError(f"Nothing of {suite.path} can be converted: {why}.")


def _note_descriptions(conversion: Conversion) -> None:
    """Note what a suite made of an ``evals.json`` does not have: the words of assertions with a type."""
    document, _ = load_skill_evals(conversion.source.path)
    for number, case in enumerate(document.evals if isinstance(document, EvalsFile) else ()):
        for index, each in enumerate(case.all_assertions):
            if isinstance(each, AssertionObject) and each.type is not None and each.description:
                place = f"evals[{number}].assertions[{index}].description"
                conversion.lose(conversion.source.path, place, "a grader has no description")
    if isinstance(document, EvalsFile) and document.metadata:
        conversion.lose(conversion.source.path, "metadata", "it has no counterpart")


def _head(conversion: Conversion) -> Comments:
    """Return the comments of the eval file: of its head, and of tasks in it."""
    path = conversion.source.path
    if path.suffix not in _YAML:
        return Comments()
    key = "stimuli" if conversion.dialect == "vally" else "tasks"
    return _comments_in(conversion, path, (key,))


def _task_comments(conversion: Conversion) -> dict[int, Comments]:
    """Return the comments of tasks by their index, each as those of the only task of a file."""
    found: dict[int, Comments] = {}
    of_file, inline = _head(conversion), 0
    for index, task in enumerate(conversion.source.tasks):
        if task.path == conversion.source.path:
            found[index] = of_file.of_only_task(inline)
            inline += 1
        elif task.path.suffix in _YAML and task.task is not None:
            found[index] = _comments_in(conversion, task.path, (), single=True)
    return found


def _comments_in(
    conversion: Conversion, path: Path, tasks: tuple[str, ...], *, single: bool = False
) -> Comments:
    text = read_text(path)
    try:
        return comments_of(parse_yaml(text, path), text, tasks, single=single)
    except ValueError:
        conversion.lose(path, "comments", "only a YAML file of one document keeps its comments")
        return Comments()


def _of_vally(conversion: Conversion, path: Path) -> Suite:
    """Return the suite of a Vally eval file without what has no counterpart, which is noted."""
    left_out: dict[str, Any] = {}
    spec, vally, file, warnings = load_vally_suite(path, left_out)
    for warning in warnings:
        conversion.lose(warning.path, "reading", f"{warning.line}: {warning.message}")
    for phrase, location in left_out.items():
        conversion.lose(path, f"line {file.line_of(location)}", f"{phrase} has no counterpart")
    for place, why, kind in _losses_of_graders(vally):
        conversion.lose(path, place, why, kind)
    tasks = [inline_task(task) for task in spec.tasks if not isinstance(task, str)]
    names = unique_names(task.id for task in tasks)
    listed = tuple(
        SuiteTask(name, task.name or name, path.absolute(), task)
        for name, task in zip(names, tasks, strict=True)
    )
    return replace(conversion.source, spec=spec, tasks=listed)


def _losses_of_graders(vally: VallyEval) -> Iterator[tuple[str, str, LossKind]]:
    for stimulus in vally.stimuli:
        for grader in (*vally.graders, *stimulus.graders):
            place = f"`{grader.name or grader.type}` of `{stimulus.name}`"
            counterpart = COUNTERPARTS.get(grader.type)
            if counterpart is not None and counterpart.loss:
                yield place, counterpart.loss, "differs"


def _sources(conversion: Conversion) -> list[Path]:
    """Return the converted files: eval file, tasks, trigger prompts, settings of Vally."""
    suite = conversion.source
    files = [suite.path, *(task.path for task in suite.tasks)]
    if has_triggers(suite):
        files.append(trigger_file(suite))
    if (project := vally_project_of(suite.path)) is not None:
        files.append(project)
    return files


def _digests(files: Sequence[Path], directory: Path, copies: Iterable[Path] = ()) -> dict[str, str]:
    """Return the digests of the converted files, and of those that are copied."""
    found: dict[str, str] = {}
    for file in dict.fromkeys((*files, *copies)):
        try:
            digest = _digest(file, suite_boundary(file.parent))
        except FileError as error:
            if file not in files:
                continue  # It cannot be copied either.
            raise ConversionError(f"{file} cannot be read: {error.why}.") from None
        found[os.path.relpath(file, directory.absolute()).replace(os.sep, "/")] = digest
    return found


def _digest(file: Path, within: Boundary) -> str:
    with opened_to_read(file, within=within) as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()
