"""What a file names; a file that is searched for a name shows all that it has of it."""

import pytest

from tests.server.features.suites import EVAL, FIRST, OWN
from tests.server.project.files import workspace_with
from tests.server.project.test_suite_file import SUITE as ANCHORED
from tests.shared_corpus import needs_corpus, suite_files
from waza_language_server.project.document import Document, DocumentKind
from waza_language_server.project.mentions import anchors, mention_at, mentions
from waza_language_server.project.naming_places import mentions_in
from waza_language_server.project.suite_files import SuiteSource
from waza_language_server.schema.catalog import default_catalog
from waza_language_server.text.span import Span

PLAIN = ANCHORED.replace("&polite", "").replace("- *polite", "").replace("&both", "").replace(" *both", "")
QUOTED = EVAL.replace("name: polite", 'name: "p\\x6flite"').replace('["polite"]', "['polite', \"polite\"]")
APOSTROPHE = EVAL.replace("polite", "'it''s'").replace("\"'it''s'\"", "it's")
SPREAD = EVAL.replace("polite", "very\n      polite")


EVALS = (EVAL, ANCHORED, PLAIN, QUOTED, APOSTROPHE, SPREAD, "- a", "name: [")
TASKS = (FIRST, OWN, "", "- a", "name: [")


@pytest.mark.parametrize(
    ("text", "kind"), [*((text, "eval") for text in EVALS), *((text, "task") for text in TASKS)]
)
def test_what_is_found_by_name_is_all_there_is_of_that_name(text: str, kind: DocumentKind) -> None:
    alike(text, kind)


@needs_corpus
def test_so_it_is_in_public_suites() -> None:
    for path in suite_files()[:150]:
        alike(path.read_text("utf-8", "replace"), "task" if "tasks" in path.parts else "eval")


ANCHORS = """\
first: &a !!str one
list: [&b x, *a, &c {d: *b}, *c]
block: &d
  # a comment in between
  key: &a-long *d
empty: &e
&f key: &g
  - &h *a
  -   &a last
*f : *a
"""


@pytest.mark.parametrize("text", [ANCHORED, ANCHORS, f"{ANCHORS}broken: [\n"])
def test_an_anchor_is_found_at_each_of_its_characters(text: str) -> None:
    document = Document("file:///eval.yaml", 1, text, "eval")
    known = list(anchors(document.tree))
    assert known
    for offset in range(len(text) + 1):
        here = (each for each in known if Span(each.span.start - 1, each.span.end).contains(offset))
        expected = next(here, None) if document.reads(offset) else None
        found = mention_at(document, default_catalog(), offset)
        assert (found if found is not None and found.kind == "anchor" else None) == expected


def alike(text: str, kind: DocumentKind) -> None:
    document = Document("file:///somewhere/file.yaml", 1, text, kind)
    file, workspace = SuiteSource.of(document), workspace_with(document)
    everything = [each for each in mentions(file, document.tree, workspace.catalog) if each.kind != "file"]
    for name in {each.name for each in everything}:
        found = {_key(each) for each in mentions_in(workspace, file, name) if each.name == name}
        assert found == {_key(each) for each in everything if each.name == name}


def _key(mention: object) -> tuple[object, ...]:
    fields = ("kind", "name", "span", "defines", "task", "checkpoint")
    return tuple(getattr(mention, field) for field in fields)
