"""What only Windows or macOS does, with the platform faked; ``docs/platforms.md`` lists it by file."""

from __future__ import annotations

import re
import signal
from collections.abc import Callable
from pathlib import Path, PureWindowsPath
from types import SimpleNamespace
from typing import Any

import pytest

from tests.platforms import loaded_as_on_windows, pretend
from waza_engine import boundary, end_of_input, files, user_state
from waza_engine.assertions import evaluator as assertion_workers
from waza_engine.assertions import worker as assertion_worker
from waza_engine.boundary import Boundary
from waza_engine.commands import command_words
from waza_engine.executors import command_shim
from waza_engine.executors.chat import workspace_tools
from waza_engine.executors.copilot import runtime
from waza_engine.graders import inline, paths
from waza_engine.processes import scope as guard
from waza_engine.processes import supervisor, trees, workers
from waza_engine.runs.agent import command_mocks
from waza_engine.spec import program_files
from waza_engine.spec.reading import task_globs
from waza_language_server.embedded.glob import task_glob_features as colours
from waza_language_server.engine import process
from waza_language_server.features.completion import values
from waza_language_server.project import boundaries, uris
from waza_language_server.project.disk import Disk

ROOT = Path(__file__).parent.parent
BRANCH = re.compile(r"\bos\.name\b|\bsys\.platform\b|_ESCAPES = os\.sep|os\.sep == ")


def test_each_file_with_a_branch_for_a_system_is_listed() -> None:
    page = (ROOT / "docs" / "platforms.md").read_text("utf-8")
    listed = set(re.findall(r"`((?:waza_engine|server)/[\w/]+\.py)`", page))
    found = {
        path.relative_to(ROOT).as_posix()
        for package in ("waza_engine", "server")
        for path in (ROOT / package).rglob("*.py")
        if BRANCH.search(path.read_text("utf-8"))
    }
    assert listed == found


def answering(answer: object) -> Callable[..., object]:
    """Return a function that has one answer."""

    def function(*_: object, **__: object) -> object:
        return answer

    return function


class WindowsPath(PureWindowsPath):
    """A path of Windows that can be made absolute here."""

    def absolute(self) -> WindowsPath:
        return self


@pytest.mark.parametrize(
    ("uri", "path"),
    [
        ("file:///c%3A/Users/a%20b/eval.yaml", r"c:\Users\a b\eval.yaml"),
        ("file:///d%3A/x/%C3%A9.yaml", "d:\\x\\\u00e9.yaml"),
        ("file://server/share/evals/eval.yaml", r"\\server\share\evals\eval.yaml"),
    ],
)
def test_drives_and_shares_are_paths_and_uris(monkeypatch: pytest.MonkeyPatch, uri: str, path: str) -> None:
    pretend(monkeypatch, uris, "win32")
    monkeypatch.setattr(uris, "Path", WindowsPath)
    read = uris.path_of.__wrapped__(uri)
    assert read is not None
    assert str(read) == path
    assert uris.uri_of(read) == uri
    assert uris.path_of.__wrapped__(uri.replace("c%3A", "C:")) == read
    assert uris.path_of.__wrapped__(f"file:///c:/{'n' * 256}") is None


def test_a_boundary_does_not_tell_cases_apart_on_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    pretend(monkeypatch, boundary, "win32")
    within = Boundary(("C:\\Work\\Suite",), "the repository")
    assert within._holds("c:\\work\\suite\\eval.yaml")
    assert not within._holds("c:\\work\\suites\\eval.yaml")
    assert [boundary.is_foreign(name) for name in ("nul.txt", "sub/COM1:", "null.txt", "aux/a")] == [
        True,
        True,
        False,
        False,
    ]
    assert within._is_foreign("\\\\host\\share\\x")


def test_backslashes_separate_folders_of_globs_on_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    globs = loaded_as_on_windows(monkeypatch, task_globs)
    assert globs.split_pattern("tasks\\*.yaml") == ["tasks", "*.yaml"]
    assert globs.matches(Path("/w"), "tasks\\*.yaml", Path("/w/tasks/a.yaml"))
    assert globs.literally("a[b") == "a[[]b"
    pretend(monkeypatch, colours, "win32")
    assert [token.start for token in colours.Globs().tokens("tasks\\*.yaml")] != [5]


