"""Programs that grade: `program`, `script`.

They hold the worked examples of both.
"""

import json
import sys
import time
from pathlib import Path

import pytest

from tests.engine.graders.grading import folder, grade, refused, result
from tests.patience import ON_A_BUSY_MACHINE, ends
from waza_engine.graders.base import Verdict

pytestmark = pytest.mark.check

ECHO = "import sys; sys.stdout.write(sys.stdin.read())"


def python(code: str, **config: object) -> dict[str, object]:
    return {"command": sys.executable, "args": ["-c", code], **config}


def test_exit_code_zero_passes_with_the_output_as_feedback() -> None:
    verdict = grade("program", python("print('grading passed')"))
    assert (result(verdict), verdict.feedback) == ((1.0, True), "grading passed")


def test_a_printed_verdict_that_nobody_reads_is_named() -> None:
    verdict = grade("program", python("print('{\"passed\": false}')"))
    assert result(verdict) == (1.0, True)
    assert "only the exit code counts, and it is 0" in verdict.feedback
    assert "`protocol: waza-json`" in verdict.feedback
    assert grade("program", python("print('{\"passed\": true}')")).feedback == '{"passed": true}'


def test_another_exit_code_fails_with_the_error_output() -> None:
    verdict = grade("program", python("import sys; sys.exit('no result file')"))
    assert result(verdict) == (0.0, False)
    assert "exited with 1: no result file" in verdict.feedback


def test_the_answer_comes_on_standard_input() -> None:
    assert grade("program", python(ECHO), output="grüße\n").feedback == "grüße"


def test_a_large_answer_that_nobody_reads_does_no_harm() -> None:
    assert result(grade("program", python("pass"), output="x" * 5_000_000)) == (1.0, True)


def test_the_workspace_is_in_the_environment(tmp_path: Path) -> None:
    code = "import os; print(os.environ['WAZA_WORKSPACE_DIR'])"
    assert grade("program", python(code), workspace=tmp_path).feedback == str(tmp_path)
    assert grade("program", python(code)).feedback == "The program exited with 0"


def test_a_missing_program_fails() -> None:
    verdict = grade("program", {"command": "no-such-program-here"})
    assert result(verdict) == (0.0, False)
    assert "`no-such-program-here` cannot be started" in verdict.feedback


def test_a_program_that_is_too_slow_is_killed_with_its_children(tmp_path: Path) -> None:
    child = "import time; time.sleep(60)"
    code = (
        "import pathlib, subprocess, sys, time\n"
        f"child = subprocess.Popen([sys.executable, '-c', {child!r}])\n"
        f"pathlib.Path({str(tmp_path / 'pid')!r}).write_text(str(child.pid))\n"
        "time.sleep(60)"
    )
    verdict = grade("program", python(code, timeout=2))
    assert result(verdict) == (0.0, False)
    assert "was killed after 2 seconds" in verdict.feedback
    assert ends(int((tmp_path / "pid").read_text()))


def test_a_child_left_behind_does_not_hold_the_grader(tmp_path: Path) -> None:
    child = "import time; time.sleep(60)"
    code = (
        "import pathlib, subprocess, sys\n"
        f"child = subprocess.Popen([sys.executable, '-c', {child!r}])\n"
        f"pathlib.Path({str(tmp_path / 'pid')!r}).write_text(str(child.pid))\n"
        "print('done')"
    )
    started = time.monotonic()
    verdict = grade("program", python(code))
    assert time.monotonic() - started < 10 + ON_A_BUSY_MACHINE
    assert (result(verdict), verdict.feedback) == ((1.0, True), "done")
    assert ends(int((tmp_path / "pid").read_text()))


def test_endless_output_is_cut() -> None:
    verdict = grade("program", python("import sys\nfor _ in range(40): sys.stdout.write('x' * 100_000)"))
    assert len(verdict.details["stdout"]) == 1_000_000


