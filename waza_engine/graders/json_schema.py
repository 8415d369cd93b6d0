"""The `json_schema` grader: the answer is JSON of a given shape."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, NoReturn, cast

from pydantic import ConfigDict, Field

from waza_engine.graders.base import Grader, GraderError, GradingContext, Verdict
from waza_engine.graders.config import GraderConfig
from waza_engine.graders.explanation import Excerpt, Explanation, Proposal, RulePath, shortened
from waza_engine.graders.matching.json_schemas import CompiledSchema, SchemaError, compile_schema, read_schema
from waza_engine.graders.matching.proposing import schema_of
from waza_engine.graders.matching.samples import Samples
from waza_engine.graders.paths import beside_suite
from waza_engine.graders.registry import register
from waza_engine.spec.block import Discouraged, Given
from waza_engine.spec.fields import PlainText, Switch
from waza_engine.spec.reading.suite_files import DISK, SuiteFiles
from waza_engine.vocabulary import Check

_MOST_TOLD = 6
_SHOWN = 40
_OF_EACH_TYPE: tuple[Any, ...] = ("x", 7, True, None, [], {"x": 1})


class JsonSchemaConfig(GraderConfig):
    """The schema, inline or in a file."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=False)

    inline: dict[str, Any] | None = Field(
        default=None,
        alias="schema",
        description="A JSON Schema, written in YAML. It wins over `schema_file`.",
        examples=[{"type": "object", "required": ["status"], "properties": {"status": {"type": "string"}}}],
    )
    schema_file: PlainText | None = Field(
        default=None,
        description="A file with a JSON Schema, relative to the folder of the eval file.",
        examples=["schemas/answer.schema.json"],
        json_schema_extra={"x-waza-kind": "path.suite"},
    )
    extract_json: Switch = Field(
        default=False,
        description=(
            "Take the one JSON object or array out of a text or a fenced block, instead of the whole answer."
        ),
    )

    at_least_one: ClassVar = {"schema": Given.PRESENT, "schema_file": Given.WRITTEN}
    discouraged: ClassVar = (Discouraged(("schema_file",), ("schema",), "the `schema` beside it wins"),)
    misspellings: ClassVar = {
        "file": "schema_file",
        "schema_path": "schema_file",
        "path": "schema_file",
        "json_schema": "schema",
        "extract": "extract_json",
    }
    uncertain: ClassVar = frozenset({"path", "file", "json_schema"})


