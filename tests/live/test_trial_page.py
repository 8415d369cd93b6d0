"""A recorded trial is read as its suite is written now, and what its graders find is marked in the text."""

from dataclasses import replace
from pathlib import Path

import pytest

from tests.engine.serve.client import Engine
from tests.live.bed import recorded_bed
from waza_engine.lab.live.live_session import LiveSession
from waza_engine.lab.live.recorded_rules import read_trial
from waza_engine.lab.live.work import LiveRequest, LiveTrial
from waza_engine.results.reports.result_page import TrialPage, trial_page

pytestmark = pytest.mark.check

GRADERS = """\
- type: text
  name: greets
  config: {contains: [hello], regex_match: ['deployed to \\S+'], not_contains: [add]}
- {type: behavior, name: few, config: {max_tool_calls: 2}}
- {type: prompt, name: judged, config: {prompt: Is it good?}}
"""


@pytest.fixture
def suite(tmp_path: Path) -> tuple[Path, Path]:
    return recorded_bed(tmp_path / "suite", GRADERS)


def page_of(session: LiveSession, task: str, trial: int) -> TrialPage:
    found = read_trial(session, task, trial)
    assert found is not None
    return trial_page(found.title, found.outcome, found.prompt, found.judged, found.started)


def marked(page: TrialPage) -> list[tuple[str, str]]:
    return [(page.text[mark.start : mark.end], mark.words) for mark in page.marks]


def test_matches_and_misses_are_marked_where_they_stand(session: LiveSession) -> None:
    assert marked(page_of(session, "t0", 1)) == [
        ("Hello", '✓ greets: contains "hello"'),
        ("add", '✗ greets: not_contains "add"'),
        (
            "Deployed to https://example.org/1",
            '≈ greets: regex_match "deployed to \\\\S+": upper and lower case ignored',
        ),
    ]


def test_it_is_of_the_text_of_the_last_update(suite: tuple[Path, Path], session: LiveSession) -> None:
    text = suite[0].read_text("utf-8").replace("deployed to", "Deployed to")
    session.take({suite[0]: text})
    found = marked(page_of(session, "t0", 1))
    assert found[-1] == ("Deployed to https://example.org/1", '✓ greets: regex_match "Deployed to \\\\S+"')


def test_it_tells_what_was_asked_called_and_said_and_what_is_only_recorded(session: LiveSession) -> None:
    text = page_of(session, "t0", 1).text
    assert text.startswith("# `t0`, trial 1\n\nRecorded ")
    assert "As recorded: `judged`." in text
    assert "#### Prompt\n\n```text\nSay hello\n```" in text
    assert '- ⚙ `bash` `{"command": "npm test 0"' in text
    assert "**✗ `few`** 0.00 (`behavior`)" in text


def test_marks_stand_in_the_answer_though_it_was_asked_for_in_the_same_words(tmp_path: Path) -> None:
    graders = "- {type: text, name: greets, config: {contains: [say hello]}}\n"
    path, record = recorded_bed(tmp_path / "suite", graders)
    record.write_text(
        record.read_text("utf-8").replace('"Hello, the function', '"Say hello\\n```\\nHello'), "utf-8"
    )
    session = LiveSession(LiveRequest(record, path))
    try:
        page = page_of(session, "t0", 1)
    finally:
        session.close()
    (mark,) = page.marks
    assert page.text[mark.start : mark.end] == "Say hello"
    assert mark.start > page.text.index("#### Answer")


def test_an_empty_answer_has_no_marks(session: LiveSession) -> None:
    page = page_of(session, "t1", 2)
    assert "There is no answer." in page.text
    assert page.marks == ()


def test_credentials_are_masked_and_what_is_marked_is_what_is_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    graders = "- {type: text, name: greets, config: {contains: [hello], regex_match: ['sk-\\w+']}}\n"
    path, record = recorded_bed(tmp_path / "suite", graders)
    secret = "sk-proj-" + "a1B2c3D4" * 5
    monkeypatch.setenv("WAZA_TEST_API_KEY", secret)
    text = record.read_text("utf-8").replace("Hello, the function", f"{secret} Hello, the function")
    record.write_text(text, "utf-8")
    session = LiveSession(LiveRequest(record, path))
    try:
        page = page_of(session, "t0", 1)
    finally:
        session.close()
    assert secret not in page.text
    assert ("Hello", '✓ greets: contains "hello"') in marked(page)


def test_there_is_nothing_to_read_of_a_trial_that_is_not_there(session: LiveSession) -> None:
    assert read_trial(session, "t0", 9) is None
    assert read_trial(session, "nobody", 1) is None


def test_the_engine_answers_with_text_and_marks(suite: tuple[Path, Path]) -> None:
    with Engine() as engine:
        opened = engine.request("live.open", record=str(suite[1]), suite=str(suite[0]))["result"]
        asked = {"session": opened["session"], "task": "t0"}
        answer = engine.request("live.trial", **asked, trial=1)["result"]
        assert answer["text"].startswith("# `t0`, trial 1\n")
        first = answer["marks"][0]
        assert answer["text"][first["start"] : first["end"]] == "Hello"
        assert engine.request("live.trial", **asked, trial=7)["result"] == {}
        assert "`trial`" in str(engine.request("live.trial", **asked)["error"])


def test_nothing_is_told_while_a_newer_edit_waits(
    suite: tuple[Path, Path], session: LiveSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    def edited_meanwhile(trial: LiveTrial) -> None:
        session.take({suite[0]: suite[0].read_text("utf-8")})

    monkeypatch.setattr("waza_engine.lab.live.recorded_rules.verdict_of", edited_meanwhile)
    assert read_trial(session, "t0", 1) is None


def test_what_stands_below_a_long_answer_is_cut_where_it_says_so(session: LiveSession) -> None:
    found = read_trial(session, "t0", 1)
    assert found is not None
    verdict = replace(next(iter((found.outcome.validations or {}).values())), feedback="x" * 19_000)
    many = replace(found.outcome, validations={f"g{number}": verdict for number in range(20)})
    page = trial_page(found.title, many, found.prompt, found.judged, found.started)
    assert page.text.endswith("The rest is in the result file.\n")
    assert len(page.text) < 210_000
    assert ("Hello", '✓ greets: contains "hello"') in marked(page)
