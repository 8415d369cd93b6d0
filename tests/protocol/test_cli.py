"""The terminal commands: ``check``, ``show``, and the ways to start the server."""

import json
import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.command_line import language_server
from tests.patience import ON_A_BUSY_MACHINE
from tests.protocol.editor import TASK, suite_with, write_suite
from waza_language_server.analysis.schema_rules import structure
from waza_language_server.project.index import Project

pytestmark = pytest.mark.check

SUITE = suite_with("""\
graders:
  - {type: text, name: "😀", config: {containz: [hello]}}
""")
VALID = SUITE.replace("containz", "contains")


def test_check_prints_each_problem_at_its_place_and_counts(tmp_path: Path) -> None:
    write_suite(tmp_path, SUITE, one=TASK)
    done = language_server("check", "eval.yaml", cwd=tmp_path)
    assert done.returncode == 1
    lines = done.stdout.splitlines()
    assert lines[0].startswith("eval.yaml:6:39: error[unknown-key] ")
    assert lines[-1] == "1 file checked: 1 error"


def test_the_help_that_a_complaint_names_is_there() -> None:
    advice = language_server("check", "--fixx").stderr.splitlines()[-1]
    words = advice.removeprefix("Try waza-language-server ").removesuffix(" for help.")
    assert language_server(*words.split()).stdout.startswith("Usage: waza-language-server check ")


def test_check_prints_json_with_columns_of_utf_16(tmp_path: Path) -> None:
    suite = write_suite(tmp_path, SUITE, one=TASK)
    done = language_server("check", "--format", "json", suite)
    (found,) = json.loads(done.stdout)
    assert found["path"] == str(suite)
    assert found["range"] == {"start": {"line": 5, "character": 38}, "end": {"line": 5, "character": 46}}
    assert (found["severity"], found["code"]) == ("error", "unknown-key")
    assert "containz" in found["message"]
    assert done.returncode == 1


def test_check_of_a_valid_suite_exits_with_0(tmp_path: Path) -> None:
    write_suite(tmp_path, VALID, one=TASK)
    done = language_server("check", tmp_path)
    assert (done.returncode, done.stdout) == (0, "2 files checked: no problems\n")


def test_check_applies_the_safe_fixes_and_tells_what_is_left(tmp_path: Path) -> None:
    noisy = SUITE.replace("name: explains", "name: explains\nnoise: 1")
    suite = write_suite(tmp_path, f"# Ours\n{noisy}", one=TASK)
    suite.chmod(0o640)
    done = language_server("check", "--fix", "eval.yaml", cwd=tmp_path)
    assert done.stdout.startswith("eval.yaml:3:1: warning[unknown-key] The file has no key `noise`")
    assert done.stdout.endswith("1 file checked: 1 warning (1 fixed)\n")
    assert done.returncode == 0
    assert suite.read_text("utf-8") == "# Ours\n" + noisy.replace("containz", "contains")
    assert suite.stat().st_mode & 0o777 == 0o640
    assert sorted(path.name for path in tmp_path.iterdir()) == ["eval.yaml", "tasks"]


@pytest.mark.parametrize(
    ("start", "ending"), [(b"", b"\r\n"), (b"\xef\xbb\xbf", b"\n")], ids=["Windows lines", "byte order mark"]
)
def test_a_fix_on_disk_changes_nothing_else_of_a_file(tmp_path: Path, start: bytes, ending: bytes) -> None:
    def written(text: str) -> bytes:
        return start + text.encode().replace(b"\n", ending)

    suite = write_suite(tmp_path, "", one=TASK)
    suite.write_bytes(written(SUITE))
    assert language_server("check", "--fix", suite).returncode == 0
    assert suite.read_bytes() == written(VALID)


def test_a_file_that_is_no_text_is_not_fixed(tmp_path: Path) -> None:
    suite = write_suite(tmp_path, "", one=TASK)
    content = SUITE.encode() + b"# caf\xe9\n"
    suite.write_bytes(content)
    done = language_server("check", "--fix", suite)
    assert "the file is not UTF-8 text" in done.stderr
    assert suite.read_bytes() == content


def test_check_leaves_out_hidden_and_foreign_folders(tmp_path: Path) -> None:
    for folder in (".hidden", "node_modules/x", "vendor/y"):
        write_suite(tmp_path / folder, SUITE)
    write_suite(tmp_path / ".github" / "skills" / "z", SUITE)
    done = language_server("check", tmp_path)
    assert done.stdout.splitlines()[-1].startswith("1 file checked")


