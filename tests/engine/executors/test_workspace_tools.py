"""The tools that a model gets with ``workspace_tools``: what they do, and that they stay in the workspace."""

import os
import shlex
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import StartModel
from tests.engine.executors.talking import ask_once
from tests.patience import ON_A_BUSY_MACHINE
from waza_engine.executors.chat.agent_tools import ToolError, ToolOutcome
from waza_engine.executors.chat.workspace_tools import Surroundings, workspace_tools
from waza_engine.processes.scope import ProcessScope

ALL = ("read", "write", "list", "run")
posix = pytest.mark.skipif(os.name == "nt", reason="POSIX alone has this")
UseTool = Callable[..., ToolOutcome]


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    place = tmp_path / "workspace"
    place.mkdir()
    (tmp_path / "secret.txt").write_text("secret")
    return place


@pytest.fixture
def use(workspace: Path) -> Iterator[UseTool]:
    """Call a tool by its name."""
    scope = ProcessScope()

    def call(name: str, /, *, start: str = "", seconds: float = 30.0, **arguments: Any) -> ToolOutcome:
        surroundings = Surroundings(workspace, workspace / start, scope, time.monotonic() + seconds)
        tools = {tool.name: tool for tool in workspace_tools(ALL, surroundings)}
        return tools[name].call(arguments)

    yield call
    scope.close()


@pytest.mark.parametrize(
    ("allowed", "names"),
    [
        ([], []),
        (["read"], ["view"]),
        (["write"], ["create", "edit"]),
        (["list"], ["glob"]),
        (["run"], ["powershell" if os.name == "nt" else "bash"]),
    ],
)
def test_only_what_is_allowed_is_offered(
    scripted_model: StartModel, workspace: Path, allowed: list[str], names: list[str]
) -> None:
    model = scripted_model("Done.")

    ask_once(model, "Hello", workspace, workspace_tools=allowed)

    assert model.requests[0].tool_names == names
    assert (str(workspace) in model.requests[0].system) is bool(allowed)


class TestView:
    def test_reads_a_file(self, use: UseTool, workspace: Path) -> None:
        (workspace / "a.txt").write_text("one\ntwo\n")

        assert use("view", path="a.txt").text == "one\ntwo\n"
        assert use("view", path=str(workspace / "a.txt")).text == "one\ntwo\n"

    @pytest.mark.parametrize(
        ("lines", "text"), [([2, 3], "2\n3\n"), ([3, -1], "3\n4\n"), ([4, 99], "4\n"), ([9, -1], "")]
    )
    def test_reads_some_lines(self, use: UseTool, workspace: Path, lines: list[int], text: str) -> None:
        (workspace / "a.txt").write_text("1\n2\n3\n4\n")

        assert use("view", path="a.txt", view_range=lines).text == text

    @pytest.mark.parametrize("lines", [[0, 1], [3, 2], [1], "1-2", [1, "2"]])
    def test_lines_that_are_none(self, use: UseTool, workspace: Path, lines: object) -> None:
        (workspace / "a.txt").write_text("1\n")

        with pytest.raises(ToolError, match="two line numbers"):
            use("view", path="a.txt", view_range=lines)

    def test_shows_beginning_and_end_of_a_long_file(self, use: UseTool, workspace: Path) -> None:
        (workspace / "a.txt").write_text("a" * 50_000 + "z" * 50_000)

        text = use("view", path="a.txt").text

        assert len(text) < 31_000
        assert (text[0], text[-1]) == ("a", "z")
        assert "70000 characters left out" in text

    @pytest.mark.parametrize(
        ("content", "said"), [(b"x" * 1_000_001, "larger than"), (b"\x89PNG\xff", "no text in UTF-8")]
    )
    def test_what_cannot_be_shown(self, use: UseTool, workspace: Path, content: bytes, said: str) -> None:
        (workspace / "a").write_bytes(content)

        with pytest.raises(ToolError, match=said):
            use("view", path="a")

    @pytest.mark.parametrize(
        ("arguments", "said"),
        [
            ({"path": "none.txt"}, "there is no file `none.txt`"),
            ({"path": "."}, "is a directory"),
            ({"path": 3}, "must be a text"),
            ({}, "`path` is missing"),
            ({"path": "a\0b"}, "is no path"),
            ({"path": "a" * 300}, "cannot be read"),
        ],
    )
    def test_what_is_no_file(self, use: UseTool, arguments: dict[str, Any], said: str) -> None:
        with pytest.raises(ToolError, match=said):
            use("view", **arguments)

    @posix
    def test_a_pipe_is_not_waited_for(self, use: UseTool, workspace: Path) -> None:
        os.mkfifo(workspace / "pipe")

        with pytest.raises(ToolError, match="no ordinary file"):
            use("view", path="pipe")


