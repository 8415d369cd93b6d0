"""The validator is shown a long list in pieces, and says the same as of the whole."""

from typing import TYPE_CHECKING, Any, cast

import pytest
from jsonschema_rs import Draft202012Validator

from waza_language_server.analysis.schema_rules.schema_errors import ITEMS_AT_ONCE, FoundError, found_errors

if TYPE_CHECKING:
    from jsonschema_rs import Validator

SCHEMA = {
    "type": "object",
    "required": ["name"],
    "properties": {
        "tasks": {
            "minItems": 1,
            "items": {
                "required": ["id"],
                "properties": {
                    "id": {"type": "string"},
                    "inputs": {"anyOf": [{"type": "string"}, {"items": {"type": "string"}, "type": "array"}]},
                },
            },
        },
        "tags": {"items": {"type": "string"}},
    },
    "additionalProperties": False,
}
SIZES = [0, 1, ITEMS_AT_ONCE, ITEMS_AT_ONCE + 1, 3 * ITEMS_AT_ONCE + 7]


def documents() -> list[Any]:
    def task(at: int) -> Any:
        wrong = {"id": at} if at % 3 else {"inputs": ["a", at]}
        return {"id": "t"} if at % 5 == 1 else wrong

    found: list[Any] = [[], 1, {}]
    for size in SIZES:
        tasks = [task(at) for at in range(size)]
        around = ({}, {"odd": 1}, {"tags": [1] * (size + 3)}, {"tags": ["a"]})
        found += [{"tasks": tasks, **beside} for beside in around]
    return found


def flat(errors: list[FoundError]) -> list[object]:
    return [
        [error.path, error.schema_path, error.is_of_nothing, [flat(branch) for branch in error.of_branches]]
        for error in errors
    ]


@pytest.mark.parametrize("document", documents())
def test_the_errors_are_those_of_the_whole_document(document: Any) -> None:
    validator = Draft202012Validator(SCHEMA)
    pieces = list(found_errors(validator, document))
    whole = flat([FoundError(error) for error in validator.iter_errors(document)])
    assert sorted(map(str, flat(pieces))) == sorted(map(str, whole))


class Counting:
    """A validator that notes how many items it is shown at once."""

    def __init__(self) -> None:
        self.most = 0

    def iter_errors(self, value: Any) -> list[Any]:
        self.most = max(self.most, sum(len(each) for each in value.values()))
        return []


def test_no_more_than_a_piece_of_each_list_is_shown_at_once() -> None:
    counting = Counting()
    document: Any = {"tasks": [{}] * 10_000, "tags": ["a"] * 10_000}
    assert list(found_errors(cast("Validator", counting), document)) == []
    assert counting.most == 2 * ITEMS_AT_ONCE
