"""Every command over a suite full of escape sequences: each is shown, none is obeyed."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.engine.cli.terminal import shown_on_terminal
from tests.hostile_text import HOSTILE, HOSTILE_LINE, hidden_in, replaced
from waza_engine.commands.shared_options import ReportKind
from waza_engine.spec.reading.yaml_reader import parse_yaml

# Several commands in one process, each as from a shell: their outputs end in a NUL.
PROGRAM = """
import json, os, sys
from waza_engine.cli import main as engine
from waza_language_server.cli import main as server
for command in json.loads(sys.stdin.read()):
    sys.argv = command
    try:
        (engine if command[0] == "waza-engine" else server)()
    except SystemExit:
        pass
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
        os.write(stream.fileno(), b"\\0")
"""

GRADED = """
import json, sys
print(json.dumps({"score": 0.2, "passed": False, "message": sys.argv[1]}))
"""


def quoted(text: str) -> str:
    """Return a text as a YAML scalar."""
    return json.dumps(text)


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a suite that has run; whatever has a name has a hostile one."""
    folder = tmp_path_factory.mktemp("hostile")
    (folder / "tasks").mkdir()
    evil = quoted(HOSTILE)
    program = json.dumps(["-c", GRADED, HOSTILE_LINE])
    (folder / "eval.yaml").write_text(
        f"""\
name: {evil}
description: {evil}
skill: {quoted(HOSTILE_LINE)}
{quoted(HOSTILE_LINE)}: 1
config: {{trials_per_task: 1, timeout_seconds: 20, executor: mock, model: {evil}}}
graders:
  - {{type: text, name: {evil}, config: {{contains: [{evil}], not_contains: [Mock], unknown: {evil}}}}}
  - {{type: program, name: says, config: {{command: {quoted(sys.executable)}, args: {program}}}}}
  - {{type: human, name: review, config: {{instructions: {evil}, criteria: [{evil}]}}}}
  - {{type: {evil}, name: nothing}}
tasks: ["tasks/*.yaml"]
""",
        "utf-8",
    )
    task = f"id: {evil}\nname: {evil}\ninputs: {{prompt: {evil}}}\nexpected: {{{evil}: 1}}\n"
    (folder / "tasks" / "one.yaml").write_text(task, "utf-8")
    named = b"\xff\x1b]0;t\x07\n::error::f.yaml" if os.name == "posix" else b"two.yaml"
    try:
        path = os.path.join(os.fsencode(folder / "tasks"), named)  # noqa: PTH118 - a name of bytes
        with open(path, "w", encoding="utf-8") as file:  # noqa: PTH123
            file.write("id: two\nname: Two\ninputs: {prompt: hello, prompt: twice}\n")
    except OSError:
        pass  # This file system takes no such names.
    return folder