class TestStayingInside:
    @pytest.mark.parametrize(
        "path", ["../secret.txt", "sub/../../secret.txt", "{outside}/secret.txt", "/etc/passwd"]
    )
    @pytest.mark.parametrize("tool", ["view", "create", "edit", "glob"])
    def test_no_path_leads_out(self, use: UseTool, workspace: Path, tool: str, path: str) -> None:
        written = path.format(outside=workspace.parent)

        with pytest.raises(ToolError, match="leads out of the working directory"):
            use(tool, path=written, file_text="x", old_str="secret", new_str="x")
        assert (workspace.parent / "secret.txt").read_text() == "secret"

    @posix
    @pytest.mark.parametrize("path", ["link", "folder/secret.txt", "folder/new.txt"])
    @pytest.mark.parametrize("tool", ["view", "create", "edit"])
    def test_no_link_leads_out(self, use: UseTool, workspace: Path, tool: str, path: str) -> None:
        (workspace / "link").symlink_to(workspace.parent / "secret.txt")
        (workspace / "folder").symlink_to(workspace.parent)

        with pytest.raises(ToolError, match="leads out of the working directory"):
            use(tool, path=path, file_text="x", old_str="secret", new_str="x")
        assert sorted(place.name for place in workspace.parent.iterdir()) == ["secret.txt", "workspace"]
        assert (workspace.parent / "secret.txt").read_text() == "secret"

    @posix
    def test_a_link_that_leads_nowhere_is_not_followed_out(self, use: UseTool, workspace: Path) -> None:
        (workspace / "link").symlink_to(workspace.parent / "new.txt")

        with pytest.raises(ToolError, match="leads out"):
            use("create", path="link", file_text="x")
        assert not (workspace.parent / "new.txt").exists()

    @posix
    def test_a_link_to_itself_is_an_error(self, use: UseTool, workspace: Path) -> None:
        (workspace / "loop").symlink_to("loop")

        with pytest.raises(ToolError):
            use("view", path="loop")

    @posix
    def test_what_lies_behind_a_link_is_not_listed(self, use: UseTool, workspace: Path) -> None:
        (workspace / "folder").symlink_to(workspace.parent)

        assert use("glob", pattern="folder/*").text == "nothing matches"
        assert use("glob", pattern="**/*").text == "folder"

    @pytest.mark.parametrize("pattern", ["../*", "sub/../../*", "/*", "", "**x"])
    def test_patterns_that_lead_out_or_are_none(self, use: UseTool, pattern: str) -> None:
        with pytest.raises(ToolError, match=r"`pattern` must not|is no pattern"):
            use("glob", pattern=pattern)