def test_zero_and_less_mean_the_default_time() -> None:
    code = "import time; time.sleep(60)"
    verdict = grade("program", python(code, timeout=-5), program_timeout_seconds=0.5)
    assert "was killed after 0.5 seconds" in verdict.feedback


def test_a_file_beside_the_eval_is_found_when_the_working_directory_has_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    suite = folder(tmp_path / "suite", {"grade.py": "print('suite')"})
    here = folder(tmp_path / "here", {"other.txt": ""})
    monkeypatch.chdir(here)
    config = {"command": sys.executable, "args": ["grade.py"]}
    assert grade("program", config, suite_directory=suite).feedback == "suite"
    folder(here, {"grade.py": "print('here')"})
    assert grade("program", config, suite_directory=suite).feedback == "here"


def test_a_program_without_command_is_an_error() -> None:
    with refused("`config.command` is missing"):
        grade("program", {})


def script(tmp_path: Path, code: str, **context: object) -> Verdict:
    folder(tmp_path, {"check.py": code})
    return grade("script", {"script": "check.py"}, suite_directory=tmp_path, **context)


def test_a_script_gives_the_score(tmp_path: Path) -> None:
    code = (
        "import json, sys\n"
        "context = json.load(sys.stdin)\n"
        "print(json.dumps({'score': 0.5, 'passed': True, 'message': context['output'], 'details': {'a': 1}}))"
    )
    verdict = script(tmp_path, code, output="hello")
    assert (result(verdict), verdict.feedback, verdict.details) == ((0.5, True), "hello", {"a": 1})


def test_what_a_script_leaves_out_counts_as_failed(tmp_path: Path) -> None:
    assert result(script(tmp_path, "print('{}')")) == (0.0, False)


def test_a_script_that_fails_scores_zero(tmp_path: Path) -> None:
    verdict = script(tmp_path, "raise SystemExit('broken')")
    assert (result(verdict), "broken" in verdict.feedback) == ((0.0, False), True)


@pytest.mark.parametrize(
    ("printed", "kind"),
    [
        ("no json", "not_json"),
        ("[1]", "invalid"),
        (json.dumps({"score": 2}), "invalid"),
        ('{"score": NaN}', "not_json"),
        ('{"score": "1"}', "invalid"),
        ('{"pass": true}', "invalid"),
        ('{"score": 1, "passed": "perhaps"}', "invalid"),
        ('{"score": 1, "passed": [false]}', "invalid"),
        ('{"score": 1, "passed": true, "pass": false}', "invalid"),
        ('{"score": ' + "9" * 400 + ', "passed": true}', "invalid"),
        ("x" * 1_100_000, "too_long"),
    ],
)
def test_an_answer_that_cannot_be_used_is_an_error(tmp_path: Path, printed: str, kind: str) -> None:
    verdict = script(tmp_path, f"print({printed!r})")
    assert (verdict.status, result(verdict)) == ("error", (0.0, False))
    assert verdict.details["error"]["kind"] == kind


@pytest.mark.parametrize(
    ("passed", "means"),
    [
        ("true", True),
        ("1", True),
        ('"Yes"', True),
        ("0", False),
        ("null", False),
        ('"false"', False),
        ('"no"', False),
        ('"0"', False),
    ],
)
def test_the_verdict_of_a_script_may_be_a_word_or_a_number(tmp_path: Path, passed: str, means: bool) -> None:
    verdict = script(tmp_path, f"""print('{{"score": 1, "passed": {passed}}}')""")
    assert (verdict.status, verdict.passed) == ("graded", means)


def test_a_byte_order_mark_and_the_last_digit_of_a_mean_do_no_harm(tmp_path: Path) -> None:
    written = 'b\'\\xef\\xbb\\xbf{"score": 1.0000000000000002, "passed": true}\\r\\n\''
    verdict = script(tmp_path, f"import sys; sys.stdout.buffer.write({written})")
    assert result(verdict) == (1.0, True)


