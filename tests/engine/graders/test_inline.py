"""Grader files: `inline` (the acceptance cases of the agent-eval-harness, and what goes beyond)."""

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.engine.graders.grading import folder, grade, result
from tests.patience import ON_A_BUSY_MACHINE
from waza_engine.graders import inline as launchers
from waza_engine.graders.base import GradingContext, Verdict
from waza_engine.graders.programs.input import program_input, trajectory
from waza_engine.graders.registry import create
from waza_engine.vocabulary import ToolCall

pytestmark = pytest.mark.check

EXAMPLE = Path(__file__).resolve().parents[3] / "examples" / "inline-graders"
needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="Node.js is not installed")
needs_posix = pytest.mark.skipif(sys.platform == "win32", reason="files have no executable bit on Windows")
needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")


def inline(
    suite: Path, name: str, code: str, config: dict[str, Any] | None = None, **context: Any
) -> Verdict:
    folder(suite, {name: code})
    return grade("inline", {"grader": name, **(config or {})}, suite_directory=suite, **context)


def example(name: str, **context: Any) -> Verdict:
    return grade("inline", {"grader": f"graders/{name}"}, suite_directory=EXAMPLE, **context)


@pytest.mark.parametrize(
    ("context", "expected"),
    [
        ({"output": "The answer is 4", "hint": "4"}, (1.0, True)),
        ({"output": "I do not know", "hint": "4"}, (0.0, False)),
        ({"output": "anything"}, (1.0, True)),
        (
            {
                "output": "The answer is 4",
                "hint": "4",
                "transcript": (
                    {"type": "assistant.message", "content": "4"},
                    {"type": "tool.execution_start", "tool_name": "bash", "tool_call_id": "1"},
                ),
            },
            (1.0, True),
        ),
    ],
    ids=["case 1", "case 2", "case 3", "case 4"],
)
def test_a_hint_in_the_answer(context: dict[str, Any], expected: tuple[float, bool]) -> None:
    verdict = example("contains_hint.py", **context)
    assert (result(verdict), verdict.status) == (expected, "graded")


@pytest.mark.parametrize(
    ("code", "feedback", "error"),
    [
        (
            "import sys; print('{\"pass\": true, \"score\": 1}'); sys.exit('boom')",
            "Grader exited with code 1: boom",
            {"kind": "exit", "exit_code": 1, "stderr_tail": "boom\n"},
        ),
        (
            "raise SystemExit(2)",
            "Grader exited with code 2: No error output",
            {"kind": "exit", "exit_code": 2},
        ),
    ],
)
def test_case_5_an_exit_code_is_an_error(
    tmp_path: Path, code: str, feedback: str, error: dict[str, Any]
) -> None:
    verdict = inline(tmp_path, "g.py", code)
    assert (verdict.status, result(verdict), verdict.feedback) == ("error", (0.0, False), feedback)
    assert verdict.details == {"error": error}


@pytest.mark.parametrize(
    ("printed", "feedback"),
    [
        ("not valid json", "Grader output is not valid JSON: not valid json"),
        ('log line\n{"pass": true, "score": 1}', "Grader output is not valid JSON: log line"),
        ("", "Grader produced no output"),
    ],
    ids=["case 6", "case 6 with a log line", "case 7"],
)
def test_output_that_is_no_answer_is_an_error(tmp_path: Path, printed: str, feedback: str) -> None:
    verdict = inline(tmp_path, "g.py", f"print({printed!r})")
    assert (verdict.status, verdict.feedback.splitlines()[0]) == ("error", feedback)


