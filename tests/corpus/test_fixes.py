"""A fix can be applied blindly: it makes nothing worse, here or elsewhere in the file."""

from collections.abc import Iterator

import pytest

from tests.corpus.fixes import corpus_workspace, documents, mutants, worse_in
from tests.shared_corpus import needs_corpus, suite_files
from waza_language_server.project.workspace import Workspace

pytestmark = pytest.mark.check


@pytest.fixture(scope="module")
def workspace() -> Iterator[Workspace]:
    """The public suites, whose folders are looked at once."""
    workspace = corpus_workspace()
    with workspace.project.disk.cached_lookups():
        yield workspace


@needs_corpus
def test_no_fix_makes_a_public_file_worse(workspace: Workspace) -> None:
    for document in documents(suite_files(), workspace):
        assert [*worse_in(document, workspace)] == [], document.uri


@needs_corpus
def test_no_fix_makes_a_file_with_slips_worse(workspace: Workspace) -> None:
    for document in mutants(120, 0, workspace):
        assert [*worse_in(document, workspace)] == [], document.text
