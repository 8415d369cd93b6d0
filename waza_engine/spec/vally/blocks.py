"""Shared by the models of Vally's files: blocks, durations, and the versions of their keys."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, ClassVar, TypeAlias, cast

from pydantic import BeforeValidator, Field

from waza_engine.spec.block import Block
from waza_engine.spec.fields import AsWritten, ListOf, SchemaKeywords, Text, matching, plain_text
from waza_engine.spec.vally.versions import change_of

if TYPE_CHECKING:
    from pydantic import GetJsonSchemaHandler
    from pydantic_core import CoreSchema


class VallyBlock(Block):
    """A block of a Vally file. ``place`` is its name in the table of versions."""

    place: ClassVar[str] = ""

    @classmethod
    def __get_pydantic_json_schema__(cls, core: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        schema = super().__get_pydantic_json_schema__(core, handler)
        block = handler.resolve_ref_schema(schema)
        for name, key in block.get("properties", {}).items():
            if (row := change_of(cls.place, name)) is not None:
                key.update(row.schema)
        return schema


def of_versions(place: str, *values: str) -> SchemaKeywords:
    """Return the annotation of a choice some of whose values came with a version."""
    rows = {value: row.limits for value in values if (row := change_of(place, value)) is not None}
    return SchemaKeywords({"x-waza-value-versions": rows})


_DURATION = matching(
    r"^\s*[0-9]+(\.[0-9]+)?\s*(ms|s|m|h)?\s*$",
    "must be a number with a unit (`ms`, `s`, `m` or `h`), such as `90s`",
    **{"type": ["string", "number"], "x-waza-kind": "duration"},
)
Duration: TypeAlias = Annotated[str, BeforeValidator(plain_text), Field(strict=True), AsWritten(), _DURATION]


def _as_list(value: object) -> object:
    return cast("object", value) if isinstance(value, list | tuple) else (value,)


TextOrTexts: TypeAlias = Annotated[
    tuple[Text, ...],
    BeforeValidator(_as_list),
    ListOf(),
    SchemaKeywords({"type": ["string", "number", "boolean", "array"]}),
]
PathsOfFile: TypeAlias = Annotated[tuple[Text, ...], ListOf("vally.path")]
