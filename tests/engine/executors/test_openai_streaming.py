"""How the executor ``openai`` reads answers that come in pieces; servers do it in their own ways."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import StartModel
from tests.engine.executors.talking import Talk, ask, ask_once, kinds, openai_executor, result_of
from tests.scripted_model import Answer, Call, Events, ModelRequest, Reply, Stalled, Status, Tokens, call
from waza_engine.executors.executor import ExecutorError

pytestmark = pytest.mark.check


def piece(finish: str | None = None, /, **delta: Any) -> str:
    """One event of a stream."""
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return f"data: {json.dumps({'choices': [choice]}, ensure_ascii=False)}"


def call_piece(arguments: str = "", **more: Any) -> dict[str, Any]:
    name = {"name": more.pop("name")} if "name" in more else {}
    return {**more, "function": {**name, "arguments": arguments}}


USAGE = 'data: {"choices": [], "usage": {"prompt_tokens": 10, "completion_tokens": 5}}'
DONE = "data: [DONE]"


class TestWhatIsKept:
    def test_of_an_answer_whose_time_is_over(self, talk: Talk) -> None:
        response = talk("Explain.", Stalled("It begins well and"), timeout_seconds=3.0)

        assert response.output == "It begins well and"
        assert response.error == "the model did not finish within 3 seconds"
        assert response.transient
        assert kinds(response) == [
            "user.message",
            "assistant.turn_start",
            "assistant.message",
            "session.error",
        ]

    def test_of_an_answer_that_has_begun_in_time(self, scripted_model: StartModel, tmp_path: Path) -> None:
        model = scripted_model(Stalled("It begins"))

        with openai_executor(model.base_url) as executor:
            response = ask(
                executor, "Explain.", tmp_path, timeout_seconds=4.0, first_event_timeout_seconds=3.0
            )

        assert response.error == "the model did not finish within 4 seconds"

    def test_of_an_answer_that_broke_off_for_good(self, talk: Talk) -> None:
        response = talk("Explain.", lambda _request: Events([piece(content="Half")]), timeout_seconds=2.0)

        assert response.output == "Half"
        assert (response.error or "").endswith("broke before the answer was there")


class TestServersThatDoNotStream:
    def test_one_that_answers_whole_all_the_same(self, scripted_model: StartModel, tmp_path: Path) -> None:
        model = scripted_model(call("glob"), Answer("Done.", usage=Tokens(7, 3)), streams=False)

        response = ask_once(model, "Look.", tmp_path, workspace_tools=["list"])

        assert response.output == "Done."
        assert response.usage is not None
        assert (response.usage.input_tokens, response.usage.output_tokens) == (17, 8)

    def test_one_that_refuses_to_is_asked_for_whole_answers(
        self, scripted_model: StartModel, tmp_path: Path
    ) -> None:
        def reply(request: ModelRequest) -> Reply:
            return Status(422, "extra field: stream_options") if "stream" in request.body else "Done."

        model = scripted_model(reply)

        with openai_executor(model.base_url) as executor:
            first, second = (ask(executor, "Look.", tmp_path) for _ in range(2))

        assert (first.output, second.output) == ("Done.", "Done.")
        assert ["stream" in request.body for request in model.requests] == [True, False, False]

    def test_one_that_counts_no_tokens_then_is_asked_for_whole_answers(
        self, scripted_model: StartModel, tmp_path: Path
    ) -> None:
        def reply(request: ModelRequest) -> Reply:
            return Answer("Done.", usage=None if "stream" in request.body else Tokens(7, 3))

        model = scripted_model(reply)

        with openai_executor(model.base_url) as executor:
            usages = [ask(executor, "Look.", tmp_path).usage for _ in range(2)]

        assert [usage.input_tokens if usage else None for usage in usages] == [0, 7]


class TestStreams:
    def test_comments_line_ends_inside_of_texts_and_a_missing_end(
        self, scripted_model: StartModel, tmp_path: Path
    ) -> None:
        named = "event: message\n" + piece(content="a\u2028b\x85")
        model = scripted_model(Events([": still alive", named, piece("stop", content="c")]))

        assert ask_once(model, "Explain.", tmp_path).output == "a\u2028b\x85c"

    def test_a_failure_in_the_middle_is_told(self, scripted_model: StartModel, tmp_path: Path) -> None:
        failed = 'data: {"error": {"message": "out of memory", "code": 500}}'
        model = scripted_model(lambda _request: Events([piece(content="It"), failed]))

        response = ask_once(model, "Explain.", tmp_path, timeout_seconds=5.0)

        assert (response.error or "").endswith("failed in the middle of the answer: out of memory")

    def test_an_error_that_an_answer_speaks_of_is_none(
        self, scripted_model: StartModel, tmp_path: Path
    ) -> None:
        text = '{"error": "this is a sample"}'

        with openai_executor(scripted_model(text).base_url) as executor:
            assert ask(executor, "Explain.", tmp_path).output == text

    def test_something_that_is_no_piece_of_an_answer(
        self, scripted_model: StartModel, tmp_path: Path
    ) -> None:
        model = scripted_model(Events(["data: <html>"]))

        with (
            openai_executor(model.base_url) as executor,
            pytest.raises(ExecutorError, match="not a chat completion"),
        ):
            ask(executor, "Explain.", tmp_path)


PIECES = {
    "by index": [
        piece(tool_calls=[call_piece(index=0, id="1", name="view")]),
        piece(tool_calls=[call_piece('{"path": ', index=0)]),
        piece(tool_calls=[call_piece('"a"}', index=0)]),
        piece(tool_calls=[call_piece('{"path"', index=1, id="2", name="view")]),
        piece("tool_calls", tool_calls=[call_piece(': "b"}', index=1)]),
    ],
    "with the same index for all": [
        piece(tool_calls=[call_piece('{"path": "a"}', index=0, id="1", name="view")]),
        piece("tool_calls", tool_calls=[call_piece('{"path": "b"}', index=0, id="2", name="view")]),
    ],
    "without index and id": [
        piece("tool_calls", tool_calls=[call_piece(f'{{"path": "{name}"}}', name="view") for name in "ab"]),
    ],
    "with the name in every piece": [
        piece(tool_calls=[call_piece('{"path"', index=0, id="1", name="view")]),
        piece(tool_calls=[call_piece(': "a"}', index=0, id="1", name="view")]),
        piece(tool_calls=[call_piece('{"path"', index=1, id="2", name="view")]),
        piece("tool_calls", tool_calls=[call_piece(': "b"}', index=1, id="", name="view")]),
    ],
}


@pytest.mark.parametrize("pieces", PIECES.values(), ids=PIECES)
def test_tool_calls_come_in_pieces(talk: Talk, tmp_path: Path, pieces: list[str]) -> None:
    for name in "ab":
        (tmp_path / name).write_text(f"file {name}", "utf-8")

    response = talk("Look.", Events([*pieces, USAGE, DONE]), "Done.", workspace_tools=["read"])

    assert [result_of(response, position) for position, _ in enumerate(response.tool_calls)] == [
        "file a",
        "file b",
    ]


def test_what_a_server_adds_to_a_call_comes_back_to_it(talk: Talk) -> None:
    signed = {**call_piece('{"path": "a"}', index=0, id="1", name="view"), "extra": {"signature": "s"}}
    other = call_piece('{"path": "b"}', index=1, id="2", name="view")
    events = Events([piece("tool_calls", tool_calls=[signed, other]), USAGE, DONE])

    talk("Look.", events, "Done.", workspace_tools=["read"])

    sent = talk.requests[1].messages[-3]["tool_calls"][0]
    assert sent["extra"] == {"signature": "s"}
    assert "index" not in sent


def test_arguments_in_several_pieces_of_a_long_file(talk: Talk, tmp_path: Path) -> None:
    text = "Zeile ü\n" * 20_000
    arguments = json.dumps({"path": "long.txt", "file_text": text})

    talk("Write.", Answer(calls=[Call("create", arguments)]), "Done.", workspace_tools=["write"])

    assert (tmp_path / "long.txt").read_text("utf-8") == text