def test_a_script_may_answer_in_the_words_of_the_harness(tmp_path: Path) -> None:
    verdict = script(tmp_path, """print('{"pass": true, "score": 0.25, "reasoning": "r"}')""")
    assert (result(verdict), verdict.feedback, verdict.status) == ((0.25, True), "r", "graded")


def test_a_script_that_does_not_exist_is_an_error(tmp_path: Path) -> None:
    verdict = grade("script", {"script": "none.py"}, suite_directory=tmp_path)
    assert (verdict.status, verdict.feedback) == ("error", "the script none.py does not exist")


def test_a_program_may_answer_in_json() -> None:
    code = """import json, sys
given = json.load(sys.stdin)
print(json.dumps({"pass": False, "score": 1, "reasoning": given["output"], "outcome": {"kind": "x"}}))"""
    verdict = grade("program", python(code, protocol="harness-json"), output="hello")
    assert (result(verdict), verdict.feedback) == ((1.0, False), "hello")
    assert verdict.details["outcome"] == {"kind": "x"}


@pytest.mark.parametrize("protocol", ["harness-json", "waza-json", "auto"])
def test_a_program_that_breaks_its_protocol_is_an_error(protocol: str) -> None:
    verdict = grade("program", python("import sys; sys.exit(3)", protocol=protocol))
    assert (verdict.status, verdict.feedback) == ("error", "Grader exited with code 3: No error output")
    verdict = grade("program", {"command": "no-such-program-here", "protocol": protocol})
    assert (verdict.status, verdict.details["error"]["kind"]) == ("error", "start")


def test_a_program_that_raises_says_what_before_where() -> None:
    verdict = grade("program", python("raise KeyError('gone')", protocol="harness-json"))
    reason, begins, *_ = verdict.feedback.splitlines()
    assert reason == "Grader exited with code 1: KeyError: 'gone'"
    assert begins == "Traceback (most recent call last):"


def test_the_words_of_one_protocol_are_not_those_of_the_other() -> None:
    harness, waza = 'print(\'{"pass": true, "score": 1}\')', 'print(\'{"passed": true, "score": 1}\')'
    assert grade("program", python(harness, protocol="harness-json")).passed
    assert grade("program", python(waza, protocol="waza-json")).passed
    assert grade("program", python(harness, protocol="waza-json")).status == "error"
    assert grade("program", python(waza, protocol="harness-json")).status == "error"
    assert grade("program", python(waza, protocol="auto")).passed


def test_a_program_that_fails_says_why_with_the_ends_of_both_outputs() -> None:
    code = "import sys; print('x' * 9000, '1 failed, 2 passed'); sys.exit('wrong ' + 'y' * 9000 + ' end')"
    verdict = grade("program", python(code))
    assert not verdict.passed
    assert "1 failed, 2 passed" in verdict.feedback
    assert verdict.feedback.rstrip("…").endswith("y end")
    assert len(verdict.feedback) <= 4001


def test_the_last_line_of_a_program_that_fails_comes_first() -> None:
    code = "import sys; print('Ran 1 test', 'OK', sep='\\n'); sys.stderr.write('mutant survived\\n'); exit(1)"
    first, *rest = grade("program", python(code)).feedback.splitlines()
    assert first.endswith("exited with 1: mutant survived")
    assert rest == ["--- standard output", "Ran 1 test", "OK", "--- standard error", "mutant survived"]
    first, *rest = grade("program", python("raise KeyError('gone')")).feedback.splitlines()
    assert first.endswith("exited with 1: KeyError: 'gone'")
    assert (rest[0], rest[-1]) == ("Traceback (most recent call last):", "KeyError: 'gone'")


def test_one_output_alone_is_told_on_the_line_of_the_exit_code() -> None:
    verdict = grade("program", python("print('two wrong'); exit(3)"))
    assert verdict.feedback.endswith("exited with 3: two wrong")