@register
class JsonSchemaGrader(Grader[JsonSchemaConfig]):
    """Parses the agent's final answer as JSON and validates it against a JSON Schema.

    **Scoring:** 1.0 when the answer is JSON and satisfies the schema, else 0.0.

    **Worth knowing:**

    - The whole answer must be JSON: no sentence around it, no code fence. Set `extract_json: true` when there
      may be one.
    - Draft 2020-12, unless the schema names another with `$schema`. `format` is checked by draft 7 and older
      ones only.
    - A `$ref` may point into the schema or to a file next to it; nothing is fetched from the network.
    - A schema that cannot be read or is invalid is an error of the suite, not of the agent.
    """

    type = "json_schema"
    title = "JSON Schema"
    config_model = JsonSchemaConfig
    evidence = frozenset({"json"})
    example = """\
- type: json_schema
  name: answer_shape
  config:
    schema:
      type: object
      required: [status]
      properties:
        status:
          type: string
          enum: [success, error]
"""

    def samples(self, context: GradingContext) -> Samples:
        """Return JSON of the schema's shape with values of each type, and none at all."""
        try:
            inline = self.config.inline
            schema: Any = inline if inline is not None else read_schema(self._place(context), context.files)
        except (SchemaError, GraderError):
            return Samples(complete=False)
        values: list[Any] = [{}, *(_shaped(schema, value) for value in _OF_EACH_TYPE)]
        texts = dict.fromkeys(json.dumps(value, ensure_ascii=False) for value in values)
        return Samples(tuple(texts), complete='"$ref"' not in json.dumps(schema, default=str))

    def _place(self, context: GradingContext) -> Path:
        return beside_suite(context.suite_directory, self.config.schema_file or "", "config.schema_file")

    def notices(self, suite_directory: Path, files: SuiteFiles = DISK) -> tuple[str, ...]:
        """Return a warning if the schema does not exist before a run."""
        written = self.config.schema_file
        if self.config.inline is not None or written is None:
            return ()
        place = beside_suite(suite_directory, written, "config.schema_file")
        return (
            () if files.is_there(place) else (f"there is no schema `{written}`; it is looked for at {place}",)
        )

    def grade(self, context: GradingContext) -> Verdict:
        """Parse first: an answer that is not JSON fails regardless of the schema."""
        try:
            answer = _extract(context.output) if self.config.extract_json else _parse(context.output)
        except (ValueError, RecursionError) as error:
            message = f"the answer is not JSON: {_fault(error)}"
            return Verdict(0.0, False, message, {"error": message}, (Check((), False, message),))
        key = "schema" if self.config.inline is not None else "schema_file"
        try:
            problems = self._compiled(context).problems(answer)
        except SchemaError as error:
            raise GraderError(f"`config.{key}`: {error}") from None
        if problems:
            shown = problems[:20] + ([f"and {len(problems) - 20} more"] if len(problems) > 20 else [])
            message = "the answer does not satisfy the schema: " + "; ".join(shown)
            return Verdict(0.0, False, message, {"failures": shown}, (Check((key,), False, message),))
        return Verdict(1.0, True, "The answer satisfies the schema", checks=(Check((key,), True),))

    def explain(self, context: GradingContext, path: RulePath) -> Explanation | None:
        """Return the positions in the answer that violate the schema, and their values."""
        if path[:1] not in (("schema",), ("schema_file",), ("extract_json",)):
            return None
        try:
            answer = _extract(context.output) if self.config.extract_json else _parse(context.output)
        except (ValueError, RecursionError) as error:
            excerpt = None
            if isinstance(error, json.JSONDecodeError):
                excerpt = Excerpt.of(error.doc, error.pos, min(error.pos + 1, len(error.doc)))
            return Explanation("no JSON", (f"the answer is not JSON: {_fault(error)}",), excerpt=excerpt)
        try:
            problems = self._compiled(context).problems(answer)
        except SchemaError as error:
            raise GraderError(str(error)) from None
        if not problems:
            return Explanation("fits", ("the answer satisfies the schema",), weight=1.0)
        more = (f"and {len(problems) - _MOST_TOLD} more",) if len(problems) > _MOST_TOLD else ()
        place = problems[0].partition(": ")[0]
        told = (*(shortened(problem) for problem in problems[:_MOST_TOLD]), *more)
        return Explanation(place, told, weight=1 / (1 + len(problems)))

    def propose(self, contexts: Sequence[GradingContext], path: RulePath) -> Iterator[Proposal]:
        """Propose a schema of the answers that are JSON, and to look for JSON in those that are not."""
        if not self.config.extract_json and path[:1] in (("schema",), ("schema_file",), ("extract_json",)):
            yield Proposal("Loosen: look for JSON inside the answer", ("extract_json",), True)
        if self.config.inline is None or path[:1] != ("schema",):
            return
        parse = _extract if self.config.extract_json else _parse
        values: list[Any] = []
        for context in contexts:
            try:
                values.append(parse(context.output))
            except (ValueError, RecursionError):
                continue
        found = schema_of(values)
        if found is not None and found != self.config.inline:
            words = f"Take the shape of the {len(values)} answers that are JSON for the schema"
            yield Proposal(words, ("schema",), found)

    def _compiled(self, context: GradingContext) -> CompiledSchema:
        if self.config.inline is not None:
            return compile_schema(
                self.config.inline, base=context.suite_directory / "schema.json", files=context.files
            )
        path = self._place(context)
        return compile_schema(read_schema(path, context.files), base=path, files=context.files)


def _shaped(schema: Any, value: Any) -> Any:
    """Return an object with a schema's properties, filled with ``value`` where it defines no more."""
    if not isinstance(schema, Mapping):
        return value
    block = cast("Mapping[str, Any]", schema)
    properties, items = block.get("properties"), block.get("items")
    if isinstance(properties, Mapping) and properties:
        known = cast("Mapping[str, Any]", properties)
        return {str(name): _shaped(of, value) for name, of in known.items()}
    return [_shaped(items, value)] if isinstance(items, Mapping) else value


def _parse(text: str) -> Any:
    return json.loads(text, parse_constant=_refuse_constant, parse_float=_finite, parse_int=_whole)


def _fault(error: ValueError | RecursionError) -> str:
    """Return where the answer stops being JSON, and what follows there."""
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    if not isinstance(error, json.JSONDecodeError):
        return str(error)
    if not error.doc.strip():
        return "it is empty"
    place = f"line {error.lineno}, column {error.colno}"
    rest = error.doc[error.pos :].strip()
    if not rest:
        return f"it breaks off at {place}"
    # The first words are enough: an answer may have megabytes.
    shown = " ".join(rest.split(maxsplit=_SHOWN))
    return f"at {place} stands `{shown if len(shown) <= _SHOWN else shown[:_SHOWN] + '…'}`"


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON number")


def _finite(digits: str) -> float:
    number = float(digits)
    if math.isinf(number):
        shown = digits if len(digits) <= _SHOWN else digits[:_SHOWN] + "…"
        raise ValueError(f"the number {shown} is too large")
    return number


def _whole(digits: str) -> int:
    _finite(digits)
    return int(digits)


def _extract(text: str) -> Any:
    """Return the only JSON object or array in a string. Raises ``ValueError`` unless there is exactly one."""
    decoder = json.JSONDecoder(parse_constant=_refuse_constant, parse_float=_finite, parse_int=_whole)
    values: list[Any] = []
    position = 0
    while opening := re.compile(r"[{\[]").search(text, position):
        try:
            value, position = decoder.raw_decode(text, opening.start())
            values.append(value)
        except ValueError:
            position = opening.start() + 1
    if len(values) != 1:
        count = len(values) or "no"
        raise ValueError(f"it contains {count} JSON objects or arrays, exactly one is needed")
    return values[0]