class TestWriting:
    def test_creates_a_file_and_its_directories(self, use: UseTool, workspace: Path) -> None:
        assert use("create", path="a/b/c.txt", file_text="ü\r\n").success
        assert (workspace / "a/b/c.txt").read_bytes() == "ü\r\n".encode()

    def test_starts_in_the_working_directory(self, use: UseTool, workspace: Path) -> None:
        (workspace / "sub").mkdir()

        use("create", start="sub", path="a.txt", file_text="x")
        use("create", start="sub", path="../b.txt", file_text="x")

        assert (workspace / "sub/a.txt").exists()
        assert (workspace / "b.txt").exists()

    def test_replaces_a_piece(self, use: UseTool, workspace: Path) -> None:
        (workspace / "a.txt").write_bytes(b"one\r\ntwo\r\n")

        use("edit", path="a.txt", old_str="two", new_str="three")

        assert (workspace / "a.txt").read_bytes() == b"one\r\nthree\r\n"

    @pytest.mark.parametrize(("piece", "times"), [("x", 2), ("y", 0), ("", 0)])
    def test_a_piece_must_occur_once(self, use: UseTool, workspace: Path, piece: str, times: int) -> None:
        (workspace / "a.txt").write_text("x x")

        with pytest.raises(ToolError, match=f"it occurs {times} times"):
            use("edit", path="a.txt", old_str=piece, new_str="z")
        assert (workspace / "a.txt").read_text() == "x x"

    def test_a_directory_is_no_place_for_a_file(self, use: UseTool, workspace: Path) -> None:
        (workspace / "sub").mkdir()
        (workspace / "file").write_text("")

        with pytest.raises(ToolError, match="no ordinary file"):
            use("create", path="sub", file_text="x")
        with pytest.raises(ToolError, match="cannot be written"):
            use("create", path="file/below", file_text="x")


class TestListing:
    def test_lists_files_and_directories(self, use: UseTool, workspace: Path) -> None:
        (workspace / "sub").mkdir()
        (workspace / "sub/b.py").write_text("")
        (workspace / "a.py").write_text("")

        assert use("glob").text == "a.py\nsub/"
        assert use("glob", pattern="**/*.py").text == "a.py\nsub/b.py"
        assert use("glob", path="sub").text == "b.py"
        assert use("glob", pattern="*.md").text == "nothing matches"

    def test_a_long_list_ends(self, use: UseTool, workspace: Path) -> None:
        for number in range(1_010):
            (workspace / str(number)).touch()

        lines = use("glob").text.splitlines()

        assert len(lines) == 1_001
        assert lines[-1] == "[… more than 1000 …]"


@posix
class TestRunning:
    def test_runs_a_command_in_the_working_directory(self, use: UseTool, workspace: Path) -> None:
        (workspace / "sub").mkdir()

        outcome = use("bash", start="sub", command="pwd; echo $WAZA_WORKSPACE_DIR; echo oops >&2")

        assert outcome.text == f"{workspace}/sub\n{workspace}\noops\n[exit code 0]"
        assert outcome.success

    def test_a_command_that_fails(self, use: UseTool) -> None:
        outcome = use("bash", command="echo no; exit 3")

        assert (outcome.text, outcome.success) == ("no\n[exit code 3]", False)

    def test_a_command_that_takes_too_long_is_stopped(self, use: UseTool) -> None:
        started = time.monotonic()
        outcome = use("bash", command="echo begun; sleep 60", seconds=2)

        assert time.monotonic() - started < 3 + ON_A_BUSY_MACHINE
        assert outcome.text.startswith("begun\n[stopped after")
        assert not outcome.success

    def test_a_command_gets_no_input(self, use: UseTool) -> None:
        assert use("bash", command="cat").text == "[exit code 0]"

    def test_much_output_is_shortened(self, use: UseTool) -> None:
        text = use("bash", command=f"{shlex.quote(sys.executable)} -c 'print(\"x\" * 3_000_000)'").text

        assert len(text) < 31_000
        assert text.endswith("[exit code 0]")

    def test_output_that_is_no_text(self, use: UseTool) -> None:
        assert use("bash", command="printf '\\377'").text == "\ufffd\n[exit code 0]"

    def test_a_command_with_a_nul_character(self, use: UseTool) -> None:
        with pytest.raises(ToolError, match="NUL"):
            use("bash", command="a\0b")