@pytest.mark.parametrize(
    ("printed", "complaint"),
    [
        ('{"pass":true,"score":1.5}', "`score` is 1.5, it must lie between 0 and 1"),
        ('{"pass":false,"score":-0.1}', "`score` is -0.1"),
        ('{"pass":true}', "`score` is missing"),
        ("[1]", "it must be one JSON object"),
        ('{"pass":"yes","score":"1"}', "`pass` must be true or false, `score` must be a number"),
        ('{"pass":1,"score":1}', "`pass` must be true or false"),
        ('{"pass":false,"score":0.5,"reasoning":null}', "`reasoning` must be text"),
        ('{"pass":true,"score":1,"outcome":[]}', "`outcome` must be an object"),
        ('{"pass":true,"score":1,"outcome":null}', "`outcome` must be an object"),
        ('{"score":1}', "`passed` is missing; print `pass` or `passed`"),
        ("{}", "`passed` is missing"),
    ],
)
def test_case_8_an_answer_out_of_the_rules_is_rejected(tmp_path: Path, printed: str, complaint: str) -> None:
    verdict = inline(tmp_path, "g.py", f"print({printed!r})")
    assert (verdict.status, verdict.details["error"]["kind"]) == ("error", "invalid")
    assert complaint in verdict.feedback


def test_case_9_keys_that_mean_nothing_are_kept_apart(tmp_path: Path) -> None:
    printed = '{"pass":true,"score":0.5,"reasoning":"r","outcome":{"a":1},"extra":2}'
    verdict = inline(tmp_path, "g.py", f"print({printed!r})")
    assert (result(verdict), verdict.feedback) == ((0.5, True), "r")
    assert verdict.details == {"outcome": {"a": 1}, "extra": {"extra": 2}}


@needs_node
def test_case_10_a_module_without_grade_is_an_error(tmp_path: Path) -> None:
    verdict = inline(tmp_path, "g.mjs", "export default () => ({ pass: true, score: 1 });")
    assert (verdict.status, verdict.details["error"]["kind"]) == ("error", "load")
    assert verdict.feedback == "g.mjs cannot be loaded: it must export a function named `grade`"


@pytest.mark.parametrize("name", ["none.ts", "none.py", "none.sh", "none"])
def test_case_10_a_file_that_is_not_there_is_an_error(tmp_path: Path, name: str) -> None:
    verdict = grade("inline", {"grader": name}, suite_directory=tmp_path)
    assert (verdict.status, verdict.feedback) == ("error", f"Grader not found: {tmp_path / name}")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    place = folder(tmp_path / "repository", {"config.ts": "1\n"})
    who = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"]
    for command in (["init", "-q"], ["add", "."], [*who, "commit", "-q", "-m", "start"]):
        subprocess.run(["git", *command], cwd=place, check=True)
    return place


@needs_git
@pytest.mark.parametrize(
    ("file", "hint", "expected", "outcome"),
    [
        ("button.tsx", "button", (1.0, True), {"filesCreated": ["button.tsx"], "filesModified": []}),
        ("config.ts", "config", (1.0, True), {"filesCreated": [], "filesModified": ["config.ts"]}),
        (None, "config", (0.0, False), {"filesCreated": [], "filesModified": []}),
        ("unrelated.ts", "button", (0.5, False), {"filesCreated": ["unrelated.ts"], "filesModified": []}),
    ],
)
def test_case_11_what_was_changed(
    repository: Path, file: str | None, hint: str, expected: tuple[float, bool], outcome: dict[str, Any]
) -> None:
    if file is not None:
        (repository / file).write_text("2\n")
    verdict = example("files_changed.py", workspace=repository, hint=hint)
    assert (result(verdict), verdict.details["outcome"]) == (expected, outcome)


@needs_git
@pytest.mark.parametrize(
    ("workspace", "why"),
    [
        (None, "no working directory"),
        ("plain", "not a git repository"),
        ("test; rm -rf x", "invalid path"),
        ("test$(whoami)", "invalid path"),
        ("../../../etc", "invalid path"),
    ],
)
def test_case_11_where_nothing_can_be_seen(tmp_path: Path, workspace: str | None, why: str) -> None:
    (tmp_path / "plain").mkdir()
    verdict = example("files_changed.py", workspace=workspace and tmp_path / workspace, hint="x")
    assert (result(verdict), verdict.feedback) == ((0.0, False), why)


