"""Rubrics, the criteria of judges: inline text, a file, or one that comes with the engine.

How a rubric is recognized: a path ends in ``.md`` or ``.yaml``, starts with ``.``, ``/`` or ``~``, or
contains a separator; another single word is the name of a built-in rubric; everything else is the rubric
itself.

The shapes are those of upstream's eight files: three of ``score_normalization``, two of ``rating_levels``,
and an answer described by ``output_schema`` or ``output_format``. Keys with free content
(``evaluation_criteria``, ``chain_of_thought``) may hold strings, lists or mappings; the judge reads them as
Markdown.
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

from waza_engine.boundary import FileError, resolve_suite_path, suite_boundary
from waza_engine.graders.judging.scales import (
    RatingError,
    Raw,
    Scale,
    ScaleError,
    labels_of,
    linear,
    scale_of,
    scales_in,
)
from waza_engine.spec.problems import SuiteFileError
from waza_engine.spec.program_files import MARKDOWN_RUBRICS, YAML_RUBRICS, example_rubric, is_rubric_path
from waza_engine.spec.reading.suite_reader import DISK, SuiteFiles
from waza_engine.spec.reading.yaml_reader import YamlFile, parse_yaml, read_text, read_yaml_file
from waza_engine.spelling import nearest


@dataclass(frozen=True, slots=True)
class Rubric:
    """The criteria of a judge, and how its rating is parsed.

    ``source`` is ``builtin:NAME``, ``file:PATH`` as written, or ``inline``. A rubric with ``verdicts`` was
    written for pass and fail. ``scale`` is None when only its text defines the ratings. ``rating_field`` is
    the key of the rating in the reply, "" for any known key. ``inputs`` maps the inputs that the rubric names
    to their sources, ``answer`` the fields of the reply to their descriptions.
    """

    text: str
    source: str = "inline"
    name: str = ""
    version: str = ""
    scale_name: str = ""
    verdicts: bool = False
    scale: Scale | None = None
    rating_field: str = ""
    inputs: Mapping[str, str] = field(default_factory=dict[str, str])
    answer: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def details(self) -> dict[str, str]:
        """Return the rubric's entry in a result."""
        return {
            "name": self.name,
            "version": self.version,
            "scale": self.scale_name,
            "source": self.source,
        }


SCALES = ("pass-fail", "1-5")
Block = Mapping[str, Any]
_SEMVER = re.compile(r"v?\d+(?:\.\d+){0,2}(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?", re.ASCII)
_CLOSING = re.compile(r"^---\s*$", re.MULTILINE)


def read_markdown_rubric(path: Path, files: SuiteFiles) -> Rubric:
    """Return the rubric of a Markdown file. Raises ``SuiteFileError``."""
    text = read_text(path, files=files)
    if not text.strip():
        raise SuiteFileError(path, 1, "the file is empty")
    if not re.match(r"---[ \t]*\r?\n", text):
        return Rubric(text)
    start = text.index("\n") + 1
    closing = _CLOSING.search(text, start)
    if closing is None:
        raise SuiteFileError(path, 1, "the frontmatter has no closing line `---`")
    # The opening line is kept as an empty one, so that lines of the frontmatter are lines of the file.
    frontmatter = parse_yaml("\n" + text[start : closing.start()], path)
    if not isinstance(frontmatter.value, dict):
        raise SuiteFileError(path, 2, "the frontmatter must be a block of keys, one `key: value` a line")
    body = text[closing.end() :].strip()
    if not body:
        line = text.count("\n", 0, closing.start()) + 1
        raise SuiteFileError(path, line, "there is no text below the frontmatter, which the judge would read")
    name, version = _word(frontmatter, "name"), _word(frontmatter, "version")
    _word(frontmatter, "description")
    scale = _word(frontmatter, "scale")
    if not _SEMVER.fullmatch(version):
        raise _error_at(frontmatter, "version", f"`{version}` is no version; write for example `1.0.0`")
    if scale not in SCALES:
        raise _error_at(
            frontmatter, "scale", f"`{scale}` is no scale of a rubric; write `pass-fail` or `1-5`"
        )
    _check_goldens(frontmatter)
    return Rubric(
        text=body,
        name=name,
        version=version,
        scale_name=scale,
        verdicts=True,
        scale=linear(1, 5) if scale == "1-5" else None,
    )