def test_a_file_that_is_open_is_replaced_a_moment_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    refusals = iter([PermissionError(13, "in use"), PermissionError(13, "in use")])

    def replace(*arguments: Any, **keywords: Any) -> None:
        if (refusal := next(refusals, None)) is not None:
            raise refusal
        real(*arguments, **keywords)

    real = files.os.replace
    monkeypatch.setattr(files, "_PAUSE_SECONDS", 0)
    # Its paths are those of this system: only the name is another.
    pretend(monkeypatch, files, "linux", name="nt", replace=replace)
    files.write_atomically(tmp_path / "a.json", [b"new"])
    assert (tmp_path / "a.json").read_bytes() == b"new"
    refusals = iter([PermissionError(13, "in use")] * 100)
    with pytest.raises(PermissionError):
        files.write_atomically(tmp_path / "a.json", [b"newer"])
    assert [path.name for path in tmp_path.iterdir()] == ["a.json"]


def test_files_of_the_user_are_where_the_system_keeps_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("XDG_STATE_HOME", raising=False)
    monkeypatch.setenv("LOCALAPPDATA", "/Local")
    monkeypatch.setenv("HOME", "/Users/me")
    pretend(monkeypatch, user_state, "linux", name="nt")
    assert user_state.state_folder() == Path("/Local/waza-engine")


def test_programs_are_found_by_their_endings_on_windows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("node.exe", "node.txt", "npx.cmd"):
        (tmp_path / name).write_text("")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("PATHEXT", ".EXE;.CMD")
    pretend(monkeypatch, values, "linux", name="nt")
    assert values.programs_on_path(Disk(), "n") == ("node", "npx")


def test_commands_are_started_as_the_system_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = tmp_path / "grade.bat"
    script.write_text("")
    pretend(monkeypatch, program_files, "win32")
    assert inline.command_of(script) == [str(script)]
    pretend(monkeypatch, workspace_tools, "win32")
    name, call = workspace_tools._system_shell()
    assert (name, call("dir")[-2:]) == ("powershell", ["-Command", "dir"])
    pretend(monkeypatch, runtime, "win32")
    assert runtime._command("copilot.exe") == ("copilot.exe", ())
    pretend(monkeypatch, assertion_workers, "win32")
    monkeypatch.setattr(assertion_workers, "_installed_node", answering(("node", "")))
    monkeypatch.setattr(assertion_workers.shutil, "which", answering("node"))
    assert assertion_workers._node(10**9)[0] == "node"
    monkeypatch.setattr(process.subprocess, "CREATE_NEW_PROCESS_GROUP", 1, raising=False)
    monkeypatch.setattr(process.subprocess, "CREATE_NO_WINDOW", 2, raising=False)
    pretend(monkeypatch, process, "win32")
    assert process._creation_flags() == 3


def test_a_mocked_program_is_a_batch_file_on_windows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command_mocks, "_ROOT", SimpleNamespace(path=tmp_path))
    (tmp_path / "bin").mkdir()
    pretend(monkeypatch, command_mocks, "linux", name="nt")
    command_mocks._put_programs(["az"])
    assert (tmp_path / "bin" / "az.cmd").read_bytes().startswith(b'@"')
    pretend(monkeypatch, command_shim, "linux", name="nt")
    assert command_shim._mock({"mocks": [{"name": "AZ"}]}, "az") == {"name": "AZ"}


def test_links_are_followed_one_by_one_where_they_are_of_more_kinds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pretend(monkeypatch, paths, "linux", name="nt")
    assert not paths._is_plainly_below(tmp_path, tmp_path / "a")
    assert not paths.leads_outside(tmp_path, tmp_path / "a")
    assert paths.leads_outside(tmp_path, tmp_path.parent)


def test_the_system_resolves_links_on_windows(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path)
    links = boundaries.Links()
    links.known = {}
    pretend(monkeypatch, boundaries, "linux", name="nt")
    assert links.resolved(str(tmp_path / "link" / "a")) == str(tmp_path / "a")
    assert list(links.known) == [str(tmp_path / "link" / "a")]


