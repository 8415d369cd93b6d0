"""Before a run whose verdict would mean nothing the user is asked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types

from tests.engine.suites import task, write_suite
from tests.protocol.editor import editing

pytestmark = pytest.mark.check


@pytest.mark.parametrize(("answer", "status"), [("Cancel", "canceled"), ("Run Anyway", "completed")])
async def test_a_run_with_a_grader_that_cannot_grade_is_asked_about(
    answer: str, status: str, tmp_path: Path
) -> None:
    suite = write_suite(tmp_path, {"a": task("a")}, graders="- {name: greets, config: {contains: [hello]}}\n")
    async with editing(suite.parent) as editor:
        questions: list[str] = []

        def answered(question: types.ShowMessageRequestParams) -> types.MessageActionItem:
            questions.append(question.message)
            return types.MessageActionItem(answer)

        editor.feature(types.WINDOW_SHOW_MESSAGE_REQUEST)(answered)
        found: Any = await editor.command("waza.run", {"id": str(suite)})
        assert (found["status"] == "canceled") == (status == "canceled")
        (question,) = questions
        assert question.startswith("The verdict of this run would mean nothing. eval.yaml, line ")
        assert ": missing-grader-type: " in question