def _word(frontmatter: YamlFile, key: str) -> str:
    value = _block(frontmatter).get(key)
    if isinstance(value, dict | list):
        raise _error_at(frontmatter, key, f"`{key}` must be text")
    text = "" if value is None else str(value).strip()
    if not text:
        raise _error_at(frontmatter, key, f"the frontmatter has no `{key}`")
    return text


def _check_goldens(frontmatter: YamlFile) -> None:
    """Examples of the rubric's author are not shown to the judge, but they must be whole."""
    goldens = _block(frontmatter).get("goldens")
    if goldens is None:
        return
    if not isinstance(goldens, list):
        raise _error_at(frontmatter, "goldens", "`goldens` must be a list of examples")
    for position, golden in enumerate(cast("list[object]", goldens)):
        line = frontmatter.line_of(["goldens", position])
        block = cast("Block", golden if isinstance(golden, Mapping) else {})
        missing = [key for key in ("name", "output", "expected") if not str(block.get(key) or "").strip()]
        if missing:
            raise SuiteFileError(frontmatter.path, line, f"the example has no `{missing[0]}`")
        if block["expected"] not in ("pass", "fail"):
            raise SuiteFileError(frontmatter.path, line, "`expected` of an example must be `pass` or `fail`")


def _block(frontmatter: YamlFile) -> Block:
    return cast("Block", frontmatter.value)


def _error_at(frontmatter: YamlFile, key: str, message: str) -> SuiteFileError:
    return SuiteFileError(frontmatter.path, frontmatter.line_of([key]), message)


_TEXTS = (
    ("prompt", ""),
    ("instructions", ""),
    ("evaluation_criteria", "Criteria"),
    ("criteria", "Criteria"),
    ("rating_levels", "Ratings"),
    ("chain_of_thought", "How to go about it"),
    ("steps", "How to go about it"),
)
_FIELD_KEYS = ("output_field", "score_field", "field", "raw_field", "source_field")
_RATING_FIELDS = ("overall_score", "score", "result", "label", "success", "flagged", "rating", "overall")
_NUMBERS = frozenset({"integer", "number", "boolean", "int", "float", "bool"})
_FOR_US = ("normalized_score", "normalized", "weight")
_TOLERANCE = 1e-6


def read_yaml_rubric(path: Path, files: SuiteFiles) -> Rubric:
    """Return the rubric of a YAML file. Raises ``SuiteFileError``."""
    file = read_yaml_file(path, files=files)
    if not isinstance(file.value, dict):
        raise SuiteFileError(path, 1, "a rubric must be a block of keys, such as `evaluation_criteria`")
    block = cast("Block", file.value)
    text = _text(block)
    if not text:
        raise SuiteFileError(
            path, 1, "the rubric tells the judge nothing: give `evaluation_criteria` or `rating_levels`"
        )
    answer = _answer(block)
    scale = _scale(file, block)
    return Rubric(
        text=text,
        name=_as_text(block.get("name")),
        version=_as_text(block.get("version")),
        scale_name="" if scale is None else scale.text,
        scale=scale,
        rating_field=_field(file, block, answer),
        inputs=_inputs(file, block),
        answer=answer,
    )


