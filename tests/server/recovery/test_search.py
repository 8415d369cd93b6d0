"""A sample of the search for wrong states after edits of JSON Lines and JSON documents."""

import pytest

from tests.server.recovery.search import DOCUMENTS, PER_SESSION, search

pytestmark = pytest.mark.check


def test_edited_text_is_as_fresh_text_and_fixes_stay_in_their_lines() -> None:
    found = search(12 * PER_SESSION * len(DOCUMENTS), seed=1_000_000)
    assert found.findings == []
    assert found.compared["trees"] == found.edits
    assert found.compared["fixes"]