def carried_out(folder: Path, *commands: tuple[str, ...]) -> list[tuple[str, str]]:
    """Return what each command writes to its two streams."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        input=json.dumps(commands).encode(),
        capture_output=True,
        cwd=folder,
        timeout=200,
        check=True,
    )
    streams = [stream.decode().split("\0")[:-1] for stream in (done.stdout, done.stderr)]
    assert [len(parts) for parts in streams] == [len(commands)] * 2, done.stderr.decode()
    return list(zip(*streams, strict=True))


ENGINE, SERVER = "waza-engine", "waza-language-server"


def test_no_command_writes_what_a_terminal_or_a_build_server_would_obey(suite: Path) -> None:
    text = (suite / "eval.yaml").read_text("utf-8")
    usable = text.replace(f"  - {{type: {quoted(HOSTILE)}, name: nothing}}\n", "")
    (suite / "usable.yaml").write_text(usable, "utf-8")
    (suite / f"{HOSTILE_LINE[-40:]}.yaml".replace("/", "")).write_text("name: [", "utf-8")
    (suite / "SKILL.md").write_text(
        f"---\nname: {quoted(HOSTILE_LINE)}\ndescription: {quoted('USE FOR: ' + HOSTILE)}\n---\n", "utf-8"
    )
    carried_out(suite, (ENGINE, "run", "usable.yaml", "-o", "result.json", "-v"))
    result = json.loads((suite / "result.json").read_text("utf-8"))
    kept = {"timestamp": result["timestamp"]}
    (suite / "planted.json").write_text(json.dumps({**replaced(result, HOSTILE), **kept}), "utf-8")
    commands = [
        (ENGINE, "run", "usable.yaml", "-v"),
        (ENGINE, "run", "usable.yaml", "--format", "json"),
        (ENGINE, "run", "usable.yaml", "--format", "jsonl"),
        (ENGINE, "run", "eval.yaml"),
        (ENGINE, "run", f"{HOSTILE_LINE}.yaml"),
        (ENGINE, "list", "."),
        (ENGINE, "list", ".", "--json"),
        *((ENGINE, "report", "planted.json", "-f", kind) for kind in ReportKind if kind != ReportKind.GITHUB),
        (ENGINE, "compare", "planted.json", "result.json"),
        (ENGINE, "compare", "planted.json", "result.json", "-f", "json"),
        (ENGINE, "grade", "result.json", "--suite", "usable.yaml"),
        (ENGINE, "grade", "planted.json", "--suite", "usable.yaml", "-f", "json"),
        (ENGINE, "review", "result.json", "--all"),
        (ENGINE, "review", "result.json", "--json"),
        (ENGINE, "new", "suite", ".", "--out", "made"),
        (ENGINE, "new", "task", HOSTILE_LINE, "--suite", "usable.yaml"),
        (ENGINE, "new", "grader", HOSTILE_LINE),
        (ENGINE, "cache", "clear", "--cache-dir", HOSTILE_LINE),
        (ENGINE, HOSTILE_LINE),
        (SERVER, "check", "."),
        (SERVER, "check", ".", "--format", "json"),
        (SERVER, "check", HOSTILE_LINE),
        (SERVER, "show", "eval.yaml"),
        (SERVER, "show", "usable.yaml"),
        (SERVER, "show", HOSTILE_LINE),
        (SERVER, "--" + HOSTILE_LINE),
    ]
    for_programs = [command for command in commands if {"json", "jsonl", "--json"} & {*command}]
    telling = {"run", "list", "report", "compare", "review", "check", "show"}
    for command, streams in zip(commands, carried_out(suite, *commands), strict=True):
        for written in streams:
            assert hidden_in(written) == set(), (command, written)
            assert "Traceback" not in written, (command, written)
            assert not re.search(r"^\s*::|##\[", written, re.MULTILINE), (command, written)
        if command[1] in telling and command not in for_programs:
            assert r"\x1b]0;" in "".join(streams), (command, streams)


def test_no_json_holds_a_number_that_json_does_not_have(tmp_path: Path) -> None:
    found = parse_yaml("a: [1e999, .inf, -.inf, .nan]", tmp_path).value
    assert "Infinity" not in json.dumps(found)
    assert "NaN" not in json.dumps(found)


@pytest.mark.skipif(sys.platform == "win32", reason="pseudo terminals are POSIX")
def test_a_progress_bar_obeys_no_name(tmp_path: Path) -> None:
    (tmp_path / "eval.yaml").write_text(
        f"name: {quoted(HOSTILE)}\nskill: s\n"
        "config: {trials_per_task: 1, timeout_seconds: 20, executor: mock}\n"
        "graders: [{type: text, name: says, config: {contains: [Mock]}}]\n"
        f"tasks: [{{id: {quoted(HOSTILE)}, inputs: {{prompt: hello}}}}]\n",
        "utf-8",
    )
    written = shown_on_terminal("run", tmp_path / "eval.yaml")
    assert b"\x1b]" not in written
    assert b"\x07" not in written
    assert b"title" in written
    text = written.decode()
    assert hidden_in(text) <= {"\x1b", "\r"}
    assert "\x1b[2J" not in text
    assert "[bold]e[/]" in text
