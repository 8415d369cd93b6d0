"""Killed processes, broken graders, planted keys, budgets: no paid answer is lost or paid for twice."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.command_line import harness
from tests.engine.harness.kills import FLAGS, asked, kill, rows, started, write_suite
from tests.engine.harness.scenarios import CONTAINS, capture, lines, prompt
from tests.patience import ON_A_BUSY_MACHINE

pytestmark = pytest.mark.check


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_suite(tmp_path, 4)
    (tmp_path / "p.jsonl").write_text(lines(*(prompt(f"p{at}", f"q{at}") for at in range(4))), "utf-8")
    return tmp_path


@pytest.mark.skipif(os.name == "nt", reason="sends a signal")
@pytest.mark.parametrize("command", [("capture",), ("trials", "-k", "2")])
def test_killed_at_any_moment_no_row_is_lost_and_none_is_paid_twice(
    tmp_path: Path, command: tuple[str, ...]
) -> None:
    found = kill(tmp_path, command, times=5, prompts=10, seed=7)
    assert found.killed > 2
    # Two agents at most were in the middle of their answer at each of these moments.
    assert found.asked == found.answers + found.cut_off <= found.answers + 2 * found.killed
    again, before = asked(tmp_path), rows(tmp_path / "out.jsonl")
    assert harness(*command, *FLAGS, cwd=tmp_path).returncode == 0
    assert (asked(tmp_path), rows(tmp_path / "out.jsonl")) == (again, before)


def test_an_answer_that_was_not_graded_yet_is_not_asked_again(folder: Path) -> None:
    flags = ("capture", "p.jsonl", "-s", "a.json", "-o", "out.jsonl", "--resume")
    assert harness(*flags, cwd=folder).returncode == 0
    # Another grader: the answers stay, the verdicts are new.
    ended = harness(*flags, "-g", "contains.py", cwd=folder)
    assert (ended.returncode, len(asked(folder))) == (0, 4)
    assert [row["score"]["pass"] for row in rows(folder / "out.jsonl")] == [True] * 4
    # The verdicts of rows that are kept count, too.
    assert harness(*flags, "-g", "contains.py", "--fail-under", "1", cwd=folder).returncode == 0
    (folder / "never.py").write_text("import json; print(json.dumps({'pass': False, 'score': 0}))", "utf-8")
    for _ in range(2):
        ended = harness(*flags, "-g", "never.py", "--fail-under", "0.1", cwd=folder)
        assert (ended.returncode, ended.stderr) == (1, "The pass rate 0.00 is below 0.1.\n")
    assert len(asked(folder)) == 4


def test_a_changed_hint_and_a_mended_grader_cost_no_answer(folder: Path) -> None:
    flags = ("capture", "p.jsonl", "-s", "a.json", "-o", "out.jsonl", "--resume", "-g", "grader.py")
    (folder / "grader.py").write_text("raise SystemExit('no key')", "utf-8")
    assert harness(*flags, cwd=folder).returncode == 0
    assert [row["errors"] for row in rows(folder / "out.jsonl")] == [
        ["Grader exited with code 1: no key"]
    ] * 4
    (folder / "grader.py").write_text(CONTAINS, "utf-8")
    for hint in ("answer", "other"):
        prompts = (prompt(f"p{at}", f"q{at}", hint=hint, metadata={hint: 1}) for at in range(4))
        (folder / "p.jsonl").write_text(lines(*prompts), "utf-8")
        assert harness(*flags, cwd=folder).returncode == 0
        for row in rows(folder / "out.jsonl"):
            assert (row["score"]["pass"], row["hint"], "errors" in row) == (hint == "answer", hint, False)
            assert [key for key in ("answer", "other") if key in row["metadata"]] == [hint]
    assert len(asked(folder)) == 4


def test_a_prompt_that_has_changed_is_asked_again_and_the_others_are_not(folder: Path) -> None:
    flags = ("capture", "p.jsonl", "-s", "a.json", "-o", "out.jsonl", "--resume")
    assert harness(*flags, cwd=folder).returncode == 0
    text = (folder / "p.jsonl").read_text("utf-8").replace('"q2"', '"other"')
    (folder / "p.jsonl").write_text(text, "utf-8")
    assert harness(*flags, cwd=folder).returncode == 0
    assert asked(folder)[4:] == ["other"]
    assert sorted(row["input"] for row in rows(folder / "out.jsonl")) == ["other", "q0", "q1", "q3"]


def test_answers_of_a_run_that_did_not_end_are_not_overwritten(folder: Path) -> None:
    (folder / "out.jsonl.partial.jsonl").write_text("{}\n", "utf-8")
    ended = harness("capture", "p.jsonl", "-s", "a.json", "-o", "out.jsonl", cwd=folder)
    assert (ended.returncode, asked(folder)) == (1, [])
    assert "add --resume" in ended.stderr


def test_rows_of_another_program_are_not_resumed_over(folder: Path) -> None:
    (folder / "out.jsonl").write_text(lines(capture("p1", 0.5)), "utf-8")
    ended = harness("capture", "p.jsonl", "-s", "a.json", "-o", "out.jsonl", "--resume", cwd=folder)
    assert (ended.returncode, len(rows(folder / "out.jsonl"))) == (1, 1)
    assert "--resume cannot use it" in ended.stderr


def test_a_crashed_agent_does_not_pass(folder: Path) -> None:
    (folder / "agent.py").write_text("raise SystemExit(3)", "utf-8")
    (folder / "always.py").write_text("import json; print(json.dumps({'pass': True, 'score': 1}))", "utf-8")
    flags = ("-g", "always.py", "--fail-under", "0.1")
    for arguments in (
        ("capture", "p.jsonl", "-s", "a.json", "-o", "out.jsonl", *flags),
        ("grade", "out.jsonl", *flags),
    ):
        ended = harness(*arguments, cwd=folder)
        assert (ended.returncode, ended.stderr) == (1, "The pass rate 0.00 is below 0.1.\n")
    assert {row["score"]["pass"] for row in rows(folder / "out.jsonl")} == {True}


def test_a_crash_has_no_verdict_without_a_grader(folder: Path) -> None:
    (folder / "agent.py").write_text("raise SystemExit(3)", "utf-8")
    for flags, verdict in ((), None), (("-g", "contains.py"), False):
        row = json.loads(
            harness("trials", "p.jsonl", "-s", "a.json", "-k", "1", *flags, cwd=folder).stdout.splitlines()[0]
        )
        (trial,) = row["trials"]
        assert (trial.get("pass"), trial["reasoning"].startswith("Error: ")) == (verdict, True)


def test_the_budget_ends_a_capture_and_resume_goes_on(folder: Path) -> None:
    flags = ("capture", "p.jsonl", "-s", "a.json", "-o", "out.jsonl", "--resume")
    ended = harness(*flags, "--max-tokens", "200", cwd=folder)
    assert (ended.returncode, len(rows(folder / "out.jsonl"))) == (3, 2)
    assert "the limit of 200 tokens is reached: 240 are used; what was finished is written" in ended.stderr
    assert harness(*flags, cwd=folder).returncode == 0
    assert sorted(asked(folder)) == ["q0", "q1", "q2", "q3"]


def test_at_a_limit_active_answers_arrive_and_resume_counts_what_was_spent(folder: Path) -> None:
    flags = ("trials", "p.jsonl", "-s", "a.json", "-o", "out.jsonl", "--resume", "-k", "2", "-j", "2")
    # Each answer uses 120 tokens: the limit is reached by the fifth, while the sixth may be active.
    ended = harness(*flags, "--max-tokens", "600", cwd=folder)
    paid = len(asked(folder))
    assert (ended.returncode, paid in (5, 6)) == (3, True)
    ended = harness(*flags, "--max-tokens", "600", cwd=folder)
    assert (ended.returncode, len(asked(folder))) == (3, paid)
    assert f"{paid * 120:,} are used" in ended.stderr
    ended = harness(*flags, cwd=folder)
    assert (ended.returncode, ended.stderr, len(asked(folder))) == (0, "", 8)


@pytest.mark.skipif(os.name == "nt", reason="sends a signal")
def test_an_interruption_ends_the_agent_and_keeps_what_is_finished(folder: Path) -> None:
    flags = ("capture", "p.jsonl", "-s", "a.json", "-o", "out.jsonl")
    process = started(folder, *flags, seconds=1.5)
    while len(asked(folder)) < 2:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    assert process.wait(2 + ON_A_BUSY_MACHINE) == 130
    assert [row["id"] for row in rows(folder / "out.jsonl")] == ["p0"]
    ended = harness(*flags, "--resume", cwd=folder)
    assert (ended.returncode, len(asked(folder))) == (0, 5)
    assert "1 answer of the earlier run had been requested and did not arrive" in ended.stderr


@pytest.mark.skipif(os.name == "nt", reason="sends a signal")
@pytest.mark.parametrize("name", ["slow.sh", "slow.py"])
def test_an_interruption_ends_a_grader_and_its_answer_stays(folder: Path, name: str) -> None:
    slow = "#!/bin/sh\ntouch graded\nsleep 60\n"
    if name == "slow.py":
        slow = "import pathlib, time\npathlib.Path('graded').touch()\ntime.sleep(60)\n"
    (folder / name).write_text(slow, "utf-8")
    (folder / name).chmod(0o755)
    process = started(folder, "capture", "p.jsonl", "-s", "a.json", "-o", "out.jsonl", "-g", name)
    while not (folder / "graded").exists():
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    assert process.wait(2 + ON_A_BUSY_MACHINE) == 130
    assert rows(folder / "out.jsonl") == []
    ended = harness("capture", "p.jsonl", "-s", "a.json", "-o", "out.jsonl", "--resume", cwd=folder)
    assert (ended.returncode, sorted(asked(folder))) == (0, ["q0", "q1", "q2", "q3"])


def test_a_missing_program_is_the_error_of_each_row_until_it_is_there(folder: Path) -> None:
    adapter = json.loads((folder / "a.json").read_text("utf-8"))
    (folder / "b.json").write_text(json.dumps({**adapter, "command": ["no-such-agent"]}), "utf-8")
    flags = ("capture", "p.jsonl", "-s", "b.json", "-o", "out.jsonl", "--resume")
    for _ in range(2):
        ended = harness(*flags, cwd=folder)
        assert (ended.returncode, "`no-such-agent` is not on PATH" in ended.stderr) == (0, True)
        found = rows(folder / "out.jsonl")
        assert [(row["output"], row["toolErrors"], len(row["errors"])) for row in found] == [
            ("", True, 1)
        ] * 4


@pytest.mark.parametrize("text", [" ", ["q", ""]])
def test_a_prompt_that_is_paid_in_vain_is_not_asked(folder: Path, text: str | list[str]) -> None:
    (folder / "p.jsonl").write_text(lines(prompt("a", "q"), {**prompt("b", ""), "input": text}), "utf-8")
    ended = harness("capture", "p.jsonl", "-s", "a.json", "-o", "out.jsonl", cwd=folder)
    assert (ended.returncode, "The prompt `b` is empty" in ended.stderr) == (1, True), ended.stderr
    assert (asked(folder), (folder / "out.jsonl").exists()) == ([], False)


def test_a_full_disk_ends_the_capture(folder: Path) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("needs /dev/full")
    ended = harness("capture", "p.jsonl", "-s", "a.json", "-o", "/dev/full", cwd=folder)
    assert (ended.returncode, ended.stderr) == (1, "/dev/full cannot be written: No space left on device.\n")
    assert len(asked(folder)) < 4


def test_each_prompt_has_a_workspace_that_its_grader_sees(folder: Path) -> None:
    (folder / "where.py").write_text(
        "import json, os, sys\n"
        "cwd = json.load(sys.stdin)['cwd']\n"
        "outcome = {'cwd': os.path.basename(cwd)}\n"
        "print(json.dumps({'pass': os.path.isdir(cwd), 'score': 1, 'outcome': outcome}))\n",
        "utf-8",
    )
    (folder / "p.jsonl").write_text(lines(prompt('test<>:"/\\|?*prompt', "q")), "utf-8")
    agent = json.dumps([sys.executable, str(folder / "agent.py")])
    text = (folder / "a.json").read_text("utf-8")
    (folder / "a.json").write_text(text.replace(json.dumps([sys.executable, "agent.py"]), agent), "utf-8")
    flags = ("-s", "a.json", "-g", "where.py", "--workspace-dir", "spaces")
    row = json.loads(harness("capture", "p.jsonl", *flags, cwd=folder).stdout)
    assert row["outcome"] == {"cwd": "prompt-test_________prompt"}
    assert row["metadata"]["workspaceDir"] == str(folder / "spaces" / "prompt-test_________prompt")
    row = json.loads(harness("trials", "p.jsonl", "-k", "2", *flags, cwd=folder).stdout)
    names = [trial["outcome"]["cwd"] for trial in row["trials"]]
    assert names == [f"prompt-test_________prompt-trial-{number}" for number in (1, 2)]


def test_a_planted_key_is_in_no_row(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from waza_engine.masking import read_environment

    monkeypatch.setenv("SERVICE_API_KEY", "sk-planted-0123456789abcdef")
    read_environment()
    for arguments in (
        ("capture", "p.jsonl", "-s", "a.json", "-o", "out.jsonl", "--debug"),
        ("trials", "p.jsonl", "-s", "a.json", "-k", "1"),
        ("run", "p.jsonl", "-s", "a.json"),
        ("run", "p.jsonl", "--shell", "echo $SERVICE_API_KEY"),
    ):
        ended = harness(*arguments, cwd=folder)
        assert ended.returncode == 0
        assert "sk-planted" not in ended.stdout + ended.stderr
    assert "sk-planted" not in (folder / "out.jsonl").read_text("utf-8")
    assert "key: ***" in (folder / "out.jsonl").read_text("utf-8")


BROKEN = {
    "hang": "import time\nif 'row1' in text: time.sleep(60)",
    "flood": "if 'row1' in text: print('x' * 5_000_000)",
    "fork": "import subprocess\nif 'row1' in text: subprocess.Popen(['sleep', '60']); sys.exit(3)",
    "exit": "import os\nif 'row1' in text: os._exit(5)",
    "leak": "import os\nos.environ.pop('HOME', None); os.chdir('/'); sys.path.clear()",
}


@pytest.mark.parametrize("kind", BROKEN)
def test_a_broken_grader_costs_its_row_alone(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("waza_engine.harness.row_grading.TIMEOUT_SECONDS", 3.0)
    answer = "print(json.dumps({'pass': True, 'score': 1}))"
    grader = f"import json, sys\ntext = sys.stdin.read()\n{BROKEN[kind]}\n{answer}\n"
    (tmp_path / "grader.py").write_text(grader, "utf-8")
    (tmp_path / "rows.jsonl").write_text(
        lines(*(capture(f"row{at}", None, output=f"row{at}") for at in range(3))), "utf-8"
    )
    ended = harness("grade", "rows.jsonl", "-g", "grader.py", cwd=tmp_path)
    graded = [json.loads(line) for line in ended.stdout.splitlines()]
    broken = [] if kind == "leak" else ["row1"]
    assert (ended.returncode, [row["id"] for row in graded if "score" not in row]) == (0, broken)
    assert [len(row.get("errors", [])) for row in graded] == [0, len(broken), 0]


def test_a_module_is_loaded_once_and_before_anything_is_graded(tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_text(lines(capture("a", None), capture("b", None)), "utf-8")
    counts = "let n = 0; export const grade = async () => ({ pass: true, score: 1, reasoning: `${++n}` })"
    (tmp_path / "counts.mjs").write_text(counts, "utf-8")
    ended = harness("grade", "rows.jsonl", "-g", "counts.mjs", cwd=tmp_path)
    assert [json.loads(line)["score"]["reasoning"] for line in ended.stdout.splitlines()] == ["1", "2"]
    (tmp_path / "other.mjs").write_text("export const other = 1", "utf-8")
    ended = harness("grade", "rows.jsonl", "-g", "other.mjs", cwd=tmp_path)
    assert (ended.returncode, ended.stdout) == (1, "")
    assert ended.stderr == "other.mjs cannot be loaded: it must export a function named `grade`.\n"


@pytest.mark.skipif(os.name == "nt", reason="a pipe of a shell")
def test_a_pipe_shows_a_row_before_the_next_one_is_there(tmp_path: Path) -> None:
    (tmp_path / "contains.py").write_text(CONTAINS, "utf-8")
    command = f"{sys.executable} -m waza_engine harness"
    process = subprocess.Popen(
        f"{command} grade -g contains.py | {command} format -f csv",
        shell=True,
        cwd=tmp_path,
        env={**os.environ, "PYTHONSAFEPATH": "1"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        process.stdin.write(lines(capture("p1", None)).encode())
        process.stdin.flush()
        assert process.stdout.readline().startswith(b"id,input")
        assert process.stdout.readline().startswith(b'"p1","q"')
    finally:
        process.stdin.close()
        assert process.wait(2 + ON_A_BUSY_MACHINE) == 0
