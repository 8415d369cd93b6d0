from pathlib import Path

from waza_engine.executors.executor import ExecutionRequest, WorkspaceFile
from waza_engine.executors.mock import MockExecutor
from waza_engine.runs.limits.cancellation import RunCancellation


def answer(request: ExecutionRequest) -> str:
    return MockExecutor().execute(request, RunCancellation()).output


def test_it_repeats_the_prompt_and_the_task(tmp_path: Path) -> None:
    request = ExecutionRequest("Hi\n", tmp_path, task_name="Greet", task_description="Says hello.\n")
    assert answer(request) == "Mock response for: Hi\n\nTask: Greet\nDescription: Says hello.\n"


def test_it_lists_the_context_one_line_a_key(tmp_path: Path) -> None:
    context = {"language": "sql", "strict": True, "limits": [1, 2.5], "nested": {"b": 1, "a": None}}
    request = ExecutionRequest("Hi", tmp_path, context=context)
    assert answer(request).splitlines()[1:] == [
        "Context:",
        "  language: sql",
        "  strict: true",
        "  limits: [1 2.5]",
        "  nested: map[a:<nil> b:1]",
    ]


def test_it_shows_the_beginning_of_every_file(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one\n")
    (tmp_path / "long.txt").write_text("x" * 1025)
    files = [WorkspaceFile("a.txt", tmp_path / "a.txt"), WorkspaceFile("d/long.txt", tmp_path / "long.txt")]
    assert answer(ExecutionRequest("Hi", tmp_path, files=files)) == (
        "Mock response for: Hi\nAnalyzed 2 file(s):\n  - a.txt\none\n\n  - d/long.txt\n"
        + "x" * 1024
        + "...(truncated)"
    )


def test_a_file_of_exactly_the_shown_length_is_whole(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("x" * 1024)
    files = [WorkspaceFile("a.txt", tmp_path / "a.txt")]
    assert answer(ExecutionRequest("Hi", tmp_path, files=files)).endswith("x")


def test_it_calls_no_tools_and_numbers_its_sessions(tmp_path: Path) -> None:
    executor, cancellation = MockExecutor(), RunCancellation()
    first = executor.execute(ExecutionRequest("Hi", tmp_path), cancellation)
    second = executor.execute(ExecutionRequest("Hi", tmp_path), cancellation)
    assert (first.session, second.session) == ("mock-session-1", "mock-session-2")
    assert (first.events, first.tool_calls, first.skill_invocations, first.usage) == ((), (), (), None)


def test_a_conversation_keeps_its_session(tmp_path: Path) -> None:
    request = ExecutionRequest("More", tmp_path, session="mock-session-7")
    assert MockExecutor().execute(request, RunCancellation()).session == "mock-session-7"