def test_processes_end_without_groups_and_signals_of_posix(monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[object] = []
    asked = SimpleNamespace(pid=1, send_signal=sent.append)
    monkeypatch.setattr(trees.signal, "CTRL_BREAK_EVENT", "break", raising=False)
    pretend(monkeypatch, trees, "win32", killpg=None)
    trees._ask_to_end(asked)  # type: ignore[arg-type]
    assert sent == ["break"]
    monkeypatch.delattr(trees.signal, "CTRL_BREAK_EVENT")
    trees._ask_to_end(asked)  # type: ignore[arg-type]
    assert sent[1:] == [signal.SIGTERM]


@pytest.mark.parametrize("platform", ["win32", "darwin"])
def test_a_tree_of_processes_ends_on_other_systems(monkeypatch: pytest.MonkeyPatch, platform: str) -> None:
    killed: list[object] = []
    child = SimpleNamespace(kill=lambda: killed.append("child"))
    parent = SimpleNamespace(children=answering([child]), kill=lambda: killed.append("process"))
    monkeypatch.setattr("psutil.Process", answering(parent))

    def killpg(pid: int, number: int) -> None:
        killed.append("group")

    pretend(monkeypatch, trees, platform, killpg=killpg)
    trees.end_process_tree(7)
    assert killed == [{"win32": "process", "darwin": "group"}[platform], "child"]


def test_nothing_watches_where_the_system_offers_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    pretend(monkeypatch, guard, "win32")
    watching = guard.Guard()
    watching.watch(1)
    assert watching._process is None
    pretend(monkeypatch, end_of_input, "win32")
    monkeypatch.setattr(end_of_input.threading, "Thread", None)
    end_of_input.leave_at_end_of_input()
    divided: list[str] = []
    monkeypatch.setattr(supervisor, "_divide", lambda: divided.append("divided"))
    pretend(monkeypatch, supervisor, "darwin")
    supervisor.supervise()
    monkeypatch.setattr(
        "waza_engine.processes.job_object.join_job", lambda: divided.append("job"), raising=False
    )
    pretend(monkeypatch, supervisor, "win32")
    supervisor.supervise()
    assert divided == ["job"]


def test_workers_are_limited_as_far_as_the_system_can(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SYSTEMROOT", "C:\\Windows")
    pretend(monkeypatch, workers, "win32")
    assert workers._environment() == {"SYSTEMROOT": "C:\\Windows"}
    pretend(monkeypatch, assertion_worker, "win32")
    ended: list[object] = []

    def later(seconds: float, **_: Any) -> None:
        ended.append(seconds)

    fake = SimpleNamespace(dump_traceback_later=later, cancel_dump_traceback_later=lambda: ended.append(None))
    monkeypatch.setattr(assertion_worker, "faulthandler", fake)
    assertion_worker._end_after(3.0)
    assertion_worker._end_after(None)
    assert ended == [3.0, None]
    assert assertion_worker._limit(1) is False


def test_a_checkout_with_crlf_loads_as_one_with_lf(tmp_path: Path) -> None:
    from waza_engine.spec.loading import load_eval_file

    config = "{trials_per_task: 1, timeout_seconds: 60, executor: mock}"
    text = f"name: a\nskill: b\nconfig: {config}\ntasks: [a.yaml]\n"
    (tmp_path / "lf.yaml").write_bytes(text.encode())
    (tmp_path / "crlf.yaml").write_bytes(text.replace("\n", "\r\n").encode())
    assert load_eval_file(tmp_path / "lf.yaml")[0] == load_eval_file(tmp_path / "crlf.yaml")[0]


def test_proposed_commands_are_quoted_for_the_shell_of_the_system(monkeypatch: pytest.MonkeyPatch) -> None:
    assert command_words.command_line("run", "my suite") == "waza-engine run 'my suite'"
    pretend(monkeypatch, command_words, "win32")
    assert command_words.command_line("run", "my suite") == 'waza-engine run "my suite"'