def test_check_looks_where_agents_keep_skills_and_not_at_what_lies_beside_them(tmp_path: Path) -> None:
    for folder in (".apm/skills/a", ".agents/skills/b/evals", "pack/.claude/skills/c", ".github/evals/d"):
        write_suite(tmp_path / folder, VALID, one=TASK)
    for folder in (".claude/worktrees/w/evals", ".apm/cache/e", ".agents/f"):
        write_suite(tmp_path / folder, VALID, one=TASK)
    for folder in ("env", ".agents/skills/b/venv"):
        write_suite(tmp_path / folder / "lib" / "g", VALID, one=TASK)
        (tmp_path / folder / "pyvenv.cfg").touch()
    assert language_server("check", tmp_path).stdout == "8 files checked: no problems\n"
    assert language_server("check", tmp_path / ".apm").stdout == "4 files checked: no problems\n"


def test_check_says_why_a_named_file_was_not_checked(tmp_path: Path) -> None:
    other = tmp_path / "deployment.yaml"
    other.write_text("kind: Pod\n", "utf-8")
    done = language_server("check", other)
    assert "not a file of a suite" in done.stderr
    assert done.returncode == 2


def test_check_without_a_suite_file_is_no_success(tmp_path: Path) -> None:
    (tmp_path / "deployment.yaml").write_text("kind: Pod\n", "utf-8")
    done = language_server("check", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (
        2,
        "There is no suite file in ., so nothing was checked.\n",
    )


@pytest.mark.parametrize(
    ("options", "code"),
    [((), 0), (("--strict",), 1), (("--max-warnings", "1"), 0), (("--max-warnings", "0"), 1)],
)
def test_warnings_fail_a_check_on_request(tmp_path: Path, options: tuple[str, ...], code: int) -> None:
    write_suite(tmp_path, VALID, one=f"{TASK}unknown: 1\n")
    done = language_server("check", *options, cwd=tmp_path)
    assert (done.returncode, "1 warning" in done.stdout) == (code, True), done


def test_check_of_a_missing_path_is_bad_use(tmp_path: Path) -> None:
    done = language_server("check", tmp_path / "nowhere")
    assert done.returncode == 2
    assert "does not exist" in done.stderr


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"name: \xff\xfe\n", "the file is not UTF-8 text"),
        (b"name: \0\n", "the file is binary, not text"),
        (b"# " + b"x" * 9_000_000, "the file is too large"),
    ],
)
def test_what_cannot_be_read_was_not_checked(tmp_path: Path, content: bytes, why: str) -> None:
    (tmp_path / "eval.yaml").write_bytes(content)
    (tmp_path / "notes.yaml").write_bytes(content)
    whole = language_server("check", ".", cwd=tmp_path)
    assert (whole.returncode, whole.stderr) == (2, f"eval.yaml: {why}\n")
    assert whole.stdout == "0 files checked: 1 not read\n"
    named = language_server("check", "notes.yaml", "--format", "json", cwd=tmp_path)
    assert (named.returncode, named.stdout, named.stderr) == (2, "[]\n", f"notes.yaml: {why}\n")