def _scale(file: YamlFile, block: Block) -> Scale | None:
    """Return the scale of ``score_normalization``, else of the levels, else of ``score_type``."""
    levels = list(_levels(file, block))
    labels = labels_of([(rating, label) for rating, label, _, _ in levels])
    named = {rating: score for rating, _, _, score in levels if score is not None}
    written = block.get("score_normalization")
    try:
        if written is not None:
            if not isinstance(written, Mapping):
                raise ScaleError("`score_normalization` must be a block, such as `mapping` with scores")
            scale = _normalization(cast("Block", written), block, labels)
            _check_levels(scale, named)
            return scale
        if levels and len(named) == len(levels):
            return scale_of(named, labels=labels)
        kind = _as_text(block.get("score_type")).lower()
        if kind == "binary_flag":
            return scale_of({True: 0.0, False: 1.0})
        if kind == "binary" and not levels:
            return scale_of({True: 1.0, False: 0.0})
        if levels:
            return _even_levels([rating for rating, _, _, _ in levels], labels)
        found = scales_in(f"Scale: {_as_text(block.get('scale'))}")
        return found[0] if found else None
    except ScaleError as error:
        key = "score_normalization" if written is not None else "rating_levels"
        raise SuiteFileError(file.path, file.line_of([key]), str(error)) from None


def _normalization(written: Block, block: Block, labels: Mapping[str, Raw]) -> Scale:
    """Return the scale of the three shapes: bounds, a table of values, a table with a method."""
    for key in ("mapping", "normalized_map", "map"):
        table = written.get(key)
        if table is not None:
            method = _as_text(written.get("method") or written.get("type")).lower()
            between = True if method == "linear" else False if method in ("binary", "exact") else None
            return scale_of(_table(key, table), between=between, labels=labels)
    if "raw_min" in written or "raw_max" in written:
        low, high = _number(written, "raw_min"), _number(written, "raw_max")
        if low >= high:
            raise ScaleError(f"`raw_min` ({low:g}) must be less than `raw_max` ({high:g})")
        at_low = _number(written, "normalized_min", 0.0)
        at_high = _number(written, "normalized_max", 1.0)
        scale = linear(low, high, at_low, at_high)
        return Scale(scale.points, labels={k: float(v) for k, v in labels.items() if _is_number(v)})
    values = written.get("values")
    if isinstance(values, list) and values:
        return _even_levels(cast("list[Raw]", values), labels)
    if _as_text(written.get("type")).lower() == "binary":
        inverted = _as_text(block.get("score_type")).lower() == "binary_flag"
        return scale_of({True: float(not inverted), False: float(inverted)})
    raise ScaleError("`score_normalization` needs `raw_min` and `raw_max`, or a `mapping` to scores")


def _even_levels(ratings: Sequence[Raw], labels: Mapping[str, Raw]) -> Scale:
    """Return the scale of ratings without scores: the least is 0, the greatest is 1."""
    truths = [value for rating in ratings if (value := _as_text(rating).lower()) in ("true", "false")]
    if len(truths) == len(ratings):
        return scale_of({True: 1.0, False: 0.0}, labels=labels)
    numbers = [_as_number(rating) for rating in ratings]
    if any(number is None for number in numbers):
        raise ScaleError("the ratings need scores: add `normalized_score` to each, or a `mapping`")
    found = sorted(cast("list[float]", numbers))
    low, high = found[0], found[-1]
    if low == high:
        raise ScaleError("a scale has two ratings or more")
    return scale_of({number: (number - low) / (high - low) for number in found}, labels=labels)


def _levels(file: YamlFile, block: Block) -> Iterator[tuple[Raw, str, str, float | None]]:
    """Yield (rating, label, description, score) of both shapes of ``rating_levels``."""
    written = block.get("rating_levels")
    if isinstance(written, Mapping):
        for rating, level in cast("Mapping[Raw, object]", written).items():
            yield rating, *_level(level)
    elif isinstance(written, list):
        for position, level in enumerate(cast("list[object]", written)):
            rating = _first(level, ("value", "score", "level", "rating"))
            if rating is None:
                line = file.line_of(["rating_levels", position])
                raise SuiteFileError(file.path, line, "the level has no `value`")
            yield cast("Raw", rating), *_level(level)
    elif written is not None:
        raise SuiteFileError(
            file.path, file.line_of(["rating_levels"]), "`rating_levels` must be a block or a list of levels"
        )


