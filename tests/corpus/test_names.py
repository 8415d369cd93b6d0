"""Names of public suites are found and renamed everywhere, and nothing is wrong afterwards."""

from __future__ import annotations

import pytest

from tests.corpus.names import sweep
from tests.shared_corpus import SUITES, needs_corpus

pytestmark = pytest.mark.check


@needs_corpus
@pytest.mark.parametrize(
    "repository", ["im-hayashish__waza", "Spencerx__git-ape", "microsoft__vscode-team-kit"]
)
async def test_names_are_found_and_renamed_and_back_to_the_byte(repository: str) -> None:
    found = await sweep([SUITES / repository], each=2)
    assert found.wrong == []
    assert found.counts["renames"] >= 8
