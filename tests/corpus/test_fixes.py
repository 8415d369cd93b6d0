"""A fix can be applied blindly: it makes nothing worse, here or elsewhere in the file."""

from __future__ import annotations

import pytest

from tests.corpus.fixes import corpus_workspace, documents, mutants, worse_in
from tests.shared_corpus import needs_corpus, suite_files


@needs_corpus
def test_no_fix_makes_a_public_file_worse() -> None:
    workspace = corpus_workspace()
    for document in documents(suite_files(), workspace):
        assert [each.what for each in worse_in(document, workspace)] == [], document.uri


@needs_corpus
@pytest.mark.parametrize("seed", range(4))
def test_no_fix_makes_a_file_with_slips_worse(seed: int) -> None:
    workspace = corpus_workspace()
    for document in mutants(120, seed, workspace):
        assert [each.what for each in worse_in(document, workspace)] == [], document.text