@needs_node
@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("g.mjs", "export const grade = async (its) => ({ pass: true, score: 1, reasoning: its.output });"),
        ("g.mjs", "export function grade({ output }) { return { pass: true, score: 1, reasoning: output } }"),
        (
            "g.cjs",
            "module.exports.grade = ({ output }) => ({ pass: true, score: 1, reasoning: output });",
        ),
        ("g.mjs", "console.log('debug'); setInterval(() => {}, 1e6);\n"
         "export const grade = ({ output }) => ({ pass: true, score: 1, reasoning: output });"),
    ],
    ids=["asynchronous", "plain", "CommonJS", "that prints and keeps timers"],
)  # fmt: skip
def test_a_module_is_called(tmp_path: Path, name: str, code: str) -> None:
    verdict = inline(tmp_path, name, code, output="grüße")
    assert (result(verdict), verdict.feedback) == ((1.0, True), "grüße")


@needs_node
@pytest.mark.parametrize(
    ("body", "kind", "words"),
    [
        ("throw new Error('boom')", "exit", "`grade` of g.mjs failed: Error: boom"),
        ("return undefined", "invalid", "it must be one JSON object"),
        ("return { pass: true, score: 7 }", "invalid", "`score` is 7"),
        ("return new Promise(() => {})", "exit", "`grade` never answered"),
        ("setTimeout(() => { throw new Error('late') }); return new Promise(() => {})", "exit", "late"),
        ("process.exit(4)", "exit", "Grader exited with code 4"),
        ("for (;;) {}", "timeout", "Grader was killed after 1 second"),
    ],
)
def test_a_module_that_breaks_is_an_error(tmp_path: Path, body: str, kind: str, words: str) -> None:
    code = f"export const grade = () => {{ {body} }};"
    verdict = inline(tmp_path, "g.mjs", code, {"timeout": 1} if kind == "timeout" else None)
    assert (verdict.status, verdict.details["error"]["kind"]) == ("error", kind)
    assert words in verdict.feedback


def stand_in(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch, *, version: str = "") -> Path:
    """Put a program before all others on PATH that writes down how it was called and prints an answer."""
    program = folder(tmp_path / "bin", {name: (
        f'#!/bin/sh\nif [ "$1" = --version ]; then echo {version}; exit; fi\n'
        f'echo "$@" > "{tmp_path}/called"\necho \'{{"result": {{"pass": true, "score": 1}}}}\'\n'
    )}) / name  # fmt: skip
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:/usr/bin:/bin")
    return tmp_path / "called"


@needs_posix
def test_bun_runs_modules_where_it_is_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    called = stand_in(tmp_path, "bun", monkeypatch)
    assert inline(tmp_path, "g.ts", "export const grade = 1;").passed
    assert called.read_text().split()[0] == "run"
    assert called.read_text().split()[-1] == str(tmp_path / "g.ts")


@needs_posix
@pytest.mark.parametrize(
    ("version", "knows_types"), [("v20.19.0", False), ("v22.6.0", True), ("v24.1.0", True)]
)
def test_typescript_needs_a_node_that_knows_types(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str, knows_types: bool
) -> None:
    called = stand_in(tmp_path, "node", monkeypatch, version=version)
    if shutil.which("bun") is not None:
        pytest.skip("bun comes first")
    launchers._node_version.cache_clear()
    verdict = inline(tmp_path, "g.ts", "export const grade = 1;")
    launchers._node_version.cache_clear()
    if knows_types:
        assert verdict.passed
        assert called.read_text().startswith("--experimental-strip-types")
    else:
        assert (verdict.status, verdict.details["error"]["kind"]) == ("error", "start")
        assert "needs bun or Node.js 22.6 and later" in verdict.feedback
        launchers._node_version.cache_clear()
        grader = create({"type": "inline", "name": "g", "config": {"grader": "g.ts"}})
        (told,) = grader.notices(tmp_path)
        assert told == verdict.feedback


@needs_posix
def test_other_files_are_started_directly(tmp_path: Path) -> None:
    code = '#!/bin/sh\ncat >/dev/null\necho \'{"pass": true, "score": 1}\'\n'
    assert "is not executable; run `chmod +x g.sh`" in inline(tmp_path, "g.sh", code).feedback
    (tmp_path / "g.sh").chmod(0o755)
    assert result(inline(tmp_path, "g.sh", code)) == (1.0, True)
    assert "such as `#!/bin/sh`" in inline(tmp_path, "g.sh", "echo\n").feedback


