"""Rubrics, the criteria of judges: inline text, a file, or one that comes with the engine.

How a rubric is recognized: a path ends in ``.md`` or ``.yaml``, starts with ``.``, ``/`` or ``~``, or
contains a separator; another single word is the name of a built-in rubric; everything else is the rubric
itself.
"""

from __future__ import annotations

import difflib
import functools
import re
from dataclasses import replace
from pathlib import Path

from waza_engine.boundary import FileError, suite_boundary, suite_place
from waza_engine.graders.judging.rubric import Rubric
from waza_engine.spec.problems import SuiteFileError
from waza_engine.spec.reading.suite_files import DISK, SuiteFiles
from waza_engine.spec.reading.yaml_reader import read_text
from waza_engine.spec.rubric_paths import MARKDOWN_RUBRICS, YAML_RUBRICS, example_rubric, is_rubric_path

_OURS = Path(__file__).parents[2] / "rubrics"


class RubricError(Exception):
    """A rubric that cannot be used; the message is one sentence for the author of the suite."""


def load_rubric(
    written: str, suite_directory: Path, *, words_are_names: bool = True, files: SuiteFiles = DISK
) -> Rubric:
    """Return a rubric. Raises ``RubricError``.

    A relative path is looked up next to the eval file, then in the folders above it; its file is read through
    ``files``. If there is none, upstream's ``examples/rubrics/NAME.yaml`` is the built-in rubric NAME.
    Without ``words_are_names`` a single word that names nothing is the rubric itself.
    """
    if is_rubric_path(written):
        try:
            place = _found(written.strip(), suite_directory, files)
        except RubricError:
            if (name := example_rubric(written)) in built_in_names():
                return built_in(name)
            raise
        return _from_file(place, f"file:{written.strip()}", files)
    name = written.strip()
    if re.search(r"\s", name):
        return Rubric(written)
    if name in built_in_names():
        return built_in(name)
    if not words_are_names:
        return Rubric(written)
    spellings = (name.replace("_", "-"), name.replace("-", "_"))
    near = [match for word in spellings for match in difflib.get_close_matches(word, built_in_names(), 1)]
    hint = f"; did you mean `{near[0]}`?" if near else f"; there are {', '.join(built_in_names())}"
    raise RubricError(
        f"there is no rubric called `{name}`: write a known name, a path such as `rubrics/{name}.md`, "
        f"or the text of the rubric{hint}"
    )


@functools.cache
def built_in_names() -> tuple[str, ...]:
    """Return the names of the rubrics that come with the engine, those for verdicts first."""
    files = sorted(_OURS.iterdir(), key=lambda file: (file.suffix not in MARKDOWN_RUBRICS, file.name))
    return tuple(file.stem for file in files if file.suffix in (*MARKDOWN_RUBRICS, *YAML_RUBRICS))


@functools.cache
def built_in(name: str) -> Rubric:
    """Return a rubric that comes with the engine. Raises ``KeyError`` for an unknown name."""
    file = next((file for file in _OURS.glob(f"{name}.*") if file.stem == name), None)
    if file is None:
        raise KeyError(name)
    return _from_file(file, f"builtin:{name}", DISK)


def _from_file(place: Path, source: str, files: SuiteFiles) -> Rubric:
    # Each format is a file of its own, which needs ``Rubric`` from this one.
    from waza_engine.graders.judging.markdown_rubric import read_markdown_rubric
    from waza_engine.graders.judging.yaml_rubric import read_yaml_rubric

    ending = place.suffix.lower()
    try:
        if ending in MARKDOWN_RUBRICS:
            return replace(read_markdown_rubric(place, files), source=source)
        if ending in YAML_RUBRICS:
            return replace(read_yaml_rubric(place, files), source=source)
        text = read_text(place, files=files)
    except SuiteFileError as error:
        raise RubricError(f"the rubric {error.beside(place)}") from None
    if not text.strip():
        raise RubricError(f"the rubric {place} is empty")
    return Rubric(text, source=source)


def _found(written: str, suite_directory: Path, files: SuiteFiles) -> Path:
    if "\0" in written:
        raise RubricError("the path of a rubric must not contain a NUL character")
    try:
        first = suite_place(suite_directory, written, "config.rubric", files.is_named)
        # Do not read through a link that another process may put there meanwhile.
        if files.is_named(first):
            return Path(suite_boundary(suite_directory).resolved(first))
    except FileError as error:
        raise RubricError(error.why) from None
    wrong = "is a directory, not a file" if first.is_dir() else "does not exist"
    raise RubricError(f"the rubric `{written}` {wrong}; it is looked for at {first}")
