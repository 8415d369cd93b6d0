"""Problems that are pushed are those that are pulled, also where little of them is written anew."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from waza_language_server.analysis.diagnose import diagnose
from waza_language_server.analysis.problem import Problem
from waza_language_server.project.document import Document
from waza_language_server.project.index import Project
from waza_language_server.project.workspace import Workspace
from waza_language_server.protocol.capabilities import ClientAbilities
from waza_language_server.protocol.convert import LONGEST_MESSAGE, Converter
from waza_language_server.protocol.server import create_server
from waza_language_server.protocol.services.written_problems import WrittenProblems
from waza_language_server.schema.catalog import default_catalog
from waza_language_server.text.span import Span

pytestmark = pytest.mark.check

if TYPE_CHECKING:
    from waza_language_server.text.line_index import Encoding

LONG = Problem("unknown-key", Span(0, 4), "é" * (LONGEST_MESSAGE + 1))
EVERYTHING = ClientAbilities(opens_code_descriptions=True, shows_tags=True, shows_related_information=True)
TEXT = (
    "name: é😋\r\nnaem: \x07\r\ngraders:\r\n"
    "  - {name: 😋, type: text, confg: {}}\r\n  - {name: 😋, type: txt}\r\n"
    "  - name: |\r\n      😋\r\n    wight: 2\r\n"
)


@pytest.mark.parametrize("abilities", [ClientAbilities(), EVERYTHING])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32"])
def test_each_problem_is_written_as_it_is_converted(abilities: ClientAbilities, encoding: Encoding) -> None:
    as_json = create_server().protocol.as_json
    known, project = WrittenProblems(as_json), Project()
    codes: set[str] = set()
    for text in (TEXT, f"# more\r\n{TEXT}", TEXT.replace("😋", "éé")):
        document = Document("untitled:a", 1, text, "eval")
        convert = Converter(document, encoding, abilities)
        for problem in diagnose(document, Workspace(project, default_catalog())):
            converted = as_json(convert.diagnostic(problem, project))
            assert json.loads(known.written(problem, convert, project)) == converted
            more = json.loads(known.written(problem, convert, project, " and more"))
            assert more == {**converted, "message": f"{converted['message']} and more"}
            codes.add(problem.code)
    assert {"unknown-key", "duplicate-grader-name", "unknown-grader-type"} <= codes


def test_of_a_message_that_is_cut_off_nothing_is_kept() -> None:
    as_json, project = create_server().protocol.as_json, Project()
    known, convert = (
        WrittenProblems(as_json),
        Converter(Document("untitled:a", 1, TEXT, "eval"), "utf-8", EVERYTHING),
    )
    written = json.loads(known.written(LONG, convert, project))
    assert written == as_json(convert.diagnostic(LONG, project))
    assert (len(written["message"]), known._written) == (LONGEST_MESSAGE, {})