@pytest.mark.parametrize("name", ["tasks/two.yaml", "evals.json", "skills/other/SKILL.md"])
def test_an_unreadable_file_of_a_suite_was_not_checked(tmp_path: Path, name: str) -> None:
    write_suite(tmp_path, VALID, one=TASK)
    for path in (tmp_path / name, tmp_path / "tasks" / "fixtures" / "notes.yaml"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(TASK.encode("utf-16"))
    done = language_server("check", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (2, f"{name}: the file is UTF-16 text; save it as UTF-8\n")
    assert "1 not read" in done.stdout


@pytest.mark.parametrize("arguments", [(), ("eval.yaml",)])
def test_an_empty_eval_file_is_an_error_without_other_files_of_a_suite(
    tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    (tmp_path / "eval.yaml").write_text("# later\n", "utf-8")
    done = language_server("check", *arguments, cwd=tmp_path)
    assert done.returncode == 1
    assert "eval.yaml:1:1: error[empty-file] The file is empty" in done.stdout


def test_show_draws_problems_and_lenses_into_the_source(tmp_path: Path) -> None:
    suite = write_suite(tmp_path, SUITE, one=TASK)
    lines = language_server("show", suite).stdout.splitlines()
    assert lines[0] == "▶ Run suite"
    assert lines[1] == "name: explains"
    carets = next(line for line in lines if "^" in line)
    assert "^^^^^^^^ error unknown-key: " in carets


def test_show_of_another_file_is_bad_use(tmp_path: Path) -> None:
    other = tmp_path / "other.txt"
    other.write_text("hello", "utf-8")
    done = language_server("show", other)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr


def test_version() -> None:
    assert language_server("--version").stdout.startswith("waza-language-server ")


def test_an_unknown_option_is_named() -> None:
    done = language_server("--stdoi")
    assert done.returncode == 2
    assert "--stdoi" in done.stderr


def test_the_server_serves_on_a_port() -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    server = subprocess.Popen([sys.executable, "-m", "waza_language_server", "--tcp", str(port)])
    try:
        with _connect(port) as connection:
            params = {"processId": os.getpid(), "rootUri": None, "capabilities": {}}
            message = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}
            body = json.dumps(message).encode()
            connection.sendall(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
            assert connection.recv(16) == b"Content-Length: "
        assert server.wait(5 + ON_A_BUSY_MACHINE) == 1
    finally:
        server.kill()
        server.wait()


def _connect(port: int) -> socket.socket:
    deadline = time.monotonic() + 60
    while True:
        try:
            return socket.create_connection(("127.0.0.1", port), timeout=60)
        except OSError:
            assert time.monotonic() < deadline
            time.sleep(0.05)


def broken(monkeypatch: pytest.MonkeyPatch, place: object, name: str, error: BaseException) -> None:
    """Let a function fail, as a mistake in a rule would."""

    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(place, name, fail)


@pytest.mark.parametrize("error", [ValueError("odd"), MemoryError(), RecursionError()], ids=repr)
def test_check_exits_with_2_and_names_the_file_when_a_rule_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    suite = write_suite(tmp_path, VALID, one=TASK)
    broken(monkeypatch, structure, "document_value", error)
    done = language_server("check", suite)
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert line.startswith(f'{suite}: not everything was checked, because the rule "structure" failed (')
    assert type(error).__name__ in line
    assert done.stdout == "1 file checked: 1 not checked completely\n"


def test_check_goes_on_when_a_file_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_suite(tmp_path, VALID, one=TASK)
    broken(monkeypatch, Project, "claim", RecursionError())
    done = language_server("check", "--format", "json", tmp_path)
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 2
    assert json.loads(done.stdout) == []


def test_check_tells_the_traceback_when_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    suite = write_suite(tmp_path, VALID, one=TASK)
    broken(monkeypatch, structure, "document_value", ValueError("odd"))
    done = language_server("check", "--verbose", suite)
    assert "Traceback" in done.stderr
    assert "ValueError: odd" in done.stderr


def test_show_says_what_it_cannot_show(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    suite = write_suite(tmp_path, VALID, one=TASK)
    broken(monkeypatch, structure, "document_value", ValueError("odd"))
    done = language_server("show", suite)
    assert done.returncode == 2
    assert "name: explains" in done.stdout
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.skipif(sys.platform == "win32", reason="pipes end otherwise there")
@pytest.mark.parametrize("command", [("check",), ("check", "--format", "json"), ("show",)])
def test_a_reader_that_leaves_early_hears_no_complaint(tmp_path: Path, command: tuple[str, ...]) -> None:
    suite = write_suite(tmp_path, SUITE, one=TASK)
    reader, writer = os.pipe()
    os.close(reader)
    arguments = [sys.executable, "-m", "waza_language_server", *command, str(suite)]
    done = subprocess.run(arguments, stdout=writer, stderr=subprocess.PIPE, timeout=120, check=False)
    os.close(writer)
    assert done.returncode != 0
    assert done.stderr == b""


@pytest.mark.skipif(sys.platform == "win32", reason="shells close streams otherwise there")
def test_check_works_without_standard_output(tmp_path: Path) -> None:
    suite = write_suite(tmp_path, VALID, one=TASK)
    line = f'"{sys.executable}" -m waza_language_server check "{suite}" >&-'
    done = subprocess.run(line, shell=True, stderr=subprocess.PIPE, timeout=120, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