@needs_posix
@pytest.mark.parametrize("name", ["g.TS", "g.tsx", "g.mts"])
def test_a_suffix_that_is_no_module_is_started_as_a_program(tmp_path: Path, name: str) -> None:
    assert "started as a program, because modules end in" in inline(tmp_path, name, "").feedback


@needs_posix
def test_a_signal_is_told_as_shells_tell_it(tmp_path: Path) -> None:
    verdict = inline(tmp_path, "g.py", "import os; os.kill(os.getpid(), 9)")
    assert "Grader exited with code 137" in verdict.feedback


def test_a_file_that_hangs_ends_at_its_time_with_an_error(tmp_path: Path) -> None:
    started = time.monotonic()
    verdict = inline(tmp_path, "g.py", "import time; time.sleep(60)", {"timeout": 1})
    assert time.monotonic() - started < 1 + ON_A_BUSY_MACHINE
    assert (verdict.status, verdict.feedback) == ("error", "Grader was killed after 1 second")


def test_what_a_grader_file_is_told() -> None:
    context = GradingContext(
        output="done",
        prompt="first",
        turns=("first", "second"),
        metadata={"difficulty": "hard"},
        reference="ref",
        workspace=Path("relative"),
        duration_ms=7,
        task_id="t1",
        transcript=(
            {"type": "assistant.message", "content": "done"},
            {"type": "session.error", "message": "x"},
        ),
    )
    told = json.loads(program_input(context))
    assert told["input"] == ["first", "second"]
    assert (told["output"], told["metadata"], told["reference"]) == ("done", {"difficulty": "hard"}, "ref")
    assert "hint" not in told
    assert told["cwd"] == os.path.abspath("relative")  # noqa: PTH100
    assert (told["task"]["id"], told["task"]["inputs"]["prompt"]) == ("t1", "first")
    assert (told["duration_ms"], len(told["transcript"]), len(told["errors"])) == (7, 2, 1)
    assert told["trajectory"] == [{"type": "message", "content": "done", "timestamp": 0}]
    assert json.loads(program_input(GradingContext(prompt="only", turns=("only",))))["input"] == "only"


def test_the_steps_of_a_session() -> None:
    context = GradingContext(
        transcript=(
            {"type": "user.message", "content": "hi"},
            {"type": "assistant.reasoning", "content": "hm"},
            {"type": "tool.execution_start", "tool_name": "bash", "tool_call_id": "1",
             "arguments": {"command": "ls"}},
            {"type": "tool.execution_start", "tool_name": "bash", "tool_call_id": "2"},
            {"type": "tool.execution_complete", "tool_call_id": "1", "success": True,
             "tool_result": {"c": "x"}},
            {"type": "tool.execution_start", "tool_name": "view", "tool_call_id": "3"},
            {"type": "tool.execution_complete", "tool_call_id": "3", "success": False},
        )
    )  # fmt: skip
    assert [(step["type"], step.get("name"), step.get("status")) for step in trajectory(context)] == [
        ("thought", None, None),
        ("tool_call", "bash", "completed"),
        ("tool_call", "bash", "pending"),
        ("tool_call", "view", "failed"),
    ]
    assert trajectory(context)[1]["input"] == {"command": "ls"}
    assert trajectory(context)[1]["output"] == {"c": "x"}


def test_calls_without_a_transcript_are_steps_too() -> None:
    context = GradingContext(tool_calls=(ToolCall("bash", {"command": "ls"}, success=True),))
    assert [(step["name"], step["status"]) for step in trajectory(context)] == [("bash", "completed")]


def test_a_file_that_cannot_be_started_is_told_before_the_run(tmp_path: Path) -> None:
    grader = create({"type": "inline", "name": "g", "config": {"grader": "none.py"}})
    assert grader.notices(tmp_path) == (f"Grader not found: {tmp_path / 'none.py'}",)
    folder(tmp_path, {"none.py": ""})
    assert grader.notices(tmp_path) == ()