def _level(level: object) -> tuple[str, str, float | None]:
    if not isinstance(level, Mapping):
        return "", _as_text(level), None
    level = cast("object", level)
    score = _as_number(_first(level, ("normalized_score", "normalized")))
    return _as_text(_first(level, ("label", "name"))), _as_text(_first(level, ("description",))), score


def _check_levels(scale: Scale, named: Mapping[Raw, float]) -> None:
    """Raise ``ScaleError`` for a level that names another score than the table does."""
    for rating, score in named.items():
        try:
            found = scale.score(scale.rating(rating))
        except RatingError:
            raise ScaleError(f"the level {_as_text(rating)} is not on the scale {scale.text}") from None
        if abs(found - score) > _TOLERANCE:
            raise ScaleError(
                f"the level {_as_text(rating)} has the score {score:g}, "
                f"and `score_normalization` gives {found:g}"
            )


def _answer(block: Block) -> dict[str, str]:
    """Return the fields of the reply, each with its type and content."""
    form = block.get("output_format")
    schema = block.get("output_schema")
    if schema is None and isinstance(form, Mapping):
        schema = cast("Block", form).get("schema")
    properties = cast("Block", schema).get("properties", schema) if isinstance(schema, Mapping) else schema
    if isinstance(properties, list):
        names = [_first(item, ("name", "field")) or item for item in cast("list[object]", properties)]
        return {_as_text(name): "" for name in names}
    if not isinstance(properties, Mapping):
        return {}
    return {
        str(name): _of_field(value)
        for name, value in cast("Block", properties).items()
        if not (name in ("type", "required", "description", "additionalProperties") and properties is schema)
    }


def _of_field(value: object) -> str:
    if not isinstance(value, Mapping):
        return _as_text(value)
    value = cast("object", value)
    parts = [_as_text(_first(value, ("type",))), _as_text(_first(value, ("description",)))]
    choices = _first(value, ("enum",))
    if isinstance(choices, list):
        parts.insert(1, "one of " + ", ".join(_as_text(choice) for choice in cast("list[object]", choices)))
    return "; ".join(part for part in parts if part)


def _field(file: YamlFile, block: Block, answer: Mapping[str, str]) -> str:
    """Return the field that holds the rating: the one named by the rubric, else the most likely one."""
    normalization = block.get("score_normalization")
    for place in (block, normalization, block.get("output_format")):
        found = _first(place, _FIELD_KEYS)
        if found is not None:
            if answer and str(found) not in answer:
                line = file.line_of(["output_schema" if "output_schema" in block else "output_format"])
                raise SuiteFileError(file.path, line, f"the answer has no field `{found}` for the rating")
            return str(found)
    own = _as_text(block.get("name")).lower().replace("-", "_").replace(" ", "_")
    for name in (*_RATING_FIELDS[:2], own, f"{own}_score", *_RATING_FIELDS[2:]):
        if name in answer:
            return name
    endings = [name for name in answer if name.endswith(("_score", "_level", "_rating"))]
    numbers = [name for name, about in answer.items() if about.partition(";")[0].lower() in _NUMBERS]
    return next(iter([*endings, *numbers]), "")


def _inputs(file: YamlFile, block: Block) -> dict[str, str]:
    written = block.get("input_mapping")
    if written is None:
        return {}
    if not isinstance(written, Mapping):
        raise SuiteFileError(
            file.path, file.line_of(["input_mapping"]), "`input_mapping` must be a block of `input: source`"
        )
    found: dict[str, str] = {}
    for name, source in cast("Mapping[str, object]", written).items():
        inner = _first(source, ("source", "from", "path", "field")) or source
        found[name] = name if inner is None or isinstance(inner, list | Mapping) else _as_text(inner)
    return found


def _text(block: Block) -> str:
    """Return the judge's text: the description, the criteria, the ratings, the steps."""
    parts: list[str] = []
    asked = False
    for key, title in _TEXTS:
        content = "\n".join(_markdown(block.get(key)))
        if content:
            asked = True
            parts.append(f"## {title}\n\n{content}" if title else content)
    description = _as_text(block.get("description")).strip()
    return "\n\n".join([*([description] if description else []), *parts]) if asked else ""


