"""The `json_schema` grader: the answer is JSON of a given shape."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Annotated, Any, ClassVar, NoReturn

from pydantic import ConfigDict, Field

from waza_engine.counting import cut
from waza_engine.graders.base import Grader, GraderConfig, GraderError, GradingContext, Verdict
from waza_engine.graders.matching.json_schemas import CompiledSchema, SchemaError, compile_schema, read_schema
from waza_engine.graders.paths import beside_suite
from waza_engine.graders.registry import register
from waza_engine.spec.block import Discouraged, Given, misspelt
from waza_engine.spec.fields import PlainText, Switch, kind
from waza_engine.spec.reading.suite_reader import DISK, SuiteFiles
from waza_engine.vocabulary import Check

_SHOWN = 40


class JsonSchemaConfig(GraderConfig):
    """The schema, inline or in a file."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=False)

    inline: dict[str, Any] | None = Field(
        default=None,
        alias="schema",
        description="A JSON Schema, written in YAML. It wins over `schema_file`.",
        examples=[{"type": "object", "required": ["status"], "properties": {"status": {"type": "string"}}}],
    )
    schema_file: Annotated[PlainText, kind("path.suite")] | None = Field(
        default=None,
        description="A file with a JSON Schema, relative to the folder of the eval file.",
        examples=["schemas/answer.schema.json"],
    )
    extract_json: Switch = Field(
        default=False,
        description=(
            "Take the one JSON object or array out of a text or a fenced block, instead of the whole answer."
        ),
    )

    at_least_one: ClassVar = {"schema": Given.PRESENT, "schema_file": Given.WRITTEN}
    discouraged: ClassVar = (Discouraged(("schema_file",), ("schema",), "the `schema` beside it wins"),)
    misspellings: ClassVar = misspelt(
        {"schema_file": ("file", "schema_path", "path"), "schema": "json_schema", "extract_json": "extract"}
    )
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
    other_names = ("json", "schema", "is_json")
    config_model = JsonSchemaConfig
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

    def place(self, context: GradingContext) -> Path:
        """Return the path of the schema file. Raises ``GraderError``."""
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
            answer = self.parsed(context.output)
        except (ValueError, RecursionError) as error:
            message = f"the answer is not JSON: {fault_in(error)}"
            return Verdict(0.0, False, message, {"error": message}, (Check((), False, message),))
        key = "schema" if self.config.inline is not None else "schema_file"
        try:
            problems = self.compiled(context).problems(answer)
        except SchemaError as error:
            raise GraderError(f"`config.{key}`: {error}") from None
        if problems:
            shown = problems[:20] + ([f"and {len(problems) - 20} more"] if len(problems) > 20 else [])
            message = "the answer does not satisfy the schema: " + "; ".join(shown)
            return Verdict(0.0, False, message, {"failures": shown}, (Check((key,), False, message),))
        return Verdict(1.0, True, "The answer satisfies the schema", checks=(Check((key,), True),))

    def parsed(self, answer: str) -> Any:
        """Return the JSON of an answer. Raises ``ValueError`` or ``RecursionError`` without one."""
        return _extract(answer) if self.config.extract_json else _parse(answer)

    def compiled(self, context: GradingContext) -> CompiledSchema:
        """Return the schema, ready to validate. Raises ``SchemaError`` and ``GraderError``."""
        if self.config.inline is not None:
            return compile_schema(
                self.config.inline, base=context.suite_directory / "schema.json", files=context.files
            )
        path = self.place(context)
        return compile_schema(read_schema(path, context.files), base=path, files=context.files)


def _parse(text: str) -> Any:
    return json.loads(text, parse_constant=_refuse_constant, parse_float=_finite, parse_int=_whole)


def fault_in(error: ValueError | RecursionError) -> str:
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
        shown = cut(digits, _SHOWN)
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
