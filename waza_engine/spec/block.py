"""A block of keys in a suite file: the rules that every block outside a grader's ``config`` shares."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from waza_engine.graders.config import GraderConfig, is_choice

if TYPE_CHECKING:
    from pydantic import GetJsonSchemaHandler
    from pydantic_core import CoreSchema


class Block(GraderConfig):
    """Base of all blocks outside a grader's ``config``.

    ``rules`` are JSON Schema rules over several keys that a subclass also checks itself; each may carry an
    ``x-waza-message``, the sentence for the author. A key without a value (``tags:``) counts as absent.
    ``first_keys`` come first in completion and documentation.
    """

    first_keys: ClassVar[tuple[str, ...]] = ()
    _without_one: ClassVar[str] = ""

    rules: ClassVar[tuple[Mapping[str, Any], ...]] = ()

    @classmethod
    def __get_pydantic_json_schema__(cls, core: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        schema = super().__get_pydantic_json_schema__(core, handler)
        block = handler.resolve_ref_schema(schema)
        for name, field in cls.model_fields.items():
            if cls.null_is_absent and not field.is_required() and not is_choice(field.annotation):
                block["properties"][field.alias or name]["x-waza-nullable"] = True
        properties = block["properties"]
        names = dict.fromkeys((*cls.first_keys, *properties))
        block["properties"] = {name: properties[name] for name in names}
        if cls.rules:
            block["allOf"] = [*block.get("allOf", []), *(dict(rule) for rule in cls.rules)]
        return schema