def _markdown(value: object, indent: str = "") -> Iterator[str]:
    """Yield lines for strings, lists and mappings, nested as they are."""
    if isinstance(value, Mapping):
        for key, item in cast("Mapping[object, object]", value).items():
            yield from _item(f"**{_as_text(key).replace('_', ' ')}**", item, indent)
    elif isinstance(value, list):
        for item in cast("list[object]", value):
            title = _first(item, ("value", "name", "criterion", "title", "id"))
            if title is None or not isinstance(item, Mapping):
                yield from _item("", item, indent)
                continue
            rest = {key: inner for key, inner in cast("Block", item).items() if inner != title}
            yield from _item(f"**{_as_text(title)}**", rest, indent)
    elif value is not None:
        yield from (f"{indent}{line}".rstrip() for line in _as_text(value).strip().splitlines())


def _item(title: str, value: object, indent: str) -> Iterator[str]:
    if isinstance(value, Mapping):
        # A name and its description, with further keys below it.
        block = {key: item for key, item in cast("Block", value).items() if key not in _FOR_US}
        label, about = block.pop("label", None), block.pop("description", None)
        title = " – ".join(part for part in (title, _as_text(label) and f"**{_as_text(label)}**") if part)
        if isinstance(about, str):
            yield from _item(title, about, indent)
            yield from _markdown(block, indent + "  ")
            return
        value = {**block, **({} if about is None else {"description": about})}
    if isinstance(value, Mapping | list):
        lines = list(_markdown(cast("object", value), indent + "  "))
        if title:
            yield f"{indent}- {title}"
            yield from lines
        elif lines:
            yield f"{indent}- {lines[0].lstrip(' -')}"
            yield from lines[1:]
        return
    lines = _as_text(value).strip().splitlines() or [""]
    yield f"{indent}- " + ": ".join(part for part in (title, lines[0]) if part)
    yield from (f"{indent}  {line.strip()}" for line in lines[1:])


def _first(value: object, keys: Sequence[str]) -> object:
    """Return the value of the first key that has one; None if the value is not a mapping."""
    if not isinstance(value, Mapping):
        return None
    return next((found for key in keys if (found := cast("Block", value).get(key)) is not None), None)


def _table(key: str, table: object) -> dict[Raw, float]:
    if not isinstance(table, Mapping):
        raise ScaleError(f"`{key}` must be a block of `rating: score`")
    found: dict[Raw, float] = {}
    for rating, score in cast("Mapping[Raw, object]", table).items():
        number = _as_number(score)
        if number is None:
            raise ScaleError(f"the rating {_as_text(rating)} has no number as its score")
        found[rating] = number
    return found


def _number(block: Block, key: str, default: float | None = None) -> float:
    value = block.get(key)
    number = default if value is None else _as_number(value)
    if number is None or not math.isfinite(number):
        raise ScaleError(f"`{key}` must be a number")
    return number


def _as_number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def _is_number(value: object) -> bool:
    return _as_number(value) is not None


def _as_text(value: object) -> str:
    if value is None:
        return ""
    return ("true" if value else "false") if isinstance(value, bool) else str(value)


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
            place = _resolve_path(written.strip(), suite_directory, files)
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
    near = nearest(name, built_in_names())
    hint = f"; did you mean `{near}`?" if near is not None else f"; there are {', '.join(built_in_names())}"
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


def _resolve_path(written: str, suite_directory: Path, files: SuiteFiles) -> Path:
    if "\0" in written:
        raise RubricError("the path of a rubric must not contain a NUL character")
    try:
        first = resolve_suite_path(suite_directory, written, "config.rubric", files.is_named)
        # Do not read through a link that another process may put there meanwhile.
        if files.is_named(first):
            return Path(suite_boundary(suite_directory).resolved(first))
    except FileError as error:
        raise RubricError(error.why) from None
    wrong = "is a directory, not a file" if first.is_dir() else "does not exist"
    raise RubricError(f"the rubric `{written}` {wrong}; it is looked for at {first}")
